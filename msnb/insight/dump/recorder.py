"""Write the operators of the steps that run while a dump is on.

A recorded step is the inputs of its program. A thread replays it, see `msnb.insight.debugger.replay`, and writes the
values, so the step itself computes nothing more. The training waits while two steps are unwritten.
"""

import atexit
import contextlib
import csv
import difflib
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

import jax
import numpy as np

from msnb import context, log
from msnb._util.atomic_file import writing
from msnb.core.program import extra_outputs
from msnb.insight.debugger.replay import Replay, as_inputs
from msnb.insight.dump import file_names
from msnb.insight.dump.config import VARIABLE, DumpConfig, read_config
from msnb.insight.dump.file_names import TensorName
from msnb.ir.api import of_program
from msnb.ir.read import dtype_name

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program.program import Program
    from msnb.ir.anf import CNode, FuncGraph

_QUEUED = 2  # steps that wait for the thread
_COLUMNS = {
    "max": "Max Value",
    "min": "Min Value",
    "avg": "Avg Value",
    "count": "Count",
    "negative zero count": "Negative Zero Count",
    "positive zero count": "Positive Zero Count",
    "nan count": "NaN Count",
    "negative inf count": "Negative Inf Count",
    "positive inf count": "Positive Inf Count",
    "zero count": "Zero Count",
    "l2norm": "L2Norm Value",
}
_HEAD = ("Op Type", "Op Name", "Task ID", "Stream ID", "Timestamp", "IO", "Slot", "Data Size", "Data Type", "Shape")


_active: "list[Recorder]" = []  # the recorder of the context and of the environment, which programs hold weakly


def follow_context() -> None:
    """Start or end the dump that ``set_context(enable_dump=...)`` or the variable ``MINDSPORE_DUMP_CONFIG`` asks for.

    The file that the variable names has the settings. Without it, all values go to ``save_dump_path``, as r1.1 names
    them. Values of operators in PYNATIVE mode are not written, which is said once.

    Raises:
        ValueError: If the file is wrong.
    """
    while _active:
        _active.pop().close()
    path = os.environ.get(VARIABLE, "").strip()
    config = read_config(path) if path else None
    if not path and context.get_context("enable_dump"):
        config = DumpConfig(Path(context.get_context("save_dump_path")).absolute(), is_r1=True)
    if config is None:
        return
    if context.get_context("mode") == context.PYNATIVE_MODE:
        log.warning(
            "A dump has the programs of GRAPH mode and of `jit`. Operators of PYNATIVE mode are not written; "
            "`msnb.timeline` records such steps."
        )
    rank = int(os.environ.get("RANK_ID", "").strip() or 0)
    if config.devices is not None and rank not in config.devices:
        return
    _active.append(Recorder(config, rank).start())


