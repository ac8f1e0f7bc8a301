"""Discrete Fourier transforms along one axis, and the frequencies of their results."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Axis, DType, Int, Ints, OneOf, Optional, PositiveInt, Str, check
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axes_in, axis_in, some, tensor_argument
from msnb.ops._numpy import floating, in_type
from msnb.ops._upcast import widened

Norm: Any = Optional(OneOf("backward", "ortho", "forward"))


@operator
def _Fourier(x, *, kind: Str, length: Optional(PositiveInt) = None, axis: Int = -1, norm: Norm = None):
    """Fourier transform along one axis.

    Args:
        kind (str): The transform, by its name in numpy.fft.
        length (int): Number of elements to which the axis is cropped or padded with zeros. Default: None, no change.
        axis (int): The axis. Default: -1.
        norm (str): Transform that is divided by the length, as in numpy.fft. Default: None, the inverse transform.

    Inputs:
        - **x** (Tensor) - Real or complex numbers.

    Outputs:
        Tensor, complex, or real for "irfft" and "hfft".
    """
    axis = axis_in(kind, axis, x.ndim)
    if length is None:
        some(kind, "input", x, axis)
    return getattr(jnp.fft, kind)(widened(x), length, axis, norm)


@operator
def _Rolled(x, *, kind: Str, axes: Ints):
    """Roll axes by half their length: `fftshift` or its inverse.

    Args:
        kind (str): "fftshift" or "ifftshift".
        axes (tuple[int]): The axes.

    Inputs:
        - **x** (Tensor) - Of any type.

    Outputs:
        Tensor of the shape and element type of `x`.
    """
    return getattr(jnp.fft, kind)(x, axes_in(kind, axes, x.ndim))


def _transform_axis(kind, x, n, dim, norm):
    x = floating(tensor_argument(kind, "input", x))
    arguments = (
        check(Optional(PositiveInt), n, "n", kind),
        check(Int, dim, "dim", kind),
        check(Norm, norm, "norm", kind),
    )
    return _Fourier(kind, *arguments)(x)


def compute_frequencies(function: str, n: Any, d: float, dtype: Any) -> Tensor:
    with np.errstate(divide="ignore", invalid="ignore"):  # a spacing of 0 gives infinite frequencies
        frequencies = getattr(np.fft, function)(check(PositiveInt, n, "n", function), np.float64(d))
    return in_type(Tensor(frequencies), mstype.float32 if dtype is None else dtype, function)


def _shift_axes(kind, x, dim):
    x = tensor_argument(kind, "input", x)
    return _Rolled(kind, axes_in(kind, check(Axis, dim, "dim", kind), x.ndim, "dim"))(x)


@spelling(_Fourier)
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Fourier transform along a dimension.

    Args:
        input (Tensor): Numbers, of at least 1 dimension; integers are converted to float32.
        n (int): Number of elements to which the dimension is cropped or padded with zeros. Default: None, no change.
        dim (int): The dimension. Default: -1.
        norm (str): "backward" divides the inverse transform by the length n, "forward" the forward transform by n,
            "ortho" divides both by the square root of n. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, `n` is not positive, or `norm` is another string.
    """
    return _transform_axis("fft", input, n, dim, norm)


@spelling(_Fourier)
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Inverse of `fft`.

    Args:
        input (Tensor): Numbers, of at least 1 dimension; integers are converted to float32.
        n (int): Number of elements to which the dimension is cropped or padded with zeros. Default: None, no change.
        dim (int): The dimension. Default: -1.
        norm (str): "backward" divides the inverse transform by the length n, "forward" the forward transform by n,
            "ortho" divides both by the square root of n. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, `n` is not positive, or `norm` is another string.
    """
    return _transform_axis("ifft", input, n, dim, norm)


@spelling(_Fourier)
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Fourier transform of real numbers. Only nonnegative frequencies are returned: the others are their conjugates.

    Args:
        input (Tensor): Numbers, of at least 1 dimension; integers are converted to float32.
        n (int): Number of elements to which the dimension is cropped or padded with zeros. Default: None, no change.
        dim (int): The dimension. Default: -1.
        norm (str): "backward" divides the inverse transform by the length n, "forward" the forward transform by n,
            "ortho" divides both by the square root of n. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, `n` is not positive, or `norm` is another string.
    """
    return _transform_axis("rfft", input, n, dim, norm)


