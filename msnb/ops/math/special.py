"""Operators of the math group with a form of their own: histograms, sequences, boxes, and the NPU's status words."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Float, Kind, OneOf, PositiveInt
from msnb.core import float_status
from msnb.core.declare import operator
from msnb.core.operator import Operator
from msnb.core.tensor import box
from msnb.ops._check import FLOAT, NUMBER, dtype_in, rank, same_dtype
from msnb.ops._host import HostPrimitive, host_operator


@operator(functional="linspace")
def LinSpace(start, stop, num: PositiveInt):
    """`num` numbers at even distances from `start` to `stop`, both included.

    Inputs:
        - **start** (Tensor) - The first number, a scalar.
        - **stop** (Tensor) - The last number, a scalar of the element type of `start`.
        - **num** (int) - How many numbers, at least 1.

    Outputs:
        Tensor of shape (num,) and the element type of `start`.

    Raises:
        TypeError: If the bounds are not floating point or `num` is not an int.
        ValueError: If `num` is not positive or a bound is not a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.LinSpace()(Tensor(1., mindspore.float32), Tensor(10., mindspore.float32), 4))
        [ 1.  4.  7. 10.]
    """
    start, stop = (x.astype(jnp.float32) if x.dtype not in FLOAT or x.weak_type else x for x in (start, stop))
    same_dtype("LinSpace", start=start, stop=stop)
    rank("LinSpace", "start", start, 0)
    rank("LinSpace", "stop", stop, 0)
    if num == 1:
        return start.reshape(1)
    step = (stop - start) / (num - 1)
    return (start + step * jnp.arange(num, dtype=start.dtype)).at[-1].set(stop)


@operator(functional="histogram_fixed_width")
def HistogramFixedWidth(x, range, *, nbins: PositiveInt, dtype: OneOf("int32", "int64") = "int32"):
    """How many elements fall in each of `nbins` bins of equal width.

    Elements at or below the lower bound count in the first bin, elements at or above the upper bound in the last.

    Args:
        nbins (int): Number of bins, at least 1.
        dtype (str): Element type of the counts, "int32" or "int64". Default: "int32".

    Inputs:
        - **x** (Tensor) - Numbers, of any shape.
        - **range** (Tensor) - Lower and upper bound, of shape (2,) and the element type of `x`.

    Outputs:
        Tensor of shape (nbins,) of int32 or int64.

    Raises:
        TypeError: If an input is not made of numbers.
        ValueError: If `nbins` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([-1.0, 0.0, 1.5, 2.0, 5.0, 15], mindspore.float16)
        >>> print(ops.HistogramFixedWidth(5)(x, Tensor([0.0, 5.0], mindspore.float16)))
        [2 1 1 0 2]
    """
    dtype_in("HistogramFixedWidth", "x", x, NUMBER)
    dtype_in("HistogramFixedWidth", "range", range, NUMBER)
    low, high = range[0].astype(jnp.float32), range[1].astype(jnp.float32)
    place = jnp.floor((x.reshape(-1).astype(jnp.float32) - low) / (high - low) * nbins)
    place = jnp.clip(place, 0, nbins - 1).astype(jnp.int32)
    return jnp.zeros(nbins, dtype).at[place].add(1)


def _iou_matrix(boxes):
    """Overlap of every pair of boxes (N, 4), with the widths counted as MindSpore's NMS does: x2 - x1."""
    x1, y1, x2, y2 = boxes.T
    area = (x2 - x1) * (y2 - y1)
    width = jnp.maximum(jnp.minimum(x2[:, None], x2) - jnp.maximum(x1[:, None], x1), 0)
    height = jnp.maximum(jnp.minimum(y2[:, None], y2) - jnp.maximum(y1[:, None], y1), 0)
    shared = width * height
    return shared / (area[:, None] + area - shared)


@operator(functional="nms_with_mask")
def NMSWithMask(bboxes, *, iou_threshold: Float = 0.5):
    """Boxes in order of their scores, with a mask of those that overlap no better box by more than a threshold.

    Args:
        iou_threshold (float): Overlap (intersection over union) above which the worse box goes. Default: 0.5.

    Inputs:
        - **bboxes** (Tensor) - N boxes as (x0, y0, x1, y1, score), of shape (N, 5), floating point.

    Outputs:
        Three Tensors.

        - **output_boxes** - The boxes sorted by falling score, of shape (N, 5).
        - **output_idx** - Indices 0 to N - 1, int32 of shape (N,).
        - **selected_mask** - True for each sorted box that is kept, of shape (N,).

    Raises:
        TypeError: If `bboxes` is not floating point.
        ValueError: If the shape is not (N, 5).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    References:
        Neubeck & Van Gool, Efficient Non-Maximum Suppression, ICPR 2006.

    Examples:
        >>> boxes = Tensor([[0., 0., 10., 10., .6], [0., 0., 10., 9., .9]], mindspore.float32)
        >>> print(ops.NMSWithMask(0.5)(boxes)[2])
        [ True False]
    """
    op = "NMSWithMask"
    dtype_in(op, "bboxes", bboxes, FLOAT)
    rank(op, "bboxes", bboxes, 2)
    if bboxes.shape[1] != 5 or not bboxes.shape[0]:
        raise ValueError(f"For '{op}', 'bboxes' should have shape (N, 5) with N > 0, but got {bboxes.shape}.")
    count = bboxes.shape[0]
    boxes = bboxes[jnp.argsort(-bboxes[:, 4], stable=True)]
    overlaps = _iou_matrix(boxes[:, :4]) > iou_threshold
    after = jnp.arange(count)

    def drop_worse(i, keep):
        return keep & ~(keep[i] & overlaps[i] & (after > i))

    mask = jax.lax.fori_loop(0, count, drop_worse, jnp.ones(count, bool))
    return boxes, jnp.arange(count, dtype=jnp.int32), mask


