"""`CosineSimilarity`: cosine similarity of the rows of a matrix."""

from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Bool, OneOf, checked
from msnb.nn.metrics.metric import Metric, rearrange_inputs

__all__ = ["CosineSimilarity"]


class CosineSimilarity(Metric):
    """
    Cosine similarity, or dot products, between all rows of a matrix.

    Args:
        similarity (str): "cosine" or "dot". Default: "cosine".
        reduction (str): "none" for the matrix of similarities, or "sum" or "mean" of each row. Default: "none".
        zero_diagonal (bool): Whether the diagonal is set to zero. Default: True.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a string is unknown.

    Examples:
        >>> print(nn.CosineSimilarity()(np.array([[1.0, 0.0], [3.0, 4.0]])))
        [[0.  0.6]
         [0.6 0. ]]
    """

    @checked
    def __init__(
        self,
        similarity: Annotated[str, OneOf("cosine", "dot")] = "cosine",
        reduction: Annotated[str, OneOf("none", "sum", "mean")] = "none",
        zero_diagonal: Bool = True,
    ) -> None:
        super().__init__()
        self.similarity, self.reduction, self.zero_diagonal = similarity, reduction, zero_diagonal
        self.clear()

    def clear(self) -> None:
        """Clear the accumulated values."""
        self.sqr_mtx_res: Any = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """
        Set a matrix. It replaces the previous one.

        Args:
            inputs: A matrix: a Tensor, a list or an array.

        Raises:
            ValueError: If there is not exactly one input.
        """
        (rows,) = self._to_arrays(inputs, "inputs")
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        self.sqr_mtx_res = rows @ rows.T

    def eval(self) -> np.ndarray:
        """
        Return the similarities of the rows of the matrix.

        Returns:
            numpy.ndarray, a matrix, or with `reduction` one number for each row.

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        self._check_has_updates(self.sqr_mtx_res is not None, "matrices")
        similarity = self.sqr_mtx_res.copy()
        if self.zero_diagonal:
            np.fill_diagonal(similarity, 0)
        return similarity if self.reduction == "none" else getattr(similarity, self.reduction)(axis=-1)
