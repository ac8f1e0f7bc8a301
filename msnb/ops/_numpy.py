"""What functions of `mindspore.numpy` share: their arguments as Tensors, in one element type, as real numbers."""

from typing import Any

from msnb.common import dtype as mstype
from msnb.core.operator.array_like import ArrayLike, array_type, as_tensor, common_type, element_type, promote_types
from msnb.core.operator.ufunc import in_type
from msnb.core.tensor.tensor import Tensor

__all__ = [
    "NUMPYS",
    "ArrayLike",
    "array_type",
    "as_tensor",
    "as_tensors",
    "common_type",
    "element_type",
    "floating",
    "in_type",
    "promote_types",
]

NUMPYS = "MindSpore has it in mindspore.numpy alone"  # why a row has no golden answer


def as_tensors(function: str, **values: Any) -> list[Tensor]:
    """The Tensors that several arguments of `function` stand for, by name and in order; see `as_tensor`."""
    return [as_tensor(value, function, argument) for argument, value in values.items()]


def floating(x: Tensor) -> Tensor:
    """`x` if it is made of real or complex numbers; integers and bool become float32."""
    return x.astype(mstype.float32) if x._array.dtype.kind in "biu" else x
