"""A recorded training, finished or running: its folder, read incrementally."""

import math
import os
import platform
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msnb.formats import run_file, summary_events
from msnb.formats.text_files import BadFileError
from msnb.insight.runs import values
from msnb.insight.runs.contents import Contents, is_events
from msnb.insight.runs.graphs import dataset_graph, network_graph
from msnb.insight.runs.values import Histogram, Image, Series, Stored, TensorValue
from msnb.ir.anf import FuncGraph

_NAMES = ("scalar", "image", "histogram", "tensor", "graph")


def is_run(folder: Path) -> bool:
    """Return True if a folder contains a recorded training: a `run.json`, or an event file of MindSpore."""
    return any(is_record(name) for name in os.listdir(folder))


def is_record(name: str) -> bool:
    """Return True if a file of this name makes its folder a run."""
    return name == "run.json" or is_events(name)


class Run:
    """A folder written by `msnb.record`, `SummaryCollector` or `SummaryRecord`, or by MindSpore.

    Its files are read once; `refresh` reads appended data. Large values are read from the files on access. If a later
    file continues a tag at an earlier step, as after a training was resumed, it replaces all values of earlier files
    from that step on.

    Args:
        folder (Union[str, Path]): the folder.

    Attributes:
        folder (Path): the folder.
        name, id (str): name and unique id from `run.json`; the folder's name if there is none.
        state (str): "running", "finished", "failed" or "interrupted". A run whose process has ended without a result is
            "interrupted", too.
        started, ended (float): UNIX seconds; None if unknown.
        config (dict): hyper-parameters from `run.json`; from MindSpore's lineage if there is none.
        meta (dict): all of `run.json`.
        complete (bool): True if the last `refresh` reached the end of all files.
        problems (list[str]): sentences about data that could not be read.

    Raises:
        FileNotFoundError: If there is no such folder.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder: Path = Path(folder)
        if not self.folder.is_dir():
            raise FileNotFoundError(f"For 'Run', there is no folder '{self.folder}'.")
        self.meta: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._meta_stamp: tuple[int, int] | None = None  # time and size of run.json at the last read
        self._contents = Contents(self.folder)
        self._has_read_events = False  # stays False in a table of many runs, which needs only run.json
        self._read_meta()

    # ------------------------------------------------------------------ reading
    def refresh(self, seconds: float = math.inf) -> bool:
        """Read appended data. Without changes it costs a few `stat` calls.

        Args:
            seconds (float): stop after about this time. The next call continues there. `complete` is True if all data
                were read. Default: inf.

        Returns:
            bool, True if there was new data.
        """
        end = time.monotonic() + seconds
        with self._lock:
            self._has_read_events = True
            has_news = self._read_meta()
            return self._contents.read(end) or has_news

    def _ensure_events_read(self):
        """Read the event files unless they have been read."""
        if not self._has_read_events:
            self.refresh()

    def _read_meta(self):
        try:
            stamp = (self.folder / "run.json").stat()
        except OSError:
            return False
        if (stamp.st_mtime_ns, stamp.st_size) == self._meta_stamp:
            return False
        self._meta_stamp = stamp.st_mtime_ns, stamp.st_size
        try:
            meta = run_file.read((self.folder / "run.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            self._contents.add_problem(f"run.json cannot be read: {error}")
            return False
        if not isinstance(meta, dict):
            self._contents.add_problem("run.json holds no object")
            return False
        self.meta = meta
        return True

    # ------------------------------------------------------------------ properties
    @property
    def complete(self) -> bool:
        """True if the last `refresh` reached the end of all files, bool."""
        return self._contents.complete

    @property
    def problems(self) -> list[str]:
        """Sentences about data that could not be read, list[str]."""
        return list(self._contents.problems)

    @property
    def name(self) -> str:
        """The name of the run, str."""
        return str(self.meta.get("name") or self.folder.name)

    @property
    def id(self) -> str:
        """The unique id of the run, str."""
        return str(self.meta.get("id") or self.folder.name)

    @property
    def state(self) -> str:
        """The state of the run, str. A run of this machine is "running" only while its process is alive."""
        state = str(self.meta.get("state") or "finished")
        if (
            state == "running"
            and self.meta.get("host") == platform.node()
            and not _is_process_alive(self.meta.get("pid"))
        ):
            return "interrupted"
        return state

    @property
    def outcome(self) -> str:
        """The state, str. If the run has finished with a loss that is not finite, it says so: "finished, loss is
        NaN".
        """
        state = self.state
        for tag, value in self.summary.items() if state == "finished" else ():
            if tag.rpartition("/")[2].lower() in ("loss", "train_loss") and not math.isfinite(float(value)):
                return f"{state}, {tag} is {'NaN' if math.isnan(float(value)) else 'infinite'}"
        return state

    @property
    def started(self) -> float | None:
        """UNIX seconds of its beginning, float; None if unknown."""
        recorded = _to_number(self.meta.get("started"))
        if recorded is None:
            self._ensure_events_read()
        times = self._contents.times
        return recorded if recorded is not None or times is None else times[0]

    @property
    def ended(self) -> float | None:
        """UNIX seconds of its end, float; None while it runs."""
        if self.meta:
            return _to_number(self.meta.get("ended"))
        self._ensure_events_read()
        return self._contents.times[1] if self._contents.times else None

    @property
    def config(self) -> dict[str, Any]:
        """Hyper-parameters, dict."""
        config = self.meta.get("config")
        if isinstance(config, dict):
            return config
        self._ensure_events_read()
        lineage = self._contents.lineage
        return {**lineage.get("train", {}), **lineage.get("custom", {})}

    @property
    def summary(self) -> dict[str, float]:
        """The last value of each scalar, dict. Before the event files are read it comes from `run.json`."""
        recorded = self.meta.get("summary")
        if not self._has_read_events and isinstance(recorded, dict):
            return recorded
        self._ensure_events_read()
        with self._lock:
            return {
                tag: float(pieces[-1].values[-1])
                for tag, pieces in self._contents.scalars.items()
                if len(pieces[-1].values)
            }

    @property
    def lineage(self) -> dict[str, Any]:
        """MindSpore's lineage: "train", "eval", "dataset", "custom" (dict of plain values)."""
        self._ensure_events_read()
        return self._contents.lineage

    @property
    def tags(self) -> dict[str, list[str]]:
        """Tags by kind: "scalar", "image", "histogram", "tensor", "graph"."""
        self._ensure_events_read()
        with self._lock:
            graphs = [f"graph {graph.step}" if graph.step else "graph" for graph in self._contents.graphs]
            tables = {"scalar": self._contents.scalars, **self._contents.stored, "graph": graphs}
            return {name: list(tables[name]) for name in _NAMES}

    # ------------------------------------------------------------------ values
    def scalar(self, tag: str) -> Series:
        """Return all scalars of a tag; an empty Series if there are none.

        Args:
            tag (str): the tag.
        """
        self._ensure_events_read()
        with self._lock:
            return self._contents.series(tag)

    def places(self, kind: str, tag: str) -> list[Stored]:
        """Return the locations of the values of a tag, without reading the values.

        Args:
            kind (str): "image", "histogram" or "tensor".
            tag (str): the tag.
        """
        self._ensure_events_read()
        with self._lock:
            return list(self._contents.stored[kind].get(tag, ()))

    def images(self, tag: str) -> list[Image]:
        """Return all images of a tag."""
        return self.read("image", self.places("image", tag))

    def histograms(self, tag: str) -> list[Histogram]:
        """Return all histograms of a tag."""
        return self.read("histogram", self.places("histogram", tag))

    def tensors(self, tag: str) -> list[TensorValue]:
        """Return all tensors of a tag."""
        return self.read("tensor", self.places("tensor", tag))

    def read(self, kind: str, places: list[Stored]) -> list[Any]:
        """Return the values at these locations. Values that cannot be read are omitted and added to `problems`.

        Args:
            kind (str): "image", "histogram" or "tensor".
            places (list[Stored]): locations of the values, from the method `places`.
        """
        contents: list[Any] = []
        readers: dict[str, Callable[[Stored], Any]] = {
            "image": values.image,
            "histogram": values.histogram,
            "tensor": values.tensor,
        }
        for location in places:
            try:
                contents.append(readers[kind](location))
            except (OSError, BadFileError) as error:
                self._contents.add_problem(f"{location.path.name}: a value of kind {kind} cannot be read: {error}")
        return contents

    def graph(self) -> FuncGraph | None:
        """Return the network's graph from MindSpore's GraphProto, FuncGraph; None if there is none."""
        self._ensure_events_read()
        with self._lock:
            location = self._contents.graphs[-1] if self._contents.graphs else None
        if location is None:
            return None
        try:
            event = summary_events.Event(0.0, graph_body=location.bytes(), place=location.path.name)
            return None if event.graph is None else network_graph(event.graph, self.name)
        except (OSError, BadFileError) as error:
            self._contents.add_problem(f"{location.path.name}: the graph cannot be read: {error}")
            return None

    def dataset_graph(self) -> FuncGraph | None:
        """Return the data pipeline as a graph, FuncGraph; None if there is none."""
        pipeline = self.lineage.get("dataset")
        return dataset_graph(pipeline) if pipeline else None

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(tags)} {name}" for name, tags in self.tags.items() if tags)
        return f"Run({self.name}: {self.state}{'; ' + counts if counts else ''})"


def _to_number(value):
    is_valid = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_valid else None


def _is_process_alive(pid):
    if not isinstance(pid, int) or isinstance(pid, bool) or pid < 1:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # a process of another user
        return True
    return True
