"""Shared code of losses: reduction, and checks of class indices.

Labels, weights of targets and masks take no gradient, as in MindSpore, unless a docstring says otherwise. Class indices
are checked in PYNATIVE and GRAPH mode (see `core.operator.value_checks`). Where no error can be raised, an invalid
index makes the loss NaN.
"""

import jax.numpy as jnp
import numpy as np

from msnb.core.operator import value_checks
from msnb.ops import _check


def reduce(values, reduction):
    """Return `values` unchanged, their mean or their sum."""
    if reduction == "none":
        return values
    return jnp.mean(values) if reduction == "mean" else jnp.sum(values)


def classes_of(scores):
    """Return a function that reads the number of classes from the shape of the input named `scores`: (C,), (N, C)
    or (N, C, ...). Checks of labels use it.
    """

    def classes(inputs):
        shape = np.shape(inputs[scores])
        return shape[1] if len(shape) > 1 else (shape or (1,))[0]

    return classes


def check_labels(op, labels, classes, ignored=None):
    """Raise an error if a label is not a class index. It is for functions that call no operator with this check.

    Args:
        op (str): Name of the caller, for the message.
        labels (Tensor): The labels, int.
        classes (int): The number of classes.
        ignored (int): A label that is skipped. Default: None.

    Raises:
        TypeError: If the labels are not integers.
        RuntimeError: If a label is not in [0, classes). A compiled graph raises it after it has run.
    """
    check_class_numbers(op, labels._array, classes, _check.INT)
    value_checks.check_range(op, _LABELS, value_checks.Range(labels._array, classes, 0, ignored))


_LABELS = value_checks.label("labels", None)


def check_class_numbers(op, labels, classes, allowed=_check.INDEX):
    """Raise TypeError if the type of the array `labels` is not in `allowed`. Labels that look like class probabilities
    get a more specific message.
    """
    if labels.dtype in _check.FLOAT and labels.ndim > 1 and labels.shape[-1] == classes:
        raise TypeError(
            f"For '{op}', 'labels' should be class numbers, but got {_check.dtype_name(labels)} of shape "
            f"{labels.shape}; these look one-hot, which nn.SoftmaxCrossEntropyWithLogits(sparse=False) takes."
        )
    _check.dtype_in(op, "labels", labels, allowed)


def score_of(scores, labels):
    """Return the entry of `scores` (..., C) at each label (...); NaN for a label outside [0, C)."""
    labels = jnp.where(labels < 0, scores.shape[-1], labels)
    return jnp.take_along_axis(scores, labels[..., None], axis=-1, mode="fill")[..., 0]
