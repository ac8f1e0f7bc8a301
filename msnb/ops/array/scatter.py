"""Operators that write into a Parameter at indices.

If indices are checked (see `core.checks`), an index out of range raises an error. Otherwise its update is dropped.
"""

import math

import jax.numpy as jnp

from msnb.common.kinds import Int, OneOf
from msnb.core.operator.cases import F, Values, case
from msnb.core.operator.declare import operator, with_source_of
from msnb.core.operator.value_checks import index, position
from msnb.ops._check import ANY, INDEX, NO_RACE, NUMBER, dtype_in
from msnb.ops._upcast import in_float32
from msnb.ops.array._scatter import DROP, cast_updates, divide_slices, multiply_slices, position_of

_DOC = """{summary}

    Indices that name one slice several times all take effect, one after another.

    Args:
        use_locking (bool): No effect: updates here never interleave. Default: {locking}.

    Inputs:
        - **input_x** (Parameter) - Parameter to update.
        - **indices** (Tensor) - int32 or int64{index_form}.
        - **updates** (Tensor) - Of the element type of `input_x` and shape {shape}.

    Outputs:
        Tensor, the new value of the Parameter.

    Raises:
        TypeError: If `use_locking` is not a bool, `indices` are not integers or the element types differ.
        ValueError: If the shapes do not fit.
        {error}: If an index is out of range; in a compiled graph only with ``check_indices``.
    """


def _make_row_index(op, x, indices, updates):
    expected = indices.shape + x.shape[1:]
    if not x.ndim or updates.shape != expected and updates.shape:
        raise ValueError(
            f"For '{op}', 'updates' should have shape {expected}, from indices of shape {indices.shape} and "
            f"a Parameter of shape {x.shape}, but got {updates.shape}."
        )
    return (indices,)


def _declare_inplace_operator(functional=None, *, locking=False, by_position=False, allowed=NUMBER, error=RuntimeError):
    """Return a decorator that declares an in-place operator from a function `update(x, updates, at)`. The function
    returns the new value of the Parameter `x`; `at` is the index tuple of `indices`.
    """
    locate = position_of if by_position else _make_row_index

    def declare(update):
        name = update.__name__

        def kernel(input_x, indices, updates, *, use_locking: OneOf(locking, otherwise=NO_RACE) = locking):
            dtype_in(name, "input_x", input_x, allowed)
            dtype_in(name, "indices", indices, INDEX)
            updates = cast_updates(name, input_x, updates)
            at = locate(name, input_x, indices, updates)
            shape = at[0].shape + input_x.shape[len(at) :]
            return update(input_x, jnp.broadcast_to(updates, shape), at).astype(input_x.dtype)

        doc = _DOC.format(
            summary=update.__doc__,
            locking=locking,
            error=error.__name__,
            index_form=", the last dimension holds positions" if by_position else ", along the first dimension",
            shape="indices.shape[:-1] + input_x.shape[indices.shape[-1]:]"
            if by_position
            else "indices.shape + input_x.shape[1:]",
        )
        check = position("indices", "input_x", error) if by_position else index("indices", "input_x", negative=False)
        declared = operator(functional=functional, writes=("input_x",), checks=[check])
        return declared(with_source_of(update, kernel, doc))

    return declare


@_declare_inplace_operator("scatter_update", locking=True, allowed=ANY)
def ScatterUpdate(x, updates, at):
    """Replace slices of a Parameter, in place."""
    return x.at[at].set(updates, **DROP)


@_declare_inplace_operator("scatter_add")
def ScatterAdd(x, updates, at):
    """Add to slices of a Parameter, in place."""
    return x.at[at].add(updates, **DROP)


@_declare_inplace_operator()
def ScatterSub(x, updates, at):
    """Subtract from slices of a Parameter, in place."""
    return x.at[at].add(-updates, **DROP)


@_declare_inplace_operator("scatter_mul")
def ScatterMul(x, updates, at):
    """Multiply slices of a Parameter, in place."""
    return in_float32(multiply_slices)(x, updates, at)


@_declare_inplace_operator("scatter_div")
def ScatterDiv(x, updates, at):
    """Divide slices of a Parameter, in place."""
    return divide_slices(x, updates, at)


@_declare_inplace_operator("scatter_max", locking=True)
def ScatterMax(x, updates, at):
    """Replace slices of a Parameter by max(slice, update), in place."""
    return x.at[at].max(updates, **DROP)


@_declare_inplace_operator("scatter_min")
def ScatterMin(x, updates, at):
    """Replace slices of a Parameter by min(slice, update), in place."""
    return x.at[at].min(updates, **DROP)


