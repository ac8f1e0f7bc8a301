"""Custom gradients: `bprop` of a Cell, and backward hooks."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb import context
from msnb.core import script
from msnb.core.eager import integer_gradients, tape
from msnb.core.eager.integer_gradients import has_gradient, is_integer
from msnb.core.errors.messages import describe
from msnb.core.operator import api_generations
from msnb.core.operator.autocast import cast_kernel
from msnb.core.state import trace_state
from msnb.core.support.type_promotion import is_inexact
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, box
from msnb.core.transforms.nested_outputs import NestedOutputs

_thread = trace_state.thread


def call_with_bprop(cell: Any, args: tuple[Any, ...]) -> Any:
    """Run `cell.construct` with `cell.bprop(*inputs, out, dout)` as its gradient."""
    if _thread.frame is not None:
        return _trace_with_bprop(cell, args)
    if not _thread.recording:
        return cell._construct(args, {})
    with tape.paused():
        out = cell._construct(args, {})
    leaves, rebuild = flatten(out)
    boxes = [box(leaf._array) for leaf in leaves if isinstance(leaf, Tensor)]
    out = rebuild([boxes.pop(0) if isinstance(leaf, Tensor) else leaf for leaf in leaves])
    results = [leaf for leaf in flatten(out)[0] if isinstance(leaf, Tensor)]

    def backward(cotangents):
        return _call_bprop(cell, args, out, _restore_cotangent_structure(out, cotangents))

    inputs = tuple(a._node if isinstance(a, Tensor) else None for a in flatten(args)[0])
    if any(i is not None for i in inputs):
        node = tape.Custom(backward, inputs, tuple((r._array.shape, r._array.dtype) for r in results))
        for index, result in enumerate(results):
            result._node = (node, index)
    return out


def _restore_cotangent_structure(out, cotangents):
    """Return the cotangents (Tensors) in the structure of the output. Other leaves are unchanged."""
    cotangents = iter(cotangents)
    leaves, rebuild = flatten(out)
    return rebuild([next(cotangents) if isinstance(leaf, Tensor) else leaf for leaf in leaves])


def _call_bprop(cell, args, out, dout):
    """Call the cell's bprop. Returns one gradient per input, with checked shape and cast to its dtype.

    If the context has ``check_bprop=True``, a gradient of another dtype or type is an error. In r1.1 a Cell with
    trainable Parameters is an error too, because bprop returns gradients of inputs only. In MindSpore 2 the gradients
    of its Parameters are 0.
    """
    bprop = cell.bprop if _thread.frame is None else script.call(cell.bprop)
    grads = bprop(*args, out, dout)
    grads = tuple(map(tape.dense, grads if isinstance(grads, tuple) else (grads,)))
    if len(grads) != len(args):
        raise ValueError(
            f"For user define net bprop, the gradients number: {len(grads)} is not equal to the args number: "
            f"{len(args)}. The bprop of {type(cell).__name__} should return one gradient per input."
        )
    strict = context.get_context("check_bprop")
    if strict and api_generations.shared == 1 and (learnt := cell.trainable_params()):
        raise RuntimeError(
            f"When user defines the net bprop, there are {len(learnt)} parameters that is not supported in the net. "
            f"The bprop of {type(cell).__name__} gives gradients of inputs alone, so that "
            f"{', '.join(p.name for p in learnt[:3])} would learn nothing; write it in a Cell without Parameters."
        )
    fitted = []
    for grad, arg in zip(grads, args):
        leaves = flatten(arg)[0]
        grad_leaves = flatten(grad)[0]
        if len(grad_leaves) != len(leaves):
            grad_leaves = [None] * len(leaves)  # bprop returned one gradient for a tuple of Tensors: they get none
        fitted.extend([_check_and_cast_gradient(cell, g, leaf, strict) for g, leaf in zip(grad_leaves, leaves)])
    return fitted


def _check_and_cast_gradient(cell, grad, arg, strict):
    """Return the gradient of one input Tensor in its dtype, or None."""
    if strict and isinstance(arg, Tensor) and isinstance(grad, (bool, int, float)):
        raise TypeError(f"bprop of {type(cell).__name__} returned {describe(grad)} as the gradient of a Tensor.")
    if not isinstance(arg, Tensor) or not has_gradient(arg._array.dtype) or not isinstance(grad, Tensor):
        return None
    if grad.shape != arg.shape:
        raise ValueError(
            f"bprop of {type(cell).__name__} returned a gradient of shape {grad.shape} for an input of shape "
            f"{arg.shape}."
        )
    if grad._array.dtype == arg._array.dtype:
        return grad
    if strict:
        raise TypeError(f"bprop of {type(cell).__name__} returned a {grad.dtype} gradient for a {arg.dtype} input.")
    return _cast_gradient(grad, arg._array.dtype)


def _cast_gradient(grad, dtype):
    """Cast a gradient, and record the cast on the tape for higher derivatives."""
    kernel = cast_kernel(dtype)
    array = grad._array
    result = box(kernel.call(array))
    if _thread.recording:
        tape.record(kernel, [grad._node], [array], [result])
    return result


def _trace_with_bprop(cell, args):
    """Trace construct in `jax.custom_vjp`. Parameters that it reads are inputs, because it must not close over
    tracers.
    """
    arg_leaves, rebuild_args = flatten(args)
    tensors = [a for a in arg_leaves if isinstance(a, Tensor)]
    params = list(cell.get_parameters())
    outer = _thread.frame
    outputs = NestedOutputs()
    carriers = [integer_gradients.carrier(t._array) for t in tensors]
    input_carriers = {i: c for i, c in enumerate(carriers) if c is not None}

    def fill(arrays):
        arrays = iter(arrays)
        return rebuild_args([box(next(arrays)) if isinstance(a, Tensor) else a for a in arg_leaves])

    def construct(param_arrays, arrays):
        with trace_state.TraceFrame(params, param_arrays, outer) as frame:
            return outputs.collect(frame, cell._construct(fill(arrays), {}))

    @jax.custom_vjp
    def run(param_arrays, arrays, carried):
        out = construct(param_arrays, arrays)
        return out, {
            i: integer_gradients.new_carrier(o) for i, o in enumerate(out[0]) if is_integer(o.dtype) and carried
        }

    def forward(param_arrays, arrays, carried):
        out = run(param_arrays, arrays, carried)
        return out, (param_arrays, arrays, out[0][0])

    def back(saved, cotangents):
        param_arrays, arrays, out = saved
        (dout, _, _), by_carrier = cotangents
        dout = [
            integer_gradients.cast_gradient(by_carrier[i], o.dtype) if i in by_carrier else d
            for i, (d, o) in enumerate(zip(dout, out))
        ]
        dout = [jnp.zeros(o.shape, o.dtype) if d.dtype == jax.dtypes.float0 else d for d, o in zip(dout, out)]
        with trace_state.TraceFrame(params, param_arrays, outer):
            result = outputs.build(out)
            grads = _call_bprop(cell, fill(arrays), result, _restore_cotangent_structure(result, map(box, dout)))
        by_tensor = [g for g, a in zip(grads, arg_leaves) if isinstance(a, Tensor)]
        return (
            [jnp.zeros(p.shape, p.dtype) for p in param_arrays],
            tuple(_to_cotangent(g, a) for g, a in zip(by_tensor, arrays)),
            {
                i: jnp.zeros(arrays[i].shape)
                if by_tensor[i] is None
                else integer_gradients.as_real(by_tensor[i]._array)
                for i in input_carriers
            },
        )

    run.defvjp(forward, back)
    (outs, written, hidden), carried = run([p._array for p in params], tuple(t._array for t in tensors), input_carriers)
    outputs.apply(outer, written, hidden)
    for i, out_carrier in carried.items():
        integer_gradients.set_carrier(outs[i], out_carrier)
    return outputs.build(outs)


def _to_cotangent(grad, array):
    if not is_inexact(array.dtype):
        return np.zeros(array.shape, jax.dtypes.float0)
    return jnp.zeros(array.shape, array.dtype) if grad is None else grad._array


def with_backward_hook(tensors: Sequence[Tensor], hook: Callable[..., Any]) -> list[Tensor]:
    """Return copies of the Tensors whose cotangents pass through `hook` in the backward pass.

    `hook` gets the list of cotangents. It returns a list with a new Tensor for each, or None to keep the cotangent.
    """
    if _thread.frame is not None:

        @jax.custom_vjp
        def identity(*arrays):
            return arrays

        def back(_, cotangents):
            replaced = hook([box(c) for c in cotangents])
            return tuple(c if f is None else f._array for c, f in zip(cotangents, replaced))

        identity.defvjp(lambda *arrays: (arrays, None), back)
        return [box(a) for a in identity(*[t._array for t in tensors])]
    copies = [box(t._array) for t in tensors]
    inputs = tuple(t._node for t in tensors)
    if _thread.recording and any(i is not None for i in inputs):

        def backward(cotangents):
            return [c if f is None else f for c, f in zip(cotangents, hook(cotangents))]

        node = tape.Custom(backward, inputs, tuple((t._array.shape, t._array.dtype) for t in copies))
        for index, copied in enumerate(copies):
            copied._node = (node, index)
    return copies
