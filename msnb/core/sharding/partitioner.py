"""Programs that are spread over several devices: what a trace and a Program ask of the floor that knows strategies.

Who knows them (`parallel`) says so with `provide`. Each new trace of GRAPH mode then asks it for a `Spread`, or None
where one device computes all; operators that are traced go through `Spread.run`, and the Program asks it where its
arrays are to be.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from msnb.core.compat.jax_private import is_tracer
from msnb.core.state import trace_state


class ArrayShardings(NamedTuple):
    """Where the arrays of a Program are: one sharding for each.

    Attributes:
        written (list[jax.sharding.Sharding]): Of the Parameters that it writes, before and after.
        read (list[jax.sharding.Sharding]): Of those that it only reads.
        rest (list[jax.sharding.Sharding]): Of the random number, if there is one, and the arguments.
        around (Callable): From the graph as a function of what one device has, ``form(params, extra, arrays)``, to
            one of whole arrays. Default: None, the graph is one of whole arrays.
        results (jax.sharding.Sharding): Of all that is handed out. Default: None, as XLA finds it best.
        bring (Callable): Brings arrays of Parameters to where they are to be, ``bring(arrays, shardings)``. Default:
            `jax.device_put`; None where each of several processes keeps its own on its own device.
        calling (Callable): From the compiled call, ``calling(call, places)``, to one that takes and gives what one of
            several processes has. Default: None, one process has all arrays whole.
    """

    written: list[Any]
    read: list[Any]
    rest: list[Any]
    around: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    results: Any = None
    bring: Callable[[list[Any], list[Any]], list[Any]] | None = jax.device_put
    calling: Callable[[Any, "ArrayShardings"], Any] | None = None


class Partitioner(Protocol):
    """How one program is spread over devices.

    Attributes:
        devices (int): Over how many devices.
        stages (int): In how many stages of a pipeline; 1 for none.
        axes (list[tuple[str, int]]): Names, and sizes, by which what is traced may speak of the other devices; none
            where it is traced as if one device computed all.
    """

    devices: int
    stages: int
    axes: list[tuple[str, int]]

    def within(self, value: Any) -> Any:
        """What an argument, an array or a number, looks like in the trace: an array, or a `jax.ShapeDtypeStruct`.

        Raises:
            ValueError: If it cannot be divided.
        """
        ...

    def run(self, kernel: Any, arrays: Sequence[Any]) -> Any:
        """Trace a call of an operator's kernel, its inputs and outputs laid out as its strategy says."""
        ...

    def hold(self, array: Any, strategy: tuple[int, ...], what: str, /) -> Any:
        """An array of the trace, cut along each axis into as many parts as a strategy says; `what` it is, for errors.

        Raises:
            RuntimeError: If the strategy does not fit its shape, or the devices.
        """
        ...

    def pipelined(self, stage: Callable[..., Any], arrays: Sequence[Any], keys: Any, parts: Any) -> Any:
        """What all stages make of each part, where there are stages; see `parallel.pipeline`."""
        ...

    def places(self, program: Any) -> ArrayShardings | None:
        """Where the arrays of a program that was traced so are to be; None where one device computes it after all.

        Raises:
            RuntimeError: If this machine does not have the devices.
        """
        ...

    def layouts(self, program: Any, /) -> dict[str, Any]:
        """How the Parameters and arguments of a program lie, by name, as r1.1 writes it; empty where all are whole.

        Raises:
            RuntimeError: If a Parameter is to lie in two ways.
        """
        ...

    def shards(self, program: Any, /) -> dict[str, Any]:
        """The strategies that the operators of a program have, by r1.1's names of them."""
        ...

    def operators(self, program: Any, /) -> int:
        """How many operators strategies were looked for."""
        ...


