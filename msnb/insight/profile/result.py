"""`Profile`: the time of a step by operator, Cell and kernel, with the certainty of each figure."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import by_call, by_kernel, memory, timeline, wall_time
from .advice import advice
from .figures import Figures
from .machine import cores
from .replay import replay
from .text import format_seconds, table

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.record import Recording
    from msnb.insight.profile.replay import Replay


class Profile(Figures):
    """The analysis of a recording, created by `msnb.insight.profile.profile`, `Profiler.analyse` and the magics."""

    def __init__(self, recording: "Recording", name: str | None = None) -> None:
        super().__init__(recording)
        compiling = wall_time.union(recording.compiling)
        by_kernel.choose_program(self)
        self.name: str = name or self._choose_default_name()
        self._measure_rows(compiling)
        self._scale_to_step_time()
        if self.program is not None:
            self.memory = memory.of_program(self.program, self.graph)
        self.advice = advice(self)

    def _choose_default_name(self):
        if self.program is not None:
            return self.program.name
        calls = self.recording.calls
        return getattr(calls[-1][0], "__name__", type(calls[-1][0]).__name__) if calls else "cell"

    def _scale_to_step_time(self):
        """Scale the times of traced steps to `step_seconds`, the time of a step without a trace."""
        step = self.step_seconds
        self.traced = sum(self.parts.values()) or step
        self._scale = scale = step / self.traced if step else 1.0
        self.parts = {name: part * scale for name, part in self.parts.items()}
        for entry in (*self.rows, *self.cells):
            entry.scale(scale)
        self.times = [seconds and seconds * scale for seconds in self.times]
        self.kernel_seconds = {op: seconds * scale for op, seconds in self.kernel_seconds.items()}
        if "unknown" in self.parts:
            self.traced = step
        elif abs(scale - 1) > 0.05:
            self.notes.append(
                f"Kernels were traced in steps of {format_seconds(self.traced)} each; their times are scaled in "
                f"proportion to the step of {format_seconds(step)} without a trace."
            )
        if self.recording.load is not None and self.recording.load > cores() + 0.5:
            self.notes.append(
                f"The machine was busy: {self.recording.load:.1f} processes wanted its {cores()} cores when "
                f"this began. Times differ from those of an idle one."
            )

    def _measure_rows(self, compiling):
        if self.mode == "PYNATIVE":
            by_call.measure(self, compiling)
        else:
            by_kernel.measure(self, compiling)
        self.rows.sort(key=lambda row: -row.seconds)
        self._sum_rows_per_cell()

    def replay(self, rounds: int = 5) -> "Replay":
        """Measure each group of operators separately: operators that XLA fused are compiled and run as one function.

        The rows' times and `times` become those of the replay. It takes one compilation per kind of group.

        Args:
            rounds (int): minimum number of runs of each group; the shortest counts. Default: 5.

        Returns:
            Replay.

        Raises:
            RuntimeError: If no program of GRAPH mode was traced.
        """
        return replay(self, rounds)

    def timeline(self) -> Any:
        """Return the recording as trace events, see `msnb.insight.profile.timeline`."""
        return timeline.events(self)

    def save_timeline(self, path: str | Path) -> None:
        """Write the timeline to a JSON file for https://ui.perfetto.dev and chrome://tracing.

        Args:
            path (str): path of the file.
        """
        timeline.write(self, path)

    def text(self, rows: int = 12) -> str:
        """Return the profile as a table for a terminal.

        Args:
            rows (int): number of operators. Default: 12.
        """
        return table(self, rows)

    def close(self) -> None:
        """Free the arrays and traces that `replay` and `timeline` need."""
        self.recording.kernels, self.recording.dispatched = [], []
        self.recording.programs = {}

    def __repr__(self) -> str:
        return self.text()
