"""Functions of operators that MindSpore 2 generates, where mint has no function with the same arguments."""

from collections.abc import Sequence
from typing import Any

from msnb import mint
from msnb.core.tensor.tensor import Tensor
from msnb.ops import functional as F


def _slice_dimension(input: Tensor, dim: int, start: int, end: int, step: int) -> Tensor:
    return input[(slice(None),) * (dim % input.ndim) + (slice(start, end, step),)]


def _upsample(mode: str) -> Any:
    def upsample(x: Tensor, output_size: Any = None, scales: Any = None, align_corners: bool | None = None) -> Tensor:
        size, scale = (None if value is None else tuple(value) for value in (output_size, scales))
        corners = None if mode == "nearest" else bool(align_corners)
        return F.interpolate(x, size=size, scale_factor=scale, mode=mode, align_corners=corners)

    return upsample


def _upsample_nearest(x: Tensor, output_size: Any = None, scales: Any = None) -> Tensor:
    return _upsample("nearest")(x, output_size, scales)


def _one_hot(tensor: Tensor, num_classes: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Tensor:
    depth = int(tensor.max()) + 1 if num_classes == -1 else num_classes
    return F.one_hot(tensor, depth, on_value, off_value, axis)


def _scatter(input: Tensor, dim: int, index: Tensor, src: Any, reduce: str = "none") -> Tensor:
    return _scatter_in_place(input.copy(), dim, index, src, reduce)


def _scatter_in_place(input: Tensor, dim: int, index: Tensor, src: Any, reduce: str = "none") -> Tensor:
    return input.scatter_(dim, index, src, **({} if reduce == "none" else {"reduce": reduce}))


def _divide(input: Any, other: Any, rounding_mode: str | None = None) -> Tensor:
    return mint.div(input, other, rounding_mode=rounding_mode)


def _divide_in_place(input: Tensor, other: Any, rounding_mode: str | None = None) -> Tensor:
    return input.div_(other, rounding_mode=rounding_mode)


def _empty(size: Any, dtype: Any = None, device: str | None = None) -> Tensor:
    return mint.empty(size, dtype=dtype, device=device)


def _fill(size: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    return mint.full(size, fill_value, dtype=dtype)


def _pad(mode: str) -> Any:
    def pad(input: Tensor, padding: Sequence[int]) -> Tensor:
        return mint.nn.functional.pad(input, tuple(padding), mode)

    return pad


def _pad_by_value(input: Tensor, padding: Sequence[int], value: float = 0.0) -> Tensor:
    return mint.nn.functional.pad(input, tuple(padding), "constant", value)


def _cast(input: Tensor, dtype: Any) -> Tensor:
    return input if dtype is None else input.to(dtype)


def _sum_of_products(input: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    return input.add_(other, alpha=alpha)


def _vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    return mint.linalg.vector_norm(x, ord, dim, keepdim, dtype=dtype)


def _softmax_gradient(dout: Tensor, out: Tensor, dim: int) -> Tensor:
    return out * (dout - (dout * out).sum(dim, keepdims=True))


def _silu_in_place(input: Tensor) -> Tensor:
    return mint.nn.functional.silu(input, inplace=True)


VIEWS: dict[str, Any] = {"select_ext_view": mint.select, "transpose_ext_view": mint.transpose}
FUNCTIONS: dict[str, Any] = {
    "ConstantPadND": _pad_by_value,
    "DivMod": _divide,
    "DivMods": _divide,
    "Empty": _empty,
    "FillScalar": _fill,
    "FillTensor": _fill,
    "InplaceAddsExt": _sum_of_products,
    "InplaceDivMod": _divide_in_place,
    "InplaceDivMods": _divide_in_place,
    "InplaceScatterSrc": _scatter_in_place,
    "InplaceScatterSrcReduce": _scatter_in_place,
    "InplaceScatterValue": _scatter_in_place,
    "InplaceScatterValueReduce": _scatter_in_place,
    "InplaceSiLU": _silu_in_place,
    "LinalgVectorNorm": _vector_norm,
    "OneHotExt": _one_hot,
    "ReflectionPad1D": _pad("reflect"),
    "ReflectionPad2D": _pad("reflect"),
    "ReflectionPad3D": _pad("reflect"),
    "ReplicationPad1D": _pad("replicate"),
    "ReplicationPad2D": _pad("replicate"),
    "ReplicationPad3D": _pad("replicate"),
    "RandpermExt": F.randperm,
    "Scatter": _scatter,
    "ScatterValue": _scatter,
    "SliceExt": _slice_dimension,
    "SliceExtView": _slice_dimension,
    "SoftmaxBackward": _softmax_gradient,
    "ToDtype": _cast,
    "UpsampleBicubic2D": _upsample("bicubic"),
    "UpsampleBilinear2D": _upsample("bilinear"),
    "UpsampleLinear1D": _upsample("linear"),
    "UpsampleNearest1D": _upsample_nearest,
    "UpsampleNearest2D": _upsample_nearest,
}
