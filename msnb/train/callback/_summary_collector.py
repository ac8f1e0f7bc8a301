"""`SummaryCollector`: records a training automatically."""

import json
import os
import re
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from msnb import log
from msnb.common.arguments import answered
from msnb.core.tensor.tensor import Tensor
from msnb.nn.optim.optimizer import Optimizer
from msnb.train.callback._callback import Callback
from msnb.train.summary._checks import positive, process_export_options, typed
from msnb.train.summary._graph import graph_of, program_of_last
from msnb.train.summary._lineage import (
    dataset_graph_of,
    eval_lineage_of,
    optimizer_of,
    train_lineage_of,
)
from msnb.train.summary._parameters import select_recorded
from msnb.train.summary.enums import ModeEnum, PluginEnum
from msnb.train.summary.summary_record import SummaryRecord

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext

# environment variable that mindoptimizer sets, and the maximum length of its value
_HYPER_CONFIG, _LONGEST_CONFIG = ("MINDINSIGHT_HYPER_CONFIG", 100_000)
_FIRST_PARAMETERS = 5
_TENSOR_STEPS = 20


class SummaryCollector(Callback):
    """Records a training automatically: the loss, the first input, Parameters, the graphs of network and dataset, and
    the values of summary operators, in MindSpore's event files; and the lineage of the training.

    The first step is recorded, and then every step whose number is a multiple of `collect_freq`. In MindSpore the unit
    is an epoch in sink mode; here it is the step in either mode. Use one collector for a training.

    Args:
        summary_dir (str): Folder to write to; it is created if it does not exist.
        collect_freq (int): Steps between recordings. Default: 10.
        collect_specified_data (Union[None, dict]): Data to record; entries that are missing are recorded by default:
            "collect_metric" (bool), the loss; "collect_graph" (bool), the graph of the network; "collect_train_lineage"
            and "collect_eval_lineage" (bool); "collect_input_data" (bool), the first column of the dataset, if it holds
            images; "collect_dataset_graph" (bool); "histogram_regular" (Union[str, None]), a pattern of the names of
            Parameters, None for the first five of the optimizer. Default: None, the defaults of all of them.
        keep_default_action (bool): Whether data that `collect_specified_data` does not name is recorded. Default: True.
        custom_lineage_data (Union[dict, None]): Numbers and texts by name, for the lineage. Default: None.
        collect_tensor_freq (Optional[int]): Steps between recordings of TensorSummary. Default: None, at most about 20
            times in total, and not more often than other values.
        max_file_size (Optional[int]): Largest size of each file in bytes. Default: None, any size.
        export_options (Union[None, dict]): {"tensor_format": "npy"} also writes Tensors to .npy files. Default: None.

    Raises:
        TypeError: If an argument, or an entry of a dict, is of another type.
        ValueError: If a number is not positive, a key is unknown, or `histogram_regular` is no pattern.
        NotADirectoryError: If `summary_dir` is a file.

    Examples:
        >>> from mindspore.train.callback import SummaryCollector
        >>> collector = SummaryCollector("summary", collect_freq=2)
        >>> model.train(1, dataset, callbacks=[collector])
    """

    _DEFAULT_SPECIFIED_DATA: dict[str, Any] = {
        "collect_metric": True,
        "collect_graph": True,
        "collect_train_lineage": True,
        "collect_eval_lineage": True,
        "collect_input_data": True,
        "collect_dataset_graph": True,
        "histogram_regular": None,
    }

    @answered
    def __init__(
        self,
        summary_dir: str,
        collect_freq: int = 10,
        collect_specified_data: None | dict[Any, Any] = None,
        keep_default_action: bool = True,
        custom_lineage_data: dict[Any, Any] | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: dict[str, Any] | None = None,
        *,
        num_process: int = 32,
    ) -> None:
        super().__init__()
        log.unused("SummaryCollector", "one thread writes", num_process=num_process != 32)
        self._summary_dir = _create_folder(summary_dir)
        self._record: Any = None
        self._collect_freq = positive("collect_freq", collect_freq)
        self._collect_tensor_freq = positive("collect_tensor_freq", collect_tensor_freq, or_none=True)
        self._max_file_size = positive("max_file_size", max_file_size, or_none=True)
        self._export_options = process_export_options(export_options)
        typed("keep_default_action", keep_default_action, bool)
        self._collect_specified_data = self._process_specified_data(collect_specified_data, keep_default_action)
        self._custom_lineage_data = _merge_custom_lineage(custom_lineage_data)
        self._temp_optimizer: Any = None
        self._is_parse_loss_success = True
        self._reset()

    def _reset(self):
        self._has_saved_graph = self._has_saved_custom_data = False
        self._first_step = True
        self._tensor_collect_range = range(0)

    def __enter__(self) -> Self:
        self._record = SummaryRecord(
            self._summary_dir, max_file_size=self._max_file_size, export_options=self._export_options
        )
        self._first_step = True
        return self

    def __exit__(self, *err: Any) -> None:
        self._record.close()

    def _process_specified_data(self, specified_data, action):
        """Return the data to record, by name."""
        if specified_data is None:
            return dict(self._DEFAULT_SPECIFIED_DATA) if action else {}
        typed("collect_specified_data", specified_data, dict, type(None))
        for name in specified_data:
            typed(name, name, str)
        if specified_data.get("collect_landscape") is not None:
            raise NotImplementedError(
                "SummaryCollector: 'collect_landscape' draws how the loss looks around the weights, which is not "
                "recorded here; leave it out."
            )
        options = {name: value for name, value in specified_data.items() if name != "collect_landscape"}
        unknown = set(options) - set(self._DEFAULT_SPECIFIED_DATA)
        if unknown:
            raise ValueError(
                f"For `collect_specified_data` the keys {unknown} are unsupported, expect the follow keys: "
                f"{list(self._DEFAULT_SPECIFIED_DATA)}"
            )
        for name, value in options.items():
            typed(name, value, *((str, type(None)) if name == "histogram_regular" else (bool,)))
        if options.get("histogram_regular") is not None:
            try:
                re.compile(options["histogram_regular"])
            except re.error as error:
                raise ValueError(
                    f"For `collect_specified_data`, the value of `histogram_regular` "
                    f"{options['histogram_regular']!r} is no regular expression: {error}."
                ) from None
        return {**self._DEFAULT_SPECIFIED_DATA, **options} if action else dict(options)

    # ------------------------------------------------------------------ events
    def begin(self, run_context: "RunContext") -> None:
        """Check that this is the only collector, and set the mode of the Model.

        Args:
            run_context (RunContext): Values of the current step and epoch.

        Raises:
            ValueError: If there is another SummaryCollector among the callbacks.
        """
        moment = run_context.original_args()
        self._check_callbacks(moment)
        mode = moment.mode
        if all(mode != member.value for member in ModeEnum):
            raise ValueError(f"Only `train` (model.train) and `eval` (model.eval) are recorded, not {mode!r}.")
        self._record.set_mode(mode)

    def step_end(self, run_context: "RunContext") -> None:
        """Record this step, if it is due.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        moment = run_context.original_args()
        if moment.mode != ModeEnum.TRAIN.value:
            return
        step = moment.cur_step_num
        if self._first_step:
            self._first_step = False
            self._collect_graphs_and_lineage(moment)
            self._tensor_collect_range = self._get_tensor_collect_range(moment)
            self._collect_at_step_end(moment, None)
            return
        due, tensors = step % self._collect_freq == 0, step in self._tensor_collect_range
        if due and tensors:
            self._collect_at_step_end(moment, None)
        elif due:
            self._collect_at_step_end(moment, lambda plugin: plugin != PluginEnum.TENSOR.value)
        elif tensors:
            self._record.record(step, plugin_filter=lambda plugin: plugin == PluginEnum.TENSOR.value)

    def end(self, run_context: "RunContext") -> None:
        """Record the lineage of the training or the evaluation.

        Args:
            run_context (RunContext): Values of the current step and epoch.
        """
        moment, record = run_context.original_args(), self._record
        collect = {"train": self._collect_train_lineage, "eval": self._collect_eval_lineage}[moment.mode]
        collect(moment)
        record.set_mode("eval")  # values of operators since the last recorded step are dropped
        record.record(0)
        record.flush()

    # ------------------------------------------------------------------ collected data
    def _collect_graphs_and_lineage(self, moment):
        """Record the graphs and the user's lineage, with the first step."""
        if not self._has_saved_graph:
            self._has_saved_graph = True
            self._collect_graphs(moment)
            self._collect_dataset_graph(moment)
        if self._custom_lineage_data and not self._has_saved_custom_data:
            self._has_saved_custom_data = True
            self._record.add_value("custom_lineage_data", "custom_lineage_data", self._custom_lineage_data)

    def _get_tensor_collect_range(self, moment, dataset_sink_mode=False):
        """Return the numbers of the steps at which values of TensorSummary are recorded."""
        total = moment.epoch_num * (1 if dataset_sink_mode else moment.batch_num)
        if self._collect_tensor_freq is not None:
            return range(0, total + 1, self._collect_tensor_freq)
        others = range(0, total + 1, self._collect_freq)
        if len(others) <= _TENSOR_STEPS:
            return others
        stride = total // (_TENSOR_STEPS - 1)
        if stride > 1:
            return range(0, total + 1, stride)[:_TENSOR_STEPS]
        return range(0, total + 1)[: _TENSOR_STEPS + 1]

    def _collect_at_step_end(self, moment, plugin_filter):
        for collect in (self._collect_input_data, self._collect_metric, self._collect_histogram):
            collect(moment)
        self._record.record(moment.cur_step_num, None, plugin_filter)

    def _check_callbacks(self, moment):
        """Raise an error if there are several collectors."""
        if sum(isinstance(callback, SummaryCollector) for callback in moment.list_callback) > 1:
            raise ValueError(
                "There are more than one SummaryCollector instance in callback list, but expected only one "
                "SummaryCollector instance."
            )

    def _collect_input_data(self, moment):
        if not self._collect_specified_data.get("collect_input_data"):
            return
        data = moment.get("train_dataset_element")
        if isinstance(data, (list, tuple)):
            data = data[0] if data else None
        if isinstance(data, Tensor) and len(data.shape) == 4 and data.shape[1] in (1, 3):
            self._record.add_value(PluginEnum.IMAGE.value, "input_data/auto", data)
            return
        self._collect_specified_data["collect_input_data"] = False
        log.info("SummaryCollector: the first column of the dataset holds no images, so it is not recorded.")

    def _collect_dataset_graph(self, moment):
        if self._collect_specified_data.get("collect_dataset_graph") and moment.mode == ModeEnum.TRAIN.value:
            graph = dataset_graph_of(moment.train_dataset)
            self._record.add_value(PluginEnum.DATASET_GRAPH.value, "train_dataset", graph)

    def _collect_graphs(self, moment):
        if not self._collect_specified_data.get("collect_graph"):
            return
        train = moment.mode == ModeEnum.TRAIN.value
        program = program_of_last(moment.train_network if train else moment.eval_network)
        if program is not None:
            self._record.add_value(PluginEnum.GRAPH.value, "train_network/auto", graph_of(program))

    def _collect_metric(self, moment):
        if not self._collect_specified_data.get("collect_metric"):
            return
        loss = self._get_loss(moment)
        if loss is not None:
            # the writer waits for the array, not this thread
            self._record._store_array(PluginEnum.SCALAR.value, "loss/auto", loss._array)

    def _get_loss(self, moment):
        """Return the first of a step's outputs as a Tensor; None, also in later steps, if it is neither number nor
        Tensor."""
        if not self._is_parse_loss_success:
            return None
        loss = moment.net_outputs
        if isinstance(loss, (list, tuple)) and loss:
            loss = loss[0]
        if isinstance(loss, (int, float, Tensor)):
            return loss if isinstance(loss, Tensor) else Tensor(loss)
        log.warning("SummaryCollector: the network's first output is no number, so no loss is recorded.")
        self._is_parse_loss_success = False
        return None

    def _get_optimizer(self, moment):
        """Return the optimizer of the training; None if there is none. It is searched for only once."""
        if self._temp_optimizer is None:
            optimizer = moment.get("optimizer")
            if not isinstance(optimizer, Optimizer):
                network = moment.train_network if moment.mode == ModeEnum.TRAIN.value else moment.eval_network
                optimizer = optimizer_of(network)
            if optimizer is None:
                log.warning("SummaryCollector: no optimizer of MindSpore's is found, so no Parameters are recorded.")
            self._temp_optimizer = "Failed" if optimizer is None else optimizer
        return None if self._temp_optimizer == "Failed" else self._temp_optimizer

    def _collect_histogram(self, moment):
        data, name = self._collect_specified_data, "histogram_regular"
        optimizer = self._get_optimizer(moment) if name in data else None
        parameters = [] if optimizer is None else list(optimizer.parameters)
        first = parameters[:_FIRST_PARAMETERS] if data.get(name) is None else None
        for parameter in select_recorded(parameters if first is None else first):
            if first is not None or re.match(data[name], parameter.name):
                self._record.add_value(PluginEnum.HISTOGRAM.value, f"{parameter.name}/auto", parameter)

    def _collect_train_lineage(self, moment):
        if self._collect_specified_data.get("collect_train_lineage"):
            loss = self._get_loss(moment) if moment.get("net_outputs") is not None else None
            number = None if loss is None else float(np.mean(loss.asnumpy()))
            lineage = train_lineage_of(moment, number, self._get_optimizer(moment))
            self._record.add_value(PluginEnum.TRAIN_LINEAGE.value, "train_lineage", lineage)

    def _collect_eval_lineage(self, moment):
        if self._collect_specified_data.get("collect_eval_lineage"):
            self._record.add_value(PluginEnum.EVAL_LINEAGE.value, "eval_lineage", eval_lineage_of(moment))


