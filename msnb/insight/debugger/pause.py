"""Pause a training at a step, so that the user can read the values of the step while the training waits.

The step has already run when it is paused. A pause blocks the training's thread inside the observer that received the
step. A cursor moves over the nodes of the step, and values are computed from the recorded inputs. A front end shows the
pause: a graph view with buttons in a notebook, or a prompt in a console.
"""

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from msnb import context, log
from msnb.core.errors.source_location import format_location, label
from msnb.core.program import extra_outputs
from msnb.core.program.program_cache import find
from msnb.core.state import events
from msnb.insight.debugger.cursor import Cursor
from msnb.insight.debugger.paused_step import Pause
from msnb.insight.debugger.prompt import run_prompt
from msnb.insight.debugger.replay import Replay
from msnb.insight.debugger.selection import select_nodes
from msnb.ir.api import of_program
from msnb.nn.cell import Cell
from msnb.nn.optim import Optimizer

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program
    from msnb.insight.watchpoints.hits import Hit
    from msnb.ir.anf import CNode, FuncGraph

_MOST = 8  # length of `records`


class FrontEnd(Protocol):
    """Interface that shows pauses to the user. A notebook sets `Debugger.front_end`."""

    def show(self, pause: Pause) -> bool:
        """Show a pause. Return True if its buttons work. If it returns False, the prompt asks for commands."""
        ...

    def has_resumed(self, pause: Pause) -> None:
        """Handle the event that the training continues."""

    def is_running(self, program: "Program") -> None:
        """Handle the event that a program is about to run and nothing has paused yet."""

    def has_ended(self) -> None:
        """Handle the event that the cell or the `with` block has ended."""


class Breakpoint(NamedTuple):
    """Nodes at which each step pauses.

    Attributes:
        query (str): a query of `select_nodes`; "" if the breakpoint is a line.
        line (int): number of a line of Python; 0 if the breakpoint is a query.
        file (str): the file of the line; "" for any file.
    """

    query: str = ""
    line: int = 0
    file: str = ""

    @property
    def title(self) -> str:
        """The breakpoint in words."""
        return f"'{self.query}'" if self.query else f"line {self.line}"

    def explain_no_match(self, graph: "FuncGraph") -> str:
        """Return the reason why a graph has no node for this breakpoint, as a sentence."""
        if not self.query:
            return f"No node of {graph.name} is at it, or behind it in this cell. For others: -b 'line:{self.line}'."
        try:
            select_nodes(graph, self.query)
        except ValueError as error:
            return str(error)
        return ""

    def resolve(self, graph: "FuncGraph") -> "tuple[CNode, str] | None":
        """Return (first node of a graph at the breakpoint, note), or None if there is no such node. The note says if
        the node is on a later line; it is "" for the same line.
        """
        if self.query:
            try:
                return select_nodes(graph, self.query)[0], ""
            except ValueError:
                return None
        lines = [(node, node.source[0], node.source[1]) for node in graph.all_nodes() if node.source is not None]
        own = [entry for entry in lines if self.file in (entry[1], label(entry[1]))]
        if self.file and not own:
            return None
        behind = [entry for entry in own or lines if entry[2] >= self.line]
        if not behind:
            return None
        node, file, nearest = min(behind, key=lambda entry: entry[2])
        if nearest == self.line:
            return node, ""
        return node, f"Line {self.line} has no node; the next one with nodes is {format_location(file, nearest)}."


