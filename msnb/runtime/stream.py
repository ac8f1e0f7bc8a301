"""Streams and events: JAX has one stream for each device, in which all that programs start runs in order."""

import time
from typing import Annotated

from msnb import context, log
from msnb.common.kinds import Bool, Instance, OneOf, checked
from msnb.core._jax_private import live_arrays
from msnb.core.api import _pynative_executor
from msnb.core.errors import describe

__all__ = [
    "Stream",
    "StreamCtx",
    "Event",
    "synchronize",
    "current_stream",
    "default_stream",
    "communication_stream",
    "set_cur_stream",
]

_ONE = "a device has one stream here, in which everything runs in order"


def synchronize() -> None:
    """
    Return when all that was started is computed.

    Examples:
        >>> mindspore.runtime.synchronize()
    """
    _pynative_executor.sync()


class Stream:
    """
    The stream of the device that computes; each object stands for the same one.

    Args:
        priority (int): 0; another has no effect. Default: 0.

    Raises:
        TypeError: If `priority` is no int.
    """

    @checked
    def __init__(self, priority: Annotated[int, OneOf(0, otherwise=_ONE)] = 0) -> None:
        self.device_name = context.get_context("device_target")
        self.device_id = context.get_context("device_id")
        self.id: int = 0

    def synchronize(self) -> None:
        """Return when all that was started is computed."""
        synchronize()

    def query(self) -> bool:
        """Whether all that was started is computed.

        Returns:
            bool.
        """
        return all(array.is_deleted() or array.is_ready() for array in live_arrays())

    def record_event(self, event: "Event | None" = None) -> "Event":
        """Note this moment.

        Args:
            event (Event): What notes it. Default: None, a new one.

        Returns:
            Event.
        """
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: "Event") -> None:
        """What comes next runs after what `event` notes, as everything does.

        Args:
            event (Event): The moment.

        Raises:
            TypeError: If it is no Event.
        """
        if not isinstance(event, Event):
            raise TypeError(f"'event' should be an Event, but got {describe(event)}.")
        log.unused("Stream.wait_event", _ONE, event=True)

    def wait_stream(self, stream: "Stream") -> None:
        """What comes next runs after what is in `stream`, as everything does.

        Args:
            stream (Stream): The other one.

        Raises:
            TypeError: If it is no Stream.
        """
        _known(stream)
        log.unused("Stream.wait_stream", _ONE, stream=True)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Stream)
        return same and (self.device_name, self.device_id) == (other.device_name, other.device_id)

    def __hash__(self) -> int:
        return hash((self.device_name, self.device_id))

    def __repr__(self) -> str:
        return f"Stream(device_name={self.device_name}, device_id:{self.device_id}, stream id:{self.id})"


def _known(stream):
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"'stream' should be a Stream, but got {describe(stream)}.")


class StreamCtx:
    """
    Context manager: what is started within runs in a stream, which is the one that there is.

    Args:
        ctx_stream (Stream): The stream; None for that which there is.

    Raises:
        TypeError: If it is no Stream.
    """

    @checked
    def __init__(self, ctx_stream: Annotated[Stream | None, Instance(Stream, type(None))]) -> None:
        log.unused("StreamCtx", _ONE, ctx_stream=ctx_stream is not None)

    def __enter__(self) -> "StreamCtx":
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Event:
    """
    A moment in the stream, and how long it was between two of them.

    Args:
        enable_timing (bool): Whether `elapsed_time` will be asked: noting the moment then waits for what was started.
            Default: False.
        blocking (bool): Without effect; `synchronize` waits in any case. Default: False.

    Raises:
        TypeError: If an argument is no bool.

    Examples:
        >>> begin, end = (mindspore.runtime.Event(enable_timing=True) for _ in range(2))
        >>> begin.record(); end.record()
        >>> begin.elapsed_time(end) >= 0
        True
    """

    @checked
    def __init__(
        self,
        enable_timing: Bool = False,
        blocking: Annotated[bool, OneOf(False, otherwise="synchronize() waits in any case")] = False,
    ) -> None:
        self._timed, self._moment = enable_timing, None

    def record(self, stream: Stream | None = None) -> None:
        """Note this moment.

        Args:
            stream (Stream): Of which. Default: None, of that which there is.
        """
        _known(stream)
        log.unused("Event.record", _ONE, stream=stream is not None and stream != current_stream())
        if self._timed:
            synchronize()
        self._moment = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        """What comes next in `stream` runs after this moment, as everything does.

        Args:
            stream (Stream): Which. Default: None, that which there is.
        """
        _known(stream)
        log.unused("Event.wait", _ONE, stream=stream is not None)

    def synchronize(self) -> None:
        """Return when all that was started is computed."""
        synchronize()

    def query(self) -> bool:
        """Whether all that was started is computed.

        Returns:
            bool.
        """
        return current_stream().query()

    def elapsed_time(self, end_event: "Event") -> float:
        """
        Milliseconds from this moment to another.

        Args:
            end_event (Event): The other.

        Returns:
            float.

        Raises:
            RuntimeError: If one of them has not been recorded, or was made without `enable_timing`.
        """
        if not (self._timed and end_event._timed) or None in (self._moment, end_event._moment):
            raise RuntimeError("elapsed_time() is between two events that were made with enable_timing and recorded.")
        return 1000 * (end_event._moment - self._moment)


def current_stream() -> Stream:
    """
    The stream of the device that computes.

    Returns:
        Stream.
    """
    return Stream()


def default_stream() -> Stream:
    """
    The stream of the device that computes.

    Returns:
        Stream.
    """
    return Stream()


def communication_stream() -> Stream:
    """
    The stream of the device that computes, in which collectives run too.

    Returns:
        Stream.
    """
    return Stream()


@checked
def set_cur_stream(stream: Annotated[Stream | None, Instance(Stream, type(None))]) -> None:
    """
    Choose a stream; there is one.

    Args:
        stream (Stream): Which; None chooses none.

    Raises:
        TypeError: If it is no Stream.
    """
    log.unused("set_cur_stream", _ONE, stream=stream is not None)
