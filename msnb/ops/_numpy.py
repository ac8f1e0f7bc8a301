"""Shared code of `mindspore.numpy`: convert arguments to Tensors, to a common element type, or to floating point."""

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

NUMPYS = "MindSpore has it in mindspore.numpy alone"  # reason why a test case has no recorded result of MindSpore


def as_tensors(function: str, **values: Any) -> list[Tensor]:
    """Return the arguments of `function`, passed by name, converted to Tensors in the same order; see `as_tensor`."""
    return [as_tensor(value, function, argument) for argument, value in values.items()]


def floating(x: Tensor) -> Tensor:
    """Return `x` if it is real or complex. Convert integers and bool to float32."""
    return x.astype(mstype.float32) if x._array.dtype.kind in "biu" else x