class Debugger:
    """Pauses trainings, and gives access to the step of the last pause. Use it as ``msnb.debugger``.

    Attributes:
        breakpoints (list[Breakpoint]): nodes at which each step pauses.
        records (deque[Pause]): the last eight pauses that neither a front end nor a prompt could show.
        n_steps (int): steps that have run since `start`.
        front_end (Union[FrontEnd, None]): shows pauses; None for the prompt.
        watch (Union[Watch, None]): the active watchpoints; None before a network has run.

    Examples:
        >>> import msnb
        >>> msnb.debugger.start()
        >>> train_step(x, y)
        >>> logits = msnb.debugger.at("op:BiasAdd").value
        >>> msnb.debugger.stop()
    """

    def __init__(self) -> None:
        self.breakpoints: list[Breakpoint] = []
        self._unmatched: dict[Breakpoint, str] = {}  # breakpoints without a node so far, and the reason
        self.records: deque[Pause] = deque(maxlen=_MOST)
        self.n_steps: int = 0
        self.front_end: FrontEnd | None = None
        self._last: Pause | None = None
        self._listener: Any = None
        self._steps_left: int | None = None  # runs until the next pause
        self._due: tuple[Any, Any] | None = None  # (program, node and sentence of its breakpoint) of the next run
        self._calls: list[Any] = []  # (call, Parameters before or None) of the outermost calls in PYNATIVE mode
        self._graphs: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._is_waiting = False
        self._ends_with_pause = False
        self._make_watch: Callable[[Cell], Any] | None = None
        self.watch: Any = None

    # ------------------------------------------------------------------ the last pause
    @property
    def is_paused(self) -> bool:
        """True while a training waits."""
        return self._is_waiting

    @property
    def is_started(self) -> bool:
        """True between `start` and `stop`."""
        return self._listener is not None

    @property
    def paused(self) -> Pause:
        """The last pause, also after it has ended.

        Raises:
            ValueError: If nothing has paused yet.
        """
        if self._last is None:
            raise ValueError(
                "No step has been paused yet. Begin a cell with %%ms_debug, or call msnb.debugger.start()."
            )
        return self._last

    @property
    def cursor(self) -> Cursor:
        """The cursor of the last pause."""
        return self.paused.cursor

    def at(self, query: Any) -> Cursor:
        """Return a cursor at the first node that a query selects, in the step of the last pause.

        Args:
            query (Union[str, int, CNode]): words as in the search of the graph view, such as ``"conv2"``.
        """
        return self.cursor.at(query)

    def where(self) -> str:
        """Return the position of the cursor in words."""
        return self.cursor.where()

    # ------------------------------------------------------------------ when to pause
    def start(
        self,
        pauses_first: bool = True,
        breakpoints: Iterable[Breakpoint] = (),
        watch: Callable[[Cell], Any] | None = None,
    ) -> None:
        """Watch all steps from now on: runs of programs in GRAPH mode, outermost calls of Cells in PYNATIVE mode.

        Args:
            pauses_first (bool): True to pause at the first step. Default: True.
            breakpoints (Iterable[Breakpoint]): nodes at which each step pauses. Default: ().
            watch (Callable): returns the watchpoints of a network, as a context manager. It is called with the first
                Cell with Parameters that runs. Default: None.
        """
        self.stop()
        self.breakpoints = list(breakpoints)
        self._unmatched = dict.fromkeys(self.breakpoints, "")
        self._make_watch = watch
        self.n_steps = 0
        self._start_listening()
        if pauses_first:
            self.pause_next()

    def _start_listening(self):
        if self._listener is None:
            self._listener = events.listen(entered=self._on_call_begin, left=self._on_call_end, name="debugger")
            extra_outputs.add(self)

    def stop(self) -> None:
        """Stop watching steps. The last pause stays readable."""
        if self._steps_left is not None and not self.n_steps and self._listener is not None:
            log.warning(
                "%s",
                "debugger: nothing has paused, because neither a Cell nor a compiled function has run.",
            )
        self._steps_left = self._due = None
        for each, reason in self._unmatched.items():
            log.warning("%s", f"debugger: nothing has paused at {each.title}. {reason or 'No step has run.'}")
        self._unmatched = {}
        self.breakpoints = []
        self._calls.clear()
        self._ends_with_pause = False
        if self._make_watch is not None and self._listener is not None and self.watch is None:
            log.warning("%s", "debugger: no network with Parameters has run, so no watchpoint was checked.")
        self._make_watch = None
        watch, self.watch = self.watch, None
        if watch is not None:
            watch.__exit__(None, None, None)
        if self._listener is not None:
            self._listener.close()
            self._listener = None
            extra_outputs.remove(self)
            if self.front_end is not None:
                self.front_end.has_ended()

    def pause_next(self, n_steps: int = 1) -> None:
        """Pause at the next step, or at the n-th. It may be called from any thread."""
        self._steps_left = n_steps
        self._start_listening()

    # ------------------------------------------------------------------ steps in GRAPH mode
    def rewrite(self, program: "Program") -> Any:
        """Return the unchanged jaxpr of a program, so its inputs are recorded. Return None for the program of an
        optimizer, at which the debugger does not pause.
        """
        return None if isinstance(program.root(), Optimizer) else program.jaxpr

    def wants(self, program: "Program") -> bool:
        """Return True if the next run of a program has to pause."""
        if any(before is not None for _, before in self._calls):
            return False  # a compiled part of a step in PYNATIVE mode
        reason = self._find_reason_to_pause(lambda: self._get_program_graph(program))
        self._due = None if reason is None else (program, reason)
        if self._due is None and self.front_end is not None:
            self.front_end.is_running(program)
        return self._due is not None

    def receive(self, program: "Program", run: extra_outputs.Run) -> None:
        """Pause if `wants` has selected this run."""
        due, self._due = self._due, None
        if due is not None and due[0] is program:
            self._pause_at_step(program, run.inputs, due[1], run.call)

    def _get_program_graph(self, program):
        if program not in self._graphs:
            self._graphs[program] = of_program(program, program.name)
        return self._graphs[program]

    def _find_reason_to_pause(self, graph):
        """Count a step. Return (node, note) if it has to pause, else None."""
        self.n_steps += 1
        at = None
        if self.breakpoints:
            func_graph = graph()
            for each in self.breakpoints:
                match = each.resolve(func_graph)
                if match is not None:
                    self._unmatched.pop(each, None)
                    at = at or match
                elif each in self._unmatched:
                    self._unmatched[each] = self._unmatched[each] or each.explain_no_match(func_graph)
        if self._steps_left is not None:
            self._steps_left -= 1
            if self._steps_left <= 0:
                self._steps_left = None
                return at or (None, "")
        return at

    def _pause_at_step(self, program, inputs, reason, call=None):
        node, note = reason
        replay = Replay(program, self._get_program_graph(program), inputs, call)
        if not len(replay.graph):
            return
        self.pause(Pause(replay, (), self.n_steps, node, note))

    # ------------------------------------------------------------------ steps in PYNATIVE mode
    def _on_call_begin(self, call):
        if call.around is not None or call.traced or not isinstance(call.net, Cell) or isinstance(call.net, Optimizer):
            return
        if self._make_watch is not None and self.watch is None and any(True for _ in call.net.get_parameters()):
            self.watch = self._make_watch(call.net)
            self.watch.__enter__()
        if context.get_context("mode") == context.PYNATIVE_MODE:
            stored = {id(p): p._get_stored_array() for p in call.net.get_parameters()}
            self._calls.append((call, stored))

    def _on_call_end(self, call):
        if not self._calls or self._calls[-1][0] is not call:
            return
        _, before = self._calls.pop()
        if call.error is not None:
            return
        traced: list[Any] = []

        def trace():
            if not traced:
                traced.append(find(call.net, *call.net._graph_call(call.args, call.kwargs), for_inspection=True))
            return traced[0][0]

        try:
            reason = self._find_reason_to_pause(lambda: self._get_program_graph(trace()))
            if reason is None:
                return
            program = trace()
        except Exception as error:
            log.warning(
                "%s",
                f"The step of {type(call.net).__name__} is not paused: its values are computed by a GRAPH program, and "
                f"it can't be traced as one ({type(error).__name__}: {str(error).partition('. ')[0].rstrip('.')}).",
            )
            return
        if program.random:
            node, note = reason
            reason = node, f"{note} The step is random: in PYNATIVE mode its values have another random number.".strip()
        number = [0] if program.random else []
        stored = [before[id(p)] if id(p) in before else p._get_stored_array() for p in program.params]
        self._pause_at_step(program, [*stored, *number, *traced[0][1]], reason)

    # ------------------------------------------------------------------ pausing
    def pause(self, pause: Pause) -> None:
        """Show a pause and block until the user ends it.

        Raises:
            KeyboardInterrupt: If the user stops the training.
        """
        pause.namespace = _collect_user_variables()
        self._last = pause
        self._is_waiting = True
        front_end = self.front_end
        try:
            if front_end is not None and front_end.show(pause):
                pause.wait()
            elif pause.problem or not run_prompt(pause):
                self._store_unshown_pause(pause)
        finally:
            self._is_waiting = False
            pause.resume("stop")  # no effect unless an error has ended the wait
            if front_end is not None:
                front_end.has_resumed(pause)
        if pause.order == "stop":
            raise KeyboardInterrupt(f"The training was stopped at step {pause.step}." if pause.step else "")
        if pause.order == "step":
            self._ends_with_pause = self._listener is None or self._ends_with_pause
            self.pause_next(pause.n_steps)
        elif self._ends_with_pause:
            self.stop()  # the command "step" had started to watch steps, so stop watching them

    def _store_unshown_pause(self, pause):
        self.records.append(pause)
        if len(self.records) == 1:
            log.warning(
                "%s",
                f"debugger: nobody can be asked here ({pause.problem or 'no stdin'}), so the training goes on; "
                "msnb.debugger.records has the steps.",
            )
        pause.resume("continue")

    def __repr__(self) -> str:
        if self._last is None:
            return "Debugger(no pause yet)"
        return f"Debugger({'paused' if self.is_paused else 'ended'}: {self.where()})"


debugger = Debugger()


def pause(replay: Replay | None, hits: Sequence["Hit"] = (), step: int | None = None) -> None:
    """Pause a training at a step that has run, and block until the user continues.

    Args:
        replay (Union[Replay, None]): the step. None, or a step without nodes, is only logged and does not pause.
        hits (Sequence[Hit]): hits of watchpoints; the cursor starts at the node of the first.
        step (int): number of the step, from 1. Default: None.

    Raises:
        KeyboardInterrupt: If the user stops the training.
    """
    if replay is None or not len(replay.graph):
        listed = " ".join(hit.describe() for hit in hits)
        log.warning("%s", f"A step without a graph is not paused. {listed}".rstrip())
        return
    debugger.pause(Pause(replay, hits, step))


def _collect_user_variables():
    """Return {name: value} of the variables in the user's frame that runs the training. The prompt evaluates them."""
    frame = sys._getframe(2)
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] in ("msnb", "jax"):
        frame = frame.f_back
    return {} if frame is None else {**frame.f_globals, **frame.f_locals}
