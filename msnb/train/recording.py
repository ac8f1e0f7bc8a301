"""`msnb.record`: record the curves, settings and state of a training in a folder, for the dashboard.

The folder holds `run.json`, written at the beginning and at the end, and MindSpore's event files.
"""

import atexit
import os
import platform
import secrets
import sys
import time
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, Self

import numpy as np

from msnb import log
from msnb._util.atomic_file import writing
from msnb._version import __version__
from msnb.common.seed import get_seed
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.formats import run_file, tensorboard_events
from msnb.train.summary._system import SYSTEM, System
from msnb.train.summary._writer import EventFile, now
from msnb.train.summary.summary_record import SummaryRecord

__all__ = ["Recording", "record"]

FORMAT = 1
_STATES = ("running", "finished", "failed", "interrupted")
_FORBIDDEN = set('/\\:*?"<>|') | set(map(chr, range(32)))


def record(
    name: str | None = None,
    folder: str | os.PathLike[str] = "runs",
    *,
    config: Mapping[str, Any] | None = None,
    resume: bool = False,
    tensorboard: bool = False,
    code: bool = False,
) -> "Recording":
    """Start recording a run: numbers, images and histograms of any loop, and the values of summary operators.

    Args:
        name (str): Name of the run and of its folder; if it exists, a number is appended. Default: None, the time.
        folder (str): The parent folder of all runs. Default: "runs".
        config (Mapping): Hyper-parameters: plain values by name. Default: None.
        resume (bool): Whether a run of that name is continued. Default: False.
        tensorboard (bool): Whether TensorBoard's event files are written in addition to MindSpore's. Default:
            False.
        code (bool): Whether the text of the cell, or of the program, is stored in the folder. Everyone with
            access to the folder can read it: it should contain no passwords. Default: False.

    Returns:
        Recording, which ends with its `with` block, with `finish`, or with the program.

    Raises:
        ValueError: If `name` cannot be the name of a folder.
        OSError: If the folder cannot be written.

    Examples:
        >>> with msnb.record("first", config={"lr": 0.1}) as run:
        ...     for step in range(3):
        ...         run.log({"loss": 1 / (step + 1)})
        >>> run.state, run.summary
        ('finished', {'loss': 0.3333333333333333})
    """
    return Recording(name, folder, config=config, resume=resume, tensorboard=tensorboard, code=code)


class Recording:
    """A run in progress, created by :func:`record`.

    Attributes:
        name, id (str): Name of the run, and its unique identifier.
        folder (Path): Folder of the run.
        config (dict): Hyper-parameters; changes are stored with the run.
        state (str): "running", "finished", "failed" or "interrupted".
        summary (dict): The last value of each recorded number, by name.
    """

    def __init__(
        self,
        name: str | None,
        folder: str | os.PathLike[str] = "runs",
        *,
        config: Mapping[str, Any] | None = None,
        resume: bool = False,
        tensorboard: bool = False,
        code: bool = False,
    ) -> None:
        name = time.strftime("%Y%m%d-%H%M%S") if name is None else name
        if not isinstance(name, str) or not name.strip(" .") or _FORBIDDEN & set(name):
            raise ValueError(f"For 'record', 'name' should be the name of a folder, but got {name!r}.")
        self.folder: Path = _create_run_folder(Path(folder), name, resume)
        state = _read_run_file(self.folder) if resume else {}
        self.name: str = self.folder.name
        self.id: str = state.get("id") or secrets.token_hex(8)
        self.config: dict[str, Any] = {**state.get("config", {}), **(config or {})}
        self.summary: dict[str, Any] = dict(state.get("summary", {}))
        self.state: str = "running"
        self._started, self._ended = state.get("started") or now(), None
        self._step, self._process = -1, os.getpid()
        self._code = _read_source_code() if code else None
        self._record = SummaryRecord(str(self.folder))
        self._record.takers.append(self._update_summary)
        if tensorboard:
            self._record.takers.append(_TensorBoard(self.folder))
        self._system = System()
        self._written: dict[str, Any] = {}
        self._write_run_file()
        atexit.register(self.finish, "interrupted")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: object, traceback: object) -> None:
        stopped = kind is not None and issubclass(kind, (KeyboardInterrupt, SystemExit))
        self.finish("interrupted" if stopped else "finished" if kind is None else "failed")

    def __repr__(self) -> str:
        return f"Recording({str(self.folder)!r}, {self.state})"

    # ------------------------------------------------------------------ values
    def log(self, values: Mapping[str, Any], step: int | None = None) -> None:
        """Record numbers of a step.

        Args:
            values (Mapping): Numbers, or Tensors of one element, by name; a nested dict gives names "outer/inner".
            step (int): Number of the step. Default: None, one more than the last.

        Raises:
            TypeError: If a value is not a number.
            RuntimeError: If the run has ended.
        """
        numbers = dict(_flatten(values))
        step = self._set_step(step, increments=True)
        for name, value in {**numbers, **self._system.look()}.items():
            self._record._store_array("scalar", name, value)
        self._record.record(step)
        if self.config != self._written:
            self._save_run_file()

    def image(self, name: str, images: Any, step: int | None = None) -> None:
        """Record images, (N, 1 or 3, H, W).

        Args:
            name (str): Name of the images.
            images (Union[Tensor, numpy.ndarray]): uint8, numbers from 0 to 1, or any numbers, which are scaled to that
                range.
            step (int): Number of the step. Default: None, the step of the last `log`.

        Raises:
            ValueError: If `images` does not have 4 dimensions.
        """
        self._record_array("image", name, images, step)

    def histogram(self, name: str, values: Any, step: int | None = None) -> None:
        """Record a histogram of the elements of an array; see `image` for the arguments."""
        self._record_array("histogram", name, values, step)

    def tensor(self, name: str, values: Any, step: int | None = None) -> None:
        """Record all numbers of a Tensor; see `image` for the arguments."""
        self._record_array("tensor", name, values, step)

    def _record_array(self, plugin, name, values, step):
        step = self._set_step(step)
        self._record.add_value(plugin, name, values if isinstance(values, Tensor) else Tensor(np.asarray(values)))
        self._record.record(step)

    def _set_step(self, step, increments=False):
        if self.state != "running":
            raise RuntimeError(f"The run {self.name!r} has ended ({self.state}): begin another one with msnb.record.")
        if step is None:
            step = self._step + 1 if increments else max(self._step, 0)
        self._step = int(step)
        return self._step

    def _update_summary(self, wall_time, step, values):
        """Update `summary` with the last value of each number; called in the thread that writes."""
        for tag, kind, content in values:
            if kind == "scalar" and not tag.startswith(SYSTEM):
                self.summary[tag] = content

    # ------------------------------------------------------------------ the run itself
    def flush(self) -> None:
        """Wait until all recorded values are written."""
        self._record.flush()

    def finish(self, state: str = "finished") -> None:
        """End the run. Further calls do nothing.

        Args:
            state (str): "finished", "failed" or "interrupted". Default: "finished".

        Raises:
            ValueError: If `state` is not one of these.
        """
        if state not in _STATES[1:]:
            raise ValueError(f"For 'finish', 'state' should be one of {_STATES[1:]}, but got {state!r}.")
        if self.state != "running" or os.getpid() != self._process:  # a forked process has a copy of this object
            return
        plain = {name: value for name, value in self.config.items() if isinstance(value, (int, float, str))}
        if plain and not self._record._closed:
            self._record.add_value("custom_lineage_data", "config", plain)
            self._record.record(max(self._step, 0))
        self._record.close()
        self.state, self._ended = state, now()
        atexit.unregister(self.finish)
        self._save_run_file()

    def _save_run_file(self):
        """Write `run.json`. A full disk does not end the training."""
        try:
            self._write_run_file()
        except OSError as error:
            log.warning("%s could not be written: %s.", self.folder / "run.json", error.strerror or error)

    def _write_run_file(self):
        self._written = dict(self.config)
        content = {
            "format": FORMAT,
            "name": self.name,
            "id": self.id,
            "started": self._started,
            "ended": self._ended,
            "state": self.state,
            "config": self.config,
            "summary": dict(self.summary),
            "versions": _list_versions(),
            "seed": get_seed(),
            "pid": self._process,
            "host": platform.node(),
        }
        if self._code is not None:
            content["code"] = self._code
        with writing(self.folder / "run.json", "w", durable=False, encoding="utf-8") as file:
            file.write(run_file.text_of(_to_json_value(content)))


