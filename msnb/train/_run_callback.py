"""The callback of ``Model.train(record=...)``."""

import time
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from msnb.core.tensor.tensor import Tensor
from msnb.train.callback._callback import Callback
from msnb.train.recording import Recording, is_number, record
from msnb.train.summary._graph import graph_of, program_of_last
from msnb.train.summary._lineage import dataset_graph_of, eval_lineage_of, optimizer_of, train_lineage_of
from msnb.train.summary._parameters import select_recorded
from msnb.train.summary._writer import is_in_host_memory

if TYPE_CHECKING:  # used in annotations only
    from msnb.common.callback import RunContext

__all__ = ["RunCallback"]

_OFTEN, _PICTURES = 10, 8  # steps between histograms; number of recorded images of a batch


class RunCallback(Callback):
    """Records a training for ``Model.train(record=...)``: the loss of each step, every tenth step the distributions of
    the Parameters and the first images, the graphs, the lineage, and the metrics of evaluations.

    Args:
        run (Union[bool, str, Recording]): True, the name of a run, or a Recording, which is continued.
        resume (bool): Whether a run of that name is continued. Default: False.

    Raises:
        TypeError: If `run` has another type.
    """

    def __init__(self, run: "bool | str | Recording", resume: bool = False) -> None:
        if not isinstance(run, (bool, str, Recording)):
            raise TypeError(
                f"For 'Model.train', 'record' should be True, the name of a run, or a run that msnb.record has begun, "
                f"but got {type(run).__name__}."
            )
        self._argument, self.run = run, run if isinstance(run, Recording) else None
        self._resume = resume
        self._depth = 0  # nesting depth: a training, and an evaluation in it

    def __enter__(self) -> Self:
        self._depth += 1
        return self

    def __exit__(self, *err: Any) -> None:
        self._depth -= 1
        if not self._depth and self.run is not None and self.run is not self._argument:
            self.run.__exit__(*err)

    def on_train_begin(self, run_context: "RunContext") -> None:
        """Begin the run."""
        moment = run_context.original_args()
        if self.run is None:
            name = self._argument if isinstance(self._argument, str) else None
            name = name or f"{type(moment.network).__name__}-{time.strftime('%Y%m%d-%H%M%S')}"
            self.run = record(name, resume=self._resume)
        self._first = self.run._step + 1
        self._optimizer = moment.get("optimizer") or optimizer_of(moment.train_network)
        self._loss: Any = None

    def on_train_step_end(self, run_context: "RunContext") -> None:
        """Record this step."""
        moment = run_context.original_args()
        assert self.run is not None
        record_, number = self.run._record, moment.cur_step_num
        if number == 1:
            program = program_of_last(moment.train_network)
            if program is not None:
                record_.add_value("graph", "train_network/auto", graph_of(program))
            record_.add_value("dataset_graph", "train_dataset", dataset_graph_of(moment.train_dataset))
        if number == 1 or number % _OFTEN == 0:
            for parameter in select_recorded(self._optimizer.parameters if self._optimizer is not None else ()):
                record_.add_value("histogram", parameter.name, parameter)
            images = moment.train_dataset_element[0] if moment.train_dataset_element else None
            if isinstance(images, Tensor) and len(images.shape) == 4 and images.shape[1] in (1, 3):
                record_.add_value("image", "input", _copy_first_images(images))
        outputs = moment.net_outputs
        loss = outputs[0] if isinstance(outputs, (tuple, list)) and outputs else outputs
        if isinstance(loss, Tensor):
            self._loss = loss._array
            record_._store_array("scalar", "loss", self._loss)
        for name, value in self.run._system.look().items():
            record_._store_array("scalar", name, value)
        record_.record(self.run._set_step(self._first + number - 1))

    def on_train_end(self, run_context: "RunContext") -> None:
        """Record the lineage of the training."""
        loss = None if self._loss is None else float(np.mean(np.asarray(self._loss)))
        self._record_lineage("train_lineage", train_lineage_of(run_context.original_args(), loss, self._optimizer))

    def on_eval_end(self, run_context: "RunContext") -> None:
        """Record the metrics of an evaluation between epochs."""
        moment = run_context.original_args()
        self._record_lineage("eval_lineage", eval_lineage_of(moment))
        if self.run is not None:
            numbers = {f"eval/{name}": value for name, value in moment.metrics.items() if is_number(value)}
            self.run.log(numbers, max(self.run._step, 0))

    def _record_lineage(self, kind, lineage):
        if self.run is not None:
            self.run._record.add_value(kind, kind, lineage)
            self.run._record.record(max(self.run._step, 0))


def _copy_first_images(images):
    """Return the first images of a batch. If they are in host memory, numpy copies them without a JAX program."""
    array = images._array
    if isinstance(array, np.ndarray) or is_in_host_memory(array):
        return Tensor(np.array(np.asarray(array)[:_PICTURES]))
    return images[:_PICTURES]
