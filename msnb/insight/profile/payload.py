"""A profile as plain values that a page can draw: short keys, numbers rounded to what was measured."""

import bisect
from typing import TYPE_CHECKING, Any

from msnb.core.errors.cell_path import attribute_path
from msnb.core.jaxpr.op_names import operator_in
from msnb.ir.source import label

from .text import headline

if TYPE_CHECKING:  # named in annotations alone
    from msnb.insight.profile.result import Profile

_SPANS = 4000  # kernels of the one step that the timeline shows
_LIST = 60


def of_profile(profile: "Profile") -> dict[str, Any]:
    """A JSON-able dict of a profile; times in seconds, sizes in bytes.

    Args:
        profile (Profile): what was measured.
    """
    total = sum(profile.parts.values()) or 1.0
    low, high = profile.spread
    places = {}
    rows = [
        {
            "n": row.name,
            "o": row.op,
            "s": row.scope,
            "q": row.cell,
            "d": row.direction,
            "t": _round(row.seconds),
            "m": _round(row.measured if row.how != "replayed" else row.seconds),
            "f": _round(row.fused),
            "i": _round(row.inferred),
            "h": row.how,
            "w": int(row.flops),
            "b": int(row.nbytes),
            "k": row.kernels,
            "c": row.calls,
            "p": _round(profile.of_peak(row)),
            "r": _round(profile.at_work(row)),
            "l": _place(row.source),
            "x": _round(row.dispatch),
            "g": row.nodes if row.program == getattr(profile.program, "name", None) else [],
            "a": sorted(row.mates)[:6],
        }
        for row in profile.rows
    ]
    for number, row in enumerate(profile.rows):
        places.update({(row.program, ident): number for ident in row.nodes})
    machine = profile.machine
    return {
        "name": profile.name,
        "mode": profile.mode,
        "headline": headline(profile),
        "steps": [_round(s) for s in profile.steps[:500]],
        "first": [_round(s) for s in profile.first[:20]],
        "step": _round(profile.step_seconds),
        "low": _round(low),
        "high": _round(high),
        "compile": _round(profile.compile_seconds),
        "total": _round(total),
        "traced": _round(profile.traced),
        "parts": {name: _round(part) for name, part in profile.parts.items()},
        "how": {name: _round(part) for name, part in profile.attribution.items()} if profile.rows else {},
        "advice": [
            {
                "t": f.text,
                "s": _round(f.share),
                "m": f.label,
                "l": _place(f.source),
                "k": f.kind,
                "r": profile.rows.index(f.row) if f.row in profile.rows else -1,
            }
            for f in profile.advice
        ],
        "notes": profile.notes,
        "rows": rows,
        "cells": [
            {
                "s": cell.scope,
                "q": cell.name,
                "f": _round(cell.forward),
                "b": _round(cell.backward),
                "u": _round(cell.update),
                "o": _round(cell.own),
                "w": int(cell.flops),
                "l": _place(cell.source),
            }
            for cell in profile.cells
        ],
        "machine": {"device": machine.device, "flops": machine.flops, "bandwidth": machine.bandwidth},
        "memory": _memory(profile.memory, getattr(profile.program, "name", "")),
        "timeline": _timeline(profile, places),
    }


def _place(source):
    return [label(source[0]), source[1]] if source else None


def _round(value):
    """Four digits are more than a clock gives."""
    return None if value is None else float(f"{value:.4g}")


def _memory(memory, root):
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
            [size, name, attribute_path(scope, root), _place(source)]
            for size, name, scope, source in memory.activations[:_LIST]
        ],
        "kept": memory.activation_bytes,
        "curve": [list(point) for point in memory.curve],
        "top": [[size, name, attribute_path(scope, root), _place(source)] for size, name, scope, source in memory.top],
    }


def _timeline(profile, places):
    """One step: its lanes, what the host did, and each kernel with the row that it belongs to."""
    recording = profile.recording
    window, count = profile._window()
    steps = (
        [
            step
            for step in profile._steps
            if not recording.traced or step[0] >= recording.traced[0] and step[1] <= recording.traced[1]
        ]
        if count or profile.mode == "PYNATIVE"
        else []
    )
    if not steps:
        return None
    start, end = sorted(steps, key=lambda step: step[1] - step[0])[len(steps) // 2]  # the middle one
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
        row = places.get((program.name, owner.nodes[0].id), -1) if owner is not None and owner.nodes else -1
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
