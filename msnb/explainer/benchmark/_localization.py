"""Localization: the agreement of a map with the box of an object."""

import numpy as np

from msnb._checkparam import check_value_type
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.explainer.benchmark._metric import LabelSensitiveMetric
from msnb.explainer.explanation._attribution import Attribution

# metric -> distance in pixels from the largest value, or share of it
_ARGUMENTS: dict[str, float] = {"PointingGame": 15, "IoSR": 0.5}


class Localization(LabelSensitiveMetric):
    """Score of the agreement of a map with the box or mask of an object.

    - "PointingGame": 1 if a pixel of the object is less than 15 pixels from the largest value of the map, otherwise 0.
    - "IoSR", intersection over salient region: the share of the pixels above half of the largest value that belong to
      the object.

    Args:
        num_labels (int): The number of labels, which is the number of outputs of the network.
        metric (str): "PointingGame" or "IoSR". Default: "PointingGame".

    Raises:
        TypeError: If `num_labels` is not an int.
        ValueError: If it is not positive, or there is no such metric.

    Examples:
        >>> from mindspore.explainer.benchmark import Localization
        >>> from mindspore.explainer.explanation import Gradient
        >>> network = nn.SequentialCell([nn.Flatten(), nn.Dense(3 * 8 * 8, 4)])
        >>> mask = np.zeros((1, 1, 8, 8))
        >>> mask[:, :, 2:4, 2:4] = 1
        >>> image = Tensor(np.ones((1, 3, 8, 8)), mindspore.float32)
        >>> Localization(4).evaluate(Gradient(network), image, 2, mask=mask).tolist()
        [1.0]
    """

    def __init__(self, num_labels: int, metric: str = "PointingGame"):
        super().__init__(num_labels)
        if metric not in _ARGUMENTS:
            raise ValueError(f"For 'Localization', 'metric' should be one of {list(_ARGUMENTS)}, but got {metric!r}.")
        self._metric, self._metric_arg = metric, _ARGUMENTS[metric]

    def evaluate(
        self,
        explainer: Attribution,
        inputs: Tensor,
        targets: Tensor | int,
        saliency: Tensor | None = None,
        mask: Tensor | np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the score of an explainer for one image and label.

        Args:
            explainer (Attribution): The explainer.
            inputs (Tensor): An image (1, C, H, W).
            targets (Union[Tensor, int]): The label.
            saliency (Tensor): The map (1, 1, H, W). Default: None, the explainer computes it.
            mask (Union[Tensor, numpy.ndarray]): Shape (1, 1, H, W), not 0 at the pixels of the object. It is required.

        Returns:
            numpy.ndarray, float64[1].

        Raises:
            TypeError: If an argument is of another type.
            ValueError: If there is no mask, a shape does not fit, or a label is not the number of an output.
        """
        self._check_call(explainer, inputs, targets, saliency)
        if mask is None:
            raise ValueError("For 'Localization', 'mask' should be the pixels of the object, but got None.")
        check_value_type("mask", mask, (Tensor, np.ndarray), "Localization")
        if mask.shape != (1, 1, *inputs.shape[2:]):
            raise ValueError(
                f"For 'Localization', 'mask' should have the shape {(1, 1, *inputs.shape[2:])}, but got "
                f"{describe(mask)}."
            )
        saliency = explainer(inputs, targets) if saliency is None else saliency
        is_object, values = np.asarray(mask)[0, 0].astype(bool), saliency.asnumpy()[0, 0]
        return np.array([_METRICS[self._metric](values, is_object, self._metric_arg)])


def _play_pointing_game(saliency, is_object, distance):
    row, column = np.unravel_index(np.argmax(saliency), saliency.shape)
    rows, columns = np.indices(saliency.shape)
    is_near = (rows - row) ** 2 + (columns - column) ** 2 < distance**2
    return float((is_object & is_near).any())


def _compute_iosr(saliency, is_object, share):
    is_salient = saliency > share * saliency.max()
    return float((is_object & is_salient).sum() / max(is_salient.sum(), 1))


_METRICS = {"PointingGame": _play_pointing_game, "IoSR": _compute_iosr}
