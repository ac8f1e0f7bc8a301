"""Operators on boxes and labels: encoding, overlap, test of boxes against image borders, confusion matrix."""

import jax
import jax.numpy as jnp

from msnb.common.kinds import Float, Kind, OneOf, Optional, PositiveInt
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import operator
from msnb.core.operator.value_checks import label
from msnb.ops._check import ANY, FLOAT, NUMBER, dtype_in, rank, same_dtype, same_shape
from msnb.ops.nn._kinds import AboveZero


def _accept_four_floats(value):
    if not isinstance(value, tuple) or any(not isinstance(v, float) for v in value):
        raise TypeError
    if len(value) != 4:
        raise ValueError
    return value


def _accept_two_ints(value):
    if not isinstance(value, tuple) or any(isinstance(v, bool) or not isinstance(v, int) for v in value):
        raise TypeError
    if len(value) != 2:
        raise ValueError
    return value


FourFloats = Kind("a tuple of 4 floats", _accept_four_floats)  # static: a detector passes the same values in all calls
ImageShape = Kind("a tuple of 2 ints, height and width", _accept_two_ints)


def _check_boxes(op, **named):
    for argument, value in named.items():
        dtype_in(op, argument, value, NUMBER)
        if value.ndim != 2 or value.shape[1] != 4:
            raise ValueError(f"For '{op}', '{argument}' should have shape (N, 4), but got {value.shape}.")


def _promote_to_float32(x):
    """Cast `x` to at least float32."""
    return x.astype(jnp.promote_types(x.dtype, jnp.float32) if x.dtype in FLOAT else jnp.float32)


def _compute_center_and_size(boxes):
    """Return centre and size of boxes (x0, y0, x1, y1) whose corner pixels are inclusive."""
    x0, y0, x1, y1 = jnp.moveaxis(_promote_to_float32(boxes), -1, 0)
    return (x0 + x1) * 0.5, (y0 + y1) * 0.5, x1 - x0 + 1, y1 - y0 + 1


@operator(functional="bounding_box_encode")
def BoundingBoxEncode(
    anchor_box, groundtruth_box, *, means: FourFloats = (0.0, 0.0, 0.0, 0.0), stds: FourFloats = (1.0, 1.0, 1.0, 1.0)
):
    """Encode boxes as offsets from anchors: (centre - anchor centre) / anchor size, and log(size / anchor size).

    Args:
        means (tuple[float]): Subtracted from the four offsets. Default: (0.0, 0.0, 0.0, 0.0).
        stds (tuple[float]): The four offsets are divided by these. Default: (1.0, 1.0, 1.0, 1.0).

    Inputs:
        - **anchor_box** (Tensor) - Boxes (x0, y0, x1, y1), of shape (N, 4).
        - **groundtruth_box** (Tensor) - Of the shape and element type of `anchor_box`.

    Outputs:
        Tensor of shape (N, 4): dx, dy, dw, dh.

    Raises:
        TypeError: If `means` or `stds` is not a tuple of floats, or the element types differ.
        ValueError: If the shapes do not fit.

    References:
        R. Girshick, Fast R-CNN, ICCV 2015.

    Examples:
        >>> anchor = Tensor([[2, 2, 2, 3]], mindspore.float32)
        >>> print(ops.BoundingBoxEncode()(anchor, Tensor([[1, 2, 1, 4]], mindspore.float32)))
        [[-1.          0.25        0.          0.40546513]]
    """
    op = "BoundingBoxEncode"
    _check_boxes(op, anchor_box=anchor_box, groundtruth_box=groundtruth_box)
    same_dtype(op, anchor_box=anchor_box, groundtruth_box=groundtruth_box)
    same_shape(op, anchor_box=anchor_box, groundtruth_box=groundtruth_box)
    ax, ay, aw, ah = _compute_center_and_size(anchor_box)
    gx, gy, gw, gh = _compute_center_and_size(groundtruth_box)
    offsets = jnp.stack([(gx - ax) / aw, (gy - ay) / ah, jnp.log(gw / aw), jnp.log(gh / ah)], axis=-1)
    offsets = (offsets - jnp.asarray(means, offsets.dtype)) / jnp.asarray(stds, offsets.dtype)
    return offsets.astype(anchor_box.dtype)