@atexit.register
def _close_all():
    while _active:
        _active.pop().close()


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
        self._graphs: weakref.WeakKeyDictionary[Any, tuple[FuncGraph, list[tuple[str, CNode]]]] = (
            weakref.WeakKeyDictionary()
        )
        self._files = itertools.count()
        self._long_names: dict[str, str] = {}  # of the current step: file name -> the name that is too long
        self._missing: set[str] = set(config.kernels)  # entries of `kernels` that no program has had
        self._known_names: set[str] = set()  # names and types of operators, to propose for those
        self._begun = threading.local()  # its `iteration` is that of the run of each thread
        self._lock = threading.Lock()
        self._steps: queue.Queue[Any] = queue.Queue(_QUEUED)
        self._thread: threading.Thread | None = None

    # ------------------------------------------------------------------ recording
    def start(self) -> "Recorder":
        """Record from the next run on."""
        self._thread = threading.Thread(target=self._write_steps, name="msnb dump", daemon=True)
        self._thread.start()
        extra_outputs.add(self)
        return self

    def close(self) -> None:
        """Stop recording, and wait until all recorded steps are written.

        Names in `kernels` that no program had are logged.
        """
        extra_outputs.remove(self)
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._steps.put(None)
        thread.join()
        for kernel in sorted(self._missing if self._known_names and not self.problem else ()):
            near = difflib.get_close_matches(kernel, sorted(self._known_names), 3, 0.4)
            hint = f" The nearest are {', '.join(map(repr, near))}." if near else ""
            log.warning("'kernels' of the dump has %r, but no program had such an operator.%s", kernel, hint)

    def rewrite(self, program: "Program") -> Any:
        """Return the jaxpr of the program, unchanged, so that its inputs stay readable."""
        return program.jaxpr

    def wants(self, program: "Program") -> bool:
        """Count the run that begins, and return True if it is written."""
        with self._lock:
            if program not in self._counts:
                # in r1.1's form all programs write into one folder, so their runs are counted together
                self._counts[program] = self._all_runs if self._config.is_r1 else itertools.count()
                self._numbers[program] = next(self._next_number)
            iteration = next(self._counts[program])
        self._begun.iteration = iteration
        return not self.problem and self._config.has_iteration(iteration) and not self._is_passed_over(program)

    def _is_passed_over(self, program):
        """Return True for a program that is known to have none of the chosen operators."""
        _, nodes = self._graphs.get(program, (None, None))
        return bool(self._config.kernels) and nodes == []

    def receive(self, program: "Program", run: extra_outputs.Run) -> None:
        """Pass the inputs of a run to the thread; wait while two steps are unwritten."""
        self._steps.put((program, self._begun.iteration, as_inputs(program, run.inputs)))

    # ------------------------------------------------------------------ writing, on the thread
    def _write_steps(self):
        while (step := self._steps.get()) is not None:
            if self.problem:
                continue
            try:
                self._write_step(*step)
            except Exception as error:  # the training goes on, whatever the error
                self.problem = f"The dump has ended: {error}"
                log.warning("%s", self.problem)

    def _write_step(self, program, iteration, inputs):
        graph, nodes = self._graph(program)
        if self._is_passed_over(program):
            return
        replay = Replay(program, graph, inputs)
        folder = self._folder(program, iteration)
        folder.mkdir(parents=True, exist_ok=True)
        self._long_names = {}
        rows = [[*_HEAD, *(_COLUMNS[name] for name in self._config.statistics)]]
        try:
            for name, value in self._tensors(replay, nodes):
                array = _as_numpy(value)
                if self._config.with_statistics:
                    rows.append(self._statistics_row(name, value, array))
                if self._config.with_tensors:
                    self._write_tensor(folder, name, array)
        finally:
            if self._config.with_statistics:
                self._write_statistics(folder, rows)
        if self._long_names:
            file_names.write_long_names(folder, self._long_names)

    def _graph(self, program):
        if program not in self._graphs:
            graph = of_program(program, program.name)
            nodes = list(graph.all_nodes())
            names = [node.fullname for node in nodes]
            if not self._config.is_r1:
                names = file_names.names_within_scopes(names)
                self._write_metadata(self._numbers[program], names)
            chosen: Iterable[int] = range(len(nodes))
            if self._config.kernels:
                selected = self._config.select([(name, node.op) for name, node in zip(names, nodes, strict=True)])
                self._missing -= {kernel for kernel, indices in selected.items() if indices}
                self._known_names.update(names, (node.op for node in nodes))
                chosen = sorted(set().union(*selected.values()))
            self._graphs[program] = graph, [(names[i], nodes[i]) for i in chosen]
        return self._graphs[program]

    def _folder(self, program, iteration) -> Path:
        if self._config.is_r1:
            return self._root / self._config.net_name / f"device_{self._rank}" / f"iteration_{iteration}"
        return self._root / self._config.net_name / str(self._numbers[program]) / str(iteration)

    def _write_metadata(self, number, names):
        """Write the settings and the order of execution, as MindSpore does."""
        metadata = self._root / ".dump_metadata"
        order = self._root / "execution_order"
        for folder in (metadata, order):
            folder.mkdir(parents=True, exist_ok=True)
        with writing(metadata / "data_dump.json", "w", durable=False, encoding="utf-8") as file:
            json.dump(self._config.text, file)
        path = order / f"ms_execution_order_graph_{number}.csv"
        with writing(path, "w", durable=False, encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in ("NodeExecutionOrder-FullNameWithScope", *names))

    def _tensors(self, replay, nodes):
        """Yield (TensorName, value) of each tensor that is written, in the order of execution."""
        for full_name, node in nodes:
            values = []
            if self._config.with_inputs:
                arrays = [value for _, value in replay.operands(node)]
                values += [("input", slot, value) for slot, value in enumerate(arrays) if hasattr(value, "dtype")]
            if self._config.with_outputs:
                for slot in range(len(node.types)):
                    with contextlib.suppress(ValueError):  # in the condition of a `while`: it can't be read
                        values.append(("output", slot, replay.output(node, slot)))
            for side, slot, value in values:
                stamp = time.time_ns() // 1000
                yield TensorName(node.op, full_name, side, slot, dtype_name(value.dtype), stamp), value
        if self._config.with_outputs and not self._config.kernels:
            # MindSpore 2.7.1 writes Parameters at the end of the step
            new = {p.name: value for p, value in zip(replay.program.written, replay.updates(), strict=True)}
            for parameter, value in zip(replay.graph.parameters, replay.inputs, strict=True):
                name, stamp = parameter.name, time.time_ns() // 1000
                value = new.get(name, value) if parameter.is_weight else value
                if isinstance(value, np.ndarray) or not jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
                    yield TensorName("Parameter", name, "output", 0, dtype_name(value.dtype), stamp), value

    def _write_statistics(self, folder, rows):
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        self._count_bytes(len(text.getvalue()))
        with writing(folder / "statistic.csv", "w", durable=False, encoding="utf-8", newline="") as file:
            file.write(text.getvalue())

    def _count_bytes(self, count):
        if self.nbytes + count > self._config.max_bytes:
            raise OSError(f"it has reached 'max_bytes', {self._config.max_bytes} bytes.")
        self.nbytes += count

    def _write_tensor(self, folder, name, array):
        self._count_bytes(array.nbytes)
        name = file_names.bin_name(name, array.shape) if self._config.is_r1 else file_names.npy_name(name)
        if file_names.is_too_long(name):
            short = f"{next(self._files)}{Path(name).suffix}"
            self._long_names[short], name = name, short
        with writing(folder / name, durable=False) as file:
            if self._config.is_r1:
                file.write(np.ascontiguousarray(array).tobytes())
            else:
                np.save(file, array)

    def _statistics_row(self, name, value, array):
        shape = f"({', '.join(map(str, array.shape))})"
        head = [name.op, file_names.flat_name(name.name), 0, 0, name.time, name.io, name.slot, value.nbytes]
        return [*head, name.dtype.lower(), shape, *(_statistic(kind, array) for kind in self._config.statistics)]


def _as_numpy(value: Any) -> np.ndarray:
    """Return a value as an array that `numpy.load` can read; bfloat16 and other small floats become float32."""
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def _statistic(kind, array):
    numbers = array.astype(np.float64 if array.dtype.kind != "c" else np.complex128)
    with np.errstate(all="ignore"):
        match kind:
            case "count":
                return numbers.size
            case "nan count":
                return int(np.isnan(numbers).sum())
            case "negative inf count" | "positive inf count":
                return int((numbers == (-np.inf if kind[0] == "n" else np.inf)).sum())
            case "zero count":
                return int((numbers == 0).sum())
            case "negative zero count" | "positive zero count":
                return int(((numbers == 0) & (np.signbit(numbers) == (kind[0] == "n"))).sum())
            case "l2norm":
                return float(np.sqrt((np.abs(numbers) ** 2).sum()))
        if not numbers.size:
            return "nan"
        return {"max": np.max, "min": np.min, "avg": np.mean}[kind](numbers)
