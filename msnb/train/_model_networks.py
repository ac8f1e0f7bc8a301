"""Construction of a Model's networks for training, evaluation and prediction, and of its metrics.

Libraries subclass Model and override or call these methods, some without its constructor. The names are r1.1's.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

from msnb import nn
from msnb.common.arguments import unknown
from msnb.context import ParallelMode
from msnb.nn.metrics import Loss, get_metrics
from msnb.nn.wrap.cell_wrapper import _VirtualDatasetCell
from msnb.parallel._utils import _device_number_check, _parameter_broadcast_check
from msnb.parallel.modes.multiprocess_data_parallel import broadcast
from msnb.train import amp
from msnb.train.dataset_helper import DatasetHelper
from msnb.train.loss_scale_manager import FixedLossScaleManager, LossScaleManager

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.cell import Cell
    from msnb.nn.optim.optimizer import Optimizer

AUTO_PARALLEL = (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)
_FURTHER = ("loss_scale_manager", "keep_batchnorm_fp32")
_ARGUMENTS = ("network", "loss_fn", "optimizer", "metrics", "eval_network", "eval_indexes", "amp_level", *_FURTHER)
_INERT_UPDATES = (FixedLossScaleManager.update_loss_scale, LossScaleManager.update_loss_scale)


class _Parallel(NamedTuple):
    """Settings of parallel training, read when the Model was constructed."""

    mode: str
    devices: int
    broadcast: bool

    @property
    def automatic(self):
        """Return whether the parallel mode is semi-automatic or automatic."""
        return self.mode in AUTO_PARALLEL

    def mark(self, network):
        """Return `network`; in semi-automatic and automatic mode it is marked for sharding."""
        if self.automatic:
            network.set_auto_parallel()
        return network

    def begin(self, network):
        """Broadcast the Parameters of the first process, if the settings ask for it."""
        if self.broadcast:
            broadcast(network.get_parameters())

    def check(self, training=False):
        """Raise an error if the settings contradict each other."""
        _device_number_check(self.mode, self.devices)
        if training:
            _parameter_broadcast_check(self.mode, self.broadcast)


class Assembly:
    """Mixin of `Model` that builds its networks from the constructor arguments."""

    _network: "Cell"
    _loss_fn: Any
    _optimizer: "Optimizer | None"
    _amp_level: str
    _parallel_mode: str
    _device_number: int
    _parameter_broadcast: bool

    # Class attributes, because a derived class may not build networks for evaluation.
    _eval_network: Any = None
    _eval_indexes: Any = None
    _metric_fns: Any = None

    def _check_kwargs(self, kwargs):
        """Raise an error for an argument that Model does not take."""
        wrong = [name for name in kwargs if name not in _FURTHER]
        if wrong:
            raise ValueError(unknown("Model", wrong, _ARGUMENTS))

    def _process_amp_args(self, kwargs):
        """Store the options of mixed precision."""
        self._keep_bn_fp32 = kwargs.get("keep_batchnorm_fp32", self._amp_level not in ("O0", "O3"))
        self._loss_scale_manager_set = "loss_scale_manager" in kwargs
        self._loss_scale_manager = kwargs.get("loss_scale_manager")

    def _build_train_network(self):
        """Return the network that `train` calls: a complete training step, or without an optimizer the network with
        its loss."""
        if self._optimizer is not None:
            options = {"keep_batchnorm_fp32": self._keep_bn_fp32}
            if self._loss_scale_manager_set:
                options["loss_scale_manager"] = self._loss_scale_manager
            step = amp.build_train_network(self._network, self._optimizer, self._loss_fn, self._amp_level, **options)
            return self._parallel.mark(step)
        if self._loss_scale_manager is not None:
            raise ValueError("For 'Model', 'loss_scale_manager' needs an 'optimizer', but it is None.")
        plain = self._network if self._loss_fn is None else nn.WithLossCell(self._network, self._loss_fn)
        return self._parallel.mark(plain)

    def _build_eval_network(self, metrics, eval_network, eval_indexes):
        """Build the network that `eval` calls, and the indexes of loss, prediction and label in its outputs (None:
        every metric gets all outputs)."""
        self._metric_fns = get_metrics(metrics)
        if not self._metric_fns:
            return
        network, indexes = eval_network, eval_indexes
        if network is None and self._loss_fn is None:
            raise ValueError("For 'Model', 'metrics' need a 'loss_fn' or an 'eval_network', but both are None.")
        if network is None:
            half = self._amp_level in ("O2", "O3", "auto")
            network, indexes = nn.WithEvalCell(self._network, self._loss_fn, half), [0, 1, 2]
        if indexes is not None and (not isinstance(indexes, list) or len(indexes) != 3):
            raise ValueError(
                f"For 'Model', 'eval_indexes' should be a list of three (the places of loss, prediction "
                f"and label) or None, but got {indexes!r}."
            )
        if self._parallel.automatic and self._optimizer is not None:
            network = _VirtualDatasetCell(network)
        self._eval_network, self._eval_indexes = self._parallel.mark(network), indexes

    def _build_predict_network(self):
        """Build the network that `predict` calls."""
        network = _VirtualDatasetCell(self._network) if self._parallel.automatic else self._network
        self._predict_network = self._parallel.mark(network)

    @property
    def _parallel(self):
        return _Parallel(self._parallel_mode, self._device_number, self._parameter_broadcast)

    def _clear_metrics(self):
        """Reset all metrics."""
        for metric in self._metric_fns.values():
            metric.clear()

    def _get_metrics(self):
        """Return the value of each metric by name."""
        return {name: metric.eval() for name, metric in self._metric_fns.items()}

    def _update_metrics(self, outputs):
        if not isinstance(outputs, tuple):
            raise ValueError(f"The evaluation network should return a tuple, but returned {type(outputs).__name__}.")
        if self._eval_indexes is None:
            for metric in self._metric_fns.values():
                metric.update(*outputs)
            return
        if len(outputs) < 3:
            raise ValueError(
                f"The evaluation network should return at least loss, prediction and label, but returned "
                f"{len(outputs)} outputs."
            )
        loss, prediction, label = (outputs[i] for i in self._eval_indexes)
        for metric in self._metric_fns.values():
            if isinstance(metric, Loss):
                metric.update(loss)
            else:
                metric.update(prediction, label)

    def _get_scaling_sens(self):
        """Return the factor by which the gradient of the loss is multiplied on each device."""
        scale = 1 if self._loss_scale_manager is None else self._loss_scale_manager.get_loss_scale()
        return scale / self._device_number if self._parallel_mode == ParallelMode.DATA_PARALLEL else scale

    def _exec_preprocess(
        self, network, is_train, phase, dataset, dataset_sink_mode, sink_size=-1, epoch_num=1, dataset_helper=None
    ):
        """Return an iterator over the batches of a dataset, and the network set to training or evaluation."""
        if dataset_helper is None:
            dataset_helper = DatasetHelper(dataset, dataset_sink_mode, sink_size, epoch_num)
        self._prepare(network, is_train)
        network.phase = phase
        return dataset_helper, network

    def _prepare(self, network, is_train):
        network.set_train(is_train)
        network.phase = "train" if is_train else "eval"
        self._parallel.mark(network)

    def _needs_overflow_report(self):
        """Return True if the loss scale manager needs to know of each overflow. Training then waits for every step."""
        manager = self._loss_scale_manager
        return (
            manager is not None
            and manager.get_drop_overflow_update()
            and type(manager).update_loss_scale not in _INERT_UPDATES
        )
