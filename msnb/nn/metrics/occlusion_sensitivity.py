"""Occlusion sensitivity: the input regions that a network's decision depends on."""

from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Each, Int, OneOrEach, PositiveInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._hyperparameter_kinds import FiniteFloat
from msnb.nn.cell import Cell
from msnb.nn.metrics.metric import Metric, rearrange_inputs

__all__ = ["OcclusionSensitivity"]


class OcclusionSensitivity(Metric):
    """
    Decrease of the score of a class when a region of the input is covered (Zeiler and Fergus, Visualizing and
    Understanding Convolutional Networks, 2014): one number per region.

    Args:
        pad_val (float): The value of a covered region. Default: 0.0.
        margin (Union[int, list[int]]): Distance of the border of a region from its centre, along each axis. Default: 2.
        n_batch (int): Number of inputs in each call of the network. Default: 128.
        b_box (list[int]): Range of the centres: the first and the last index of each axis, -1 for the first or last
            index of the input. Default: None, all positions.

    Raises:
        TypeError: If an argument has the wrong type.

    Examples:
        >>> net = nn.Dense(4, 2, weight_init="ones", bias_init="zeros")
        >>> metric = nn.OcclusionSensitivity(margin=1)
        >>> print(metric(net, np.array([[0.1, 0.2, 0.3, 0.4]], np.float32), np.array(1)).round(3))
        [0.1 0.3 0.5 0.7]
    """

    @checked
    def __init__(
        self,
        pad_val: FiniteFloat = 0.0,
        margin: Annotated[int | list[int], OneOrEach(Int)] = 2,
        n_batch: PositiveInt = 128,
        b_box: Annotated[list[int], Each(Int)] | None = None,
    ) -> None:
        super().__init__()
        self.pad_val, self.margin, self.n_batch, self.b_box = pad_val, margin, n_batch, b_box
        self.clear()

    def clear(self) -> None:
        """Clear the accumulated values."""
        self._fallen: Any = None

    def _compute_box_bounds(self, shape):
        """Return the first and last index of each axis."""
        if self.b_box is None:
            return np.zeros_like(shape), shape - 1
        if len(self.b_box) != 2 * len(shape):
            raise ValueError(
                f"For 'OcclusionSensitivity', 'b_box' should have a first and a last place for each of the "
                f"{len(shape)} axes, but got {len(self.b_box)} numbers."
            )
        first, last = np.maximum(self.b_box[::2], 0), np.array(self.b_box[1::2])
        last = np.where(last < 0, shape - 1, last)
        if (last >= shape).any() or (first > last).any():
            raise ValueError(
                f"For 'OcclusionSensitivity', 'b_box' should lie in the input of shape {tuple(shape)}, but got "
                f"{list(self.b_box)}."
            )
        return first, last

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """
        Set an input. It replaces the previous one.

        Args:
            inputs: `model`, a Cell that gives scores (N, C); `y_pred`, an input of shape (1, ...), and `label`, the
                class.

        Raises:
            TypeError: If `model` is no Cell.
            ValueError: If there are not 3 inputs, or `b_box` does not fit.
            RuntimeError: If there is more than one input or label.
        """
        if len(inputs) != 3:
            raise ValueError(
                f"For 'OcclusionSensitivity', there should be 3 inputs (model, y_pred, label), but got {len(inputs)}."
            )
        model, label = inputs[0], inputs[2]
        if not isinstance(model, Cell):
            raise TypeError(f"For 'OcclusionSensitivity', 'model' should be a Cell, but got {model!r}.")
        (image,) = self._to_arrays(inputs[1:2], "y_pred")
        label = np.asarray(label if isinstance(label, int) else self._convert_data(label))
        if len(image) != 1 or label.size != 1:
            raise RuntimeError(
                f"For 'OcclusionSensitivity', there should be one input with one label, but got {len(image)} and "
                f"{label.size}."
            )
        number, shape = int(label.reshape(())), np.array(image.shape[1:])
        first, last = self._compute_box_bounds(shape)
        places = [first + place for place in np.ndindex(*(last - first + 1))]
        fallen = model(Tensor(image)).asnumpy()[0, number] - self._score_occlusions(model, image, places, number)
        self._fallen = fallen.reshape(last - first + 1)

    def _score_occlusions(self, model, image, places, number):
        scores = []
        for begin in range(0, len(places), self.n_batch):
            covered = np.repeat(image, len(places[begin : begin + self.n_batch]), axis=0)
            for one, place in zip(covered, places[begin:]):
                low, high = np.maximum(place - self.margin, 0), place + self.margin
                one[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = self.pad_val
            scores.append(model(Tensor(covered)).asnumpy()[:, number])
        return np.concatenate(scores)

    def eval(self) -> np.ndarray:
        """
        Return the decrease of the score for each region.

        Returns:
            numpy.ndarray.

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        self._check_has_updates(self._fallen is not None, "inputs")
        return np.squeeze(self._fallen)
