"""Checks of layer inputs: number of dimensions, dtypes, and inputs that must be alike."""

from msnb.common import dtype as mstype
from msnb.core.tensor.tensor import Tensor

FLOATS = (mstype.float16, mstype.float32)
INTS = (mstype.int32, mstype.int64)


def check_dims(layer: str, x: Tensor, *dims: int, name: str = "the input") -> None:
    """Raise ValueError unless the number of dimensions of `x` is in `dims`."""
    if x.ndim not in dims:
        expected = " or ".join(map(str, dims))
        raise ValueError(f"For '{layer}', {name} should have {expected} dims, but got shape {tuple(x.shape)}.")


def check_least_dims(layer: str, x: Tensor, least: int, name: str = "the input") -> None:
    """Raise ValueError if `x` has fewer than `least` dimensions."""
    if x.ndim < least:
        dims = "1 dim" if least == 1 else f"{least} dims"
        raise ValueError(f"For '{layer}', {name} should have at least {dims}, but got shape {tuple(x.shape)}.")


def check_dtypes(layer: str, allowed: tuple, **tensors: Tensor) -> None:
    """Raise TypeError unless all Tensors have one dtype, and it is in `allowed`."""
    for name, x in tensors.items():
        if x.dtype not in allowed:
            expected = " or ".join(map(str, allowed))
            raise TypeError(f"For '{layer}', '{name}' should be of type {expected}, but got {x.dtype}.")
    _check_equal_properties(layer, TypeError, "one type", {name: x.dtype for name, x in tensors.items()})


def check_alike(layer: str, **tensors: Tensor) -> None:
    """Raise TypeError unless the Tensors have one dtype, ValueError unless they have one shape."""
    _check_equal_properties(layer, TypeError, "one type", {name: x.dtype for name, x in tensors.items()})
    _check_equal_properties(layer, ValueError, "one shape", {name: tuple(x.shape) for name, x in tensors.items()})


def _check_equal_properties(layer, error, requirement, properties):
    if len(set(properties.values())) > 1:
        names, values = (" and ".join(map(str, part)) for part in (map(repr, properties), properties.values()))
        raise error(f"For '{layer}', {names} should have {requirement}, but got {values}.")
