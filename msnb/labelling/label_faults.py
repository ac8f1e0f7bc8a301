"""Suspected label faults by confident learning (Northcutt et al. 2021).

An item is suspected if a model that was not trained on it is confident of a class other than its label. The model is
confident of a class if the probability reaches the class's threshold: the mean probability of that class over the items
that are labelled so.
"""

import numpy as np

_TOLERANCE = 1e-6  # probabilities this far below a threshold count as equal to it


def measure_thresholds(labels: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return the threshold of each class; infinity for a class without items.

    Args:
        labels (numpy.ndarray): (items,), indices of classes.
        probabilities (numpy.ndarray): (items, classes), out-of-fold predictions.
    """
    classes = range(probabilities.shape[1])
    return np.array([probabilities[labels == k, k].mean() if (labels == k).any() else np.inf for k in classes])


def find_label_faults(labels: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return suspected label faults, most suspicious first.

    Args:
        labels (numpy.ndarray): (items,), indices of classes.
        probabilities (numpy.ndarray): (items, classes), out-of-fold predictions.

    Returns:
        tuple: indices of the items, the class of which the model is confident, and the probability of the item's label
        (small is suspicious).
    """
    is_confident = probabilities >= measure_thresholds(labels, probabilities) - _TOLERANCE
    confident_class = np.where(is_confident, probabilities, -1.0).argmax(1)
    suspects = np.flatnonzero(is_confident.any(1) & (confident_class != labels))
    own = probabilities[suspects, labels[suspects]]
    order = np.argsort(own, kind="stable")
    return suspects[order], confident_class[suspects][order], own[order]


def split_folds(count: int, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return `folds` disjoint random index arrays that cover `count` items."""
    return np.array_split(rng.permutation(count), folds)
