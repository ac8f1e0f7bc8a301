"""Events that programs, Cells and operators emit. Tools subscribe; monkey-patching is not needed.

A tool subscribes to events by name, until it closes its listener:

    with events.listen(dispatched=note, name="profiler"):
        net(x)

* ``compiled(program)``: a program of GRAPH mode has run for the first time.
* ``ran(program, arrays, outs, start, sent)``: a program has run on the arrays of its dynamic arguments. A program that
  runs under a PYNATIVE gradient is a node of the tape and emits `dispatched` and `recorded` instead.
* ``entered(call)`` and ``left(call)``: a Cell or a compiled function was called, also inside a trace; see `Call`. A
  listener that received `entered` also receives the matching `left`. A compiled method emits `ran` only.
* ``dispatched(kernel, arrays, out, start, sent)``: a kernel was run on concrete arrays, in PYNATIVE mode or by the
  tape.
* ``recorded(node, boxes)``: an operator ran and added a node to the tape; ``pulled(node, cotangents)``: the gradient of
  that node is about to be computed; ``differentiated(outputs, weights, sources, gradients)``: a gradient of PYNATIVE
  mode is complete.
* ``waited(iterator, start, end)``: a dataset was asked for an example.
* ``made(cell)``: `Cell.__init__` begins, called by the `__init__` of a subclass.

`start`, `sent` and `end` are times of `time.perf_counter_ns`. `start` is the time of the call and `sent` that of its
return; JAX may still be computing then. Without a listener an event costs one attribute read of `subscribers`, or
nothing (`core.eager.kernel`). A tool that changes the outputs of a compiled program uses `core.program.extra_outputs`.
"""

import threading
import traceback
from collections.abc import Callable
from typing import Any, Literal, Self

from msnb import log
from msnb.core.state import trace_state

EVENTS = (
    "compiled",
    "ran",
    "entered",
    "left",
    "dispatched",
    "recorded",
    "pulled",
    "differentiated",
    "waited",
    "made",
)
_REGISTERED_AS = {"left": "entered"}  # event -> event under which its listeners are registered
_lock = threading.RLock()
_demand_hooks = {}  # event -> functions to call when its first listener is added or its last one is removed


class Subscribers:
    """The listeners of each event, as attributes: an empty tuple for none. Listeners of `left` are registered under
    `entered`.
    """

    __slots__ = tuple(event for event in EVENTS if event not in _REGISTERED_AS)

    def __init__(self):
        for event in self.__slots__:
            setattr(self, event, ())


class _ThreadState(threading.local):
    """Current call and running listeners of one thread."""

    call = None  # innermost Call that was reported to a listener
    running_listeners = ()  # listeners that are running now


subscribers: Subscribers = Subscribers()
_thread_state = _ThreadState()


class Listener:
    """Subscription to events, from `listen` to `close`. Used as a context manager, it closes itself at the end.

    Attributes:
        name (str): Name in log messages.
        closed (bool): True once it receives no more events.
        problem (Union[Exception, None]): The exception that closed it.
        complaint (str): The logged sentence about that exception, "" if there was none.
    """

    __slots__ = ("name", "functions", "owner", "vital", "closed", "problem", "complaint")

    def __init__(self, functions: dict[str, Callable[..., Any]], name: str, here: bool, vital: bool) -> None:
        self.name: str = name
        self.functions: dict[str, Callable[..., Any]] = functions
        self.owner: int | None = threading.get_ident() if here else None
        self.vital: bool = vital
        self.closed: bool = False
        self.problem: Any = None
        self.complaint: str = ""

    def close(self) -> None:
        """Stop the subscription. May be called twice, and listeners may be closed in any order."""
        with _lock:
            self.closed = True
            for event in _list_registered_events(self.functions):
                _set_listeners(event, tuple([other for other in getattr(subscribers, event) if other is not self]))

    def deliver(self, event: str, args: tuple[Any, ...]) -> None:
        """Call the function for `event`. Events that the listener itself causes are not delivered to it."""
        function = self.functions.get(event)
        running = _thread_state.running_listeners
        if function is None or self.closed or self in running:
            return
        if self.owner is not None and self.owner != threading.get_ident():
            return
        try:
            _thread_state.running_listeners = (*running, self)
            function(*args)
        except Exception as problem:
            if self.vital:
                raise
            self._close_after_error(event, problem)
        finally:
            _thread_state.running_listeners = running

    def _close_after_error(self, event, problem):
        """Close the listener and log why: an observer must not break the program that it observes."""
        self.close()
        self.complaint = describe_failure(self.name, f"it received '{event}'", problem)
        log.warning("%s", self.complaint)
        self.problem = problem.with_traceback(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: Any) -> Literal[False]:
        self.close()
        return False

    def __repr__(self) -> str:
        return f"<Listener {self.name}: {'closed' if self.closed else ', '.join(self.functions)}>"


