"""Functions behind ``py_transforms``. They draw from Python's ``random``, as in MindSpore."""

import functools
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb.dataset.core.py_util_helpers import is_numpy


def all_numpy(args: Any) -> bool:
    """Return True if a value, or every value of a tuple, is a numpy array."""
    return all(map(is_numpy, args)) if isinstance(args, tuple) else is_numpy(args)


def compose(transforms: Sequence[Callable[..., Any]], *args: Any) -> Any:
    """Apply all transforms to numpy arrays. The results must be numpy arrays."""
    if not all_numpy(args):
        raise TypeError(f"args should be NumPy ndarray. Got {type(args)}.")
    for transform in transforms:
        args = transform(*args)
        if not isinstance(args, tuple):
            args = (args,)
    if not all_numpy(args):
        invalid = next(a for a in args if not is_numpy(a))
        raise TypeError(f"args should be NumPy ndarray. Got {type(invalid)}. Append ToTensor() to transforms.")
    return args


def one_hot_encoding(label: Any, num_classes: int, epsilon: float) -> np.ndarray:
    """Return one-hot rows for labels, smoothed: a fraction `epsilon` of the 1 is spread over all classes."""
    labels = np.ravel(label)
    if (labels > num_classes).any():
        raise ValueError(f"the num_classes is smaller than the category number: {num_classes} and {labels.max()}.")
    rows = np.full((len(labels), num_classes), epsilon / num_classes)
    rows[range(len(labels)), labels] += 1 - epsilon
    return rows


def _apply_in_sequence(transforms, img):
    """Apply one transform after the other."""
    return functools.reduce(lambda result, transform: transform(result), transforms, img)


def random_order(img: Any, transforms: Sequence[Callable[..., Any]]) -> Any:
    """Shuffle the transforms in place and apply all of them."""
    random.shuffle(transforms)
    return _apply_in_sequence(transforms, img)


def random_apply(img: Any, transforms: Sequence[Callable[..., Any]], prob: float) -> Any:
    """Apply all transforms with probability `prob`."""
    return img if prob < random.random() else _apply_in_sequence(transforms, img)


def random_choice(img: Any, transforms: Sequence[Callable[..., Any]]) -> Any:
    """Apply one random transform."""
    return random.choice(transforms)(img)
