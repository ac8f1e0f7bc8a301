"""Adaptive pooling to a given size, by windows of nearly equal size."""

import itertools
import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from msnb.common.kinds import Bool, Kind, NonNegInt, PositiveInt, accept_value, check
from msnb.core.operator.api_generations import replaces_in_api2
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.primitive import Primitive
from msnb.core.tensor.tensor import Tensor
from msnb.ops import _check
from msnb.ops._subgradients import first_largest
from msnb.ops._upcast import widened
from msnb.ops.math._elementwise import is_integer
from msnb.ops.nn._neighbours import weigh_neighbours


def _make_output_size_kind(dims, length=PositiveInt):
    def accept(value):
        values = value if isinstance(value, (tuple, list)) else (value,) * dims
        if len(values) != dims:
            raise ValueError
        return tuple(None if v is None else accept_value(length, v) for v in values)

    return Kind(f"{length.__metadata__[0].expects}, None or a tuple of {dims} of them", accept)


OutputSize1, OutputSize2, OutputSize3 = _make_output_size_kind(1), _make_output_size_kind(2), _make_output_size_kind(3)
# MindSpore allows size 0 for mean pooling of images and volumes.
MeanSize2, MeanSize3 = _make_output_size_kind(2, NonNegInt), _make_output_size_kind(3, NonNegInt)


def _compute_bin_bounds(old, new):
    """Return the starts and ends of `new` nearly equal bins of an axis of length `old`."""
    i = np.arange(new)
    return i * old // new, -(-(i + 1) * old // new)


