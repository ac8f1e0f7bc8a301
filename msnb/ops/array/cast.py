"""Operators that cast Tensors to other element types."""

import math
from typing import Any

import jax.numpy as jnp
from jax import lax

from msnb import context, log
from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, check
from msnb.core.operator.cases import F, Flags, I, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._upcast import widened

_DEVICES = ("CPU", "GPU", "CUDA", "TPU", "NPU", "ASCEND")


def _truncate_to_integer(x, kind):
    """Truncate floats to int32 or int64. Values out of range become the smallest integer."""
    least = jnp.iinfo(kind).min
    return jnp.where((x >= float(least)) & (x < -float(least)), x.astype(kind), least)


def _convert_floats_to_integers(x, target):
    """Convert floats to integers as MindSpore does on a CPU: cast them to int32 first, or to int64 if `target` has
    larger values."""
    x = widened(x)
    if target == jnp.uint64:
        above = x >= 2.0**63
        below = _truncate_to_integer(jnp.where(above, x - 2.0**63, x), jnp.int64).astype(target)
        return jnp.where(above, below + jnp.asarray(2**63, target), below)
    return _truncate_to_integer(x, jnp.int64 if target in (jnp.int64, jnp.uint32) else jnp.int32).astype(target)


def cast_array(x, target):
    """Cast `x` to numpy dtype `target` with MindSpore's results.

    Floats are truncated to integers by `_convert_floats_to_integers`. Of complex numbers only the real part is cast.
    """
    if jnp.issubdtype(x.dtype, jnp.floating) and jnp.issubdtype(target, jnp.integer):
        return _convert_floats_to_integers(x, target)
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not jnp.issubdtype(target, jnp.complexfloating):
        x = x.real
    return x.astype(target)


def _make_differentiable_cast(type):
    """Return the function that is differentiated instead of a cast to the integer `type`: a cast to float64, because a
    cast to integers has no gradient. Return None for other types.
    """
    target = np_dtype(type)
    return (lambda x: x.astype(jnp.float64)) if jnp.issubdtype(target, jnp.integer) else None


@operator(
    functional="cast",
    called=(("input", "input_x"), "dtype"),
    real=_make_differentiable_cast,
    casts_inputs=False,
)
def Cast(x, type: DType):
    """Cast a Tensor to another element type.

    Inputs:
        - **x** (Union[Tensor, Number]) - Of any shape and type.
        - **type** (mindspore.dtype) - The new element type. A cast to integers truncates towards 0.

    Outputs:
        Tensor of the shape of `x` and element type `type`.

    Raises:
        TypeError: If `type` is not the type of Tensor elements.

    Examples:
        >>> print(ops.Cast()(Tensor([1.5, -2.5], mindspore.float32), mindspore.int32))
        [ 1 -2]
    """
    return cast_array(x, np_dtype(type))


@operator
def _BitCast(x, *, type: DType):
    """Return the bits of a Tensor as elements of another type of the same size.

    Args:
        type (mindspore.dtype): The element type.

    Inputs:
        - **x** (Tensor) - Of any shape and type.

    Outputs:
        Tensor of the shape of `x`.
    """
    target = np_dtype(type)
    if x.dtype.itemsize != target.itemsize:
        raise ValueError(f"For 'BitCast', elements of {x.dtype} and {target} have different sizes.")
    bits = x.astype(jnp.uint8) if x.dtype.kind == "b" else x
    if target.kind == "b":
        return lax.bitcast_convert_type(bits, jnp.uint8).astype(target)
    return lax.bitcast_convert_type(bits, target)


def _parse_dtype(dtype):
    if isinstance(dtype, str):
        element_type = getattr(mstype, {"bool": "bool_", "int": "int32", "float": "float32"}.get(dtype, dtype), None)
        if not mstype.is_array_type(element_type):
            raise TypeError(f"For 'astype', there is no element type {dtype!r}.")
        return element_type
    return dtype if isinstance(dtype, mstype.Type) else check(DType, dtype, "dtype", "astype")


@spelling(Cast, method="astype", generation=1)
def astype(self: Tensor, dtype: DType | str, copy: bool = True) -> Tensor:
    """Cast the Tensor to another element type.

    Args:
        dtype (Union[mindspore.dtype, numpy.dtype, str]): Element type.
        copy (bool): False returns the Tensor itself if its type is the same. Default: True.

    Returns:
        Tensor.
    """
    dtype = _parse_dtype(dtype)
    if not copy and dtype == self.dtype:
        return self
    return Cast.functional(self, dtype)


