"""`Watch`: conditions on the values of a training, checked in every step.

The alarm of a step is computed inside its program (`alarm`). After an alarm the step runs again on the same inputs, and
`exact_check` lists the hits in the order of execution.
"""

import dataclasses
import functools
import re
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from msnb import log
from msnb.core.program import extra_outputs
from msnb.core.program.program_cache import all_programs
from msnb.core.state import trace_state
from msnb.insight.debugger.replay import Replay, as_inputs, inputs_of_call
from msnb.insight.gradients.rows import is_real
from msnb.insight.watchpoints import bounds
from msnb.insight.watchpoints.alarm import Alarm
from msnb.insight.watchpoints.conditions import Watchpoint, as_watchpoints
from msnb.insight.watchpoints.eager_watch import EagerRun, EagerWatch
from msnb.insight.watchpoints.exact_check import ExactCheck, check_array, hits_of_outlier, make_hits
from msnb.insight.watchpoints.hits import Hit, HitTable
from msnb.insight.watchpoints.host_tests import ABOVE, RINGS, WEIGHT_RINGS
from msnb.insight.watchpoints.series import Series
from msnb.insight.watchpoints.watched_values import WatchedValues, watched_values, weights_of
from msnb.ir.api import name_of
from msnb.nn.cell import Cell
from msnb.train.callback import Callback

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program

_EVERY = 10  # steps between checks that read every value of all nodes
_MANY_NUMBERS = 4 << 20  # weights with more numbers are read in each tenth step, and so are their gradients
_LAG, _LAG_OF_LARGE = 2, 1  # number of steps by which an alarm may be read later
_BATCH, _BATCH_BYTES = 4, 16 << 20  # if a hit does not stop the training, alarms are read in batches of steps
# An alarm is read later only if written Parameters and tested values have at most so many bytes: `_LAG` steps later
# up to the first number, `_LAG_OF_LARGE` steps later up to the second one.
_LAG_BYTES, _LAG_BYTES_OF_LARGE = 64 << 20, 512 << 20
_MAX_HITS = 10_000
_FALSE_ALARMS = 3  # number of false alarms of bounds after which a program is tested without bounds
_STORED_STEPS, _STORED_BYTES = 8, 256 << 20  # limits of the steps with hits that `recheck` reads, and of their bytes


class WatchpointHit(extra_outputs.Halt):
    """Raised at a hit of a watch with ``at="raise"``, or if the function of `at` fails.

    Attributes:
        hits (list[Hit]): the hits of the step.
    """

    def __init__(self, hits: Sequence[Hit], note: str = "") -> None:
        self.hits: list[Hit] = list(hits)
        more = f" {len(self.hits) - 1} more hits in this step." if len(self.hits) > 1 else ""
        super().__init__(f"{self.hits[0].describe()}{more}{note}")


class NoNodeError(extra_outputs.Halt, ValueError):
    """Raised if no node of a watched training matches the query of a watch."""


@dataclasses.dataclass(eq=False)
class _Run:
    """One checked run.

    Attributes:
        step (int): number of the step.
        program (Program): the program that ran.
        call (int): number of the run among the calls of the program.
        inputs (list): its inputs.
        outputs (list): its outputs.
        verdicts (list): the alarms, see `Alarm`; empty once they are read.
        series (list): values of the series; empty once they are read.
        values (list): values of nodes that the host tests; empty once they are read.
        group (_Group): the watchpoints that are checked.
        has_new_inputs (bool): True if the array of a written Parameter is not the output of the previous run.
    """

    step: int
    program: Any
    call: int
    inputs: list[Any]
    outputs: list[Any]
    verdicts: list[Any]
    series: list[Any]
    values: list[Any]
    group: Any
    has_new_inputs: bool = False

    def arrays_before(self) -> dict[Any, Any]:
        """Return {Parameter: array before the run} of the written Parameters."""
        positions = {id(p): index for index, p in enumerate(self.program.params)}
        return {p: self.inputs[positions[id(p)]] for p in self.program.written if id(p) in positions}


