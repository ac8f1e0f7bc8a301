"""Padding with a constant or with the border continued."""

import jax
import jax.numpy as jnp
from jax import lax

from msnb.common.kinds import Bool, Int, Ints, Kind, Number, OneOf, accept_value, check
from msnb.core.cases import F, Values, case, refused
from msnb.core.declare import operator, spelling
from msnb.core.tensor import Tensor
from msnb.ops import _check


def _accept_pairs(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    pairs = []
    for pair in value:
        if not isinstance(pair, (tuple, list)):
            raise TypeError
        if len(pair) != 2:
            raise ValueError("each dimension needs two numbers, before and after")
        pairs.append(tuple(accept_value(Int, v) for v in pair))
    return tuple(pairs)


def _accept_tuple_of_pairs(value):
    if not isinstance(value, tuple):
        raise TypeError
    return _accept_pairs(value)


Paddings = Kind("a tuple of (before, after) pairs of int", _accept_tuple_of_pairs)
MirrorPaddings = Kind("(before, after) pairs of int", _accept_pairs)


def _check_pairs(op, x, paddings):
    _check.tensor_only(op, "input_x", x)
    if len(paddings) != x.ndim:
        raise ValueError(
            f"For '{op}', 'paddings' should have a pair for each of the {x.ndim} dimensions of 'input_x', "
            f"but got {paddings}."
        )
    if any(v < 0 for pair in paddings for v in pair):
        raise ValueError(f"For '{op}', 'paddings' should not be negative, but got {paddings}.")


@operator
def Pad(input_x, *, paddings: Paddings):
    """Zeros before and after each dimension.

    Args:
        paddings (tuple): a (before, after) pair for each dimension.

    Inputs:
        - **input_x** (Tensor) - any shape.

    Outputs:
        Tensor, type of `input_x`.

    Raises:
        TypeError: If `paddings` is not a tuple.
        ValueError: If it does not fit the dimensions of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check_pairs("Pad", input_x, paddings)
    return jnp.pad(input_x, paddings)


@operator(functional="mirror_pad", generation=2)
def MirrorPad(input_x, paddings: MirrorPaddings, *, mode: OneOf("REFLECT", "SYMMETRIC") = "REFLECT"):
    """Continues a Tensor as in a mirror at its borders.

    Args:
        mode (str): "REFLECT" does not repeat the border itself, "SYMMETRIC" does. Default: "REFLECT".

    Inputs:
        - **input_x** (Tensor) - any shape.
        - **paddings** (Tensor) - a (before, after) pair for each dimension; a constant.

    Outputs:
        Tensor, type of `input_x`.

    Raises:
        ValueError: If `paddings` does not fit the dimensions of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check_pairs("MirrorPad", input_x, paddings)
    spare = 1 if mode == "REFLECT" else 0
    for size, pair in zip(input_x.shape, paddings, strict=True):
        if max(pair) > size - spare:
            raise ValueError(
                f"For 'MirrorPad', 'paddings' {pair} should be at most {size - spare} for a dimension of "
                f"length {size} in mode {mode}."
            )
    return jnp.pad(input_x, paddings, mode=mode.lower())


@operator
def MirrorPadGrad(dout, paddings: MirrorPaddings, *, mode: OneOf("REFLECT", "SYMMETRIC") = "REFLECT"):
    """Gradient of MirrorPad."""
    shape = tuple(n - sum(p) for n, p in zip(dout.shape, paddings, strict=True))
    template = jax.ShapeDtypeStruct(shape, dout.dtype)
    return jax.linear_transpose(lambda x: jnp.pad(x, paddings, mode=mode.lower()), template)(dout)[0]


def _accept_pad(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if len(value) % 2:
        raise ValueError
    return tuple(accept_value(Int, v) for v in value)


Padding = Kind("a tuple of an even number of int, last dimension first", _accept_pad)


@operator
def PadV3(
    x,
    paddings: Padding,
    constant_value=None,
    *,
    mode: OneOf("constant", "reflect", "edge", "circular") = "constant",
    paddings_contiguous: Bool = True,
):
    """Extends a Tensor at its borders.

    Args:
        mode (str): "constant", "reflect", "edge" or "circular". Default: "constant".
        paddings_contiguous (bool): whether before and after of a dimension stand together; otherwise all numbers
            before come first. Default: True.

    Inputs:
        - **x** (Tensor) - any shape.
        - **paddings** (tuple[int]) - before and after of the last dimension, then of the one before it, and so on;
          negative numbers cut.
        - **constant_value** (Union[Tensor, number], optional) - the constant. Default: None, 0.

    Outputs:
        Tensor, type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    _check.tensor_only("PadV3", "x", x)
    count = len(paddings) // 2
    if count > x.ndim:
        raise ValueError(
            f"For 'PadV3', 'paddings' {paddings} has more pairs than 'x' of shape {x.shape} has dimensions."
        )
    before, after = (paddings[::2], paddings[1::2]) if paddings_contiguous else (paddings[:count], paddings[count:])
    pairs = [(0, 0)] * (x.ndim - count) + list(zip(before, after, strict=True))[::-1]
    for axis, (low, high) in enumerate(pairs):
        x = lax.slice_in_dim(x, max(-low, 0), x.shape[axis] - max(-high, 0), axis=axis)
    pairs = [(max(low, 0), max(high, 0)) for low, high in pairs]
    if mode == "constant":
        return jnp.pad(x, pairs, constant_values=0 if constant_value is None else constant_value)
    return jnp.pad(x, pairs, mode="wrap" if mode == "circular" else mode)


_PadMode = OneOf("constant", "reflect", "replicate", "circular")


@spelling(PadV3)
def pad(input_x: Tensor, padding: Ints, mode: str = "constant", value: float | None = None) -> Tensor:
    """Extends a Tensor at its borders.

    Args:
        input_x (Tensor): Any shape.
        padding (tuple): Before and after of the last dimension, then of the one before it, and so on; negative numbers
            cut.
        mode (str): "constant", "reflect", "replicate" or "circular". Default: "constant".
        value (number): The constant. Default: None, 0.

    Returns:
        Tensor, type of `input_x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if mode != "constant":
        mode = check(_PadMode, mode, "mode", "pad")
        mode = "edge" if mode == "replicate" else mode
    if value is not None and type(value) is not float:
        value = check(Number, value, "value", "pad")
    return PadV3.functional(input_x, padding, value, mode)


CASES = [
    case(Pad, F(2, 3), paddings=((1, 2), (0, 3))),
    case(MirrorPad, F(3, 4), Values([[1, 2], [2, 1]], "int64"), mode="REFLECT"),
    case(MirrorPad, F(3, 4), Values([[1, 2], [2, 1]], "int64"), mode="SYMMETRIC"),
    case(MirrorPadGrad, F(6, 7), ((1, 2), (2, 1))),
    *(case(pad, F(2, 4, 6, 7), padding=(1, 2, 2, 1), mode=mode) for mode in ("constant", "reflect", "replicate")),
    refused(TypeError, Pad, paddings=[[1, 1]]),
    refused(ValueError, Pad, F(2, 3), paddings=((1, 1),)),
]
