"""Write the operators of the steps that run while a dump is on.

To write tensors, the recorder stores the inputs of a step. A thread computes the values again and writes them, so the
step itself has no extra work. To write statistics only, the step returns them, or the values, as extra outputs, see
`step_values`. The training waits while two steps are unwritten.
"""

import atexit
import csv
import dataclasses
import difflib
import functools
import io
import itertools
import json
import os
import queue
import threading
import time
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb import context, log
from msnb._util.atomic_file import writing
from msnb.core.program import extra_outputs
from msnb.core.state import events
from msnb.insight.debugger.replay import as_inputs
from msnb.insight.dump import file_names, targets
from msnb.insight.dump.config import VARIABLE, DumpConfig, read_config
from msnb.insight.dump.file_names import TensorName
from msnb.insight.dump.statistics import COLUMNS, compute_statistics, format_statistics
from msnb.insight.dump.step_values import StepReplay, StepStatistics
from msnb.insight.dump.tensors import DumpedTensors, Value, list_tensors
from msnb.ir.api import of_program
from msnb.ir.printer import to_text
from msnb.nn.cell import Cell

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program
    from msnb.ir.anf import FuncGraph

_QUEUED = 2  # maximum number of recorded steps that are not written yet
_HEAD = ("Op Type", "Op Name", "Task ID", "Stream ID", "Timestamp", "IO", "Slot", "Data Size", "Data Type", "Shape")


# the running recorder; this reference keeps it alive, because programs refer to it weakly
_active: "list[Recorder]" = []


def follow_context() -> None:
    """Start or end the dump as ``set_context(enable_dump=...)`` or the variable ``MINDSPORE_DUMP_CONFIG`` requests.

    The variable names a file with settings. Without the variable, all values are written to ``save_dump_path`` with the
    file names of r1.1. Operators of PYNATIVE mode are not written. The first call of a Cell in that mode logs a
    warning.

    Raises:
        ValueError: If the file is invalid.
    """
    _close_all_recorders()
    path = os.environ.get(VARIABLE, "").strip()
    config = read_config(path) if path else None
    if not path and context.get_context("enable_dump"):
        config = DumpConfig(Path(context.get_context("save_dump_path")).absolute(), is_r1=True)
    if config is None:
        return
    rank = int(os.environ.get("RANK_ID", "").strip() or 0)
    if config.devices is not None and rank not in config.devices:
        return
    _active.append(Recorder(config, rank).start())
    _notice.follow_mode()


@atexit.register
def _close_all_recorders():
    while _active:
        _active.pop().close()
    _notice.follow_mode()


class _PynativeNotice:
    """Warns once, when the first Cell runs in PYNATIVE mode, that a dump has no operators of that mode."""

    def __init__(self) -> None:
        self._listener: events.Listener | None = None
        self._is_given = False

    def follow_mode(self) -> None:
        """Listen for calls while a dump is on in PYNATIVE mode, until the first one."""
        is_expected = _active and context.get_context("mode") == context.PYNATIVE_MODE and not self._is_given
        if is_expected and self._listener is None:
            self._listener = events.listen(entered=self._warn_about_pynative_mode, name="dump")
        elif not is_expected and self._listener is not None:
            self._listener.close()
            self._listener = None

    def _warn_about_pynative_mode(self, call):
        if self._is_given or call.traced or not isinstance(call.net, Cell) or call.net._compile_always:
            return
        self._is_given = True
        self.follow_mode()
        log.warning(
            "A dump has the programs of GRAPH mode and of `jit`. Operators of PYNATIVE mode are not written; "
            "`msnb.timeline` records such steps."
        )


_notice = _PynativeNotice()
context.on_change("mode", lambda _: _notice.follow_mode())


