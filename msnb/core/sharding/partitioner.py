"""Interface between traces of GRAPH mode and the package that partitions programs over devices.

`msnb.parallel` registers itself with `provide`. Each new trace asks it for a `Partitioner`, or None for one device.
Traced operators go through `Partitioner.run`, and the Program asks it for the shardings of its arrays.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from msnb.core.compat.jax_private import is_tracer
from msnb.core.state import trace_state


class ArrayShardings(NamedTuple):
    """The sharding of each array of a Program.

    Attributes:
        written (list[jax.sharding.Sharding]): Shardings of the written Parameters, before and after a run.
        read (list[jax.sharding.Sharding]): Shardings of Parameters that are only read.
        rest (list[jax.sharding.Sharding]): Shardings of the random number, if there is one, and of the arguments.
        around (Callable): Converts ``form(params, extra, arrays)``, the graph as a function of one device's arrays, to
            a function of global arrays. Default: None, the graph takes global arrays already.
        results (jax.sharding.Sharding): Sharding of all results. Default: None, XLA chooses.
        bring (Callable): Moves arrays of Parameters to shardings, ``bring(arrays, shardings)``. Default:
            `jax.device_put`; None if each of several processes has its own arrays on its own device.
        calling (Callable): Converts the compiled call, ``calling(call, places)``, to one that takes and returns the
            arrays of one of several processes. Default: None, one process has all arrays.
    """

    written: list[Any]
    read: list[Any]
    rest: list[Any]
    around: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    results: Any = None
    bring: Callable[[list[Any], list[Any]], list[Any]] | None = jax.device_put
    calling: Callable[[Any, "ArrayShardings"], Any] | None = None


class Partitioner(Protocol):
    """Protocol of the partitioning of one program over devices.

    Attributes:
        devices (int): Number of devices.
        stages (int): Number of pipeline stages; 1 without a pipeline.
        axes (list[tuple[str, int]]): Names and sizes of the mesh axes for collectives in the trace; empty if the trace
            is that of a single device.
    """

    devices: int
    stages: int
    axes: list[tuple[str, int]]

    def within(self, value: Any) -> Any:
        """Return an argument, an array or a number, as the trace takes it: an array, or a `jax.ShapeDtypeStruct`.

        Raises:
            ValueError: If it cannot be divided.
        """
        ...

    def run(self, kernel: Any, arrays: Sequence[Any]) -> Any:
        """Trace a call of an operator's kernel, with its inputs and outputs sharded by its strategy."""
        ...

    def hold(self, array: Any, strategy: tuple[int, ...], what: str, /) -> Any:
        """Constrain the sharding of an array of the trace: `strategy` is the number of slices per axis. `what` names it
        in errors.

        Raises:
            RuntimeError: If the strategy does not fit its shape, or the devices.
        """
        ...

    def pipelined(self, stage: Callable[..., Any], arrays: Sequence[Any], keys: Any, parts: Any) -> Any:
        """Return the results of all pipeline stages for each micro-batch; see `nn._cell.pipeline`."""
        ...

    def places(self, program: Any) -> ArrayShardings | None:
        """Return the shardings of the arrays of a traced program; None if the program runs on one device.

        Raises:
            RuntimeError: If this machine does not have the devices.
        """
        ...

    def layouts(self, program: Any, /) -> dict[str, Any]:
        """Return the layouts of Parameters and arguments of a program by name, in r1.1's notation; empty if unsharded.

        Raises:
            RuntimeError: If a Parameter has two layouts.
        """
        ...

    def shards(self, program: Any, /) -> dict[str, Any]:
        """Return the sharding strategies of the operators of a program, by r1.1's names of the operators."""
        ...

    def operators(self, program: Any, /) -> int:
        """Return the number of operators for which sharding strategies were searched."""
        ...


class DeviceGroup(NamedTuple):
    """The devices of a communication group, seen from one of them.

    Attributes:
        axis (str): Name of the mesh axis of all devices, including those outside the group.
        ranks (tuple[int]): Ranks of the group's devices on that axis, in the group's order.
        groups (tuple): A partition of all devices into groups, this one among them; None if it has all devices.
        own (int): Index of this device in the group, if each process has its own trace; None if one trace is shared.
    """

    axis: str
    ranks: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...] | None
    own: int | None

    @property
    def size(self) -> int:
        """Number of devices in the group."""
        return len(self.ranks)

    @property
    def even(self) -> bool:
        """True if all groups have equal sizes, so that slices have one size on all devices."""
        return self.groups is None or all(len(group) == self.size for group in self.groups)

    def place(self) -> Any:
        """Return the index of the executing device in its group."""
        index = jax.lax.axis_index(self.axis)
        if self.groups is None:
            return index
        indices = {rank: position for group in self.groups for position, rank in enumerate(group)}
        return jax.numpy.asarray(np.array([indices[rank] for rank in sorted(indices)], np.int32))[index]


