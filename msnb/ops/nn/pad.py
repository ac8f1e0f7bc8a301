"""Padding with constants, with elements of the Tensor, or by a function."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Bool, Int, Ints, Kind, NonNegInt, Number, OneOf, PositiveInt, Value, accept_value, check
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor
from msnb.ops.array.apply import apply_along_axis
from msnb.ops.nn._pullback import apply_transpose


def _accept_padding_pairs(value):
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
    return _accept_padding_pairs(value)


Paddings = Kind("a tuple of (before, after) pairs of int", _accept_tuple_of_pairs)
MirrorPaddings = Kind("(before, after) pairs of int", _accept_padding_pairs)


def _check_padding_pairs(op, x, paddings):
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
    """Pad each dimension with zeros.

    Args:
        paddings (tuple): a (before, after) pair for each dimension.

    Inputs:
        - **input_x** (Tensor) - any shape.

    Outputs:
        Tensor, type of `input_x`.

    Raises:
        TypeError: If `paddings` is not a tuple.
        ValueError: If it does not fit the dimensions of `input_x`.
    """
    _check_padding_pairs("Pad", input_x, paddings)
    return jnp.pad(input_x, paddings)


@operator(functional="mirror_pad", generation=2)
def MirrorPad(input_x, paddings: MirrorPaddings, *, mode: OneOf("REFLECT", "SYMMETRIC") = "REFLECT"):
    """Pad a Tensor with its own elements, mirrored at its borders.

    Args:
        mode (str): "REFLECT" does not repeat the border itself, "SYMMETRIC" does. Default: "REFLECT".

    Inputs:
        - **input_x** (Tensor) - any shape.
        - **paddings** (Tensor) - a (before, after) pair for each dimension; a constant.

    Outputs:
        Tensor, type of `input_x`.

    Raises:
        ValueError: If `paddings` does not fit the dimensions of `input_x`.
    """
    _check_padding_pairs("MirrorPad", input_x, paddings)
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
    if len(paddings) != dout.ndim or any(n < sum(p) for n, p in zip(dout.shape, paddings, strict=True)):
        raise ValueError(f"For 'MirrorPadGrad', 'dout' of shape {dout.shape} was not padded by {paddings}.")
    shape = tuple(n - sum(p) for n, p in zip(dout.shape, paddings, strict=True))
    return apply_transpose(lambda x: jnp.pad(x, paddings, mode=mode.lower()), shape, dout)


def _accept_flat_padding(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if len(value) % 2:
        raise ValueError
    return tuple(accept_value(Int, v) for v in value)


Padding = Kind("a tuple of an even number of int, last dimension first", _accept_flat_padding)


@operator
def PadV3(
    x,
    paddings: Padding,
    constant_value=None,
    *,
    mode: OneOf("constant", "reflect", "edge", "circular") = "constant",
    paddings_contiguous: Bool = True,
):
    """Pad a Tensor at its borders.

    Args:
        mode (str): "constant", "reflect", "edge" or "circular". Default: "constant".
        paddings_contiguous (bool): True: `paddings` lists (before, after) for one dimension after another. False: it
            lists all numbers before, then all numbers after. Default: True.

    Inputs:
        - **x** (Tensor) - any shape.
        - **paddings** (tuple[int]) - number of elements before and after the last dimension, then the same for the
          dimension before it, and so on; negative numbers remove elements.
        - **constant_value** (Union[Tensor, number], optional) - the constant. Default: None, the same as 0.

    Outputs:
        Tensor, type of `x`.
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
    if padded := [axis for axis, pair in enumerate(pairs) if any(pair)]:
        _check.some("PadV3", "x", x, *padded)
    return jnp.pad(x, pairs, mode="wrap" if mode == "circular" else mode)


_PadMode = OneOf("constant", "reflect", "replicate", "circular")


