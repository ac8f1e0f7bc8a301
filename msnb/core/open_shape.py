"""What a Tensor holds whose axes are not all known: a shape and an element type, for exports and nothing else."""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np


class OpenShape:
    """The shape and element type of a Tensor that has no values.

    Args:
        shape (tuple): Dimensions; None for one of any length.
        dtype (numpy.dtype): Element type.
    """

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: Sequence[int | None], dtype: Any) -> None:
        self.shape: tuple[int | None, ...] = tuple(shape)
        self.dtype: np.dtype = np.dtype(dtype)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def refusal(self) -> str:
        """What is said to who computes with it."""
        return (
            f"a Tensor of shape {self.shape} has no values: it is an input of export, where None is an axis of any "
            "length. Make one with values: Tensor(numpy.zeros(shape), dtype)."
        )

    def __getattr__(self, name: str) -> NoReturn:
        if name in self.__slots__ or name.startswith("__"):  # of one that is being copied
            raise AttributeError(name)
        raise AttributeError(self.refusal[0].upper() + self.refusal[1:])

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(self.refusal[0].upper() + self.refusal[1:])


def opened(shape: Any, dtype: Any) -> OpenShape | None:
    """An `OpenShape` where an axis of `shape` is None, or -1, and there is a `dtype`; else None."""
    if dtype is None or not isinstance(shape, (tuple, list)) or all(isinstance(n, int) and n >= 0 for n in shape):
        return None
    if any(n is not None and (not isinstance(n, int) or isinstance(n, bool) or n < -1) for n in shape):
        return None
    return OpenShape([None if n == -1 else n for n in shape], dtype)
