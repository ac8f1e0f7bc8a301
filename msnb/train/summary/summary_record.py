"""`SummaryRecord`: writes values of a training to MindSpore's event files."""

import atexit
import functools
import platform
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import numpy as np

from msnb import log
from msnb._checkparam import Validator, check_str_by_regular
from msnb.common.arguments import answered
from msnb.common.missing import asked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.formats import lineage_events, summary_events
from msnb.ops.debug import on_summary
from msnb.train._utils import _make_directory
from msnb.train.summary import _pending_values
from msnb.train.summary._checks import _DEFAULT_EXPORT_OPTIONS, process_export_options  # noqa: F401
from msnb.train.summary._graph import graph_of, program_of_last
from msnb.train.summary._values import contents_of
from msnb.train.summary._writer import EventFile, SummaryWriter, is_in_host_memory, now, on_host

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell

__all__ = ["SummaryRecord"]

_NUMBERS = ("scalar", "image", "tensor", "histogram")
_LARGE = 1 << 24  # bytes; a larger Parameter is copied to the host
_TAG = re.compile(r"(.+)\[:(.+)\]", re.DOTALL)


class StepError(ValueError, TypeError):
    """Raised for a step that is not an int. It is a ValueError as in r1.1 and a TypeError as in MindSpore 2."""


