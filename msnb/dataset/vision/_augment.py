"""Automatic augmentation: random selection of transforms, mixing of examples. They are C++ operators in MindSpore."""

from typing import Annotated, Any

import numpy as np

from msnb.common.arguments import answered
from msnb.common.kinds import checked
from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.kinds import FLOAT_MAX_INTEGER, Real, above_zero, list_of, of_callable, of_type, positive, within
from msnb.dataset.core.streams import Gamma, Mt32
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.transforms._composite import (
    _Composite,
    check_non_empty,
    convert_pil_images,
    open_states,
    run_operation,
    unwrap_single,
)
from msnb.dataset.vision._kinds import two_tuple
from msnb.dataset.vision.py_transforms_util import uniform_augment
from msnb.dataset.vision.utils import ImageBatchFormat


class UniformAugment(_Composite):
    """Apply randomly chosen transforms, each with probability one half.

    Args:
        transforms (list): Transforms.
        num_ops (int, optional): Number of transforms to choose. Default: 2.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `num_ops` is not positive or greater than the number of transforms.
    """

    deterministic = False

    @checked
    def __init__(
        self, transforms: Annotated[list | tuple, of_type(list, tuple)], num_ops: Annotated[int, above_zero(int)] = 2
    ):
        if num_ops > len(transforms):
            raise ValueError(f"num_ops is greater than transforms list size: {num_ops} and {len(transforms)}.")
        for i, op in enumerate(transforms):
            if not isinstance(op, TensorOp):
                raise TypeError(
                    f"Argument tensor_ops[{i}] with value {op} is not of type (<class "
                    f"'mindspore._c_dataengine.TensorOp'>,)."
                )
        self.transforms = transforms
        self.num_ops: int = num_ops

    def _transform_row_in_python(self, values):
        return tuple(uniform_augment(value, self.transforms, self.num_ops) for value in values)

    def _transform_row_with_state(self, state, *values):
        if self._uses_pillow(values):
            return unwrap_single(self._transform_row_in_python(values))
        values = convert_pil_images(values)
        stream, states = state
        indices = stream.sample(list(range(len(self.transforms))), self.num_ops)
        for i in indices:
            if not stream.uniform_int(0, 1):
                values = run_operation(self.transforms[i], states[i], values)
        return unwrap_single(values)


class RandomSelectSubpolicy(TensorOp):
    """Choose a random one of several lists of transforms, and apply each transform in it with its own probability.

    Args:
        policy (list(list(tuple(TensorOp, float)))): The lists of (transform, probability).

    Raises:
        TypeError: If `policy` is not such a list.
        ValueError: If a list is empty or a probability not in [0, 1].

    Examples:
        >>> import mindspore.dataset.vision.c_transforms as CV
        >>> policy = [[(CV.RandomRotation((45, 45)), 0.5), (CV.RandomVerticalFlip(), 1.0)]]
        >>> CV.RandomSelectSubpolicy(policy)
    """

    inputs = None
    deterministic = False

    @answered
    def __init__(self, policy: list[Any]) -> None:
        for i, sub in enumerate(check_non_empty(policy, "policy")):
            for j, choice in enumerate(check_non_empty(sub, f"policy[{i}]")):
                location = f"policy[{i}][{j}]"
                two_tuple(choice, location)
                of_callable(choice[0], f"op of (op, prob) in {location}")
                within(0, 1)(choice[1], f"prob of (op, prob) {location}")
        self.policy = policy

    def _create_random_state(self):
        return Mt32(fresh_seed()), [open_states([op for op, _ in sub]) for sub in self.policy]

    def _transform_row_with_state(self, state, *values):
        values = convert_pil_images(values)
        stream, states = state
        index = stream.uniform_int(0, len(self.policy) - 1)
        for (op, prob), op_state in zip(self.policy[index], states[index], strict=True):
            if stream.canonical() <= prob:
                values = run_operation(op, op_state, values)
        return unwrap_single(values)


def _check_image_batch(op, image, label):
    name = type(op).__name__
    if image.ndim != 4 or not label.ndim or len(image) != len(label):
        raise RuntimeError(
            f"{name}: You must make sure images are HWC or CHW and batched before calling {name}: got images of shape "
            f"{image.shape} and labels of shape {label.shape}."
        )
    if label.dtype.kind not in "iu" and not (op.any_labels and label.dtype.kind == "f"):
        raise RuntimeError(
            f"{name}: Wrong labels type. The second column (labels) must only include int types, but got {label.dtype}."
        )
    if label.ndim not in (2, 3):
        raise RuntimeError(
            f"{name}: Wrong labels shape. The second column (labels) must have a shape of NC or NLC where N is the "
            f"batch size, "
            f"L is the number of labels in each row, and C is the number of classes, but got {label.shape}. labels "
            f"must be "
            "in one-hot format and in a batch."
        )


