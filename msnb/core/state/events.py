"""Events: what tools are told while programs, Cells and operators run. Nobody's methods are replaced for it.

A tool listens to what it names, until it closes:

    with events.listen(dispatched=note, name="profiler"):
        net(x)

* ``compiled(program)``: a program of GRAPH mode has run for the first time.
* ``ran(program, arrays, outs, start, sent)``: a program has run on the arrays of its dynamic arguments. One that runs
  under a PYNATIVE gradient is a node of the tape, and is told as `dispatched` and `recorded`.
* ``entered(call)`` and ``left(call)``: a Cell or a compiled function was called, within a trace too; see `Call`. Who
  was told of the one is told of the other, whatever happens in between. (A compiled method is told as what `ran`.)
* ``dispatched(kernel, arrays, out, start, sent)``: a kernel was run on concrete arrays, in PYNATIVE mode or by the
  tape.
* ``recorded(node, boxes)``: an operator ran and left a node on the tape; ``pulled(node, cotangents)``: its gradient is
  about to be taken; ``differentiated(outputs, weights, sources, gradients)``: a gradient of PYNATIVE mode is complete.
* ``waited(iterator, start, end)``: a dataset was asked for a row.
* ``made(cell)``: a Cell's own `__init__` begins, within those of its classes.

`start`, `sent` and `end` are nanoseconds on the clock of `time.perf_counter_ns`: called, and returned; JAX may still be
computing then. Where nobody listens an event costs the look at one attribute of `asked`, or nothing (`core.kernel`).
A tool that changes what a compiled program returns is another matter: `core.further_outputs`.
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
_WITH = {"left": "entered"}  # events that are looked for under another's name
_lock = threading.RLock()
_asked_hooks = {}  # event -> who has to know whether anybody listens


class Asked:
    """The listeners of each event, empty tuples where nobody asks; who asks for `left` stands under `entered`."""

    __slots__ = tuple(event for event in EVENTS if event not in _WITH)

    def __init__(self):
        for event in self.__slots__:
            setattr(self, event, ())


class _Here(threading.local):
    """State of one thread."""

    call = None  # innermost Call that somebody was told of
    hearing = ()  # listeners at work


asked: Asked = Asked()
_here = _Here()


class Listener:
    """Who is told of some events, from `listen` to `close`; a context manager, which closes.

    Attributes:
        name (str): What the log calls it.
        closed (bool): Whether it is told nothing any more.
        problem (Union[Exception, None]): The exception that ended it.
        complaint (str): The sentence about it in the log, "" where nothing has failed.
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
        """Listen no more. Closing twice, and in any order, is fine."""
        with _lock:
            self.closed = True
            for event in _places(self.functions):
                _assign(event, tuple([other for other in getattr(asked, event) if other is not self]))

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        """Be told. What a listener itself runs meanwhile is not told to it."""
        function = self.functions.get(event)
        hearing = _here.hearing
        if function is None or self.closed or self in hearing:
            return
        if self.owner is not None and self.owner != threading.get_ident():
            return
        try:
            _here.hearing = (*hearing, self)
            function(*args)
        except Exception as problem:
            if self.vital:
                raise
            self._fail(event, problem)
        finally:
            _here.hearing = hearing

    def _fail(self, event, problem):
        """What looks on must not break what runs: it is let go, and the log says why."""
        self.close()
        self.complaint = complaint(self.name, f"it was told '{event}'", problem)
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
    """Be told of events from now on.

    Args:
        name (str): What the log calls the listener. Default: None, the name of its first function.
        here (bool): Whether only what happens in this thread is told. Default: False, in all of them.
        vital (bool): Whether results depend on the listener. An exception in it then goes through to the program; else
            it is logged, and the listener dropped. Default: False.
        functions (Callable): By the names of the events; see above for their arguments.

    Returns:
        Listener.

    Raises:
        TypeError: If there is no such event, or what should be told of it cannot be called.
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
        for event in _places(functions):
            _assign(event, (*getattr(asked, event), listener))
    return listener


def _places(functions: dict[str, Callable[..., Any]]) -> Any:
    return dict.fromkeys(_WITH.get(event, event) for event in functions)


def when_asked(event: str, act: Callable[[bool], Any]) -> None:
    """Call `act(whether anybody listens to it)` whenever the first listener of `event` comes or the last one goes."""
    _asked_hooks.setdefault(event, []).append(act)


def _assign(event, listeners):
    before = bool(getattr(asked, event))
    setattr(asked, event, listeners)
    if before != bool(listeners):
        for act in _asked_hooks.get(event, ()):
            act(bool(listeners))


def tell(event: str, *args: Any) -> None:
    """Tell everybody who listens to `event`; who is busy does so only where ``asked.EVENT`` is not empty."""
    for listener in getattr(asked, event):
        listener.hear(event, args)


def complaint(name: str, when: str, problem: BaseException) -> str:
    """One sentence for the log about a tool that failed, and where."""
    frames = traceback.extract_tb(problem.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{name} failed when {when} and is told nothing more: {type(problem).__name__}: {problem}{place}"


# ---------------------------------------------------------------------- Cells and compiled functions
class Call:
    """One call of a Cell or a compiled function.

    Attributes:
        net (Union[Cell, Callable]): What was called.
        args (tuple), kwargs (dict): With what.
        step (Union[str, None]): Its part of the scope path; None for a function.
        traced (bool): Whether it is part of a trace: its Tensors then hold no values.
        around (Union[Call, None]): The call within which this one happens; None for an outermost one.
        out (object): What it returned; None before, and where it raised.
        error (Union[BaseException, None]): What it raised; only while `left` is told.
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
    """The innermost `Call` of this thread that somebody was told of; None outside of all."""
    return _here.call


def called(net: Any, step: str | None, run: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`run(net, args, kwargs)`, a call of `net`, with `entered` told before and `left` afterwards.

    Args:
        net (Union[Cell, Callable]): What is called.
        step (Union[str, None]): See `Call`.
        run (Callable): Does it.
        args (tuple): Positional arguments.
        kwargs (dict): Keyword arguments.
    """
    around = _here.call
    call = Call(net, args, kwargs, step, around)
    told = []
    try:
        _here.call = call
        for listener in asked.entered:
            told.append(listener)
            listener.hear("entered", (call,))
        call.out = run(net, args, kwargs)
        return call.out
    except BaseException as error:
        call.error = error
        raise
    finally:
        _here.call = around
        try:
            for listener in told:
                listener.hear("left", (call,))
        finally:
            call.error = None  # its traceback holds this frame