class SummaryRecord:
    """Writes values of a training to MindSpore's event files, which MindInsight and msnb read.

    Two files are created in `log_dir` with the first values: one with numbers, images, arrays, histograms and the
    graph, and one with the lineage. A thread writes them during the training. If the disk is full the recording
    ends with one line in the log, and the training continues.

    While a record is open, the values of summary operators are collected and written with the next `record`. If an
    operator runs several times in a step, for example in a loop, its last value is recorded. Without a record the
    operators cost nothing.

    Args:
        log_dir (str): Folder to write to.
        file_prefix (str): Beginning of the files' names. Default: "events".
        file_suffix (str): End of the name of the first file. Default: "_MS".
        network (Cell): Network whose graph is written, once it has been compiled. Default: None.
        max_file_size (int): Largest size of each file in bytes; a full file is not continued. Default: None, any size.
        raise_exception (bool): Whether `record`, `flush` and `close` raise exceptions of the thread that writes.
            Default: False, they are logged.
        export_options (Union[None, dict]): {"tensor_format": "npy"} also writes arrays to .npy files. Default: None.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If a name contains characters that are not allowed in file names, or an option is unknown.

    Examples:
        >>> with mindspore.SummaryRecord("summary") as record:
        ...     record.add_value("scalar", "loss", Tensor(0.5))
        ...     record.record(step=1)
        True
    """

    @answered
    def __init__(
        self,
        log_dir: str,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        network: "Cell | None" = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: dict[str, Any] | None = None,
        *,
        num_process: int = 32,
    ) -> None:
        log.unused("SummaryRecord", "one thread writes", num_process=num_process != 32)
        self._closed, self._mode, self._pool = False, "train", {}
        folder = Path(_make_directory(log_dir))
        if max_file_size is not None and (not isinstance(max_file_size, int) or isinstance(max_file_size, bool)):
            raise TypeError(
                f"For 'SummaryRecord', 'max_file_size' should be int, but got {type(max_file_size).__name__}."
            )
        for name, value in (("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            if not isinstance(value, str):
                raise TypeError(f"For 'SummaryRecord', '{name}' should be str, but got {type(value).__name__}.")
            check_str_by_regular(value)
        if max_file_size is not None and max_file_size < 0:
            log.warning("SummaryRecord: 'max_file_size' should be positive: it is taken as None.")
            max_file_size = None
        self._raises = Validator.check_bool(raise_exception, "raise_exception", "SummaryRecord")
        self._export_options = process_export_options(export_options)
        self.network, self.has_graph = network, False
        seconds = int(time.time())
        while True:  # a run resumed in the second of its start gets a new file
            name = f"{file_prefix}.out.events.summary.{seconds}.0.{platform.node()}"
            if not (folder / f"{name}{file_suffix}").exists():
                break
            seconds += 1
        self.full_file_name = str(folder / f"{name}{file_suffix}")
        self._summary = EventFile(Path(self.full_file_name), lambda: summary_events.version_event(now()), max_file_size)
        self._lineage = EventFile(folder / f"{name}_lineage", None, max_file_size)
        self._exported = folder / f"export_{seconds}" / "tensor"
        self._error: BaseException | None = None
        self._writer = SummaryWriter("summary", self._flush_files, self._store_error)
        # called with (wall_time, step, values) of each event; their `flush` and `close` are called, too
        self.takers: list[Any] = []
        _pending_values.take()
        self._stop_looking = on_summary(_pending_values.keep)
        atexit.register(self.close)

    def __enter__(self) -> Self:
        if self._closed:
            raise ValueError("SummaryRecord has been closed.")
        return self

    def __exit__(self, *err: object) -> None:
        self.close()

    def set_mode(self, mode: str) -> None:
        """Set the mode of the network: values of summary operators are recorded in training only.

        Args:
            mode (str): "train" or "eval".

        Raises:
            ValueError: If `mode` is neither of these.
        """
        if mode not in ("train", "eval"):
            raise ValueError(f"{mode!r} is not a recognized mode: it should be 'train' or 'eval'.")
        self._mode = mode

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """Store a value for the next `record`.

        Args:
            plugin (str): "scalar", "image", "tensor" or "histogram"; "graph"; "train_lineage", "eval_lineage",
                "dataset_graph" or "custom_lineage_data"; "landscape".
            name (str): Tag of the value.
            value (Union[Tensor, dict, Graph, bytes]): A Tensor for "scalar" (one number), "image" (N, 1 or 3, H, W),
                "tensor" and "histogram" (at least one axis). A :class:`msnb.formats.summary_graphs.Graph`, or the bytes
                of a GraphProto, for "graph". A dict (:mod:`msnb.formats.lineage_events`), or MindSpore's message, for
                the lineage. MindSpore's message, or its bytes, for "landscape".

        Raises:
            ValueError: If there is no such `plugin`, the shape does not fit, or the name is empty.
            TypeError: If the type of `value` does not fit.
        """
        if plugin in _NUMBERS:
            if not name or not isinstance(name, str):
                raise ValueError(f"{name!r} is not a valid tag name: it should be a str that is not empty.")
            if not isinstance(value, Tensor):
                raise TypeError(f"Expect the value to be Tensor, but got {type(value).__name__}")
            _check_shape(plugin, value.shape)
            self._store_array(plugin, name, _detach_array(value))
        elif plugin in lineage_events.KINDS:
            self._pool.setdefault(plugin, {})[None] = _make_lineage_content(plugin, value)
        elif plugin == "graph":
            if not isinstance(value, (bytes, summary_events.Graph)):
                raise TypeError(f"Plugin 'graph' expects a Graph or bytes, but got {type(value).__name__}.")
            self._pool.setdefault(plugin, {})[None] = value
        elif plugin == "landscape":
            body = value if isinstance(value, bytes) else value.SerializeToString()
            self._pool.setdefault(plugin, {})[name] = body
        else:
            plugins = [*_NUMBERS, *lineage_events.KINDS, "graph", "landscape"]
            raise ValueError(f"No such plugin of {plugin!r}: expect one of {plugins}")

    def _store_array(self, plugin, name, array):
        """Store an array safe from being overwritten. The thread that writes copies it from the device."""
        values = self._pool.setdefault(plugin, {})
        if name in values:
            log.warning("%r has duplicate values. Only the newest one will be recorded.", f"{name}/{plugin}")
        values[name] = array

    def record(
        self,
        step: int,
        train_network: "Cell | None" = None,
        plugin_filter: Callable[[str], bool] | None = None,
    ) -> bool:
        """Pass the stored values to the thread that writes.

        Args:
            step (int): Number of the step.
            train_network (Cell): The network whose graph is written if `network` has none. Default: None.
            plugin_filter (Callable): Selects the kinds of values: gets a name, returns a bool. Default: None, all.

        Returns:
            bool, False for a closed record.

        Raises:
            ValueError: If `step` is not an int.
        """
        if self._closed:
            log.error("The record writer is closed.")
            return False
        if not isinstance(step, int) or isinstance(step, bool):
            raise StepError(f"`step` should be int, but got {type(step).__name__}")
        self._raise_stored_error()
        wall_time = now()
        if self.network is not None and not self.has_graph:
            program = program_of_last(self.network) or program_of_last(train_network)
            if program is None:
                log.error("Failed to get proto for graph: the network has not been compiled.")
            else:
                self._writer.submit(functools.partial(self._write_graph, wall_time, program))
                self.has_graph = True
                if not _pending_values.has_values():
                    return True
        if self._mode == "train":
            self._add_operator_values()
        pool, self._pool = self._pool, {}
        if plugin_filter is not None:
            pool = {plugin: values for plugin, values in pool.items() if plugin_filter(plugin)}
        if pool:
            self._writer.submit(functools.partial(self._write_values, wall_time, step, pool))
        return True

    def _add_operator_values(self):
        for name, value in _pending_values.take().items():
            match = _TAG.fullmatch(name)
            if match is None:
                log.warning("The name(%r) is invalid, expected 'TAG[:TYPE]'.", name)
            elif isinstance(value, _pending_values.PendingValue):
                self._store_array(match[2].lower(), match[1], value)
            else:
                self.add_value(match[2].lower(), match[1], value)

    # ------------------------------------------------------------------ in the thread that writes
    def _write_graph(self, wall_time, program):
        self._summary.append(summary_events.graph_event(wall_time, graph_of(program)))

    def _write_values(self, wall_time, step, pool):
        scalars, others = [], []
        for plugin, values in pool.items():
            if plugin in lineage_events.KINDS:
                for value in values.values():
                    self._lineage.append(lineage_events.lineage_event(wall_time, plugin, value))
            elif plugin == "graph":
                for value in values.values():
                    self._summary.append(summary_events.graph_event(wall_time, value))
            else:
                fetched = {tag: _fetch_value(value) for tag, value in values.items()}
                fetched = {tag: value for tag, value in fetched.items() if value is not None}
                (scalars if plugin == "scalar" else others).extend(contents_of(plugin, fetched))
                if plugin == "tensor" and (self._export_options or {}).get("tensor_format"):
                    self._save_npy_files(step, fetched)
        for part in (scalars, others):  # in separate events, so that readers can read the scalars fast
            if part:
                self._summary.append(summary_events.summary_event(wall_time, step, part))
                for take in self.takers:
                    take(wall_time, step, part)

    def _save_npy_files(self, step, tensors):
        self._exported.mkdir(parents=True, exist_ok=True)
        for tag, value in tensors.items():
            np.save(self._exported / f"{quote(tag, safe='')}_{step}.npy", value)

    def _flush_files(self):
        for file in (self._summary, self._lineage, *self.takers):
            try:
                getattr(file, "flush", lambda: None)()
            except OSError as error:  # `file` has logged the error, and the other files continue
                self._store_error(error)

    def _store_error(self, error):
        self._error = error

    def _raise_stored_error(self):
        error, self._error = self._error, None
        if error is not None and self._raises:
            raise error

    # ------------------------------------------------------------------ ends
    @property
    def log_dir(self) -> str:
        """Return the path of the file with numbers and images."""
        return self.full_file_name

    def flush(self) -> None:
        """Wait until all recorded values are written."""
        if self._closed:
            log.error("The record writer is closed and can not flush.")
        else:
            self._writer.flush()
            self._raise_stored_error()

    def close(self) -> None:
        """Write the remaining values and close the files. Further calls do nothing."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        self._stop_looking()
        self._writer.close()
        self._summary.close()
        self._lineage.close()
        for taker in self.takers:
            getattr(taker, "close", lambda: None)()
        self._raise_stored_error()


def _fetch_value(value):
    """Return the array of a value; None if no iteration or branch has computed it."""
    return value.array() if isinstance(value, _pending_values.PendingValue) else on_host(value)


def _check_shape(plugin, shape):
    if plugin == "scalar" and int(np.prod(shape)) != 1:
        raise ValueError(f"The tensor holds {int(np.prod(shape))} values, but the scalar plugin expects one value.")
    if plugin == "image" and len(shape) != 4:
        raise ValueError(f"The tensor seems not to hold a valid image: its shape should be (N, C, H, W), not {shape}.")
    if plugin in ("tensor", "histogram") and not shape:
        raise ValueError(f"The {plugin} plugin expects a tensor of at least one axis, but got a single number.")


def _make_lineage_content(plugin, value):
    message = lineage_events.MESSAGES[plugin]
    if isinstance(value, dict):
        return value
    if type(value).__name__ == message and hasattr(value, "SerializeToString"):
        return value.SerializeToString()
    raise TypeError(f"Plugin {plugin!r} expects a {message} value: a dict, or MindSpore's message.")


def _detach_array(tensor):
    """Return the array of a Tensor, or a copy if a later step may overwrite it. A device's array remains on the device.

    The device copies a Parameter after it has computed it, so that the caller does not wait. A large one is copied to
    the host instead, to spare device memory.
    """
    array = tensor._array
    if isinstance(tensor, Parameter) and not isinstance(array, np.ndarray):
        return tensor._snapshot_array() if array.nbytes <= _LARGE or is_in_host_memory(array) else tensor.asnumpy()
    return tensor.asnumpy() if isinstance(array, np.ndarray) else array


def _cache_summary_tensor_data(summary: list[dict[str, Any]]) -> bool:
    """Store values as if summary operators had recorded them.

    Args:
        summary (list[dict]): {"name": "tag[:Scalar]", "data": Tensor} each.

    Returns:
        bool, True.
    """
    _pending_values.put({item["name"]: item["data"] for item in summary})
    return True


_subscriptions: list[Any] = []


def _take_summary_tensor_data() -> dict[str, Tensor]:
    """Return the last value of each summary operator since the last call: ``{"loss[:Scalar]": Tensor, ...}``.

    Libraries that measure coverage call this function without a record.
    """
    values = {
        name: v.array() if isinstance(v, _pending_values.PendingValue) else v
        for name, v in _pending_values.take().items()
    }
    return {name: v if isinstance(v, Tensor) else Tensor(v) for name, v in values.items() if v is not None}


def __getattr__(name: str) -> Any:
    if name != "_get_summary_tensor_data":
        return asked(__name__, name)
    if not _subscriptions:  # from the import of the function on, all values of summary operators are stored
        _subscriptions.append(on_summary(_pending_values.keep))
    return _take_summary_tensor_data
