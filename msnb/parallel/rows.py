"""Whether a function computes each row of what it is given by itself, so that devices can compute some rows each.

It is traced with all rows and with a part of them. Both have to be the same graph, in which the axis of the rows is
never summed over, mixed or counted.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal

from msnb.parallel.search.factors import factors_of
from msnb.parallel.search.flat import KEPT, Equation, Flat, Value, flat, flat_body

_HELD = ("scan", *KEPT)  # equations with a graph of which axes hang together through it


def by_rows(fn: Callable[..., Any], given: Any, rows: Any, parts: int) -> bool:
    """Whether ``fn(given, rows)`` gives, for each of so many equal parts of the rows, the rows of its result.

    Args:
        fn (Callable): Gives one array, with its rows along the first axis.
        given (Any): A tree of arrays, the same for all parts.
        rows (jax.ShapeDtypeStruct): What has rows along its first axis.
        parts (int): In how many parts.
    """
    if not rows.shape or rows.shape[0] % parts:
        return False
    few = jax.ShapeDtypeStruct((rows.shape[0] // parts, *rows.shape[1:]), rows.dtype)
    whole = jax.make_jaxpr(fn)(given, rows)
    try:
        part = jax.make_jaxpr(fn)(given, few)
    except (TypeError, ValueError):  # it holds an array of as many rows as there are
        return False
    return _apart(whole) and _alike(flat(whole), flat(part))


def _apart(closed):
    """Whether the first axis of the last input is that of the result, and nothing is added up over it."""
    given, out = [Value(v.aval) for v in closed.jaxpr.invars], Value(closed.jaxpr.outvars[0].aval)
    factors = factors_of(Equation("checkpoint", {"jaxpr": closed}, given, [out]))  # as of any graph that is held
    row = factors.inputs[-1][0]
    others = [label for labels in factors.inputs[:-1] for label in labels]
    summed = [one.factor for one in factors.inside]
    return (
        row is not None
        and list(factors.outputs[0]).count(row) == 1 == factors.inputs[-1].count(row)
        and (factors.outputs[0][0] == row and row not in (*others, *summed))
    )


def _alike(whole: Flat, part: Flat) -> bool:
    """Whether two graphs differ in the sizes of axes alone, and no number or place depends on these."""
    if len(whole.equations) != len(part.equations):
        return False
    for one, other in zip(whole.equations, part.equations, strict=True):
        if one.primitive is not other.primitive or _counts(one, other):
            return False
        for a, b in zip(one.inputs, other.inputs, strict=True):
            if isinstance(a, Value) != isinstance(b, Value):
                return False
            if not isinstance(a, Value) and (np.shape(a) != np.shape(b) or not np.array_equal(_plain(a), _plain(b))):
                return False
        if one.primitive.name in _HELD and not _alike(flat_body(one), flat_body(other)):
            return False
    return True


def _plain(constant):
    value = constant.val if isinstance(constant, Literal) else constant
    if hasattr(value, "dtype") and jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return np.asarray(value)


def _counts(one, other):
    """Whether an equation asks which row it is at."""
    name, params = one.primitive.name, one.params
    if name == "iota":
        shapes = [e.outputs[0].shape for e in (one, other)]
        places = [params["dimension"]]
    elif name == "pad":
        shapes = [e.shapes[0] for e in (one, other)]
        places = [k for k, around in enumerate(params["padding_config"]) if any(around)]
    elif name.startswith(("gather", "scatter")):
        shapes, numbers = [e.shapes[0] for e in (one, other)], params["dimension_numbers"]
        places = numbers.start_index_map if name == "gather" else numbers.scatter_dims_to_operand_dims
    else:
        return False
    return any(shapes[0][k] != shapes[1][k] for k in places)
