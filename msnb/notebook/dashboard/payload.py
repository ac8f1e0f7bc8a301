"""Serialize the data of a dashboard: a JSON header followed by raw arrays."""

import gzip
import json
import math
import struct
from typing import Any

import numpy as np

from msnb.insight.runs import Histogram, Image, Run, TensorValue
from msnb.insight.runs.downsampling import Columns, between, evenly, in_common_bins, thinned
from msnb.insight.runs.values import Series, Stored
from msnb.notebook.graph import GraphView

_POINTS = 75_000  # points of all curves together: 250 points for each of 300 curves, about one per pixel of its chart
_LEAST, _MOST = 120, 600  # minimum and maximum number of points of one curve
_IMAGES, _HISTOGRAMS, _TENSORS = 24, 40, 20  # displayed steps of one tag
_IMAGE_BYTES = 12_000_000  # size limit of all pictures together
_BINS = 60
_VALUES = 20_000  # maximum elements of one tensor; a larger one is sent on request, for its last step only
_NODES = 5000  # maximum nodes of a graph; larger graphs are not included
_LETTERS = {"f": "f4", "d": "f8", "I": "u4", "B": "u1"}


class Pack:
    """Collect arrays and bytes for one message."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._table: list[tuple[str, int, int]] = []
        self._size = 0

    def add(self, letter: str, values: Any) -> int:
        """Append an array and return its number in the message. `letter` is the element type as in the module
        `struct`.
        """
        with np.errstate(over="ignore"):  # values beyond the range of float32 become infinite
            data = values if isinstance(values, bytes) else np.ascontiguousarray(values, _LETTERS[letter]).tobytes()
        self._table.append((letter, self._size, len(data) // np.dtype(_LETTERS[letter]).itemsize))
        data += bytes(-len(data) % 8)
        self._parts.append(data)
        self._size += len(data)
        return len(self._table) - 1

    def bytes(self, header: dict[str, Any]) -> bytes:
        """Return the message."""
        text = json.dumps({**header, "arrays": self._table}, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-(len(text) + 4) % 8)
        return struct.pack("<I", len(text)) + text + b"".join(self._parts)


def full_state(runs: list[Run], title: str, waiting: str = "") -> bytes:
    """Return the full state of the dashboard for these runs. `waiting` is the message for an empty dashboard."""
    pack = Pack()
    curves = [(number, tag) for number, run in enumerate(runs) for tag in run.tags["scalar"]]
    header = {
        "kind": "whole",
        "title": title,
        "waiting": waiting,
        "runs": [about(run) for run in runs],
        "scalars": _pack_scalars(pack, runs, curves, columns(len(curves))),
        "graphs": [one for number, run in enumerate(runs) for one in _pack_graphs(pack, number, run)],
    }
    for kind in ("images", "histograms", "tensors"):
        header[kind] = _pack_values(pack, runs, kind)
    return pack.bytes(header)


def columns(curves: int) -> int:
    """Return the number of points per curve in a dashboard with `curves` curves."""
    return max(_LEAST, min(_MOST, _POINTS // max(curves, 1)))


def saved(payload: bytes) -> bytes:
    """Return a message in compressed form, for a saved page."""
    return gzip.compress(payload, 6, mtime=0)


def news(
    runs: list[Run],
    sent_scalars: dict[tuple[int, str], tuple[Any, ...]],
    sent_others: dict[tuple[int, str, str], Any],
    anyhow: bool = False,
) -> bytes | None:
    """Return the values that the view does not have yet, None if there are none.

    Args:
        runs (list[Run]): all of them; new runs come after the others.
        sent_scalars (dict): (index of the run, tag) -> state of the scalars in the view, from `counted`; updated in
            place.
        sent_others (dict): (index of the run, kind, tag) -> state of other values and graphs; updated in place.
        anyhow (bool): True to send a message without new values, for example for the state of a run. Default: False.
    """
    pack = Pack()
    rows, parts, fresh = [], [], []
    for number, run in enumerate(runs):
        for tag in run.tags["scalar"]:
            series = run.scalar(tag)
            before, now = sent_scalars.get((number, tag)), _fingerprint_series(series)
            if before == now:
                continue
            sent_scalars[number, tag] = now
            had, n = before[0] if before else 0, now[0]
            # send the full curve: it is new, has grown a lot, or a resumed training has replaced values
            if had == 0 or n - had > _LEAST or before != _fingerprint_series(series, had):
                fresh.append((number, tag))
            else:
                parts.append(thinned(type(series)(*(part[had:] for part in series)), _LEAST))
                rows.append([number, tag, had, len(parts[-1].steps)])
    header: dict[str, Any] = {"kind": "news", "runs": [about(run) for run in runs]}
    if rows:
        header["more"] = {"rows": rows, **_pack_curves(pack, runs, rows, parts)}
    if fresh:
        header["scalars"] = _pack_scalars(pack, runs, fresh, columns(len(sent_scalars)))
    for kind in ("images", "histograms", "tensors"):
        new_values = _pack_values(pack, runs, kind, sent_others)
        if new_values:
            header[kind] = new_values
    new_graphs = []
    for number, run in enumerate(runs):
        there = _count_graphs(run)
        if sent_others.get((number, "graph", ""), 0) != there:
            sent_others[number, "graph", ""] = there
            new_graphs += _pack_graphs(pack, number, run)
    if new_graphs:
        header["graphs"] = new_graphs
    return pack.bytes(header) if anyhow or len(header) > 2 else None


def counted(
    runs: list[Run],
) -> tuple[dict[tuple[int, str], tuple[Any, ...]], dict[tuple[int, str, str], Any]]:
    """Return the arguments `sent_scalars` and `sent_others` of `news` for a view that has received `full_state`."""
    sent_scalars = {
        (number, tag): _fingerprint_series(run.scalar(tag))
        for number, run in enumerate(runs)
        for tag in run.tags["scalar"]
    }
    other: dict[tuple[int, str, str], Any] = {
        (number, kind, tag): _fingerprint_stored_values(run.places(kind, tag))
        for number, run in enumerate(runs)
        for kind in ("image", "histogram", "tensor")
        for tag in run.tags[kind]
    }
    other |= {(number, "graph", ""): _count_graphs(run) for number, run in enumerate(runs)}
    return sent_scalars, other


def _fingerprint_series(series: Series, n: int | None = None) -> tuple[Any, ...]:
    """Return (number of values, last value) of a series. The last value detects a replacement by a resumed training."""
    n = len(series.values) if n is None else n
    if not 0 < n <= len(series.values):
        return (n,)
    return n, int(series.steps[n - 1]), series.times[n - 1].tobytes()


def _fingerprint_stored_values(places: list[Stored]) -> tuple[Any, ...]:
    return len(places), *places[-1:]


def detail(runs: list[Run], tags: list[str], first: float, last: float) -> bytes:
    """Return curves between two steps at full drawing resolution."""
    pack, rows, parts = Pack(), [], []
    for number, run in enumerate(runs):
        for tag in tags:
            if tag in run.tags["scalar"]:
                parts.append(thinned(between(run.scalar(tag), first, last), _MOST))
                rows.append([number, tag, len(parts[-1].steps), len(parts[-1].steps)])
    return pack.bytes(
        {
            "kind": "detail",
            "first": first,
            "last": last,
            "scalars": {"rows": rows, **_pack_curves(pack, runs, rows, parts)},
        }
    )


def about(run: Run) -> dict[str, Any]:
    """Return id, name, state, times and problems of a run."""
    return {
        "id": run.id,
        "name": run.name,
        "state": run.outcome,
        "started": run.started,
        "ended": run.ended,
        "problems": run.problems[:3],
    }


def _pack_scalars(pack, runs, curves, most):
    parts = [thinned(runs[number].scalar(tag), most) for number, tag in curves]
    rows = [
        [number, tag, len(runs[number].scalar(tag).values), len(part.steps)]
        for (number, tag), part in zip(curves, parts, strict=True)
    ]
    return {"rows": rows, **_pack_curves(pack, runs, rows, parts)}


def _pack_curves(pack, runs, rows, parts: list[Columns]):
    """Concatenate all curves. Return {column: number of its array in the message}.

    Times are relative to the start of each run. Most curves of a run have the same steps. These are stored once, and
    the offset of its steps is appended to the row of each curve.
    """
    places, size = {}, 0
    arrays = {name: [] for name in Columns._fields}
    for row, part in zip(rows, parts, strict=True):
        shared = {
            "steps": part.steps,
            "times": part.times - (runs[row[0]].started or 0.0),
            "counts": part.counts,
            "bad": part.bad,
        }
        key = tuple(array.tobytes() for array in shared.values())
        if key not in places:
            places[key], size = size, size + len(part.steps)
            for name, array in shared.items():
                arrays[name].append(array)
        row.append(places[key])
        for name in ("low", "high", "mean"):
            arrays[name].append(getattr(part, name))
    letters = {"steps": "d", "counts": "I", "bad": "I"}
    return {
        name: pack.add(letters.get(name, "f"), np.concatenate(some) if some else np.empty(0))
        for name, some in arrays.items()
    }


_MAX_STEPS = {"images": _IMAGES, "histograms": _HISTOGRAMS, "tensors": _TENSORS}


def _pack_values(pack, runs, kind, sent=None):
    """Pack the values of one kind and return their tags. With `sent`, only tags with more values than in `sent` are
    packed.
    """
    makers = {"images": _pack_images, "histograms": _pack_histograms, "tensors": _pack_tensors}
    single, tag_rows = kind[:-1], []
    tags = [(number, run, tag) for number, run in enumerate(runs) for tag in run.tags[single]]
    for number, run, tag in tags:
        places = run.places(single, tag)
        if sent is not None:
            if sent.get((number, single, tag)) == _fingerprint_stored_values(places):
                continue
            sent[number, single, tag] = _fingerprint_stored_values(places)
        most = _MAX_STEPS[kind]
        if kind == "images":
            room = _IMAGE_BYTES // len(tags)
            most = max(2, min(most, room // max(1, max((place.length for place in places), default=1))))
        values = run.read(single, evenly(places, most))
        if values:
            tag_rows.append({"run": number, "tag": tag, "n": len(places), **makers[kind](pack, run, values)})
    return tag_rows


def _pack_images(pack, run, images: list[Image]):
    rows = [
        [one.step, _compute_seconds_since_start(run, one.time), one.width, one.height, pack.add("B", one.png)]
        for one in images
    ]
    return {"items": rows}


def _pack_histograms(pack, run, histograms: list[Histogram]):
    edges, counts = in_common_bins(histograms, _BINS)
    return {
        "low": float(edges[0]),
        "high": float(edges[-1]),
        "bins": _BINS,
        "steps": [one.step for one in histograms],
        "times": [_compute_seconds_since_start(run, one.time) for one in histograms],
        "bad": [one.nan + one.above + one.below for one in histograms],
        "counts": pack.add("f", counts),
    }


def _pack_tensors(pack, run, tensors: list[TensorValue]):
    return {"items": [tensor_row(pack, run, one) for one in tensors]}


def tensor_row(pack: Pack, run: Run, one: TensorValue, is_complete: bool = False) -> list[Any]:
    """Return [step, seconds, shape, element type, array number of its values or None if there are too many]."""
    small = is_complete or one.array.size <= _VALUES
    array = np.abs(one.array) if np.iscomplexobj(one.array) else one.array
    values = pack.add("d", array.astype(np.float64)) if small else None
    return [one.step, _compute_seconds_since_start(run, one.time), list(one.array.shape), str(one.array.dtype), values]


def _compute_seconds_since_start(run, time):
    seconds = time - (run.started or 0.0)
    return seconds if math.isfinite(seconds) else 0.0


def _count_graphs(run):
    return len(run.tags["graph"]) + ("dataset" in run.lineage)


def _pack_graphs(pack, number, run):
    for kind, graph in (("network", run.graph()), ("data pipeline", run.dataset_graph())):
        if graph is not None and 0 < len(graph) <= _NODES:
            yield {"run": number, "kind": kind, "payload": pack.add("B", GraphView(graph).payload)}
