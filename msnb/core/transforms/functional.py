"""Forward-mode derivatives, Jacobians and batching, under their 2.x names: `jvp`, `vjp`, `jacfwd`, `jacrev`, `vmap`.

All of them run compiled in both modes: the function is traced into the graph, and JAX transforms it there.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from msnb.core import script
from msnb.core.errors.messages import describe
from msnb.core.program import program_cache
from msnb.core.state import trace_state
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
            return tuple(
                r._array for r in results
            ), frame.error  # inside the frame, whose exit reverts values that were set in place

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
            out, tangent, error = jax.jvp(
                pure, arrays, [d._array.astype(a.dtype) for d, a in zip(v, arrays)], has_aux=True
            )
            _merge_error_code(error)
        value, change = (note["rebuild"]([box(o) for o in arrays_out]) for arrays_out in (out, tangent))
        if not has_aux:
            return value, change
        return value[0], change[0], value[1] if len(value) == 2 else value[1:]

    return _run_in_graph(fn, run, "Jvp", (has_aux,), (tuple(inputs), tuple(v)))


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
        fn (Union[Cell, function]): A function of Tensors that returns Tensors.
        in_axes (Union[int, tuple]): Mapped axis of each input, None for inputs that are not mapped. Default: 0.
        out_axes (int): Axis of the outputs along which results are stacked. Default: 0.

    Returns:
        Callable with the arguments of `fn`.
    """

    def mapped(*args):
        axes = in_axes if isinstance(in_axes, (tuple, list)) else (in_axes,) * len(args)
        if len(axes) != len(args):
            raise ValueError(f"For 'vmap', 'in_axes' should have {len(args)} entries, but got {len(axes)}.")

        def run(*args):
            pure, arrays, note = _make_pure_function(fn, tuple(args))
            per_array = [a for a, arg in zip(axes, args) for v in flatten(arg)[0] if isinstance(v, Tensor)]
            out, errors = jax.vmap(pure, in_axes=tuple(per_array), out_axes=(out_axes, 0))(*arrays)
            if errors is not None:
                _merge_error_code(errors[jnp.argmax(errors[:, 0] != 0)])
            return note["rebuild"]([box(o) for o in out])

        return _run_in_graph(fn, run, "Vmap", (tuple(axes), out_axes), args)

    return mapped
