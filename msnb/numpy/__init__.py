"""`mindspore.numpy`: the dtypes are here, the functions come in a later version."""

from msnb._later import fill
from msnb.common.dtype import (
    bool_,
    float16,
    float32,
    float64,
    float_,
    int8,
    int16,
    int32,
    int64,
    int_,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = [
    "bool_",
    "float16",
    "float32",
    "float64",
    "float_",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
fill(
    globals(),
    "array asarray asfarray copy ones zeros arange linspace logspace eye identity transpose expand_dims "
    "squeeze rollaxis swapaxes reshape ravel concatenate mean inner",
    "use the operators of mindspore.ops, or jax.numpy on jnp.asarray(tensor).",
)