class Watch(Callback):
    """Checks conditions in the steps of a training; see `msnb.watch`.

    Attributes:
        hits (list[Hit]): the hits, in the order of execution.
        notes (list[str]): sentences about conditions and values that are not checked.
        problem (str): the reason why watching has ended early; "" if it has not.
    """

    def __init__(
        self,
        net: Cell,
        watchpoints: Iterable[Any] = (),
        nodes: Any = None,
        every: int | None = None,
        at: str | Callable[[Hit], Any] = "record",
    ) -> None:
        super().__init__()
        self.net: Cell = net
        self.watchpoints: list[Watchpoint] = as_watchpoints(watchpoints)
        self.nodes: Any = nodes
        self.at: Any = at
        self.problem: str = ""
        self._hits: list[Hit] = []
        self._n_dropped = 0
        self._notes: dict[str, None] = {}
        self._own = {id(p) for p in net.get_parameters()}
        self._weights = weights_of(net)
        self._values: weakref.WeakKeyDictionary[Any, WatchedValues] = weakref.WeakKeyDictionary()
        self._selections: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._replays: dict[int, tuple[Any, Replay]] = {}
        self._groups = self._group_by_interval(every)
        self._eager = EagerWatch(weakref.proxy(self))
        self._eager_series = Series()
        self._pending: list[Any] = []  # runs whose alarm was not read yet
        self._stored_runs: list[Any] = []  # steps with hits
        self._last: Any = None
        self._last_eager: EagerRun | None = None
        self._step, self._is_new_step = 0, True
        self._eager_step = -1  # last step that ran operator by operator
        self._has_trained = False
        self._moved: set[str] = set()  # weights that a program writes
        self._query_error: ValueError | None = None
        self._initial_hits: list[Hit] = []
        self._unmoved: dict[Any, tuple[Any, Any]] = {}  # (watchpoint, weight) -> its array, the verdict
        self._on = 0

    def _group_by_interval(self, every):
        """Return the watchpoints by how often they are checked."""
        by_every: dict[int, list[Watchpoint]] = {}
        n_numbers = sum(parameter.size for parameter in self._weights.values())
        for watchpoint in self.watchpoints:
            condition = watchpoint.condition
            reads_all = self.nodes is None and (
                condition.reads_all or n_numbers > _MANY_NUMBERS and condition.reads_all_weights
            )
            interval = every or (_EVERY if reads_all else 1)
            by_every.setdefault(interval, []).append(watchpoint)
            if not every and reads_all:
                read = "every value" if condition.reads_all else f"all {n_numbers:,} numbers of the weights"
                self._notes[
                    f"{condition.id} reads {read}: it is checked in each {_EVERY}th step. "
                    "`every=1` or `nodes=` checks it in each."
                ] = None
        intervals = sorted(by_every)
        return [_Group(self, by_every[interval], interval, interval == intervals[0]) for interval in intervals]

    # ------------------------------------------------------------------ on and off
    def __enter__(self) -> Self:
        self._on += 1
        if self._on == 1:
            self._check_initialization()
            for group in self._groups:
                extra_outputs.add(group)
            if self._eager.is_needed:
                self._eager.listen()
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self._on -= 1
        if self._on:
            return
        for group in self._groups:
            extra_outputs.remove(group)
        self._eager.close()
        self._read_last_alarms(is_failing=error is not None)

    def _read_last_alarms(self, is_failing):
        """Read the last alarms. Log a warning if nothing was checked."""
        try:
            self._read_pending_runs(0)
        except extra_outputs.Halt:
            if not is_failing:
                raise
        if is_failing:
            return
        if not self._step:
            log.warning("%s", f"watch: {name_of(self.net)} has not run, so nothing was checked.")
        elif self._query_error is not None and not len(self._selections) and not self._eager.has_selected:
            raise self._query_error

    def step_end(self, run_context: Any) -> None:
        """Do nothing. The programs of a step report to the watch, and `Model.train` only enters and leaves it."""

    def _check_initialization(self):
        """Check the weights before the first step."""
        watchpoints = [w for w in self.watchpoints if w.condition.id == "weight_initialization"]
        if not watchpoints:
            return
        own = {id(p) for p in self._weights.values()}
        if any(program.calls and any(id(p) in own for p in program.written) for program in all_programs()):
            self._warn_once("weight_initialization is skipped: the training has begun before the watch.")
            return
        with trace_state.donation_lock.lock:
            arrays = {name: np.asarray(p._get_stored_array()) for name, p in self._weights.items()}
        for watchpoint in watchpoints:
            for name, array in arrays.items():
                verdict = check_array(watchpoint, array)
                self._initial_hits += make_hits(
                    watchpoint, verdict, 1, None, 0, "weight", name, name_of(self.net), order=-1
                )

    def _warn_once(self, text):
        if text not in self._notes:
            self._notes[text] = None
            log.warning("%s", f"watch: {text}")

    # ------------------------------------------------------------------ programs
    def values_of(self, program: "Program") -> WatchedValues:
        """Return the values of a program that can be watched."""
        if program not in self._values:
            values = watched_values(program, self._weights)
            self._values[program] = values
            self._moved.update(name for name, (_, output) in values.weights.items() if output is not None)
        return self._values[program]

    def reads(self, program: "Program") -> bool:
        """Return True if a program reads a Parameter of the network, or calls it."""
        return any(id(p) in self._own for p in program.params) or any(cell is self.net for cell in program.cells)

    def selection_of(self, program: "Program") -> Any:
        """Return the numbers of the watched nodes of a program: None for all, an empty set for none.

        Raises:
            NoNodeError: If no node of a program that takes a gradient matches.
        """
        if self.nodes is None:
            return None
        if program not in self._selections:
            values = self.values_of(program)
            try:
                self._selections[program] = values.select(self.nodes)
            except ValueError as error:
                self._query_error = error
                if values.gradients:
                    raise NoNodeError(str(error)) from None
                return frozenset()
        return self._selections[program]

    @property
    def itself(self) -> Self:
        """Return the watch. The holder of a weak proxy gets a strong reference in this way."""
        return self

    def upcoming_step(self) -> int:
        """Return the number of the step that the next run belongs to."""
        return self._step + self._is_new_step

    def count_run(self, program: "Program") -> None:
        """Count a run. A step ends with an update; before the first update each run is a step."""
        self._step, self._is_new_step = self.upcoming_step(), False
        values = self.values_of(program)
        self._has_trained = self._has_trained or values.trains or bool(values.gradients)
        self._is_new_step = values.trains or not self._has_trained

    # ------------------------------------------------------------------ PYNATIVE mode
    @functools.cached_property
    def cell_paths(self) -> frozenset[str]:
        """The attribute paths of the Cells of the network in lower case, as in queries of nodes."""
        names = (name for name, _ in self.net.cells_and_names())
        return frozenset(re.sub(r"^((network|_backbone|_network)(\.|$))+", "", name).lower() for name in names) - {""}

    def is_own(self, name: str) -> bool:
        """Return True if a Parameter is a weight of the network."""
        return name in self._weights

    def active_watchpoints(self, step: int) -> list[Watchpoint]:
        """Return the watchpoints that are checked in a step."""
        return [w for group in self._groups if (step - 1) % group.every == 0 for w in group.watchpoints]

    def begin_eager_step(self) -> int:
        """Return the number of a step that runs operator by operator; its optimizer ends it."""
        if self._step == self._eager_step:  # no optimizer has ended the previous step
            self._is_new_step = True
        self._step, self._is_new_step = self.upcoming_step(), False
        self._eager_step = self._step
        return self._step

    def add_eager_run(self, run: EagerRun) -> None:
        """Add a checked step; its alarm is read now or a step later."""
        self._has_trained = self._has_trained or any(value.name is not None for value in run.values)
        self._pending.append(run)
        may_lag = self.at == "record" and run.nbytes <= _LAG_BYTES
        self._read_pending_runs(1 if may_lag else 0)

    def _read_eager_run(self, run):
        hits, self._initial_hits = self._initial_hits, []
        if positions := run.positions_with_alarm():
            hits += run.hits(self.active_watchpoints(run.step), positions)
        hits += run.read_series(self._eager_series)
        hits = [hit if hit.kind == "weight" else dataclasses.replace(hit, node=None) for hit in hits]
        run.verdicts, run.on_host = [], []
        self._last = self._last_eager = run
        if hits:
            self._store_run(run)
            self.report(hits, run)

    # ------------------------------------------------------------------ reading
    def dropped(self, why: str) -> None:
        """Store the reason why watching has ended."""
        self.problem = why

    def add_run(self, run: _Run) -> None:
        """Add a checked run; its alarm is read now or a few steps later."""
        self._pending.append(run)
        lag = self._compute_lag(run)
        if lag and self.at == "record" and run.group.alarms[run.program].bytes_per_run <= _BATCH_BYTES:
            if self._step - self._pending[0].step < _BATCH:
                return
        self._read_pending_runs(lag)

    def _compute_lag(self, run):
        """Return the number of steps after which the alarm of a run is read."""
        if self.at not in ("record", "raise"):
            return 0
        if self.at == "raise" and any(group.every > 1 for group in self._groups):
            return 0  # runs that are not checked overwrite the Parameters
        nbytes = run.group.alarms[run.program].bytes_per_run
        return _LAG if nbytes <= _LAG_BYTES else _LAG_OF_LARGE if nbytes <= _LAG_BYTES_OF_LARGE else 0

    def _read_pending_runs(self, lag):
        while self._pending and self._step - self._pending[0].step >= lag:
            self._read_run_alarm(self._pending.pop(0))

    def _read_run_alarm(self, run):
        if isinstance(run, EagerRun):
            self._read_eager_run(run)
            return
        hits = self._pop_initial_hits(run) if self._initial_hits else []
        verdict = ABOVE if run.has_new_inputs and self._exceeds_bounds_before_run(run) else 0
        for array in run.verdicts:
            verdict |= int(np.asarray(array))
        verdict |= self._test_on_host(run)
        if verdict:
            group = run.group
            exact = self._check_exactly(
                run, group.single_step if verdict != WEIGHT_RINGS else group.of_weights, run.step
            )
            if verdict == ABOVE and not exact:
                self._count_false_alarm(run)
            hits += exact
        if run.series:
            hits += run.group.read_series(run)
        if run.group.watches_weights:
            hits += self._check_unwritten_weights(run, run.group.watchpoints, self.selection_of(run.program))
        run.verdicts, run.series, run.values = [], [], []
        self._last = run
        if hits:
            self._store_run(run)
            self.report(sorted(hits, key=lambda hit: hit.order), run)

    def _exceeds_bounds_before_run(self, run):
        """Return True if a Parameter that the program writes was above its bound before the run."""
        alarm = run.group.alarms[run.program]
        if not alarm.bounded["written"]:
            return False
        with np.errstate(invalid="ignore"):
            return any(
                not np.abs(np.asarray(array).astype(np.float64)).max(initial=0.0) < 2.0**bounds.WEIGHT
                for p, array in run.arrays_before().items()
                if is_real(array.dtype)
            )

    def _test_on_host(self, run):
        """Return the alarm of the inputs, outputs and values that the host tests."""
        alarm = run.group.alarms[run.program]
        try:
            return alarm.test_on_host(run.inputs, run.outputs, run.values)
        except RuntimeError:
            if any(getattr(array, "is_deleted", bool)() for array in [*run.inputs, *run.outputs]):
                return RINGS  # the exact check reports the overwritten arrays
            raise

    def _count_false_alarm(self, run):
        """Count an alarm without a hit. After a few, test the program for NaN and infinities and not for bounds."""
        alarm = run.group.alarms[run.program]
        alarm.n_false += 1
        if alarm.n_false == _FALSE_ALARMS and self._on:
            group = run.group.without_bounds(run.program)
            self._groups = [group if other is run.group else other for other in self._groups]
            extra_outputs.remove(run.group)
            extra_outputs.add(group)

    def _store_run(self, run):
        """Store the inputs of a step with hits, for `recheck` and `view`, and drop the oldest steps."""
        if run not in self._stored_runs:
            self._stored_runs.append(run)
        stored = self._stored_runs
        while len(stored) > 1 and (len(stored) > _STORED_STEPS or _count_stored_bytes(stored) > _STORED_BYTES):
            del stored[0]

    def _pop_initial_hits(self, run):
        hits, self._initial_hits = self._initial_hits, []
        readers = self.values_of(run.program).readers
        return [
            dataclasses.replace(hit, node=node.id, op=node.op, source=node.source)
            if (node := readers.get(hit.name)) is not None
            else hit
            for hit in hits
        ]

    def _check_exactly(self, run, watchpoints, step):
        check = ExactCheck(self.replay_of(run), self.values_of(run.program), step, run.outputs)
        try:
            return check.hits(watchpoints, self.selection_of(run.program))
        except RuntimeError:  # an input was overwritten since
            if any(getattr(array, "is_deleted", bool)() for array in run.inputs):
                self._warn_once(f"step {step} had an alarm, but its inputs were overwritten before it was checked.")
                return []
            raise

    def _check_unwritten_weights(self, run, watchpoints, selection):
        """Return hits of weights that no program writes. Once a program trains, only training steps check them."""
        values = self.values_of(run.program)
        if values.gradients and not values.trains or self._has_trained and not values.trains:
            return []
        names = values.keys_of("weight", (), selection)
        names += [name for name in self._weights if selection is None and name not in values.weights]
        names = [name for name in names if name not in self._moved]
        hits = []
        for watchpoint in watchpoints if names else ():
            condition = watchpoint.condition
            if condition.target != "weight" or condition.id == "weight_initialization":
                continue
            if condition.needs_previous and not values.trains and run.step > 1:
                continue  # reported at the first run
            for name in names:
                place, _ = values.weights.get(name, (None, None))
                array = run.inputs[place] if place is not None else self._weights[name]._get_stored_array()
                verdict = self._check_unwritten_weight(watchpoint, name, array, values.trains)
                node, root = values.readers.get(name), values.graph.name
                hits += make_hits(watchpoint, verdict, run.step, node, 0, "weight", name, root, order=1 << 40)
        return hits

    def _check_unwritten_weight(self, watchpoint, name, array, has_previous):
        """Check a weight whose array has not changed since the previous step. Each array is checked once."""
        key = id(watchpoint), name
        last, verdict = self._unmoved.get(key, (None, None))
        if last is not array or verdict is None:
            verdict = check_array(watchpoint, array, array if has_previous else None)
            self._unmoved[key] = array, verdict
        return verdict

    def replay_of(self, run: Any) -> Replay:
        """Return the replay of a checked run. A step in PYNATIVE mode is traced for it.

        Raises:
            ValueError: If it was a step in PYNATIVE mode outside of a Cell, or its Parameters were overwritten.
        """
        key = id(run)
        if key not in self._replays or self._replays[key][0] is not run:
            if len(self._replays) >= 4:
                self._replays.pop(next(iter(self._replays)))
            is_recorded = isinstance(run, _Run)
            program, inputs = (run.program, run.inputs) if is_recorded else _trace_step(run)
            call = run.call if is_recorded else None
            replay = Replay(program, self.values_of(program).graph, as_inputs(program, inputs), call)
            self._replays[key] = run, replay
        return self._replays[key][1]

    def report(self, hits: list[Hit], run: _Run | None) -> None:
        """Add the hits of one step. Then raise an error, pause or call a function as `at` requests."""
        room = _MAX_HITS - len(self._hits)
        self._hits += hits[:room]
        self._n_dropped += max(0, len(hits) - room)
        real = [hit for hit in hits if hit.is_checked]
        if not real:
            return
        if self.at == "raise":
            self._raise_hit(real, run)
        elif self.at == "pause":
            self._pause_training(hits, run)
        elif callable(self.at):
            for hit in real:
                self._call_hit_handler(hit)

    def _call_hit_handler(self, hit):
        try:
            self.at(hit)
        except extra_outputs.Halt:
            raise
        except Exception as error:
            raise WatchpointHit([hit], f" The function of 'at' failed: {type(error).__name__}: {error}") from error

    def _raise_hit(self, hits, run):
        note = ""
        if run is not None and self._pending:
            note = self._restore_parameters(run)
        self._pending.clear()
        raise WatchpointHit(hits, note)

    def _restore_parameters(self, run):
        """Set the written Parameters to their values after the step of a hit; later steps have run since."""
        if isinstance(run, EagerRun):
            return ""  # the alarm of this run is read before the optimizer runs
        later = {entry.step for entry in self._pending}
        written = {}
        for entry in reversed([entry for entry in self._pending if isinstance(entry, _Run)]):
            written |= entry.arrays_before()
        written.update(zip(run.program.written, run.outputs[run.program.n_results :], strict=True))
        if any(getattr(array, "is_deleted", bool)() for array in written.values()):
            return f" {len(later)} more steps have run since; the Parameters are those after them."
        for parameter, array in written.items():
            parameter._rebind_array(array)
        return f" Its Parameters are those after step {run.step}, although {len(later)} more steps have run."

    def _pause_training(self, hits, run):
        try:
            from msnb.insight.debugger.pause import pause  # imported here, because most watches do not pause

            replay, hits = self.replay_of(run), self.on_graph(hits, run)
        except (ImportError, ValueError) as problem:  # a step that has no graph
            self._warn_once(f"at='pause' raises here: {problem}")
            self._raise_hit([hit for hit in hits if hit.is_checked], run)
        pause(replay, hits, hits[0].step)

    def on_graph(self, hits: Iterable[Hit], run: Any) -> list[Hit]:
        """Return hits of a run with the numbers of their nodes in its graph. In PYNATIVE mode a step is traced for it.

        Raises:
            ValueError: If the run has no graph.
        """
        if isinstance(run, _Run):
            return list(hits)
        numbers = run.nodes_in(self.replay_of(run).graph)
        return [
            dataclasses.replace(hit, node=numbers[hit.order])
            if hit.node is None and hit.kind != "weight" and hit.order in numbers
            else hit
            for hit in hits
        ]

    def cause(self, hit: Hit) -> list[Any]:
        """Return the path from the first value that is out of its range to the node of a hit.

        Args:
            hit (Hit): one of `hits`.

        Returns:
            list[CNode], from the cause to the node of the hit.

        Raises:
            ValueError: If the inputs of the hit's step are not stored any more.
        """
        from msnb.insight.debugger.why import cause_of  # imported here, because most watches do not need it

        run = self.stored_run(hit.step)
        return cause_of(self.on_graph([hit], run)[0], self.replay_of(run))

    # ------------------------------------------------------------------ results
    @property
    def hits(self) -> list[Hit]:
        """The hits, in the order of execution."""
        if not self._on:
            return list(self._hits)
        self._read_pending_runs(0)
        return list(self._hits)

    @property
    def notes(self) -> list[str]:
        """Sentences about conditions and values that are not checked."""
        notes = list(self._notes)
        if self._n_dropped:
            notes.append(f"{self._n_dropped} more hits were dropped; {_MAX_HITS} are stored.")
        if self.problem:
            notes.append(self.problem)
        skipped = max((values.n_not_real for values in self._values.values()), default=0)
        if skipped:
            results = (
                "1 result without real numbers is" if skipped == 1 else f"{skipped} results without real numbers are"
            )
            notes.append(f"{results} not checked.")
        missed = sorted({name for group in self._groups for alarm in group.alarms.values() for name in alarm.missed})
        if missed:
            notes.append(f"{len(missed)} nodes in the condition of a loop can't be watched.")
        return notes

    def table(self) -> HitTable:
        """Return the hits as a table, which is displayed as text or as HTML."""
        return HitTable(self.hits, self.notes)

    def recheck(self, *conditions: Any, nodes: Any = None) -> HitTable:
        """Check other conditions in the last step and in the last steps with hits, without running the training.

        Args:
            conditions (Union[str, tuple, Callable]): as for `msnb.watch`.
            nodes (Union[str, int, list]): query of the nodes. Default: None, all nodes.

        Returns:
            HitTable.

        Raises:
            ValueError: If no step has run, a condition is unknown, or no node matches.
        """
        self._read_pending_runs(0)
        runs = {id(run): run for run in [*self._stored_runs, *([self._last] if self._last is not None else [])]}
        if not runs:
            raise ValueError("No step has run inside the watch, so there is nothing to check again.")
        hits, notes = [], []
        watchpoints = []
        for watchpoint in as_watchpoints(conditions):
            if watchpoint.condition.id == "weight_initialization":
                notes.append("weight_initialization is skipped: it is for the weights before the first step.")
            elif watchpoint.band is not None or watchpoint.condition.id == "dead":
                notes.append(f"{watchpoint.title} is skipped: it needs many steps one after another.")
            else:
                watchpoints.append(watchpoint)
        for run in sorted(runs.values(), key=lambda run: run.step):
            if isinstance(run, EagerRun):
                hits += run.hits(watchpoints)
                continue
            values = self.values_of(run.program)
            check = ExactCheck(self.replay_of(run), values, run.step, run.outputs)
            selection = values.select(nodes)
            hits += check.hits(watchpoints, selection)
            hits += self._check_unwritten_weights(run, watchpoints, selection)
        steps = sorted({run.step for run in runs.values()})
        listed = f"step {steps[0]}" if len(steps) == 1 else f"steps {', '.join(map(str, steps))}"
        return HitTable(hits, [f"Checked: {listed}.", *notes])

    def stored_run(self, step: int | None = None) -> Any:
        """Return the stored run of `step`. Without `step`, return the first run with hits, or the last run if none has
        hits.

        Raises:
            ValueError: If the inputs of that step are not stored, or nothing has run.
        """
        self._read_pending_runs(0)
        eager, last = self._last_eager, self._last
        if eager is not None and last is not None and eager.step == last.step and eager.has_graph:
            last = eager  # the other one is the update alone
        runs = [*self._stored_runs, *([last] if last is not None else [])]
        if not runs:
            raise ValueError("No step has run inside the watch.")
        for run in runs:
            if step is None or run.step == step:
                return run
        steps = ", ".join(map(str, sorted({run.step for run in runs})))
        raise ValueError(f"The inputs of step {step} are not stored; those of {steps} are.")

    def __repr__(self) -> str:
        count = len(self._hits)
        steps = sorted({hit.step for hit in self._hits})
        if count:
            where = f"step {steps[0]}" if len(steps) == 1 else f"steps {steps[0]} to {steps[-1]}"
            summary = f"{count} hit{'s' if count > 1 else ''} in {where}"
        else:
            summary = "no hits"
        return f"Watch({name_of(self.net)}: {summary}, {self._step} steps)"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


