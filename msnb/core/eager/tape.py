"""The gradient tape of PYNATIVE mode: operators record nodes on their results, and `backward` calls their pullbacks.

Values stay concrete, so print, pdb, asnumpy() and hooks see real numbers. A node is recorded only if one of the inputs
is tracked. If an outer gradient is being recorded, the backward pass is recorded as well, which gives derivatives of
any order.
"""

import contextlib
import heapq
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from msnb.core.eager import pullback_compilation
from msnb.core.eager.integer_gradients import is_integer
from msnb.core.eager.kernel import Kernel
from msnb.core.jaxpr.op_names import graph_name
from msnb.core.state import events, trace_state
from msnb.core.support.type_promotion import is_inexact
from msnb.core.tensor.sparse import RowTensor, add_rows
from msnb.core.tensor.tensor import box

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.tensor.tensor import Tensor

_thread = trace_state.thread
_subscribers = events.subscribers
_order = itertools.count()


class Node:
    """Tape node: one recorded operator call.

    Args:
        kernel (Kernel): The kernel; its `pullback(needs)` computes the gradient.
        inputs (tuple): For each input its (node, output index), or None if it is not tracked.
        arrays (tuple): The input arrays.
        outputs (tuple): (shape, dtype) of each output.
    """

    __slots__ = ("kernel", "inputs", "arrays", "outputs", "order")

    def __init__(
        self, kernel: Kernel | None, inputs: tuple[Any, ...], arrays: tuple[Any, ...], outputs: tuple[Any, ...]
    ) -> None:
        self.kernel: Any = kernel
        self.inputs: tuple[Any, ...] = inputs
        self.arrays: tuple[Any, ...] = arrays
        self.outputs: tuple[Any, ...] = outputs
        self.order: int = next(_order)

    def pull(self, cotangents: list[Any], needs: tuple[bool, ...], again: bool) -> list[Any]:
        """Return the cotangents of the inputs that `needs` marks, None for the others.

        Args:
            cotangents (list): Per output a Tensor, or None for zero.
            needs (tuple): For each input a bool, True if it needs a cotangent.
            again (bool): Record this pass for a higher derivative.
        """
        filled = [box(jnp.zeros(*spec)) if c is None else c for c, spec in zip(cotangents, self.outputs)]
        kernel = self.kernel.pullback(needs)
        arrays = self.arrays + tuple(c._array for c in filled)
        results = kernel.call(*arrays)
        boxes = [box(r) for r in results]
        if again:
            record(kernel, self.inputs + tuple(c._node for c in filled), arrays, boxes)
        gradients = iter(boxes)
        return [next(gradients) if need else None for need in needs]


class LookUp(Node):
    """Tape node for a look-up in a table, the first input, whose gradient is sparse rows."""

    __slots__ = ()

    def pull(self, cotangents: list[Any], needs: tuple[bool, ...], again: bool) -> list[Any]:
        """Return the gradients of the inputs, that of the table as a RowTensor; see `Node.pull`."""
        cotangent = box(jnp.zeros(*self.outputs[0])) if cotangents[0] is None else cotangents[0]
        indices, values = _run_and_record(self.kernel.rows, *map(box, self.arrays), cotangent)
        return [RowTensor(indices, values, self.arrays[0].shape), *[None] * (len(needs) - 1)]


class Leaf:
    """Tape node of a variable that a gradient is taken with respect to; the backward pass ends here."""

    __slots__ = ("order", "outputs", "inputs")

    def __init__(self):
        self.order: int = next(_order)
        self.inputs: tuple[()] = ()


