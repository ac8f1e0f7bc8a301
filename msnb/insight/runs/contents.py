"""What the event files of a run hold, read as far as they are written, and again where they were written anew."""

import math
import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

from msnb.formats import lineage_events
from msnb.formats.protobuf import WireError
from msnb.formats.reading import BadFileError
from msnb.insight.runs import events
from msnb.insight.runs.tail import Tail
from msnb.insight.runs.values import Series, Stored

_FILE = re.compile(r"summary\.(\d+)\.")
_KINDS = {events.IMAGE: "image", events.HISTOGRAM: "histogram", events.TENSOR: "tensor"}
_GRAPH = 4  # field of an Event
LINEAGE_FILE = "_lineage"  # how the names of lineage files end
LINEAGE = dict(zip(lineage_events.KINDS, ("train", "eval", "dataset", "custom"), strict=True))
_GONE = "the folder is gone; what was read of it before is shown"
_EMPTY = Series(np.empty(0, np.int64), np.empty(0), np.empty(0))


def is_events(name: str) -> bool:
    """Whether a file of this name is an event file of MindSpore's."""
    return _FILE.search(name) is not None and "tfevents" not in name


class Contents:
    """Everything in the event files of a folder, of large values only the place.

    Args:
        folder (Path): the folder.

    Attributes:
        scalars (dict): tag -> the Series of it, in the parts in which they came.
        stored (dict): "image", "histogram" or "tensor" -> tag -> where its values stand.
        graphs (list): where the graphs stand, the last one last.
        lineage (dict): "train", "eval", "dataset", "custom", as far as MindSpore told them.
        times (tuple): UNIX seconds of the first and the last event; None where there is none.
        complete (bool): whether the last `read` came to the end of all files.
        problems (list[str]): sentences about what could not be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listed: int | None = None  # time of the folder when one looked last
        self.complete: bool = False
        self._clear()

    def _clear(self):
        self._files: dict[Path, Tail] = {}
        self._newest: dict[tuple[str, str], int] = {}  # kind and tag -> number of the file of its last value
        self.scalars: dict[str, list[Series]] = {}
        self.stored: dict[str, dict[str, list[Stored]]] = {name: {} for name in _KINDS.values()}
        self.graphs: list[Stored] = []
        self.lineage: dict[str, Any] = {}
        self.times: tuple[float, float] | None = None
        self.problems: list[str] = []

    def read(self, end: float = math.inf) -> bool:
        """Read what was appended since.

        Args:
            end (float): stop at about this time of `time.monotonic`, and go on with the next call. Default: inf.

        Returns:
            bool, whether something came.
        """
        self._list()
        try:
            return self._read(end)
        except _Restarted:
            self._clear()
            self._listed = None
            self._list()
            return self._read(end) or True

    def series(self, tag: str) -> Series:
        """All scalars of a tag; empty where there are none."""
        parts = self.scalars.get(tag)
        if not parts:
            return _EMPTY
        if len(parts) > 1:
            parts[:] = [_joined(parts)]
        return parts[0]

    def fault(self, sentence: str) -> None:
        """Remember what went wrong, once."""
        if sentence not in self.problems and len(self.problems) < 20:
            self.problems.append(sentence)

    def _list(self):
        try:
            stamp = self._folder.stat().st_mtime_ns
            if stamp == self._listed:
                return
            self._listed = stamp
            found = [(_FILE.search(entry), entry) for entry in os.listdir(self._folder) if is_events(entry)]
        except FileNotFoundError:
            self.fault(_GONE)
            self._listed = None
            return
        except OSError as error:
            self.fault(f"the folder cannot be read: {error}")
            return
        if _GONE in self.problems:  # it is back
            self.problems.remove(_GONE)
        for _, name in sorted((int(match[1]), name) for match, name in found if match):
            self._files.setdefault(self._folder / name, Tail(self._folder / name))

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
                if _GONE not in self.problems:  # that says it of all files
                    self.fault(f"{path.name} cannot be read: {error}")
            if tail.restarted:
                raise _Restarted
            if tail.problem is not None:
                self.fault(tail.problem)
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
        news: dict[str, Series] = {}
        for tag, parts in columns.items():
            whole = parts[0] if len(parts) == 1 else events.Column(*map(np.concatenate, zip(*parts, strict=True)))
            if len(parts) > 1:
                by = np.argsort(whole.order, kind="stable")
                whole = events.Column(*(part[by] for part in whole))
            news[tag] = Series(whole.steps, whole.times, whole.values)
        self._scalars(number, news)

    def _told(self, event):
        if event is not None and event.kind == "custom_lineage_data":
            self.lineage.setdefault(LINEAGE[event.kind], {}).update(event.content)
        elif event is not None:
            self.lineage[LINEAGE[event.kind]] = event.content

    def _scalars(self, number, news):
        for tag, series in news.items():
            self._resumed(number, "scalar", tag, int(series.steps[0]))
        for tag, series in news.items():
            self._newest["scalar", tag] = number
            self.scalars.setdefault(tag, []).append(series)
            self._seen(float(series.times[0]), float(series.times[-1]))

    def _single(self, path, number, records, order, singles):
        data = records.data
        found = events.event(data, *records.spans[order])
        self._seen(found.time, found.time)
        for part, start, end in found.parts:
            if part == _GRAPH:
                self.graphs.append(Stored(found.step, found.time, path, records.offset + start, end - start))
        for value in events.values(data, found):
            if value.kind == events.SCALAR:
                row = order, found.step, found.time, events.scalar(data, value)
                singles.setdefault(value.tag, []).append(row)
                continue
            kind = _KINDS[value.kind]
            self._resumed(number, kind, value.tag, found.step)
            self._newest[kind, value.tag] = number
            place = Stored(found.step, found.time, path, records.offset + value.start, value.end - value.start)
            self.stored[kind].setdefault(value.tag, []).append(place)

    def _resumed(self, number, kind, tag, step):
        """File `number` goes on with a tag at `step`. Where an earlier file has that step, or later ones, the training
        was resumed there: whatever earlier files have from there on is replaced, of other tags, too."""
        if self._newest.get((kind, tag), number) == number:
            return
        if kind == "scalar":
            last = max(int(part.steps.max()) for part in self.scalars[tag])
        else:
            last = max(one.step for one in self.stored[kind][tag])
        if step > last:
            return
        for key in [key for key, of in self._newest.items() if of != number]:
            kind, tag = key
            table: dict[str, Any] = self.scalars if kind == "scalar" else self.stored[kind]
            if kind == "scalar":
                old = _joined(table[tag])
                kept = old.steps < step
                table[tag] = [Series(*(part[kept] for part in old))] if kept.any() else []
            else:
                table[tag] = [one for one in table[tag] if one.step < step]
            if not table[tag]:
                del table[tag], self._newest[key]

    def _seen(self, first, last):
        if first > 0 and math.isfinite(last - first):
            self.times = (min(first, self.times[0]), max(last, self.times[1])) if self.times else (first, last)

    def _guarded(self, path, act):
        try:
            act()
        except (WireError, BadFileError) as error:
            self.fault(f"{path.name}: a record is no event of MindSpore's: {error}")


class _Restarted(Exception):
    """A file is shorter than what was read of it."""


def _joined(parts):
    return Series(*map(np.concatenate, zip(*parts, strict=True)))
