"""`MeanSurfaceDistance` and `RootMeanSquareDistance`: mean distances between the surfaces of two masks."""

import numpy as np

from msnb.common.kinds import Bool, checked
from msnb.nn.metrics._surfaces import DistanceMetric, SurfaceMetric

__all__ = ["MeanSurfaceDistance", "RootMeanSquareDistance"]


class MeanSurfaceDistance(SurfaceMetric):
    """
    Mean distance from the surface of a predicted mask to that of the true mask.

    Args:
        symmetric (bool): Whether the mean of both directions is taken. Default: False.
        distance_metric (str): "euclidean", "chessboard" or "taxicab". Default: "euclidean".

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `distance_metric` is unknown.

    Examples:
        >>> x, y = np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]])
        >>> print(round(nn.MeanSurfaceDistance()(x, y, 0), 4))
        0.8047
    """

    @checked
    def __init__(self, symmetric: Bool = False, distance_metric: DistanceMetric = "euclidean") -> None:
        super().__init__()
        self.symmetric, self.distance_metric = symmetric, distance_metric
        self.clear()

    def _compute_mean_distance(self, distances):
        return distances.mean() if distances.size else np.inf

    def eval(self) -> float:
        """Return the mean distance.

        Returns:
            float, infinite where a mask is empty.

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        self._check_has_updates(self._surfaces is not None, "masks")
        there = self._compute_mean_distance(self._compute_surface_distances(True))
        return float(
            (there + self._compute_mean_distance(self._compute_surface_distances(False))) / 2
            if self.symmetric
            else there
        )


class RootMeanSquareDistance(MeanSurfaceDistance):
    """
    Mean squared distance from the surface of a predicted mask to that of the true mask; with `symmetric` the root of
    the mean of both directions, as in MindSpore.

    Args:
        symmetric (bool): Whether the mean of both directions is taken, and its root. Default: False.
        distance_metric (str): "euclidean", "chessboard" or "taxicab". Default: "euclidean".

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `distance_metric` is unknown.

    Examples:
        >>> x, y = np.array([[3, 0, 1], [1, 3, 0], [1, 0, 2]]), np.array([[0, 2, 1], [1, 2, 1], [0, 0, 1]])
        >>> print(round(nn.RootMeanSquareDistance()(x, y, 0), 4))
        1.0
    """

    def _compute_mean_distance(self, distances):
        return (distances**2).mean() if distances.size else np.inf

    def eval(self) -> float:
        """Return the mean squared distance; with `symmetric` the root of the mean of both directions.

        Returns:
            float, infinite where a mask is empty.

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        distance = super().eval()
        return float(np.sqrt(distance)) if self.symmetric else distance
