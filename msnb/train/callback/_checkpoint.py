"""`ModelCheckpoint`: saves checkpoints while a network is trained, and removes old ones."""
import os
import stat
import time

from msnb import log, nn
from msnb._checkparam import Validator
from msnb.train._utils import _make_directory
from msnb.train.callback._callback import Callback
from msnb.train.serialization import _save_graph, _wait_for_saving, save_checkpoint

_cur_dir = os.getcwd()  # networks import it as the folder that the program was started in


def _check_file_name_prefix(file_name_prefix):
    """Whether it is a string without "/"."""
    return isinstance(file_name_prefix, str) and "/" not in file_name_prefix


def _chg_ckpt_file_name_if_same_exist(directory, prefix):
    """`prefix`, or `prefix` and the next number when checkpoints of an earlier run have it."""
    number = 0
    for name in os.listdir(directory):
        rest = name[len(prefix):]
        if not name.endswith(".ckpt") or not name.startswith(prefix) or rest[0].isalpha():
            continue
        if rest.startswith("-"):
            number = max(number, 1)
        elif "-" in rest and rest[1:rest.index("-")].isdigit():
            number = max(number, int(rest[1:rest.index("-")]) + 1)
    return f"{prefix}_{number}" if number else prefix


class CheckpointConfig:
    """When checkpoints are saved, and how many are kept.

    `save_checkpoint_steps` goes before `save_checkpoint_seconds`, and `keep_checkpoint_max` before
    `keep_checkpoint_per_n_minutes`.

    Args:
        save_checkpoint_steps (int): Steps from one checkpoint to the next. Default: 1.
        save_checkpoint_seconds (int): Seconds from one checkpoint to the next. Default: 0.
        keep_checkpoint_max (int): Most checkpoints kept; the oldest one is removed. Default: 5.
        keep_checkpoint_per_n_minutes (int): Minutes of which one checkpoint is kept. Default: 0.
        integrated_save (bool): Accepted; Parameters are always saved whole. Default: True.
        async_save (bool): Whether a thread writes the files. Default: False.
        saved_network (Cell): Network to save. Default: None, the one that is trained, with its optimizer.

    Raises:
        ValueError: If a number is negative, or all are None or 0.
        TypeError: If an argument is of another type.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> config = CheckpointConfig(save_checkpoint_steps=1875, keep_checkpoint_max=10)
        >>> model.train(1, dataset, callbacks=ModelCheckpoint(prefix="lenet", config=config))
    """

    def __init__(self, save_checkpoint_steps=1, save_checkpoint_seconds=0, keep_checkpoint_max=5,
                 keep_checkpoint_per_n_minutes=0, integrated_save=True, async_save=False, saved_network=None):
        numbers = {"save_checkpoint_steps": save_checkpoint_steps, "save_checkpoint_seconds": save_checkpoint_seconds,
                   "keep_checkpoint_max": keep_checkpoint_max,
                   "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes}
        for name, value in numbers.items():
            if value is not None:
                Validator.check_non_negative_int(value, name, "CheckpointConfig")
        if saved_network is not None and not isinstance(saved_network, nn.Cell):
            raise TypeError(f"For 'CheckpointConfig', 'saved_network' should be a Cell or None, "
                            f"but got {type(saved_network).__name__}.")
        if not any(numbers.values()):
            raise ValueError(f"For 'CheckpointConfig', at least one of {', '.join(map(repr, numbers))} should be "
                             f"positive, but all are None or 0.")
        self._save_checkpoint_steps = save_checkpoint_steps
        self._save_checkpoint_seconds = None if save_checkpoint_steps else save_checkpoint_seconds
        if keep_checkpoint_max:
            keep_checkpoint_per_n_minutes = None
        elif not keep_checkpoint_per_n_minutes:
            keep_checkpoint_max = 1
        self._keep_checkpoint_max = keep_checkpoint_max
        self._keep_checkpoint_per_n_minutes = keep_checkpoint_per_n_minutes
        self._integrated_save = Validator.check_bool(integrated_save, "integrated_save", "CheckpointConfig")
        self._async_save = Validator.check_bool(async_save, "async_save", "CheckpointConfig")
        self._saved_network = saved_network

    @property
    def save_checkpoint_steps(self):
        """Steps from one checkpoint to the next."""
        return self._save_checkpoint_steps

    @property
    def save_checkpoint_seconds(self):
        """Seconds from one checkpoint to the next."""
        return self._save_checkpoint_seconds

    @property
    def keep_checkpoint_max(self):
        """Most checkpoints kept."""
        return self._keep_checkpoint_max

    @property
    def keep_checkpoint_per_n_minutes(self):
        """Minutes of which one checkpoint is kept."""
        return self._keep_checkpoint_per_n_minutes

    @property
    def integrated_save(self):
        """Whether Parameters are saved whole."""
        return self._integrated_save

    @property
    def async_save(self):
        """Whether a thread writes the files."""
        return self._async_save

    @property
    def saved_network(self):
        """Network to save, None for the one that is trained."""
        return self._saved_network

    def get_checkpoint_policy(self):
        """The settings.

        Returns:
            dict.
        """
        return {"save_checkpoint_steps": self.save_checkpoint_steps,
                "save_checkpoint_seconds": self.save_checkpoint_seconds,
                "keep_checkpoint_max": self.keep_checkpoint_max,
                "keep_checkpoint_per_n_minutes": self.keep_checkpoint_per_n_minutes,
                "saved_network": self.saved_network}


class ModelCheckpoint(Callback):
    """Saves checkpoints `prefix-epoch_step.ckpt` while a network is trained, and its graph as `prefix-graph.meta`.

    When checkpoints of an earlier run have the prefix, "_1", "_2" and so on is added to it.

    Args:
        prefix (str): Beginning of the file names. Default: "CKP".
        directory (str): Folder, made if it does not exist. Default: None, the current one.
        config (CheckpointConfig): When to save and what to keep. Default: None, `CheckpointConfig()`.

    Raises:
        ValueError: If `prefix` is no string or has a "/".
        TypeError: If `config` is no CheckpointConfig.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> checkpoint = ModelCheckpoint(prefix="lenet", directory="checkpoint")
        >>> model.train(1, dataset, callbacks=checkpoint)
    """

    def __init__(self, prefix="CKP", directory=None, config=None):
        super().__init__()
        if not _check_file_name_prefix(prefix):
            raise ValueError(f"For 'ModelCheckpoint', 'prefix' should be a string without '/', but got {prefix!r}.")
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(f"For 'ModelCheckpoint', 'config' should be a CheckpointConfig, "
                            f"but got {type(config).__name__}.")
        self._directory = os.getcwd() if directory is None else _make_directory(directory)
        self._config = config or CheckpointConfig()
        self._latest_ckpt_file_name = ""
        self._last_time = self._last_time_for_keep = time.time()
        self._last_triggered_step = 0
        self._manager = CheckpointManager()
        self._prefix = _chg_ckpt_file_name_if_same_exist(self._directory, prefix)
        self._graph_saved = False

    def step_end(self, run_context):
        """Save a checkpoint if it is time.

        Args:
            run_context (RunContext): Values of the moment.
        """
        cb_params = run_context.original_args()
        if not self._graph_saved:
            self._graph_saved = True
            _make_directory(self._directory)
            self._save_graph(cb_params.train_network)
        self._save_ckpt(cb_params)

    def end(self, run_context):
        """Save the last checkpoint, and wait for the threads that write.

        Args:
            run_context (RunContext): Values of the moment.
        """
        self._save_ckpt(run_context.original_args(), force_to_save=True)
        _wait_for_saving()

    def _save_graph(self, network):
        try:
            _save_graph(network, os.path.join(self._directory, f"{self._prefix}-graph.meta"))
        except Exception as error:  # a graph that cannot be drawn is no reason to stop training
            log.warning("The graph of the network could not be saved: %s", error)

    def _is_due(self, cb_params):
        config = self._config
        if config.save_checkpoint_steps:
            return cb_params.cur_step_num >= self._last_triggered_step + config.save_checkpoint_steps
        if config.save_checkpoint_seconds and time.time() - self._last_time > config.save_checkpoint_seconds:
            self._last_time = time.time()
            return True
        return False

    def _save_ckpt(self, cb_params, force_to_save=False):
        config, step = self._config, cb_params.cur_step_num
        if step == self._last_triggered_step:
            return
        saves_at_all = config.save_checkpoint_steps or config.save_checkpoint_seconds
        if not (force_to_save and saves_at_all) and not self._is_due(cb_params):
            return
        self._manager.update_ckpoint_filelist(self._directory, self._prefix)
        if config.keep_checkpoint_max:
            while self._manager.ckpoint_num >= config.keep_checkpoint_max:
                if not self._manager.remove_oldest_ckpoint_file():
                    break
        elif config.keep_checkpoint_per_n_minutes:
            now = time.time()
            if now - self._last_time_for_keep < config.keep_checkpoint_per_n_minutes * 60:
                self._manager.keep_one_ckpoint_per_minutes(config.keep_checkpoint_per_n_minutes, now)
        self._last_time_for_keep = time.time()
        self._last_triggered_step = step
        step_in_epoch = (step - 1) % cb_params.batch_num + 1
        file_name = os.path.join(self._directory, f"{self._prefix}-{cb_params.cur_epoch_num}_{step_in_epoch}.ckpt")
        network = config.saved_network if config.saved_network is not None else cb_params.train_network
        save_checkpoint(network, file_name, config.integrated_save, config.async_save)
        self._latest_ckpt_file_name = file_name

    @property
    def latest_ckpt_file_name(self):
        """Path of the last checkpoint."""
        return self._latest_ckpt_file_name


class CheckpointManager:
    """The checkpoint files of one prefix in one folder."""

    def __init__(self):
        self._ckpoint_filelist = []

    @property
    def ckpoint_filelist(self):
        """Paths of the files."""
        return self._ckpoint_filelist

    @property
    def ckpoint_num(self):
        """Number of files."""
        return len(self._ckpoint_filelist)

    def update_ckpoint_filelist(self, directory, prefix):
        """Look for the files again: those whose names have no letters between `prefix` and ".ckpt".

        Args:
            directory (str): Folder.
            prefix (str): Beginning of their names.
        """
        self._ckpoint_filelist = [
            os.path.join(directory, name) for name in os.listdir(directory)
            if name.startswith(prefix) and name.endswith(".ckpt")
            and not any(c.isalpha() for c in name[len(prefix):-len(".ckpt")])]

    def remove_ckpoint_file(self, file_name):
        """Remove a file.

        Args:
            file_name (str): Its path.

        Returns:
            bool, whether it is gone.
        """
        try:
            os.chmod(file_name, stat.S_IWRITE)
            os.remove(file_name)
            self._ckpoint_filelist.remove(file_name)
            return True
        except (OSError, ValueError) as error:
            log.warning("The old checkpoint %s could not be removed: %s", file_name, error)
            return False

    def remove_oldest_ckpoint_file(self):
        """Remove the oldest file.

        Returns:
            bool, whether it is gone.
        """
        return self.remove_ckpoint_file(min(self._ckpoint_filelist, key=os.path.getmtime))

    def keep_one_ckpoint_per_minutes(self, minutes, cur_time):
        """Of the files written in the last `minutes`, keep only the oldest.

        Args:
            minutes (int): Length of time.
            cur_time (float): Now, in seconds.
        """
        recent = [f for f in self._ckpoint_filelist if cur_time - os.path.getmtime(f) < 60 * minutes]
        recent.sort(key=os.path.getmtime)
        for file_name in recent[1:]:
            self.remove_ckpoint_file(file_name)