class Groups(str):
    """Name of several device groups, with their ranks, for an operator that communicates within each of them.

    Args:
        groups (Sequence): The ranks of each group; every rank is in one.
    """

    ranks: tuple[tuple[int, ...], ...]

    def __new__(cls, groups: Sequence[Sequence[int]]) -> "Groups":
        """Create the name of the groups from their ranks."""
        ranks = tuple(tuple(group) for group in groups)
        name = super().__new__(cls, f"groups {list(map(list, ranks))}")
        name.ranks = ranks
        return name


class Provider(NamedTuple):
    """Functions of the package that partitions programs.

    Attributes:
        state (Callable): Returns the settings that programs depend on as a comparable object; None for one device.
        begin (Callable): Returns the `Partitioner` of a new trace, or None.
        members (Callable): Takes the axis (name, size) of the trace, or None if the trace is not partitioned, and the
            name of a group. Returns its `DeviceGroup`, or None if there are no other devices.
        together (Callable): Converts a function of arrays to one that all processes call at once, each with its own
            arrays; returns None if there is one process.
        processes (Callable): Returns the number of processes of a group by its name; 1 if there is one process.
        outside (Callable): Reports strategies of operators that run outside graphs. Default: no report.
    """

    state: Callable[[], Hashable]
    begin: Callable[[], Partitioner | None]
    members: Callable[[tuple[str, int] | None, str | None], DeviceGroup | None]
    together: Callable[[Callable[..., Any]], Callable[..., Any] | None]
    processes: Callable[[str | None], int]
    outside: Callable[[], None] = lambda: None


_providers: list[Provider] = []


def provide(
    state: Callable[[], Hashable],
    begin: Callable[[], Partitioner | None],
    members: Callable[[tuple[str, int] | None, str | None], DeviceGroup | None],
    together: Callable[[Callable[..., Any]], Callable[..., Any] | None],
    processes: Callable[[str | None], int],
    outside: Callable[[], None],
) -> None:
    """Register the package that partitions programs; see :class:`Provider`."""
    _providers[:] = [Provider(state, begin, members, together, processes, outside)]


def members(group: str | None = None) -> DeviceGroup | None:
    """Return the devices of a group with which the current trace can communicate; None if there are no other devices.

    Args:
        group (str): Name of the group. Default: None, all.

    Raises:
        RuntimeError: If there is no such group, this device is not in it, or the others cannot be reached from here.
    """
    axes = [] if trace_state.thread.spread is None else trace_state.thread.spread.axes
    return _providers[0].members(axes[0] if axes else None, group) if _providers else None


def size(group: str | None = None) -> int:
    """Return the number of devices among which an operator that is called now communicates in a group.

    Raises:
        RuntimeError: As :func:`members`.
    """
    if trace_state.thread.frame is None:
        return _providers[0].processes(group) if _providers else 1
    others = members(group)
    return 1 if others is None else others.size


class CollectiveKernel:
    """Kernel of an operator that communicates. Outside a graph all processes run it at once.

    Args:
        fn (Callable): Function of arrays.
        run (Callable): The compiled `fn`, for one device and for traces.
    """

    __slots__ = ("fn", "run", "_together")

    def __init__(self, fn: Callable[..., Any], run: Any) -> None:
        self.fn = fn
        self.run = run
        self._together: Any = None

    def __call__(self, *arrays: Any) -> Any:
        if trace_state.thread.frame is None and _providers and not any(map(is_tracer, arrays)):
            self._together = self._together or _providers[0].together(self.fn)
            if self._together is not None:
                return self._together(*arrays)
        return self.run(*arrays)

    def clear_cache(self) -> None:
        """Discard the compiled function; the next call compiles again."""
        self._together = None
        self.run.clear_cache()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)


@contextlib.contextmanager
def on_one_device() -> Iterator[None]:
    """Context manager in which programs are traced for one device, whatever the parallel settings are."""
    previous, _providers[:] = list(_providers), []
    try:
        yield
    finally:
        _providers[:] = previous


@contextlib.contextmanager
def partition_as(partitioner: Partitioner) -> Iterator[None]:
    """Context manager in which `partitioner` partitions programs, whatever the parallel settings are."""
    previous, state_key = list(_providers), object()
    single_device = Provider(lambda: None, lambda: None, lambda axis, group: None, lambda fn: None, lambda group: 1)
    _providers[:] = [(previous or [single_device])[0]._replace(state=lambda: state_key, begin=lambda: partitioner)]
    try:
        yield
    finally:
        _providers[:] = previous


def state() -> Hashable:
    """Return the current settings of the partitioning package on which programs depend; None for one device."""
    return _providers[0].state() if _providers else None


def begin() -> Partitioner | None:
    """Return the Partitioner of a new trace; None for one device."""
    return _providers[0].begin() if _providers else None


def outside() -> None:
    """Report that an operator with a sharding strategy runs outside a graph."""
    if _providers:
        _providers[0].outside()
