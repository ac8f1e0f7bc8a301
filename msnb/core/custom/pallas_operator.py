"""`pallas_operator`: a Pallas kernel and its shape rule as an operator, compiled if possible, else interpreted."""

import inspect
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from msnb import context, log
from msnb.common import dtype as mstype
from msnb.core.custom.custom_operator import Gradient, make_operator_class
from msnb.core.errors.messages import describe


def pallas_operator(
    out: Callable[..., Any],
    *,
    grid: Any = (),
    in_specs: Any = None,
    out_specs: Any = None,
    scratch_shapes: Any = (),
    backward: Callable[..., Any] | None = None,
    name: str | None = None,
    interpret: bool | None = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: turn a Pallas kernel into an operator, a class like those of `mindspore.ops`.

    The kernel gets a reference for each Tensor, then one for each result, and attributes by name. The rule `out`
    defines the number of results, their shapes and dtypes.

    Args:
        out (Callable): The shape rule. It takes the Tensors, with only `shape` and `dtype`, and attributes by
            name. It returns an object with `shape` and `dtype`, as in ``lambda x: x``, or a pair, as in
            ``lambda x, y: (x.shape[:1], x.dtype)``. For several results it returns a list of these.
        grid (Union[tuple[int], Callable]): Number of runs of the kernel in each dimension, or a function of the Tensors
            and attributes that returns it. Default: (), a single run.
        in_specs (Union[Sequence, Callable]): A ``pallas.BlockSpec`` for each Tensor, or a function as for `grid`.
            Default: None, the kernel gets complete Tensors.
        out_specs (Union[BlockSpec, Sequence, Callable]): Likewise for the results. Default: None.
        scratch_shapes (Sequence): Scratch memory of the kernel. Default: ().
        backward (Callable): The gradient function, see `custom_operator`; ``@Name.backward`` does the same. JAX does
            not differentiate a kernel, so there is no default gradient. Default: None.
        name (str): Name of the operator. Default: None, that of the function.
        interpret (bool): Interpret the kernel instead of compiling it. Default: None: on CPU, and on a GPU if the
            size of a block is no power of two, which Pallas does not compile there.

    Returns:
        Decorator that returns the class of the operator.

    Raises:
        TypeError: If `out` is not callable.
        ValueError: If MindSpore has an operator of this name.

    Examples:
        >>> @mindspore.pallas_operator(lambda x: x)
        ... def Doubled(x_ref, out_ref):
        ...     out_ref[...] = x_ref[...] * 2
        >>> print(Doubled()(Tensor([1.0, 2.0], mindspore.float32)))
        [2. 4.]
    """
    if not callable(out):
        raise TypeError(
            f"For 'pallas_operator', 'out' should be a function of the Tensors that says what the results are, such as "
            f"lambda x: x, but got {describe(out)}."
        )

    def declare(kernel: Callable[..., Any]) -> Any:
        called = name or kernel.__name__
        inputs = [p for p in inspect.signature(out).parameters.values() if p.kind is not p.KEYWORD_ONLY]
        attributes = [p for p in inspect.signature(kernel).parameters.values() if p.kind is p.KEYWORD_ONLY]

        def function(*arrays, **attributes):
            from jax.experimental import pallas  # lazy import: most users have no Pallas kernels

            input_specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in map(jnp.asarray, arrays)]

            def evaluate(value: Any) -> Any:
                return (
                    value(*input_specs, **_select_accepted_attributes(value, attributes)) if callable(value) else value
                )

            shapes = evaluate(out)
            is_tuple = isinstance(shapes, list)
            results = [_to_shape_dtype_struct(shape, called) for shape in (shapes if is_tuple else [shapes])]
            settings: dict[str, Any] = {"in_specs": evaluate(in_specs), "out_specs": evaluate(out_specs)}
            settings = {key: value for key, value in settings.items() if value is not None}
            run = pallas.pallas_call(
                lambda *refs: kernel(*refs, **attributes),
                out_shape=tuple(results) if is_tuple else results[0],
                grid=evaluate(grid),
                scratch_shapes=scratch_shapes,
                interpret=_needs_interpretation(called, input_specs, results, settings)
                if interpret is None
                else interpret,
                name=called,
                **settings,
            )
            found = run(*arrays)
            return tuple(found) if is_tuple else found

        function.__signature__ = inspect.Signature([*inputs, *attributes])
        function.__module__, function.__doc__, function.__wrapped__ = kernel.__module__, kernel.__doc__, kernel
        why = (
            f"The operator '{called}' is a Pallas kernel, which JAX does not differentiate; write its gradient: "
            f"@{called}.backward above a function of its inputs, the result and its gradient."
        )
        return make_operator_class(function, called, Gradient(backward, why))

    return declare


def _needs_interpretation(name, inputs, results, specs):
    """Return True if the kernel has to be interpreted, because the current platform cannot compile it."""
    platform = context.device().platform
    if platform != "gpu":
        return platform == "cpu"
    block_specs = [specs.get("in_specs"), specs.get("out_specs")]
    for arrays, blocks in zip((inputs, results), block_specs):
        blocks = blocks if isinstance(blocks, (list, tuple)) else [blocks] * len(arrays)
        for array, block in zip(arrays, blocks):
            shape = getattr(block, "block_shape", None) or array.shape
            size = math.prod(n for n in shape if isinstance(n, int))
            if size & (size - 1):
                log.once(
                    f"'{name}' is interpreted, which is slow: on a GPU, Pallas compiles kernels of blocks whose sizes "
                    f"are powers of two, and this one sees {tuple(shape)}. Choose others by in_specs and out_specs."
                )
                return True
    return False


def _select_accepted_attributes(function, attributes):
    """Return the attributes that a rule accepts."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return attributes
    return {p.name: attributes[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY and p.name in attributes}


def _to_shape_dtype_struct(spec, name):
    """Return a result of the rule as `jax.ShapeDtypeStruct`."""
    if hasattr(spec, "shape") and hasattr(spec, "dtype"):
        return jax.ShapeDtypeStruct(tuple(spec.shape), spec.dtype)
    if isinstance(spec, tuple) and len(spec) == 2 and isinstance(spec[0], (tuple, list)):
        kind = mstype.np_dtype(spec[1]) if isinstance(spec[1], mstype.Type) else jnp.dtype(spec[1])
        return jax.ShapeDtypeStruct(tuple(spec[0]), kind)
    raise TypeError(
        f"For '{name}', 'out' should return what has a shape and a dtype, or (shape, dtype), or a list of these for "
        f"several results, but returned {spec!r}."
    )
