"""`Profile`: where the time of a step went, by operator, Cell and kernel, with where each figure comes from."""

import bisect
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msnb.core.names import operator_in
from msnb.core.operator import REGISTRY
from msnb.core.paths import attribute_path
from msnb.ir.hlo import work_inside
from msnb.ir.stages import Stages
from msnb.nn.optim import Optimizer

from . import attribute, ends, memory, shares, timeline
from .advice import advice
from .machine import cores, machine
from .replay import replay
from .rows import Cell, Row, work
from .text import seconds as told
from .text import table

if TYPE_CHECKING:  # named in annotations alone
    from msnb.insight.profile.machine import Machine
    from msnb.insight.profile.record import Recording
    from msnb.insight.profile.replay import Replay

_NS = 1e-9


class Profile:
    """What a recording says. Made by `msnb.insight.profile.profile`, `Profiler.analyse` and the magics.

    Attributes:
        name (str): network or function; `mode` "GRAPH" or "PYNATIVE".
        steps (list[float]): seconds of each step in which nothing was compiled.
        first (list[float]): seconds of the steps in which something was.
        compile_seconds (float): time spent on tracing and compiling.
        parts (dict): seconds of one step: ``"compute"`` (a kernel ran), ``"gaps"`` (a program ran, but none of its
            kernels), ``"data"`` (nothing ran and the dataset was being waited for), ``"host"`` (the rest: Python and
            dispatch), ``"unknown"`` (no kernels were traced).
        rows (list[Row]): operators, longest first; cells (list[Cell]) likewise.
        traced (float): seconds of a step while kernels were traced, which is longer. Parts, rows and Cells were
            measured then, and are told in proportion: the parts add up to `step_seconds`.
        machine (Machine): what the machine can do at best.
        memory (Memory | None): of the step's program.
        advice (list[Finding]): what to do, most valuable first.
        graph (FuncGraph | None): of the step's program; `times` holds seconds per node of it, None for a node of which
            nothing is known.
        notes (list[str]): what the reader should know about how this was measured.
    """

    def __init__(self, recording: "Recording", name: str | None = None) -> None:
        self.recording = recording
        self.mode: str = recording.mode
        self.machine: Machine = machine()
        self.notes: list[Any] = []
        self.rows: list[Any] = []
        self.cells: list[Any] = []
        self.graph: Any = None
        self.memory: Any = None
        self.program: Any = None
        self.times: list[Any] = []
        self.kernel_rows: list[Any] = []
        self.kernel_seconds: dict[str, float] = {}
        self._owners = {}
        self._stages = {}
        compiling = shares.union(recording.compiling)
        self.compile_seconds: float = shares.length(compiling) * _NS
        self._steps = self._find_steps(compiling)
        self._choose_program()
        self.name: str = name or self._name()
        self._measure(compiling)
        self._tell_of_the_step()
        if self.program is not None:
            self.memory = memory.of_program(self.program, self.graph)
        self.advice: list[Any] = advice(self)

    # ------------------------------------------------------------------ steps
    def _find_steps(self, compiling):
        """(start, end) of the steps without compiling; `first` and `steps` in seconds."""
        recording = self.recording
        steps = list(recording.steps)
        if not steps:
            longest = {}
            for net, start, end in recording.calls:
                longest[id(net)] = longest.get(id(net), 0) + end - start
            if longest:
                main = max(longest, key=longest.get)
                starts = [start for net, start, _ in recording.calls if id(net) == main]
                last = max(end for net, _, end in recording.calls if id(net) == main)
                ready = max([kernel.end for kernel in recording.kernels if kernel.end < recording.end] or [0])
                steps = list(zip(starts, [*starts[1:], max(last, min(ready, recording.end))], strict=True))
            else:
                steps = [(recording.start, recording.end)]
        clean, first = [], []
        for start, end in steps:
            (first if shares.clip(compiling, start, end) else clean).append((start, end))
        self.first: list[float] = [(end - start) * _NS for start, end in first]
        if not clean:
            self.notes.append(
                "Every step compiled something: times hold no compiling, but the step is not a steady "
                "one. Run more steps."
            )
            clean = steps
        elif len(clean) > 2 and not recording.steps:
            middle = statistics.median(end - start for start, end in clean)
            if clean[-1] == steps[-1] and clean[-1][1] - clean[-1][0] > 3 * middle:
                # the calls came back before their work was done, and the last one holds what was still waiting
                begin, width = clean[0][0], (clean[-1][1] - clean[0][0]) / len(clean)
                clean = [(int(begin + at * width), int(begin + (at + 1) * width)) for at in range(len(clean))]
                middle = width
                self.notes.append("The calls returned before their work was done: each step is told as the mean.")
            # between two epochs an evaluation or a callback may stand: such a gap is no step, but a dataset's is
            waits = shares.union(recording.waits)
            kept = [
                (start, end)
                for start, end in clean
                if end - start < 20 * middle or 2 * shares.length(shares.clip(waits, start, end)) > end - start
            ]
            if len(kept) < len(clean):
                self.notes.append(f"{len(clean) - len(kept)} pauses of more than 20 steps are left out.")
            clean = kept
        self.steps: list[float] = [
            (end - start - shares.length(shares.clip(compiling, start, end))) * _NS for start, end in clean
        ]
        return clean

    @property
    def step_seconds(self) -> float:
        """Median time of a step, seconds."""
        return statistics.median(self.steps)

    @property
    def spread(self) -> tuple[float, float]:
        """(10th, 90th percentile) of the steps, seconds."""
        ordered = sorted(self.steps)
        return ordered[(len(ordered) - 1) // 10], ordered[-1 - (len(ordered) - 1) // 10]

    def _name(self):
        if self.program is not None:
            return self.program.name
        calls = self.recording.calls
        return getattr(calls[-1][0], "__name__", type(calls[-1][0]).__name__) if calls else "cell"

    def _tell_of_the_step(self):
        """Bring what was measured in traced steps into proportion with the step that the headline tells of."""
        step = self.step_seconds
        self.traced: float = sum(self.parts.values()) or step
        self._scale = scale = step / self.traced if step else 1.0
        self.parts: dict[str, float] = {name: part * scale for name, part in self.parts.items()}
        for entry in (*self.rows, *self.cells):
            entry.scale(scale)
        self.times = [seconds and seconds * scale for seconds in self.times]
        self.kernel_seconds = {op: seconds * scale for op, seconds in self.kernel_seconds.items()}
        if "unknown" in self.parts:
            self.traced = step
        elif abs(scale - 1) > 0.05:
            self.notes.append(
                f"Kernels were traced in steps of {told(self.traced)} each; their times are told in proportion to the "
                f"step of {told(step)} without a trace."
            )
        if self.recording.load is not None and self.recording.load > cores() + 0.5:
            self.notes.append(
                f"The machine was busy: {self.recording.load:.1f} processes wanted its {cores()} cores when "
                f"this began. Times differ from those of an idle one."
            )

    # ------------------------------------------------------------------ operators
    def _choose_program(self):
        """Join traced modules with the programs that were called; the longest is the step's."""
        self._modules = {}
        if self.mode == "PYNATIVE":
            return
        window, _ = self._window()
        busy = {}
        for kernel in self._kernels(window):
            entry = busy.setdefault(kernel.run[:2], [kernel.module, set(), 0])
            entry[1].add(kernel.op)
            entry[2] += kernel.end - kernel.start
        for key, (module, ops, _) in busy.items():
            for program in self.recording.programs:
                if module == f"jit_{program.run.__name__}" and ops <= self._compiled_ops(program):
                    self._modules[key] = program
        known = {}
        for key, program in self._modules.items():
            known[program] = known.get(program, 0) + busy[key][2]
        if known:
            self.program = max(known, key=known.get)
        elif self.mode == "GRAPH" and self.recording.programs:
            self.program = next(reversed(self.recording.programs))
        if self.program is not None:
            self.graph = self._stages_of(self.program).whole
            self.times = [None] * len(self.graph)

    def _stages_of(self, program):
        if program not in self._stages:
            self._stages[program] = Stages(program, program.name)
        return self._stages[program]

    def _compiled_ops(self, program):
        return {node.instruction for node in self._stages_of(program)["optimised"].all_nodes()}

    def _window(self):
        """(traced steps without compiling, their number)."""
        traced = self.recording.traced
        if traced is None:
            return [], 0
        steps = [(start, end) for start, end in self._steps if start >= traced[0] and end <= traced[1]]
        return shares.union(steps), len(steps)

    def _kernels(self, window):
        if not window:
            return []
        low, high = window[0][0], window[-1][1]
        return [kernel for kernel in self.recording.kernels if kernel.end > low and kernel.start < high]

    def _measure(self, compiling):
        if self.mode == "PYNATIVE":
            self._from_dispatch(compiling)
        else:
            self._from_kernels(compiling)
        self.rows.sort(key=lambda row: -row.seconds)
        self._fold_cells()

    def _parts(self, window, count, busy, compiling, running=()):
        """What the steps in a window are made of, seconds per step."""
        gaps = shares.minus(shares.union(running), busy)
        compiled = shares.minus(shares.minus(compiling, busy), gaps)
        waits = shares.minus(shares.minus(shares.minus(shares.union(self.recording.waits), busy), gaps), compiled)

        def inside(intervals):
            return sum(shares.length(shares.clip(intervals, start, end)) for start, end in window)

        total = shares.length(window) - inside(compiled)
        made = {"compute": inside(busy), "gaps": inside(gaps), "data": inside(waits)}
        made["host"] = max(total - sum(made.values()), 0)
        return {name: part * _NS / max(count, 1) for name, part in made.items()}

    def _from_kernels(self, compiling):
        window, count = self._window()
        kernels = self._kernels(window)
        if not kernels:
            if self.program is None:
                self.notes.append("No compiled Cell or function ran while this was recorded.")
            else:
                self.notes.append(
                    "No steady step was traced, so that nothing is known about single operators. Run "
                    "three steps or more."
                )
            self.parts = self._parts(self._steps, len(self._steps), [], compiling)
            self.parts["unknown"] = self.parts.pop("host")
            self.parts.update(compute=0.0, host=0.0)
            return
        if any(kernel.device for kernel in kernels):
            self.notes.append(
                "Kernels of a GPU that run inside a command buffer are traced as one: if few operators "
                "show, start Python with XLA_FLAGS=--xla_gpu_enable_command_buffer= and profile again."
            )
        owners, opcodes, inside = {}, {}, {}
        for key, program in self._modules.items():
            stages = self._stages_of(program)
            owners[key] = attribute.owners(stages.whole, stages["optimised"])
            inside[key] = work_inside(program.compiled().as_text())
            opcodes[key] = {node.instruction: node for node in stages["optimised"].all_nodes()}
        self._owners = {program: owners[key] for key, program in self._modules.items()}
        runs = ends.settle(kernels, {key: self._stages_of(p)["optimised"] for key, p in self._modules.items()})
        low, high = window[0][0], window[-1][1]
        spans = [(max(kernel.start, low), min(kernel.end, high)) for kernel in kernels]
        busy = shares.union(spans)
        running = [(min(k.start for k in mine), max(k.end for k in mine)) for mine in runs.values()]
        self.parts = self._parts(window, count, busy, compiling, running)
        if len(self.steps) > count > 0:
            self._compare_traced(count)
        outer = [
            index
            for index, kernel in enumerate(kernels)
            if kernel.run[:2] in opcodes and opcodes[kernel.run[:2]][kernel.op].op in attribute.CONTAINERS
        ]
        wall = shares.shares(spans, outer)
        taken = {}
        for kernel, share in zip(kernels, wall, strict=True):
            key = (kernel.run[:2], kernel.op) if kernel.run[:2] in owners else (None, kernel.module)
            taken[key] = taken.get(key, 0.0) + share * _NS / count
        self.kernel_seconds = {
            op: seconds
            for (key, op), seconds in taken.items()
            if key is not None and self._modules[key] is self.program
        }
        rows = {}
        for (key, op), seconds in taken.items():
            if key is None:  # a module that is no program of msnb's: an operator outside the graph, a conversion
                name = op.removeprefix("jit_")  # JAX writes "_" for the brackets of LayerNorm[epsilon=1e-05]
                head = name.partition("_")[0]
                self._add(
                    rows,
                    (None, op),
                    Row(head if head in REGISTRY else name, name, "", "forward", None),
                    seconds,
                    "measured",
                )
            else:
                self._spread(rows, self._modules[key], owners[key][op], seconds, inside[key].get(op, {}))
        self._count_work(rows)
        self.rows = list(rows.values())

    def _compare_traced(self, count):
        """Where there are steps with and without a trace, those without are what a step takes."""
        traced = self.recording.traced
        inside = [e - s for s, e in self._steps if s >= traced[0] and e <= traced[1]]
        outside = [e - s for s, e in self._steps if not (s >= traced[0] and e <= traced[1])]
        if len(inside) < 2 or len(outside) < 2:
            return
        self.steps: list[float] = [(e - s) * _NS for s, e in self._steps if not (s >= traced[0] and e <= traced[1])]

    def _spread(self, rows, program, owner, seconds, inside):
        """Give the time of one kernel to the operators in it, by the work of each."""
        if not owner.nodes:
            key = (program, owner.note)
            row = rows.get(key) or Row(
                "copy" if owner.how == attribute.XLA else "unknown", owner.note, "", "forward", None, program.name
            )
            self._add(rows, key, row, seconds, owner.how)
            return
        parts = work(owner.nodes, inside)
        total = sum(parts)
        places = {(node.scope, node.op, node.direction, node.source) for node in owner.nodes}
        how = owner.how if owner.how != attribute.MEASURED or len(places) == 1 else "fused"
        for node, part in zip(owner.nodes, parts, strict=True):
            line = node.source[:2] if node.source else None
            key = (program, node.scope, node.op, node.direction, line)
            source = node.source or self._made_at(node, program)
            row = rows.get(key) or Row(node.op, node.name, node.scope, node.direction, source, program.name)
            if node.id not in row.nodes:
                row.nodes.append(node.id)
            self._add(rows, key, row, seconds * part / total, how, 1 if part else 0)
            row.mates.update(
                f"{other.name} of {attribute_path(other.scope, program.name) or program.name}"
                for other in owner.nodes
                if (other.scope, other.op, other.direction) != (node.scope, node.op, node.direction)
            )
            if program is self.program:
                self.times[node.id] = (self.times[node.id] or 0.0) + seconds * part / total

    @staticmethod
    def _made_at(node, program):
        """Where the optimizer of an update was made: what it computes stands in no line of the user's."""
        if node.direction != "update":
            return None
        made = {cell._made_at for cell in program.cells if isinstance(cell, Optimizer)}
        return made.pop() if len(made) == 1 else None

    @staticmethod
    def _add(rows, key, row, seconds, how, kernels=1):
        rows[key] = row
        row.seconds += seconds
        row.kernels += kernels
        if how in ("measured", attribute.XLA):
            row.measured += seconds
        elif how == "fused":
            row.fused += seconds
        else:
            row.inferred += seconds
        parts = {"measured": row.measured, "fused": row.fused, "inferred": row.inferred}
        row.how = "xla" if how == attribute.XLA else max(parts, key=parts.get)

    def _count_work(self, rows):
        by_program = {}
        for program, stages in self._stages.items():
            by_program[program.name] = {node.id: node for node in stages.whole.all_nodes()}
        for row in rows.values():
            known = by_program.get(row.program, {})
            for ident in row.nodes:
                node = known[ident]
                row.flops += node.flops
                row.nbytes += node.nbytes
            row.calls = len(row.nodes)

    def _from_dispatch(self, compiling):
        """PYNATIVE: every operator was waited for, so that its time is its own."""
        window, count = self._window()
        traced = shares.union((kernel.start, kernel.end) for kernel in self._kernels(window))
        if not traced:
            window, count = shares.union(self._steps), len(self._steps)
        starts = [start for start, _ in window]
        calls = []
        for call in self.recording.dispatched:
            at = bisect.bisect_right(starts, call.start) - 1
            if at >= 0 and call.done <= window[at][1]:
                calls.append(call)
        if traced:
            self._busy_by_trace(calls, traced)
        self.parts = self._parts(window, count, traced or shares.union([(c.sent, c.done) for c in calls]), compiling)
        if len(self.steps) > count > 0 and traced:
            self._compare_traced(count)
        if calls:
            self.notes.append(
                "In PYNATIVE mode each operator was waited for, to tell it from the next: a step without "
                "a profile is shorter by what overlaps."
            )
        rows = {}
        for call in calls:
            op = operator_in(call.name)
            op = op.removesuffix("Grad") if call.backward else op
            key = (call.scope, op, call.backward, call.source and call.source[:2])
            row = rows.get(key)
            if row is None:
                row = rows[key] = Row(
                    op,
                    f"grad{op}" if call.backward else op,
                    call.scope,
                    "backward" if call.backward else "forward",
                    call.source,
                )
            row.seconds += (call.done - call.start) * _NS / count
            row.measured += (call.done - call.start) * _NS / count
            row.dispatch += (call.done - call.start - call.busy) * _NS / count
            row.flops += call.work[0] / count
            row.nbytes += call.work[1] / count
            row.calls += 1
        for row in rows.values():
            row.calls = max(1, round(row.calls / count))
            row.kernels = row.calls
        self.rows = list(rows.values())

    @staticmethod
    def _busy_by_trace(calls, traced):
        """Set how long kernels ran in each call; they are one after the other, so that a kernel is in one call only."""
        ends = [end for _, end in traced]
        for call in calls:
            call.busy, at = 0, bisect.bisect_right(ends, call.start)
            while at < len(traced) and traced[at][0] < call.done:
                call.busy += min(traced[at][1], call.done) - max(traced[at][0], call.start)
                at += 1

    def _fold_cells(self):
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
        """Seconds of a step that rows account for."""
        return sum(row.seconds for row in self.rows)

    @property
    def attribution(self) -> dict[Any, Any]:
        """How the time of the kernels is known: shares of it that add up to one.

        Returns:
            dict: ``"measured"`` kernels of one operator, ``"fused"`` measured kernels of several, ``"xla"`` XLA's own
            copies, ``"inferred"`` the rest.
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
        """How much of what the machine could do at best a row (or Cell) reaches, from 0 to 1; None without work."""
        at_best = self.machine.at_best(row.flops, row.nbytes)
        seconds = self.at_work(row)
        return min(at_best / seconds, 1.0) if seconds > 0 and row.flops else None

    def at_work(self, row: "Row") -> float:
        """Seconds that the kernels of a row (or Cell) took as they were measured, under the trace or replayed."""
        seconds = row.seconds - getattr(row, "dispatch", 0.0)
        return seconds if getattr(row, "how", "") == "replayed" else seconds / self._scale

    def replay(self, rounds: int = 5) -> "Replay":
        """Measure each group of operators on its own: what XLA fused together is compiled as one function and run.

        The rows' times become those of the replay, and `times` too. It takes one compilation per kind of group.

        Args:
            rounds (int): how often each group is run at least; the shortest run counts. Default: 5.

        Returns:
            Replay.

        Raises:
            RuntimeError: If no program of GRAPH mode was traced.
        """
        return replay(self, rounds)

    def timeline(self) -> Any:
        """The recording as trace events, see `msnb.insight.profile.timeline`."""
        return timeline.events(self)

    def save_timeline(self, path: str | Path) -> None:
        """Write the timeline to a JSON file that https://ui.perfetto.dev and chrome://tracing open.

        Args:
            path (str): where to.
        """
        timeline.write(self, path)

    def text(self, rows: int = 12) -> str:
        """The profile as a table for a terminal.

        Args:
            rows (int): how many operators. Default: 12.
        """
        return table(self, rows)

    def close(self) -> None:
        """Let go of the arrays and traces that `replay` and `timeline` need."""
        self.recording.kernels, self.recording.dispatched = [], []
        self.recording.programs = {}

    def __repr__(self) -> str:
        return self.text()
