"""`OnRequestExit`: a callback that ends a training when a signal arrives."""

import json
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from msnb import context, log
from msnb.common.arguments import answered
from msnb.common.kinds import Bool, Int, check
from msnb.exchange.api import export
from msnb.train._load_checkpoint import load_checkpoint
from msnb.train._save_checkpoint import save_checkpoint
from msnb.train._utils import _make_directory
from msnb.train.callback._callback import Callback

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext


class OnRequestExit(Callback):
    """
    Ends training or evaluation after the current step when a signal requests it, and saves the network; the next run
    resumes from the checkpoint.

    Args:
        save_ckpt (bool): Whether to save a checkpoint, ``NAME_train.ckpt``. Default: True.
        save_mindir (bool): Whether to save the network as MINDIR, ``NAME_train.mindir``. Default: True.
        file_name (str): NAME. Default: "Net".
        directory (str): Parent of the folder ``rank_0``; None for the current folder. Default: "./".
        config_file (str): A JSON file; ``{"GracefulExit": 1}`` in it requests the end too. Default: None.
        sig (int): The signal. Default: signal.SIGTERM.

    Raises:
        TypeError: If `save_ckpt` or `save_mindir` is not a bool, or `sig` is not an int.
        ValueError: If `sig` is SIGKILL, which no program can handle.

    Examples:
        >>> model.train(1, dataset, callbacks=mindspore.OnRequestExit(file_name="lenet"))
    """

    @answered
    def __init__(
        self,
        save_ckpt: bool = True,
        save_mindir: bool = True,
        file_name: str = "Net",
        directory: str | None = "./",
        config_file: str | None = None,
        sig: int = signal.SIGTERM,
    ) -> None:
        super().__init__()
        self.save_ckpt = check(Bool, save_ckpt, "save_ckpt", "OnRequestExit")
        self.save_mindir = check(Bool, save_mindir, "save_mindir", "OnRequestExit")
        self.sig: int = check(Int, sig, "sig", "OnRequestExit")
        if self.sig == getattr(signal, "SIGKILL", None):
            raise ValueError("For 'OnRequestExit', 'sig' should be a signal that a program can answer, not SIGKILL.")
        self.config_file, self.exit = config_file, False
        self._previous_handler: Any = None
        folder = os.path.join(directory or os.getcwd(), f"rank_{context.get_context('device_id')}")
        if save_ckpt or save_mindir:
            self.train_name, self.eval_name = (
                os.path.join(_make_directory(folder), f"{file_name}_{what}") for what in ("train", "eval")
            )

    def __exit__(self, *err: Any) -> None:
        if self._previous_handler is not None:
            signal.signal(self.sig, self._previous_handler)
            self._previous_handler = None

    def _install_signal_handler(self):
        self.exit = False
        if threading.current_thread() is not threading.main_thread():
            log.once("OnRequestExit hears no signals: only the main thread of a program gets them.")
        elif self._previous_handler is None:
            self._previous_handler = signal.signal(self.sig, self._request_exit) or signal.SIG_DFL

    def _request_exit(self, number, frame):
        self.exit = True

    def _is_exit_requested(self):
        if not self.exit and self.config_file is not None and os.path.exists(self.config_file):
            try:
                with open(self.config_file, encoding="utf-8") as file:
                    self.exit = json.load(file).get("GracefulExit") == 1
            except ValueError as error:
                log.warning("%s is no JSON file: %s", self.config_file, error)
        return self.exit

    def _save_network(self, network, name, inputs):
        if self.save_ckpt:
            save_checkpoint(network, f"{name}.ckpt")
        if self.save_mindir:
            export(network, *inputs, file_name=name, file_format="MINDIR")

    def _restore_network(self, network, *names):
        path = next((f"{name}.ckpt" for name in names if self.save_ckpt and os.path.isfile(f"{name}.ckpt")), None)
        if path:
            load_checkpoint(path, net=network)

    def on_train_begin(self, run_context: "RunContext") -> None:
        """Load the checkpoint, if there is one, and install the signal handler.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        self._install_signal_handler()
        if self.save_ckpt:
            self._restore_network(run_context.original_args().train_network, self.train_name)

    def on_train_step_end(self, run_context: "RunContext") -> None:
        """End training, if that was requested.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        if self._is_exit_requested():
            run_context.request_stop()

    def on_train_end(self, run_context: "RunContext") -> None:
        """Save the network.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        moment = run_context.original_args()
        if self.exit and (self.save_ckpt or self.save_mindir):
            self._save_network(moment.train_network, self.train_name, moment.train_dataset_element)

    def on_eval_begin(self, run_context: "RunContext") -> None:
        """Load a checkpoint, if there is one, and install the signal handler.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        self._install_signal_handler()
        if self.save_ckpt:
            self._restore_network(run_context.original_args().eval_network, self.eval_name, self.train_name)

    def on_eval_step_end(self, run_context: "RunContext") -> None:
        """End evaluation, if that was requested.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        if self._is_exit_requested():
            run_context.request_stop()

    def on_eval_end(self, run_context: "RunContext") -> None:
        """Save the network.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        moment = run_context.original_args()
        if self.exit and (self.save_ckpt or self.save_mindir):
            self._save_network(moment.eval_network, self.eval_name, moment.eval_dataset_element)
