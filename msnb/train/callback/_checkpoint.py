"""`ModelCheckpoint`: saves checkpoints while a network is trained, and removes old ones."""

import contextlib
import functools
import os
import re
import stat
import time
from typing import TYPE_CHECKING, Any

from msnb import log, nn
from msnb._checkparam import Validator
from msnb.common.arguments import answered
from msnb.exchange.api import cipher_of
from msnb.parallel.modes.multiprocess_mesh import gather_tensors, local_parts
from msnb.train._async_writer import writer
from msnb.train._save_checkpoint import FORMATS, convert_appended, save, save_graph, select_values
from msnb.train._utils import _make_directory, check_flags
from msnb.train.callback._callback import Callback

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext
    from msnb.nn.cell import Cell

_cur_dir = os.getcwd()  # imported by networks as the folder that the program was started in
_COUNTS = ("epoch_num", "step_num")
_ENDING = r"-[0-9]+_[0-9]+\.(?:ckpt|safetensors)"  # ending of a checkpoint's name, after its prefix


def _check_file_name_prefix(file_name_prefix):
    """Return whether the prefix is a string without "/"."""
    return isinstance(file_name_prefix, str) and "/" not in file_name_prefix


def _chg_ckpt_file_name_if_same_exist(directory, prefix):
    """Return `prefix`; if checkpoints of an earlier run have this prefix, with the next number appended."""
    name = re.compile(re.escape(prefix) + r"(?:_([0-9]+))?" + _ENDING)
    runs = [int(match[1] or 0) for match in map(name.fullmatch, os.listdir(directory)) if match]
    return f"{prefix}_{max(runs) + 1}" if runs else prefix


def _parse_append_info(append_info):
    """Return a dict of the additional values of checkpoints, with the initial step and epoch counts; None if there are
    none."""
    if not append_info:
        return None
    if not isinstance(append_info, list):
        raise TypeError(
            f"For 'CheckpointConfig', 'append_info' should be a list, but got {type(append_info).__name__}."
        )
    values = {}
    for entry in append_info:
        if isinstance(entry, str) and entry in _COUNTS:
            values.setdefault(entry, 0)
        elif isinstance(entry, dict):
            convert_appended(entry)  # raises an error for a wrong entry
            values.update(entry)
        else:
            raise (ValueError if isinstance(entry, str) else TypeError)(
                f"For 'CheckpointConfig', 'append_info' should hold {', '.join(map(repr, _COUNTS))}, or dicts of "
                f"values by name, but it holds {entry!r:.80}."
            )
    return values


def _make_setting_property(name, doc):
    return property(lambda self: self._settings[name], doc=doc)


