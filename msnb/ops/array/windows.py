"""Window functions: weights that taper a signal."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Bool, DType, Float, Kind, NonNegInt, Static, accept_value, check
from msnb.core.operator.cases import Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.support.type_promotion import np_dtype
from msnb.core.tensor.tensor import Tensor
from msnb.ops._numpy import in_type

_FLOATS = (mstype.float16, mstype.float32, mstype.float64)


def _make_window(function: str, shape: Callable[[int], np.ndarray], length: Any, periodic: Any, dtype: Any) -> Tensor:
    """Check the arguments of the window `function`, and return the values of `shape(length)` as a Tensor of `dtype`.

    A periodic window is computed as a symmetric window with one more value, and the last value is dropped. It would be
    the first value of the next period.
    """
    if isinstance(length, Tensor):
        if length.size != 1:
            raise ValueError(f"For '{function}', 'window_length' should be one number, but has shape {length.shape}.")
        length = int(length)
    length = check(NonNegInt, length, "window_length", function)
    if dtype not in _FLOATS:
        raise TypeError(f"For '{function}', 'dtype' should be a floating point type, but got {dtype!r}.")
    periodic = check(Bool, periodic, "periodic", function) and length > 1
    values = shape(length + 1)[:-1] if periodic else shape(length)
    return in_type(Tensor(np.asarray(values, np.float64)), dtype, function)


def _compute_cosine_window(count, alpha, beta):
    """Return a raised cosine with mean `alpha` and amplitude `beta` that begins and ends at its minimum."""
    angles = 2 * np.pi * np.arange(count) / (count - 1) if count > 1 else np.full(count, np.pi)
    return alpha - beta * np.cos(angles)


@spelling()
def bartlett_window(
    window_length: Tensor | int, periodic: bool = True, *, dtype: DType | None = mstype.float32
) -> Tensor:
    """Return Bartlett's triangular window, which rises linearly from 0 to 1 and falls again.

    Args:
        window_length (Union[Tensor, int]): Number of values.
        periodic (bool): True for a periodic window, False for a symmetric one. Default: True.
        dtype (mindspore.dtype): Floating point element type. Default: mindspore.float32.

    Returns:
        Tensor of shape (window_length,).

    Raises:
        TypeError: If `window_length` is not an int, or `dtype` is not floating point.
        ValueError: If `window_length` is negative.
    """
    return _make_window("bartlett_window", np.bartlett, window_length, periodic, dtype)


@spelling()
def blackman_window(
    window_length: Tensor | int, periodic: bool = True, *, dtype: DType | None = mstype.float32
) -> Tensor:
    """Return Blackman's window, a sum of three cosine terms.

    Args:
        window_length (Union[Tensor, int]): Number of values.
        periodic (bool): True for a periodic window, False for a symmetric one. Default: True.
        dtype (mindspore.dtype): Floating point element type. Default: mindspore.float32.

    Returns:
        Tensor of shape (window_length,).

    Raises:
        TypeError: If `window_length` is not an int, or `dtype` is not floating point.
        ValueError: If `window_length` is negative.
    """
    return _make_window("blackman_window", np.blackman, window_length, periodic, dtype)


@spelling()
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: DType | None = mstype.float32,
) -> Tensor:
    """Return Hamming's window, a raised cosine that does not reach 0.

    Args:
        window_length (int): Number of values.
        periodic (bool): True for a periodic window, False for a symmetric one. Default: True.
        alpha (float): The mean of the cosine. Default: 0.54.
        beta (float): The amplitude of the cosine. Default: 0.46.
        dtype (mindspore.dtype): Floating point element type. Default: mindspore.float32.

    Returns:
        Tensor of shape (window_length,).

    Raises:
        TypeError: If `window_length` is not an int, or `dtype` is not floating point.
        ValueError: If `window_length` is negative.
    """
    return _make_window(
        "hamming_window", lambda count: _compute_cosine_window(count, alpha, beta), window_length, periodic, dtype
    )


@spelling()
def hann_window(window_length: int, periodic: bool = True, *, dtype: DType | None = None) -> Tensor:
    """Return Hann's window, a raised cosine that begins and ends at 0.

    Args:
        window_length (int): Number of values.
        periodic (bool): True for a periodic window, False for a symmetric one. Default: True.
        dtype (mindspore.dtype): Floating point element type. Default: None, mindspore.float64.

    Returns:
        Tensor of shape (window_length,).

    Raises:
        TypeError: If `window_length` is not an int, or `dtype` is not floating point.
        ValueError: If `window_length` is negative.
    """
    return _make_window("hann_window", np.hanning, window_length, periodic, dtype or mstype.float64)


@spelling()
def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: DType | None = None
) -> Tensor:
    """Return Kaiser's window, computed from a modified Bessel function of the first kind.

    Args:
        window_length (int): Number of values.
        periodic (bool): True for a periodic window, False for a symmetric one. Default: True.
        beta (float): Shape parameter; larger values are narrower. Default: 12.0.
        dtype (mindspore.dtype): Floating point element type. Default: None, mindspore.float64.

    Returns:
        Tensor of shape (window_length,).

    Raises:
        TypeError: If `window_length` is not an int, or `dtype` is not floating point.
        ValueError: If `window_length` is negative.
    """
    return _make_window(
        "kaiser_window", lambda count: np.kaiser(count, beta), window_length, periodic, dtype or mstype.float64
    )


def _check_window_type(value):
    value = accept_value(DType, value)
    if value not in _FLOATS:
        raise TypeError
    return value


WindowType = Kind("a floating point type", _check_window_type, examples=_FLOATS)


def _check_window_length(value):
    if isinstance(value, (tuple, list)) and len(value) == 1:  # a Tensor of one element arrives as a sequence
        (value,) = value
    return accept_value(NonNegInt, value)


WindowLength = Kind("a non-negative int", _check_window_length, examples=(5,))


def _make_window_array(length, periodic, dtype, shape):
    """Return the values of a window as an array."""
    values = shape(length + 1)[:-1] if periodic and length > 1 else shape(length)
    return jnp.asarray(values.astype(np_dtype(dtype)))


@operator(generation=2)
def BartlettWindow(window_length: WindowLength, *, periodic: Bool = True, dtype: WindowType = mstype.float32):
    """Return Bartlett's triangular window, which rises linearly from 0 to 1 and falls again.

    Args:
        periodic (bool): True for a periodic window, False for a symmetric one. Default: True.
        dtype (mindspore.dtype): Floating point element type. Default: mindspore.float32.

    Inputs:
        - **window_length** (Union[Tensor, int]) - Number of values.

    Outputs:
        Tensor of shape (window_length,).

    Raises:
        TypeError: If `window_length` is not an int, or `dtype` is not floating point.
        ValueError: If `window_length` is negative.
    """
    return _make_window_array(window_length, periodic, dtype, np.bartlett)


@operator(generation=2)
def BlackmanWindow(window_length: WindowLength, *, periodic: Bool = True, dtype: WindowType = mstype.float32):
    """Return Blackman's window, a sum of three cosine terms.

    Args:
        periodic (bool): True for a periodic window, False for a symmetric one. Default: True.
        dtype (mindspore.dtype): Floating point element type. Default: mindspore.float32.

    Inputs:
        - **window_length** (Union[Tensor, int]) - Number of values.

    Outputs:
        Tensor of shape (window_length,).

    Raises:
        TypeError: If `window_length` is not an int, or `dtype` is not floating point.
        ValueError: If `window_length` is negative.
    """
    return _make_window_array(window_length, periodic, dtype, np.blackman)


@operator(generation=2)
def HammingWindow(
    window_length: WindowLength,
    *,
    periodic: Bool = True,
    alpha: Static(Float) = 0.54,
    beta: Static(Float) = 0.46,
    dtype: WindowType = mstype.float32,
):
    """Return Hamming's window, a raised cosine that does not reach 0.

    Args:
        periodic (bool): True for a periodic window, False for a symmetric one. Default: True.
        alpha (float): The mean of the cosine. Default: 0.54.
        beta (float): The amplitude of the cosine. Default: 0.46.
        dtype (mindspore.dtype): Floating point element type. Default: mindspore.float32.

    Inputs:
        - **window_length** (Union[Tensor, int]) - Number of values.

    Outputs:
        Tensor of shape (window_length,).

    Raises:
        TypeError: If `window_length` is not an int, or `dtype` is not floating point.
        ValueError: If `window_length` is negative.
    """
    return _make_window_array(window_length, periodic, dtype, lambda count: _compute_cosine_window(count, alpha, beta))


CASES = [
    case(BartlettWindow, Values(5)),
    case(BartlettWindow, Values(6), periodic=False, dtype=mstype.float16),
    case(BlackmanWindow, Values(5)),
    case(HammingWindow, Values([5])),
    case(HammingWindow, Values([6]), periodic=False, alpha=0.5, beta=0.4),
    case(bartlett_window, Values(5)),
    case(bartlett_window, Values(6), periodic=False, dtype=mstype.float16),
    case(blackman_window, Values(5)),
    case(hamming_window, 5),
    case(hamming_window, 6, False, 0.5, 0.4, dtype=mstype.float16),
    case(hann_window, 5),
    case(hann_window, 6, False, dtype=mstype.float32),
    case(kaiser_window, 5),
    case(kaiser_window, 6, False, 8.0),
    refused(ValueError, hann_window, -1),
    refused(TypeError, hann_window, 3, dtype=mstype.int32),
]
