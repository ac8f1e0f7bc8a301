"""Faithfulness: the effect of important pixels on the probability."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb import log
from msnb.core.tensor.tensor import Tensor
from msnb.explainer._arguments import check_cell
from msnb.explainer._compiled import predict
from msnb.explainer.benchmark._metric import LabelSensitiveMetric, correlate
from msnb.explainer.explanation._attribution import Attribution
from msnb.nn.cell import Cell

_SHARE = 0.5  # of the pixels that are changed
Predict = Callable[[np.ndarray], np.ndarray]  # images -> probabilities of the label


class Faithfulness(LabelSensitiveMetric):
    """Score of the effect of the pixels that a map calls important. Pixels are set to 0, or start from 0.

    The pixels are changed in the order of the map, in floor(sqrt(number of pixels)) steps of equal size, up to half of
    the pixels. With the value x of a metric the score is (1 + x) / 2, so a higher score is better:

    - "NaiveFaithfulness": x is the correlation of the mean importance of the pixels of a step with the loss of
      probability if these pixels only are deleted.
    - "DeletionAUC": x is the area under the curve of the loss of probability while pixels are deleted one step after
      the other, divided by its width.
    - "InsertionAUC": x is the area under the curve of the gain of probability while pixels are inserted into a black
      image, divided by its width.

    Args:
        num_labels (int): The number of labels, which is the number of outputs of the network.
        activation_fn (Cell): Layer that turns logits into probabilities, such as nn.Softmax() or nn.Sigmoid().
        metric (str): "NaiveFaithfulness", "DeletionAUC" or "InsertionAUC". Default: "NaiveFaithfulness".

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If `num_labels` is not positive, or there is no such metric.

    Examples:
        >>> from mindspore.explainer.benchmark import Faithfulness
        >>> from mindspore.explainer.explanation import Gradient
        >>> network = nn.SequentialCell([nn.Flatten(), nn.Dense(3 * 8 * 8, 4)])
        >>> faithfulness = Faithfulness(4, nn.Softmax(), "InsertionAUC")
        >>> image = Tensor(np.ones((1, 3, 8, 8)), mindspore.float32)
        >>> faithfulness.evaluate(Gradient(network), image, 2).shape
        (1,)
    """

    def __init__(self, num_labels: int, activation_fn: Cell, metric: str = "NaiveFaithfulness"):
        super().__init__(num_labels)
        check_cell("activation_fn", activation_fn, "Faithfulness")
        if metric not in _METRICS:
            raise ValueError(f"For 'Faithfulness', 'metric' should be one of {list(_METRICS)}, but got {metric!r}.")
        self._activation_fn, self._metric = activation_fn, metric

    def evaluate(
        self, explainer: Attribution, inputs: Tensor, targets: Tensor | int, saliency: Tensor | None = None
    ) -> np.ndarray:
        """Return the score of an explainer for one image and label.

        Args:
            explainer (Attribution): The explainer.
            inputs (Tensor): An image (1, C, H, W).
            targets (Union[Tensor, int]): The label.
            saliency (Tensor): The map (1, 1, H, W). Default: None, the explainer computes it.

        Returns:
            numpy.ndarray, float64[1].

        Raises:
            TypeError: If an argument is of another type.
            ValueError: If a shape does not fit, or a label is not the number of an output.
        """
        label = self._check_call(explainer, inputs, targets, saliency)
        saliency = explainer(inputs, targets) if saliency is None else saliency

        def predict_label(images):
            return predict(explainer.network, self._activation_fn, images)[:, label]

        value = _METRICS[self._metric](predict_label, inputs.asnumpy()[0], saliency.asnumpy()[0, 0])
        return np.array([(1 + value) / 2])


def _list_steps(saliency: np.ndarray, share: float) -> list[np.ndarray]:
    """Return the flat indices of the pixels of each step, the most important ones first."""
    order = np.argsort(-saliency.reshape(-1), kind="stable")
    n_steps = math.floor(math.sqrt(len(order)))
    size = max(1, math.floor(len(order) * share / n_steps))
    return [order[index * size : (index + 1) * size] for index in range(n_steps)]


def _replace_pixels(image: np.ndarray, replacement: np.ndarray, pixels: np.ndarray) -> np.ndarray:
    """Return a copy of an image with the pixels at flat indices from another image."""
    replaced = image.reshape(len(image), -1).copy()
    replaced[:, pixels] = replacement.reshape(len(image), -1)[:, pixels]
    return replaced.reshape(image.shape)


def compute_naive_faithfulness(
    predict: Predict, image: np.ndarray, saliency: np.ndarray, share: float = _SHARE
) -> float:
    """Return the correlation of the importance of pixels with the loss of probability without them."""
    steps = _list_steps(saliency, share)
    importance = np.array([saliency.reshape(-1)[pixels].mean() for pixels in steps])
    predictions = predict(np.stack([_replace_pixels(image, np.zeros_like(image), pixels) for pixels in steps]))
    for values, reason in ((saliency, "the map is constant"), (predictions, "no pixels change the probability")):
        if np.ptp(values) == 0:
            log.warning("NaiveFaithfulness: %s, so the correlation is taken as 0.", reason)
    return correlate(importance, -predictions)


def compute_curve(
    predict: Predict, start: np.ndarray, end: np.ndarray, saliency: np.ndarray, share: float = _SHARE
) -> np.ndarray:
    """Return the probabilities while the pixels of `start` are replaced by those of `end`, `start` itself included."""
    steps = _list_steps(saliency, share)
    counts = np.cumsum([0, *map(len, steps)])
    order = np.concatenate(steps)
    return predict(np.stack([_replace_pixels(start, end, order[:count]) for count in counts]))


def _compute_area(curve: Any) -> float:
    """Return the area under a curve of equal steps by the trapezoidal rule, divided by its width."""
    curve = np.asarray(curve, np.float64)
    return float((curve[1:] + curve[:-1]).mean() / 2)


def _compute_deletion_auc(predict: Predict, image: np.ndarray, saliency: np.ndarray) -> float:
    curve = compute_curve(predict, image, np.zeros_like(image), saliency)
    return _compute_area(curve[0] - curve)


def _compute_insertion_auc(predict: Predict, image: np.ndarray, saliency: np.ndarray) -> float:
    curve = compute_curve(predict, np.zeros_like(image), image, saliency)
    return _compute_area(curve - curve[0])


_METRICS: dict[str, Callable[[Predict, np.ndarray, np.ndarray], float]] = {
    "NaiveFaithfulness": compute_naive_faithfulness,
    "DeletionAUC": _compute_deletion_auc,
    "InsertionAUC": _compute_insertion_auc,
}