def listen(
    *, name: str | None = None, here: bool = False, vital: bool = False, **functions: Callable[..., Any]
) -> Listener:
    """Subscribe to events.

    Args:
        name (str): Name in log messages. Default: None, the name of the first function.
        here (bool): True to receive only events of the current thread. Default: False, of all threads.
        vital (bool): True if results depend on the listener. Its exceptions then propagate to the program; otherwise
            they are logged and the listener is closed. Default: False.
        functions (Callable): Functions by event name; the module docstring lists their arguments.

    Returns:
        Listener.

    Raises:
        TypeError: If an event does not exist, or its function is not callable.
    """
    for event, function in functions.items():
        if event not in EVENTS:
            raise TypeError(f"There is no event '{event}'; the events are {', '.join(EVENTS)}.")
        if not callable(function):
            raise TypeError(f"'{event}' should be callable, but got {function!r}.")
    if not functions:
        raise TypeError(f"A listener names at least one of the events {', '.join(EVENTS)}.")
    first = next(iter(functions.values()))
    listener = Listener(functions, name or getattr(first, "__qualname__", repr(first)), here, vital)
    with _lock:
        for event in _list_registered_events(functions):
            _set_listeners(event, (*getattr(subscribers, event), listener))
    return listener


def _list_registered_events(functions: dict[str, Callable[..., Any]]) -> Any:
    return dict.fromkeys(_REGISTERED_AS.get(event, event) for event in functions)


def on_demand_change(event: str, act: Callable[[bool], Any]) -> None:
    """Call ``act(has_listeners)`` when `event` gets its first listener and when it loses its last one."""
    _demand_hooks.setdefault(event, []).append(act)


def _set_listeners(event, listeners):
    before = bool(getattr(subscribers, event))
    setattr(subscribers, event, listeners)
    if before != bool(listeners):
        for act in _demand_hooks.get(event, ()):
            act(bool(listeners))


def notify(event: str, *args: Any) -> None:
    """Deliver `event` to its listeners. Hot paths call this only if ``subscribers.EVENT`` is not empty."""
    for listener in getattr(subscribers, event):
        listener.deliver(event, args)


def describe_failure(name: str, occasion: str, problem: BaseException) -> str:
    """Return the log sentence about a tool that failed: its name, the event, the error and its location."""
    frames = traceback.extract_tb(problem.__traceback__)
    location = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{name} failed when {occasion} and receives no more events: {type(problem).__name__}: {problem}{location}"


# ---------------------------------------------------------------------- Cells and compiled functions
class Call:
    """One call of a Cell or a compiled function.

    Attributes:
        net (Union[Cell, Callable]): The Cell or function that was called.
        args (tuple), kwargs (dict): The arguments.
        step (Union[str, None]): Its segment of the scope path; None for a function.
        traced (bool): True if the call is part of a trace, so that its Tensors have no values.
        around (Union[Call, None]): The enclosing call; None for an outermost call.
        out (object): The result; None before the call returns and if it raises.
        error (Union[BaseException, None]): The exception that it raised, set only while `left` is delivered.
    """

    __slots__ = ("net", "args", "kwargs", "step", "traced", "around", "out", "error")

    def __init__(
        self, net: Any, args: tuple[Any, ...], kwargs: dict[str, Any], step: str | None, around: "Call | None"
    ) -> None:
        self.net: Any = net
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs
        self.step: str | None = step
        self.traced: bool = trace_state.thread.frame is not None
        self.around: Call | None = around
        self.out: Any = None
        self.error: BaseException | None = None

    @property
    def scope(self) -> tuple[str, ...]:
        """Steps of the path from the outermost Cell to this one, a tuple of str."""
        steps, call = [], self
        while call is not None:
            if call.step is not None:
                steps.append(call.step)
            call = call.around
        return tuple(reversed(steps))


def current() -> Call | None:
    """Return the innermost `Call` of this thread that listeners were notified of; None outside all calls."""
    return _thread_state.call


def run_with_events(
    net: Any, step: str | None, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return `run(net, args, kwargs)`; emit `entered` before and `left` afterwards.

    Args:
        net (Union[Cell, Callable]): The Cell or function that is called.
        step (Union[str, None]): See `Call`.
        run (Callable): Performs the call.
        args (tuple): Positional arguments.
        kwargs (dict): Keyword arguments.
    """
    around = _thread_state.call
    call = Call(net, args, kwargs, step, around)
    notified = []
    try:
        _thread_state.call = call
        for listener in subscribers.entered:
            notified.append(listener)
            listener.deliver("entered", (call,))
        call.out = run(net, args, kwargs)
        return call.out
    except BaseException as error:
        call.error = error
        raise
    finally:
        _thread_state.call = around
        try:
            for listener in notified:
                listener.deliver("left", (call,))
        finally:
            call.error = None  # its traceback refers to this frame: drop the reference cycle
