"""Programs that are spread over several devices: what a trace and a Program ask of the floor that knows strategies.

Who knows them (`parallel`) says so with `provide`. Each new trace of GRAPH mode then asks it for a `Spread`, or None
where one device computes all; operators that are traced go through `Spread.run`, and the Program asks it where its
arrays are to be.
"""

import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from msnb.core import trace


class Places(NamedTuple):
    """Where the arrays of a Program are: one sharding for each.

    Attributes:
        written (list[jax.sharding.Sharding]): Of the Parameters that it writes, before and after.
        read (list[jax.sharding.Sharding]): Of those that it only reads.
        rest (list[jax.sharding.Sharding]): Of the random number, if there is one, and the arguments.
        around (Callable): From the graph as a function of what one device has, ``form(params, extra, arrays)``, to
            one of whole arrays. Default: None, the graph is one of whole arrays.
        apart (bool): Whether each of several processes hands over, and gets back, what it has of each array, and keeps
            that on its own device. Default: False, one process has them whole.
    """

    written: list[Any]
    read: list[Any]
    rest: list[Any]
    around: Callable[[Callable[..., Any]], Callable[..., Any]] | None = None
    apart: bool = False


class Spread(Protocol):
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

    def places(self, program: Any) -> Places | None:
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


class Provider(NamedTuple):
    """Who knows strategies.

    Attributes:
        state (Callable): What programs depend on, to be compared; None where one device computes all.
        begin (Callable): Gives the `Spread` of a trace that begins, or None.
        alone (Callable): Raises RuntimeError where there are others that what is not spread cannot communicate with.
    """

    state: Callable[[], Hashable]
    begin: Callable[[], Spread | None]
    alone: Callable[[], None]


_providers: list[Provider] = []


def provide(state: Callable[[], Hashable], begin: Callable[[], Spread | None], alone: Callable[[], None]) -> None:
    """Name who knows strategies; see :class:`Provider`."""
    _providers[:] = [Provider(state, begin, alone)]


def members() -> tuple[str, int] | None:
    """(name, number) of the devices that what is traced now can communicate with; None where there is but one.

    Raises:
        RuntimeError: If there are others, which cannot be reached from here.
    """
    axes = [] if trace.thread.spread is None else trace.thread.spread.axes
    if not axes and _providers:
        _providers[0].alone()
    return axes[0] if axes else None


@contextlib.contextmanager
def on_one_device() -> Iterator[None]:
    """While it is open, what is traced is traced for one device, whatever the settings say."""
    known, _providers[:] = list(_providers), []
    try:
        yield
    finally:
        _providers[:] = known


def state() -> Hashable:
    """What programs depend on that are traced now; None where one device computes all."""
    return _providers[0].state() if _providers else None


def begin() -> Spread | None:
    """How a program is spread whose trace begins; None: not at all."""
    return _providers[0].begin() if _providers else None
