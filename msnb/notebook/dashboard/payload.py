"""The bytes that a dashboard is drawn from: a header in JSON, and behind it the numbers as they lie in memory."""

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

_POINTS = 75_000  # columns in all; of 300 curves each gets 250, about the pixels that its chart is wide
_LEAST, _MOST = 120, 600  # columns of one curve
_IMAGES, _HISTOGRAMS, _TENSORS = 24, 40, 20  # steps of one tag that are shown
_IMAGE_BYTES = 12_000_000  # of all pictures together
_BINS = 60
_VALUES = 20_000  # of one tensor; of a larger one the last step comes when it is asked for
_NODES = 5000  # a larger graph is shown by itself
_LETTERS = {"f": "f4", "d": "f8", "I": "u4", "B": "u1"}


class Pack:
    """Collects arrays and bytes for one message."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._table: list[tuple[str, int, int]] = []
        self._size = 0

    def add(self, letter: str, values: Any) -> int:
        """Number of an array in the message; `letter` is its element type as the module `struct` calls it."""
        with np.errstate(over="ignore"):  # beyond float32 a number is infinite
            kept = values if isinstance(values, bytes) else np.ascontiguousarray(values, _LETTERS[letter]).tobytes()
        self._table.append((letter, self._size, len(kept) // np.dtype(_LETTERS[letter]).itemsize))
        kept += bytes(-len(kept) % 8)
        self._parts.append(kept)
        self._size += len(kept)
        return len(self._table) - 1

    def bytes(self, header: dict[str, Any]) -> bytes:
        """The message."""
        text = json.dumps({**header, "arrays": self._table}, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-(len(text) + 4) % 8)
        return struct.pack("<I", len(text)) + text + b"".join(self._parts)


def whole(runs: list[Run], title: str, waiting: str = "") -> bytes:
    """All that the dashboard shows of these runs; `waiting` is what it says where there is none yet."""
    pack = Pack()
    curves = [(number, tag) for number, run in enumerate(runs) for tag in run.tags["scalar"]]
    header = {
        "kind": "whole",
        "title": title,
        "waiting": waiting,
        "runs": [about(run) for run in runs],
        "scalars": _scalars(pack, runs, curves, columns(len(curves))),
        "graphs": [one for number, run in enumerate(runs) for one in _graphs(pack, number, run)],
    }
    for kind in ("images", "histograms", "tensors"):
        header[kind] = _values(pack, runs, kind)
    return pack.bytes(header)


def columns(curves: int) -> int:
    """In how many columns each of so many curves is shown."""
    return max(_LEAST, min(_MOST, _POINTS // max(curves, 1)))


def saved(payload: bytes) -> bytes:
    """The same for a page: packed."""
    return gzip.compress(payload, 6, mtime=0)


def news(
    runs: list[Run],
    known: dict[tuple[int, str], tuple[Any, ...]],
    other: dict[tuple[int, str, str], Any],
    anyhow: bool = False,
) -> bytes | None:
    """What came since the view knew so many values of each tag, None where nothing did.

    Args:
        runs (list[Run]): all of them; those that came later stand behind the others.
        known (dict): (number of the run, tag) -> the scalars that the view has, as `counted` says; brought up to date.
        other (dict): (number of the run, kind, tag) -> its other values, and how many graphs; brought up to date.
        anyhow (bool): whether something else is to be told, as the state of a run. Default: False.
    """
    pack = Pack()
    rows, parts, fresh = [], [], []
    for number, run in enumerate(runs):
        for tag in run.tags["scalar"]:
            series = run.scalar(tag)
            before, now = known.get((number, tag)), _until(series)
            if before == now:
                continue
            known[number, tag] = now
            had, n = before[0] if before else 0, now[0]
            if had == 0 or n - had > _LEAST or before != _until(series, had):  # the last where a training was resumed
                fresh.append((number, tag))
            else:
                parts.append(thinned(type(series)(*(part[had:] for part in series)), _LEAST))
                rows.append([number, tag, had, len(parts[-1].steps)])
    header: dict[str, Any] = {"kind": "news", "runs": [about(run) for run in runs]}
    if rows:
        header["more"] = {"rows": rows, **_joined(pack, runs, rows, parts)}
    if fresh:
        header["scalars"] = _scalars(pack, runs, fresh, columns(len(known)))
    for kind in ("images", "histograms", "tensors"):
        found = _values(pack, runs, kind, other)
        if found:
            header[kind] = found
    drawn = []
    for number, run in enumerate(runs):
        there = _graphs_of(run)
        if other.get((number, "graph", ""), 0) != there:
            other[number, "graph", ""] = there
            drawn += _graphs(pack, number, run)
    if drawn:
        header["graphs"] = drawn
    return pack.bytes(header) if anyhow or len(header) > 2 else None


def counted(
    runs: list[Run],
) -> tuple[dict[tuple[int, str], tuple[Any, ...]], dict[tuple[int, str, str], Any]]:
    """What a view has that was just drawn whole, for `news`."""
    known = {(number, tag): _until(run.scalar(tag)) for number, run in enumerate(runs) for tag in run.tags["scalar"]}
    other: dict[tuple[int, str, str], Any] = {
        (number, kind, tag): _ends(run.places(kind, tag))
        for number, run in enumerate(runs)
        for kind in ("image", "histogram", "tensor")
        for tag in run.tags[kind]
    }
    other |= {(number, "graph", ""): _graphs_of(run) for number, run in enumerate(runs)}
    return known, other


def _until(series: Series, n: int | None = None) -> tuple[Any, ...]:
    """How many values a view has of a series, and which is the last: what was replaced since is told by that."""
    n = len(series.values) if n is None else n
    if not 0 < n <= len(series.values):
        return (n,)
    return n, int(series.steps[n - 1]), series.times[n - 1].tobytes()


def _ends(places: list[Stored]) -> tuple[Any, ...]:
    return len(places), *places[-1:]


def detail(runs: list[Run], tags: list[str], first: float, last: float) -> bytes:
    """Curves between two steps, as fine as can be drawn."""
    pack, rows, parts = Pack(), [], []
    for number, run in enumerate(runs):
        for tag in tags:
            if tag in run.tags["scalar"]:
                parts.append(thinned(between(run.scalar(tag), first, last), _MOST))
                rows.append([number, tag, len(parts[-1].steps), len(parts[-1].steps)])
    return pack.bytes(
        {"kind": "detail", "first": first, "last": last, "scalars": {"rows": rows, **_joined(pack, runs, rows, parts)}}
    )


def about(run: Run) -> dict[str, Any]:
    """What the view says of a run."""
    return {
        "id": run.id,
        "name": run.name,
        "state": run.outcome,
        "started": run.started,
        "ended": run.ended,
        "problems": run.problems[:3],
    }


def _scalars(pack, runs, curves, most):
    parts = [thinned(runs[number].scalar(tag), most) for number, tag in curves]
    rows = [
        [number, tag, len(runs[number].scalar(tag).values), len(part.steps)]
        for (number, tag), part in zip(curves, parts, strict=True)
    ]
    return {"rows": rows, **_joined(pack, runs, rows, parts)}


def _joined(pack, runs, rows, parts: list[Columns]):
    """Numbers of the arrays of all curves, one behind the other; times count from the beginning of each run.

    Most curves of a run have their values at the same steps: these stand once, and each row gets where they begin.
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


