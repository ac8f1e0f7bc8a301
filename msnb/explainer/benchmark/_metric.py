"""Base classes of the benchmarks, which collect scores."""

import copy
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from msnb._checkparam import check_value_type
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.explainer._arguments import as_labels, check_images, check_range
from msnb.explainer._compiled import predict
from msnb.explainer.explanation._attribution import Attribution


class AttributionMetric:
    """Base class of benchmarks."""

    def _check_explainer(self, explainer, inputs):
        owner = type(self).__name__
        check_value_type("explainer", explainer, Attribution, owner)
        check_images(inputs, owner)
        if len(inputs) != 1:
            raise ValueError(f"For '{owner}', 'inputs' should be one image (1, C, H, W), but got {len(inputs)} images.")

    def _read_scores(self, result):
        """Return the scores of a result as a list of floats.

        Raises:
            TypeError: If it is neither a float, a Tensor nor a numpy array.
        """
        check_value_type("result", result, (float, np.floating, Tensor, np.ndarray), type(self).__name__)
        return [float(score) for score in np.asarray(result).reshape(-1)]


class LabelAgnosticMetric(AttributionMetric):
    """Base class of benchmarks whose score does not belong to a label."""

    def __init__(self) -> None:
        self._global_results: list[float] = []

    def aggregate(self, result: Any) -> None:
        """Add scores: a float, a Tensor or a numpy array.

        Raises:
            TypeError: If `result` is of another type.
        """
        self._global_results += self._read_scores(result)

    @property
    def performance(self) -> float:
        """Return the mean of the finite scores, 0.0 without any."""
        return average(self._global_results)

    def get_results(self) -> list[float]:
        """Return a copy of the scores."""
        return self._global_results.copy()

    def reset(self) -> None:
        """Remove all scores."""
        self._global_results.clear()


class LabelSensitiveMetric(AttributionMetric):
    """Base class of benchmarks whose score belongs to a label.

    Args:
        num_labels (int): The number of labels, which is the number of outputs of the network.

    Raises:
        TypeError: If `num_labels` is not an int.
        ValueError: If it is not positive.
    """

    def __init__(self, num_labels: int):
        owner = type(self).__name__
        check_value_type("num_labels", num_labels, int, owner)
        if num_labels < 1:
            raise ValueError(f"For '{owner}', 'num_labels' should be a positive integer, but got {num_labels}.")
        self._num_labels = num_labels
        self.reset()

    @property
    def num_labels(self) -> int:
        """Return the number of labels."""
        return self._num_labels

    def aggregate(self, result: Any, targets: Any) -> None:
        """Add scores of labels.

        Args:
            result (Union[float, Tensor, numpy.ndarray]): The scores.
            targets (Union[int, Tensor, numpy.ndarray]): One label of all scores, or the label of each score.

        Raises:
            TypeError: If an argument is of another type.
            ValueError: If the lengths differ, or there is no such label.
        """
        owner = type(self).__name__
        scores = self._read_scores(result)
        check_value_type("targets", targets, (int, Tensor, np.ndarray), owner)
        labels = [int(label) for label in np.asarray(targets).reshape(-1)]
        if isinstance(targets, int):
            labels *= len(scores)
        if len(labels) != len(scores):
            raise ValueError(
                f"For '{owner}', 'targets' should have one label for each score, but got {len(labels)} labels and "
                f"{len(scores)} scores."
            )
        wrong = [label for label in labels if not 0 <= label < self._num_labels]
        if wrong:
            raise ValueError(
                f"For '{owner}', 'targets' should be from 0 to {self._num_labels - 1}, but got {wrong[0]}."
            )
        for label, score in zip(labels, scores, strict=True):
            self._global_results[label].append(score)

    @property
    def class_performances(self) -> list[float]:
        """Return the mean of the finite scores of each label, 0.0 for a label without any."""
        return [average(self._global_results[label]) for label in range(self._num_labels)]

    @property
    def performance(self) -> float:
        """Return the mean of the finite scores of all labels, 0.0 without any."""
        return average(score for scores in self._global_results.values() for score in scores)

    def get_results(self) -> dict[int, list[float]]:
        """Return a copy of the scores of each label."""
        return copy.deepcopy(self._global_results)

    def reset(self) -> None:
        """Remove all scores."""
        self._global_results: dict[int, list[float]] = {label: [] for label in range(self._num_labels)}

    def _check_call(self, explainer: Attribution, inputs: Tensor, targets: Any, saliency: Any) -> int:
        """Check the arguments of `evaluate`, and return the label."""
        owner = type(self).__name__
        self._check_explainer(explainer, inputs)
        n_outputs = predict(explainer.network, None, inputs.asnumpy()).shape[1]
        if n_outputs != self._num_labels:
            raise ValueError(
                f"For '{owner}', 'num_labels' should be the number of outputs of the network of the explainer, "
                f"{n_outputs}, but got {self._num_labels}."
            )
        labels = as_labels(targets, 1, owner)
        check_range(labels, self._num_labels, owner)
        check_value_type("saliency", saliency, (Tensor, type(None)), owner)
        expected = (1, 1, *inputs.shape[2:])
        if saliency is not None and saliency.shape != expected:
            raise ValueError(
                f"For '{owner}', 'saliency' should have the shape {expected}, but got {describe(saliency)}."
            )
        return int(labels[0, 0])


def average(scores: Iterable[float]) -> float:
    """Return the mean of the finite scores, 0.0 without any."""
    finite = [score for score in scores if math.isfinite(score)]
    return sum(finite) / len(finite) if finite else 0.0


def correlate(x: np.ndarray, y: np.ndarray) -> float:
    """Return Pearson's correlation of two vectors, 0.0 if one of them is constant."""
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    return float(np.corrcoef(x.astype(np.float64), y.astype(np.float64))[0, 1])