@spelling(Cast, method="to")
def _tensor_to(
    self: Tensor,
    target: DType | str | Tensor | None = None,
    /,
    *args: Any,
    dtype: DType | str | None = None,
    device: str | None = None,
    other: Tensor | None = None,
    non_blocking: bool = False,
    copy: bool = False,
) -> Tensor:
    """Cast the Tensor to another element type. Its device does not change.

    Args:
        target (Union[mindspore.dtype, str, Tensor]): Element type, or a Tensor with this type. It can also be a device
            such as "CPU" or "GPU:0", which may be followed by the element type. Default: None.
        args: `non_blocking` and `copy` by position; after a device, first the element type.
        dtype (Union[mindspore.dtype, str]): Element type. Default: None.
        device (str): A device, without effect. Default: None.
        other (Tensor): The Tensor whose element type is used. Default: None.
        non_blocking (bool): No effect, because every call may return before the copy is complete. Default: False.
        copy (bool): Return a copy even if nothing changes. Default: False.

    Returns:
        Tensor.

    Raises:
        TypeError: If there is no such element type, or an argument is passed twice.
    """
    named = {"dtype": dtype, "device": device, "other": other, "non_blocking": non_blocking, "copy": copy}
    is_device = isinstance(target, str) and target.partition(":")[0].upper() in _DEVICES
    first = "device" if is_device else "other" if isinstance(target, Tensor) else "dtype"
    order = (first, *(("dtype",) if is_device else ()), "non_blocking", "copy")
    positional = [] if target is None else [target, *args]
    if len(positional) > len(order):
        raise TypeError(f"For 'to', at most {len(order)} positional arguments are expected here, but got {positional}.")
    for name, value in zip(order, positional, strict=False):
        if named[name] not in (None, False):
            raise TypeError(f"For 'to', '{name}' should be passed once, by position or by keyword.")
        named[name] = value
    dtype, device, other, non_blocking, copy = named.values()
    check(Bool, non_blocking, "non_blocking", "to")
    check(Bool, copy, "copy", "to")
    if device is not None:
        there = device.partition(":")[0].upper() == context.get_context("device_target").upper()
        log.unused("Tensor.to", "what set_device names holds all Tensors", device=not there)
    if dtype is None and other is not None:
        dtype = other.dtype
    if dtype is None or dtype == self.dtype:
        return self.copy() if copy else self
    return astype(self, dtype)


@spelling(Cast, method="type")
def _tensor_type(self: Tensor, dtype: DType | str | None = None) -> Tensor | str:
    """Return the name of the element type; with `dtype`, cast the Tensor to that type instead."""
    return str(self.dtype) if dtype is None else astype(self, dtype)


@spelling(Cast, method="type_as")
def _tensor_type_as(self: Tensor, other: Tensor) -> Tensor:
    """Cast the Tensor to the element type of another."""
    return Cast.functional(self, other.dtype)


@spelling(Cast, method="float", generation=1)
def _to_float(self: Tensor) -> Tensor:
    """Cast the Tensor to float32."""
    return Cast.functional(self, mstype.float32)


@spelling(Cast, method="half", generation=1)
def _to_half(self: Tensor) -> Tensor:
    """Cast the Tensor to float16."""
    return Cast.functional(self, mstype.float16)


@spelling(Cast, method="double", generation=1)
def _to_double(self: Tensor) -> Tensor:
    """Cast the Tensor to float64."""
    return Cast.functional(self, mstype.float64)


@spelling(Cast, method="int", generation=1)
def _to_int(self: Tensor) -> Tensor:
    """Cast the Tensor to int32."""
    return Cast.functional(self, mstype.int32)


@spelling(Cast, method="long", generation=1)
def _to_long(self: Tensor) -> Tensor:
    """Cast the Tensor to int64."""
    return Cast.functional(self, mstype.int64)


@spelling(Cast, method="short", generation=1)
def _to_short(self: Tensor) -> Tensor:
    """Cast the Tensor to int16."""
    return Cast.functional(self, mstype.int16)


@spelling(Cast, method="byte", generation=1)
def _to_byte(self: Tensor) -> Tensor:
    """Cast the Tensor to uint8."""
    return Cast.functional(self, mstype.uint8)


@spelling(Cast, method="bool", generation=1)
def _to_bool(self: Tensor) -> Tensor:
    """Cast the Tensor to bool_."""
    return Cast.functional(self, mstype.bool_)


@spelling(Cast, method="bfloat16", generation=1)
def _to_bfloat16(self: Tensor) -> Tensor:
    """Cast the Tensor to bfloat16."""
    return Cast.functional(self, mstype.bfloat16)


@spelling(function="is_floating_point")
def is_floating_point(input: Tensor) -> bool:
    """Return True if the elements of a Tensor are real floating-point numbers.

    Args:
        input (Tensor): Any.

    Returns:
        bool.

    Raises:
        TypeError: If `input` is no Tensor.
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"For 'is_floating_point', 'input' should be a Tensor, but got {type(input).__name__}.")
    return input.is_floating_point()


@spelling(Cast)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Cast a Tensor to the element type of another.

    Args:
        input (Tensor): Any Tensor.
        other (Tensor): The Tensor whose element type is used.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: If one of them is not a Tensor.
    """
    return Cast.functional(input, tensor_argument("type_as", "other", other).dtype)


CASES = [
    case(Cast, F(4), mstype.float16).without("differences", "float16 has no small steps"),
    case(Cast, Values([-1.5, 3.7, 300.0, -300.0]), mstype.uint8),
    case(Cast, Values([-1.5, 3.7, 300.0, -300.0]), mstype.int8),
    case(Cast, Values([-1.5, 3.7, 1e9]), mstype.int32),
    case(Cast, Values([-1, 300]), mstype.uint8),
    case(Cast, Values([0.0, 2.0, math.nan]), mstype.bool_),
    case(Cast, Flags(3), mstype.float32),
    refused(TypeError, Cast, F(2, 3), mstype.tensor, says="tensor"),
    case(_BitCast, I(2, 3), type=mstype.float32).without("gradient", "bits have none"),
    case(_BitCast, Flags(3), type=mstype.uint8),
    refused(ValueError, _BitCast, F(3), type=mstype.float16),
    case(type_as, F(2, 3), I(2)).without("gradient", "whole numbers have none"),
]
