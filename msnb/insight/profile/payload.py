"""Convert a profile to plain values for its page: short keys, numbers rounded to the precision of the measurement."""

import bisect
from typing import TYPE_CHECKING, Any

from msnb.core.errors.cell_path import attribute_path
from msnb.core.jaxpr.op_names import operator_in
from msnb.ir.source import label

from .text import headline

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.result import Profile

_SPANS = 4000  # maximum number of kernels in the timeline of a step
_LIST = 60


def of_profile(profile: "Profile") -> dict[str, Any]:
    """Return a profile as a dict that can be written as JSON; times in seconds, sizes in bytes.

    Args:
        profile (Profile): the profile.
    """
    total = sum(profile.parts.values()) or 1.0
    low, high = profile.spread
    machine = profile.machine
    return {
        "name": profile.name,
        "mode": profile.mode,
        "headline": headline(profile),
        "steps": [_round_to_four_digits(s) for s in profile.steps[:500]],
        "first": [_round_to_four_digits(s) for s in profile.first[:20]],
        "step": _round_to_four_digits(profile.step_seconds),
        "low": _round_to_four_digits(low),
        "high": _round_to_four_digits(high),
        "compile": _round_to_four_digits(profile.compile_seconds),
        "total": _round_to_four_digits(total),
        "traced": _round_to_four_digits(profile.traced),
        "parts": {name: _round_to_four_digits(part) for name, part in profile.parts.items()},
        "how": {name: _round_to_four_digits(part) for name, part in profile.attribution.items()}
        if profile.rows
        else {},
        "advice": [_pack_finding(profile, finding) for finding in profile.advice],
        "notes": profile.notes,
        "rows": [_pack_row(profile, row) for row in profile.rows],
        "cells": [_pack_cell(cell) for cell in profile.cells],
        "machine": {"device": machine.device, "flops": machine.flops, "bandwidth": machine.bandwidth},
        "memory": _pack_memory(profile.memory, getattr(profile.program, "name", "")),
        "timeline": _pack_timeline(profile),
    }


def _pack_row(profile, row):
    return {
        "n": row.name,
        "o": row.op,
        "s": row.scope,
        "q": row.cell,
        "d": row.direction,
        "t": _round_to_four_digits(row.seconds),
        "m": _round_to_four_digits(row.measured if row.how != "replayed" else row.seconds),
        "f": _round_to_four_digits(row.fused),
        "i": _round_to_four_digits(row.inferred),
        "h": row.how,
        "w": int(row.flops),
        "b": int(row.nbytes),
        "k": row.kernels,
        "c": row.calls,
        "p": _round_to_four_digits(profile.of_peak(row)),
        "r": _round_to_four_digits(profile.at_work(row)),
        "l": _format_source(row.source),
        "x": _round_to_four_digits(row.dispatch),
        "g": row.nodes if row.program == getattr(profile.program, "name", None) else [],
        "a": sorted(row.mates)[:6],
    }


def _pack_finding(profile, finding):
    return {
        "t": finding.text,
        "s": _round_to_four_digits(finding.share),
        "m": finding.label,
        "l": _format_source(finding.source),
        "k": finding.kind,
        "r": profile.rows.index(finding.row) if finding.row in profile.rows else -1,
    }


def _pack_cell(cell):
    return {
        "s": cell.scope,
        "q": cell.name,
        "f": _round_to_four_digits(cell.forward),
        "b": _round_to_four_digits(cell.backward),
        "u": _round_to_four_digits(cell.update),
        "o": _round_to_four_digits(cell.own),
        "w": int(cell.flops),
        "l": _format_source(cell.source),
    }


def _format_source(source):
    return [label(source[0]), source[1]] if source else None


def _round_to_four_digits(value):
    """Round to four digits, the precision of the clock."""
    return None if value is None else float(f"{value:.4g}")


def _pack_memory(memory, root):
    if memory is None:
        return None
    return {
        "arguments": memory.arguments,
        "outputs": memory.outputs,
        "temporary": memory.temporary,
        "shared": memory.shared,
        "peak": memory.peak,
        "parameters": [[name, size, int(trained)] for name, size, trained in memory.parameters[:_LIST]],
        "trained": sum(size for _, size, trained in memory.parameters if trained),
        "state": sum(size for _, size, trained in memory.parameters if not trained),
        "activations": [
            [size, name, attribute_path(scope, root), _format_source(source)]
            for size, name, scope, source in memory.activations[:_LIST]
        ],
        "kept": memory.activation_bytes,
        "curve": [list(point) for point in memory.curve],
        "top": [
            [size, name, attribute_path(scope, root), _format_source(source)]
            for size, name, scope, source in memory.top
        ],
    }


def _select_median_step(profile):
    """Return (start, end) of the traced step of median duration, or None. PYNATIVE mode needs no trace."""
    traced = profile.recording.traced
    if profile.mode != "PYNATIVE" and not profile._get_traced_window()[1]:
        return None
    steps = [(start, end) for start, end in profile._steps if not traced or start >= traced[0] and end <= traced[1]]
    return sorted(steps, key=lambda step: step[1] - step[0])[len(steps) // 2] if steps else None


def _pack_timeline(profile):
    """Return one step: its lanes, the host's activity, and each kernel with its row."""
    recording = profile.recording
    step = _select_median_step(profile)
    if step is None:
        return None
    start, end = step
    lanes, spans = [], []

    def lane(name):
        if name not in lanes:
            lanes.append(name)
        return lanes.index(name)

    def add(name, begun, ended, row, kind, title):
        if ended > start and begun < end:
            begun, ended = max(begun, start), min(ended, end)
            spans.append([lane(name), (begun - start) / 1e3, (ended - begun) / 1e3, row, kind, title])

    for net, begun, ended in recording.calls:
        add("Python", begun, ended, -1, "call", getattr(net, "__name__", type(net).__name__))
    for begun, ended in recording.waits:
        add("dataset", begun, ended, -1, "data", "next row")
    for begun, ended in recording.compiling:
        add("compiling", begun, ended, -1, "compile", "compile")
    numbers = {
        (row.scope, row.op, row.direction, row.source and row.source[:2]): index
        for index, row in enumerate(profile.rows)
    }
    row_of_node = {(row.program, ident): index for index, row in enumerate(profile.rows) for ident in row.nodes}
    called = []
    for call in recording.dispatched:
        op = operator_in(call.name)
        direction = "backward" if call.backward else "forward"
        bare = op.removesuffix("Grad") if call.backward else op
        row = numbers.get((call.scope, bare, direction, call.source and call.source[:2]), -1)
        add("operators", call.start, call.done, row, "call", op)
        called.append((call.start, call.done, row))
    for kernel in recording.kernels:
        program = profile._modules.get(kernel.run[:2])
        owner = profile._owners.get(program, {}).get(kernel.op)
        row = row_of_node.get((program.name, owner.nodes[0].id), -1) if owner is not None and owner.nodes else -1
        how = owner.how if owner is not None else "outside"
        if called:
            at = bisect.bisect_right(called, (kernel.start, kernel.end, len(profile.rows))) - 1
            row, how = (called[at][2], "measured") if at >= 0 and kernel.start < called[at][1] else (-1, how)
        add(kernel.lane, kernel.start, kernel.end, row, how, kernel.op)
    if len(spans) > _SPANS:
        spans = sorted(spans, key=lambda span: -span[2])[:_SPANS]
    spans.sort(key=lambda span: span[1])
    return {
        "lanes": lanes,
        "length": (end - start) / 1e3,
        "spans": [[s[0], round(s[1], 2), round(s[2], 2), *s[3:]] for s in spans],
    }
