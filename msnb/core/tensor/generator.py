"""`Generator`: an object that represents a stream of random numbers, as in MindSpore 2."""

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
    """A stream of random numbers: a seed and the number of draws so far.

    Examples:
        >>> mindspore.manual_seed(3).initial_seed()
        3
    """

    def __init__(self) -> None:
        self._stream = random_stream.Stream()

    def seed(self) -> int:
        """Restart the stream with a seed drawn from the operating system.

        Returns:
            int, the seed.
        """
        self._stream.restart(None)
        return self._stream.base

    @checked
    def manual_seed(self, seed: Int) -> Self:
        """Restart the stream with a seed.

        Args:
            seed (int): The seed.

        Returns:
            Generator, itself.

        Raises:
            TypeError: If `seed` is not an int.
        """
        self._stream.restart(seed)
        return self

    def initial_seed(self) -> int:
        """Return the seed of the stream.

        Returns:
            int.
        """
        return self._stream.base

    def get_state(self) -> Tensor:
        """Return the current state of the stream.

        Returns:
            Tensor, of 16 uint8: the seed, and the number of draws.
        """
        return Tensor(np.array([self._stream.base, self._stream.count], "<u8").view(np.uint8))

    @checked
    def set_state(self, state: Annotated[Tensor, Instance(Tensor)]) -> None:
        """Restore a state of the stream.

        Args:
            state (Tensor): A result of `get_state`.

        Raises:
            TypeError: If `state` is not a Tensor.
            ValueError: If `state` does not consist of 16 uint8.
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
    """Restart the stream of the operators with a seed drawn from the operating system.

    Returns:
        int, the seed.
    """
    return default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Restart the stream of the operators with a seed; `set_seed` also seeds initializers, numpy and datasets.

    Args:
        seed (int): The seed.

    Returns:
        Generator, that of the operators.

    Raises:
        TypeError: If `seed` is not an int.
    """
    return default_generator.manual_seed(seed)


def initial_seed() -> int:
    """Return the seed of the stream of the operators.

    Returns:
        int.
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the current state of the stream of the operators.

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
    """Restore a state of the stream of the operators.

    Args:
        state (Tensor): A result of `get_rng_state`.

    Raises:
        TypeError: If `state` is not a Tensor.
        ValueError: If `state` does not consist of 16 uint8.
    """
    default_generator.set_state(state)
