"""Serialize a recording for the gradient view, within a size limit for notebook files."""

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb.insight.gradients.recording import STATISTICS
from msnb.insight.gradients.summary import BINS
from msnb.ir.source import show

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.gradients.findings import Finding
    from msnb.insight.gradients.recording import Recording

_CELLS = 6000  # maximum of rows x steps
_TENSOR_BYTES = 120_000  # size limit of the full tensors in a saved view
_ELEMENTS = 65_536  # maximum elements of one tensor
_STEPS = 8  # steps to keep per tensor; if they are too large, its leading axes are cropped


def pack(recording: "Recording", findings: "list[Finding]") -> bytes:
    """Return the recording as gzipped JSON. Equal recordings have equal bytes.

    Args:
        recording (Recording): the recording.
        findings (list[Finding]): the diagnoses of the recording.
    """
    rows = recording.rows()
    steps = _sample_steps(recording.steps, max(2, _CELLS // max(1, len(rows))), recording)
    number = {row.name: i for i, row in reversed(list(enumerate(rows)))}
    tensors, notes = _pack_tensors(recording)
    payload = {
        "mode": recording.mode,
        "level": recording.level,
        "statistics": STATISTICS,
        "bins": BINS,
        "steps": [s.number for s in steps],
        "loss": [_round_for_json(s.loss) for s in steps],
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
        "rows": [_pack_row(recording, row, steps) for row in rows],
        "tensors": tensors,
        "at_hand": [[*key, list(array.shape)] for key, array in sorted(recording.latest.items())],
        "nodes": len(recording.graph) if recording.graph is not None else 0,
    }
    return gzip.compress(json.dumps(payload, separators=(",", ":")).encode(), 9, mtime=0)


def _sample_steps(steps, most, recording):
    """Return about `most` evenly spaced steps, including the last one and the one with the first NaN."""
    if len(steps) <= most:
        return steps
    indices = {round(i * (len(steps) - 1) / (most - 1)) for i in range(most)}
    odd = recording.nonfinite.step if recording.nonfinite is not None else None
    return [s for i, s in enumerate(steps) if i in indices or s.number == odd]


def _pack_row(recording, row, steps):
    values = np.array([recording.values(row, s) for s in steps])
    columns = {
        name: [_round_for_json(v) for v in values[:, i]]
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
        "bars": _pack_histograms(recording, row, steps),
    }


def _pack_histograms(recording, row, steps):
    """Return histograms of all steps in base64, one byte per bin, each scaled to its own maximum."""
    heights = np.zeros((len(steps), BINS), np.uint8)
    for place, step in enumerate(steps):
        histogram = recording.histogram(row, step)
        if histogram is not None and histogram[0].max():
            heights[place] = np.round(histogram[0] * (255 / histogram[0].max()))
    return base64.b64encode(heights.tobytes()).decode() if heights.any() else ""


def _pack_tensors(recording):
    """Return ([{kind, name, shape, steps, data}], notes): tensors in float32 within the size limit."""
    rows, notes, left = [], [], _TENSOR_BYTES
    count = len(recording.tensors)
    for (kind, name), values_by_step in sorted(recording.tensors.items()):
        share = left // max(1, count)
        count -= 1
        one = next(iter(values_by_step.values()))
        numbers = sorted(values_by_step)
        room = max(1, min(_ELEMENTS, share // 4 // min(_STEPS, len(numbers))))
        shape, cut = _crop_leading_axes(one.shape, room)
        most = max(1, share // max(4, 4 * int(np.prod(shape))))
        if len(numbers) > most:
            numbers = (
                [numbers[round(i * (len(numbers) - 1) / (most - 1))] for i in range(most)] if most > 1 else numbers[-1:]
            )
        data = b"".join(np.ascontiguousarray(values_by_step[n][cut], np.float32).tobytes() for n in numbers)
        left -= len(data)
        if cut or len(numbers) < len(values_by_step):
            notes.append(
                f"Of {kind}:{name} the view has {len(numbers)} of {len(values_by_step)} steps"
                + (f" and the first {shape} of {list(one.shape)}" if cut else "")
                + f"; all of it: recording.tensor('{kind}:{name}', step)."
            )
        rows.append(
            {"kind": kind, "name": name, "shape": shape, "steps": numbers, "data": base64.b64encode(data).decode()}
        )
    return rows, notes


def tensor_of(recording: "Recording", kind: str, name: str) -> dict[str, Any]:
    """Return all values of one tensor in the last step, in the payload's form.

    Args:
        recording (Recording): the recording.
        kind (str), name (str): kind and name of the tensor's row.

    Raises:
        KeyError: If it is not available.
    """
    values = recording.tensor(f"{kind}:{name}")
    shape, cut = _crop_leading_axes(values.shape, _ELEMENTS)
    step = max(recording.tensors.get((kind, name), ()), default=recording.numbers[-1])
    return {"kind": kind, "name": name, "shape": shape, "steps": [step], "data": _encode_base64(values[cut])}


def _encode_base64(values):
    return base64.b64encode(np.ascontiguousarray(values, np.float32).tobytes()).decode()


def _crop_leading_axes(shape, room):
    """Return (shape, slices) of a leading part of a tensor with at most about `room` elements."""
    shape, before = list(shape), list(shape)
    for axis in range(len(shape)):
        rest = int(np.prod(shape[axis + 1 :]))
        if shape[axis] * rest <= room:
            break
        shape[axis] = max(1, room // max(1, rest))
    return shape, tuple(slice(n) for n in shape) if shape != before else ()


def _round_for_json(value):
    """Round to four digits. Non-finite values become text, because JSON does not allow them. None remains None."""
    if value is None or value != value:
        return None if value is None or np.isnan(value) else str(value)
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.4g}")