def _pool_adaptive(op, x, size, mean):
    dims = len(size)
    if x.ndim not in (dims + 1, dims + 2):
        raise ValueError(f"For '{op}', 'input' should have {dims + 1} or {dims + 2} dimensions, but got {x.shape}.")
    _check.some(op, "input", x, *range(-dims, 0))
    if 0 in size:
        lengths = [old if new is None else new for old, new in zip(x.shape[-dims:], size, strict=True)]
        return jnp.zeros((*x.shape[:-dims], *lengths), x.dtype)
    if mean and is_integer(x):
        return _compute_integer_mean(x, size)
    # The last axis first: so the gradient of several largest values goes to the first of them in row-major order.
    for axis, new in zip(range(x.ndim - 1, x.ndim - dims - 1, -1), reversed(size), strict=True):
        old = x.shape[axis]
        new = old if new is None else new
        starts, ends = _compute_bin_bounds(old, new)
        if old % new == 0:
            x = x.reshape(*x.shape[:axis], new, old // new, *x.shape[axis + 1 :])
            x = jnp.mean(x, axis + 1) if mean else first_largest(x, axis + 1)
        elif mean:
            where = np.arange(old)
            inside = (where >= starts[:, None]) & (where < ends[:, None])
            x = weigh_neighbours(widened(x), axis, inside / inside.sum(1, keepdims=True)).astype(x.dtype)
        else:
            x = jnp.stack(
                [first_largest(lax.slice_in_dim(x, a, b, axis=axis), axis) for a, b in zip(starts, ends, strict=True)],
                axis,
            )
    return x


def _compute_integer_mean(x, size):
    """Return the mean of each bin of integers, truncated to an integer. The sums are exact."""
    total, counts = x.astype(jnp.int64), np.int64(1)
    for axis, new in zip(range(x.ndim - len(size), x.ndim), size, strict=True):
        starts, ends = _compute_bin_bounds(x.shape[axis], x.shape[axis] if new is None else new)
        bins = zip(starts, ends, strict=True)
        total = jnp.stack([jnp.sum(lax.slice_in_dim(total, a, b, axis=axis), axis) for a, b in bins], axis)
        counts = counts * (ends - starts).reshape(-1, *[1] * (x.ndim - 1 - axis))
    return lax.div(total, jnp.broadcast_to(jnp.asarray(counts, total.dtype), total.shape)).astype(x.dtype)


def _find_largest_indices(op, x, size):
    """Return the flat index, over the last dimensions, of the largest value of each bin."""
    dims = len(size)
    _check.rank(op, "input", x, dims + 1, dims + 2)
    _check.some(op, "input", x, *range(-dims, 0))
    shape = x.shape[-dims:]
    bins = [
        zip(*_compute_bin_bounds(old, old if new is None else new), strict=True)
        for old, new in zip(shape, size, strict=True)
    ]
    number = jnp.arange(math.prod(shape)).reshape(shape)
    indices = []
    for part in itertools.product(*bins):
        window = (..., *(slice(a, b) for a, b in part))
        block, block_index = x[window], number[window].reshape(-1)
        indices.append(block_index[jnp.argmax(block.reshape(*x.shape[:-dims], block_index.size), -1)])
    lengths = [old if new is None else new for old, new in zip(shape, size, strict=True)]
    return jnp.stack(indices, -1).reshape(*x.shape[:-dims], *lengths)


@operator(functional="adaptive_avg_pool1d", generation=2)
def AdaptiveAvgPool1D(input, *, output_size: OutputSize1):
    """Split each sequence into `output_size` nearly equal parts and return the mean of each part.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps its length.

    Inputs:
        - **input** (Tensor) - (N, C, L), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.
    """
    _check.dtype_in("adaptive_avg_pool1d", "input", input, _check.FLOAT)
    return _pool_adaptive("AdaptiveAvgPool1D", input, output_size, mean=True)


@operator(functional="adaptive_max_pool1d", generation=2)
def AdaptiveMaxPool1D(input, *, output_size: OutputSize1):
    """Split each sequence into `output_size` nearly equal parts and return the largest value of each part.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps its length.

    Inputs:
        - **input** (Tensor) - (N, C, L), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.
    """
    _check.dtype_in("adaptive_max_pool1d", "input", input, _check.FLOAT)
    return _pool_adaptive("AdaptiveMaxPool1D", input, output_size, mean=False)


@operator(functional="adaptive_avg_pool2d", generation=2)
def AdaptiveAvgPool2D(input, *, output_size: MeanSize2):
    """Split each image into `output_size` nearly equal parts and return the mean of each part.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps its length.

    Inputs:
        - **input** (Tensor) - (N, C, H, W), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.
    """
    _check.dtype_in("adaptive_avg_pool2d", "input", input, _check.FLOAT)
    return _pool_adaptive("AdaptiveAvgPool2D", input, output_size, mean=True)


@operator
def AdaptiveMaxPool2D(input, *, output_size: OutputSize2):
    """Split each image into `output_size` nearly equal parts and return the largest value of each part.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps its length.

    Inputs:
        - **input** (Tensor) - (N, C, H, W), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.
    """
    _check.dtype_in("adaptive_max_pool2d", "input", input, _check.FLOAT)
    return _pool_adaptive("AdaptiveMaxPool2D", input, output_size, mean=False)


@operator
def _AdaptiveMaxPlaces2D(input, *, output_size: OutputSize2):
    """Split each image into `output_size` nearly equal parts and return the index of the largest value of each part.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps its length.

    Inputs:
        - **input** (Tensor) - (N, C, H, W), or without N.

    Outputs:
        Tensor of int64: flat indices in each image; the first one if several values are equal.
    """
    return _find_largest_indices("adaptive_max_pool2d", lax.stop_gradient(input), output_size).astype(jnp.int64)


@spelling(AdaptiveMaxPool2D, _AdaptiveMaxPlaces2D)
def adaptive_max_pool2d(
    input: Tensor, output_size: int | tuple[int | None, ...] | None, return_indices: Bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Split each image into `output_size` nearly equal parts and return the largest value of each part.

    Args:
        input (Tensor): (N, C, H, W), or without N; floating point.
        output_size (Union[int, tuple[int]]): Number of parts of each dimension; None keeps its length.
        return_indices (bool): Also return the indices of the largest values. Default: False.

    Returns:
        Tensor, trailing dimensions `output_size`; or a tuple of this Tensor and the flat indices in each image, int64.

    Raises:
        TypeError: If `input` is not floating point.
        ValueError: If `output_size` or the shape does not fit.
    """
    largest = AdaptiveMaxPool2D(output_size)(input)
    return (largest, _AdaptiveMaxPlaces2D(output_size)(input)) if return_indices else largest


@replaces_in_api2(AdaptiveMaxPool2D, "it gives the places of the values, too")
class _AdaptiveMaxPool2D(Primitive):
    """Return the largest values and their indices, see `adaptive_max_pool2d`."""

    def __init__(self, output_size: Any) -> None:
        super().__init__("AdaptiveMaxPool2D")
        self.add_prim_attr("output_size", check(OutputSize2, output_size, "output_size", "AdaptiveMaxPool2D"))

    def __call__(self, input: Tensor) -> tuple[Tensor, Tensor]:
        return AdaptiveMaxPool2D(self.output_size)(input), _AdaptiveMaxPlaces2D(self.output_size)(input)


@operator(functional="adaptive_avg_pool3d", generation=2)
def AdaptiveAvgPool3D(input, *, output_size: MeanSize3):
    """Split each volume into `output_size` nearly equal parts and return the mean of each part.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps its length.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.
    """
    _check.dtype_in("adaptive_avg_pool3d", "input", input, _check.FLOAT | _check.INT)
    return _pool_adaptive("AdaptiveAvgPool3D", input, output_size, mean=True)


@operator
def _LargestOfVolumes(input, *, output_size: OutputSize3):
    """Split each volume into `output_size` nearly equal parts and return the largest value of each part.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps its length.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W), or without N.

    Outputs:
        Tensor, trailing dimensions `output_size`.
    """
    _check.dtype_in("adaptive_max_pool3d", "input", input, _check.FLOAT | _check.INT)
    return _pool_adaptive("adaptive_max_pool3d", input, output_size, mean=False)


@operator
def _AdaptiveMaxPlaces3D(input, *, output_size: OutputSize3):
    """Split each volume into `output_size` nearly equal parts and return the index of the largest value of each part.

    Args:
        output_size (Union[int, tuple[int]]): number of parts of each dimension; None keeps its length.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W), or without N.

    Outputs:
        Tensor of int32: flat indices in each volume; the first one if several values are equal.
    """
    return _find_largest_indices("adaptive_max_pool3d", lax.stop_gradient(input), output_size).astype(jnp.int32)


@operator
def AdaptiveMaxPool3D(input, output_size: OutputSize3):
    """Split each volume into `output_size` nearly equal parts and return the largest value of each part and its index.

    Inputs:
        - **input** (Tensor) - (N, C, D, H, W), or without N.
        - **output_size** (Union[Tensor, int, tuple[int]]) - Number of parts of each dimension; in a graph, a constant.

    Outputs:
        tuple of 2 Tensors, trailing dimensions `output_size`: the values, and their flat indices in each volume, int32.
    """
    _check.dtype_in("AdaptiveMaxPool3D", "input", input, _check.FLOAT | _check.INT)
    indices = _find_largest_indices("AdaptiveMaxPool3D", lax.stop_gradient(input), output_size).astype(jnp.int32)
    return _pool_adaptive("AdaptiveMaxPool3D", input, output_size, mean=False), indices


@spelling(_LargestOfVolumes, _AdaptiveMaxPlaces3D)
def adaptive_max_pool3d(
    input: Tensor, output_size: int | tuple[int | None, ...] | None, return_indices: Bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Split each volume into `output_size` nearly equal parts and return the largest value of each part.

    Args:
        input (Tensor): (N, C, D, H, W), or without N; integers or floating point.
        output_size (Union[int, tuple[int]]): Number of parts of each dimension; None keeps its length.
        return_indices (bool): Also return the indices of the largest values. Default: False.

    Returns:
        Tensor, trailing dimensions `output_size`; or a tuple of this Tensor and the flat indices in each volume, int32.

    Raises:
        TypeError: If `input` is bool or complex.
        ValueError: If `output_size` or the shape does not fit.
    """
    largest = _LargestOfVolumes(output_size)(input)
    return (largest, _AdaptiveMaxPlaces3D(output_size)(input)) if return_indices else largest