@spelling(PadV3)
def pad(input_x: Tensor, padding: Ints, mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad a Tensor at its borders.

    Args:
        input_x (Tensor): Any shape.
        padding (tuple): Number of elements before and after the last dimension, then the same for the dimension before
            it, and so on; negative numbers remove elements.
        mode (str): "constant", "reflect", "replicate" or "circular". Default: "constant".
        value (number): The constant. Default: None, the same as 0.

    Returns:
        Tensor, type of `input_x`.
    """
    if mode != "constant":
        mode = check(_PadMode, mode, "mode", "pad")
        mode = "edge" if mode == "replicate" else mode
    if value is not None and type(value) is not float:
        value = check(Number, value, "value", "pad")
    return PadV3.functional(input_x, padding, value, mode)


_NUMPY_MODES = {  # numpy's arguments of each mode
    "constant": ("constant_values",),
    "edge": (),
    "empty": (),
    "linear_ramp": ("end_values",),
    "maximum": ("stat_length",),
    "mean": ("stat_length",),
    "median": ("stat_length",),
    "minimum": ("stat_length",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "wrap": (),
}


@operator
def _PadAround(x, *, widths: MirrorPaddings, mode: OneOf(*_NUMPY_MODES) = "constant", how: Value = ()):
    """Pad a Tensor at its borders in one of the modes of `numpy.pad`.

    Args:
        widths (tuple): A (before, after) pair for each dimension.
        mode (str): A mode of `numpy.pad`. Default: "constant".
        how (tuple): Pairs (name, value) of other arguments of `numpy.pad` that the mode uses. Default: ().

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        Tensor of the element type of `x`.
    """
    if len(widths) not in (1, x.ndim):
        raise ValueError(f"For 'pad', {len(widths)} pairs of widths do not fit shape {x.shape}.")
    if mode not in ("constant", "empty") and any(not n and any(w) for n, w in zip(x.shape, widths * x.ndim)):
        raise ValueError(f"For 'pad', mode {mode!r} has nothing to repeat in shape {x.shape}.")
    return jnp.pad(x, widths, mode, **dict(how))


def _expand_to_pairs(argument, value, ndim, kind):
    """Return a (before, after) pair for each dimension, from a number, a pair, or pairs."""
    try:
        rows = np.broadcast_to(np.asarray(value), (ndim, 2))
    except ValueError:
        rows = None
    if rows is None or rows.dtype == object:
        raise ValueError(
            f"For 'pad', '{argument}' should be a number, a pair or {ndim} pairs of numbers, but got {value}."
        )
    return tuple(tuple(check(kind, v, argument, "pad") for v in row) for row in rows.tolist())


@spelling(_PadAround, numpy="pad")
def numpy_pad(
    arr: ArrayLike,
    pad_width: int | tuple[Any, ...] | list[Any],
    mode: str | Callable[..., Any] = "constant",
    stat_length: int | tuple[Any, ...] | list[Any] | None = None,
    constant_values: float | tuple[Any, ...] | list[Any] = 0,
    end_values: float | tuple[Any, ...] | list[Any] = 0,
    reflect_type: str = "even",
    **kwargs: Any,
) -> Tensor:
    """Pad a Tensor at its borders.

    A width, a length or a value is given once for all borders, as a pair (before, after) for all axes, or as a pair for
    each axis.

    Args:
        arr (Union[Tensor, list, tuple]): Any Tensor; a number is returned unchanged.
        pad_width (Union[int, tuple, list]): Number of elements to add at each border.
        mode (Union[str, Callable]): Source of the values: "constant", "edge" (the border element), "empty" (zeros),
            "linear_ramp" (from the border element to a value), "maximum", "mean", "median" or "minimum" (of the axis,
            or of its end), "reflect" (mirrored without the border element), "symmetric" (mirrored with it), "wrap" (the
            other end). A function is called for each vector along each axis as ``function(vector, widths, axis,
            kwargs)``. The vector is padded with zeros, and the function returns its replacement. Default: "constant".
        stat_length (Union[int, tuple, list]): Number of elements at the end of an axis from which "maximum", "mean",
            "median" and "minimum" are computed. Default: None, all.
        constant_values (Union[Number, tuple, list]): The padding of "constant". Default: 0.
        end_values (Union[Number, tuple, list]): The outermost values of "linear_ramp". Default: 0.
        reflect_type (str): "even", or "odd": "reflect" and "symmetric" then use 2 * border element - mirrored value.
            Default: "even".
        kwargs (Any): If `mode` is a function, passed to it as its last argument, a dict.

    Returns:
        Tensor of the element type of `arr`.

    Raises:
        TypeError: If an argument is not of the type given above.
        ValueError: If `mode` has another value, or a width is negative or does not fit the dimensions of `arr`.

    Examples:
        >>> print(mindspore.numpy.pad([1., 2., 3.], (2, 1), mode="wrap"))
        [2. 3. 1. 2. 3. 1.]
    """
    arr = as_tensor(arr, "pad", "arr")
    if not arr.ndim:
        return arr
    widths = _expand_to_pairs("pad_width", pad_width, arr.ndim, NonNegInt)
    if callable(mode):
        arr = _PadAround.functional(arr, widths)
        for axis, width in enumerate(widths):
            arr = apply_along_axis(mode, axis, arr, width, axis, kwargs)
        return arr
    if kwargs:
        raise ValueError(f"For 'pad', '{next(iter(kwargs))}' is for a function as 'mode' alone, but that is {mode!r}.")
    options = {
        "constant_values": lambda: _expand_to_pairs("constant_values", constant_values, arr.ndim, Number),
        "end_values": lambda: _expand_to_pairs("end_values", end_values, arr.ndim, Number),
        "stat_length": lambda: stat_length and _expand_to_pairs("stat_length", stat_length, arr.ndim, PositiveInt),
        "reflect_type": lambda: check(OneOf("even", "odd"), reflect_type, "reflect_type", "pad"),
    }
    mode = check(OneOf(*_NUMPY_MODES), mode, "mode", "pad")
    return _PadAround.functional(arr, widths, mode, tuple((name, options[name]()) for name in _NUMPY_MODES[mode]))


CASES = [
    case(_PadAround, F(2, 3), widths=((1, 2), (0, 3)), mode="wrap").without("mindspore", NUMPYS),
    case(_PadAround, F(3, 4), widths=((1, 1), (2, 0)), mode="mean", how=(("stat_length", 2),)).without(
        "mindspore", NUMPYS
    ),
    case(Pad, F(2, 3), paddings=((1, 2), (0, 3))),
    case(MirrorPad, F(3, 4), Values([[1, 2], [2, 1]], "int64"), mode="REFLECT"),
    case(MirrorPad, F(3, 4), Values([[1, 2], [2, 1]], "int64"), mode="SYMMETRIC"),
    case(MirrorPadGrad, F(6, 7), ((1, 2), (2, 1))),
    *(case(pad, F(2, 4, 6, 7), padding=(1, 2, 2, 1), mode=mode) for mode in ("constant", "reflect", "replicate")),
    refused(TypeError, Pad, paddings=[[1, 1]]),
    refused(ValueError, Pad, F(2, 3), paddings=((1, 1),)),
]