class CheckpointConfig:
    """Configuration of checkpoints: when they are saved, how many remain, and their content.

    `save_checkpoint_steps` takes precedence over `save_checkpoint_seconds`, and `keep_checkpoint_max` over
    `keep_checkpoint_per_n_minutes`.

    Args:
        save_checkpoint_steps (int): Steps between checkpoints. Default: 1.
        save_checkpoint_seconds (int): Seconds between checkpoints. Default: 0.
        keep_checkpoint_max (int): The largest number of files; the oldest one is removed. Default: 5.
        keep_checkpoint_per_n_minutes (int): Keep one checkpoint of each interval of this number of minutes. Default: 0.
        integrated_save (bool): Whether Parameters sharded over devices of several processes are gathered; see
            `save_checkpoint`. Default: True.
        async_save (bool): Whether a thread writes the files. Default: False.
        saved_network (Cell): Network to save. Default: None, the trained network with its optimizer.
        append_info (list): Additional content of a checkpoint: ``"epoch_num"``, ``"step_num"``, and dicts of values by
            name, int, float, bool, str, Parameter or Tensor. Default: None.
        enc_key (bytes): Key of 16, 24 or 32 bytes (16 for SM4) with which checkpoints are encrypted. Default: None.
        enc_mode (str): "AES-GCM", "AES-CBC" or "SM4-CBC". Default: "AES-GCM".
        exception_save (bool): Whether a checkpoint is saved when the training ends with an exception, an interrupt
            included; its name ends in "_breakpoint". Default: False.
        crc_check (bool): Whether checkpoints get a checksum, which r1.1 cannot read. Default: False.
        remove_redundancy (bool): No effect: each device has complete Parameters. Default: False.
        format (str): File format and extension: "ckpt" or "safetensors". Default: "ckpt".

    Raises:
        ValueError: If a number is negative, all are None or 0, or arguments contradict each other.
        TypeError: If an argument is of another type.

    Examples:
        >>> config = CheckpointConfig(save_checkpoint_steps=1875, keep_checkpoint_max=10)
        >>> model.train(1, dataset, callbacks=ModelCheckpoint(prefix="lenet", config=config))
    """

    @answered
    def __init__(
        self,
        save_checkpoint_steps: int = 1,
        save_checkpoint_seconds: int = 0,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_per_n_minutes: int = 0,
        integrated_save: bool = True,
        async_save: bool = False,
        saved_network: "Cell | None" = None,
        append_info: list[Any] | None = None,
        enc_key: bytes | None = None,
        enc_mode: str = "AES-GCM",
        exception_save: bool = False,
        crc_check: bool = False,
        remove_redundancy: bool = False,
        format: str = "ckpt",
    ) -> None:
        intervals = {"save_checkpoint_steps": save_checkpoint_steps, "save_checkpoint_seconds": save_checkpoint_seconds}
        limits = {
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes,
        }
        for name, value in (intervals | limits).items():
            if value is not None:
                Validator.check_non_negative_int(value, name, "CheckpointConfig")
        if not any((intervals | limits).values()):
            raise ValueError(
                f"For 'CheckpointConfig', at least one of {', '.join(map(repr, intervals | limits))} should be "
                f"positive, but all are None or 0."
            )
        flags = {
            "integrated_save": integrated_save,
            "async_save": async_save,
            "exception_save": exception_save,
            "crc_check": crc_check,
            "remove_redundancy": remove_redundancy,
        }
        check_flags("CheckpointConfig", crc_check=crc_check, remove_redundancy=remove_redundancy)
        for name, value in flags.items():
            Validator.check_bool(value, name, "CheckpointConfig")
        Validator.check_string(format, FORMATS, "format", "CheckpointConfig")
        if enc_key is not None and (crc_check or format != "ckpt"):
            raise ValueError(
                "For 'CheckpointConfig', a checkpoint that is encrypted has no checksum and is of the format 'ckpt': "
                "leave out 'enc_key', or 'crc_check' and 'format'."
            )
        log.unused("CheckpointConfig", "one device holds whole Parameters", remove_redundancy=remove_redundancy)
        if saved_network is not None and not isinstance(saved_network, nn.Cell):
            raise TypeError(
                f"For 'CheckpointConfig', 'saved_network' should be a Cell or None, "
                f"but got {type(saved_network).__name__}."
            )
        if save_checkpoint_steps:
            intervals["save_checkpoint_seconds"] = None
        if keep_checkpoint_max:
            limits["keep_checkpoint_per_n_minutes"] = None
        elif not keep_checkpoint_per_n_minutes:
            limits["keep_checkpoint_max"] = 1
        self._policy = intervals | limits | {"saved_network": saved_network}
        self._settings = self._policy | flags | {"enc_key": enc_key, "enc_mode": enc_mode, "format": format}
        self._settings["append_dict"] = _parse_append_info(append_info)
        self.cipher = cipher_of("CheckpointConfig", enc_key, enc_mode)

    save_checkpoint_steps = _make_setting_property("save_checkpoint_steps", "Steps from one checkpoint to the next.")
    save_checkpoint_seconds = _make_setting_property(
        "save_checkpoint_seconds", "Seconds from one checkpoint to the next."
    )
    keep_checkpoint_max = _make_setting_property("keep_checkpoint_max", "Most checkpoints kept.")
    keep_checkpoint_per_n_minutes = _make_setting_property(
        "keep_checkpoint_per_n_minutes", "Minutes of which one is kept."
    )
    integrated_save = _make_setting_property("integrated_save", "Whether Parameters are saved whole.")
    async_save = _make_setting_property("async_save", "Whether a thread writes the files.")
    saved_network = _make_setting_property("saved_network", "Network to save, None for the one that is trained.")
    append_dict = _make_setting_property(
        "append_dict", "What is saved in addition: values, or None for those of the moment."
    )
    enc_key = _make_setting_property("enc_key", "Key with which checkpoints are encrypted.")
    enc_mode = _make_setting_property("enc_mode", "How they are encrypted.")
    exception_save = _make_setting_property(
        "exception_save", "Whether a checkpoint is saved when the training ends by an error."
    )
    crc_check = _make_setting_property("crc_check", "Whether checkpoints have a checksum.")
    remove_redundancy = _make_setting_property("remove_redundancy", "Accepted; Parameters are always whole.")
    format = _make_setting_property("format", "Format of the files.")

    def get_checkpoint_policy(self) -> dict[str, Any]:
        """Return the settings that determine when checkpoints are saved and how many remain.

        Returns:
            dict of the first four arguments and `saved_network`; None for an argument that another one overrides.
        """
        return dict(self._policy)