class Recorder:
    """Writes the steps of all networks in GRAPH mode between `start` and `close`.

    Args:
        config (DumpConfig): the settings.
        rank (int): number of this process, which names its folder. Default: 0.

    Attributes:
        nbytes (int): bytes that have been written.
        problem (str): the reason why the dump has ended early; "" if it has not.
    """

    def __init__(self, config: DumpConfig, rank: int = 0) -> None:
        self.nbytes: int = 0
        self.problem: str = ""
        self._config = config
        self._root = config.path if config.is_r1 else config.path / f"rank_{rank}"
        self._rank = rank
        self._counts: weakref.WeakKeyDictionary[Any, itertools.count[int]] = weakref.WeakKeyDictionary()
        self._all_runs = itertools.count()
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._next_number = itertools.count()
        self._plans: weakref.WeakKeyDictionary[Any, _Plan] = weakref.WeakKeyDictionary()
        self._planning = threading.Lock()  # only one thread at a time makes a plan
        self._observer: _Observer | None = None
        self._last_stamp = 0  # microseconds since 1970, of the last tensor
        self._files = itertools.count()
        self._long_names: dict[str, str] = {}  # file name -> the name that is too long, for the current step
        self._missing: set[str] = set(config.kernels)  # entries of `kernels` that have matched no operator yet
        self._known_names: set[str] = set()  # names and types of operators, to suggest in place of `_missing`
        self._begun = threading.local()  # `iteration` is the number of the thread's current run
        self._lock = threading.Lock()
        self._steps: queue.Queue[Any] = queue.Queue(_QUEUED)
        self._thread: threading.Thread | None = None

    # ------------------------------------------------------------------ recording
    def start(self) -> "Recorder":
        """Record from the next run on."""
        self._thread = threading.Thread(target=self._write_queued_steps, name="msnb dump", daemon=True)
        self._thread.start()
        self._observer = extra_outputs.add(_Observer(self))
        targets.recorders.add(self)
        return self

    def close(self) -> None:
        """Stop recording, and wait until all recorded steps are written.

        Names in `kernels` that no program had are logged.
        """
        extra_outputs.remove(self._observer)
        targets.recorders.discard(self)
        self._observer = None
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._steps.put(None)
        thread.join()
        for kernel in sorted(self._missing if self._known_names and not self.problem else ()):
            near = difflib.get_close_matches(kernel, sorted(self._known_names), 3, 0.4)
            hint = f" The nearest are {', '.join(map(repr, near))}." if near else ""
            log.warning("'kernels' of the dump has %r, but no program had such an operator.%s", kernel, hint)

    def flush(self) -> None:
        """Wait until all recorded steps are written."""
        self._steps.join()

    def rewrite(self, program: "Program") -> Any:
        """Return the program's jaxpr with statistics as extra outputs, or unchanged if only its inputs are recorded."""
        statistics = self._get_plan(program).statistics if self._has_statistics_only else None
        return program.jaxpr if statistics is None else statistics.jaxpr

    def wants(self, program: "Program") -> bool:
        """Count the run that begins, and return True if it is written."""
        with self._lock:
            if program not in self._counts:
                # in r1.1's form all programs write into one folder, so their runs are counted together
                self._counts[program] = self._all_runs if self._config.is_r1 else itertools.count()
            self._assign_program_number(program)
            iteration = next(self._counts[program])
        self._begun.iteration = iteration
        return not self.problem and self._config.has_iteration(iteration) and not self._has_no_chosen_operators(program)

    def receive(self, program: "Program", run: extra_outputs.Run) -> None:
        """Pass the arrays of a run to the thread; wait while two steps are unwritten."""
        arrays, plan = as_inputs(program, run.inputs), self._plans.get(program)
        if self._has_statistics_only and plan is not None and plan.statistics is not None:
            arrays = plan.statistics.select_arrays(arrays, run.extras)
        self._steps.put((program, self._begun.iteration, arrays, plan, run.call))

    def dropped(self, why: str) -> None:
        """End the dump, because the program with its extra outputs failed."""
        self.problem = why

    def choose_again(self) -> None:
        """Select the operators of each program again, after `set_dump`."""
        if self._config.by_target and self._observer is not None:
            extra_outputs.remove(self._observer)
            self._plans.clear()
            self._observer = extra_outputs.add(_Observer(self))

    @property
    def has_targets(self) -> bool:
        """True if `set_dump` selects the operators."""
        return self._config.by_target

    @property
    def _has_statistics_only(self):
        return self._config.with_statistics and not self._config.with_tensors

    def _has_no_chosen_operators(self, program):
        """Return True for a program that has been planned and has none of the selected operators."""
        plan = self._plans.get(program)
        return plan is not None and not plan.dumped.tensors

    def _assign_program_number(self, program):
        if program not in self._numbers:
            self._numbers[program] = next(self._next_number)
        return self._numbers[program]

    def _get_plan(self, program):
        with self._planning:
            if program not in self._plans:
                self._plans[program] = self._make_plan(program)
            return self._plans[program]

    def _make_plan(self, program):
        graph = of_program(program, program.name)
        nodes = list(graph.all_nodes())
        names = [node.fullname for node in nodes]
        if not self._config.is_r1:
            names = file_names.names_within_scopes(names)
        chosen: Iterable[int] = range(len(nodes))
        if self._config.by_target:
            chosen = targets.select_nodes(program, nodes)
        elif self._config.kernels:
            selected = self._config.select([(name, node.op) for name, node in zip(names, nodes, strict=True)])
            self._missing -= {kernel for kernel, indices in selected.items() if indices}
            self._known_names.update(names, (node.op for node in nodes))
            chosen = sorted(set().union(*selected.values()))
        dumped = list_tensors(program, graph, [(names[i], nodes[i]) for i in chosen], self._config)
        with self._lock:
            number = self._assign_program_number(program)
        plan = _Plan(number, graph, dict(zip((node.id for node in nodes), names, strict=True)), dumped)
        if self._has_statistics_only and dumped.tensors:
            plan.statistics = StepStatistics(program, dumped, self._config.statistics)
        return plan

    # ------------------------------------------------------------------ writing, on the thread
    def _write_queued_steps(self):
        while (step := self._steps.get()) is not None:
            try:
                if not self.problem:
                    self._write_step(*step)
            except Exception as error:  # the training goes on, whatever the error
                self.problem = f"The dump has ended: {error}"
                log.warning("%s", self.problem)
            finally:
                self._steps.task_done()

    def _write_step(self, program, iteration, arrays, plan, call):
        plan = plan or self._get_plan(program)
        if not self._config.is_r1 and not plan.is_described:
            self._write_program_description(plan)
        if not plan.dumped.tensors:
            return
        folder = self._get_step_folder(plan, iteration)
        folder.mkdir(parents=True, exist_ok=True)
        if plan.statistics is not None:
            self._write_statistics(folder, plan, plan.statistics.read(arrays))
        else:
            self._write_tensors(folder, plan, program, arrays, call)

    def _write_tensors(self, folder, plan, program, inputs, call):
        plan.replay = plan.replay or StepReplay(program, plan.dumped)
        self._long_names = {}
        statistics: dict[Value, list[Any]] = {}
        try:
            for tensor, array in plan.replay.read(program, inputs, call):
                if self._config.with_statistics and tensor.value not in statistics:
                    statistics[tensor.value] = compute_statistics(array, self._config.statistics)
                self._write_tensor(folder, tensor, array)
        finally:
            if self._config.with_statistics:
                self._write_statistics(folder, plan, statistics)
        if self._long_names:
            file_names.write_long_names(folder, self._long_names)

    def _get_step_folder(self, plan, iteration) -> Path:
        if self._config.is_r1:
            return self._root / self._config.net_name / f"device_{self._rank}" / f"iteration_{iteration}"
        return self._root / self._config.net_name / str(plan.number) / str(iteration)

    def _write_program_description(self, plan):
        """Write the settings, the order of execution and the graph, as MindSpore does."""
        plan.is_described = True
        texts = {
            Path(".dump_metadata", "data_dump.json"): json.dumps(self._config.text),
            file_names.order_path(plan.number): "\n".join(
                ("NodeExecutionOrder-FullNameWithScope", *plan.names.values())
            ),
            file_names.graph_path(plan.number): to_text(plan.graph, plan.names),
        }
        for path, text in texts.items():
            (self._root / path).parent.mkdir(parents=True, exist_ok=True)
            with writing(self._root / path, "w", durable=False, encoding="utf-8") as file:
                file.write(text.rstrip("\n") + "\n")

    def _write_statistics(self, folder, plan, statistics):
        """Write a row for each tensor that has statistics."""
        stamp = time.time_ns() // 1000
        columns = {value: format_statistics(row) for value, row in statistics.items()}
        lines = [_format_csv_line((*_HEAD, *(COLUMNS[name] for name in self._config.statistics)))]
        lines += [
            f"{before},{stamp},{after},{columns[value]}" for before, after, value in plan.row_texts if value in columns
        ]
        text = "\r\n".join((*lines, ""))
        self._count_bytes(len(text))
        with writing(folder / "statistic.csv", "w", durable=False, encoding="utf-8", newline="") as file:
            file.write(text)

    def _count_bytes(self, count):
        if self.nbytes + count > self._config.max_bytes:
            raise OSError(f"it has reached 'max_bytes', {self._config.max_bytes} bytes.")
        self.nbytes += count

    def _write_tensor(self, folder, tensor, array):
        self._count_bytes(array.nbytes)
        # readers sort by time, so the times of two tensors of a step must differ
        self._last_stamp = max(self._last_stamp + 1, time.time_ns() // 1000)
        name = TensorName(tensor.op, tensor.name, tensor.io, tensor.slot, tensor.type.dtype, self._last_stamp)
        file_name = file_names.bin_name(name, array.shape) if self._config.is_r1 else file_names.npy_name(name)
        if file_names.is_too_long(file_name):
            short = f"{next(self._files)}{Path(file_name).suffix}"
            self._long_names[short], file_name = file_name, short
        with writing(folder / file_name, durable=False) as file:
            if self._config.is_r1:
                file.write(np.ascontiguousarray(array).tobytes())
            else:
                np.save(file, array)


class _Observer:
    """Passes the runs of programs to a recorder. A program calls `rewrite` of an observer only once.

    So a new choice of operators needs a new observer.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.rewrite, self.wants, self.receive = recorder.rewrite, recorder.wants, recorder.receive
        self.dropped = recorder.dropped


@dataclasses.dataclass
class _Plan:
    """The dump of one program.

    Attributes:
        number (int): number of the graph in the dump.
        graph (FuncGraph): the graph.
        names (dict[int, str]): number of a node -> its name in the dump.
        dumped (DumpedTensors): the tensors.
        statistics (Union[StepStatistics, None]): the statistics of a step, if the dump has no tensors.
        replay (Union[StepReplay, None]): computes the values again.
        is_described (bool): True once the graph has been written.
    """

    number: int
    graph: "FuncGraph"
    names: dict[int, str]
    dumped: DumpedTensors
    statistics: StepStatistics | None = None
    replay: StepReplay | None = None
    is_described: bool = False

    @functools.cached_property
    def row_texts(self) -> list[tuple[str, str, Value]]:
        """For each tensor, its columns in the CSV file before and after the time stamp, and its value."""
        texts = []
        for tensor in self.dumped.tensors:
            kind = tensor.type
            before = _format_csv_line((tensor.op, file_names.flat_name(tensor.name), 0, 0))
            shape = f"({', '.join(map(str, kind.shape))})"
            after = _format_csv_line((tensor.io, tensor.slot, kind.nbytes, kind.dtype.lower(), shape))
            texts.append((before, after, tensor.value))
        return texts


def _format_csv_line(fields):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="").writerow(fields)
    return text.getvalue()