_SHOWN = {"images": _IMAGES, "histograms": _HISTOGRAMS, "tensors": _TENSORS}


def _values(pack, runs, kind, known=None):
    """The tags of a kind, those alone that have more values than `known` says where it is given."""
    makers = {"images": _image, "histograms": _histograms, "tensors": _tensor}
    single, made = kind[:-1], []
    tags = [(number, run, tag) for number, run in enumerate(runs) for tag in run.tags[single]]
    for number, run, tag in tags:
        places = run.places(single, tag)
        if known is not None:
            if known.get((number, single, tag)) == _ends(places):
                continue
            known[number, single, tag] = _ends(places)
        most = _SHOWN[kind]
        if kind == "images":
            room = _IMAGE_BYTES // len(tags)
            most = max(2, min(most, room // max(1, max((place.length for place in places), default=1))))
        found = run.read(single, evenly(places, most))
        if found:
            made.append({"run": number, "tag": tag, "n": len(places), **makers[kind](pack, run, found)})
    return made


def _image(pack, run, found: list[Image]):
    rows = [[one.step, _since(run, one.time), one.width, one.height, pack.add("B", one.png)] for one in found]
    return {"items": rows}


def _histograms(pack, run, found: list[Histogram]):
    edges, counts = in_common_bins(found, _BINS)
    return {
        "low": float(edges[0]),
        "high": float(edges[-1]),
        "bins": _BINS,
        "steps": [one.step for one in found],
        "times": [_since(run, one.time) for one in found],
        "bad": [one.nan + one.above + one.below for one in found],
        "counts": pack.add("f", counts),
    }


def _tensor(pack, run, found: list[TensorValue]):
    return {"items": [tensor_row(pack, run, one) for one in found]}


def tensor_row(pack: Pack, run: Run, one: TensorValue, whole: bool = False) -> list[Any]:
    """[step, seconds, shape, element type, number of its values or None where they are too many]."""
    small = whole or one.array.size <= _VALUES
    array = np.abs(one.array) if np.iscomplexobj(one.array) else one.array
    values = pack.add("d", array.astype(np.float64)) if small else None
    return [one.step, _since(run, one.time), list(one.array.shape), str(one.array.dtype), values]


def _since(run, time):
    seconds = time - (run.started or 0.0)
    return seconds if math.isfinite(seconds) else 0.0


def _graphs_of(run):
    """How many graphs a run has."""
    return len(run.tags["graph"]) + ("dataset" in run.lineage)


def _graphs(pack, number, run):
    for kind, graph in (("network", run.graph()), ("data pipeline", run.dataset_graph())):
        if graph is not None and 0 < len(graph) <= _NODES:
            yield {"run": number, "kind": kind, "payload": pack.add("B", GraphView(graph).payload)}
