"""Wrappers of a network: loss, gradient, training step, evaluation."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from msnb import context, log
from msnb.common.arguments import answered, refuse_classes
from msnb.common.kinds import Bool, Instance, Optional, checked
from msnb.core.operator import api_generations
from msnb.core.operator.autocast import cast_tensor
from msnb.core.tensor.parameter import Parameter, ParameterTuple
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.differentiate import Gradient
from msnb.nn._hyperparameter_kinds import Number
from msnb.nn.cell import Cell
from msnb.nn.wrap._micro_batches import ForwardValueAndGrad as ForwardValueAndGrad  # MindSpore 2 has these four here
from msnb.nn.wrap._micro_batches import GradAccumulationCell as GradAccumulationCell
from msnb.nn.wrap._micro_batches import MicroBatchInterleaved as MicroBatchInterleaved
from msnb.nn.wrap._micro_batches import PipelineCell as PipelineCell
from msnb.nn.wrap._micro_batches import _MicroBatch as _MicroBatch  # programs import it from here
from msnb.nn.wrap.grad_reducer import DistributedGradReducer
from msnb.ops import composite as C
from msnb.ops import functional as F

if TYPE_CHECKING:  # used in annotations only
    from msnb.nn.optim.optimizer import Optimizer

__all__ = [
    "WithLossCell",
    "WithGradCell",
    "TrainOneStepCell",
    "WithEvalCell",
    "GetNextSingleOp",
    "VirtualDatasetCellTriple",
    "ParameterUpdate",
]

_FLOAT32 = np.dtype(np.float32)
_MANY_DEVICES = (context.ParallelMode.DATA_PARALLEL, context.ParallelMode.HYBRID_PARALLEL)


def _return_input(x):
    return x


_identity = _return_input  # former name; old pickles of train steps contain it


def title_of(cell: Cell) -> str:
    """Return the display name of the program of a Cell."""
    return cell._title() if hasattr(type(cell), "_title") else type(cell).__name__


class WithLossCell(Cell):
    """A network combined with its loss: returns `loss_fn(backbone(data), label)`.

    Args:
        backbone (Cell): The network.
        loss_fn (Cell): The loss function of the network output and the label.

    Inputs:
        - **data** (Tensor) - Input of the network.
        - **label** (Tensor) - The target of the network.

    Outputs:
        Tensor, the loss.

    Examples:
        >>> net = Net()
        >>> loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True)
        >>> net_with_loss = nn.WithLossCell(net, loss_fn)
        >>> loss = net_with_loss(data, label)
    """

    _holds = "_backbone"

    @answered
    def __init__(self, backbone: Cell, loss_fn: Cell) -> None:
        refuse_classes("WithLossCell", backbone=backbone, loss_fn=loss_fn)
        super().__init__(auto_prefix=False)
        self._backbone, self._loss_fn = backbone, loss_fn

    def _title(self):
        return f"{title_of(self._backbone)} with its loss"

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)

    @property
    def backbone_network(self) -> Cell:
        """The network without its loss."""
        return self._backbone


class WithGradCell(Cell):
    """Compute the gradients of a loss with respect to the trainable Parameters of a network.

    Args:
        network (Cell): The network.
        loss_fn (Cell): Loss function of the network output and the label. Default: None, the network returns its loss.
        sens (Union[None, Tensor, int, float]): Cotangent of the loss. Default: None, ones.

    Inputs:
        - ***inputs** (Tensor) - Inputs of the network, the label last when there is a `loss_fn`.

    Outputs:
        tuple[Tensor], one gradient per trainable Parameter.

    Examples:
        >>> net = Net()
        >>> grad_net = nn.WithGradCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True))
        >>> gradients = grad_net(data, label)
    """

    _holds = "network_with_loss"

    @answered
    def __init__(self, network: Cell, loss_fn: Cell | None = None, sens: Tensor | float | None = None) -> None:
        super().__init__(auto_prefix=False)
        self.network: Cell = network
        self.loss_fn: Cell | None = loss_fn
        self.sens: Tensor | float | None = sens
        self.network_with_loss: Cell | WithLossCell = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()
        self.weights: ParameterTuple = ParameterTuple(network.trainable_params())

    def construct(self, *inputs: Any) -> tuple[Tensor, ...]:
        return Gradient(self.network_with_loss, (), self.weights)(inputs, sens=self.sens)[2]


class TrainOneStepCell(Cell):
    """One training step: forward, backward, and the optimizer's update.

    The forward pass runs once: its loss is returned and its intermediate values serve the backward pass.

    Args:
        network (Cell): The network, which returns its loss.
        optimizer (Optimizer): Updates the Parameters.
        sens (float): Cotangent of the loss, the loss scale. Default: 1.0.
        return_grad (bool): Whether to return the gradients too. Default: False.

    Inputs:
        - ***inputs** (Tensor) - Inputs of the network.

    Outputs:
        Tensor, the loss; with `return_grad` a tuple (loss, dict of the gradients by Parameter name).

    Raises:
        TypeError: If `sens` is no number, or `return_grad` is no bool.
        ValueError: If the optimizer belongs to another network.

    Examples:
        >>> net_with_loss = nn.WithLossCell(Net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True))
        >>> optimizer = nn.Momentum(net_with_loss.trainable_params(), 0.1, 0.9)
        >>> step = nn.TrainOneStepCell(net_with_loss, optimizer)
        >>> step.set_train()
        >>> loss = step(data, label)
    """

    _holds = "network"

    @checked
    def __init__(
        self,
        network: Cell,
        optimizer: Cell,
        sens: Annotated[float | None, Optional(Number)] = 1.0,
        return_grad: Bool = False,
    ) -> None:
        refuse_classes("TrainOneStepCell", network=network, optimizer=optimizer)
        super().__init__(auto_prefix=False)
        self.network = network
        network.set_grad()
        network.add_flags(defer_inline=True)
        self.optimizer: Cell = optimizer
        self.weights: ParameterTuple = optimizer.parameters
        _check_same_network(network, self.weights)
        self.sens = sens
        self.return_grad: bool = return_grad
        if type(self).construct is TrainOneStepCell.construct:  # a derived class may divide the gradients itself
            check_scales(optimizer, sens, f"{self.cls_name} multiplies the loss by {sens}", "Give both the same.")
        # attributes for classes that users derive from this one
        self.grad: C.GradOperation = C.GradOperation(get_by_list=True, sens_param=True)
        self.parallel_mode: Any = context.get_auto_parallel_context("parallel_mode")
        self.reducer_flag: bool = self.parallel_mode in _MANY_DEVICES
        self.grad_reducer: Callable[..., Any] = _return_input
        if self.reducer_flag:
            mean = context.get_auto_parallel_context("gradients_mean")
            self.grad_reducer = DistributedGradReducer(self.weights, mean)

    def _title(self):
        return f"train step of {title_of(getattr(self.network, 'backbone_network', self.network))}"

    def construct(self, *inputs: Any) -> Any:
        loss, _, grads = Gradient(self.network, (), self.weights)(inputs, sens=self.sens)
        grads = self.grad_reducer(grads)
        self.optimizer(grads)
        if not self.return_grad:
            return loss
        return loss, {param.name: grad for param, grad in zip(self.weights, grads, strict=True)}


class OptimizerOfOtherNetwork(ValueError):
    """The error for a network with an optimizer that has Parameters of another network."""


def _check_same_network(network: Cell, weights: Any) -> None:
    """Raise an error if the optimizer has the Parameters of another network: most often `net = Net()` was run again
    without the line that creates the optimizer. Programs for MindSpore 2 get a warning if no Parameter has the name of
    one of the network's.

    Raises:
        OptimizerOfOtherNetwork: If no Parameter of the optimizer is one of the network's, or a Parameter that is not in
            the network has the name of one that is.
    """
    own = list(network.get_parameters())
    ids = set(map(id, own))
    strange = [param for param in weights if id(param) not in ids]
    if not own or not strange:
        return
    kind = type(getattr(network, "backbone_network", network)).__name__
    if not {param.name for param in strange}.isdisjoint(param.name for param in own):
        raise OptimizerOfOtherNetwork(
            f"The optimizer holds Parameters of another {kind}, made earlier; make it anew from net.trainable_params()."
        )
    if len(strange) == len(weights):
        sentence = (
            f"The optimizer holds no Parameter of this {kind}, but those of another network; make it from "
            "net.trainable_params()."
        )
        if api_generations.shared == 1:
            raise OptimizerOfOtherNetwork(sentence)
        log.once("%s Training leaves this network as it is.", sentence)  # MindSpore 2 trains with gradients of 0


def check_scales(optimizer: "Optimizer", expected: float, reason: str, advice: str) -> None:
    """Warn if the loss scale by which the optimizer divides gradients is not the one of the wrapper."""
    scale = getattr(optimizer, "loss_scale", None)
    if isinstance(scale, (int, float)) and expected is not None and scale != expected:
        log.once(
            "%s, but the loss_scale of %s, by which it divides the gradients, is %s. %s",
            reason,
            type(optimizer).__name__,
            scale,
            advice,
        )


class GetNextSingleOp(Cell):
    """Read the next element from a device queue. It raises an error: only MindSpore's Ascend and GPU back ends have
    such queues.

    Args:
        dataset_types (list): dtypes of the columns.
        dataset_shapes (list): Shapes of the columns.
        queue_name (str): Name of the queue.

    Raises:
        NotImplementedError: Always.
    """

    @answered
    def __init__(self, dataset_types: list[Any], dataset_shapes: list[Any], queue_name: str) -> None:
        super().__init__()
        raise NotImplementedError(
            "Device queues do not exist in msnb: iterate over the dataset, or over "
            "DatasetHelper(dataset), and call the network with its elements."
        )


class _VirtualDatasetCell(Cell):
    """Marks the inputs of a network as a batch that automatic parallelism may shard."""

    _holds = "_backbone"

    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def _title(self):
        return title_of(self._backbone)

    def construct(self, *inputs: Any) -> Any:
        return self._backbone(*inputs)


class VirtualDatasetCellTriple(Cell):
    """Marks the three inputs of a network as the batch that automatic parallelism may split.

    Args:
        backbone (Cell): The network.

    Inputs:
        - **a**, **b**, **c** (Tensor) - Inputs of the network.

    Outputs:
        Output of the network.

    Examples:
        >>> net = nn.VirtualDatasetCellTriple(net)
    """

    _holds = "_backbone"

    @answered
    def __init__(self, backbone: Cell) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone

    def construct(self, a: Any, b: Any, c: Any) -> Any:
        return self._backbone(a, b, c)


class WithEvalCell(Cell):
    """A network combined with its loss for evaluation: returns the loss, the output and the label.

    Args:
        network (Cell): The network.
        loss_fn (Cell): The loss function of the network output and the label.
        add_cast_fp32 (bool): Whether output and label are cast to float32 first. Default: False.

    Inputs:
        - **data** (Tensor) - Input of the network.
        - **label** (Tensor) - The target of the network.

    Outputs:
        tuple[Tensor], loss, output and label.

    Examples:
        >>> eval_net = nn.WithEvalCell(Net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True))
        >>> loss, output, label = eval_net(data, label)
    """

    _holds = "_network"

    @answered
    def __init__(self, network: Cell, loss_fn: Cell, add_cast_fp32: bool = False) -> None:
        super().__init__(auto_prefix=False)
        self._network, self._loss_fn = network, loss_fn
        self.add_cast_fp32: bool = add_cast_fp32

    def _title(self):
        return f"evaluation of {title_of(self._network)}"

    def construct(self, data: Any, label: Any) -> tuple[Any, Any, Any]:
        pair = self._network(data), label
        if self.add_cast_fp32:
            pair = tuple(cast_tensor(x, _FLOAT32) for x in pair)
        return self._loss_fn(*pair), *pair


class ParameterUpdate(Cell):
    """Assign the input to a Parameter, for example to change a learning rate between steps.

    Args:
        param (Parameter): The Parameter to write.

    Inputs:
        - **x** (Tensor) - New value, of the same shape and dtype.

    Outputs:
        Tensor, `x`.

    Raises:
        TypeError: If `param` is no Parameter.

    Examples:
        >>> rate = Parameter(Tensor(0.01, mindspore.float32), name="learning_rate")
        >>> update = nn.ParameterUpdate(rate)
        >>> update.phase = "update_param"
        >>> print(update(Tensor(0.001, mindspore.float32)))
        0.001
    """

    @checked
    def __init__(self, param: Annotated[Parameter, Instance(Parameter)]) -> None:
        super().__init__(auto_prefix=False)
        self._param = param

    def construct(self, x: Tensor) -> Tensor:
        F.assign(self._param, x)
        return x
