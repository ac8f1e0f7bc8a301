"""A training that was recorded, or is being recorded: its folder, read as far as it is written."""

import math
import os
import platform
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from msnb.formats import lineage_events, run_file, summary_events
from msnb.formats.protobuf import WireError
from msnb.formats.reading import BadFileError
from msnb.insight.runs import events, values
from msnb.insight.runs.graphs import dataset_graph, network_graph
from msnb.insight.runs.tail import Tail
from msnb.insight.runs.values import Histogram, Image, Series, Stored, TensorValue
from msnb.ir.anf import FuncGraph

_FILE = re.compile(r"summary\.(\d+)\.")
_KINDS = {events.IMAGE: "image", events.HISTOGRAM: "histogram", events.TENSOR: "tensor"}
_GRAPH = 4  # field of an Event
LINEAGE_FILE = "_lineage"  # how the names of lineage files end
LINEAGE = dict(zip(lineage_events.KINDS, ("train", "eval", "dataset", "custom"), strict=True))
_NAMES = ("scalar", "image", "histogram", "tensor", "graph")
_EMPTY = Series(np.empty(0, np.int64), np.empty(0), np.empty(0))


def is_run(folder: Path) -> bool:
    """Whether a folder holds a recorded training: a `run.json`, or an event file of MindSpore's."""
    return any(is_record(name) for name in os.listdir(folder))


def is_record(name: str) -> bool:
    """Whether a file of this name makes its folder a run."""
    return name == "run.json" or _is_events(name)


def _is_events(name):
    return _FILE.search(name) is not None and "tfevents" not in name