class ModelCheckpoint(Callback):
    """Saves checkpoints `prefix-epoch_step.ckpt` while a network is trained, and its graph as `prefix-graph.meta`.

    When checkpoints of an earlier run have the prefix, "_1", "_2" and so on is added to it. Old checkpoints are removed
    when a new one is complete; other files in the folder are not changed.

    Args:
        prefix (str): Beginning of the file names. Default: "CKP".
        directory (str): Folder, created if it does not exist. Default: None, the current one.
        config (CheckpointConfig): Configuration of checkpoints. Default: None, `CheckpointConfig()`.

    Raises:
        ValueError: If `prefix` is not a string or has a "/".
        TypeError: If `config` is not a CheckpointConfig.

    Examples:
        >>> checkpoint = ModelCheckpoint(prefix="lenet", directory="checkpoint")
        >>> model.train(1, dataset, callbacks=checkpoint)
    """

    @answered
    def __init__(
        self, prefix: str = "CKP", directory: str | None = None, config: CheckpointConfig | None = None
    ) -> None:
        super().__init__()
        if not _check_file_name_prefix(prefix):
            raise ValueError(f"For 'ModelCheckpoint', 'prefix' should be a string without '/', but got {prefix!r}.")
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(
                f"For 'ModelCheckpoint', 'config' should be a CheckpointConfig, but got {type(config).__name__}."
            )
        self._directory = os.getcwd() if directory is None else _make_directory(directory)
        self._config = CheckpointConfig() if config is None else config
        self._prefix = _chg_ckpt_file_name_if_same_exist(self._directory, prefix)
        self._manager = CheckpointManager()
        self._graph_saved = False
        self._last_triggered_step = 0
        self._last_time = time.monotonic()
        self._latest_ckpt_file_name = ""
        self._moment = None  # callback parameters, for a training that ends with an exception

    @property
    def latest_ckpt_file_name(self) -> str:
        """Return the path of the last checkpoint."""
        return self._latest_ckpt_file_name

    def begin(self, run_context: "RunContext") -> None:
        """Reset the step count, as the callback may be used for several trainings.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        self._last_triggered_step = 0
        if self._config.exception_save:
            self._moment = run_context.original_args()

    def __exit__(self, *error: Any) -> None:
        """Save a checkpoint if the training ended with an exception and `exception_save` is set."""
        moment, self._moment = self._moment, None
        if moment is not None and error and error[0] is not None:
            self._save_ckpt(moment, "_breakpoint")
            writer.wait()

    def step_end(self, run_context: "RunContext") -> None:
        """Save a checkpoint if one is due.

        Args:
            run_context (RunContext): Values of the current step and epoch.

        Raises:
            OSError: If a checkpoint, this one or one that a thread was writing, cannot be written.
        """
        cb_params = run_context.original_args()
        if not self._graph_saved:
            self._graph_saved = True
            _make_directory(self._directory)
            self.save_graph(cb_params.train_network)
        if self._is_checkpoint_due(cb_params.cur_step_num):
            self._save_ckpt(cb_params)

    def end(self, run_context: "RunContext") -> None:
        """Save the last checkpoint, and wait for the thread that writes.

        Args:
            run_context (RunContext): Values of the current step and epoch.

        Raises:
            OSError: If a checkpoint, this one or one that a thread was writing, cannot be written.
        """
        if self._config.save_checkpoint_steps or self._config.save_checkpoint_seconds:
            self._save_ckpt(run_context.original_args())
        writer.wait()
        self._moment = None

    def save_graph(self, network):
        try:
            save_graph(network, os.path.join(self._directory, f"{self._prefix}-graph.meta"))
        except Exception as error:  # an error in the graph must not stop training
            log.warning("The graph of the network could not be saved: %s", error)

    def _is_checkpoint_due(self, step):
        if self._config.save_checkpoint_steps:
            return step - self._last_triggered_step >= self._config.save_checkpoint_steps
        seconds = self._config.save_checkpoint_seconds
        return bool(seconds) and time.monotonic() - self._last_time > seconds

    def _save_ckpt(self, cb_params, suffix=""):
        step, config = cb_params.cur_step_num, self._config
        if step == self._last_triggered_step and not suffix:  # nothing was trained since the last checkpoint
            return
        batch = (step - 1) % cb_params.batch_num + 1
        name = f"{self._prefix}-{cb_params.cur_epoch_num}_{batch}{suffix}.{config.format}"
        path = os.path.join(self._directory, name)
        network = cb_params.train_network if config.saved_network is None else config.saved_network
        append_dict = config.append_dict and dict(config.append_dict)
        for count, now in zip(_COUNTS, (cb_params.cur_epoch_num, step)):
            if append_dict and count in append_dict:
                append_dict[count] += now
        values = select_values(network)
        save(
            gather_tensors(values, "ModelCheckpoint") if config.integrated_save else local_parts(values),
            path,
            config.async_save,
            append_dict,
            crc_check=config.crc_check,
            after=None if suffix else functools.partial(self._remove_old_files, path, self._prefix),
            cipher=config.cipher,
            form=config.format,
        )
        self._last_triggered_step, self._last_time = step, time.monotonic()
        self._latest_ckpt_file_name = path

    def _remove_old_files(self, path, prefix):
        """Remove old files; called in the thread that wrote the new file."""
        self._manager.add(path)
        self._manager.update_ckpoint_filelist(self._directory, prefix)
        if self._config.keep_checkpoint_max:
            self._manager.keep_newest(self._config.keep_checkpoint_max)
        elif self._config.keep_checkpoint_per_n_minutes:
            self._manager.keep_one_per_minutes(self._config.keep_checkpoint_per_n_minutes)


class CheckpointManager:
    """The checkpoint files of one prefix in one folder, the oldest first.

    The order is that of `add`. Clocks may be set back, so file times are used only for files that were not added by
    `add`.
    """

    def __init__(self):
        self._files = []
        self._added = {}  # path: time.monotonic()

    @property
    def ckpoint_filelist(self):
        """Return the paths of the files, the oldest first."""
        return self._files

    @property
    def ckpoint_num(self):
        """Return the number of files."""
        return len(self._files)

    def add(self, path):
        """Add a written file to the list of files.

        Args:
            path (str): Path of the file.
        """
        self._added.pop(path, None)
        self._added[path] = time.monotonic()

    def update_ckpoint_filelist(self, directory, prefix):
        """List the files in a folder whose names are `prefix`-EPOCH_STEP.ckpt.

        Args:
            directory (str): Folder.
            prefix (str): Beginning of the file names.
        """
        name = re.compile(re.escape(prefix) + _ENDING)
        ages = {}
        for file in filter(name.fullmatch, os.listdir(directory)):
            path = os.path.join(directory, file)
            with contextlib.suppress(FileNotFoundError):  # another process may remove files too
                status = os.lstat(path)
                if stat.S_ISREG(status.st_mode):
                    ages[path] = status.st_mtime
        self._added = {path: when for path, when in self._added.items() if path in ages}
        self._files = sorted(ages.keys() - self._added.keys(), key=ages.get) + list(self._added)

    def remove_ckpoint_file(self, file_name):
        """Remove a file.

        Args:
            file_name (str): Its path.

        Returns:
            bool, whether the file was removed.
        """
        try:
            if os.name == "nt":  # a read-only file cannot be removed on Windows
                os.chmod(file_name, stat.S_IWRITE)
            os.remove(file_name)
        except OSError as error:
            log.warning("The old checkpoint %s could not be removed: %s", file_name, error)
            return False
        self._files = [path for path in self._files if path != file_name]
        self._added.pop(file_name, None)
        return True

    def keep_newest(self, number):
        """Remove all but the newest files.

        Args:
            number (int): Number of files that remain, positive.
        """
        for path in self._files[:-number]:
            self.remove_ckpoint_file(path)

    def keep_one_per_minutes(self, minutes):
        """Remove all files that were added in the last `minutes` except the oldest and the newest of them.

        Training resumes from the newest; once there is a newer one, it may be removed.

        Args:
            minutes (int): Length of time.
        """
        since = time.monotonic() - 60 * minutes
        for path in [path for path, when in self._added.items() if when >= since][1:-1]:
            self.remove_ckpoint_file(path)
