"""Check that a function does not mix examples of a batch, so that the batch axis can be sharded.

The function is traced with the full batch and with a shard of it. Both traces must be the same graph, in which the
batch axis is never summed over, mixed with another axis, or used by position.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

from msnb.core.jaxpr.instrument import REMAT_PRIMITIVES
from msnb.parallel.graph.flatten_jaxpr import Equation, FlatGraph, Value, flatten_body, flatten_jaxpr
from msnb.parallel.search.axis_factors import factors_of

_NESTED = ("scan", *REMAT_PRIMITIVES)  # equations whose nested graph is checked


def is_batch_independent(fn: Callable[..., Any], shared: Any, batch: Any, shards: int) -> bool:
    """Return True if ``fn(shared, batch)`` computes each of `shards` equal parts of the batch independently.

    Args:
        fn (Callable): Returns one array with the batch along its first axis.
        shared (Any): A tree of arrays that is the same for all shards.
        batch (jax.ShapeDtypeStruct): The argument with the batch along its first axis.
        shards (int): Number of shards.
    """
    if not batch.shape or batch.shape[0] % shards:
        return False
    shard = jax.ShapeDtypeStruct((batch.shape[0] // shards, *batch.shape[1:]), batch.dtype)
    full_trace = jax.make_jaxpr(fn)(shared, batch)
    try:
        shard_trace = jax.make_jaxpr(fn)(shared, shard)
    except (TypeError, ValueError):  # the function holds an array of the full batch size
        return False
    return _keeps_batch_axis(full_trace) and _graphs_differ_in_sizes_only(
        flatten_jaxpr(full_trace), flatten_jaxpr(shard_trace)
    )


def _keeps_batch_axis(closed):
    """Return True if the first axis of the last input becomes the first axis of the result, and no sum is over this
    axis.
    """
    inputs, out = [Value(v.aval) for v in closed.jaxpr.invars], Value(closed.jaxpr.outvars[0].aval)
    # `checkpoint`, the primitive of recomputed Cells, has a sharding rule that fits any nested graph.
    factors = factors_of(Equation("checkpoint", {"jaxpr": closed}, inputs, [out]))
    batch_factor = factors.inputs[-1][0]
    others = [label for labels in factors.inputs[:-1] for label in labels]
    summed_factors = [one.factor for one in factors.inner_sums]
    return (
        batch_factor is not None
        and list(factors.outputs[0]).count(batch_factor) == 1 == factors.inputs[-1].count(batch_factor)
        and (factors.outputs[0][0] == batch_factor and batch_factor not in (*others, *summed_factors))
    )


def _graphs_differ_in_sizes_only(full_graph: FlatGraph, shard_graph: FlatGraph) -> bool:
    """Return True if two graphs differ only in the sizes of axes, and no constant or index depends on these."""
    if len(full_graph.equations) != len(shard_graph.equations):
        return False
    for one, other in zip(full_graph.equations, shard_graph.equations, strict=True):
        if one.primitive is not other.primitive or _depends_on_index(one, other):
            return False
        for a, b in zip(one.inputs, other.inputs, strict=True):
            if isinstance(a, Value) != isinstance(b, Value):
                return False
            if not isinstance(a, Value) and (
                np.shape(a) != np.shape(b) or not np.array_equal(_to_numpy(a), _to_numpy(b))
            ):
                return False
        if one.primitive.name in _NESTED and not _graphs_differ_in_sizes_only(flatten_body(one), flatten_body(other)):
            return False
    return True


def _to_numpy(constant):
    value = constant.val if isinstance(constant, Literal) else constant
    if hasattr(value, "dtype") and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return np.asarray(value)


def _depends_on_index(one, other):
    """Return True if an equation depends on the index along an axis whose size differs."""
    name, params = one.primitive.name, one.params
    if name == "iota":
        shapes = [e.outputs[0].shape for e in (one, other)]
        axes = [params["dimension"]]
    elif name == "pad":
        shapes = [e.shapes[0] for e in (one, other)]
        axes = [k for k, padding in enumerate(params["padding_config"]) if any(padding)]
    elif name.startswith(("gather", "scatter")):
        shapes, numbers = [e.shapes[0] for e in (one, other)], params["dimension_numbers"]
        axes = numbers.start_index_map if name == "gather" else numbers.scatter_dims_to_operand_dims
    else:
        return False
    return any(shapes[0][k] != shapes[1][k] for k in axes)
