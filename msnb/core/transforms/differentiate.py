"""Differentiation of functions of Tensors: by the tape in PYNATIVE mode, by `jax.vjp` inside a graph."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name

from msnb.core import script
from msnb.core.compat.jax_private import weak_float32
from msnb.core.eager import float_status, integer_gradients, tape
from msnb.core.eager.integer_gradients import has_gradient, is_integer
from msnb.core.errors.messages import describe
from msnb.core.operator.row_gradients import LookupTables
from msnb.core.state import events, trace_state
from msnb.core.support.type_promotion import is_inexact
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.sparse import RowTensor
from msnb.core.tensor.tensor import Tensor, box
from msnb.core.transforms import gradient_hooks
from msnb.core.transforms.nested_outputs import NestedOutputs
from msnb.core.transforms.recorded_forward import take_recorded

_thread = trace_state.thread


class Gradient:
    """The gradient of a function of Tensors.

    Args:
        fn (Callable): The function or Cell.
        positions (Union[tuple, None]): Positions of the differentiated arguments; None for all.
        weights (Union[tuple, None]): Parameters differentiated as well.
        has_aux (bool): Differentiate the first output only, and return the others unchanged.
    """

    __slots__ = ("fn", "positions", "weights", "has_aux", "reverse")

    def __init__(
        self,
        fn: Callable[..., Any],
        positions: tuple[int, ...] | None = None,
        weights: tuple[Any, ...] | None = None,
        has_aux: bool = False,
    ) -> None:
        self.fn: Callable[..., Any] = fn
        self.positions: tuple[int, ...] | None = positions
        self.weights: tuple[Any, ...] | None = weights
        self.has_aux: bool = has_aux

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, sens: Any = None) -> Any:
        """Return (value, gradients of the arguments, gradients of the weights).

        Args:
            args (tuple): Arguments of the function.
            kwargs (dict): Keyword arguments, never differentiated.
            sens (Union[Tensor, tuple]): Cotangent of the output; ones if None.
        """
        positions = range(len(args)) if self.positions is None else self.positions
        for position in positions:
            if not -len(args) <= position < len(args):
                raise IndexError(
                    f"The gradient is asked for with respect to argument {position}, "
                    f"but the function was called with {len(args)} arguments."
                )
        positions = [p % len(args) for p in positions]
        run = _differentiate_in_graph if _thread.frame is not None else _differentiate_on_tape
        return run(self.fn, args, kwargs or {}, positions, self.weights or (), sens, self.has_aux)


def _separate_variables_from_args(args, positions):
    """Return (variables, replace, gradients) for the arguments at `positions`.

    The variables are the Tensors that a gradient is taken with respect to. ``replace(new)`` returns all arguments with
    new Tensors for them. ``gradients(grads)`` returns their gradients in the structure of the arguments.

    A float is a variable. An int is a variable only if the arguments contain no Tensor. Next to Tensors an int is an
    axis, a size or a flag.
    """
    picked, rebuild = flatten([args[p] for p in positions])
    numbers = (float,) if any(isinstance(leaf, Tensor) and not is_number(leaf) for leaf in picked) else (float, int)
    picked = [box(_to_weak_float(leaf)) if type(leaf) in numbers else leaf for leaf in picked]
    tensors = [leaf for leaf in picked if isinstance(leaf, Tensor)]

    def replace(new):
        new = iter(new)
        values = rebuild([next(new) if isinstance(leaf, Tensor) else leaf for leaf in picked])
        full = list(args)
        for position, value in zip(positions, values):
            full[position] = value
        return full

    def gradients(grads):
        """Return gradients in the structure of the inputs.

        A Tensor or int without a gradient gets zeros. Other values get None.
        """
        grads = iter(grads)
        out = []
        for leaf in picked:
            grad = next(grads) if isinstance(leaf, Tensor) else None
            if grad is None and isinstance(leaf, Tensor):
                grad = box(jnp.zeros(leaf._array.shape, leaf._array.dtype))
            elif grad is None and isinstance(leaf, int) and not isinstance(leaf, bool):
                grad = box(jnp.zeros((), jnp.int64))
            out.append(grad)
        return tuple(rebuild(out))

    return tensors, replace, gradients


def is_number(tensor):
    """Return True if a Tensor represents a Python float, which is an input of a graph as a weakly typed scalar."""
    return tensor._array.weak_type and not tensor._array.shape


def _to_weak_float(value):
    """Return a Python number as a weakly typed float32, which does not widen other operands."""
    return weak_float32(jnp.asarray(value, jnp.float32))


def _make_cotangents(outputs, sens):
    """Return (output Tensors, one cotangent for each): ones, or `sens` after checks."""
    tensors = [o for o in outputs if isinstance(o, Tensor)]
    if not tensors:
        sens_leaves = describe(outputs[0]) if outputs else "nothing"
        raise TypeError(f"A gradient needs a function that returns Tensors, but it returned {sens_leaves}.")
    if sens is None:
        return tensors, [box(jnp.ones(t._array.shape, t._array.dtype)) for t in tensors]
    sens_leaves, _ = flatten(sens)
    if len(sens_leaves) != len(tensors):
        raise ValueError(f"'sens' has {len(sens_leaves)} Tensors, but the function returned {len(tensors)}.")
    sens_leaves = [
        box(jnp.full(t._array.shape, g, t._array.dtype)) if isinstance(g, (int, float)) else g
        for g, t in zip(sens_leaves, tensors)
    ]
    checked = []
    for cotangent, tensor in zip(sens_leaves, tensors):
        if not isinstance(cotangent, Tensor):
            raise TypeError(
                f"'sens' should be a Tensor like the output {describe(tensor)}, but got {describe(cotangent)}."
            )
        if cotangent.shape != tensor.shape:
            if cotangent.size != 1 and cotangent.size != tensor.size:
                raise ValueError(
                    f"'sens' should have the shape of the output {tensor.shape}, but got {cotangent.shape}."
                )
            cotangent = box(
                jnp.broadcast_to(cotangent._array.reshape(-1), (tensor.size,)).reshape(tensor.shape)
                if cotangent.size == 1
                else cotangent._array.reshape(tensor.shape)
            )
        if cotangent._array.dtype != tensor._array.dtype:
            fitted = box(cotangent._array.astype(tensor._array.dtype))
            fitted._node = cotangent._node if has_gradient(tensor._array.dtype) else None
            cotangent = fitted
        checked.append(cotangent)
    return tensors, checked


# ---------------------------------------------------------------------- PYNATIVE
def _differentiate_on_tape(fn, args, kwargs, positions, weights, sens, has_aux):
    tensors, replace, gradients = _separate_variables_from_args(args, positions)
    recorded = None if kwargs else take_recorded(fn, args, tensors, weights)
    if recorded is not None:
        out, leaves = recorded.out, recorded.make_results()
        leaves = leaves[: len(flatten(out[0])[0])] if has_aux else leaves
        sources = [recorded.source_of(tensor) for tensor in tensors]
        weight_sources = [recorded.source_of_weight(weight) for weight in weights]
    else:
        out, leaves, sources, weight_sources = _record_forward(fn, replace, tensors, weights, kwargs, has_aux)
    outputs, cotangents = _make_cotangents(leaves, sens)
    source_grads = tape.backward(outputs, cotangents, [s for s in sources if s is not None] + weight_sources)
    source_grads = gradient_hooks.call_final_hooks(
        [*[t for t, s in zip(tensors, sources) if s is not None], *weights], source_grads
    )
    split = sum(s is not None for s in sources)
    arg_grads = map(tape.dense, source_grads[:split])
    grads = gradients([next(arg_grads) if s is not None else None for s in sources])
    weight_grads = tuple(g if g is not None else _zeros_like(w) for g, w in zip(source_grads[split:], weights))
    if _thread.results_observed:
        float_status.note([_get_gradient_array(g) for g in source_grads if g is not None])
    if events.subscribers.differentiated:
        with tape.paused():
            dense_grads = tuple(map(tape.dense, weight_grads))
        events.notify("differentiated", outputs, weights, weight_sources, dense_grads)
    return _drop_tape_nodes(out), grads, weight_grads


def _record_forward(fn, replace, tensors, weights, kwargs, has_aux):
    """Run `fn` on variables and record its operators.

    Returns:
        tuple, (result, leaves that are differentiated, tape nodes of the variables, tape nodes of the weights).
    """
    trace_state.donation_lock.record()
    outer, level, paused = _thread.nodes, _thread.recording, _thread.paused
    nodes = dict(outer) if outer else {}
    # try/finally instead of a context manager: an interrupt during the exit of one would leave the thread recording.
    try:
        _thread.nodes, _thread.recording, _thread.paused, _thread.results_observed = nodes, level + 1, None, True
        variables = []
        for tensor in tensors:
            variable = box(tensor._array)
            if has_gradient(variable._array.dtype):
                variable._node = (tape.leaf(tensor), 0)
            variables.append(variable)
        for weight in weights:
            nodes[id(weight)] = (tape.leaf(weight), 0)
        sources = [v._node[0] if v._node else None for v in variables]
        weight_sources = [nodes[id(w)][0] for w in weights]
        out = fn(*replace(variables), **kwargs)
        leaves, _ = flatten(out[0] if has_aux else out)
        leaves = [_copy_with_node(leaf) if isinstance(leaf, Parameter) else leaf for leaf in leaves]
    finally:
        _thread.nodes, _thread.recording, _thread.paused = outer, level, paused
        trace_state.update_results_observed()
    return out, leaves, sources, weight_sources


def _copy_with_node(parameter):
    """Return a Tensor with the value and tape node of a Parameter, whose node is forgotten when the recording ends."""
    copy = box(parameter._array)
    copy._node = parameter._node
    return copy


def _get_gradient_array(gradient):
    return (gradient.values if isinstance(gradient, RowTensor) else gradient)._array


def _zeros_like(tensor):
    array = tensor._array
    return box(jnp.zeros(array.shape, array.dtype))


def _drop_tape_nodes(out):
    """Drop the tape nodes of results if no gradient is being recorded."""
    if not _thread.recording:
        for leaf in flatten(out)[0]:
            if isinstance(leaf, Tensor) and not isinstance(leaf, Parameter):
                leaf._node = None
    return out


# ---------------------------------------------------------------------- inside a graph
def _have_same_value(first, second):
    """Return True if two arguments are the same value in this graph."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        return first._array is second._array
    return first is second


