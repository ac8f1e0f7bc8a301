"""`inspect_gradients`: a few steps of a training, looked at in full, after which the network is as it was."""

import contextlib
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb import log, nn
from msnb.common.progress import Wait, Work
from msnb.core.program import program_cache
from msnb.core.state import random_stream
from msnb.core.support.weak_identity import ObjectKey
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.grad import parameter_keys, value_and_grad
from msnb.ir.api import of_program
from msnb.notebook.gradients.view import GradientMonitor, GradientView

if TYPE_CHECKING:  # named in annotations alone
    from msnb.dataset.engine.dataset import Dataset
    from msnb.nn.cell import Cell

_DEARER = {"parameters": 1.1, "all": 1.7}  # times as long as a training step alone takes to compile, measured
_ROOM = 512 << 20  # bytes of memory for what the operators of a step give
_holding = []  # a weak reference to the recording of the latest look
_KEPT = 8  # steps of one network that are found again


def inspect_gradients(
    net: "Cell",
    loss: "Cell | Callable[..., Any] | None" = None,
    data: "Tensor | tuple[Any, ...] | Dataset | Iterable[Any] | None" = None,
    steps: int = 1,
    optimizer: "Cell | None" = None,
    level: str = "all",
    tensors: str | list[Any] | tuple[Any, ...] = (),
    keep: int = 500,
    memory: int = 64 << 20,
    height: int = 620,
) -> GradientView:
    """Run a few training steps of a network and look at every gradient on the way.

    The network is left as it was found: Parameters, an optimizer's state, the training flag and the stream of random
    numbers are put back.

    Args:
        net (Cell): the network; it returns what `loss` takes, or the loss itself where `loss` is None. A Cell that
            trains (`nn.TrainOneStepCell`) is run as it is.
        loss (Union[Cell, Callable]): from the network's output and the label to the loss. Default: None.
        data (Union[Tensor, tuple, Dataset, Iterable]): a batch (`x`, or `(x, y)`), which is used in every step; or a
            dataset, or anything that yields batches, one for each step.
        steps (int): how many steps. Default: 1.
        optimizer (Cell): updates the Parameters between the steps; the gradients alone are looked at where None.
            Default: None.
        level (str): "all" or "parameters", see `GradientMonitor`. Default: "all".
        tensors (Union[str, list, tuple]): what to record whole, see `GradientMonitor`. Default: ().
        keep (int), memory (int): budget, see `GradientMonitor`.
        height (int): height of the view in pixels. Default: 620.

    Returns:
        GradientView; its `recording` has the numbers, its `findings` what is said about them.

    Raises:
        TypeError: If `net` is no Cell, or `data` holds something else than Tensors or arrays.
        ValueError: If `steps` is not positive, or `data` has no batch.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> msnb.inspect_gradients(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), (x, y))
        >>> view = msnb.inspect_gradients(net, loss, dataset, steps=20, optimizer=nn.Adam(net.trainable_params()))
        >>> view.recording.table("norm")
    """
    if not hasattr(net, "trainable_params"):
        raise TypeError(f"For 'inspect_gradients', 'net' should be a Cell, but got {type(net).__name__}.")
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise ValueError(f"For 'inspect_gradients', 'steps' should be a positive int, but got {steps!r}.")
    if data is None:
        raise ValueError("For 'inspect_gradients', 'data' should be a batch (x, y) or a dataset, but is missing.")
    monitor = GradientMonitor(level, tensors, keep, memory, net)
    monitor.room = _ROOM
    monitor.recording.tells = False  # the view does
    _hold_alone(monitor.recording)
    with _put_back(net, optimizer), random_stream.preserve_streams():
        step = _step_of(net, loss, optimizer)
        with monitor:
            batches = _batches(data, steps)
            with Wait("looking at gradients, compiling first", _about(net, level)):
                batch = next(batches)
                step(*batch)
            with Work("looking at gradients", steps - 1) as work:
                for batch in batches:
                    step(*batch)
                    work.step()
        if monitor.recording.graph is None:
            _attach_graph(monitor.recording, step, batch)
    return GradientView(monitor.recording, height)


def _hold_alone(recording):
    """Only the latest look holds whole tensors: each could be as large as a step of the network."""
    before = _holding[0]() if _holding else None
    if before is not None:
        before.latest = {}
    _holding[:] = [weakref.ref(recording)]


