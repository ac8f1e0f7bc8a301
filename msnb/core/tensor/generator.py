"""`Generator`: the stream of random numbers as an object, as MindSpore 2 hands it round."""

from typing import Annotated, Self

import numpy as np

from msnb.common.kinds import Instance, Int, checked
from msnb.core.state import random_stream
from msnb.core.tensor.tensor import Tensor

__all__ = [
    "Generator",
    "default_generator",
    "seed",
    "manual_seed",
    "initial_seed",
    "get_rng_state",
    "set_rng_state",
]


class Generator:
    """
    A stream of random numbers: a seed, and how much of it has been drawn.

    Examples:
        >>> mindspore.manual_seed(3).initial_seed()
        3
    """

    def __init__(self) -> None:
        self._stream = random_stream.Stream()

    def seed(self) -> int:
        """
        Begin at a number that the operating system draws.

        Returns:
            int, the number.
        """
        self._stream.restart(None)
        return self._stream.base

    @checked
    def manual_seed(self, seed: Int) -> Self:
        """
        Begin at a number.

        Args:
            seed (int): The number.

        Returns:
            Generator, itself.

        Raises:
            TypeError: If `seed` is no int.
        """
        self._stream.restart(seed)
        return self

    def initial_seed(self) -> int:
        """
        The number that the stream began at.

        Returns:
            int.
        """
        return self._stream.base

    def get_state(self) -> Tensor:
        """
        Where the stream stands.

        Returns:
            Tensor, of 16 uint8: the seed, and how many numbers were drawn.
        """
        return Tensor(np.array([self._stream.base, self._stream.count], "<u8").view(np.uint8))

    @checked
    def set_state(self, state: Annotated[Tensor, Instance(Tensor)]) -> None:
        """
        Go on where the stream stood once.

        Args:
            state (Tensor): What `get_state` gave.

        Raises:
            TypeError: If it is no Tensor.
            ValueError: If it is no such Tensor.
        """
        array = state.asnumpy()
        if array.dtype != np.uint8 or array.shape != (16,):
            raise ValueError(
                f"For 'set_state', 'state' should be what get_state() gave, 16 uint8, but got {array.dtype} of shape "
                f"{array.shape}."
            )
        self._stream.base, self._stream.count = map(int, array.view("<u8"))


default_generator = Generator()
default_generator._stream = random_stream.default


def seed() -> int:
    """
    Begin the stream of the operators at a number that the operating system draws.

    Returns:
        int, the number.
    """
    return default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """
    Begin the stream of the operators at a number; `set_seed` seeds initializers, numpy and datasets, too.

    Args:
        seed (int): The number.

    Returns:
        Generator, that of the operators.

    Raises:
        TypeError: If `seed` is no int.
    """
    return default_generator.manual_seed(seed)


def initial_seed() -> int:
    """
    The number that the stream of the operators began at.

    Returns:
        int.
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """
    Where the stream of the operators stands.

    Returns:
        Tensor, for `set_rng_state`.

    Examples:
        >>> state = mindspore.get_rng_state()
        >>> first = ops.standard_normal((2,))
        >>> mindspore.set_rng_state(state)
        >>> print((ops.standard_normal((2,)) == first).asnumpy().all())
        True
    """
    return default_generator.get_state()


def set_rng_state(state: Tensor) -> None:
    """
    Let the stream of the operators go on where it stood once.

    Args:
        state (Tensor): What `get_rng_state` gave.

    Raises:
        TypeError: If it is no Tensor.
        ValueError: If it is no such Tensor.
    """
    default_generator.set_state(state)
