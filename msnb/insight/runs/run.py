"""A training that was recorded, or is being recorded: its folder, read as far as it is written."""

import math
import os
import platform
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msnb.formats import run_file, summary_events
from msnb.formats.reading import BadFileError
from msnb.insight.runs import values
from msnb.insight.runs.contents import Contents, is_events
from msnb.insight.runs.graphs import dataset_graph, network_graph
from msnb.insight.runs.values import Histogram, Image, Series, Stored, TensorValue
from msnb.ir.anf import FuncGraph

_NAMES = ("scalar", "image", "histogram", "tensor", "graph")


def is_run(folder: Path) -> bool:
    """Whether a folder holds a recorded training: a `run.json`, or an event file of MindSpore's."""
    return any(is_record(name) for name in os.listdir(folder))


def is_record(name: str) -> bool:
    """Whether a file of this name makes its folder a run."""
    return name == "run.json" or is_events(name)


class Run:
    """A folder that `msnb.record`, `SummaryCollector` or `SummaryRecord` writes, or that MindSpore has written.

    What stands in it is read once, and what is appended later by `refresh`; large values are read from the files when
    they are asked for. Where a later file goes on with a tag at an earlier step, as after a training was resumed, it
    takes the place of all that earlier files have from that step on.

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
        self._lock = threading.RLock()
        self._written: tuple[int, int] | None = None  # time and size of run.json when it was read
        self._contents = Contents(self.folder)
        self._opened = False  # whether the event files were looked at: of a thousand runs a table wants run.json only
        self._look_at_meta()

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
            return self._contents.read(end) or came

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
            self._contents.fault(f"run.json cannot be read: {error}")
            return False
        if not isinstance(found, dict):
            self._contents.fault("run.json holds no object")
            return False
        self.meta = found
        return True

    # ------------------------------------------------------------------ what it is
    @property
    def complete(self) -> bool:
        """Whether the last `refresh` came to the end of all files, bool."""
        return self._contents.complete

    @property
    def problems(self) -> list[str]:
        """Sentences about what could not be read, list[str]."""
        return list(self._contents.problems)

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
    def outcome(self) -> str:
        """The state, str; of a run that has finished with a loss that is no number, "finished, loss is NaN"."""
        state = self.state
        for tag, value in self.summary.items() if state == "finished" else ():
            if tag.rpartition("/")[2].lower() in ("loss", "train_loss") and not math.isfinite(float(value)):
                return f"{state}, {tag} is {'NaN' if math.isnan(float(value)) else 'infinite'}"
        return state

    @property
    def started(self) -> float | None:
        """UNIX seconds of its beginning, float; None where nothing was written."""
        said = _number(self.meta.get("started"))
        if said is None:
            self._open()
        times = self._contents.times
        return said if said is not None or times is None else times[0]

    @property
    def ended(self) -> float | None:
        """UNIX seconds of its end, float; None while it runs."""
        if self.meta:
            return _number(self.meta.get("ended"))
        self._open()
        return self._contents.times[1] if self._contents.times else None

    @property
    def config(self) -> dict[str, Any]:
        """Hyper-parameters, dict."""
        found = self.meta.get("config")
        if isinstance(found, dict):
            return found
        self._open()
        told = self._contents.lineage
        return {**told.get("train", {}), **told.get("custom", {})}

    @property
    def summary(self) -> dict[str, float]:
        """The last value of each scalar, dict; until the event files are read, what `run.json` says of it."""
        said = self.meta.get("summary")
        if not self._opened and isinstance(said, dict):
            return said
        self._open()
        with self._lock:
            return {
                tag: float(parts[-1].values[-1])
                for tag, parts in self._contents.scalars.items()
                if len(parts[-1].values)
            }

    @property
    def lineage(self) -> dict[str, Any]:
        """What MindSpore's lineage says: "train", "eval", "dataset", "custom" (dict of plain values)."""
        self._open()
        return self._contents.lineage

    @property
    def tags(self) -> dict[str, list[str]]:
        """Tags by kind: "scalar", "image", "histogram", "tensor", "graph"."""
        self._open()
        with self._lock:
            graphs = [f"graph {one.step}" if one.step else "graph" for one in self._contents.graphs]
            tables = {"scalar": self._contents.scalars, **self._contents.stored, "graph": graphs}
            return {name: list(tables[name]) for name in _NAMES}

    # ------------------------------------------------------------------ values
    def scalar(self, tag: str) -> Series:
        """All scalars of a tag; empty where there are none.

        Args:
            tag (str): the tag.
        """
        self._open()
        with self._lock:
            return self._contents.series(tag)

    def places(self, kind: str, tag: str) -> list[Stored]:
        """Where the values of a tag stand, for those that need not read them all.

        Args:
            kind (str): "image", "histogram" or "tensor".
            tag (str): the tag.
        """
        self._open()
        with self._lock:
            return list(self._contents.stored[kind].get(tag, ()))

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
                self._contents.fault(f"{place.path.name}: a value of kind {kind} cannot be read: {error}")
        return made

    def graph(self) -> FuncGraph | None:
        """The network's graph as MindSpore's GraphProto tells it, FuncGraph; None where there is none."""
        self._open()
        with self._lock:
            place = self._contents.graphs[-1] if self._contents.graphs else None
        if place is None:
            return None
        try:
            event = summary_events.Event(0.0, graph_body=place.bytes(), place=place.path.name)
            return None if event.graph is None else network_graph(event.graph, self.name)
        except (OSError, BadFileError) as error:
            self._contents.fault(f"{place.path.name}: the graph cannot be read: {error}")
            return None

    def dataset_graph(self) -> FuncGraph | None:
        """The data pipeline as a graph, FuncGraph; None where there is none."""
        made = self.lineage.get("dataset")
        return dataset_graph(made) if made else None

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(tags)} {name}" for name, tags in self.tags.items() if tags)
        return f"Run({self.name}: {self.state}{'; ' + counts if counts else ''})"


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
