"""Forward-mode derivatives, Jacobians and batching, under their 2.x names: `jvp`, `vjp`, `jacfwd`, `jacrev`, `vmap`.

All of them run compiled in both modes: the function is traced into the graph, and JAX transforms it there.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from msnb.core import script
from msnb.core.eager import integer_gradients
from msnb.core.errors.messages import describe
from msnb.core.program import program_cache
from msnb.core.state import trace_state
from msnb.core.support.type_promotion import is_inexact
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, box
from msnb.core.transforms.differentiate import Gradient
from msnb.core.transforms.grad import _to_parameter_tuple, parameter_keys, program_owner

_thread = trace_state.thread


def _run_in_graph(fn, run, name, key, args):
    """Run `run(*args)` inside a graph: the current one, or a program stored with `fn`."""
    if _thread.frame is not None:
        return run(*args)
    root, more = program_owner(fn)
    return program_cache.call(root, run, args, {}, name, (name, *key) + more)


@contextlib.contextmanager
def _enable_forward_mode():
    """Context manager in which loops become plain `while` loops, which JAX differentiates in forward mode only."""
    before = _thread.forward_mode
    _thread.forward_mode = True
    try:
        yield
    finally:
        _thread.forward_mode = before


def _make_pure_function(fn, example):
    """Return (function, arrays, note) for a function of Tensors and its arguments `example`.

    The function is `fn` with one array argument per Tensor of `example`. It returns the result arrays, and the error
    code of the trace, or None if the trace contains no checks. `arrays` are the arrays of `example`. After a call,
    ``note["rebuild"]`` converts results to the structure that `fn` returned.
    """
    leaves, rebuild = flatten(example)
    note = {}
    outer = _thread.frame

    def run(*arrays):
        arrays = iter(arrays)
        with trace_state.TraceFrame((), (), outer) as frame:
            out = script.call(fn)(*rebuild([box(next(arrays)) if isinstance(v, Tensor) else v for v in leaves]))
            results, note["rebuild"] = flatten(out)
            if frame.written:
                raise RuntimeError(
                    "A function that writes Parameters cannot be transformed by jvp, jacfwd, jacrev or "
                    "vmap; return the new values instead."
                )
            for result in results:
                if not isinstance(result, Tensor):
                    raise TypeError(f"The function should return Tensors, but it returned {describe(result)}.")
            # inside the frame, whose exit reverts values that were set in place
            return tuple(r._array for r in results), frame.error

    return run, [v._array for v in leaves if isinstance(v, Tensor)], note


def _merge_error_code(error):
    """Merge the error code of a transformed function into that of the outer graph."""
    if error is not None:
        _thread.frame.adopt_hidden(("error",), (error,))


def jvp(fn: Callable[..., Any], inputs: Any, v: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Return the value of `fn` at `inputs`, and its derivative in direction `v` (forward mode).

    Args:
        fn (Union[Cell, function]): A function of Tensors that returns Tensors.
        inputs (Union[Tensor, tuple, list]): Point at which the derivative is taken.
        v (Union[Tensor, tuple, list]): Direction, of the shapes and dtypes of `inputs`.
        has_aux (bool): Differentiate the first output only. Default: False.

    Returns:
        tuple, (outputs, derivative). With `has_aux`: (first output, derivative, other outputs), where a single other
        output is not in a tuple.

    Raises:
        TypeError: If `inputs` or `v` contain values that are not Tensors.
        ValueError: If they differ in number or shape.
    """
    inputs = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    v = v if isinstance(v, (tuple, list)) else (v,)
    if len(inputs) != len(v):
        raise ValueError(f"For 'jvp', 'v' should have {len(inputs)} Tensors like 'inputs', but got {len(v)}.")
    for x, d in zip(inputs, v):
        if not isinstance(x, Tensor) or not isinstance(d, Tensor):
            raise TypeError(f"For 'jvp', 'inputs' and 'v' should be Tensors, but got {describe(x)} and {describe(d)}.")
        if x.shape != d.shape:
            raise ValueError(f"For 'jvp', 'v' should have the shapes of 'inputs', but got {d.shape} for {x.shape}.")

    def run(inputs, v):
        with _enable_forward_mode():
            pure, arrays, note = _make_pure_function(fn, tuple(inputs))
            if all(is_inexact(a.dtype) for a in arrays):
                directions = [d._array.astype(a.dtype) for d, a in zip(v, arrays)]
                out, tangent, error = jax.jvp(pure, arrays, directions, has_aux=True)
            else:
                out, tangent, error = _differentiate_real_version(pure, arrays, [d._array for d in v])
            _merge_error_code(error)
        value, change = (note["rebuild"]([box(o) for o in arrays_out]) for arrays_out in (out, tangent))
        if not has_aux:
            return value, change
        return value[0], change[0], value[1] if len(value) == 2 else value[1:]

    return _run_in_graph(fn, run, "Jvp", (has_aux,), (tuple(inputs), tuple(v)))


