"""`Figures`: the data of a profile. The analysis sets it; text, advice and timeline read it."""

import statistics
from typing import TYPE_CHECKING, Any

from msnb.ir.stages import Stages

from . import steps, wall_time
from .machine import Machine, machine
from .rows import Cell, Row

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.finding import Finding
    from msnb.insight.profile.memory import Memory
    from msnb.insight.profile.record import Recording
    from msnb.ir.anf import FuncGraph

_NS = 1e-9


class Figures:
    """The data of a profile: times, operators, Cells, memory and advice.

    Args:
        recording (Recording): The recording that the figures are taken from.

    Attributes:
        name (str): name of the network or function; `mode` is "GRAPH" or "PYNATIVE".
        steps (list[float]): seconds of each step without compiling.
        first (list[float]): seconds of the steps with compiling.
        compile_seconds (float): time spent on tracing and compiling.
        parts (dict): seconds of one step: ``"compute"`` (a kernel ran), ``"gaps"`` (a program ran, but none of its
            kernels), ``"data"`` (nothing ran during a wait for the dataset), ``"host"`` (other time, for Python and
            dispatch), ``"unknown"`` (no kernel trace).
        rows (list[Row]): operators, longest first; `cells` (list[Cell]) are the Cells, longest first.
        traced (float): seconds of a step during the kernel trace, which slows it down. Parts, rows and Cells are
            measured during the trace. They are scaled, so the parts add up to `step_seconds`.
        machine (Machine): peak performance of the machine.
        memory (Memory | None): memory of the step's program.
        advice (list[Finding]): advice, most valuable first.
        graph (FuncGraph | None): graph of the step's program; `times` has the seconds of each node, None if unknown.
        notes (list[str]): remarks about the measurement.
    """

    def __init__(self, recording: "Recording") -> None:
        self.recording = recording
        self.mode: str = recording.mode
        self.machine: Machine = machine()
        self.rows: list[Row] = []
        self.cells: list[Cell] = []
        self.graph: FuncGraph | None = None
        self.memory: Memory | None = None
        self.program: Any = None
        self.times: list[float | None] = []
        self.kernel_rows: list[Any] = []
        self.kernel_seconds: dict[str, float] = {}
        self._modules = {}  # (run, module) of kernels -> their program
        self._owners = {}  # program -> {kernel: the nodes that it computes}
        self._stages = {}  # program -> its `Stages`
        self._scale = 1.0  # seconds without a trace per second with one
        self.traced: float = 0.0
        self.parts: dict[str, float] = {}
        self.advice: list[Finding] = []
        compiling = wall_time.union(recording.compiling)
        self.compile_seconds: float = wall_time.length(compiling) * _NS
        self._steps, first, notes = steps.find(recording, compiling)
        self.first: list[float] = [(end - start) * _NS for start, end in first]
        self.steps: list[float] = [
            (end - start - wall_time.length(wall_time.clip(compiling, start, end))) * _NS for start, end in self._steps
        ]
        self.notes: list[str] = notes

    # ------------------------------------------------------------------ steps
    @property
    def step_seconds(self) -> float:
        """Median time of a step, seconds."""
        return statistics.median(self.steps)

    @property
    def spread(self) -> tuple[float, float]:
        """(10th, 90th percentile) of the steps, seconds."""
        ordered = sorted(self.steps)
        return ordered[(len(ordered) - 1) // 10], ordered[-1 - (len(ordered) - 1) // 10]

    # ------------------------------------------------------------------ operators
    def _get_compiler_stages(self, program):
        if program not in self._stages:
            self._stages[program] = Stages(program, program.name, with_stop_flag=True)
        return self._stages[program]

    def _get_traced_window(self):
        """Return (traced steps without compiling, their number)."""
        traced = self.recording.traced
        if traced is None:
            return [], 0
        steps = [(start, end) for start, end in self._steps if start >= traced[0] and end <= traced[1]]
        return wall_time.union(steps), len(steps)

    def _list_kernels_in_window(self, window):
        if not window:
            return []
        low, high = window[0][0], window[-1][1]
        return [kernel for kernel in self.recording.kernels if kernel.end > low and kernel.start < high]

    def _split_step_time(self, window, count, busy, compiling, running=()):
        """Return the parts of the steps in a window, seconds per step."""
        gaps = wall_time.minus(wall_time.union(running), busy)
        compiled = wall_time.minus(wall_time.minus(compiling, busy), gaps)
        waits = wall_time.minus(
            wall_time.minus(wall_time.minus(wall_time.union(self.recording.waits), busy), gaps), compiled
        )

        def inside(intervals):
            return sum(wall_time.length(wall_time.clip(intervals, start, end)) for start, end in window)

        total = wall_time.length(window) - inside(compiled)
        parts = {"compute": inside(busy), "gaps": inside(gaps), "data": inside(waits)}
        parts["host"] = max(total - sum(parts.values()), 0)
        return {name: part * _NS / max(count, 1) for name, part in parts.items()}

    def _drop_traced_steps(self, count):
        """Drop traced steps from `steps`, because tracing slows them down, if there are at least two untraced ones."""
        traced = self.recording.traced
        inside = [e - s for s, e in self._steps if s >= traced[0] and e <= traced[1]]
        outside = [e - s for s, e in self._steps if not (s >= traced[0] and e <= traced[1])]
        if len(inside) < 2 or len(outside) < 2:
            return
        self.steps: list[float] = [(e - s) * _NS for s, e in self._steps if not (s >= traced[0] and e <= traced[1])]

    def _sum_rows_per_cell(self):
        cells = {}
        for row in self.rows:
            parts = row.scope.split("/") if row.scope else []
            for depth in range(1, len(parts) + 1):
                scope = "/".join(parts[:depth])
                cell = cells.get(scope) or cells.setdefault(scope, Cell(scope, row.program))
                setattr(cell, row.direction, getattr(cell, row.direction) + row.seconds)
                cell.flops += row.flops
                cell.nbytes += row.nbytes
                if depth == len(parts):
                    cell.own += row.seconds
                    cell.source = cell.source or row.source
        self.cells = sorted(cells.values(), key=lambda cell: (-cell.seconds, cell.scope))

    # ------------------------------------------------------------------ figures
    @property
    def busy(self) -> float:
        """Seconds of a step that the rows account for."""
        return sum(row.seconds for row in self.rows)

    @property
    def attribution(self) -> dict[Any, Any]:
        """Return the certainty of the kernels' attribution: shares that add up to one.

        Returns:
            dict: ``"measured"`` kernels of one operator, ``"fused"`` measured kernels of several, ``"xla"`` XLA's own
            copies, ``"inferred"`` all other kernels.
        """
        total = self.busy or 1.0
        xla = sum(row.seconds for row in self.rows if row.how == "xla")
        return {
            "measured": (sum(row.measured for row in self.rows) - xla) / total,
            "fused": sum(row.fused for row in self.rows) / total,
            "xla": xla / total,
            "inferred": sum(row.inferred for row in self.rows) / total,
        }

    def of_peak(self, row: "Row") -> float | None:
        """Return the fraction of the machine's peak that a row (or Cell) reaches, from 0 to 1; None without FLOPs."""
        at_best = self.machine.at_best(row.flops, row.nbytes)
        seconds = self.at_work(row)
        return min(at_best / seconds, 1.0) if seconds > 0 and row.flops else None

    def at_work(self, row: "Row") -> float:
        """Return the measured seconds of a row's (or Cell's) kernels, traced or replayed."""
        seconds = row.seconds - getattr(row, "dispatch", 0.0)
        return seconds if getattr(row, "how", "") == "replayed" else seconds / self._scale
