"""`BackupAndRestore`: a callback that resumes an interrupted training."""

import os
from typing import TYPE_CHECKING

from msnb.common.arguments import answered
from msnb.common.kinds import Bool, PositiveInt, check
from msnb.train._load_checkpoint import load_checkpoint
from msnb.train._save_checkpoint import save_checkpoint
from msnb.train._utils import _make_directory
from msnb.train.callback._callback import Callback

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext


class BackupAndRestore(Callback):
    """
    Saves the network after training epochs, and restores it when an interrupted training is started again.

    Args:
        backup_dir (str): Folder of the file, ``backup.ckpt``; it is created if it does not exist.
        save_freq (Union[int, str]): Epochs between saves, or "epoch" for each. Default: "epoch".
        delete_checkpoint (bool): Whether the file is deleted at the end of the training. Default: True.

    Raises:
        TypeError: If `delete_checkpoint` is not a bool, or `save_freq` neither "epoch" nor an int.
        ValueError: If `save_freq` is not positive.

    Examples:
        >>> model.train(2, dataset, callbacks=mindspore.BackupAndRestore("backup"))
    """

    @answered
    def __init__(self, backup_dir: str, save_freq: int | str = "epoch", delete_checkpoint: bool = True) -> None:
        super().__init__()
        self.backup_file = os.path.join(_make_directory(backup_dir), "backup.ckpt")
        self.save_freq = 1 if save_freq == "epoch" else check(PositiveInt, save_freq, "save_freq", "BackupAndRestore")
        self.delete_checkpoint = check(Bool, delete_checkpoint, "delete_checkpoint", "BackupAndRestore")

    def on_train_begin(self, run_context: "RunContext") -> None:
        """Read the file, if there is one.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        if os.path.exists(self.backup_file):
            load_checkpoint(self.backup_file, net=run_context.original_args().train_network)

    def on_train_epoch_end(self, run_context: "RunContext") -> None:
        """Write the file.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        moment = run_context.original_args()
        if moment.cur_epoch_num % self.save_freq == 0:
            save_checkpoint(moment.train_network, self.backup_file)

    def on_train_end(self, run_context: "RunContext") -> None:
        """Remove the file.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        if self.delete_checkpoint and os.path.exists(self.backup_file):
            os.remove(self.backup_file)
