"""`HausdorffDistance`: the Hausdorff distance of two masks."""

from typing import Annotated

import numpy as np

from msnb.common.kinds import Between, Bool, checked
from msnb.nn._hyperparameter_kinds import FiniteFloat
from msnb.nn.metrics._surfaces import DistanceMetric, SurfaceMetric

__all__ = ["HausdorffDistance"]


class HausdorffDistance(SurfaceMetric):
    """
    Hausdorff distance: the maximum distance between the surfaces of two masks.

    Args:
        distance_metric (str): "euclidean", "chessboard" or "taxicab". Default: "euclidean".
        percentile (float): Take this percentile of the distances, from 0 to 100, instead of the largest. Default: None.
        directed (bool): Whether only distances from the predicted mask to the true one count. Default: False.
        crop (bool): Whether the background around both masks is cropped first. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `distance_metric` is unknown, or `percentile` is out of range.

    Examples:
        >>> x, y = np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]])
        >>> print(round(nn.HausdorffDistance()(x, y, 0), 4))
        1.4142
    """

    @checked
    def __init__(
        self,
        distance_metric: DistanceMetric = "euclidean",
        percentile: Annotated[float, Between(FiniteFloat, 0, 100)] | None = None,
        directed: Bool = False,
        crop: Bool = True,
    ) -> None:
        super().__init__()
        self.distance_metric, self.percentile, self.directed, self.crop = distance_metric, percentile, directed, crop
        self.clear()

    def _find_surfaces(self, predicted, true):
        if self.crop and (predicted | true).any():
            there = np.nonzero(predicted | true)
            box = tuple(slice(places.min(), places.max() + 1) for places in there)
            predicted, true = predicted[box].squeeze(), true[box].squeeze()
        return super()._find_surfaces(predicted, true)

    def _compute_max_distance(self, there):
        distances = self._compute_surface_distances(there)
        if not distances.size:
            return np.inf
        return float(distances.max() if not self.percentile else np.percentile(distances, self.percentile))

    def eval(self) -> float:
        """Return the distance of the two masks.

        Returns:
            float, infinite where a mask is empty.

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        self._check_has_updates(self._surfaces is not None, "masks")
        return (
            self._compute_max_distance(True)
            if self.directed
            else max(self._compute_max_distance(True), self._compute_max_distance(False))
        )