def _create_folder(summary_dir):
    """Create a folder and return its absolute path."""
    typed("summary_dir", summary_dir, str)
    if not summary_dir.strip():
        raise ValueError("For `summary_dir` the value should be a valid string of path, but got empty string.")
    path = os.path.realpath(summary_dir.strip())
    if os.path.exists(path) and not os.path.isdir(path):
        raise NotADirectoryError("For `summary_dir` it should be a directory path.")
    os.makedirs(path, exist_ok=True)
    return path


def _merge_custom_lineage(data):
    """Return the custom lineage: hyper-parameters that mindoptimizer tries, updated by those of the user."""
    custom = {} if data is None else data
    for argument, values in (
        ("custom_lineage_data", custom),
        ("auto_custom_lineage_data", tried := _read_hyperparameters()),
    ):
        typed(argument, values, dict, type(None))
        for name, value in values.items():
            typed(f"{argument} -> {name}", name, str)
            typed(f"the value of {argument} -> {name}", value, int, str, float)
    return {**tried, **custom}


def _read_hyperparameters():
    """Return the hyper-parameters that mindoptimizer passes in an environment variable."""
    text = os.environ.get(_HYPER_CONFIG)
    if text is None:
        return {}
    if len(text) > _LONGEST_CONFIG:
        log.warning("%s is too long: %d characters, where %d are read.", _HYPER_CONFIG, len(text), _LONGEST_CONFIG)
        return {}
    try:
        return json.loads(text).get("custom_lineage_data") or {}
    except (ValueError, AttributeError) as error:
        log.warning("%s is no JSON object: %s.", _HYPER_CONFIG, error)
        return {}