class _Group:
    """The watchpoints that are checked at the same steps: an observer of programs."""

    def __init__(self, watch: Watch, watchpoints: list[Watchpoint], every: int, is_leader: bool) -> None:
        self.is_leader: bool = is_leader  # True if this group counts the steps
        self.watch, self.watchpoints, self.every = weakref.proxy(watch), watchpoints, every
        self.single_step = [
            w for w in watchpoints if w.band is None and w.condition.id not in ("dead", "weight_initialization")
        ]
        self.of_weights = [w for w in self.single_step if w.condition.target == "weight"]
        self.watches_weights: bool = any(w.condition.target == "weight" for w in watchpoints)
        self.alarms: weakref.WeakKeyDictionary[Any, Alarm] = weakref.WeakKeyDictionary()
        self._unbounded: weakref.WeakSet[Any] = weakref.WeakSet()  # programs that are tested without bounds
        self._last_outputs: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
        self.series: Series = Series()
        if every > 1:
            self.wants = self._wants_run

    def rewrite(self, program: "Program") -> Any:
        """Return a program with its alarm; None for one that does not belong to the network."""
        if not self.watch.reads(program):
            return None
        if program not in self.alarms:
            selection = self.watch.selection_of(program)
            values, is_bounded = self.watch.values_of(program), program not in self._unbounded
            # a program that is observed in each run does not overwrite its arrays
            is_observed = any(group.every == 1 for group in self.watch._groups)
            self.alarms[program] = Alarm(program, values, self.watchpoints, selection, is_bounded, is_observed)
        jaxpr = self.alarms[program].jaxpr
        # without an alarm the runs are still counted
        return jaxpr if jaxpr is not None else program.jaxpr if self.is_leader else None

    def _wants_run(self, program):
        number = self.watch.upcoming_step()
        if self.is_leader:
            self.watch.count_run(program)
        return (number - 1) % self.every == 0

    def receive(self, program: "Program", run: extra_outputs.Run) -> None:
        """Add a run to the watch."""
        if self.is_leader and self.every == 1:
            self.watch.count_run(program)
        if (self.watch._step - 1) % self.every:
            return
        alarm = self.alarms[program]
        tested = alarm.test_run(run)
        entry = _Run(self.watch._step, program, run.call, run.inputs, run.outputs, *tested, self)
        written = run.outputs[program.n_results :]
        last = self._last_outputs.get(program) or [None] * len(written)
        before = [None if i is None else run.inputs[i] for i in alarm.written_inputs]
        entry.has_new_inputs = any(a is not None and a is not b for a, b in zip(before, last, strict=True))
        self._last_outputs[program] = written
        self.watch.add_run(entry)

    def without_bounds(self, program: "Program") -> "_Group":
        """Return a copy of the group that tests a program for NaN and infinities."""
        group = _Group(self.watch.itself, self.watchpoints, self.every, self.is_leader)
        group._unbounded, group.series = self._unbounded, self.series
        group._unbounded.add(program)
        group.alarms.update((other, alarm) for other, alarm in self.alarms.items() if other is not program)
        return group

    def dropped(self, why: str) -> None:
        """Store the reason why watching has ended."""
        self.watch.problem = why

    def read_series(self, run: _Run) -> list[Hit]:
        """Return hits of bands and dead units, which compare several steps."""
        values = self.watch.values_of(run.program)
        names = {key: name for name, key in values.gradients.items()}
        names |= {("output", output): name for name, (_, output) in values.weights.items() if output is not None}
        hits = []
        for (watchpoint, keys), array in zip(self.alarms[run.program].all_series, run.series, strict=True):
            numbers = [array] if watchpoint.condition.id == "dead" else np.asarray(array)
            for key, number in zip(keys, numbers, strict=True):
                outlier = self.series.add(watchpoint, (run.program.name, key), number)
                if outlier is None:
                    continue
                target = watchpoint.condition.target
                name = names.get(key) if target in ("weight", "gradient") else None
                node = values.nodes[key[0]] if key[0] != "output" else values.readers.get(name)
                place = values.readers.get(name) if name is not None else None
                order = key[0] if key[0] != "output" else 1 << 40
                slot = 0 if key[0] == "output" else key[1]
                root = values.graph.name
                hits += hits_of_outlier(
                    watchpoint, outlier, run.step, node, slot, target, name, root, None, order, place
                )
        return hits


def _count_stored_bytes(runs):
    """Return the bytes of the arrays of runs. An array of several runs counts once."""
    arrays = {}
    for run in runs:
        if isinstance(run, EagerRun):
            own = [*(value.array for value in run.values), *run.parameters.values()]
        else:
            own = [*run.inputs, *run.outputs]
        arrays |= {id(array): array for array in own if hasattr(array, "nbytes")}
    return sum(array.nbytes for array in arrays.values() if not getattr(array, "is_deleted", bool)())


def _trace_step(run):
    """Trace a step of PYNATIVE mode and return (program, inputs), with the Parameters before its update."""
    call = run.call
    if call is None or not isinstance(call.net, Cell):
        raise ValueError(
            f"Step {run.step} ran in PYNATIVE mode and outside of a Cell, so it has no graph. Put the step into a "
            "Cell, such as nn.TrainOneStepCell, or use GRAPH mode."
        )
    if any(getattr(array, "is_deleted", bool)() for array in run.parameters.values()):
        raise ValueError(
            f"Step {run.step} ran in PYNATIVE mode, and a later step has overwritten its Parameters, so its values "
            "can't be computed any more. A watch with every=1 keeps them."
        )
    return inputs_of_call(call.net, call.args, call.kwargs, run.parameters)