def _differentiate_real_version(pure, arrays, directions):
    """Return (outputs, derivative, error code) of `pure` at `arrays`, some of which are integers: the derivative of the
    same function of real numbers, in the dtypes of the outputs. Inputs that have to stay integers are constants.
    """
    positions, reals = integer_gradients.differentiable_inputs(lambda *a: pure(*a)[0], arrays, range(len(arrays)))
    out, error = pure(*arrays)

    def call_variables(*picked):
        full = list(reals)
        for position, value in zip(positions, picked):
            full[position] = value
        return pure(*full)[0]

    variables = [reals[p] for p in positions]
    _, tangent = jax.jvp(call_variables, variables, [directions[p].astype(reals[p].dtype) for p in positions])
    return out, [integer_gradients.cast_gradient(t, o.dtype) for t, o in zip(tangent, out)], error


def vjp(fn: Callable[..., Any], *inputs: Any, weights: Any = None, has_aux: bool = False) -> tuple[Any, ...]:
    """Return the value of `fn` at `inputs`, and a function from the cotangent of the output to the gradients.

    Args:
        fn (Union[Cell, function]): A function of Tensors that returns Tensors.
        inputs (Tensor): Point at which the derivative is taken.
        weights (Union[ParameterTuple, Parameter, list]): Parameters to differentiate by as well. Default: None.
        has_aux (bool): Differentiate the first output only. Default: False.

    Returns:
        tuple, (outputs, function). The function takes the cotangent and returns a tuple with one gradient per input.
        With `weights` it returns (gradients of the inputs, gradients of the weights). With `has_aux` the tuple is
        (first output, function, other outputs), where a single other output is not in a tuple.
    """
    params = None if weights is None else _to_parameter_tuple(weights, fn)
    out = fn(*inputs)

    def pull(*cotangents):
        sens = cotangents[0] if len(cotangents) == 1 else cotangents

        def run(sens, *inputs):
            _, grads, weight_grads = Gradient(fn, None, params, has_aux)(inputs, {}, sens)
            return (grads, weight_grads) if params is not None else grads

        return _run_in_graph(fn, run, "Vjp", (has_aux, parameter_keys(params)), (sens, *inputs))

    if has_aux:
        return out[0], pull, out[1] if len(out) == 2 else out[1:]
    return out, pull


def _make_jacobian_transform(transform, name):
    def make(fn, grad_position=0, has_aux=False):
        positions = (grad_position,) if isinstance(grad_position, int) else tuple(grad_position)

        def derivative(*args):
            def run(*args):
                with _enable_forward_mode() if name == "Jacfwd" else contextlib.nullcontext():
                    chosen = [args[p] for p in positions]

                    def call_variables(*picked):
                        full = list(args)
                        for p, value in zip(positions, picked):
                            full[p] = value
                        out = script.call(fn)(*full)
                        return out if has_aux else (out, ())

                    pure, arrays, note = _make_pure_function(call_variables, tuple(chosen))
                    first = lambda *a: pure(*a)[0][0]  # noqa: E731
                    rows = transform(first, argnums=tuple(range(len(arrays))))(*arrays)
                    values, error = pure(*arrays)
                    _merge_error_code(error)
                    aux = note["rebuild"]([box(a) for a in values])[1]
                rows = tuple(box(r) for r in rows)
                rows = rows[0] if isinstance(grad_position, int) else rows
                return (rows, aux) if has_aux else rows

            return _run_in_graph(fn, run, name, (positions, has_aux), args)

        return derivative

    make.__name__ = make.__qualname__ = name.lower()
    mode = "forward" if name == "Jacfwd" else "reverse"
    make.__doc__ = f"""Return a function that computes the Jacobian of `fn` in {mode} mode.

    Args:
        fn (Union[Cell, function]): Takes Tensors and returns a Tensor.
        grad_position (Union[int, tuple]): Positions of the differentiated inputs. Default: 0.
        has_aux (bool): Differentiate the first output only. Default: False.

    Returns:
        Callable; its result has the shape of the output followed by the shape of the input.
    """
    return make


jacfwd: Callable[..., Callable[..., Any]] = _make_jacobian_transform(jax.jacfwd, "Jacfwd")
jacrev: Callable[..., Callable[..., Any]] = _make_jacobian_transform(jax.jacrev, "Jacrev")


