"""Callbacks: objects whose methods are called between the steps and epochs of training and evaluation."""

from typing import Any

from msnb.common.callback import RunContext
from msnb.common.missing import asked
from msnb.train.callback._backup_and_restore import BackupAndRestore
from msnb.train.callback._callback import Callback
from msnb.train.callback._callback import CallbackManager as _CallbackManager
from msnb.train.callback._callback import InternalCallbackParam as _InternalCallbackParam
from msnb.train.callback._callback import checkpoint_cb_for_save_op as _checkpoint_cb_for_save_op
from msnb.train.callback._callback import set_cur_net as _set_cur_net
from msnb.train.callback._checkpoint import CheckpointConfig, ModelCheckpoint
from msnb.train.callback._checkpoint import CheckpointManager as _CheckpointManager
from msnb.train.callback._early_stopping import EarlyStopping
from msnb.train.callback._history import History
from msnb.train.callback._lambda_callback import LambdaCallback
from msnb.train.callback._loss_monitor import LossMonitor
from msnb.train.callback._lr_scheduler_callback import LearningRateScheduler
from msnb.train.callback._on_request_exit import OnRequestExit
from msnb.train.callback._reduce_lr_on_plateau import ReduceLROnPlateau
from msnb.train.callback._summary_collector import SummaryCollector
from msnb.train.callback._time_monitor import TimeMonitor

__all__ = [
    "Callback",
    "LossMonitor",
    "TimeMonitor",
    "ModelCheckpoint",
    "SummaryCollector",
    "CheckpointConfig",
    "RunContext",
    "LearningRateScheduler",
    "EarlyStopping",
    "ReduceLROnPlateau",
    "History",
    "LambdaCallback",
    "OnRequestExit",
    "BackupAndRestore",
]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
