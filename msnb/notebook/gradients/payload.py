"""A recording as the bytes that the gradient view is drawn from, within a budget that a notebook file can carry."""

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb.insight.gradients.recording import STATISTICS
from msnb.insight.gradients.summary import BINS
from msnb.ir.source import show

if TYPE_CHECKING:  # named in annotations alone
    from msnb.insight.gradients.findings import Finding
    from msnb.insight.gradients.recording import Recording

_CELLS = 6000  # rows x steps
_TENSOR_BYTES = 120_000  # of whole tensors in a saved view
_ELEMENTS = 65_536  # of one tensor
_STEPS = 8  # that a tensor has at least, before its leading axes are cut


def pack(recording: "Recording", findings: "list[Finding]") -> bytes:
    """gzip of JSON; the same recording gives the same bytes.

    Args:
        recording (Recording): what to show.
        findings (list[Finding]): what is said about it.
    """
    rows = recording.rows()
    steps = _spread(recording.steps, max(2, _CELLS // max(1, len(rows))), recording)
    number = {row.name: i for i, row in reversed(list(enumerate(rows)))}
    tensors, notes = _tensors(recording)
    made = {
        "mode": recording.mode,
        "level": recording.level,
        "statistics": STATISTICS,
        "bins": BINS,
        "steps": [s.number for s in steps],
        "loss": [_short(s.loss) for s in steps],
        "notes": [
            *recording.notes(),
            *notes,
            *(
                [f"The view shows {len(steps)} of {len(recording.steps)} recorded steps."]
                if len(steps) < len(recording.steps)
                else []
            ),
        ],
        "findings": [
            {
                "kind": f.kind,
                "severity": f.severity,
                "text": f.text,
                "step": f.step,
                "line": show(f.source),
                "rows": [number[n] for n in f.names if n in number],
            }
            for f in findings
        ],
        "rows": [_row(recording, row, steps) for row in rows],
        "tensors": tensors,
        "at_hand": [[*key, list(array.shape)] for key, array in sorted(recording.latest.items())],
        "nodes": len(recording.graph) if recording.graph is not None else 0,
    }
    return gzip.compress(json.dumps(made, separators=(",", ":")).encode(), 9, mtime=0)


def _spread(steps, most, recording):
    """At most about `most` of the steps, evenly; the last and the one with the first NaN among them."""
    if len(steps) <= most:
        return steps
    wanted = {round(i * (len(steps) - 1) / (most - 1)) for i in range(most)}
    odd = recording.nonfinite.step if recording.nonfinite is not None else None
    return [s for i, s in enumerate(steps) if i in wanted or s.number == odd]


def _row(recording, row, steps):
    values = np.array([recording.values(row, s) for s in steps])
    columns = {
        name: [_short(v) for v in values[:, i]]
        for i, name in enumerate(STATISTICS)
        if len(values) and not np.isnan(values[:, i]).all()
    }
    return {
        "kind": row.kind,
        "name": row.name,
        "shape": list(row.shape),
        "dtype": row.dtype,
        "op": row.op,
        "cell": row.cell,
        "line": show(row.source),
        "node": row.node,
        "maker": row.maker,
        "size": row.size,
        "values": columns,
        "bars": _bars(recording, row, steps),
    }


def _bars(recording, row, steps):
    """Histograms of all steps as base64 of one byte per bin, each scaled to its own largest."""
    made = np.zeros((len(steps), BINS), np.uint8)
    for place, step in enumerate(steps):
        found = recording.histogram(row, step)
        if found is not None and found[0].max():
            made[place] = np.round(found[0] * (255 / found[0].max()))
    return base64.b64encode(made.tobytes()).decode() if made.any() else ""


def _tensors(recording):
    """([{kind, name, shape, steps, data}], notes): whole tensors in float32, as far as they fit."""
    found, notes, left = [], [], _TENSOR_BYTES
    count = len(recording.tensors)
    for (kind, name), kept in sorted(recording.tensors.items()):
        share = left // max(1, count)
        count -= 1
        one = next(iter(kept.values()))
        numbers = sorted(kept)
        room = max(1, min(_ELEMENTS, share // 4 // min(_STEPS, len(numbers))))
        shape, cut = _cut(one.shape, room)
        most = max(1, share // max(4, 4 * int(np.prod(shape))))
        if len(numbers) > most:
            numbers = (
                [numbers[round(i * (len(numbers) - 1) / (most - 1))] for i in range(most)] if most > 1 else numbers[-1:]
            )
        data = b"".join(np.ascontiguousarray(kept[n][cut], np.float32).tobytes() for n in numbers)
        left -= len(data)
        if cut or len(numbers) < len(kept):
            notes.append(
                f"Of {kind}:{name} the view has {len(numbers)} of {len(kept)} steps"
                + (f" and the first {shape} of {list(one.shape)}" if cut else "")
                + f"; all of it: recording.tensor('{kind}:{name}', step)."
            )
        found.append(
            {"kind": kind, "name": name, "shape": shape, "steps": numbers, "data": base64.b64encode(data).decode()}
        )
    return found, notes


def tensor_of(recording: "Recording", kind: str, name: str) -> dict[str, Any]:
    """One whole tensor of the last step, as the payload has those that were recorded so.

    Args:
        recording (Recording): what has it.
        kind (str), name (str): of its row.

    Raises:
        KeyError: If it is not at hand.
    """
    values = recording.tensor(f"{kind}:{name}")
    shape, cut = _cut(values.shape, _ELEMENTS)
    step = max(recording.tensors.get((kind, name), ()), default=recording.numbers[-1])
    return {"kind": kind, "name": name, "shape": shape, "steps": [step], "data": _base64(values[cut])}


def _base64(values):
    return base64.b64encode(np.ascontiguousarray(values, np.float32).tobytes()).decode()


def _cut(shape, room):
    """(shape, slices) of the leading part of a tensor that has at most about `room` elements."""
    shape, before = list(shape), list(shape)
    for axis in range(len(shape)):
        rest = int(np.prod(shape[axis + 1 :]))
        if shape[axis] * rest <= room:
            break
        shape[axis] = max(1, room // max(1, rest))
    return shape, tuple(slice(n) for n in shape) if shape != before else ()


def _short(value):
    """Four digits, what JSON has no word for as text, and None for what is unknown."""
    if value is None or value != value:
        return None if value is None or np.isnan(value) else str(value)
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.4g}")