@operator(functional="bounding_box_decode")
def BoundingBoxDecode(
    anchor_box,
    deltas,
    *,
    max_shape: Optional(ImageShape),
    means: FourFloats = (0.0, 0.0, 0.0, 0.0),
    stds: FourFloats = (1.0, 1.0, 1.0, 1.0),
    wh_ratio_clip: AboveZero = 0.016,
):
    """Decode boxes from their offsets to anchors (the inverse of BoundingBoxEncode) and clip them to the image.

    Args:
        max_shape (tuple[int]): Height and width of the image.
        means (tuple[float]): Added to the scaled offsets. Default: (0.0, 0.0, 0.0, 0.0).
        stds (tuple[float]): The four offsets are multiplied by these. Default: (1.0, 1.0, 1.0, 1.0).
        wh_ratio_clip (float): The ratios of box sizes to anchor sizes are clipped to [wh_ratio_clip,
            1 / wh_ratio_clip]. Default: 0.016.

    Inputs:
        - **anchor_box** (Tensor) - Boxes (x0, y0, x1, y1), of shape (N, 4).
        - **deltas** (Tensor) - Offsets, of the shape and element type of `anchor_box`.

    Outputs:
        Tensor of shape (N, 4).

    Raises:
        TypeError: If an argument has the wrong type, or the element types differ.
        ValueError: If the shapes do not fit.

    References:
        R. Girshick, Fast R-CNN, ICCV 2015.

    Examples:
        >>> anchor = Tensor([[4, 1, 2, 1]], mindspore.float32)
        >>> print(ops.BoundingBoxDecode((768, 1280))(anchor, Tensor([[3, 1, 2, 2]], mindspore.float32)))
        [[4.194528  0.        0.        5.1945286]]
    """
    op = "BoundingBoxDecode"
    _check_boxes(op, anchor_box=anchor_box, deltas=deltas)
    same_dtype(op, anchor_box=anchor_box, deltas=deltas)
    same_shape(op, anchor_box=anchor_box, deltas=deltas)
    offsets = _promote_to_float32(deltas)
    offsets = offsets * jnp.asarray(stds, offsets.dtype) + jnp.asarray(means, offsets.dtype)
    dx, dy, dw, dh = jnp.moveaxis(offsets, -1, 0)
    limit = jnp.abs(jnp.log(wh_ratio_clip))
    dw, dh = jnp.clip(dw, -limit, limit), jnp.clip(dh, -limit, limit)
    ax, ay, aw, ah = _compute_center_and_size(anchor_box)
    cx, cy, w, h = ax + aw * dx, ay + ah * dy, aw * jnp.exp(dw), ah * jnp.exp(dh)
    corners = [cx - w * 0.5 + 0.5, cy - h * 0.5 + 0.5, cx + w * 0.5 - 0.5, cy + h * 0.5 - 0.5]
    if max_shape is not None:
        height, width = max_shape
        corners = [jnp.clip(c, 0, width if i % 2 == 0 else height) for i, c in enumerate(corners)]
    return jnp.stack(corners, axis=-1).astype(anchor_box.dtype)


@operator(functional="check_valid")
def CheckValid(bboxes, img_metas):
    """Tests for each box if it is inside an image.

    Inputs:
        - **bboxes** (Tensor) - Boxes (x0, y0, x1, y1), numbers of shape (N, 4).
        - **img_metas** (Tensor) - Height, width and scale of the image, of shape (3,).

    Outputs:
        Tensor of bool, of shape (N,).

    Raises:
        TypeError: If an input does not consist of numbers.
        ValueError: If the shapes do not fit.

    Examples:
        >>> boxes = Tensor([[0, 0, 5, 3], [-1, 0, 2, 2]], mindspore.float32)
        >>> print(ops.CheckValid()(boxes, Tensor([5, 8, 1], mindspore.float32)))
        [ True False]
    """
    _check_boxes("CheckValid", bboxes=bboxes)
    dtype_in("CheckValid", "img_metas", img_metas, NUMBER)
    if img_metas.shape != (3,):
        raise ValueError(f"For 'CheckValid', 'img_metas' should have shape (3,), but got {img_metas.shape}.")
    x0, y0, x1, y1 = jnp.moveaxis(bboxes.astype(jnp.float32), -1, 0)
    height, width, scale = img_metas.astype(jnp.float32)
    return (x0 >= 0) & (y0 >= 0) & (x1 <= width * scale - 1) & (y1 <= height * scale - 1)


