"""Deferred initialization: the shape and dtype of an array, and a function that computes its values."""

import math
from collections.abc import Callable, Sequence

import numpy as np


class Unfilled:
    """An array of known shape and dtype whose values are computed on demand.

    Args:
        shape (tuple[int]): Shape of the array.
        dtype (numpy.dtype): Type of the elements.
        fill (Callable): Fills an array of zeros in place.
    """

    is_fully_addressable = True  # no other process has a part of it

    def __init__(self, shape: Sequence[int], dtype: np.dtype, fill: Callable[[np.ndarray], object]) -> None:
        self.shape, self.dtype = tuple(shape), dtype
        self._fill = fill
        self._values: np.ndarray | None = None

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Return the size of the values in bytes."""
        return self.size * self.dtype.itemsize

    def of_type(self, dtype: np.dtype) -> "Unfilled":
        """Return a copy with another dtype. Values that were already computed are converted."""
        if self._values is not None:
            values = self._values.astype(dtype)
            return Unfilled(self.shape, dtype, lambda array: np.copyto(array, values))
        return Unfilled(self.shape, np.dtype(dtype), self._fill)

    def filled(self) -> np.ndarray:
        """Return the values as an array. They are computed once; afterwards the caller should drop this object."""
        if self._values is None:
            values = np.zeros(self.shape, self.dtype)
            self._fill(values)
            self._values = values
        return self._values