def _differentiate_in_graph(fn, args, kwargs, positions, weights, sens, has_aux):
    if not kwargs:
        _thread.frame.undo_call(fn, _have_same_value, args)
    tensors, replace, gradients = _separate_variables_from_args(args, positions)
    inexact = [i for i, t in enumerate(tensors) if is_inexact(t._array.dtype)]
    integers = [i for i, t in enumerate(tensors) if is_integer(t._array.dtype)]
    integer_weights = [i for i, w in enumerate(weights) if is_integer(w._array.dtype)]
    outer, outputs = _thread.frame, NestedOutputs()
    lookup_tables = None

    def pure(arrays, weight_arrays, carried):
        nonlocal lookup_tables
        boxes = [box(t._array) for t in tensors]
        for i, array in zip(inexact, arrays):
            boxes[i] = box(array)
        # A copy makes a new variable, also for a Tensor that is passed twice or is a variable of an outer gradient.
        for i in integers:
            array = tensors[i]._array
            if _thread.carriers is not None or any(b._array is array for b in boxes[:i]):
                boxes[i] = box(jnp.array(array, copy=True))
        with trace_state.TraceFrame(weights, weight_arrays, outer) as frame, integer_gradients.Carriers():
            variables = [*[boxes[i]._array for i in integers], *[weight_arrays[i] for i in integer_weights]]
            for array, carrier in zip(variables, carried):
                integer_gradients.set_carrier(array, carrier)
            frame.tables = lookup_tables = LookupTables(weights, weight_arrays)
            out = script.call(fn)(*replace(boxes), **kwargs)
            differentiated = flatten(out[0] if has_aux else out)[0]
            results = tuple(leaf._array for leaf in differentiated if isinstance(leaf, Tensor))
            carriers = {i: c for i, a in enumerate(results) if (c := integer_gradients.carrier(a)) is not None}
            return (results, carriers), outputs.collect(frame, out)

    weight_arrays = [w._array for w in weights]
    arrays = [tensors[i]._array for i in inexact]
    carried = [*[tensors[i]._array for i in integers], *[weight_arrays[i] for i in integer_weights]]
    carried = [integer_gradients.new_carrier(a) if (c := integer_gradients.carrier(a)) is None else c for a in carried]
    (out, carriers), vjp, (values, written, hidden) = jax.vjp(pure, arrays, weight_arrays, carried, has_aux=True)
    outputs.apply(outer, written, hidden)
    result = outputs.build(values)
    cotangents = [c._array for c in _make_cotangents([box(o) for o in out], sens)[1]]
    inexact_cotangents = tuple(
        c if is_inexact(o.dtype) else np.zeros(o.shape, jax.dtypes.float0) for c, o in zip(cotangents, out)
    )
    integer_cotangents = {i: cotangents[i].astype(c.dtype) for i, c in carriers.items()}
    array_grads, weight_grads, carried_grads = vjp((inexact_cotangents, integer_cotangents))
    input_grads: list[Any] = [None] * len(tensors)
    for i, grad in zip(inexact, array_grads):
        input_grads[i] = box(grad)
    for i, grad in zip(integers, carried_grads):
        input_grads[i] = _make_integer_gradient(grad, tensors[i])
    for i, grad in zip(integer_weights, carried_grads[len(integers) :]):
        weight_grads[i] = _make_integer_gradient(grad, weights[i])._array
    assert lookup_tables is not None
    weight_grads = [lookup_tables.gradient(w, g) for w, g in zip(weights, weight_grads)]
    weight_grads = gradient_hooks.call_final_hooks(weights, weight_grads)
    if _thread.results_observed:
        float_status.note([*array_grads, *map(_get_gradient_array, weight_grads)])
    # Tools use the names to find the gradient of a Parameter in the jaxpr of a train step.
    for gradient, weight in zip(weight_grads, weights):
        label = gradient.values if isinstance(gradient, RowTensor) else gradient
        label._array = checkpoint_name(label._array, f"gradient:{weight.name}")
    return result, gradients(input_grads), tuple(weight_grads)


def _make_integer_gradient(carried, tensor):
    """Return the gradient of an integer Tensor from the gradient of its carrier, the float array that stands for it."""
    gradient = box(integer_gradients.cast_gradient(carried, tensor._array.dtype))
    integer_gradients.set_carrier(gradient._array, carried)
    return gradient
