"""The last forward pass of a Cell in PYNATIVE mode, recorded for the gradient that follows it.

A train step that users write calls ``network(x)`` for the loss and then ``grad(network, weights)(x, sens)``. MindSpore
records the first call if `set_grad` was called on the network, and its gradient runs backward from there: moving
statistics are updated once, and dropout has one mask. GRAPH mode merges the two calls, see `TraceFrame.undo_call`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msnb.core.eager import tape
from msnb.core.eager.integer_gradients import has_gradient
from msnb.core.state import events, interventions, trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, box

_thread = trace_state.thread


class RecordedForward:
    """One recorded call of a Cell.

    Args:
        cell (Cell): The Cell.
        args (tuple): Its arguments.

    Attributes:
        out (Any): The result.
    """

    __slots__ = ("out", "_cell", "_leaves", "_arrays", "_results", "_sources", "_weights", "_weight_arrays", "_tools")

    def __init__(self, cell: Any, args: tuple[Any, ...]) -> None:
        self.out: Any = None
        self._cell = cell
        self._leaves = flatten(args)[0]
        self._arrays = [leaf._array if isinstance(leaf, Tensor) else None for leaf in self._leaves]
        self._results = []  # (array or other value, tape node) for each leaf of the result
        self._sources = {id(leaf): tape.Leaf() for leaf in self._leaves if _is_variable(leaf)}
        self._weights = {id(weight): (weight, tape.Leaf()) for weight in cell.trainable_params()}
        self._weight_arrays = []
        self._tools = _get_active_tools()

    def run(self, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Return the result of ``call(*args)``, and record its operators."""
        trace_state.donation_lock.record()
        outer, level, paused = _thread.nodes, _thread.recording, _thread.paused
        nodes = {ident: (source, 0) for ident, (_, source) in self._weights.items()}
        variables = [leaf for leaf in self._leaves if id(leaf) in self._sources]
        # try/finally instead of a context manager: an interrupt while one exits would leave the thread recording.
        try:
            _thread.nodes, _thread.recording, _thread.results_observed = nodes, level + 1, True
            for variable in variables:
                variable._node = (self._sources[id(variable)], 0)
            self.out = call(*args)
            leaves = flatten(self.out)[0]
            self._results = [(each._array, each._node) if isinstance(each, Tensor) else (each, None) for each in leaves]
        finally:
            _thread.nodes, _thread.recording, _thread.paused = outer, level, paused
            trace_state.update_results_observed()
            for variable in variables:
                variable._node = None
        for each in leaves:
            if isinstance(each, Tensor) and not isinstance(each, Parameter):
                each._node = None
        self._weight_arrays = [weight._array for weight, _ in self._weights.values()]
        return self.out

    def matches(self, fn: Any, args: tuple[Any, ...], variables: Sequence[Tensor], weights: Sequence[Any]) -> bool:
        """Return True if a gradient of `fn` for these arguments, variables and weights may use this recording."""
        if fn is not self._cell or not fn.training or self._tools != _get_active_tools():
            return False
        leaves = flatten(args)[0]
        if len(leaves) != len(self._leaves) or not all(map(_is_same, leaves, self._leaves, self._arrays)):
            return False
        tensors = [id(leaf) for leaf in leaves if isinstance(leaf, Tensor)]
        if len(set(tensors)) < len(tensors):  # a gradient separates the two uses of a Tensor that is passed twice
            return False
        if not all(id(each) in self._sources or not has_gradient(each._array.dtype) for each in variables):
            return False
        if not all(id(weight) in self._weights for weight in weights):
            return False
        recorded = (weight for weight, _ in self._weights.values())
        return all(weight._array is array for weight, array in zip(recorded, self._weight_arrays, strict=True))

    def make_results(self) -> list[Any]:
        """Return the leaves of the result, with new Tensors that have their tape nodes."""
        leaves = []
        for each, (value, node) in zip(flatten(self.out)[0], self._results, strict=True):
            if isinstance(each, Tensor):
                value = box(value)
                value._node = node
            leaves.append(value)
        return leaves

    def source_of(self, variable: Tensor) -> Any:
        """Return the tape node of an argument, None if it has no gradient."""
        return self._sources.get(id(variable))

    def source_of_weight(self, weight: Any) -> Any:
        """Return the tape node of a trainable Parameter."""
        return self._weights[id(weight)][1]


def _get_active_tools():
    """Return the observers and changes of a forward pass from outside, to compare them later."""
    tools = events.subscribers
    return interventions.active, tools.entered, tools.recorded, tools.dispatched, trace_state.hook_epoch.value


def _is_variable(leaf):
    return isinstance(leaf, Tensor) and not isinstance(leaf, Parameter) and has_gradient(leaf._array.dtype)


def _is_same(value, recorded, array):
    return value is recorded and (array is None or value._array is array)


def run_recorded(cell: Any, args: tuple[Any, ...], call: Callable[..., Any]) -> Any:
    """Return ``call(*args)``, the call of a Cell on which `set_grad` was called, and record it for its gradient."""
    _thread.forward = None  # frees the arrays of the recording before
    recorded = RecordedForward(cell, args)
    out = recorded.run(call, args)
    _thread.forward = recorded
    return out


def take_recorded(
    fn: Any, args: tuple[Any, ...], variables: Sequence[Tensor], weights: Sequence[Any]
) -> RecordedForward | None:
    """Return the recording of the last forward pass and forget it, if a gradient may use it; None otherwise."""
    recorded, _thread.forward = _thread.forward, None
    if recorded is None or _thread.recording or not recorded.matches(fn, args, variables, weights):
        return None
    return recorded