def _about(net, level):
    """Seconds that compiling may take, judged by the training step of the same network; None where it has none."""
    weights = set(map(id, net.trainable_params()))
    seconds = [
        program.seconds["trace"] + program.seconds.get("compile", 0)
        for program in program_cache.all_programs()
        if any(id(param) in weights for param in program.written)
    ]
    return _DEARER[level] * max(seconds) if seconds else None


def _attach_graph(recording, step, batch):
    """The graph of the same step, where PYNATIVE mode has run one that can be traced."""
    try:
        program = program_cache.program_of(
            step if hasattr(step, "construct") else lambda *inputs: step(*inputs), *batch
        )
    except Exception as problem:  # a network that only runs in PYNATIVE mode has no graph
        log.info("The step has no graph: %s", problem)
        return
    recording.attach(of_program(program), program.n_results, program.jaxpr)


def _step_of(net, loss, optimizer):
    """What runs one step: for the same network, loss and optimizer that of the last time, which is compiled."""
    if isinstance(net, nn.TrainOneStepCell):
        return net.set_train()
    weights = tuple(net.trainable_params())
    made, key = (
        program_cache.programs_of(net).extras,
        ("inspect", ObjectKey(loss), ObjectKey(optimizer), parameter_keys(weights)),
    )
    if key not in made:
        whole = net if loss is None else _WithLoss(net, loss)
        made[key] = whole, nn.TrainOneStepCell(whole, optimizer) if optimizer else value_and_grad(whole, None, weights)
        if len(made) > _KEPT:
            del made[next(iter(made))]
    whole, step = made[key]
    (step if optimizer else whole).set_train()
    return step


def _WithLoss(net, loss):
    """The network and its loss as one Cell."""
    if isinstance(loss, nn.Cell):
        return nn.WithLossCell(net, loss)

    class WithLoss(nn.Cell):
        _holds = "_backbone"

        def __init__(self):
            super().__init__(auto_prefix=False)
            self._backbone = net
            self.loss = loss

        def construct(self, data, label):
            return self.loss(self._backbone(data), label)

    return WithLoss()


def _batches(data, steps):
    """A tuple of Tensors for each step."""
    if _is_batch(data):
        batch = _tensors(data)
        for _ in range(steps):
            yield batch
        return
    source, count = data, 0
    if hasattr(data, "create_tuple_iterator"):
        source = data.create_tuple_iterator()
    while count < steps:
        before = count
        for batch in source:
            yield _tensors(batch)
            count += 1
            if count == steps:
                return
        if count == before:
            raise ValueError("For 'inspect_gradients', 'data' has no batch.")
        if iter(source) is source and not hasattr(data, "create_tuple_iterator"):
            raise ValueError(f"For 'inspect_gradients', 'data' has {count} batches, but {steps} steps were asked for.")
        if hasattr(data, "create_tuple_iterator"):
            source = data.create_tuple_iterator()


def _is_batch(data):
    if isinstance(data, (Tensor, np.ndarray)):
        return True
    return (
        isinstance(data, (tuple, list))
        and bool(data)
        and all(isinstance(d, (Tensor, np.ndarray, int, float)) for d in data)
    )


def _tensors(batch):
    batch = batch if isinstance(batch, (tuple, list)) else (batch,)
    made = []
    for item in batch:
        if isinstance(item, np.ndarray):
            item = Tensor(item)
        if not isinstance(item, (Tensor, int, float)):
            raise TypeError(
                f"For 'inspect_gradients', a batch should hold Tensors or numpy arrays, but got {type(item).__name__}."
            )
        made.append(item)
    return tuple(made)


@contextlib.contextmanager
def _put_back(net, optimizer):
    """Afterwards the Parameters hold what they held, and the training flags are as they were."""
    cells = [cell for _, cell in net.cells_and_names()]
    params = {id(p): p for p in net.get_parameters()}
    if optimizer is not None:
        params |= {id(p): p for p in optimizer.get_parameters()}
    values = [(p, Tensor(p.asnumpy().copy())) for p in params.values()]
    flags = [(cell, cell.training) for cell in cells]
    try:
        yield
    finally:
        for param, value in values:
            param.set_data(value)
        for cell, training in flags:  # parents come first, and children may differ from them
            if cell.training != training:
                cell.set_train(training)
