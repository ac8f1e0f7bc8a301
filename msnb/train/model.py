"""`Model`: trains, evaluates and runs a network."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb import context, log
from msnb._checkparam import Validator, check_input_data, check_output_data
from msnb._util.placeholders import not_yet
from msnb.common.arguments import answered, refuse_classes
from msnb.common.progress import Work
from msnb.communication.management import get_rank
from msnb.context import ParallelMode as ParallelMode  # libraries import it from here
from msnb.core.operator.api_generations import differs_in_api2
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.jit import _executor, _pynative_executor
from msnb.nn.wrap.cell_wrapper import OptimizerOfOtherNetwork
from msnb.parallel._utils import (
    _get_device_num,
    _get_global_rank,
    _get_parallel_mode,
    _get_parameter_broadcast,
    _parallel_predict_check,
)
from msnb.parallel.auto_parallel import in_own_settings, settings_of
from msnb.train import _column_check, amp
from msnb.train._evaluate_callback import Evaluation
from msnb.train._local_batch import with_global_batch
from msnb.train._model_networks import AUTO_PARALLEL, Assembly
from msnb.train._no_optimizer_warning import IdleCheck
from msnb.train._progress import Progress, prints
from msnb.train._resume import resumption_of
from msnb.train.callback import Callback, RunContext, _CallbackManager, _InternalCallbackParam

if TYPE_CHECKING:  # used in annotations only
    from msnb.dataset.engine.dataset import Dataset
    from msnb.nn.cell import Cell
    from msnb.nn.optim.optimizer import Optimizer
    from msnb.train.recording import Recording

__all__ = ["Model"]


@differs_in_api2(amp.MORE_IN_FLOAT32, given="amp_level")
class Model(Assembly):
    """Combines network, loss, optimizer and metrics for training and evaluation.

    Args:
        network (Cell): The network.
        loss_fn (Cell): Loss of the network's output and the label. Default: None, the network returns its loss.
        optimizer (Optimizer): Updates the Parameters. Default: None, the network trains itself when it is called.
        metrics (Union[dict, set]): Metrics of evaluation, for example {"accuracy", "recall"}. Default: None.
        eval_network (Cell): Network for evaluation. Default: None, `network` and `loss_fn`.
        eval_indexes (list): Indexes of loss, prediction and label in the outputs of `eval_network`; the loss goes to
            the metric Loss, the other two to all others. Default: None, all outputs go to all metrics.
        amp_level (str): Precision "O0", "O1", "O2", "O3" or "auto", see :func:`build_train_network`. Default: "O0".
        boost_level (str): "O0"; "O1" and "O2" are accepted, and have no effect here. Default: "O0".
        loss_scale_manager (Union[None, LossScaleManager]): Scales the loss; overrides `amp_level`.
        keep_batchnorm_fp32 (bool): Whether BatchNorm stays in float32; overrides `amp_level`.

    Raises:
        ValueError: If an argument is unknown, or an argument that another one requires is missing.

    Examples:
        >>> from mindspore.train.callback import LossMonitor
        >>> lenet = LeNet5()
        >>> cross_entropy = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        >>> momentum = nn.Momentum(lenet.trainable_params(), learning_rate=0.01, momentum=0.9)
        >>> model = Model(lenet, cross_entropy, momentum, metrics={"accuracy"})
        >>> model.train(2, digits, callbacks=LossMonitor(100))
        >>> model.eval(unseen_digits)
    """

    # Class attributes, because a derived class may not call this constructor.
    _epochs_done = 0
    _progress: Any = None  # the progress line of the current training
    _mismatch: Exception | None = None  # the reason why the optimizer does not train the network

    @answered
    def __init__(
        self,
        network: "Cell",
        loss_fn: "Cell | None" = None,
        optimizer: "Optimizer | None" = None,
        metrics: dict[Any, Any] | set[Any] | None = None,
        eval_network: "Cell | None" = None,
        eval_indexes: list[Any] | None = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs: Any,
    ) -> None:
        self._check_kwargs(kwargs)
        amp.check_boost("Model", boost_level)
        refuse_classes("Model", network=network, loss_fn=loss_fn, optimizer=optimizer)
        self._network, self._loss_fn, self._optimizer = network, loss_fn, optimizer
        self._amp_level = amp_level
        self._process_amp_args(kwargs)
        with settings_of(network):
            self._parallel_mode, self._device_number = _get_parallel_mode(), _get_device_num()
            self._global_rank, self._parameter_broadcast = _get_global_rank(), _get_parameter_broadcast()
            self._train_network = None
            try:
                self._train_network = self._build_train_network()
            except OptimizerOfOtherNetwork as error:  # such a Model still evaluates and predicts
                self._mismatch = error.with_traceback(None)
            self._build_eval_network(metrics, eval_network, eval_indexes)
            self._build_predict_network()

    def __repr__(self):
        cells = {"network": self._network, "loss_fn": self._loss_fn, "optimizer": self._optimizer}
        texts = [f"{name}={type(cell).__name__}" for name, cell in cells.items() if cell is not None]
        if self._metric_fns:
            texts.append(f"metrics={', '.join(self._metric_fns)}")
        return f"Model<{', '.join(texts)}, epochs trained: {self._epochs_done}>"

    @property
    def train_network(self) -> "Cell | None":
        """Return the network that `train` calls: with loss, gradient and optimizer."""
        return self._train_network

    @property
    def eval_network(self) -> "Cell | None":
        """Return the network that `eval` calls, None without metrics."""
        return self._eval_network

    @property
    def predict_network(self) -> "Cell | None":
        """Return the network that `predict` calls."""
        return self._predict_network

    # ------------------------------------------------------------------ training
    @in_own_settings
    def train(
        self,
        epoch: int,
        train_dataset: "Dataset",
        callbacks: "Callback | list[Callback] | None" = None,
        dataset_sink_mode: bool = True,
        sink_size: int = -1,
        initial_epoch: int = 0,
        *,
        display: bool = True,
        record: "bool | str | Recording" = False,
        resume: bool | int = False,
    ) -> None:
        """Train the network.

        A line below the cell, or in the terminal, shows the progress, unless a callback prints. After an interrupt the
        Parameters are those of the last complete step.

        Args:
            epoch (int): Number of epochs, positive.
            train_dataset (Dataset): Batches. With a `loss_fn` each has two columns, data and label; otherwise the
                columns are the inputs of the network.
            callbacks (Union[Callback, list[Callback]]): Callbacks between steps and epochs. Default: None.
            dataset_sink_mode (bool): Whether `sink_size` has an effect. There are no device queues here:
                batches go to the device one by one in either case. Default: True.
            sink_size (int): Steps per epoch in sink mode; each epoch continues in the dataset where the previous one
                ended; -1 for the complete dataset. Default: -1.
            initial_epoch (int): The number of epochs that an earlier training has completed: this training begins with
                the next epoch, and ends with number `epoch`. Steps are counted from 1. Default: 0.
            display (bool): Whether the line is shown; ``context.set_context(show_progress=False)`` and
                ``MSNB_PROGRESS=0`` in the environment disable all progress lines. Default: True.
            record (Union[bool, str, Recording]): Whether the training is recorded in a folder below ``runs``: True, the
                name of the run, or a Recording that `msnb.record` has returned. Default: False.
            resume (Union[bool, int]): Whether an interrupted training can be resumed: the same program, run again,
                continues after the last complete epoch. With a number n, the state is also saved every n steps. The
                folder of the run stores the Parameters, the optimizer's too, the random stream and the loss scale. The
                batches before are read once more and skipped, so the result is bitwise equal to that of an
                uninterrupted training, if a seed is set. Counters of callbacks and random numbers from `numpy.random`
                start again. Default: False.

        Raises:
            TypeError: If an argument is of another type.
            ValueError: If the dataset is empty, its columns do not fit, `epoch`, `sink_size` or `initial_epoch` is out
                of range, `resume` comes with an `initial_epoch` or without the name of a run, or the checkpoint belongs
                to another training.

        Examples:
            >>> model = Model(net, loss_fn=loss, optimizer=optim)
            >>> model.train(2, dataset)
        """
        Validator.check_positive_int(epoch, "epoch", "Model.train")
        Validator.check_bool(dataset_sink_mode, "dataset_sink_mode", "Model.train")
        Validator.check_is_int(sink_size, "sink_size", "Model.train")
        Validator.check_bool(display, "display", "Model.train")
        dataset_size = _get_dataset_size(train_dataset, "train_dataset")
        if dataset_size == 0:
            raise ValueError("The dataset for training is empty; are its files, samplers and batch size right?")
        if sink_size < -1 or sink_size == 0:
            raise ValueError(f"For 'Model.train', 'sink_size' should be -1 or positive, but got {sink_size}.")
        Validator.check_non_negative_int(initial_epoch, "initial_epoch", "Model.train")
        if initial_epoch >= epoch:
            raise ValueError(
                f"For 'Model.train', 'initial_epoch' should be below 'epoch', the number of the last one, but got "
                f"{initial_epoch} and {epoch}."
            )
        if initial_epoch and resume:
            raise ValueError("For 'Model.train', 'resume' finds where to go on; leave 'initial_epoch' out.")
        if self._mismatch is not None:
            raise self._mismatch
        self._parallel.check()
        self._parallel.begin(self._train_network)
        resumption = resumption_of(resume, record)
        # Only the process of rank 0 records.
        callbacks = _add_run_callback(callbacks, record, bool(resume)) if record and get_rank() == 0 else callbacks
        sink = dataset_sink_mode and sink_size > 0
        if dataset_sink_mode:
            log.info("Model.train: there are no device queues here, the dataset is not sunk.")

        cb_params = self._make_callback_params(
            "train",
            callbacks,
            batch_num=sink_size if sink else dataset_size,
            epoch_num=epoch - initial_epoch,
            train_network=self._train_network,
            train_dataset=train_dataset,
            train_dataset_element=None,
            loss_fn=self._loss_fn,
            optimizer=self._optimizer,
            parallel_mode=self._parallel.mode,
            device_number=self._parallel.devices,
            dataset_sink_mode=dataset_sink_mode,
        )
        with _CallbackManager(callbacks) as list_callback:
            helper, _ = self._exec_preprocess(self._train_network, True, "train", train_dataset, sink, sink_size, epoch)
            outer_progress = self._progress  # not None if a callback trains
            with Progress(epoch, cb_params.batch_num, cb_params.list_callback, display) as self._progress:
                try:
                    numbers = range(initial_epoch + 1, epoch + 1)
                    self._train_process(numbers, train_dataset, helper, list_callback, cb_params, resumption)
                finally:
                    self._progress = outer_progress

    def _make_callback_params(self, mode, callbacks, **values):
        """Return the parameters that callbacks read."""
        return _InternalCallbackParam(
            mode=mode, network=self._network, list_callback=_list_callbacks(callbacks), cur_step_num=0, **values
        )

    def _train_process(self, numbers, train_dataset, helper, callbacks, cb_params, resumption=None):
        network = with_global_batch(self._train_network)
        follow_overflow = self._needs_overflow_report()
        columns = None
        run_context, progress = RunContext(cb_params), self._progress
        idle = IdleCheck(self._train_network) if self._optimizer is None else None
        if resumption is not None:
            resumption.load(self, cb_params.batch_num)
            cb_params.cur_step_num = progress.done = resumption.step
        callbacks.on_train_begin(run_context)
        step_begin, step_end = callbacks.train_step_begin, callbacks.train_step_end
        try:
            for number in numbers:
                elements = iter(helper)
                if resumption is not None and resumption.pass_by(number, elements):
                    train_dataset.reset()
                    continue
                cb_params.cur_epoch_num = number
                progress.begin_epoch(number)
                callbacks.on_train_epoch_begin(run_context)
                for element in elements:
                    if isinstance(element, Tensor):
                        element = (element,)
                    if len(element) != columns:  # the number of columns of the previous batch
                        _column_check.check(self._network, self._loss_fn, element)
                        columns = len(element)
                    cb_params.cur_step_num += 1
                    cb_params.train_dataset_element = element
                    for callback in step_begin:
                        callback(run_context)
                    if resumption is not None:
                        resumption.go_on()
                    outputs = network(*element)
                    cb_params.net_outputs = outputs
                    progress.done += 1
                    if idle is not None:
                        idle = idle.look()
                    if follow_overflow:
                        self._loss_scale_manager.update_loss_scale(bool(np.all(outputs[1].asnumpy())))
                    for callback in step_end:
                        callback(run_context)
                    progress.step(outputs)
                    if run_context.get_stop_requested():
                        break
                    if resumption is not None:
                        resumption.after_step(self, cb_params)
                self._epochs_done += 1
                train_dataset.reset()
                callbacks.on_train_epoch_end(run_context)
                if resumption is not None:
                    resumption.after_epoch(self, cb_params, run_context.get_stop_requested())
                if run_context.get_stop_requested():
                    break
        finally:
            helper.release()
            if resumption is not None:
                resumption.wait()
        progress.finish()
        callbacks.on_train_end(run_context)

    @in_own_settings
    def fit(
        self,
        epoch: int,
        train_dataset: "Dataset",
        valid_dataset: "Dataset | None" = None,
        valid_frequency: int | list[int] = 1,
        callbacks: "Callback | list[Callback] | None" = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
        *,
        display: bool = True,
        record: "bool | str | Recording" = False,
        resume: bool | int = False,
    ) -> None:
        """Train the network, evaluate it between epochs, and print the metrics each time.

        Args:
            epoch (int): Number of epochs, positive.
            train_dataset (Dataset): Batches for training.
            valid_dataset (Dataset): Batches for evaluation. Default: None, only train.
            valid_frequency (Union[int, list[int]]): Number of epochs between evaluations, or a list of the
                epochs after which to evaluate. Default: 1.
            callbacks (Union[Callback, list[Callback]]): As in `train`; those with `on_eval_*` methods are called in
                evaluation too. Default: None.
            dataset_sink_mode (bool): As in `train`. Default: False.
            valid_dataset_sink_mode (bool): As in `eval`. Default: False.
            sink_size (int): As in `train`. Default: -1.
            initial_epoch (int): As in `train`. Default: 0.
            display (bool): As in `train`; False suppresses the metrics too. Default: True.
            record (Union[bool, str, Recording]): As in `train`; the metrics are recorded, too. Default: False.
            resume (Union[bool, int]): As in `train`. Default: False.

        Raises:
            TypeError: If an argument is of another type.
            ValueError: If the Model has no metrics, or an argument is out of range.

        Examples:
            >>> from mindspore.train.callback import LossMonitor
            >>> model = Model(lenet, cross_entropy, momentum, metrics={"accuracy"})
            >>> model.fit(2, digits, unseen_digits, callbacks=LossMonitor(100))
        """
        if not isinstance(valid_frequency, (int, list)) or isinstance(valid_frequency, bool):
            raise TypeError(
                f"For 'Model.fit', 'valid_frequency' should be an int or a list of int, but got {valid_frequency!r}."
            )
        if valid_dataset is not None:
            if not self._metric_fns:
                raise ValueError("Model.fit with a 'valid_dataset' needs metrics, but this Model has none.")
            going_on: Any = resumption_of(resume, record)
            others = (
                _add_run_callback(callbacks, record, bool(resume)) if get_rank() == 0 else _list_callbacks(callbacks)
            )
            record, resume = False, going_on or False
            callbacks = [Evaluation(valid_frequency, self, valid_dataset, others, valid_dataset_sink_mode), *others]
        self.train(
            epoch,
            train_dataset,
            callbacks,
            dataset_sink_mode,
            sink_size,
            initial_epoch,
            display=display,
            record=record,
            resume=resume,
        )

    @in_own_settings
    def build(
        self,
        train_dataset: "Dataset | None" = None,
        valid_dataset: "Dataset | None" = None,
        sink_size: int = -1,
        epoch: int = 1,
        sink_mode: bool = True,
    ) -> None:
        """Compile the networks for training and evaluation before they run (GRAPH mode).

        Args:
            train_dataset (Dataset): Batches for training. Default: None.
            valid_dataset (Dataset): Batches for evaluation. Default: None.
            sink_size (int): No effect: the graphs do not depend on it. Default: -1.
            epoch (int): No effect: the graphs do not depend on it. Default: 1.
            sink_mode (bool): No effect: the graphs do not depend on it. Default: True.

        Raises:
            RuntimeError: In PYNATIVE mode, or without metrics for `valid_dataset`.
            ValueError: If both datasets are None.
        """
        log.unused(
            "Model.build",
            "the graphs do not depend on it",
            sink_size=sink_size != -1,
            epoch=epoch != 1,
            sink_mode=not sink_mode,
        )
        if context.get_context("mode") == context.PYNATIVE_MODE:
            raise RuntimeError(
                "Networks are compiled beforehand in GRAPH mode only: context.set_context(mode=context.GRAPH_MODE)."
            )
        if train_dataset and self._mismatch is not None:
            raise self._mismatch
        if not train_dataset and not valid_dataset:
            raise ValueError(
                "For 'Model.build', 'train_dataset' or 'valid_dataset' should be given, but both are None."
            )
        if valid_dataset and not self._metric_fns:
            raise RuntimeError("For 'Model.build', 'valid_dataset' needs a Model with metrics.")
        self._parallel.check(training=bool(train_dataset))
        for dataset, network, phase in (
            (train_dataset, self._train_network, "train"),
            (valid_dataset, self._eval_network, "eval"),
        ):
            if dataset:
                helper, _ = self._exec_preprocess(network, phase == "train", phase, dataset, False)
                for inputs in helper:
                    with_global_batch(network).compile(*((inputs,) if isinstance(inputs, Tensor) else inputs))
                    break

    # ------------------------------------------------------------------ evaluation
    @in_own_settings
    def eval(
        self,
        valid_dataset: "Dataset",
        callbacks: "Callback | list[Callback] | None" = None,
        dataset_sink_mode: bool = True,
        *,
        display: bool = True,
    ) -> dict[str, Any]:
        """Evaluate the network. A line shows the progress if it takes longer than a second.

        Args:
            valid_dataset (Dataset): Batches.
            callbacks (Union[Callback, list[Callback]]): Callbacks between steps. Default: None.
            dataset_sink_mode (bool): No effect: batches go to the device one by one. Default: True.
            display (bool): Whether the line is shown, see `train`. Default: True.

        Returns:
            dict, the name of each metric and its value.

        Raises:
            ValueError: If the Model has no metrics, or the outputs do not fit them.
            TypeError: If an argument is of another type.

        Examples:
            >>> model = Model(net, loss_fn=loss, metrics={"accuracy"})
            >>> model.eval(dataset)
        """
        Validator.check_bool(dataset_sink_mode, "dataset_sink_mode", "Model.eval")
        Validator.check_bool(display, "display", "Model.eval")
        self._parallel.check()
        if not self._metric_fns:
            raise ValueError(
                "Model.eval needs metrics, for example Model(net, loss_fn, metrics={'accuracy'}), "
                "but this Model has none."
            )
        cb_params = self._make_callback_params(
            "eval",
            callbacks,
            batch_num=_get_dataset_size(valid_dataset, "valid_dataset"),
            eval_network=self._eval_network,
            valid_dataset=valid_dataset,
        )
        self._clear_metrics()
        if dataset_sink_mode:
            log.info("Model.eval: there are no device queues here, the dataset is not sunk.")
        with _CallbackManager(callbacks) as list_callback, self._make_evaluation_display(cb_params, display) as work:
            return self._eval_process(valid_dataset, list_callback, cb_params, work)

    def _make_evaluation_display(self, cb_params, display):
        """Return the progress display of an evaluation: in the line of the surrounding training, if there is one."""
        if self._progress is not None:
            return self._progress.validation(cb_params.batch_num)
        quiet = not display or any(map(prints, cb_params.list_callback))
        return Work("evaluating", cb_params.batch_num, quiet=quiet)

    def _eval_process(self, valid_dataset, callbacks, cb_params, work):
        run_context, network = RunContext(cb_params), with_global_batch(self._eval_network)
        callbacks.on_eval_begin(run_context)
        helper, _ = self._exec_preprocess(self._eval_network, False, "eval", valid_dataset, False)
        try:
            for element in helper:
                cb_params.cur_step_num += 1
                cb_params.eval_dataset_element = element
                for callback in callbacks.eval_step_begin:
                    callback(run_context)
                outputs = network(*((element,) if isinstance(element, Tensor) else element))
                cb_params.net_outputs = outputs
                for callback in callbacks.eval_step_end:
                    callback(run_context)
                self._update_metrics(outputs)
                work.step()
                if run_context.get_stop_requested():
                    break
        finally:
            helper.release()
        valid_dataset.reset()
        cb_params.metrics = self._get_metrics()
        callbacks.on_eval_end(run_context)
        return cb_params.metrics

    # ------------------------------------------------------------------ prediction
    @in_own_settings
    def predict(self, *predict_data: Any) -> Any:
        """Return the outputs of the network for some inputs.

        Args:
            predict_data (Tensor): Inputs of the network; also numbers, strings, None, and lists, tuples and dicts of
                these.

        Returns:
            Tensor, or another output of the network.

        Raises:
            ValueError: If an input is of another type.

        Examples:
            >>> model = Model(Net())
            >>> result = model.predict(Tensor(np.random.randn(1, 1, 32, 32), mindspore.float32))
        """
        check_input_data(*predict_data, data_class=(Tensor, int, float, str, None))
        _parallel_predict_check()
        outputs = self._predict_network.set_train(False)(*predict_data)
        check_output_data(outputs)
        return outputs

    @in_own_settings
    def infer_predict_layout(self, *predict_data: Any) -> dict[str, Any]:
        """Return the layouts of the Parameters for prediction on several devices. The devices need not exist.

        Args:
            predict_data (Tensor): Inputs of the network.

        Returns:
            dict {name: (device matrix, tensor map, shape of a slice, 0, True, "")}, for the Parameters and inputs that
            an operator with a strategy reads.

        Raises:
            RuntimeError: If the mode is not GRAPH, the parallel mode neither semi-automatic nor automatic, the batch
                not the global one, or a strategy does not fit.
        """
        self._check_can_infer_layout("infer_predict_layout")
        _parallel_predict_check()
        check_input_data(*predict_data, data_class=(Tensor, int, float, str, None))
        network = self._predict_network.set_train(False)
        _executor.compile(network, *predict_data, auto_parallel_mode=True)
        return network.parameter_layout_dict

    @in_own_settings
    def infer_train_layout(self, train_dataset: "Dataset", dataset_sink_mode: bool = True, sink_size: int = -1) -> None:
        """Raise an error: layouts of the Parameters for training are not implemented.

        Args:
            train_dataset (Dataset): Batches.
            dataset_sink_mode (bool): As in `train`. Default: True.
            sink_size (int): As in `train`. Default: -1.

        Raises:
            RuntimeError: If the mode is not GRAPH, or the parallel mode neither semi-automatic nor automatic.
            NotImplementedError: Otherwise.
        """
        self._check_can_infer_layout("infer_train_layout")
        raise not_yet("'Model.infer_train_layout'")

    @staticmethod
    def _check_can_infer_layout(name):
        if context.get_context("mode") != context.GRAPH_MODE:
            raise RuntimeError(
                f"'Model.{name}' works in GRAPH mode only: context.set_context(mode=context.GRAPH_MODE)."
            )
        if _get_parallel_mode() not in AUTO_PARALLEL:
            raise RuntimeError(
                f"'Model.{name}' works in the parallel modes 'semi_auto_parallel' and 'auto_parallel' "
                f"only, but the mode is '{_get_parallel_mode()}'."
            )


class _StepSync(Callback):
    """A callback that waits for each step to be computed, for libraries that drive a training."""

    def step_end(self, run_context: RunContext) -> None:
        """Wait until all pending computation is done."""
        _pynative_executor.sync()


def _transfer_tensor_to_tuple(inputs):
    """Return a single Tensor as a tuple, and other values unchanged."""
    return (inputs,) if isinstance(inputs, Tensor) else inputs


def _list_callbacks(callbacks):
    if callbacks is None:
        return []
    return list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]


def _add_run_callback(callbacks, record, resume=False):
    """Return the list of callbacks, with a RunCallback appended if `record` is set."""
    if not record:
        return _list_callbacks(callbacks)
    from msnb.train._run_callback import RunCallback  # a lazy import: only recorded trainings need it

    return [*_list_callbacks(callbacks), RunCallback(record, resume)]


def _get_dataset_size(dataset, argument):
    if not hasattr(dataset, "get_dataset_size"):
        raise TypeError(f"'{argument}' should be a mindspore.dataset Dataset, but got {type(dataset).__name__}.")
    return dataset.get_dataset_size()
