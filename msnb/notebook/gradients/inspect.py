"""`inspect_gradients`: run and record a few training steps, then restore the network."""

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

if TYPE_CHECKING:  # used only in annotations
    from msnb.dataset.engine.dataset import Dataset
    from msnb.nn.cell import Cell

_DEARER = {"parameters": 1.1, "all": 1.7}  # level -> measured compile time relative to that of a training step
_ROOM = 512 << 20  # memory, in bytes, for the outputs of a step's operators
_holding = []  # a weak reference to the latest recording, or empty
_MAX_CACHED_STEPS = 8  # maximum cached step functions of one network


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
    """Run a few training steps of a network and record every gradient.

    Afterwards the network is restored: Parameters, an optimizer's state, the training flag and the stream of random
    numbers.

    Args:
        net (Cell): the network; it returns the input of `loss`, or the loss itself if `loss` is None. A Cell that
            trains (`nn.TrainOneStepCell`) is run without `loss` and `optimizer`.
        loss (Union[Cell, Callable]): function from the network's output and the label to the loss. Default: None.
        data (Union[Tensor, tuple, Dataset, Iterable]): a batch (`x`, or `(x, y)`), which is used in every step; or a
            dataset, or an iterable of batches, one for each step.
        steps (int): number of steps. Default: 1.
        optimizer (Cell): updates the Parameters between the steps. Default: None, no updates.
        level (str): "all" or "parameters", see `GradientMonitor`. Default: "all".
        tensors (Union[str, list, tuple]): tensors to record with all values, see `GradientMonitor`. Default: ().
        keep (int), memory (int): budget, see `GradientMonitor`.
        height (int): height of the view in pixels. Default: 620.

    Returns:
        GradientView; its `recording` has the numbers, its `findings` the diagnoses.

    Raises:
        TypeError: If `net` is no Cell, or `data` has elements other than Tensors and arrays.
        ValueError: If `steps` is not positive, or `data` has no batch.

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
    monitor.recording.tells = False  # do not print the findings, because the view shows them
    _release_previous_tensors(monitor.recording)
    with _preserve_parameters_and_flags(net, optimizer), random_stream.preserve_streams():
        step = _get_cached_step_function(net, loss, optimizer)
        with monitor:
            batches = _iterate_batches(data, steps)
            with Wait("looking at gradients, compiling first", _estimate_compile_seconds(net, level)):
                batch = next(batches)
                step(*batch)
            with Work("looking at gradients", steps - 1) as work:
                for batch in batches:
                    step(*batch)
                    work.step()
        if monitor.recording.graph is None:
            _attach_graph(monitor.recording, step, batch)
    return GradientView(monitor.recording, height)


def _release_previous_tensors(recording):
    """Release the full tensors of the previous recording. They can take as much memory as a training step."""
    before = _holding[0]() if _holding else None
    if before is not None:
        before.latest = {}
    _holding[:] = [weakref.ref(recording)]


def _estimate_compile_seconds(net, level):
    """Estimate the compile time in seconds from that of the network's training step.

    The result is None if no training step of the network was compiled.
    """
    weights = set(map(id, net.trainable_params()))
    seconds = [
        program.seconds["trace"] + program.seconds.get("compile", 0)
        for program in program_cache.all_programs()
        if any(id(param) in weights for param in program.written)
    ]
    return _DEARER[level] * max(seconds) if seconds else None


def _attach_graph(recording, step, batch):
    """Trace the step to get its graph, because a run in PYNATIVE mode has none."""
    try:
        program = program_cache.program_of(
            step if hasattr(step, "construct") else lambda *inputs: step(*inputs), *batch
        )
    except Exception as problem:  # a network that can't be traced has no graph
        log.info("The step has no graph: %s", problem)
        return
    recording.attach(of_program(program), program.n_results, program.jaxpr)


def _get_cached_step_function(net, loss, optimizer):
    """Return the function of one step, cached per network, loss and optimizer, so that it compiles once."""
    if isinstance(net, nn.TrainOneStepCell):
        return net.set_train()
    weights = tuple(net.trainable_params())
    cached_steps, key = (
        program_cache.programs_of(net).extras,
        ("inspect", ObjectKey(loss), ObjectKey(optimizer), parameter_keys(weights)),
    )
    if key not in cached_steps:
        net_with_loss = net if loss is None else _combine_net_and_loss(net, loss)
        cached_steps[key] = (
            net_with_loss,
            nn.TrainOneStepCell(net_with_loss, optimizer)
            if optimizer
            else value_and_grad(net_with_loss, None, weights),
        )
        if len(cached_steps) > _MAX_CACHED_STEPS:
            del cached_steps[next(iter(cached_steps))]
    net_with_loss, step = cached_steps[key]
    (step if optimizer else net_with_loss).set_train()
    return step


def _combine_net_and_loss(net, loss):
    """Return the network and its loss as one Cell."""
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


def _iterate_batches(data, steps):
    """Yield a tuple of Tensors for each step."""
    if _is_batch(data):
        batch = _to_tensors(data)
        for _ in range(steps):
            yield batch
        return
    source, count = data, 0
    if hasattr(data, "create_tuple_iterator"):
        source = data.create_tuple_iterator()
    while count < steps:
        before = count
        for batch in source:
            yield _to_tensors(batch)
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


def _to_tensors(batch):
    batch = batch if isinstance(batch, (tuple, list)) else (batch,)
    tensors = []
    for item in batch:
        if isinstance(item, np.ndarray):
            item = Tensor(item)
        if not isinstance(item, (Tensor, int, float)):
            raise TypeError(
                f"For 'inspect_gradients', a batch should hold Tensors or numpy arrays, but got {type(item).__name__}."
            )
        tensors.append(item)
    return tuple(tensors)


@contextlib.contextmanager
def _preserve_parameters_and_flags(net, optimizer):
    """Context manager that restores Parameters and training flags at its end."""
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
        for cell, training in flags:  # `set_train` also sets sub-Cells, so their own flags are restored later
            if cell.training != training:
                cell.set_train(training)
