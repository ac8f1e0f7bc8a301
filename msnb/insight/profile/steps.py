"""Find the steps of a training in a recording, and the steady ones among them."""

import statistics
from typing import TYPE_CHECKING

from . import wall_time

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.record import Recording

Span = tuple[int, int]  # (start, end), nanoseconds


def find(recording: "Recording", compiling: list[Span]) -> tuple[list[Span], list[Span], list[str]]:
    """Return (steps without compiling, steps with compiling, remarks for the user).

    Without marks, a step is the time from one call of the longest-running network to the next. `Recorder` waits for the
    device before each call, so that a step contains only its own work.
    """
    notes = []
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
        (first if wall_time.clip(compiling, start, end) else clean).append((start, end))
    if not clean:
        notes.append(
            "Every step compiled something: times hold no compiling, but the step is not a steady one. Run more steps."
        )
        clean = steps
    elif len(clean) > 2 and not recording.steps:
        middle = statistics.median(end - start for start, end in clean)
        # an evaluation or a callback between two epochs is not a step, but a wait for the dataset belongs to one
        waits = wall_time.union(recording.waits)
        regular = [
            (start, end)
            for start, end in clean
            if end - start < 20 * middle or 2 * wall_time.length(wall_time.clip(waits, start, end)) > end - start
        ]
        if len(regular) < len(clean):
            notes.append(f"{len(clean) - len(regular)} pauses of more than 20 steps are left out.")
        clean = regular
    return clean, first, notes
