"""Streams and events. JAX has one stream per device, which runs everything in order."""

import time
from typing import Annotated

from msnb import context, log
from msnb.common.kinds import Bool, Instance, OneOf, checked
from msnb.core.compat.jax_private import live_arrays
from msnb.core.errors.messages import describe
from msnb.core.transforms.jit import _pynative_executor

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

_ONE_STREAM = "a device has one stream here, in which everything runs in order"


def synchronize() -> None:
    """Wait until all started computations are complete.

    Examples:
        >>> mindspore.runtime.synchronize()
    """
    _pynative_executor.sync()


class Stream:
    """The stream of the current device. All instances represent the same stream.

    Args:
        priority (int): 0; other values have no effect. Default: 0.

    Raises:
        TypeError: If `priority` is not an int.
    """

    @checked
    def __init__(self, priority: Annotated[int, OneOf(0, otherwise=_ONE_STREAM)] = 0) -> None:
        self.device_name = context.get_context("device_target")
        self.device_id = context.get_context("device_id")
        self.id: int = 0

    def synchronize(self) -> None:
        """Wait until all started computations are complete."""
        synchronize()

    def query(self) -> bool:
        """Return True if all started computations are complete.

        Returns:
            bool.
        """
        return all(array.is_deleted() or array.is_ready() for array in live_arrays())

    def record_event(self, event: "Event | None" = None) -> "Event":
        """Record an event at this point.

        Args:
            event (Event): The event. Default: None, a new one.

        Returns:
            Event.
        """
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event: "Event") -> None:
        """Make later work wait for `event`. It has no effect: everything runs in order.

        Args:
            event (Event): The event.

        Raises:
            TypeError: If it is not an Event.
        """
        if not isinstance(event, Event):
            raise TypeError(f"'event' should be an Event, but got {describe(event)}.")
        log.unused("Stream.wait_event", _ONE_STREAM, event=True)

    def wait_stream(self, stream: "Stream") -> None:
        """Make later work wait for `stream`. It has no effect: everything runs in order.

        Args:
            stream (Stream): The other stream.

        Raises:
            TypeError: If it is not a Stream.
        """
        _check_stream(stream)
        log.unused("Stream.wait_stream", _ONE_STREAM, stream=True)

    def __eq__(self, other: object) -> bool:
        is_stream = isinstance(other, Stream)
        return is_stream and (self.device_name, self.device_id) == (other.device_name, other.device_id)

    def __hash__(self) -> int:
        return hash((self.device_name, self.device_id))

    def __repr__(self) -> str:
        return f"Stream(device_name={self.device_name}, device_id:{self.device_id}, stream id:{self.id})"


def _check_stream(stream):
    if stream is not None and not isinstance(stream, Stream):
        raise TypeError(f"'stream' should be a Stream, but got {describe(stream)}.")


class StreamCtx:
    """Context manager that selects a stream. It has no effect: there is one stream.

    Args:
        ctx_stream (Stream): The stream; None selects none.

    Raises:
        TypeError: If it is not a Stream.
    """

    @checked
    def __init__(self, ctx_stream: Annotated[Stream | None, Instance(Stream, type(None))]) -> None:
        log.unused("StreamCtx", _ONE_STREAM, ctx_stream=ctx_stream is not None)

    def __enter__(self) -> "StreamCtx":
        return self

    def __exit__(self, *error: object) -> None:
        pass


class Event:
    """A point in the stream, with the time between two of them.

    Args:
        enable_timing (bool): Support `elapsed_time`: recording then waits for all started computations. Default: False.
        blocking (bool): Without effect; `synchronize` waits in any case. Default: False.

    Raises:
        TypeError: If an argument is not a bool.

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
        """Record the current time.

        Args:
            stream (Stream): The stream. Default: None, the current one.
        """
        _check_stream(stream)
        log.unused("Event.record", _ONE_STREAM, stream=stream is not None and stream != current_stream())
        if self._timed:
            synchronize()
        self._moment = time.perf_counter()

    def wait(self, stream: Stream | None = None) -> None:
        """Make later work in `stream` wait for this event. It has no effect: everything runs in order.

        Args:
            stream (Stream): The stream. Default: None, the current one.
        """
        _check_stream(stream)
        log.unused("Event.wait", _ONE_STREAM, stream=stream is not None)

    def synchronize(self) -> None:
        """Wait until all started computations are complete."""
        synchronize()

    def query(self) -> bool:
        """Return True if all started computations are complete.

        Returns:
            bool.
        """
        return current_stream().query()

    def elapsed_time(self, end_event: "Event") -> float:
        """Return the milliseconds from this event to another.

        Args:
            end_event (Event): The later event.

        Returns:
            float.

        Raises:
            RuntimeError: If one of the two events has not been recorded, or was created without `enable_timing`.
        """
        if not (self._timed and end_event._timed) or None in (self._moment, end_event._moment):
            raise RuntimeError("elapsed_time() is between two events that were made with enable_timing and recorded.")
        return 1000 * (end_event._moment - self._moment)


def current_stream() -> Stream:
    """Return the stream of the current device.

    Returns:
        Stream.
    """
    return Stream()


def default_stream() -> Stream:
    """Return the stream of the current device.

    Returns:
        Stream.
    """
    return Stream()


def communication_stream() -> Stream:
    """Return the stream of the current device, which also runs collectives.

    Returns:
        Stream.
    """
    return Stream()


@checked
def set_cur_stream(stream: Annotated[Stream | None, Instance(Stream, type(None))]) -> None:
    """Select a stream. It has no effect: there is one stream.

    Args:
        stream (Stream): The stream; None selects none.

    Raises:
        TypeError: If it is not a Stream.
    """
    log.unused("set_cur_stream", _ONE_STREAM, stream=stream is not None)
