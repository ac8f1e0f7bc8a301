"""`pallas_operator`: a Pallas kernel and its shape rule as an operator; compiled where it can be, else interpreted."""

import inspect
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from msnb import context, log
from msnb.common import dtype as mstype
from msnb.core.custom.custom_operator import Gradient, made
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
    """Decorator: a Pallas kernel becomes an operator, a class as those of `mindspore.ops` are.

    The kernel gets a reference for each Tensor, then one for each result, and attributes by name. How many results
    there are, and of which shape and type, says the rule `out`.

    Args:
        out (Callable): The rule: of the Tensors, of which it sees `shape` and `dtype` alone, and attributes by name. It
            returns what has a shape and a dtype, ``lambda x: x`` or ``lambda x, y: (x.shape[:1], x.dtype)``; a list
            of these for several results.
        grid (Union[tuple[int], Callable]): How often the kernel runs, in each dimension; or a function of the Tensors
            and attributes that says so. Default: (), once.
        in_specs (Union[Sequence, Callable]): A ``pallas.BlockSpec`` for each Tensor, or a function as for `grid`.
            Default: None, the kernel sees all of it.
        out_specs (Union[BlockSpec, Sequence, Callable]): The same for the results. Default: None.
        scratch_shapes (Sequence): Memory that the kernel works in. Default: ().
        backward (Callable): Its gradient, see `custom_operator`; ``@Name.backward`` does the same. A kernel has no
            other: JAX does not differentiate it. Default: None.
        name (str): Name of the operator. Default: None, that of the function.
        interpret (bool): Whether the kernel is interpreted rather than compiled. Default: None, on CPU, and on a GPU
            where the size of a block is no power of two, which Pallas does not compile there.

    Returns:
        Decorator; of the function it makes the class of the operator.

    Raises:
        TypeError: If `out` is no function.
        ValueError: If MindSpore has an operator of this name.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

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

        def function(*arrays, **given):
            from jax.experimental import pallas  # spares it to all who write no kernels

            seen = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in map(jnp.asarray, arrays)]

            def asked(value: Any) -> Any:
                return value(*seen, **_taken(value, given)) if callable(value) else value

            shapes = asked(out)
            several = isinstance(shapes, list)
            results = [_result(shape, called) for shape in (shapes if several else [shapes])]
            settings: dict[str, Any] = {"in_specs": asked(in_specs), "out_specs": asked(out_specs)}
            settings = {key: value for key, value in settings.items() if value is not None}
            run = pallas.pallas_call(
                lambda *refs: kernel(*refs, **given),
                out_shape=tuple(results) if several else results[0],
                grid=asked(grid),
                scratch_shapes=scratch_shapes,
                interpret=_is_interpreted(called, seen, results, settings) if interpret is None else interpret,
                name=called,
                **settings,
            )
            found = run(*arrays)
            return tuple(found) if several else found

        function.__signature__ = inspect.Signature([*inputs, *attributes])
        function.__module__, function.__doc__, function.__wrapped__ = kernel.__module__, kernel.__doc__, kernel
        why = (
            f"The operator '{called}' is a Pallas kernel, which JAX does not differentiate; write its gradient: "
            f"@{called}.backward above a function of its inputs, the result and its gradient."
        )
        return made(function, called, Gradient(backward, why))

    return declare


def _is_interpreted(name, seen, results, specs):
    """Whether no compiler takes a kernel where programs run now."""
    platform = context.device().platform
    if platform != "gpu":
        return platform == "cpu"
    told = [specs.get("in_specs"), specs.get("out_specs")]
    for arrays, blocks in zip((seen, results), told):
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


def _taken(function, given):
    """The attributes that a rule asks for."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return given
    return {p.name: given[p.name] for p in parameters if p.kind is p.KEYWORD_ONLY and p.name in given}


def _result(told, name):
    """A result as JAX describes it."""
    if hasattr(told, "shape") and hasattr(told, "dtype"):
        return jax.ShapeDtypeStruct(tuple(told.shape), told.dtype)
    if isinstance(told, tuple) and len(told) == 2 and isinstance(told[0], (tuple, list)):
        kind = mstype.np_dtype(told[1]) if isinstance(told[1], mstype.Type) else jnp.dtype(told[1])
        return jax.ShapeDtypeStruct(tuple(told[0]), kind)
    raise TypeError(
        f"For '{name}', 'out' should return what has a shape and a dtype, or (shape, dtype), or a list of these for "
        f"several results, but returned {told!r}."
    )
