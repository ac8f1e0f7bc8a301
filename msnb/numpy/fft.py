"""Discrete Fourier transforms, as `mindspore.numpy.fft`."""

from collections.abc import Callable
from typing import Any, TypeVar

from msnb.common.kinds import Axis, Int, Ints, Optional, PositiveInt, check
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axes_in
from msnb.ops._numpy import ArrayLike, as_tensor, floating
from msnb.ops.math.fourier import Norm, _Fourier, _Rolled, compute_frequencies
from msnb.ops.math.fourier_axes import _FourierOfAxes

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_AXIS = """

Args:
    a (Union[Tensor, list, tuple]): Numbers, of at least 1 dimension.
    n (int): To how many elements the axis is cut, or filled with zeros; of the result for "irfft" and "hfft". Default:
        None, as it is.
    axis (int): The axis. Default: -1.
    norm (str): "backward" divides by the length in the inverse transform, "forward" in the other one, "ortho" by its
        root in both. Default: None, "backward".

Returns:
    Tensor.

Raises:
    TypeError: If an argument has the wrong type.
    ValueError: If `axis` is out of range, `n` is not positive, or `norm` is none of those.
"""
_AXES = """

Args:
    a (Union[Tensor, list, tuple]): Numbers.
    s (tuple[int]): To how many elements each axis is cut, or filled with zeros. Default: None, as it is.
    axes (tuple[int]): The axes. Default: {default}.
    norm (str): "backward" divides by the lengths in the inverse transform, "forward" in the other one, "ortho" by
        their root in both. Default: None, "backward".

Returns:
    Tensor.

Raises:
    TypeError: If an argument has the wrong type.
    ValueError: If `axes` is out of range, or `s` has another length.
"""


def _append_argument_docs(function: _Function) -> _Function:
    """Append the documentation of the common arguments to the docstring of `function`."""
    names, defaults = function.__code__.co_varnames, function.__defaults__ or ()
    rest = _AXIS if names[1] == "n" else _AXES.format(default="the last two" if defaults[1] else "None, all")
    function.__doc__ = f"{function.__doc__}{rest}"
    return function


def _transform_axis(kind, a, n, axis, norm):
    a = floating(as_tensor(a, kind, "a"))
    arguments = (
        check(Optional(PositiveInt), n, "n", kind),
        check(Int, axis, "axis", kind),
        check(Norm, norm, "norm", kind),
    )
    return _Fourier(kind, *arguments)(a)


def _transform_axes(function, kind, a, s, axes, norm):
    a = floating(as_tensor(a, function, "a"))
    lengths = None if s is None else check(Ints, s, "s", function)
    if axes is None:
        axes = range(a.ndim)[-len(lengths) :] if lengths else range(a.ndim)
    axes = axes_in(function, tuple(check(Ints, axes, "axes", function)), a.ndim, "axes")
    if lengths is not None and len(lengths) != len(axes):
        raise ValueError(f"For '{function}', 's' should have a length for each of the axes {axes}, but got {s}.")
    return _FourierOfAxes(kind, lengths, axes, check(Norm, norm, "norm", function))(a)


@_append_argument_docs
def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Return the Fourier transform along an axis."""
    return _transform_axis("fft", a, n, axis, norm)


@_append_argument_docs
def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Return the inverse Fourier transform along an axis."""
    return _transform_axis("ifft", a, n, axis, norm)


@_append_argument_docs
def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Return the non-redundant half of the Fourier transform of real numbers along an axis."""
    return _transform_axis("rfft", a, n, axis, norm)


@_append_argument_docs
def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Return the inverse transform of `rfft`, a Tensor of real numbers."""
    return _transform_axis("irfft", a, n, axis, norm)


@_append_argument_docs
def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Return the real Fourier transform of a Hermitian-symmetric signal along an axis. The input is one half of the
    signal."""
    return _transform_axis("hfft", a, n, axis, norm)


@_append_argument_docs
def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Return the inverse transform of `hfft`."""
    return _transform_axis("ihfft", a, n, axis, norm)


@_append_argument_docs
def fft2(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] = (-2, -1),
    norm: str | None = None,
) -> Tensor:
    """Return the Fourier transform along two axes."""
    return _transform_axes("fft2", "fftn", a, s, axes, norm)


@_append_argument_docs
def fftn(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] | None = None,
    norm: str | None = None,
) -> Tensor:
    """Return the Fourier transform along several axes."""
    return _transform_axes("fftn", "fftn", a, s, axes, norm)


@_append_argument_docs
def ifft2(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] = (-2, -1),
    norm: str | None = None,
) -> Tensor:
    """Return the inverse Fourier transform along two axes."""
    return _transform_axes("ifft2", "ifftn", a, s, axes, norm)


