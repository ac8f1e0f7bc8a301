"""Discrete Fourier transforms along several axes."""

import jax.numpy as jnp

from msnb.common.kinds import Ints, Optional, Str, check
from msnb.core.cases import F, case, refused
from msnb.core.declare import operator, spelling
from msnb.core.tensor import Tensor
from msnb.ops._check import axes_in, some, tensor_argument
from msnb.ops._half import widened
from msnb.ops._numpy import floating
from msnb.ops.math.fourier import Norm


@operator
def _FourierOfAxes(x, *, kind: Str, lengths: Optional(Ints) = None, axes: Ints, norm: Norm = None):
    """A Fourier transform along several axes.

    Args:
        kind (str): Which one, by its name in numpy.
        lengths (tuple[int]): To how many elements each axis is cut, or filled with zeros. Default: None, as it is.
        axes (tuple[int]): The axes.
        norm (str): Where to divide by the lengths. Default: None, in the inverse transform.

    Inputs:
        - **x** (Tensor) - Real or complex numbers.

    Outputs:
        Tensor, complex, or real for "irfftn" and "hfftn".
    """
    x, axes = widened(x), axes_in(kind, axes, x.ndim)
    if lengths is None:
        some(kind, "input", x, *axes)
    if kind not in ("hfftn", "ihfftn"):
        return getattr(jnp.fft, kind)(x, lengths, axes, norm)
    last, rest = (lengths[-1], lengths[:-1]) if lengths else (None, None)
    if kind == "hfftn":
        return jnp.fft.hfft(jnp.fft.fftn(x, rest, axes[:-1], norm) if axes[1:] else x, last, axes[-1], norm)
    x = jnp.fft.ihfft(x, last, axes[-1], norm)
    return jnp.fft.ifftn(x, rest, axes[:-1], norm) if axes[1:] else x


def _over(function, kind, x, s, dim, norm):
    x = floating(tensor_argument(function, "input", x))
    lengths = None if s is None else check(Ints, s, "s", function)
    if dim is None:
        dim = range(x.ndim)[-len(lengths) :] if lengths else range(x.ndim)
    dims = axes_in(function, tuple(check(Ints, dim, "dim", function)), x.ndim, "dim")
    if lengths is not None and len(lengths) != len(dims):
        raise ValueError(f"For '{function}', 's' should have a length for each of the dimensions {dims}, but got {s}.")
    return _FourierOfAxes(kind, lengths, dims, check(Norm, norm, "norm", function))(x)


@spelling(_FourierOfAxes)
def fft2(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] = (-2, -1), norm: str | None = None
) -> Tensor:
    """`fft` over two dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: (-2, -1).
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("fft2", "fftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def fftn(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] | None = None, norm: str | None = None
) -> Tensor:
    """`fft` over several dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: None, all or the last ones that `s` has lengths for.
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("fftn", "fftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def ifft2(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] = (-2, -1), norm: str | None = None
) -> Tensor:
    """`ifft` over two dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: (-2, -1).
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("ifft2", "ifftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def ifftn(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] | None = None, norm: str | None = None
) -> Tensor:
    """`ifft` over several dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: None, all or the last ones that `s` has lengths for.
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("ifftn", "ifftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def rfft2(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] = (-2, -1), norm: str | None = None
) -> Tensor:
    """`rfft` over the last and `fft` over the other ones of two dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: (-2, -1).
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("rfft2", "rfftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def rfftn(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] | None = None, norm: str | None = None
) -> Tensor:
    """`rfft` over the last and `fft` over the other ones of several dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: None, all or the last ones that `s` has lengths for.
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("rfftn", "rfftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def irfft2(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] = (-2, -1), norm: str | None = None
) -> Tensor:
    """Inverse of `rfft` over two dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: (-2, -1).
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of real numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("irfft2", "irfftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def irfftn(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] | None = None, norm: str | None = None
) -> Tensor:
    """Inverse of `rfft` over several dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: None, all or the last ones that `s` has lengths for.
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of real numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("irfftn", "irfftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def hfft2(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] = (-2, -1), norm: str | None = None
) -> Tensor:
    """`hfft` over the last and `fft` over the other ones of two dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: (-2, -1).
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of real numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("hfft2", "hfftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def hfftn(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] | None = None, norm: str | None = None
) -> Tensor:
    """`hfft` over the last and `fft` over the other ones of several dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: None, all or the last ones that `s` has lengths for.
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of real numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("hfftn", "hfftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def ihfft2(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] = (-2, -1), norm: str | None = None
) -> Tensor:
    """Inverse of `hfft` over two dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: (-2, -1).
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("ihfft2", "ihfftn", input, s, dim, norm)


@spelling(_FourierOfAxes)
def ihfftn(
    input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] | None = None, norm: str | None = None
) -> Tensor:
    """Inverse of `hfft` over several dimensions.

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): To how many elements each dimension is cut, or filled with zeros. Default: None, as it is.
        dim (tuple[int]): The dimensions. Default: None, all or the last ones that `s` has lengths for.
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of complex numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _over("ihfftn", "ihfftn", input, s, dim, norm)


CASES = [
    *(case(f, F(2, 4)) for f in (fft2, ifft2, rfft2, irfft2, hfft2, ihfft2)),
    *(case(f, F(2, 3, 4), (3, 4), (0, 2), "forward") for f in (fftn, ifftn, rfftn, irfftn, hfftn, ihfftn)),
    case(_FourierOfAxes, F(2, 4), kind="rfftn", axes=(0, 1)).without("mindspore", "its functions are asked"),
    refused(ValueError, ifftn, F(3), (1, 2)),
]