class Run:
    """A folder that `msnb.record`, `SummaryCollector` or `SummaryRecord` writes, or that MindSpore has written.

    What stands in it is read once, and what is appended later by `refresh`; large values are read from the files when
    they are asked for. Where a later file begins again at an earlier step, as after a training was resumed, what it
    repeats takes the place of what was there.

    Args:
        folder (Union[str, Path]): the folder.

    Attributes:
        folder (Path): the folder.
        name, id (str): as `run.json` says; the folder's name where there is none.
        state (str): "running", "finished", "failed" or "interrupted"; the last one also where its process is gone.
        started, ended (float): UNIX seconds; None where nothing says so.
        config (dict): hyper-parameters, those of MindSpore's lineage where there is no `run.json`.
        meta (dict): all of `run.json`.
        complete (bool): whether the last `refresh` came to the end of all files.
        problems (list[str]): sentences about what could not be read.

    Raises:
        FileNotFoundError: If there is no such folder.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder: Path = Path(folder)
        if not self.folder.is_dir():
            raise FileNotFoundError(f"For 'Run', there is no folder '{self.folder}'.")
        self.meta: dict[str, Any] = {}
        self.complete: bool = False
        self._lock = threading.RLock()
        self._listed = self._written = None  # (time of the folder, of run.json) when they were read
        self._opened = (
            False  # whether the event files were looked at: a table of a thousand runs asks only for run.json
        )
        self._clear()
        self._look_at_meta()

    def _clear(self):
        self._files: dict[Path, Tail] = {}
        self._parts: dict[str, list[Series]] = {}
        self._stored: dict[str, dict[str, list[Stored]]] = {name: {} for name in _KINDS.values()}
        self._graphs: list[Stored] = []
        self._lineage: dict[str, Any] = {}
        self._newest: dict[str, int] = {}  # tag -> number of the file that its last value stands in
        self._times: tuple[float, float] | None = None
        self._faults: list[str] = []

    # ------------------------------------------------------------------ reading
    def refresh(self, seconds: float = math.inf) -> bool:
        """Read what was appended since; a few questions to the file system where nothing was.

        Args:
            seconds (float): stop after about so long, and go on with the next call; `complete` says whether all was
                read. Default: inf.

        Returns:
            bool, whether something came.
        """
        end = time.monotonic() + seconds
        with self._lock:
            self._opened = True
            came = self._look_at_meta()
            self._list()
            try:
                came = self._read(end) or came
            except _Restarted:
                self._clear()
                self._listed = None
                self._list()
                came = self._read(end) or True
            return came

    def _open(self):
        """Read the event files, unless that was done already."""
        if not self._opened:
            self.refresh()

    def _look_at_meta(self):
        try:
            stamp = (self.folder / "run.json").stat()
        except OSError:
            return False
        if (stamp.st_mtime_ns, stamp.st_size) == self._written:
            return False
        self._written = stamp.st_mtime_ns, stamp.st_size
        try:
            found = run_file.read((self.folder / "run.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            self._fault(f"run.json cannot be read: {error}")
            return False
        if not isinstance(found, dict):
            self._fault("run.json holds no object")
            return False
        self.meta = found
        return True

    def _list(self):
        try:
            stamp = self.folder.stat().st_mtime_ns
            if stamp == self._listed:
                return
            self._listed = stamp
            found = [(_FILE.search(entry), entry) for entry in os.listdir(self.folder) if _is_events(entry)]
        except OSError as error:
            self._fault(f"the folder cannot be read: {error}")
            return
        for _, name in sorted((int(match[1]), name) for match, name in found if match):
            self._files.setdefault(self.folder / name, Tail(self.folder / name))

    def _read(self, end):
        came, self.complete = False, True
        for number, (path, tail) in enumerate(self._files.items()):
            try:
                for records in tail.news():
                    came = True
                    self._take(path, number, records)
                    if time.monotonic() > end:
                        self.complete = tail.done
                        break
            except OSError as error:
                self._fault(f"{path.name} cannot be read: {error}")
            if tail.restarted:
                raise _Restarted
            if tail.problem is not None:
                self._fault(tail.problem)
            if not self.complete:
                break
        return came

    def _take(self, path, number, records):
        if path.name.endswith(LINEAGE_FILE):
            for start, end in records.spans:
                self._guarded(
                    path, lambda body=records.data[start:end]: self._told(lineage_events.decoded(body, path.name))
                )
            return
        columns, others = events.columns(records.data, records.spans)
        singles: dict[str, list[tuple[int, int, float, float]]] = {}
        for order in others:
            self._guarded(path, lambda order=order: self._single(path, number, records, order, singles))
        for tag, found in singles.items():
            order, steps, times, numbers = zip(*found, strict=True)
            made = events.Column(
                np.array(order), np.array(steps, np.int64), np.array(times, float), np.array(numbers, float)
            )
            columns.setdefault(tag, []).append(made)
        for tag, parts in columns.items():
            whole = parts[0] if len(parts) == 1 else events.Column(*map(np.concatenate, zip(*parts, strict=True)))
            if len(parts) > 1:
                by = np.argsort(whole.order, kind="stable")
                whole = events.Column(*(part[by] for part in whole))
            self._scalars(tag, number, Series(whole.steps, whole.times, whole.values))

    def _told(self, event):
        if event is not None and event.kind == "custom_lineage_data":
            self._lineage.setdefault(LINEAGE[event.kind], {}).update(event.content)
        elif event is not None:
            self._lineage[LINEAGE[event.kind]] = event.content

    def _scalars(self, tag, number, news):
        kept = self._parts.setdefault(tag, [])
        if self._newest.get(tag, number) != number and kept:  # what a resumed training repeats
            old = _joined(kept)
            keep = old.steps < news.steps[0]
            kept[:] = [Series(*(part[keep] for part in old))]
        self._newest[tag] = number
        kept.append(news)
        self._seen(float(news.times[0]), float(news.times[-1]))

    def _single(self, path, number, records, order, singles):
        data = records.data
        found = events.event(data, *records.spans[order])
        self._seen(found.time, found.time)
        for part, start, end in found.parts:
            if part == _GRAPH:
                self._graphs.append(Stored(found.step, found.time, path, records.offset + start, end - start))
        for value in events.values(data, found):
            if value.kind == events.SCALAR:
                row = order, found.step, found.time, events.scalar(data, value)
                singles.setdefault(value.tag, []).append(row)
                continue
            table = self._stored[_KINDS[value.kind]]
            kept = table.setdefault(value.tag, [])
            newest = f"{_KINDS[value.kind]}\0{value.tag}"
            if self._newest.get(newest, number) != number:
                kept[:] = [one for one in kept if one.step < found.step]
            self._newest[newest] = number
            place = records.offset + value.start
            kept.append(Stored(found.step, found.time, path, place, value.end - value.start))

    def _seen(self, first, last):
        if first > 0 and math.isfinite(last - first):
            self._times = (min(first, self._times[0]), max(last, self._times[1])) if self._times else (first, last)

    def _guarded(self, path, act):
        try:
            act()
        except (WireError, BadFileError) as error:
            self._fault(f"{path.name}: a record is no event of MindSpore's: {error}")

    def _fault(self, sentence):
        if sentence not in self._faults and len(self._faults) < 20:
            self._faults.append(sentence)

    # ------------------------------------------------------------------ what it is
    @property
    def name(self) -> str:
        """What the run is called, str."""
        return str(self.meta.get("name") or self.folder.name)

    @property
    def id(self) -> str:
        """What tells it from other runs, str."""
        return str(self.meta.get("id") or self.folder.name)

    @property
    def state(self) -> str:
        """How it ended, str; "running" only while its process lives, as far as this machine can tell."""
        state = str(self.meta.get("state") or "finished")
        if state == "running" and self.meta.get("host") == platform.node() and not _alive(self.meta.get("pid")):
            return "interrupted"
        return state

    @property
    def started(self) -> float | None:
        """UNIX seconds of its beginning, float; None where nothing was written."""
        said = _number(self.meta.get("started"))
        if said is None:
            self._open()
        return said if said is not None or self._times is None else self._times[0]

    @property
    def ended(self) -> float | None:
        """UNIX seconds of its end, float; None while it runs."""
        if self.meta:
            return _number(self.meta.get("ended"))
        self._open()
        return self._times[1] if self._times else None

    @property
    def config(self) -> dict[str, Any]:
        """Hyper-parameters, dict."""
        found = self.meta.get("config")
        if isinstance(found, dict):
            return found
        self._open()
        return {**self._lineage.get("train", {}), **self._lineage.get("custom", {})}

    @property
    def summary(self) -> dict[str, float]:
        """The last value of each scalar, dict; until the event files are read, what `run.json` says of it."""
        said = self.meta.get("summary")
        if not self._opened and isinstance(said, dict):
            return said
        self._open()
        with self._lock:
            return {tag: float(parts[-1].values[-1]) for tag, parts in self._parts.items() if len(parts[-1].values)}

    @property
    def lineage(self) -> dict[str, Any]:
        """What MindSpore's lineage says: "train", "eval", "dataset", "custom" (dict of plain values)."""
        self._open()
        return self._lineage

    @property
    def tags(self) -> dict[str, list[str]]:
        """Tags by kind: "scalar", "image", "histogram", "tensor", "graph"."""
        self._open()
        with self._lock:
            graphs = [f"graph {one.step}" if one.step else "graph" for one in self._graphs]
            tables = {"scalar": self._parts, **self._stored, "graph": graphs}
            return {name: list(tables[name]) for name in _NAMES}

    @property
    def problems(self) -> list[str]:
        """Sentences about what could not be read, list[str]."""
        return list(self._faults)

    # ------------------------------------------------------------------ values
    def scalar(self, tag: str) -> Series:
        """All scalars of a tag; empty where there are none.

        Args:
            tag (str): the tag.
        """
        self._open()
        with self._lock:
            parts = self._parts.get(tag)
            if not parts:
                return _EMPTY
            if len(parts) > 1:
                parts[:] = [_joined(parts)]
            return parts[0]

    def places(self, kind: str, tag: str) -> list[Stored]:
        """Where the values of a tag stand, for those that need not read them all.

        Args:
            kind (str): "image", "histogram" or "tensor".
            tag (str): the tag.
        """
        self._open()
        with self._lock:
            return list(self._stored[kind].get(tag, ()))

    def images(self, tag: str) -> list[Image]:
        """All images of a tag."""
        return self.read("image", self.places("image", tag))

    def histograms(self, tag: str) -> list[Histogram]:
        """All histograms of a tag."""
        return self.read("histogram", self.places("histogram", tag))

    def tensors(self, tag: str) -> list[TensorValue]:
        """All tensors of a tag."""
        return self.read("tensor", self.places("tensor", tag))

    def read(self, kind: str, places: list[Stored]) -> list[Any]:
        """The values that stand at these places; what cannot be read is left out, and said in `problems`.

        Args:
            kind (str): "image", "histogram" or "tensor".
            places (list[Stored]): as `places` gives them.
        """
        made: list[Any] = []
        readers: dict[str, Callable[[Stored], Any]] = {
            "image": values.image,
            "histogram": values.histogram,
            "tensor": values.tensor,
        }
        for place in places:
            try:
                made.append(readers[kind](place))
            except (OSError, BadFileError) as error:
                self._fault(f"{place.path.name}: a value of kind {kind} cannot be read: {error}")
        return made

    def graph(self) -> FuncGraph | None:
        """The network's graph as MindSpore's GraphProto tells it, FuncGraph; None where there is none."""
        self._open()
        with self._lock:
            place = self._graphs[-1] if self._graphs else None
        if place is None:
            return None
        try:
            event = summary_events.Event(0.0, graph_body=place.bytes(), place=place.path.name)
            return None if event.graph is None else network_graph(event.graph, self.name)
        except (OSError, BadFileError) as error:
            self._fault(f"{place.path.name}: the graph cannot be read: {error}")
            return None

    def dataset_graph(self) -> FuncGraph | None:
        """The data pipeline as a graph, FuncGraph; None where there is none."""
        made = self.lineage.get("dataset")
        return dataset_graph(made) if made else None

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(tags)} {name}" for name, tags in self.tags.items() if tags)
        return f"Run({self.name}: {self.state}{'; ' + counts if counts else ''})"


class _Restarted(Exception):
    """A file is shorter than what was read of it."""


def _joined(parts):
    return Series(*map(np.concatenate, zip(*parts, strict=True)))


def _number(value):
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else None


def _alive(pid):
    if not isinstance(pid, int) or isinstance(pid, bool) or pid < 1:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True