class _TensorBoard:
    """Writes the values of a run as TensorBoard's event file."""

    def __init__(self, folder):
        name = f"events.out.tfevents.{int(now())}.{platform.node()}.{os.getpid()}.0"
        self._file = EventFile(folder / name, lambda: tensorboard_events.version_event(now()))

    def __call__(self, wall_time, step, values):
        self._file.append(tensorboard_events.summary_event(wall_time, step, values))

    def flush(self):
        self._file.flush()

    def close(self):
        self._file.close()


# ---------------------------------------------------------------------- helpers
def _create_run_folder(folder, name, resume):
    """Create the folder of a run and return it; with `resume` it may exist."""
    folder.mkdir(parents=True, exist_ok=True)
    number, path = 1, folder / name
    while True:
        try:
            path.mkdir(exist_ok=resume)
            return path
        except FileExistsError:
            if resume:
                raise
            number += 1
            path = folder / f"{name}-{number}"


def _read_run_file(folder):
    """Return the content of `run.json` of a run to continue."""
    try:
        content = run_file.read((folder / "run.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{folder / 'run.json'} is no JSON: {error}.") from None
    return content if isinstance(content, dict) else {}


def _flatten(values, prefix=""):
    for name, value in values.items():
        name = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{name}/")
        elif isinstance(value, Parameter):  # copied, because the next step donates its array
            yield name, _check_single_number(name, value.asnumpy())
        elif isinstance(value, Tensor):
            yield name, _check_single_number(name, value._array)
        elif is_number(value):
            yield name, float(value)
        else:
            raise TypeError(
                f"For 'log', {name!r} should be a number, but got {type(value).__name__}; 'image', 'histogram' and "
                f"'tensor' of the run take arrays, and 'config' takes texts."
            )


def _check_single_number(name, array):
    if array.size != 1:
        raise TypeError(f"For 'log', {name!r} should be one number, but has the shape {array.shape}; use 'histogram'.")
    return array


def is_number(value):
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        return True
    return isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "biuf"


def _to_json_value(value):
    """Convert a value to types that `json.dumps` accepts. NaN and infinity stay floats, and objects become text."""
    if isinstance(value, Mapping):
        return {str(name): _to_json_value(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json_value(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic, Tensor)):
        return _to_json_value(value.tolist() if not isinstance(value, Tensor) else value.asnumpy().tolist())
    if isinstance(value, float):
        return float(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _list_versions():
    versions = {"python": platform.python_version(), "msnb": __version__}
    for name in ("jax", "numpy"):
        versions[name] = metadata.version(name)
    return versions


def _read_source_code():
    """Return the text of the current cell, or of the program."""
    log.once("The code is kept in the run's folder, and whoever gets the folder reads it: it should hold no passwords.")
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    cells = shell.user_ns.get("In", []) if shell is not None else []
    if cells:
        return cells[-1]
    try:
        return Path(sys.argv[0]).read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return None