def _accept_iou_mode(value):
    if value not in ("iou", "iof"):
        raise KeyError(f"For 'IOU', 'mode' should be 'iou' or 'iof', but got {value!r}.")
    return value


@operator(functional="iou")
def IOU(anchor_boxes, gt_boxes, *, mode: Kind("'iou' or 'iof'", _accept_iou_mode, examples=("iou",)) = "iou"):
    """Compute the overlap of each pair of boxes from two sets.

    Args:
        mode (str): "iou" for intersection over union, "iof" for the intersection over the area of the true box.
            Default: "iou".

    Inputs:
        - **anchor_boxes** (Tensor) - Boxes (x0, y0, x1, y1), floating point of shape (N, 4).
        - **gt_boxes** (Tensor) - True boxes, floating point of shape (M, 4).

    Outputs:
        Tensor of shape (M, N) and the element type of `anchor_boxes`.

    Raises:
        KeyError: If `mode` is not "iou" or "iof".
        TypeError: If an input is not floating point.
        ValueError: If the shapes do not fit.

    Examples:
        >>> boxes = Tensor([[0, 0, 9, 9], [0, 0, 9, 4]], mindspore.float32)
        >>> print(ops.IOU()(boxes, boxes))
        [[1.  0.5]
         [0.5 1. ]]
    """
    _check_boxes("IOU", anchor_boxes=anchor_boxes, gt_boxes=gt_boxes)
    dtype_in("IOU", "anchor_boxes", anchor_boxes, FLOAT)
    dtype_in("IOU", "gt_boxes", gt_boxes, FLOAT)
    a, g = _promote_to_float32(anchor_boxes), _promote_to_float32(gt_boxes)[:, None]
    width = jnp.maximum(jnp.minimum(a[..., 2], g[..., 2]) - jnp.maximum(a[..., 0], g[..., 0]) + 1, 0)
    height = jnp.maximum(jnp.minimum(a[..., 3], g[..., 3]) - jnp.maximum(a[..., 1], g[..., 1]) + 1, 0)
    shared = width * height
    area = [(b[..., 2] - b[..., 0] + 1) * (b[..., 3] - b[..., 1] + 1) for b in (a, g)]
    denominator = area[0] + area[1] - shared if mode == "iou" else area[1]
    return (shared / denominator).astype(anchor_boxes.dtype)


_CLASSES = [
    label(name, classes=lambda inputs: inputs["num_classes"], always=False) for name in ("labels", "predictions")
]


@operator(checks=_CLASSES)
def ConfusionMatrix(
    labels,
    predictions,
    weights=None,
    *,
    num_classes: PositiveInt,
    dtype: OneOf("int32", "int64", "float16", "float32", "float64") = "int32",
):
    """Confusion matrix: count the predictions (columns) for each true class (rows).

    Args:
        num_classes (int): Number of classes.
        dtype (str): Element type of the counts. Default: "int32".

    Inputs:
        - **labels** (Tensor) - True classes, a vector of numbers.
        - **predictions** (Tensor) - Predicted classes, of the shape and element type of `labels`.
        - **weights** (Tensor) - Weight of each example, of the shape of `labels`. Default: None.

    Outputs:
        Tensor of shape (num_classes, num_classes) and element type `dtype`.

    Raises:
        TypeError: If `num_classes` is not an int or `dtype` not a string.
        ValueError: If the shapes differ or `labels` is not a vector.
        RuntimeError: If a class is not less than `num_classes`. Compiled graphs check this only with
            ``check_indices``; otherwise such an example is not counted.

    Examples:
        >>> labels, predictions = Tensor([0, 1, 1], mindspore.int32), Tensor([1, 1, 1], mindspore.int32)
        >>> print(ops.ConfusionMatrix(2)(labels, predictions))
        [[0 1]
         [0 2]]
    """
    op = "ConfusionMatrix"
    dtype_in(op, "labels", labels, NUMBER)
    same_dtype(op, labels=labels, predictions=predictions)
    rank(op, "labels", labels, 1)
    same_shape(op, labels=labels, predictions=predictions)
    if weights is None:
        weights = jnp.ones(labels.shape, dtype)
    dtype_in(op, "weights", weights, ANY)
    same_shape(op, labels=labels, weights=weights)
    counts = jnp.zeros((num_classes, num_classes), dtype)
    cells = labels.astype(jnp.int32), predictions.astype(jnp.int32)
    return counts.at[cells].add(weights.astype(dtype), mode="drop", wrap_negative_indices=False)