class Custom(Node):
    """A tape node whose gradient is a Python function of Tensors: a Cell's bprop, a hook.

    Args:
        backward (Callable): Takes the list of output cotangents (Tensors), returns one Tensor or None per input.
    """

    __slots__ = ("backward",)

    def __init__(self, backward: Callable[..., Any], inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        super().__init__(None, inputs, (), outputs)
        self.backward: Callable[..., Any] = backward

    def pull(self, cotangents: list[Any], needs: tuple[bool, ...], again: bool) -> Any:
        """Return the gradients of the inputs; see `Node.pull`."""
        filled = [box(jnp.zeros(*spec)) if c is None else c for c, spec in zip(cotangents, self.outputs)]
        return self.backward(filled)


def record(kernel: Kernel, inputs: Sequence[Any], arrays: Sequence[Any], boxes: Sequence[Any]) -> None:
    """Record a node for one call of `kernel` on the Tensors it returned, if any input is tracked."""
    if any(i is not None for i in inputs):
        kind = Node if kernel.rows is None or inputs[0] is None else LookUp
        node = kind(kernel, tuple(inputs), tuple(arrays), tuple((b._array.shape, b._array.dtype) for b in boxes))
        if pullback_compilation.is_due_in_forward() and kind is Node:
            pullback_compilation.compile_ahead(node)
        for index, tensor in enumerate(boxes):
            dtype = tensor._array.dtype
            if (
                is_inexact(dtype)
                or is_integer(dtype)
                and (kernel.real is not None or _has_tracked_integer(inputs, arrays))
            ):
                tensor._node = (node, index)
        if _subscribers.recorded:
            events.notify("recorded", node, boxes)


def _has_tracked_integer(inputs, arrays):
    """Return True if a tracked input holds integers.

    Otherwise an integer result, such as that of Argmax, has a zero gradient and is not tracked.
    """
    return any(i is not None and is_integer(a.dtype) for i, a in zip(inputs, arrays))


@contextlib.contextmanager
def paused():
    """Context manager in which no operators are recorded."""
    level, _thread.recording = _thread.recording, 0
    trace_state.update_results_observed()
    try:
        yield
    finally:
        _thread.recording = level
        trace_state.update_results_observed()


_identity = Kernel("Identity", lambda x: x)
_add_n = Kernel(graph_name("AddN", {}, layout=((2,),)), lambda x, y: x + y)
_concat = Kernel(graph_name("Concat", {"axis": 0}, {"axis": 0}, layout=((2,),)), lambda x, y: jnp.concatenate((x, y)))
_add_rows = Kernel("ScatterAdd", add_rows)


def leaf(tensor: "Tensor") -> Any:
    """Return a new tape node for `tensor` as a differentiated variable, linked to the node that it already has."""
    upstream = tensor._node
    if upstream is None:
        return Leaf()
    array = tensor._array
    return Node(_identity, (upstream,), (array,), ((array.shape, array.dtype),))


def backward(outputs: Sequence[Any], cotangents: Sequence[Any], sources: Sequence[Any]) -> list[Any]:
    """Return gradients of `outputs` (Tensors), weighted by `cotangents`, with respect to the leaves `sources`.

    Returns:
        list, one Tensor per source, None if the outputs do not depend on it.
    """
    again = _thread.recording > 0
    pending: dict[int, list[Any]] = {}
    heap = []
    stops = {id(s) for s in sources}
    grads = {}

    def send(link, cotangent):
        node, index = link
        if id(node) in stops:
            grads[id(node)] = _add_cotangents(grads.get(id(node)), cotangent)
            return
        if not node.inputs:
            return
        cotangent = dense(cotangent)
        slots = pending.get(id(node))
        if slots is None:
            slots = pending[id(node)] = [None] * len(node.outputs)
            heapq.heappush(heap, (-node.order, id(node), node))
        slots[index] = _add_cotangents(slots[index], cotangent)

    reach = _Reachability(stops)
    if pullback_compilation.is_due():
        nodes = _iterate_nodes(outputs, stops)
        pullback_compilation.compile_pullbacks(nodes, lambda node: _find_needs(node, reach))
    for output, cotangent in zip(outputs, cotangents):
        if output._node is not None:
            send(output._node, cotangent)
    while heap:
        _, ident, node = heapq.heappop(heap)
        slots = pending.pop(ident)
        needs = _find_needs(node, reach)
        if not any(needs):
            continue
        if _subscribers.pulled:
            events.notify("pulled", node, slots)
        for link, need, cotangent in zip(node.inputs, needs, node.pull(slots, needs, again)):
            if need and cotangent is not None:
                send(link, cotangent)
        if not again:  # no further pass can need these arrays: free them now
            node.arrays = ()
    return [grads.get(id(s)) for s in sources]


def _find_needs(node, reach):
    """Return for each input of `node` True if it needs a cotangent."""
    return tuple([link is not None and reach(link[0]) for link in node.inputs])


def _iterate_nodes(outputs, stops):
    """Iterate over the nodes of operators on which `outputs` depend, the latest first on each path."""
    stack = [output._node[0] for output in outputs if output._node is not None]
    seen = set(stops)
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        stack.extend([link[0] for link in node.inputs if link is not None])
        if type(node) is Node and node.kernel is not _identity:
            yield node


class _Reachability:
    """A cached test that returns True if a node depends on one of the sources. It does not recurse."""

    def __init__(self, stops):
        self.answers = dict.fromkeys(stops, True)

    def __call__(self, node):
        answers = self.answers
        stack = [node]
        while stack:
            top = stack[-1]
            if id(top) in answers:
                stack.pop()
                continue
            parents = [link[0] for link in top.inputs if link is not None]
            if any(answers.get(id(p)) for p in parents):
                answers[id(top)] = True
                stack.pop()
                continue
            unknown = [p for p in parents if id(p) not in answers]
            if unknown:
                stack.append(unknown[0])
            else:
                answers[id(top)] = False
                stack.pop()
        return answers[id(node)]


def _add_cotangents(x, y):
    """Return the sum of two cotangents, recorded like any operator."""
    if x is None:
        return y
    if isinstance(x, RowTensor) and isinstance(y, RowTensor):
        (indices,), (values,) = (
            _run_and_record(_concat, x.indices, y.indices),
            _run_and_record(_concat, x.values, y.values),
        )
        return RowTensor(indices, values, x.dense_shape)
    return _run_and_record(_add_n, dense(x), dense(y))[0]


def dense(gradient: Any) -> Any:
    """Return a RowTensor as a dense Tensor, repeated rows summed; return anything else unchanged."""
    if not isinstance(gradient, RowTensor):
        return gradient
    zeros = box(jnp.zeros(gradient.dense_shape, gradient.values._array.dtype))
    return _run_and_record(_add_rows, zeros, gradient.indices, gradient.values)[0]


def _run_and_record(kernel, *boxes):
    """Run `kernel` on Tensors and record it. Returns a tuple of Tensors."""
    arrays = [b._array for b in boxes]
    out = kernel.call(*arrays)
    results = tuple(map(box, out if type(out) is tuple else (out,)))
    if _thread.recording:
        record(kernel, [b._node for b in boxes], arrays, results)
    return results