@_append_argument_docs
def ifftn(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] | None = None,
    norm: str | None = None,
) -> Tensor:
    """Return the inverse Fourier transform along several axes."""
    return _transform_axes("ifftn", "ifftn", a, s, axes, norm)


@_append_argument_docs
def rfft2(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] = (-2, -1),
    norm: str | None = None,
) -> Tensor:
    """Return the non-redundant half of the Fourier transform of real numbers along two axes."""
    return _transform_axes("rfft2", "rfftn", a, s, axes, norm)


@_append_argument_docs
def rfftn(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] | None = None,
    norm: str | None = None,
) -> Tensor:
    """Return the non-redundant half of the Fourier transform of real numbers along several axes."""
    return _transform_axes("rfftn", "rfftn", a, s, axes, norm)


@_append_argument_docs
def irfft2(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] = (-2, -1),
    norm: str | None = None,
) -> Tensor:
    """Return the inverse transform of `rfft2`, a Tensor of real numbers."""
    return _transform_axes("irfft2", "irfftn", a, s, axes, norm)


@_append_argument_docs
def irfftn(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] | None = None,
    norm: str | None = None,
) -> Tensor:
    """Return the inverse transform of `rfftn`, a Tensor of real numbers."""
    return _transform_axes("irfftn", "irfftn", a, s, axes, norm)


@_append_argument_docs
def hfft2(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] = (-2, -1),
    norm: str | None = None,
) -> Tensor:
    """Return the real Fourier transform of a Hermitian-symmetric signal along two axes. The input is one half of the
    signal."""
    return _transform_axes("hfft2", "hfftn", a, s, axes, norm)


@_append_argument_docs
def hfftn(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] | None = None,
    norm: str | None = None,
) -> Tensor:
    """Return the real Fourier transform of a Hermitian-symmetric signal along several axes. The input is one half of
    the signal."""
    return _transform_axes("hfftn", "hfftn", a, s, axes, norm)


@_append_argument_docs
def ihfft2(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] = (-2, -1),
    norm: str | None = None,
) -> Tensor:
    """Return the inverse transform of `hfft2`."""
    return _transform_axes("ihfft2", "ihfftn", a, s, axes, norm)


@_append_argument_docs
def ihfftn(
    a: ArrayLike,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] | None = None,
    norm: str | None = None,
) -> Tensor:
    """Return the inverse transform of `hfftn`."""
    return _transform_axes("ihfftn", "ihfftn", a, s, axes, norm)


def _roll_axes(kind, x, axes):
    x = as_tensor(x, kind, "x")
    return _Rolled(kind, axes_in(kind, check(Axis, axes, "axes", kind), x.ndim, "axes"))(x)


def fftshift(x: ArrayLike, axes: int | tuple[int, ...] | None = None) -> Tensor:
    """Swap the halves of each axis, so that the frequency 0 is in the middle.

    Args:
        x (Union[Tensor, list, tuple]): Of any shape.
        axes (Union[int, tuple[int]]): The axes. Default: None, all axes.

    Returns:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `axes` is out of range.
    """
    return _roll_axes("fftshift", x, axes)


def ifftshift(x: ArrayLike, axes: int | tuple[int, ...] | None = None) -> Tensor:
    """Undo `fftshift`, so that the frequency 0 is at the beginning of each axis.

    Args:
        x (Union[Tensor, list, tuple]): Of any shape.
        axes (Union[int, tuple[int]]): The axes. Default: None, all axes.

    Returns:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `axes` is out of range.
    """
    return _roll_axes("ifftshift", x, axes)


def fftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    """Return the frequency of each element of the result of `fft`.

    Args:
        n (int): Number of samples.
        d (float): Distance of neighbouring samples. Default: 1.0.
        dtype (mindspore.dtype): Element type of the result. Default: None, float32.

    Returns:
        Tensor of shape (n,).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `n` is not positive.

    Examples:
        >>> print(mindspore.numpy.fft.fftfreq(4))
        [ 0.    0.25 -0.5  -0.25]
    """
    return compute_frequencies("fftfreq", n, d, dtype)


def rfftfreq(n: int, d: float = 1.0, dtype: Any = None) -> Tensor:
    """Return the frequency of each element of the result of `rfft`.

    Args:
        n (int): Number of samples.
        d (float): Distance of neighbouring samples. Default: 1.0.
        dtype (mindspore.dtype): Element type of the result. Default: None, float32.

    Returns:
        Tensor of shape (n // 2 + 1,).

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `n` is not positive.
    """
    return compute_frequencies("rfftfreq", n, d, dtype)