class DeviceGroup(NamedTuple):
    """The devices of a group, as what one of them runs speaks of them.

    Attributes:
        axis (str): Name by which all devices are spoken of, those outside of the group too.
        ranks (tuple[int]): The numbers of the members among all, in the group's order.
        groups (tuple): All devices, each in one group: this one and what else there is; None where it has all of them.
        own (int): The number of this device in the group, where the trace is of one process; None where one trace is
            of all.
    """

    axis: str
    ranks: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...] | None
    own: int | None

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.ranks)

    @property
    def even(self) -> bool:
        """Whether all groups have as many members, so that parts can be of one size on all devices."""
        return self.groups is None or all(len(group) == self.size for group in self.groups)

    def place(self) -> Any:
        """The number of the device that runs this in its group."""
        index = jax.lax.axis_index(self.axis)
        if self.groups is None:
            return index
        places = {rank: place for group in self.groups for place, rank in enumerate(group)}
        return jax.numpy.asarray(np.array([places[rank] for rank in sorted(places)], np.int32))[index]


class Groups(str):
    """A name of groups that is told with their members, for an operator that acts in each of them.

    Args:
        groups (Sequence): The ranks of each group; every rank is in one.
    """

    ranks: tuple[tuple[int, ...], ...]

    def __new__(cls, groups: Sequence[Sequence[int]]) -> "Groups":
        """The name says who is in them."""
        ranks = tuple(tuple(group) for group in groups)
        new = super().__new__(cls, f"groups {list(map(list, ranks))}")
        new.ranks = ranks
        return new


class Provider(NamedTuple):
    """Who knows strategies.

    Attributes:
        state (Callable): What programs depend on, to be compared; None where one device computes all.
        begin (Callable): Gives the `Spread` of a trace that begins, or None.
        members (Callable): Gives the `Members` of a group, by the axis (name, number) of what is traced, None where
            nothing is spread, and the name of the group; None where a device is by itself.
        together (Callable): Of a function of arrays makes one that all processes call at once, each with its own; None
            where there is one process.
        processes (Callable): Gives the number of processes of a group by its name; 1 where there is one process.
        outside (Callable): Says what becomes of strategies outside of graphs. Default: nothing is said.
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
    """Name who knows strategies; see :class:`Provider`."""
    _providers[:] = [Provider(state, begin, members, together, processes, outside)]


def members(group: str | None = None) -> DeviceGroup | None:
    """The devices of a group that what is traced now can communicate with; None where this one is by itself.

    Args:
        group (str): Name of the group. Default: None, all.

    Raises:
        RuntimeError: If there is no such group, this device is not in it, or the others cannot be reached from here.
    """
    axes = [] if trace_state.thread.spread is None else trace_state.thread.spread.axes
    return _providers[0].members(axes[0] if axes else None, group) if _providers else None


def size(group: str | None = None) -> int:
    """How many devices of a group an operator that is called now communicates with, itself among them.

    Raises:
        RuntimeError: As :func:`members`.
    """
    if trace_state.thread.frame is None:
        return _providers[0].processes(group) if _providers else 1
    others = members(group)
    return 1 if others is None else others.size


class CollectiveKernel:
    """What a kernel that speaks of other devices runs: in several processes, outside of a graph, all of them at once.

    Args:
        fn (Callable): Of arrays.
        run (Callable): The same compiled, as one device runs it and as it is traced.
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
        """Compile it anew when it is called again."""
        self._together = None
        self.run.clear_cache()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.run, name)


@contextlib.contextmanager
def on_one_device() -> Iterator[None]:
    """While it is open, what is traced is traced for one device, whatever the settings say."""
    known, _providers[:] = list(_providers), []
    try:
        yield
    finally:
        _providers[:] = known


@contextlib.contextmanager
def partition_as(spread: Partitioner) -> Iterator[None]:
    """While it is open, what is traced is spread so, whatever the settings say."""
    known, told = list(_providers), object()
    alone = Provider(lambda: None, lambda: None, lambda axis, group: None, lambda fn: None, lambda group: 1)
    _providers[:] = [(known or [alone])[0]._replace(state=lambda: told, begin=lambda: spread)]
    try:
        yield
    finally:
        _providers[:] = known


def state() -> Hashable:
    """What programs depend on that are traced now; None where one device computes all."""
    return _providers[0].state() if _providers else None


def begin() -> Partitioner | None:
    """How a program is spread whose trace begins; None: not at all."""
    return _providers[0].begin() if _providers else None


def outside() -> None:
    """Called where an operator with a strategy runs for itself."""
    if _providers:
        _providers[0].outside()
