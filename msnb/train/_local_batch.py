"""Repetition of batches for a network that was written for the global batch size.

In the modes "semi_auto_parallel" and "auto_parallel" each process of r1.1 reads a separate batch, and the network is
written for the examples of all processes: its weights and its Reshapes may contain that number. In msnb one process
drives all devices, and its batch is the global one. If a network cannot be traced with that batch, the batch is
repeated once for each device: then each device has the complete batch, as in r1.1 if all processes read the same
dataset.
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

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell


def with_global_batch(network: "Cell") -> Callable[..., Any]:
    """Return a callable that runs `network`, repeating batches if the network needs the global batch size.

    Args:
        network (Cell): The network that a Model calls in each step.
    """
    has_many_devices = _need_to_full() and _get_device_num() > 1 and get_group_size() == 1
    return (
        _BatchRepeater(network, _get_device_num())
        if has_many_devices and context._state.mode == context.GRAPH_MODE
        else network
    )


class _BatchRepeater:
    """Calls a network with a batch, or with one copy of the batch for each device if the network needs that.

    Args:
        network (Cell): The network.
        devices (int): The number of devices.
    """

    def __init__(self, network: "Cell", devices: int) -> None:
        self._network, self._devices = network, devices
        self._needs_repeat: dict[Any, bool] = {}  # keyed by the shapes of a batch

    def __call__(self, *element: Any) -> Any:
        return self._network(*self.fit_batch(element))

    def compile(self, *element: Any) -> Any:
        """Compile the network for a batch like `element`."""
        return self._network.compile(*self.fit_batch(element))

    def fit_batch(self, element: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the batch, or the batch repeated `devices` times if the network fails with the batch itself.

        The network is tried once for each combination of shapes.

        Raises:
            Exception: The error of the network, if it fails with the repeated batch too.
        """
        shapes = tuple(value.shape if isinstance(value, Tensor) else None for value in element)
        if shapes not in self._needs_repeat:
            self._needs_repeat[shapes] = self._check_needs_repeat(element)
        return self._repeat_batch(element) if self._needs_repeat[shapes] else element

    def _check_needs_repeat(self, element):
        try:
            program_of(self._network, *element)
        except DataDependentShape:  # it will run operator by operator
            return False
        except Exception as error:
            wrong = error
        else:
            return False
        try:
            program_of(self._network, *self._repeat_batch(element))
        except Exception as error:  # another kind of error: the batch size was not the cause
            raise wrong if type(error) is type(wrong) else error from None
        log.once(
            f"The network does not take the rows of one batch, but those of {self._devices} (device_num), as r1.1's "
            f"networks do of which each device has a batch of its own: each device is given this one. With batches "
            f"{self._devices} times as large, each has other rows."
        )
        return True

    def _repeat_batch(self, element):
        return tuple(
            box(jnp.concatenate([value._array] * self._devices)) if isinstance(value, Tensor) and value.ndim else value
            for value in element
        )
