"""`SurfaceMetric`: the base class of segmentation metrics that measure distances between the surfaces of two masks."""

from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import OneOf
from msnb.nn.metrics.metric import Metric, rearrange_inputs

DistanceMetric = Annotated[str, OneOf("euclidean", "chessboard", "taxicab")]


class SurfaceMetric(Metric):
    """Base class of metrics that measure distances between the surface of a predicted mask and that of the true
    mask."""

    distance_metric = "euclidean"

    def clear(self) -> None:
        """Clear the accumulated values."""
        self._surfaces: Any = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """
        Set two masks. They replace the previous ones.

        Args:
            inputs: `y_pred` and `y`, of one shape, each a Tensor, a list or an array of class numbers or bool, and
                `label_idx`, the class whose surface is used.

        Raises:
            TypeError: If `label_idx` is no number.
            ValueError: If there are not 3 inputs, the shapes differ, or neither mask has the class.
        """
        name = type(self).__name__
        if len(inputs) != 3:
            raise ValueError(f"For '{name}', there should be 3 inputs (y_pred, y, label_idx), but got {len(inputs)}.")
        label = inputs[2]
        if not isinstance(label, (int, float)):
            raise TypeError(f"For '{name}', 'label_idx' should be a number, but got {label!r}.")
        masks = self._to_arrays(inputs[:2], "y_pred", "y")
        if masks[0].shape != masks[1].shape or not masks[0].size:
            raise ValueError(
                f"For '{name}', 'y_pred' and 'y' should have one shape, but got {masks[0].shape} and {masks[1].shape}."
            )
        if not any(label in mask for mask in masks):
            raise ValueError(f"For '{name}', 'label_idx' should be in one of the masks, but got {label}.")
        self._surfaces = self._find_surfaces(*(mask if mask.dtype == bool else mask == label for mask in masks))

    def _find_surfaces(self, predicted, true):
        return tuple(map(_extract_mask_surface, (predicted, true)))

    def _compute_surface_distances(self, there):
        """Return the distance of each element of one surface to the other surface. If `there`, the elements are those
        of the predicted surface, otherwise those of the true surface."""
        import scipy.ndimage as ndimage  # a lazy import: only these metrics need scipy

        near, far = self._surfaces if there else self._surfaces[::-1]
        if not near.any():
            return np.zeros(0)
        if not far.any():
            return np.full(near.sum(), np.inf)
        if self.distance_metric == "euclidean":
            return ndimage.distance_transform_edt(~far)[near]
        return ndimage.distance_transform_cdt(~far, metric=self.distance_metric)[near]


def _extract_mask_surface(mask):
    import scipy.ndimage as ndimage  # a lazy import: only these metrics need scipy

    return ndimage.binary_erosion(mask) ^ mask