@operator
def NPUAllocFloatStatus():
    """Eight status words, all 0, for NPUClearFloatStatus and NPUGetFloatStatus.

    Outputs:
        Tensor of float32, of shape (8,).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return jnp.zeros(8, jnp.float32)


def _status(name, write):
    """An operator that writes the status words: write(x, overflow)."""

    def kernel(x, overflow=None):
        dtype_in(name, "x", x, FLOAT)
        if x.shape != (8,):
            raise ValueError(f"For '{name}', 'x' should have shape (8,), but got {x.shape}.")
        return write(x, overflow)

    return Operator(kernel, name, ("x",), "written", False)


_clear = _status("NPUClearFloatStatus", lambda x, _: jnp.zeros_like(x))
_get = _status("NPUGetFloatStatus", lambda x, overflow: jnp.zeros_like(x).at[0].set(overflow.astype(x.dtype)))


@host_operator()
class NPUGetFloatStatus(HostPrimitive):
    """Writes whether a number has overflowed since NPUClearFloatStatus: the first status word is then 1, else 0.

    An operator's result, or a gradient, that is infinite or not a number counts as overflow. What is computed after
    this operator does not count until the next NPUClearFloatStatus; without the two nothing is looked at.

    Inputs:
        - **x** (Tensor) - The status words, floating point of shape (8,); written in place.

    Outputs:
        Tensor, `x` itself.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If the shape is not (8,).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> status = ops.NPUAllocFloatStatus()()
        >>> cleared = ops.NPUClearFloatStatus()(status)
        >>> y = Tensor([1e30], mindspore.float32) * 1e30
        >>> print(ops.NPUGetFloatStatus()(status).sum())
        1.0
    """

    def __call__(self, x):
        return _get({}, (x, box(float_status.end())))


@host_operator()
class NPUClearFloatStatus(HostPrimitive):
    """Sets the status words to 0; what overflows from here on shows at NPUGetFloatStatus.

    Inputs:
        - **x** (Tensor) - The status words, floating point of shape (8,); written in place.

    Outputs:
        Tensor, `x` itself.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If the shape is not (8,).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __call__(self, x):
        cleared = _clear({}, (x,))
        float_status.begin()
        return cleared


def _matrix_axes(axes):
    if isinstance(axes, int) and not isinstance(axes, bool):
        return axes
    if not isinstance(axes, (tuple, list)):
        raise TypeError
    if len(axes) != 2:
        raise ValueError
    sides = tuple((side,) if isinstance(side, int) else tuple(side) for side in axes)
    if len(sides[0]) != len(sides[1]) or any(len(set(s)) < len(s) for s in sides):
        raise ValueError
    return sides


DotAxes = Kind("an int, or two tuples of as many different axes each", _matrix_axes)


@operator
def TensorDot(x1, x2, axes: DotAxes):
    """Sum of products over pairs of axes.

    Inputs:
        - **x1** (Tensor) - Floating point.
        - **x2** (Tensor) - Of the element type of `x1`.
        - **axes** (Union[int, tuple]) - How many last axes of `x1` meet first axes of `x2`, or the pairs of axes.

    Outputs:
        Tensor of the element type of the inputs, with the free axes of `x1`, then those of `x2`.

    Raises:
        TypeError: If the element types differ or are not floating point.
        ValueError: If `axes` is out of range, or the paired dimensions differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.tensor_dot(Tensor(np.ones((1, 2, 3)), mindspore.float32),
        ...                      Tensor(np.ones((3, 1, 2)), mindspore.float32), ((0, 1), (1, 2))))
        [[2. 2. 2.]
         [2. 2. 2.]
         [2. 2. 2.]]
    """
    op = "TensorDot"
    dtype_in(op, "x1", x1, FLOAT)
    dtype_in(op, "x2", x2, FLOAT)
    same_dtype(op, x1=x1, x2=x2)
    if isinstance(axes, int):
        if not 0 <= axes <= min(x1.ndim, x2.ndim):
            raise ValueError(f"For '{op}', 'axes' should be in [0, {min(x1.ndim, x2.ndim)}], but got {axes}.")
        axes = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    for x, side in ((x1, axes[0]), (x2, axes[1])):
        if any(not -x.ndim <= a < x.ndim for a in side):
            raise ValueError(f"For '{op}', 'axes' {side} is out of range for shape {x.shape}.")
    pairs = [(x1.shape[a], x2.shape[b]) for a, b in zip(*axes, strict=True)]
    if any(a != b for a, b in pairs):
        # MindSpore accepts axes that fit when one side is read backwards.
        axes = axes[0], axes[1][::-1]
        if any(x1.shape[a] != x2.shape[b] for a, b in zip(*axes, strict=True)):
            raise ValueError(f"For '{op}', the paired dimensions should agree, but got {pairs}.")
    return jnp.tensordot(x1, x2, axes if axes[0] else 0)