@spelling(_Fourier)
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Inverse of `rfft`; the result is real.

    Args:
        input (Tensor): Numbers, of at least 1 dimension; integers are converted to float32.
        n (int): Length of the dimension in the result. Default: None.
        dim (int): The dimension. Default: -1.
        norm (str): "backward" divides the inverse transform by the length n, "forward" the forward transform by n,
            "ortho" divides both by the square root of n. Default: None, "backward".

    Returns:
        Tensor of real numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, `n` is not positive, or `norm` is another string.
    """
    return _transform_axis("irfft", input, n, dim, norm)


@spelling(_Fourier)
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Fourier transform of a Hermitian-symmetric signal, which is real. `input` is the first half of the signal.

    Args:
        input (Tensor): Numbers, of at least 1 dimension; integers are converted to float32.
        n (int): Length of the dimension in the result. Default: None.
        dim (int): The dimension. Default: -1.
        norm (str): "backward" divides the inverse transform by the length n, "forward" the forward transform by n,
            "ortho" divides both by the square root of n. Default: None, "backward".

    Returns:
        Tensor of real numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, `n` is not positive, or `norm` is another string.
    """
    return _transform_axis("hfft", input, n, dim, norm)


@spelling(_Fourier)
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """Inverse of `hfft`.

    Args:
        input (Tensor): Numbers, of at least 1 dimension; integers are converted to float32.
        n (int): Number of elements to which the dimension is cropped or padded with zeros. Default: None, no change.
        dim (int): The dimension. Default: -1.
        norm (str): "backward" divides the inverse transform by the length n, "forward" the forward transform by n,
            "ortho" divides both by the square root of n. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, `n` is not positive, or `norm` is another string.
    """
    return _transform_axis("ihfft", input, n, dim, norm)


@spelling(_Fourier)
def fftfreq(n: int, d: float = 1.0, dtype: DType | None = None) -> Tensor:
    """Return the frequency of each element of the result of `fft`.

    Args:
        n (int): Number of samples.
        d (float): Time between two samples. Default: 1.0.
        dtype (mindspore.dtype): Element type. Default: None, mindspore.float32.

    Returns:
        Tensor of shape (n,).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `n` is not positive.
    """
    return compute_frequencies("fftfreq", n, d, dtype)


@spelling(_Fourier)
def rfftfreq(n: int, d: float = 1.0, dtype: DType | None = None) -> Tensor:
    """Return the frequency of each element of the result of `rfft`.

    Args:
        n (int): Number of samples.
        d (float): Time between two samples. Default: 1.0.
        dtype (mindspore.dtype): Element type. Default: None, mindspore.float32.

    Returns:
        Tensor of shape (n // 2 + 1,).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `n` is not positive.
    """
    return compute_frequencies("rfftfreq", n, d, dtype)


@spelling(_Rolled)
def fftshift(input: Tensor, dim: int | tuple[int, ...] | None = None) -> Tensor:
    """Move the frequency 0 to the middle of each dimension.

    Args:
        input (Tensor): Of any shape.
        dim (Union[int, tuple[int]]): The dimensions. Default: None, all.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range.
    """
    return _shift_axes("fftshift", input, dim)


@spelling(_Rolled)
def ifftshift(input: Tensor, dim: int | tuple[int, ...] | None = None) -> Tensor:
    """Inverse of `fftshift`: move the frequency 0 to the beginning of each dimension.

    Args:
        input (Tensor): Of any shape.
        dim (Union[int, tuple[int]]): The dimensions. Default: None, all.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range.
    """
    return _shift_axes("ifftshift", input, dim)


_ITS_FUNCTIONS = "its functions are asked"

CASES = [
    *(case(f, F(2, 4)) for f in (fft, ifft, rfft, irfft, hfft, ihfft)),
    *(case(f, F(2, 4), 3, 0, "ortho") for f in (fft, ifft, rfft, irfft, hfft, ihfft)),
    case(fft, I(3)),
    case(fftfreq, 5, 2.0),
    case(rfftfreq, 5),
    case(fftshift, F(2, 3)),
    case(ifftshift, F(2, 3), 1),
    case(_Fourier, F(2, 4), kind="rfft").without("mindspore", _ITS_FUNCTIONS),
    case(_Rolled, F(2, 4), kind="fftshift", axes=(0, 1)).without("mindspore", _ITS_FUNCTIONS),
    refused(ValueError, fft, F(3), 0),
    refused(ValueError, fft, F(3), None, 1),
]
