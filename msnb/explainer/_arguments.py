"""Checks of the arguments of explainers and benchmarks."""

from typing import Any

import numpy as np

from msnb._checkparam import check_value_type
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.nn.cell import Cell


def check_cell(name: str, cell: Any, owner: str) -> None:
    """Raise TypeError if an argument is not a Cell."""
    check_value_type(name, cell, Cell, owner)


def check_images(inputs: Any, owner: str) -> None:
    """Raise an error if `inputs` is not a Tensor (N, C, H, W).

    Raises:
        TypeError: If it is not a Tensor.
        ValueError: If it has not four axes.
    """
    check_value_type("inputs", inputs, Tensor, owner)
    if inputs.ndim != 4:
        raise ValueError(
            f"For '{owner}', 'inputs' should be a 4D Tensor (N, C, H, W), but got {describe(inputs)}."
            + (" Add an axis: ops.expand_dims(inputs, 0)." if inputs.ndim == 3 else "")
        )


def as_labels(targets: Any, n_images: int, owner: str, n_axes: int = 1) -> np.ndarray:
    """Return the labels of each image as an int32 array (N, l).

    Args:
        targets (Union[int, Tensor]): One label for all images, labels (N,), or (N, l) if `n_axes` is 2.
        n_images (int): The number of images.
        owner (str): Name of the explainer, for messages.
        n_axes (int): Largest number of axes. Default: 1.

    Raises:
        TypeError: If `targets` is neither an int nor a Tensor of integers.
        ValueError: If its shape does not fit, or a label is negative.
    """
    check_value_type("targets", targets, (int, Tensor), owner)
    labels = np.asarray(targets.asnumpy() if isinstance(targets, Tensor) else targets)
    if not np.issubdtype(labels.dtype, np.integer):
        raise TypeError(f"For '{owner}', 'targets' should be integers, the numbers of labels, but got {labels.dtype}.")
    if labels.ndim > n_axes or labels.ndim and len(labels) != n_images:
        shapes = " or (N, l)" if n_axes == 2 else ""
        raise ValueError(
            f"For '{owner}', 'targets' should be an int, or a Tensor of shape () or (N,){shapes} with N = {n_images} "
            f"as in 'inputs', but got shape {labels.shape}."
        )
    if labels.size and labels.min() < 0:
        raise ValueError(f"For '{owner}', 'targets' should be at least 0, but got {labels.min()}.")
    if labels.ndim < 2:
        labels = np.broadcast_to(labels.reshape(-1, 1), (n_images, 1))
    return labels.astype(np.int32)


def check_range(labels: np.ndarray, n_labels: int, owner: str) -> None:
    """Raise ValueError if a label is not the number of an output of the network."""
    if labels.size and labels.max() >= n_labels:
        raise ValueError(f"For '{owner}', 'targets' should be from 0 to {n_labels - 1}, but got {labels.max()}.")
