"""What an initializer is to fill later: the shape and type of an array, and how its values are found."""

import math
from collections.abc import Callable, Sequence

import numpy as np


class Unfilled:
    """An array whose values are not there yet.

    Args:
        shape (tuple[int]): Its shape.
        dtype (numpy.dtype): Type of its elements.
        fill (Callable): Fills an array of zeros in place.
    """

    is_fully_addressable = True  # no other process has any of it

    def __init__(self, shape: Sequence[int], dtype: np.dtype, fill: Callable[[np.ndarray], object]) -> None:
        self.shape, self.dtype = tuple(shape), dtype
        self._fill = fill
        self._found: np.ndarray | None = None

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes that the values will take."""
        return self.size * self.dtype.itemsize

    def of_type(self, dtype: np.dtype) -> "Unfilled":
        """The same with elements of another type; values that were found keep."""
        if self._found is not None:
            found = self._found.astype(dtype)
            return Unfilled(self.shape, dtype, lambda array: np.copyto(array, found))
        return Unfilled(self.shape, np.dtype(dtype), self._fill)

    def filled(self) -> np.ndarray:
        """The values, which are found once: whoever has them drops this."""
        if self._found is None:
            found = np.zeros(self.shape, self.dtype)
            self._fill(found)
            self._found = found
        return self._found
