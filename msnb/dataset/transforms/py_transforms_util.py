"""The functions behind ``py_transforms``; they draw from Python's ``random``, as MindSpore's do."""

import functools
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from msnb.dataset.core.py_util_helpers import is_numpy


def all_numpy(args: Any) -> bool:
    """Whether a value, or every value of a tuple, is a numpy array."""
    return all(map(is_numpy, args)) if isinstance(args, tuple) else is_numpy(args)


def compose(transforms: Sequence[Callable[..., Any]], *args: Any) -> Any:
    """`args` through all transforms; numpy arrays in, numpy arrays out."""
    if not all_numpy(args):
        raise TypeError(f"args should be NumPy ndarray. Got {type(args)}.")
    for transform in transforms:
        args = transform(*args)
        if not isinstance(args, tuple):
            args = (args,)
    if not all_numpy(args):
        odd = next(a for a in args if not is_numpy(a))
        raise TypeError(f"args should be NumPy ndarray. Got {type(odd)}. Append ToTensor() to transforms.")
    return args


def one_hot_encoding(label: Any, num_classes: int, epsilon: float) -> np.ndarray:
    """One row per label, a share `epsilon` of the 1 spread over all places."""
    labels = np.ravel(label)
    if (labels > num_classes).any():
        raise ValueError(f"the num_classes is smaller than the category number: {num_classes} and {labels.max()}.")
    rows = np.full((len(labels), num_classes), epsilon / num_classes)
    rows[range(len(labels)), labels] += 1 - epsilon
    return rows


def _through(transforms, img):
    """`img` through one transform after the other."""
    return functools.reduce(lambda made, transform: transform(made), transforms, img)


def random_order(img: Any, transforms: Sequence[Callable[..., Any]]) -> Any:
    """`img` through all transforms, shuffled (in place) before."""
    random.shuffle(transforms)
    return _through(transforms, img)


def random_apply(img: Any, transforms: Sequence[Callable[..., Any]], prob: float) -> Any:
    """`img` through all transforms with probability `prob`."""
    return img if prob < random.random() else _through(transforms, img)


def random_choice(img: Any, transforms: Sequence[Callable[..., Any]]) -> Any:
    """`img` through one transform."""
    return random.choice(transforms)(img)
