"""Transforms of an image together with its bounding boxes. They are C++ operators in MindSpore.

Boxes are a float32 column; each row is (x, y, width, height, ...).
"""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np

from msnb.common.arguments import answered
from msnb.common.kinds import checked
from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.kinds import of_type
from msnb.dataset.core.streams import Mt32
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.transforms._composite import run_operation
from msnb.dataset.vision import kernels
from msnb.dataset.vision._crops import RandomCrop, RandomResizedCrop
from msnb.dataset.vision._geometry import RandomHorizontalFlip, RandomResize, RandomVerticalFlip, Resize
from msnb.dataset.vision._kinds import Probability
from msnb.dataset.vision.utils import Border, Inter


def check_boxes(image, boxes):
    """Return a float32 copy of the boxes. Raise RuntimeError if one is not inside the image."""
    kernels.check_image(image, "bounding boxes")
    if boxes.ndim < 2:
        raise RuntimeError(f"Bounding boxes shape should have at least two dimensions, but got shape {boxes.shape}.")
    if boxes.shape[1] < 4:
        raise RuntimeError(f"Bounding boxes should be have at least 4 features, but got shape {boxes.shape}.")
    height, width = image.shape[:2]
    boxes = boxes.astype(np.float32)
    if ((boxes[:, 0] + boxes[:, 2] > width) | (boxes[:, 1] + boxes[:, 3] > height)).any():
        raise RuntimeError(f"At least one of the bounding boxes is out of bounds of the image ({height} x {width}).")
    if (boxes[:, :2].astype(np.int64) < 0).any():
        raise RuntimeError("At least one of the bounding boxes has negative min_x or min_y.")
    return boxes


def crop_boxes(boxes, x, y, width, height):
    """Return the boxes relative to a crop, clipped to it. Boxes outside the crop are removed."""
    x0, y0 = boxes[:, 0], boxes[:, 1]
    x1, y1 = x0 + boxes[:, 2], y0 + boxes[:, 3]
    boxes = boxes[~((x0 > x + width) | (y0 > y + height) | (x1 < x) | (y1 < y))].copy()
    x0, y0 = boxes[:, 0], boxes[:, 1]
    x1, y1 = np.minimum(x0 + boxes[:, 2] - x, width), np.minimum(y0 + boxes[:, 3] - y, height)
    x0, y0 = np.maximum(x0 - x, 0), np.maximum(y0 - y, 0)
    boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3] = x0, y0, x1 - x0, y1 - y0
    return boxes


def resize_boxes(boxes, new, old):
    """Return the boxes after a resize from shape `old` to shape `new`."""
    h, w = np.float32(new[0] / old[0]), np.float32(new[1] / old[1])
    boxes = boxes.copy()
    boxes[:, :4] *= np.array([w, h, w, h], np.float32)
    return boxes


class _BoxOp(TensorOp):
    inputs = None

    def _unpack_image_and_boxes(self, columns):
        if len(columns) != 2:
            raise RuntimeError(
                f"{type(self).__name__}: Requires Image and Bounding Boxes, likely missed bounding boxes: got "
                f"{len(columns)} "
                "column(s)."
            )
        return columns[0], check_boxes(*columns)


class _RandomBoxOp(_BoxOp):
    """Base of random transforms with boxes. It draws the same random numbers as the transform without boxes."""

    deterministic = False

    def _sample_params(self, stream, *columns):
        image, _ = self._unpack_image_and_boxes(columns)
        return self._op._sample_params(stream, image)


