"""Morphological dilation of images: max over a window of pixel + filter."""

import functools

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import IntOrTuple, OneOf
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator
from msnb.ops._check import FLOAT, dtype_in, same_dtype, some
from msnb.ops._shapes import shapes
from msnb.ops.nn.conv._shared import same_pads
from msnb.ops.nn.pool._windows import window_extent, window_taps


def _parse_height_and_width(name, value):
    """Return (height, width) from one int, two ints or (1, 1, height, width)."""
    sides = (value, value) if isinstance(value, int) else tuple(value)
    sides = sides[2:] if len(sides) == 4 and sides[:2] == (1, 1) else sides
    if len(sides) != 2 or min(sides) < 1:
        raise ValueError(
            f"For 'Dilation2D', '{name}' should be 1 positive int, 2, or (1, 1, height, width), but got {value}."
        )
    return sides


def _check_attributes(attributes):
    for name in ("stride", "dilation"):
        _parse_height_and_width(name, attributes[name])


@operator(refuses=_check_attributes, generation=2)
@shapes("x: n c _ _, filter: c _ _")
def Dilation2D(
    x,
    filter,
    *,
    stride: IntOrTuple,
    dilation: IntOrTuple,
    pad_mode: OneOf("SAME", "VALID", fold=True) = "SAME",
    data_format: OneOf("NCHW") = "NCHW",
):
    """Dilate images: max over each window of pixel + filter, with one filter per channel.

    Args:
        stride (Union[int, tuple[int]]): Step of the window: one int, two, or (1, 1, height, width).
        dilation (Union[int, tuple[int]]): Distance of the pixels in a window, in the same forms.
        pad_mode (str): "SAME": windows may extend beyond the border, and pixels outside are ignored. "VALID": windows
            stay inside the image. Default: "SAME".
        data_format (str): "NCHW". Default: "NCHW".

    Inputs:
        - **x** (Tensor) - Floating point, of shape (N, C, H, W).
        - **filter** (Tensor) - Of the element type of `x` and shape (C, height, width).

    Outputs:
        Tensor, (N, C, H_out, W_out).

    Raises:
        TypeError: If `x` is not floating point, or the element types differ.
        ValueError: If the shapes do not fit, or the window does not fit the images.

    Examples:
        >>> x, flat = ops.ones((1, 1, 3, 3), mindspore.float32), ops.ones((1, 2, 2), mindspore.float32)
        >>> print(ops.Dilation2D(1, 1, "VALID")(x, flat))
        [[[[2. 2.]
           [2. 2.]]]]
    """
    dtype_in("Dilation2D", "x", x, FLOAT)
    same_dtype("Dilation2D", x=x, filter=filter)
    some("Dilation2D", "filter", filter, 1, 2)
    step, gap, kernel = (
        _parse_height_and_width("stride", stride),
        _parse_height_and_width("dilation", dilation),
        filter.shape[1:],
    )
    lengths = list(zip(x.shape[2:], kernel, step, gap, strict=True))
    pads = [same_pads(*sizes) for sizes in lengths] if pad_mode == "SAME" else [(0, 0), (0, 0)]
    if any(n + sum(p) < r for n, p, r in zip(x.shape[2:], pads, window_extent(kernel, gap), strict=True)):
        raise ValueError(f"For 'Dilation2D', a window of {kernel} does not fit the images {x.shape[2:]}.")
    taps = window_taps(x, kernel, step, pads, -np.inf, gap)
    return functools.reduce(
        jnp.maximum, (tap + filter[:, i, j, None, None] for tap, (i, j) in zip(taps, np.ndindex(*kernel), strict=True))
    )


_NO_ORACLE = "2.7.1 fails at its own arguments on the CPU"
CASES = [
    *(
        case(Dilation2D, F(2, 3, 5, 6), F(3, 2, 3), stride=s, dilation=d, pad_mode=mode).without(
            "mindspore", _NO_ORACLE
        )
        for s, d, mode in ((1, 1, "SAME"), ((2, 1), (1, 2), "VALID"))
    ),
    refused(ValueError, Dilation2D, F(1, 1, 2, 2), F(1, 3, 3), stride=1, dilation=1, pad_mode="VALID"),
    refused(ValueError, Dilation2D, stride=0, dilation=1, says="stride"),
]
