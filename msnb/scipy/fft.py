"""`mindspore.scipy.fft`: discrete cosine transforms of Tensors, differentiable in GRAPH and PYNATIVE mode.

The transforms are of type II and orthonormal, as in MindSpore: `norm` None means "ortho", not "backward" as in scipy.
"""

from msnb.common.kinds import Axis, Int, Ints, PositiveInt, check
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axes_in, tensor_argument
from msnb.ops._numpy import floating
from msnb.ops.math.cosine_transform import _CosineTransform

__all__ = ["dct", "dctn", "idct", "idctn"]


def _transform(function, x, type, lengths, axes, norm):
    if check(Int, type, "type", function) != 2:
        raise ValueError(f"For '{function}', 'type' should be 2, but got {type}; scipy.fft has the other transforms.")
    if norm not in (None, "ortho"):
        raise ValueError(f"For '{function}', 'norm' should be None or 'ortho', but got {norm!r}.")
    x = floating(tensor_argument(function, "x", x))
    return _CosineTransform(function.startswith("i"), lengths, axes_in(function, axes, x.ndim))(x)


def _transform_one_axis(function, x, type, n, axis, norm):
    lengths = None if n is None else (check(PositiveInt, n, "n", function),)
    return _transform(function, x, type, lengths, (check(Axis, axis, "axis", function),), norm)


def _transform_axes(function, x, type, s, axes, norm):
    x = tensor_argument(function, "x", x)
    lengths = None if s is None else tuple(check(Ints, s, "s", function))
    if axes is None:
        axes = range(x.ndim)[-len(lengths) :] if lengths else range(x.ndim)
    axes = tuple(check(Ints, axes, "axes", function))
    if lengths is not None and (len(lengths) != len(axes) or min(lengths, default=1) < 1):
        raise ValueError(
            f"For '{function}', 's' should have a positive length for each of the axes {axes}, but got {s}."
        )
    return _transform(function, x, type, lengths, axes, norm)


def dct(x: Tensor, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Compute the discrete cosine transform along one axis.

    Args:
        x (Tensor): Numbers; integers and float16 count as float32.
        type (int): Type of the transform; only 2 is supported. Default: 2.
        n (int): Number of elements to which the axis is cropped or padded with zeros. Default: None, as it is.
        axis (int): The axis. Default: -1.
        norm (str): "ortho" or None, which are the same. Default: None.

    Returns:
        Tensor, complex if `x` is complex.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `axis` is out of range, `n` is not positive, or `type` or `norm` has another value.

    Examples:
        >>> from mindspore.scipy.fft import dct
        >>> print(dct(Tensor([3.0, 1.0])))
        [2.828427  1.4142135]
    """
    return _transform_one_axis("dct", x, type, n, axis, norm)


def idct(x: Tensor, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """Compute the inverse of `dct`; see there for the arguments."""
    return _transform_one_axis("idct", x, type, n, axis, norm)


def dctn(
    x: Tensor,
    type: int = 2,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] | None = None,
    norm: str | None = None,
) -> Tensor:
    """Compute the discrete cosine transform along several axes.

    Args:
        x (Tensor): Numbers; integers and float16 count as float32.
        type (int): Type of the transform; only 2 is supported. Default: 2.
        s (tuple[int]): Numbers of elements to which the axes are cropped or padded with zeros. Default: None, as it is.
        axes (tuple[int]): The axes. Default: None, all or the last ones that `s` has lengths for.
        norm (str): "ortho" or None, which are the same. Default: None.

    Returns:
        Tensor, complex if `x` is complex.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `axes` is out of range, `s` has another length, or `type` or `norm` has another value.
    """
    return _transform_axes("dctn", x, type, s, axes, norm)


def idctn(
    x: Tensor,
    type: int = 2,
    s: tuple[int, ...] | None = None,
    axes: tuple[int, ...] | None = None,
    norm: str | None = None,
) -> Tensor:
    """Compute the inverse of `dctn`; see there for the arguments."""
    return _transform_axes("idctn", x, type, s, axes, norm)
