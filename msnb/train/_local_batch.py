"""Batches of one device's rows, for a network that is written for the rows of all devices.

In the modes "semi_auto_parallel" and "auto_parallel" each process of r1.1 reads a batch of its own, and the network is
of as many rows as all processes have together: its weights and its Reshapes may name that number. Here one process
spreads over all devices, and its batch is the whole one. A network that cannot be traced with that is tried with the
rows of all: then each device has the whole batch, as each process of r1.1 has that reads the same dataset.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from msnb import context, log
from msnb.communication.management import get_group_size
from msnb.core.errors.data_dependent_shape import DataDependentShape
from msnb.core.program.program_cache import program_of
from msnb.core.tensor.tensor import Tensor, box
from msnb.parallel._utils import _get_device_num, _need_to_full

if TYPE_CHECKING:  # named in annotations alone
    from msnb.nn.cell import Cell


def with_rows_of_all(network: "Cell") -> Callable[..., Any]:
    """What calls a network with the batches of a dataset: itself, unless one process may have to bring the rows of all.

    Args:
        network (Cell): What a Model calls in each step.
    """
    spread = _need_to_full() and _get_device_num() > 1 and get_group_size() == 1
    return _Repeating(network, _get_device_num()) if spread and context._state.mode == context.GRAPH_MODE else network


class _Repeating:
    """Calls a network with a batch, or with as many copies of its rows as there are devices where it asks for that.

    Args:
        network (Cell): What is called.
        devices (int): How many there are.
    """

    def __init__(self, network: "Cell", devices: int) -> None:
        self._network, self._devices = network, devices
        self._asks: dict[Any, bool] = {}  # by the shapes of a batch

    def __call__(self, *element: Any) -> Any:
        return self._network(*self.fitted(element))

    def compile(self, *element: Any) -> Any:
        """Compile the network for such batches."""
        return self._network.compile(*self.fitted(element))

    def fitted(self, element: tuple[Any, ...]) -> tuple[Any, ...]:
        """A batch with the rows that the network takes.

        Raises:
            Exception: What is wrong with the network, where it takes neither.
        """
        shapes = tuple(value.shape if isinstance(value, Tensor) else None for value in element)
        if shapes not in self._asks:
            self._asks[shapes] = self._asks_for_all(element)
        return self._repeated(element) if self._asks[shapes] else element

    def _asks_for_all(self, element):
        try:
            program_of(self._network, *element)
        except DataDependentShape:  # it will run operator by operator
            return False
        except Exception as error:
            wrong = error
        else:
            return False
        try:
            program_of(self._network, *self._repeated(element))
        except Exception as error:  # another kind of error: the rows were not what is wrong
            raise wrong if type(error) is type(wrong) else error from None
        log.once(
            f"The network does not take the rows of one batch, but those of {self._devices} (device_num), as r1.1's "
            f"networks do of which each device has a batch of its own: each device is given this one. With batches "
            f"{self._devices} times as large, each has other rows."
        )
        return True

    def _repeated(self, element):
        return tuple(
            box(jnp.concatenate([value._array] * self._devices)) if isinstance(value, Tensor) and value.ndim else value
            for value in element
        )