class MixUpBatch(TensorOp):
    """Mix each image of a batch with another of the batch, and labels likewise (Zhang et al., 2018).

    Labels are one-hot codes. Use it after ``batch`` on the columns [image, label].

    Args:
        alpha (float, optional): Value of both parameters of the beta distribution of the mixing weight. Default: 1.0.

    Raises:
        ValueError: If `alpha` is not positive.
    """

    inputs = None
    deterministic = False
    any_labels = True

    @checked
    def __init__(self, alpha: Annotated[int | float, above_zero(int, float)] = 1.0):
        within(0, FLOAT_MAX_INTEGER)(alpha, "")
        self.alpha = alpha

    def _transform_row_with_state(self, stream, *columns):
        if len(columns) < 2:
            raise RuntimeError("MixUpBatch: Both images and labels columns are required for this operation.")
        image, label = columns[:2]
        _check_image_batch(self, image, label)
        if image.shape[1] not in (1, 3) and image.shape[3] not in (1, 3):
            raise RuntimeError(f"MixUpBatch: Images must be in the shape of HWC or CHW, but got {image.shape}.")
        x1, x2 = Gamma(self.alpha).draw(stream), Gamma(self.alpha).draw(stream)
        share = np.float32(x1 / (x1 + x2))
        other = np.array(stream.shuffle(list(range(len(image)))))
        mixed = float(share) * image.astype(np.float64) + float(np.float32(1) - share) * image[other].astype(np.float64)
        if image.dtype.kind in "ui":
            mixed = np.clip(np.rint(mixed), np.iinfo(image.dtype).min, np.iinfo(image.dtype).max)
        labels = share * label.astype(np.float32) + (np.float32(1) - share) * label[other].astype(np.float32)
        return mixed.astype(image.dtype), labels.astype(np.float32)


class CutMixBatch(TensorOp):
    """Replace a box of each image of a batch by the box of another image. Labels are mixed by area (Yun et al., 2019).

    Labels are one-hot codes. Use it after ``batch`` on the columns [image, label].

    Args:
        image_batch_format (ImageBatchFormat): Axis order of the images.
        alpha (float, optional): Value of both parameters of the beta distribution of the box's area. Default: 1.0.
        prob (float, optional): Probability for each image. Default: 1.0.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a value is out of range.
    """

    inputs = None
    deterministic = False
    any_labels = True

    @checked
    def __init__(
        self,
        image_batch_format: Annotated[ImageBatchFormat, of_type(ImageBatchFormat)],
        alpha: Real = 1.0,
        prob: Annotated[float, within(0, 1, int, float)] = 1.0,
    ):
        positive(within(0, FLOAT_MAX_INTEGER)(alpha, ""), "alpha")
        self.image_batch_format = image_batch_format
        self.alpha = alpha
        self.prob: float = prob

    def _sample_cut_box(self, stream, height, width, share):
        cut = np.sqrt(np.float32(1) - share)
        w, h = int(width * cut), int(height * cut)
        cx, cy = stream.uniform_int(0, width), stream.uniform_int(0, height)
        x, y = np.clip(cx - w // 2, 0, width - 1), np.clip(cy - h // 2, 0, height - 1)
        x2, y2 = np.clip(cx + w // 2, 0, width - 1), np.clip(cy + h // 2, 0, height - 1)
        return int(x), int(y), max(1, min(int(x2 - x), width - 1)), max(1, min(int(y2 - y), height - 1))

    def _transform_row_with_state(self, stream, *columns):
        if len(columns) < 2:
            raise RuntimeError("CutMixBatch: Both images and labels columns are required for this operation.")
        image, label = columns[:2]
        _check_image_batch(self, image, label)
        channels_first = self.image_batch_format == ImageBatchFormat.NCHW
        if image.shape[1 if channels_first else 3] not in (1, 3):
            raise RuntimeError(
                f"CutMixBatch: Image doesn't match the given image format {self.image_batch_format.name}: shape "
                f"{image.shape}."
            )
        other = stream.shuffle(list(range(len(image))))
        height, width = image.shape[2:] if channels_first else image.shape[1:3]
        images, labels = image.copy(), label.astype(np.float32)
        gammas = Gamma(self.alpha), Gamma(self.alpha)
        for i in range(len(image)):
            x1, x2 = gammas[0].draw(stream), gammas[1].draw(stream)
            share = np.float32(x1 / (x1 + x2))
            if stream.canonical() >= self.prob:
                continue
            x, y, w, h = self._sample_cut_box(stream, height, width, share)
            box = (
                (slice(None), slice(y, y + h), slice(x, x + w))
                if channels_first
                else (slice(y, y + h), slice(x, x + w))
            )
            images[i][box] = image[other[i]][box]
            remaining = np.float32(1) - np.float32(w * h) / np.float32(height * width)
            labels[i] = remaining * label[i].astype(np.float32) + (np.float32(1) - remaining) * label[other[i]].astype(
                np.float32
            )
        return images, labels


class RandomLighting(TensorOp):
    """Add light of a random colour (AlexNet's noise along the principal components of ImageNet).

    Args:
        alpha (float, optional): Standard deviation of the normal noise. Default: 0.05.

    Raises:
        TypeError: If `alpha` is not a number.
        ValueError: If it is negative.
    """

    deterministic = False
    components = np.array(
        [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]], np.float32
    )
    values = np.array([55.46, 4.794, 1.148], np.float32)

    @checked
    def __init__(self, alpha: Annotated[float | int, within(0, 16777216, float, int)] = 0.05):
        self.alpha = alpha

    def _sample_params(self, stream, image):
        return np.array([stream.normal_float() * np.float32(self.alpha) for _ in range(3)], np.float32)

    def _apply_params(self, noise, image):
        if image.ndim != 3 or image.shape[2] != 3:
            raise RuntimeError(f"RandomLighting: image shape should be <H,W,3>, but got {image.shape}.")
        light = self.components @ (noise * self.values)
        lit = image.astype(np.float32) + light
        return np.clip(np.rint(lit), 0, 255).astype(image.dtype) if image.dtype == np.uint8 else lit.astype(image.dtype)


def check_transform(transform, name="transform"):
    """Check that `transform` is a transform of the library."""
    of_type(TensorOp)(transform, name)


def check_transforms(transforms, name):
    """Check that `transforms` is a list of transforms of the library."""
    list_of(TensorOp)(transforms, name)
