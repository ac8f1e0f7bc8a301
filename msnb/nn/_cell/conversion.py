"""The conversion of the Parameters and buffers of a Cell, `Cell.to` and `Cell.to_empty`."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor, box

_NAMES = ("device", "dtype", "non_blocking")
_DEVICES = ("CPU", "GPU", "TPU", "Ascend")


def read_target(method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> mstype.Type | None:
    """Return the element type that the arguments of `Cell.to` ask for, or None if they ask for none.

    Raises:
        TypeError: If the arguments are of no form that the method has.
        ValueError: If there is no such device.
    """
    names = _NAMES if not args or args[0] is None or isinstance(args[0], str) else ("dtype", "non_blocking")
    values = dict(zip(names, args, strict=False))
    if args and isinstance(args[0], Tensor):
        values["dtype"] = args[0].dtype
    kwargs = {**kwargs}
    if isinstance(kwargs.get("tensor"), Tensor):
        kwargs["dtype"] = kwargs.pop("tensor").dtype
    if len(args) > len(names) or not {*kwargs} <= {*_NAMES} - {*values}:
        raise TypeError(
            f"For '{method}', the arguments should be (device, dtype, non_blocking), (dtype, non_blocking) or (tensor, "
            f"non_blocking), but got {describe(args)} and {', '.join(kwargs) or 'no keywords'}."
        )
    values.update(kwargs)
    check_device(method, values.get("device"))
    dtype = values.get("dtype")
    if dtype is not None and not (isinstance(dtype, mstype.Type) and _is_inexact(dtype)):
        raise TypeError(
            f"For '{method}', 'dtype' should be a floating point or complex type, but got {describe(dtype)}."
        )
    return dtype


def check_device(method: str, device: Any) -> None:
    """Raise an error for a device that does not exist, and say that another one has no effect."""
    if device is None:
        return
    if not isinstance(device, str) or device.partition(":")[0] not in _DEVICES:
        raise ValueError(f"For '{method}', 'device' should be one of {list(_DEVICES)}, but got {describe(device)}.")
    log.unused(method, "every Parameter is on the device of the context", device=True)


def convert_parameters(cell: Any, dtype: mstype.Type | None) -> None:
    """Convert the inexact Parameters and buffers of a Cell and of all Cells below to an element type, in place."""
    if dtype is None:
        return
    for tensor in _tensors(cell, True):
        if _is_inexact(tensor.dtype):
            tensor.set_dtype(dtype)


def fill_with_zeros(cell: Any, is_recursive: bool) -> None:
    """Set the Parameters and buffers of a Cell to zeros."""
    for tensor in _tensors(cell, is_recursive):
        tensor.assign_value(box(np.zeros(tensor.shape, mstype.np_dtype(tensor.dtype))))


def _tensors(cell, is_recursive) -> Iterator[Tensor]:
    yield from cell.get_parameters(expand=is_recursive)
    yield from cell.buffers(recurse=is_recursive)


def _is_inexact(dtype):
    return dtype == mstype.bfloat16 or np.issubdtype(mstype.np_dtype(dtype), np.inexact)