def vmap(fn: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """Apply `fn` along an axis of its inputs, as one batched computation.

    Args:
        fn (Union[Cell, function, CellList]): A function of Tensors that returns Tensors or numbers. The Cells of a
            CellList, an ensemble, get one entry of the mapped axis each.
        in_axes (Union[int, tuple, list]): Mapped axis of each input, None for inputs that are not mapped. An input
            that is a tuple takes an axis, or a tuple of the axes of its values. Default: 0.
        out_axes (Union[int, tuple, list]): Axis of the outputs along which results are stacked, or a tuple of axes,
            nested as the outputs are; None for outputs that do not depend on the mapped axis. Default: 0.

    Returns:
        Callable with the arguments of `fn`.

    Raises:
        ValueError: If a tuple of axes does not have one entry for each value, or the mapped axis not one for each Cell.
    """
    in_axes, out_axes = _to_nested_tuple(in_axes), _to_nested_tuple(out_axes)
    run_all = _run_ensemble if getattr(fn, "__cell_as_list__", False) else _run_batched

    def mapped(*args):
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        if len(axes) != len(args):
            raise ValueError(f"For 'vmap', 'in_axes' should have {len(args)} entries, but got {len(axes)}.")

        def run(*args):
            return run_all(fn, axes, out_axes, args)

        return _run_in_graph(fn, run, "Vmap", (axes, out_axes), args)

    return mapped


def _run_batched(fn, in_axes, out_axes, args):
    """Return `fn(*args)` over the mapped axis, as one computation of JAX."""
    choices = tuple(dict.fromkeys(_iterate_axes(out_axes)))  # JAX wants the axes before the outputs are known
    order = []

    def grouped(*args):
        out, rebuild = _tensors_of(script.call(fn)(*args))
        axes = _spread_axes("out_axes", out_axes, rebuild(out))
        order[:] = axes, rebuild
        return tuple(tensor for choice in choices for tensor, axis in zip(out, axes) if axis == choice)

    pure, arrays, _ = _make_pure_function(grouped, tuple(args))

    def split(*arrays):
        results, error = pure(*arrays)
        results = iter(results)
        return tuple([next(results) for axis in order[0] if axis == choice] for choice in choices), error

    groups, errors = jax.vmap(split, in_axes=tuple(_spread_axes("in_axes", in_axes, args)), out_axes=(choices, 0))(
        *arrays
    )
    if errors is not None:
        _merge_error_code(errors[jnp.argmax(errors[:, 0] != 0)])
    queues = {choice: iter(group) for choice, group in zip(choices, groups)}
    axes, rebuild = order
    return rebuild([box(next(queues[axis])) for axis in axes])


def _run_ensemble(cells, in_axes, out_axes, args):
    """Return the stacked results of `cells`, each called with its entry of the mapped axis."""
    leaves, rebuild = flatten(tuple(args))
    axes = iter(_spread_axes("in_axes", in_axes, args))
    pairs = [(leaf, next(axes) if isinstance(leaf, Tensor) else None) for leaf in leaves]
    for leaf, axis in pairs:
        if axis is not None and leaf.shape[axis] != len(cells):
            raise ValueError(
                f"For 'vmap' of a CellList of {len(cells)} Cells, the mapped axis should have one entry for each Cell, "
                f"but axis {axis} of an input of shape {leaf.shape} has {leaf.shape[axis]}."
            )
    outputs = []
    for i, cell in enumerate(cells):
        entry = [
            leaf if axis is None else box(jax.lax.index_in_dim(leaf._array, i, axis, keepdims=False))
            for leaf, axis in pairs
        ]
        tensors, rebuild_output = _tensors_of(script.call(cell)(*rebuild(entry)))
        outputs.append(tensors)
    stacked = []
    for axis, *tensors in zip(_spread_axes("out_axes", out_axes, rebuild_output(outputs[0])), *outputs):
        arrays = [tensor._array for tensor in tensors]
        stacked.append(box(arrays[0] if axis is None else jnp.stack(arrays, axis)))
    return rebuild_output(stacked)


def _tensors_of(out):
    """Return (Tensors, rebuild) of the outputs of a function; numbers become Tensors."""
    leaves, rebuild = flatten(out)
    return [Tensor(leaf) if type(leaf) in (bool, int, float) else leaf for leaf in leaves], rebuild


def _to_nested_tuple(axes):
    return tuple(map(_to_nested_tuple, axes)) if isinstance(axes, (tuple, list)) else axes


def _iterate_axes(axes):
    if isinstance(axes, tuple):
        for entry in axes:
            yield from _iterate_axes(entry)
    else:
        yield axes


def _spread_axes(argument, axes, value):
    """Return one axis for each Tensor in `value`, by the nested tuple `axes`."""
    if not isinstance(axes, tuple):
        return [axes] * sum(isinstance(leaf, Tensor) for leaf in flatten(value)[0])
    if not isinstance(value, (tuple, list)) or len(value) != len(axes):
        raise ValueError(
            f"For 'vmap', the tuple {axes} in '{argument}' should belong to a tuple or list of {len(axes)} values, but "
            f"it belongs to {describe(value)}."
        )
    return [axis for entry, part in zip(axes, value) for axis in _spread_axes(argument, entry, part)]