@_declare_inplace_operator("scatter_nd_update", locking=True, by_position=True, allowed=ANY, error=ValueError)
def ScatterNdUpdate(x, updates, at):
    """Replace slices of a Parameter, in place."""
    return x.at[at].set(updates, **DROP)


@_declare_inplace_operator("scatter_nd_add", by_position=True)
def ScatterNdAdd(x, updates, at):
    """Add to slices of a Parameter, in place."""
    return x.at[at].add(updates, **DROP)


@_declare_inplace_operator("scatter_nd_sub", by_position=True)
def ScatterNdSub(x, updates, at):
    """Subtract from slices of a Parameter, in place."""
    return x.at[at].add(-updates, **DROP)


@operator(writes=("input_x",), checks=[position("indices", of="input_x")])
def ScatterNonAliasingAdd(input_x, indices, updates):
    """Add to slices of a Parameter, in place.

    Inputs:
        - **input_x** (Parameter) - Parameter of numbers to update.
        - **indices** (Tensor) - int32 or int64, each row along the last dimension is a position.
        - **updates** (Tensor) - Of shape indices.shape[:-1] + input_x.shape[indices.shape[-1]:].

    Outputs:
        Tensor, the new value of the Parameter.

    Raises:
        TypeError: If `indices` are not integers or the element types differ.
        ValueError: If the shapes do not fit.
        RuntimeError: If a position is out of range. Compiled graphs check this only with ``check_indices``.
    """
    name = "ScatterNonAliasingAdd"
    dtype_in(name, "input_x", input_x, NUMBER)
    dtype_in(name, "indices", indices, INDEX)
    updates = cast_updates(name, input_x, updates)
    return input_x.at[position_of(name, input_x, indices, updates)].add(updates, **DROP)


@operator(writes=("input_x",))
def UpdateCache(input_x, indices, updates, max_num: Int):
    """Replace rows of a Parameter in place; an index outside of [0, max_num) is skipped.

    Inputs:
        - **input_x** (Parameter) - Parameter to update.
        - **indices** (Tensor) - int32 or int64 of any shape: indices of rows along the first dimension of `input_x`.
        - **updates** (Tensor) - One row for each index.
        - **max_num** (int) - Bound of the indices.

    Outputs:
        Tensor of shape (1,) without a meaning.

    Raises:
        TypeError: If `indices` are not integers or the element types differ.
        ValueError: If the shapes do not fit.
    """
    name = "UpdateCache"
    dtype_in(name, "indices", indices, INDEX)
    updates = cast_updates(name, input_x, updates)
    if updates.size != indices.size * math.prod(input_x.shape[1:]):
        raise ValueError(
            f"For '{name}', 'updates' should have one row of shape {input_x.shape[1:]} for each of "
            f"{indices.size} indices, but got shape {updates.shape}."
        )
    indices, updates = indices.reshape(-1), updates.reshape(-1, *input_x.shape[1:])
    rows = jnp.where((indices < 0) | (indices >= max_num), input_x.shape[0], indices)
    return input_x.at[rows].set(updates, **DROP), jnp.zeros(1, jnp.float32)


@_declare_inplace_operator("scatter_nd_mul", by_position=True)
def ScatterNdMul(x, updates, at):
    """Multiply slices of a Parameter, in place."""
    return in_float32(multiply_slices)(x, updates, at)


@_declare_inplace_operator("scatter_nd_div", by_position=True)
def ScatterNdDiv(x, updates, at):
    """Divide slices of a Parameter, in place."""
    return divide_slices(x, updates, at)


@_declare_inplace_operator("scatter_nd_max", by_position=True)
def ScatterNdMax(x, updates, at):
    """Replace slices of a Parameter by max(slice, update), in place."""
    return x.at[at].max(updates, **DROP)


@_declare_inplace_operator("scatter_nd_min", by_position=True)
def ScatterNdMin(x, updates, at):
    """Replace slices of a Parameter by min(slice, update), in place."""
    return x.at[at].min(updates, **DROP)


CASES = [
    *(
        case(scatter, F(3, 2), Values([2, 0]), F(2, 2))
        for scatter in (ScatterUpdate, ScatterAdd, ScatterSub, ScatterMul, ScatterDiv, ScatterMax, ScatterMin)
    ),
    *(
        case(scatter, F(3, 2), Values([[2], [0]]), F(2, 2))
        for scatter in (
            ScatterNdUpdate,
            ScatterNdAdd,
            ScatterNdSub,
            ScatterNonAliasingAdd,
            ScatterNdMul,
            ScatterNdDiv,
            ScatterNdMax,
            ScatterNdMin,
        )
    ),
    case(UpdateCache, F(3, 2), Values([2, -1]), F(2, 2), 3).results(),
]
