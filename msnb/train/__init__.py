"""Training: `Model`, callbacks, mixed precision, loss scale, checkpoints."""

from typing import Any

from msnb.common.missing import asked
from msnb.nn.metrics import (  # 2.x has the metrics and callbacks here
    F1,
    MAE,
    MSE,
    ROC,
    Accuracy,
    BleuScore,
    ConfusionMatrix,
    ConfusionMatrixMetric,
    CosineSimilarity,
    Dice,
    Fbeta,
    HausdorffDistance,
    Loss,
    MeanSurfaceDistance,
    Metric,
    OcclusionSensitivity,
    Perplexity,
    Precision,
    Recall,
    RootMeanSquareDistance,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
    auc,
    get_metric_fn,
    get_metrics,
    names,
    rearrange_inputs,
)
from msnb.train import amp, callback, summary
from msnb.train.amp import build_train_network
from msnb.train.callback import (
    BackupAndRestore,
    Callback,
    CheckpointConfig,
    EarlyStopping,
    History,
    LambdaCallback,
    LearningRateScheduler,
    LossMonitor,
    ModelCheckpoint,
    OnRequestExit,
    ReduceLROnPlateau,
    RunContext,
    SummaryCollector,
    TimeMonitor,
)
from msnb.train.data_sink import data_sink
from msnb.train.dataset_helper import DatasetHelper, connect_network_with_dataset
from msnb.train.loss_scale_manager import DynamicLossScaleManager, FixedLossScaleManager, LossScaleManager
from msnb.train.model import Model
from msnb.train.serialization import (
    async_ckpt_thread_status,
    build_searched_strategy,
    ckpt_to_safetensors,
    export,
    load,
    load_checkpoint,
    load_checkpoint_async,
    load_distributed_checkpoint,
    load_mindir,
    load_param_into_net,
    merge_sliced_parameter,
    parse_print,
    safetensors_to_ckpt,
    save_checkpoint,
)
from msnb.train.summary import SummaryRecord

__all__ = [
    "Model",
    "DatasetHelper",
    "amp",
    "data_sink",
    "connect_network_with_dataset",
    "build_train_network",
    "LossScaleManager",
    "FixedLossScaleManager",
    "DynamicLossScaleManager",
    "save_checkpoint",
    "load_checkpoint",
    "load_checkpoint_async",
    "ckpt_to_safetensors",
    "safetensors_to_ckpt",
    "load_param_into_net",
    "export",
    "load",
    "load_mindir",
    "parse_print",
    "build_searched_strategy",
    "merge_sliced_parameter",
    "load_distributed_checkpoint",
    "async_ckpt_thread_status",
]


def __getattr__(name: str) -> Any:
    return asked(__name__, name)