spelling(AdaptiveAvgPool2D, function="adaptive_avg_pool2d_ext")(AdaptiveAvgPool2D.functional)

_ITS_FUNCTION = "its function is asked"

CASES = [
    case(AdaptiveAvgPool1D, F(2, 3, 10), output_size=5),
    case(AdaptiveMaxPool1D, F(2, 3, 10), output_size=5),
    case(AdaptiveAvgPool2D, F(2, 4, 6, 7), output_size=(3, 4)),
    case(AdaptiveMaxPool2D, F(2, 4, 6, 7), output_size=(3, 4)).results(0),
    case(_AdaptiveMaxPlaces2D, F(2, 4, 6, 7), output_size=(3, 4)).without("mindspore", _ITS_FUNCTION),
    case(_AdaptiveMaxPlaces3D, F(2, 4, 5, 6), output_size=(2, None, 4)).without("mindspore", _ITS_FUNCTION),
    case(adaptive_max_pool2d, F(2, 4, 6, 7), (3, 4), return_indices=True),
    case(adaptive_max_pool3d, F(1, 2, 4, 5, 6), (2, 3, 4), return_indices=True),
    case(adaptive_max_pool3d, F(1, 2, 4, 5, 6), (2, None, 4), return_indices=True).without(
        "mindspore", "MindSpore 2.7.1 makes a Tensor of the size, which None cannot be"
    ),
    case(AdaptiveAvgPool3D, F(1, 2, 4, 5, 6), output_size=2),
    case(AdaptiveMaxPool3D, F(1, 2, 4, 5, 6), Values([2, 3, 2])),
    case(_LargestOfVolumes, F(1, 2, 4, 5, 6), output_size=2).without("mindspore", _ITS_FUNCTION),
]
