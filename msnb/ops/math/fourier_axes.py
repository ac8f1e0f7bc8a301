"""Discrete Fourier transforms along several axes."""

from collections.abc import Callable

import jax.numpy as jnp

from msnb.common.kinds import Ints, Optional, Str, check
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axes_in, some, tensor_argument
from msnb.ops._numpy import floating
from msnb.ops._upcast import widened
from msnb.ops.math.fourier import Norm


@operator
def _FourierOfAxes(x, *, kind: Str, lengths: Optional(Ints) = None, axes: Ints, norm: Norm = None):
    """Fourier transform along several axes.

    Args:
        kind (str): The transform, by its name in numpy.fft.
        lengths (tuple[int]): Numbers of elements to which the axes are cropped or padded with zeros. Default: None, no
            change.
        axes (tuple[int]): The axes.
        norm (str): Transform that is divided by the lengths, as in numpy.fft. Default: None, the inverse transform.

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


def _transform_axes(function, kind, x, s, dim, norm):
    x = floating(tensor_argument(function, "input", x))
    lengths = None if s is None else check(Ints, s, "s", function)
    if dim is None:
        dim = range(x.ndim)[-len(lengths) :] if lengths else range(x.ndim)
    dims = axes_in(function, tuple(check(Ints, dim, "dim", function)), x.ndim, "dim")
    if lengths is not None and len(lengths) != len(dims):
        raise ValueError(f"For '{function}', 's' should have a length for each of the dimensions {dims}, but got {s}.")
    return _FourierOfAxes(kind, lengths, dims, check(Norm, norm, "norm", function))(x)


_DOC = """{what}

    Args:
        input (Tensor): Numbers; integers count as float32.
        s (tuple[int]): Numbers of elements to which the dimensions are cut or padded with zeros. Default: None, as it
            is.
        dim (tuple[int]): The dimensions. Default: {dims}.
        norm (str): As for `fft`. Default: None, "backward".

    Returns:
        Tensor of {numbers} numbers.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `dim` is out of range, or `s` has another length.
    """


def _declare_transform(name: str, what: str, numbers: str = "complex") -> Callable[..., Tensor]:
    """Declare the transform `name`. It is over two dimensions if the name ends in "2", else over any number."""
    kind = name.replace("2", "n")

    def over_two(
        input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] = (-2, -1), norm: str | None = None
    ) -> Tensor:
        return _transform_axes(name, kind, input, s, dim, norm)

    def over_several(
        input: Tensor, s: tuple[int, ...] | None = None, dim: tuple[int, ...] | None = None, norm: str | None = None
    ) -> Tensor:
        return _transform_axes(name, kind, input, s, dim, norm)

    two = name.endswith("2")
    function = over_two if two else over_several
    function.__name__ = function.__qualname__ = name
    dims = "(-2, -1)" if two else "None, all or the last ones that `s` has lengths for"
    function.__doc__ = _DOC.format(what=what, dims=dims, numbers=numbers)
    return spelling(_FourierOfAxes)(function)


fft2 = _declare_transform("fft2", "`fft` over two dimensions.")
fftn = _declare_transform("fftn", "`fft` over several dimensions.")
ifft2 = _declare_transform("ifft2", "`ifft` over two dimensions.")
ifftn = _declare_transform("ifftn", "`ifft` over several dimensions.")
rfft2 = _declare_transform("rfft2", "`rfft` over the last and `fft` over the other ones of two dimensions.")
rfftn = _declare_transform("rfftn", "`rfft` over the last and `fft` over the other ones of several dimensions.")
irfft2 = _declare_transform("irfft2", "Inverse of `rfft` over two dimensions.", "real")
irfftn = _declare_transform("irfftn", "Inverse of `rfft` over several dimensions.", "real")
hfft2 = _declare_transform("hfft2", "`hfft` over the last and `fft` over the other ones of two dimensions.", "real")
hfftn = _declare_transform("hfftn", "`hfft` over the last and `fft` over the other ones of several dimensions.", "real")
ihfft2 = _declare_transform("ihfft2", "Inverse of `hfft` over two dimensions.")
ihfftn = _declare_transform("ihfftn", "Inverse of `hfft` over several dimensions.")


CASES = [
    *(case(f, F(2, 4)) for f in (fft2, ifft2, rfft2, irfft2, hfft2, ihfft2)),
    *(case(f, F(2, 3, 4), (3, 4), (0, 2), "forward") for f in (fftn, ifftn, rfftn, irfftn, hfftn, ihfftn)),
    case(_FourierOfAxes, F(2, 4), kind="rfftn", axes=(0, 1)).without("mindspore", "its functions are asked"),
    refused(ValueError, ifftn, F(3), (1, 2)),
]
