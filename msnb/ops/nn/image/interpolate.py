"""Resizing of sequences, images and volumes."""

import jax.numpy as jnp

from msnb.common.kinds import Bool, OneOf, Optional, Shape, Value, check
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._shapes import shapes
from msnb.ops._upcast import widened
from msnb.ops.array.reshape import Reshape
from msnb.ops.nn._neighbours import weigh_neighbours
from msnb.ops.nn.image.resize import ResizeBicubic, ResizeNearestNeighborV2, lerp_matrix, nearest_index
from msnb.ops.nn.pool.adaptive_pool import AdaptiveAvgPool1D, AdaptiveAvgPool2D, AdaptiveAvgPool3D


@operator
@shapes("x: n c *s")
def _Resize(x, *, size: Shape, linear: Bool, align_corners: Bool, steps: Optional(Value) = None):
    """Resize all axes after N and C by linear interpolation (with half-pixel centres unless `align_corners`) or by the
    nearest element.

    Args:
        size (tuple[int]): new lengths.
        linear (bool): True interpolates linearly, False takes the nearest element.
        align_corners (bool): True aligns the centres of the corner pixels of input and result.
        steps (tuple[float]): distance of neighbouring new pixels, measured in old pixels. Default: None, old length /
            new length.

    Inputs:
        - **x** (Tensor) - (N, C, ...).

    Outputs:
        Tensor, (N, C, *size).
    """
    if x.ndim != len(size) + 2:
        raise ValueError(f"For 'interpolate', a size of {len(size)} lengths does not fit shape {x.shape}.")
    _check.some("interpolate", "input", x, *range(2, x.ndim))
    for axis, (new, step) in enumerate(zip(size, steps or (None,) * len(size), strict=True), start=2):
        old = x.shape[axis]
        if linear:
            matrix = lerp_matrix(old, new, align_corners, not align_corners, step)
            x = weigh_neighbours(widened(x), axis, matrix).astype(x.dtype)
        elif new % old == 0 and step is None:
            x = jnp.repeat(x, new // old, axis=axis)
        else:
            x = jnp.take(x, nearest_index(old, new, step), axis=axis)
    return x


def _compute_size_and_steps(op, x, size, scale_factor, recompute_scale_factor):
    """Return the new lengths, and the distances of neighbouring new pixels, measured in old pixels. The distances are
    None if they follow from the lengths.
    """
    spatial = x.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ValueError(f"For '{op}', give exactly one of 'size' and 'scale_factor'.")
    if size is not None:
        if recompute_scale_factor:
            raise ValueError(
                f"For '{op}', recompute_scale_factor=True computes the scales from the lengths that "
                f"'scale_factor' gives, but 'size' was given; leave one of them out."
            )
        return ((size,) * spatial if isinstance(size, int) else tuple(size)), None
    scales = (scale_factor,) * spatial if isinstance(scale_factor, (int, float)) else tuple(scale_factor)
    new = tuple(int(n * s) for n, s in zip(x.shape[2:], scales, strict=True))
    is_integer = all(n * s == m for n, s, m in zip(x.shape[2:], scales, new, strict=True))
    return new, None if is_integer or recompute_scale_factor else tuple(1 / s for s in scales)


_AREA = {3: AdaptiveAvgPool1D, 4: AdaptiveAvgPool2D, 5: AdaptiveAvgPool3D}  # by number of dimensions
_RANKS = {"linear": 3, "bilinear": 4, "trilinear": 5, "bicubic": 4}
_Mode = OneOf("nearest", "linear", "bilinear", "trilinear", "area", "bicubic", "nearest-exact")


def _convert_arguments_of_1_8(args, kwargs):
    """Convert the keyword arguments of `interpolate` in MindSpore 1.8 to 1.10 to those of this function.

    The default in those versions is linear interpolation with aligned corners.
    """
    kwargs = dict(kwargs)
    sizes, scales = kwargs.pop("sizes", None), kwargs.pop("scales", None)
    alignment = kwargs.pop("coordinate_transformation_mode", None) or "align_corners"
    if kwargs.pop("roi", None) is not None or alignment not in ("align_corners", "half_pixel"):
        raise ValueError(
            "For 'interpolate', 'roi' and a 'coordinate_transformation_mode' other than 'align_corners' and "
            "'half_pixel' have no form here; give 'size' or 'scale_factor', and 'align_corners'."
        )
    kwargs.setdefault("mode", "linear")
    if sizes is not None:
        kwargs["size"] = sizes
    elif scales is not None:
        kwargs["scale_factor"] = tuple(scales)[2:]  # the first two are for batch and channels
    return {**kwargs, "align_corners": alignment == "align_corners"}


@spelling(_Resize, function=("interpolate", "upsample"))
@keyword_aliases(
    _convert_arguments_of_1_8,
    x="input",
    sizes="size",
    scales="scale_factor",
    coordinate_transformation_mode="align_corners",
)
def interpolate(
    input: Tensor,
    size: Shape | None = None,
    scale_factor: float | tuple[float, ...] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Resizes sequences, images or volumes.

    Args:
        input (Tensor): (N, C, L), (N, C, H, W) or (N, C, D, H, W).
        size (Union[int, tuple[int]]): New lengths. Default: None.
        scale_factor (Union[float, tuple[float]]): Factors by which the lengths grow. Default: None.
        mode (str): "nearest", "linear", "bilinear", "trilinear", "bicubic", "area" or "nearest-exact", which takes the
            pixel whose centre is nearest. Default: "nearest".
        align_corners (bool): True aligns the centres of the corner pixels of input and result; only for the linear
            modes and "bicubic". Default: None, the same as False.
        recompute_scale_factor (bool): True computes the distance of neighbouring new pixels as old length / new length
            rather than 1 / `scale_factor`. The two differ if a new length was rounded down. Mode "nearest" always uses
            the lengths. Must not be True if `size` is given. Default: None, the same as False.

    Returns:
        Tensor.

    Raises:
        TypeError: If an argument has a wrong type.
        ValueError: If `size` and `scale_factor` are both given or both missing, or `mode` does not fit.
    """
    if mode != "nearest":
        mode = check(_Mode, mode, "mode", "interpolate")
    if not isinstance(input, Tensor) or input.ndim not in (3, 4, 5):
        raise ValueError("For 'interpolate', 'input' should be a Tensor of 3 to 5 dimensions.")
    if recompute_scale_factor is not None:
        check(Bool | None, recompute_scale_factor, "recompute_scale_factor", "interpolate")
    size, steps = _compute_size_and_steps("interpolate", input, size, scale_factor, recompute_scale_factor)
    if mode in _RANKS and input.ndim != _RANKS[mode]:
        raise ValueError(f"For 'interpolate', mode '{mode}' needs {_RANKS[mode]} dimensions, but got {input.shape}.")
    if mode == "area":
        return _AREA[input.ndim].functional(input, size)
    if mode in ("nearest", "nearest-exact") and align_corners is not None:
        raise ValueError("For 'interpolate', 'align_corners' is for the linear modes and 'bicubic'.")
    if mode in ("bicubic", "nearest-exact"):
        if steps is not None:
            raise ValueError(
                f"For 'interpolate', mode '{mode}' goes by the new lengths; 'scale_factor' should make whole ones of "
                f"{tuple(input.shape[2:])}, or give recompute_scale_factor=True."
            )
        return _resize_bicubic_or_nearest(input, tuple(size), mode, bool(align_corners))
    if mode == "nearest":
        steps = None  # MindSpore's kernels of this mode use the lengths and ignore `recompute_scale_factor`
    return _Resize.functional(input, size, mode != "nearest", bool(align_corners), steps)


def _resize_bicubic_or_nearest(input, size, mode, align_corners):
    if mode == "bicubic":
        return ResizeBicubic.functional(input, size, align_corners, not align_corners)
    if input.ndim == 5:
        raise ValueError(f"For 'interpolate', mode '{mode}' needs 3 or 4 dimensions, but got {input.shape}.")
    images = input if input.ndim == 4 else Reshape()(input, (*input.shape, 1))
    nearest = ResizeNearestNeighborV2.functional(images, (*size, 1)[:2], False, True)
    return Reshape()(nearest, (*input.shape[:2], *size))


CASES = [
    case(_Resize, F(1, 2, 4, 4), size=(3, 6), linear=True, align_corners=False),
    case(interpolate, F(2, 4, 6, 7), size=(12, 14)),
    case(interpolate, F(2, 4, 6, 7), size=(9, 5), mode="bilinear"),
    case(interpolate, F(2, 4, 6, 7), size=(9, 5), mode="bilinear", align_corners=True),
    case(interpolate, F(2, 3, 7), size=5, mode="linear"),
    case(interpolate, F(1, 2, 4, 5), size=(7, 3), mode="bicubic"),
    case(interpolate, F(1, 2, 4, 5), size=(7, 8), mode="bicubic", align_corners=True),
    case(interpolate, F(1, 2, 4, 5), size=(7, 3), mode="nearest-exact"),
    case(interpolate, F(1, 2, 4), size=7, mode="nearest-exact"),
    refused(ValueError, interpolate, F(2, 3, 4, 4)),
    refused(ValueError, interpolate, F(2, 3, 4), size=5, mode="bicubic"),
    refused(ValueError, interpolate, F(2, 3, 4, 4, 4), size=5, mode="nearest-exact"),
]