class RandomCropWithBBox(_RandomBoxOp):
    """Apply :class:`RandomCrop` to an image and its boxes.

    Args:
        size, padding, pad_if_needed, fill_value, padding_mode: As for :class:`RandomCrop`.
    """

    @answered
    def __init__(
        self,
        size: int | Sequence[int],
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        self._op = RandomCrop(size, padding, pad_if_needed, fill_value, padding_mode)
        self.size, self.padding = self._op.size, self._op.padding

    def _apply_params(self, corner, *columns):
        image, boxes = self._unpack_image_and_boxes(columns)
        (left, top, _, _), _, _ = self._op._compute_padding(image.shape)
        boxes[:, 0] += left
        boxes[:, 1] += top
        return self._op._apply_params(corner, image), crop_boxes(boxes, *corner, self.size[1], self.size[0])


class _FlipWithBBox(_RandomBoxOp):
    @checked
    def __init__(self, prob: Probability = 0.5):
        self.prob = prob
        self._op = self._flip_class(prob)

    def _apply_params(self, flip, *columns):
        image, boxes = self._unpack_image_and_boxes(columns)
        if flip:
            axis = self._op._axis
            boxes[:, 1 - axis] = np.float32(image.shape[axis]) - boxes[:, 1 - axis] - boxes[:, 3 - axis]
        return self._op._apply_params(flip, image), boxes


class RandomHorizontalFlipWithBBox(_FlipWithBBox):
    """Apply :class:`RandomHorizontalFlip` to an image and its boxes.

    Args:
        prob (float, optional): Probability that the image is changed. Default: 0.5.
    """

    _flip_class = RandomHorizontalFlip


class RandomVerticalFlipWithBBox(_FlipWithBBox):
    """Apply :class:`RandomVerticalFlip` to an image and its boxes.

    Args:
        prob (float, optional): Probability that the image is changed. Default: 0.5.
    """

    _flip_class = RandomVerticalFlip


class ResizeWithBBox(_BoxOp):
    """Apply :class:`Resize` to an image and its boxes.

    Args:
        size, interpolation: As for :class:`Resize`.
    """

    @answered
    def __init__(self, size: int | Sequence[int], interpolation: Inter = Inter.LINEAR) -> None:
        self._op = Resize(size, interpolation)
        self.size = size
        self.interpolation: Inter = interpolation

    def _transform_row(self, *columns):
        image, boxes = self._unpack_image_and_boxes(columns)
        resized_image = self._op._transform_row(image)
        return resized_image, resize_boxes(boxes, resized_image.shape, image.shape)


class RandomResizeWithBBox(_RandomBoxOp):
    """Apply :class:`RandomResize` to an image and its boxes.

    Args:
        size: As for :class:`RandomResize`.
    """

    @answered
    def __init__(self, size: int | Sequence[int]) -> None:
        self._op = RandomResize(size)
        self.size = size

    def _apply_params(self, interpolation, *columns):
        image, boxes = self._unpack_image_and_boxes(columns)
        resized_image = self._op._apply_params(interpolation, image)
        return resized_image, resize_boxes(boxes, resized_image.shape, image.shape)


class RandomResizedCropWithBBox(_RandomBoxOp):
    """Apply :class:`RandomResizedCrop` to an image and its boxes.

    Args:
        size, scale, ratio, interpolation, max_attempts: As for :class:`RandomResizedCrop`.
    """

    @answered
    def __init__(
        self,
        size: int | Sequence[int],
        scale: Sequence[float] = (0.08, 1.0),
        ratio: Sequence[float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        self._op = RandomResizedCrop(size, scale, ratio, interpolation, max_attempts)
        self.size = self._op.size

    def _apply_params(self, crop_box, *columns):
        image, boxes = self._unpack_image_and_boxes(columns)
        x, y, w, h = crop_box
        boxes = crop_boxes(boxes, x, y, w, h)
        return self._op._apply_params(crop_box, image), resize_boxes(boxes, self.size, (h, w))


class BoundingBoxAugment(_BoxOp):
    """Apply a transform inside randomly chosen boxes.

    Args:
        transform (TensorOp): The transform.
        ratio (float, optional): Probability for each box. Default: 0.3.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `ratio` is not in [0, 1].
    """

    deterministic = False

    @checked
    def __init__(self, transform: Annotated[TensorOp, of_type(TensorOp)], ratio: Probability = 0.3):
        self.transform = transform
        self.ratio = ratio

    def _create_random_state(self):
        return Mt32(fresh_seed()), self.transform._create_random_state()

    def _transform_row_with_state(self, state, *columns):
        image, boxes = self._unpack_image_and_boxes(columns)
        stream, transform_state = state
        out = image.copy()
        for box in boxes:
            if stream.uniform_float(0, 1) >= self.ratio:
                continue
            x, y, w, h = (int(v) for v in box[:4])
            augmented = run_operation(self.transform, transform_state, (kernels.crop(out, x, y, w, h),))[0]
            if augmented.shape[:2] != (h, w):
                augmented = kernels.resize(augmented, (h, w))
            out[y : y + h, x : x + w] = augmented
        return out, columns[1]
