"""Incremental reader of the event files of a run. A file that was rewritten is read again."""

import math
import os
import re
import time
from pathlib import Path
from typing import Any

import numpy as np

from msnb.formats import lineage_events
from msnb.formats.protobuf import WireError
from msnb.formats.text_files import BadFileError
from msnb.insight.runs import events
from msnb.insight.runs.tail import Tail
from msnb.insight.runs.values import Series, Stored

_FILE = re.compile(r"summary\.(\d+)\.")
_KINDS = {events.IMAGE: "image", events.HISTOGRAM: "histogram", events.TENSOR: "tensor"}
_GRAPH = 4  # field of an Event
LINEAGE_FILE = "_lineage"  # suffix of lineage files
LINEAGE = dict(zip(lineage_events.KINDS, ("train", "eval", "dataset", "custom"), strict=True))
_GONE = "the folder is gone; what was read of it before is shown"
_EMPTY = Series(np.empty(0, np.int64), np.empty(0), np.empty(0))


def is_events(name: str) -> bool:
    """Return True if this is the name of an event file of MindSpore."""
    return _FILE.search(name) is not None and "tfevents" not in name


class Contents:
    """The contents of the event files in a folder. For images, histograms, tensors and graphs only the location is
    stored.

    Args:
        folder (Path): the folder.

    Attributes:
        scalars (dict): tag -> list of its Series, one for each piece that was read.
        stored (dict): "image", "histogram" or "tensor" -> tag -> locations of its values.
        graphs (list): locations of the graphs, the newest one last.
        lineage (dict): "train", "eval", "dataset", "custom", if MindSpore recorded them.
        times (tuple): UNIX seconds of the first and the last event; None where there is none.
        complete (bool): True if the last `read` reached the end of all files.
        problems (list[str]): sentences about data that could not be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._listing_time: int | None = None  # modification time of the folder at the last listing
        self.complete: bool = False
        self._reset_contents()

    def _reset_contents(self):
        self._files: dict[Path, Tail] = {}
        self._newest: dict[tuple[str, str], int] = {}  # kind and tag -> index of the file of its last value
        self.scalars: dict[str, list[Series]] = {}
        self.stored: dict[str, dict[str, list[Stored]]] = {name: {} for name in _KINDS.values()}
        self.graphs: list[Stored] = []
        self.lineage: dict[str, Any] = {}
        self.times: tuple[float, float] | None = None
        self.problems: list[str] = []

    def read(self, end: float = math.inf) -> bool:
        """Read the data appended since the last call.

        Args:
            end (float): time of `time.monotonic` at which to stop. The next call continues there. Default: inf.

        Returns:
            bool, True if there were new data.
        """
        self._list_files()
        try:
            return self._read_files(end)
        except _Restarted:
            self._reset_contents()
            self._listing_time = None
            self._list_files()
            return self._read_files(end) or True

    def series(self, tag: str) -> Series:
        """Return all scalars of a tag; an empty Series if there are none."""
        pieces = self.scalars.get(tag)
        if not pieces:
            return _EMPTY
        if len(pieces) > 1:
            pieces[:] = [_concatenate_series(pieces)]
        return pieces[0]

    def add_problem(self, sentence: str) -> None:
        """Record a problem once."""
        if sentence not in self.problems and len(self.problems) < 20:
            self.problems.append(sentence)

    def _list_files(self):
        try:
            stamp = self._folder.stat().st_mtime_ns
            if stamp == self._listing_time:
                return
            self._listing_time = stamp
            matches = [(_FILE.search(entry), entry) for entry in os.listdir(self._folder) if is_events(entry)]
        except FileNotFoundError:
            self.add_problem(_GONE)
            self._listing_time = None
            return
        except OSError as error:
            self.add_problem(f"the folder cannot be read: {error}")
            return
        if _GONE in self.problems:  # the folder exists again
            self.problems.remove(_GONE)
        for _, name in sorted((int(match[1]), name) for match, name in matches if match):
            self._files.setdefault(self._folder / name, Tail(self._folder / name))

    def _read_files(self, end):
        has_news, self.complete = False, True
        for number, (path, tail) in enumerate(self._files.items()):
            try:
                for records in tail.news():
                    has_news = True
                    self._add_records(path, number, records)
                    if time.monotonic() > end:
                        self.complete = tail.done
                        break
            except OSError as error:
                if _GONE not in self.problems:  # otherwise the problem is reported for all files
                    self.add_problem(f"{path.name} cannot be read: {error}")
            if tail.restarted:
                raise _Restarted
            if tail.problem is not None:
                self.add_problem(tail.problem)
            if not self.complete:
                break
        return has_news

    def _add_records(self, path, number, records):
        if path.name.endswith(LINEAGE_FILE):
            for start, end in records.spans:
                self._catch_bad_record(
                    path,
                    lambda body=records.data[start:end]: self._add_lineage(lineage_events.decoded(body, path.name)),
                )
            return
        columns, others = events.columns(records.data, records.spans)
        singles: dict[str, list[tuple[int, int, float, float]]] = {}
        for order in others:
            self._catch_bad_record(path, lambda order=order: self._add_event(path, number, records, order, singles))
        for tag, rows in singles.items():
            order, steps, times, numbers = zip(*rows, strict=True)
            column = events.Column(
                np.array(order), np.array(steps, np.int64), np.array(times, float), np.array(numbers, float)
            )
            columns.setdefault(tag, []).append(column)
        news: dict[str, Series] = {}
        for tag, pieces in columns.items():
            merged = pieces[0] if len(pieces) == 1 else events.Column(*map(np.concatenate, zip(*pieces, strict=True)))
            if len(pieces) > 1:
                sorting = np.argsort(merged.order, kind="stable")
                merged = events.Column(*(array[sorting] for array in merged))
            news[tag] = Series(merged.steps, merged.times, merged.values)
        self._add_scalars(number, news)

    def _add_lineage(self, event):
        if event is not None and event.kind == "custom_lineage_data":
            self.lineage.setdefault(LINEAGE[event.kind], {}).update(event.content)
        elif event is not None:
            self.lineage[LINEAGE[event.kind]] = event.content

    def _add_scalars(self, number, news):
        for tag, series in news.items():
            self._discard_replaced_values(number, "scalar", tag, int(series.steps[0]))
        for tag, series in news.items():
            self._newest["scalar", tag] = number
            self.scalars.setdefault(tag, []).append(series)
            self._extend_time_range(float(series.times[0]), float(series.times[-1]))

    def _add_event(self, path, number, records, order, singles):
        data = records.data
        event = events.event(data, *records.spans[order])
        self._extend_time_range(event.time, event.time)
        for field, start, end in event.fields:
            if field == _GRAPH:
                self.graphs.append(Stored(event.step, event.time, path, records.offset + start, end - start))
        for value in events.values(data, event):
            if value.kind == events.SCALAR:
                row = order, event.step, event.time, events.scalar(data, value)
                singles.setdefault(value.tag, []).append(row)
                continue
            kind = _KINDS[value.kind]
            self._discard_replaced_values(number, kind, value.tag, event.step)
            self._newest[kind, value.tag] = number
            location = Stored(event.step, event.time, path, records.offset + value.start, value.end - value.start)
            self.stored[kind].setdefault(value.tag, []).append(location)

    def _discard_replaced_values(self, number, kind, tag, step):
        """Discard values that a resumed training has replaced. File `number` continues a tag at `step`.

        If an earlier file has this step or later ones, the training was resumed there. All values from this step on are
        discarded from earlier files, for all tags.
        """
        if self._newest.get((kind, tag), number) == number:
            return
        if kind == "scalar":
            last = max(int(array.steps.max()) for array in self.scalars[tag])
        else:
            last = max(value.step for value in self.stored[kind][tag])
        if step > last:
            return
        for key in [key for key, file_number in self._newest.items() if file_number != number]:
            kind, tag = key
            table: dict[str, Any] = self.scalars if kind == "scalar" else self.stored[kind]
            if kind == "scalar":
                old = _concatenate_series(table[tag])
                is_before = old.steps < step
                table[tag] = [Series(*(array[is_before] for array in old))] if is_before.any() else []
            else:
                table[tag] = [value for value in table[tag] if value.step < step]
            if not table[tag]:
                del table[tag], self._newest[key]

    def _extend_time_range(self, first, last):
        if first > 0 and math.isfinite(last - first):
            self.times = (min(first, self.times[0]), max(last, self.times[1])) if self.times else (first, last)

    def _catch_bad_record(self, path, act):
        try:
            act()
        except (WireError, BadFileError) as error:
            self.add_problem(f"{path.name}: a record is no event of MindSpore's: {error}")


class _Restarted(Exception):
    """Raised if a file is shorter than at the last read. It is then read again from its start."""


def _concatenate_series(pieces):
    return Series(*map(np.concatenate, zip(*pieces, strict=True)))
