"""Compute the rows of a profile in PYNATIVE mode. The recorder waits for each operator, so calls do not overlap."""

import bisect
from typing import TYPE_CHECKING

from msnb.core.jaxpr.op_names import operator_in

from . import wall_time
from .rows import Row

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.figures import Figures

_NS = 1e-9


def measure(profile: "Figures", compiling: list[tuple[int, int]]) -> None:
    """Set the parts and the rows of a profile from the operator calls in its steps."""
    window, count = profile._get_traced_window()
    traced = wall_time.union((kernel.start, kernel.end) for kernel in profile._list_kernels_in_window(window))
    if not traced:
        window, count = wall_time.union(profile._steps), len(profile._steps)
    starts = [start for start, _ in window]
    calls = []
    for call in profile.recording.dispatched:
        at = bisect.bisect_right(starts, call.start) - 1
        if at >= 0 and call.done <= window[at][1]:
            calls.append(call)
    if traced:
        _set_kernel_times(calls, traced)
    profile.parts = profile._split_step_time(
        window, count, traced or wall_time.union([(c.sent, c.done) for c in calls]), compiling
    )
    if len(profile.steps) > count > 0 and traced:
        profile._drop_traced_steps(count)
    if calls:
        profile.notes.append(
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
    profile.rows = list(rows.values())


def _set_kernel_times(calls, traced):
    """Set the kernel time of each call. Calls are sequential, so each kernel belongs to one call."""
    ends = [end for _, end in traced]
    for call in calls:
        call.busy, at = 0, bisect.bisect_right(ends, call.start)
        while at < len(traced) and traced[at][0] < call.done:
            call.busy += min(traced[at][1], call.done) - max(traced[at][0], call.start)
            at += 1
