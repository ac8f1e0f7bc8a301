"""Calls in a trace whose graph is rewritten before JAX differentiates it."""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr

from msnb.core import script
from msnb.core.eager import integer_gradients
from msnb.core.state import trace_state
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, box
from msnb.core.transforms.nested_outputs import NestedOutputs

_thread = trace_state.thread


def call_rewritten(
    function: Callable[..., Any],
    params: list[Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    evaluate: Callable[[ClosedJaxpr, list[tuple[Any, ...]], list[Any]], list[Any]],
) -> Any:
    """Trace ``function(*args, **kwargs)`` separately, and let `evaluate` compute its graph in the current trace.

    Args:
        function (Callable): A function of Tensors, called inside a trace.
        params (list): Parameters that it reads. They become inputs of the graph. Other Parameters are constants in it.
        args (tuple): Its arguments.
        kwargs (dict): Its keyword arguments.
        evaluate (Callable): Called as ``evaluate(closed, inputs, arrays)`` with the graph, the descriptions of its
            inputs as for `msnb.ir.read`, and the arrays of its inputs. It returns the results of the graph.

    Returns:
        Any, the result of the call.
    """
    outer = _thread.frame
    arg_leaves, rebuild_args = flatten((args, kwargs))
    outputs = NestedOutputs()

    def run(param_arrays, arrays, carried):
        for index, carrier in carried.items():
            integer_gradients.set_carrier([*param_arrays, *arrays][index], carrier)
        remaining = iter(arrays)
        values = [box(next(remaining)) if isinstance(leaf, Tensor) else leaf for leaf in arg_leaves]
        run_args, run_kwargs = rebuild_args(values)
        with trace_state.TraceFrame(params, param_arrays, outer) as frame:
            results, written, hidden = outputs.collect(frame, function(*run_args, **run_kwargs))
            return results, written, hidden, _get_gradient_carriers(results)

    tensors = [leaf._array for leaf in arg_leaves if isinstance(leaf, Tensor)]
    param_arrays = [p._array for p in params]
    carried = _get_gradient_carriers([*param_arrays, *tensors])
    closed, kinds = jax.make_jaxpr(run, return_shape=True)(param_arrays, tensors, carried)
    inputs = [("param", p.name, p.requires_grad) for p in params]
    inputs += [("arg", f"x{i}") for i in range(len(tensors) + len(carried))]
    flat = evaluate(closed, inputs, [*param_arrays, *tensors, *jax.tree.leaves(carried)])
    results, written, hidden, carried_results = jax.tree.unflatten(jax.tree.structure(kinds), flat)
    for index, carrier in carried_results.items():
        integer_gradients.set_carrier(results[index], carrier)
    outputs.apply(outer, written, hidden)
    return outputs.build(results)


def _get_gradient_carriers(arrays):
    """Return {index: carrier} of the integers through which gradients flow."""
    return {i: c for i, array in enumerate(arrays) if (c := integer_gradients.carrier(array)) is not None}


def call_pure(function: Callable[..., Any], array: Any) -> Any:
    """Return the result of a function of one Tensor inside the current trace.

    Raises:
        ValueError: If it draws random numbers, sets Parameters, or checks values while the graph runs.
    """
    with trace_state.TraceFrame((), (), _thread.frame) as frame:
        out = script.call(function)(box(array))
        if frame.writes() or frame.hidden_names() or frame.rebinds_tensors():
            raise ValueError(
                "it draws random numbers, sets a Parameter or checks values while the graph runs, but it should only "
                "compute its result from the value"
            )
    return out