def _compute_iou_matrix(boxes):
    """Return the intersection over union of every pair of boxes (N, 4). The width of a box is x2 - x1, as in
    MindSpore's NMS."""
    x1, y1, x2, y2 = boxes.T
    area = (x2 - x1) * (y2 - y1)
    width = jnp.maximum(jnp.minimum(x2[:, None], x2) - jnp.maximum(x1[:, None], x1), 0)
    height = jnp.maximum(jnp.minimum(y2[:, None], y2) - jnp.maximum(y1[:, None], y1), 0)
    shared = width * height
    return shared / (area[:, None] + area - shared)


@operator
def NMSWithMask(bboxes, *, iou_threshold: Float = 0.5):
    """Non-maximum suppression: sort boxes by score, and return a mask of the boxes to keep.

    A box is removed if its overlap with a remaining box of a higher score exceeds a threshold.

    Args:
        iou_threshold (float): Overlap (intersection over union) above which the box with the lower score is removed.
            Default: 0.5.

    Inputs:
        - **bboxes** (Tensor) - N boxes as (x0, y0, x1, y1, score), of shape (N, 5), floating point.

    Outputs:
        Three Tensors.

        - **output_boxes** - The boxes sorted by descending score, of shape (N, 5).
        - **output_idx** - Indices 0 to N - 1, int32 of shape (N,).
        - **selected_mask** - True for each remaining sorted box, of shape (N,).

    Raises:
        TypeError: If `bboxes` is not floating point.
        ValueError: If the shape is not (N, 5).

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
    overlaps = _compute_iou_matrix(boxes[:, :4]) > iou_threshold
    after = jnp.arange(count)

    def drop_worse(i, keep):
        return keep & ~(keep[i] & overlaps[i] & (after > i))

    mask = jax.lax.fori_loop(0, count, drop_worse, jnp.ones(count, bool))
    return boxes, jnp.arange(count, dtype=jnp.int32), mask


_BOXES = Values([[0.0, 0.0, 9.0, 9.0], [0.0, 0.0, 9.0, 4.0], [20.0, 20.0, 30.0, 30.0]])
_SCORED = Values([[0, 0, 10, 10, 0.6], [0, 0, 10, 9, 0.9], [20, 20, 30, 30, 0.7], [0, 5, 10, 10, 0.8]])
_OTHERS = Values([[1.0, 1.0, 10.0, 10.0], [1.0, 1.0, 10.0, 5.0]])

CASES = [
    case(BoundingBoxEncode, _BOXES, F(3, 4, low=0, high=30), stds=(0.1, 0.1, 0.2, 0.2)),
    case(BoundingBoxDecode, _BOXES, F(3, 4, low=-1, high=1), max_shape=(40, 40)),
    case(CheckValid, _BOXES, Values([12.0, 12.0, 1.0])),
    case(IOU, _BOXES, _OTHERS, mode="iou").without("gradient", "MindSpore gives zeros"),
    case(IOU, _BOXES, _OTHERS, mode="iof").without("gradient", "MindSpore gives zeros"),
    case(ConfusionMatrix, Values([0, 1]), Values([1, 1]), F(2), num_classes=2, dtype="float64"),
    case(NMSWithMask, _SCORED, iou_threshold=0.5),
    refused(KeyError, IOU, mode="ioa", says="iou"),
]
