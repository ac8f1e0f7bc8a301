"""Shapes with unknown axes, for Tensors that describe inputs without values."""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

_ANY = (-2,)  # MindSpore 2's notation for an unknown number of axes


class UnknownShape:
    """Shape and element type of a Tensor without values.

    Args:
        shape (tuple): Length of each axis; None for an axis of any length. If `shape` is None, the number of axes is
            unknown, and the attribute `shape` is (-2,).
        dtype (numpy.dtype): Element type.
    """

    __slots__ = ("shape", "dtype")
    is_fully_addressable = True  # there are no values on other processes

    def __init__(self, shape: Sequence[int | None] | None, dtype: Any) -> None:
        self.shape: tuple[int | None, ...] = _ANY if shape is None else tuple(shape)
        self.dtype: np.dtype = np.dtype(dtype)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def refusal(self) -> str:
        """Error message for code that computes with a Tensor without values."""
        if self.shape == _ANY:
            return (
                "a Tensor of shape None, any number of axes, has no values: it says how inputs of set_inputs and "
                "input_signature look. Make one with values: Tensor(numpy.zeros(shape), dtype)."
            )
        return (
            f"a Tensor of shape {self.shape} has no values: it is an input of export, where None is an axis of any "
            "length. Make one with values: Tensor(numpy.zeros(shape), dtype)."
        )

    def fits(self, shape: Sequence[int]) -> bool:
        """Return True if an array of `shape` matches."""
        if self.shape == _ANY:
            return True
        return len(shape) == self.ndim and all(n is None or n == length for n, length in zip(self.shape, shape))

    def __getattr__(self, name: str) -> NoReturn:
        if name in self.__slots__ or name.startswith("__"):  # `copy` looks up such names before the slots are set
            raise AttributeError(name)
        raise AttributeError(self.refusal[0].upper() + self.refusal[1:])

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(self.refusal[0].upper() + self.refusal[1:])


def make_unknown_shape(shape: Any, dtype: Any) -> UnknownShape | None:
    """Return an `UnknownShape` if `shape` is unknown, None otherwise.

    A shape is unknown if it is None, or if an axis is None or -1, and `dtype` is not None.
    """
    if dtype is not None and shape is None:
        return UnknownShape(None, dtype)
    if dtype is None or not isinstance(shape, (tuple, list)) or all(isinstance(n, int) and n >= 0 for n in shape):
        return None
    if any(n is not None and (not isinstance(n, int) or isinstance(n, bool) or n < -1) for n in shape):
        return None
    return UnknownShape([None if n == -1 else n for n in shape], dtype)
