"""Operators that write into a Tensor at given indices, in place into a Parameter or into a new Tensor.

An index out of range raises where it is checked (see `core.checks`); elsewhere what it was to write is left out.
"""

import math

import jax
import jax.numpy as jnp

from msnb.common.kinds import Int, OneOf, Shape
from msnb.core.checks import index, position
from msnb.core.declare import operator
from msnb.core.dtype import result_type
from msnb.ops._check import ANY, INDEX, NO_RACE, NUMBER, axis_in, dtype_in, same_dtype
from msnb.ops._half import in_float32

_DROP = {"mode": "drop", "wrap_negative_indices": False}  # a negative index is out of range too


def _times(x, factors, index):
    return x.at[index].multiply(factors, **_DROP)


@jax.custom_vjp
def multiplied(x, factors, index):
    """`x` with the slices at `index` (a tuple of arrays) multiplied by `factors`, one after another.

    JAX differentiates this only for indices that are all different; here they need not be.
    """
    return _times(x, factors, index)


def _multiplied_forward(x, factors, index):
    return multiplied(x, factors, index), (x, factors, index)


def _multiplied_backward(saved, cotangent):
    x, factors, index = saved
    # The product of the other factors of a place: all that are not 0, unless another one is 0.
    zero = factors == 0
    zeros = jnp.zeros(x.shape, jnp.int32).at[index].add(zero.astype(jnp.int32), **_DROP)
    others = multiplied(jnp.ones_like(x), jnp.where(zero, jnp.ones_like(factors), factors), index)

    def at(array):
        return array.at[index].get(mode="fill", fill_value=0, wrap_negative_indices=False)

    share = jnp.where(zero, at(others) * (at(zeros) == 1), at(others) / jnp.where(zero, 1, factors) * (at(zeros) == 0))
    return cotangent * others * (zeros == 0), at(cotangent * x) * share, None


multiplied.defvjp(_multiplied_forward, _multiplied_backward)


@in_float32
def _divided(x, divisors, index):
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return multiplied(x, 1 / divisors, index)
    return x.at[index].divide(divisors, **_DROP)


_UPDATES = {
    "update": ("replaced by", lambda x, v, i: x.at[i].set(v, **_DROP)),
    "add": ("increased by", lambda x, v, i: x.at[i].add(v, **_DROP)),
    "sub": ("decreased by", lambda x, v, i: x.at[i].add(-v, **_DROP)),
    "mul": ("multiplied by", in_float32(multiplied)),
    "div": ("divided by", _divided),
    "max": ("raised to at least", lambda x, v, i: x.at[i].max(v, **_DROP)),
    "min": ("lowered to at most", lambda x, v, i: x.at[i].min(v, **_DROP)),
}

_IN_PLACE = """Slices of a Parameter {verb} others, in place.

    Indices that name one slice several times all take effect, one after another.

    Args:
        use_locking (bool): No effect: updates here never interleave. Default: {locking}.

    Inputs:
        - **input_x** (Parameter) - What is written.
        - **indices** (Tensor) - int32 or int64{index_form}.
        - **updates** (Tensor) - Of the element type of `input_x` and shape {shape}.

    Outputs:
        Parameter, the written one.

    Raises:
        TypeError: If `use_locking` is not a bool, `indices` are not integers or the element types differ.
        ValueError: If the shapes do not fit.
        {error}: If an index is out of range; in a compiled graph only with ``check_indices``.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """


def _position(op, x, indices, updates):
    """Index tuple of a position per last entry of `indices`, after checking shapes."""
    depth = indices.shape[-1] if indices.ndim else 0
    if not indices.ndim or depth > x.ndim:
        raise ValueError(
            f"For '{op}', the last dimension of 'indices' should be at most {x.ndim}, the number of "
            f"dimensions of the Tensor, but the shape is {indices.shape}."
        )
    wanted = indices.shape[:-1] + x.shape[depth:]
    if updates.shape != wanted:
        raise ValueError(
            f"For '{op}', 'updates' should have shape {wanted}, from indices of shape {indices.shape} and "
            f"a Tensor of shape {x.shape}, but got {updates.shape}."
        )
    return tuple(jnp.moveaxis(indices, -1, 0))


def _rows(op, x, indices, updates):
    wanted = indices.shape + x.shape[1:]
    if not x.ndim or updates.shape != wanted and updates.shape:
        raise ValueError(
            f"For '{op}', 'updates' should have shape {wanted}, from indices of shape {indices.shape} and "
            f"a Parameter of shape {x.shape}, but got {updates.shape}."
        )
    return (indices,)


def _in_type_of(op, x, updates):
    """`updates` in the element type of what is written, which is never widened."""
    if result_type(x, updates, op) != x.dtype:
        same_dtype(op, input_x=x, updates=updates)
    return updates.astype(x.dtype)


def _in_place(name, mode, locking, by_position=False, allowed=NUMBER, functional=None, error=RuntimeError):
    """Declare an operator that updates its first input at `indices`."""
    verb, update = _UPDATES[mode]
    place = _position if by_position else _rows

    def kernel(input_x, indices, updates, *, use_locking: OneOf(locking, otherwise=NO_RACE) = locking):
        dtype_in(name, "input_x", input_x, allowed)
        dtype_in(name, "indices", indices, INDEX)
        updates = _in_type_of(name, input_x, updates)
        at = place(name, input_x, indices, updates)
        shape = at[0].shape + input_x.shape[len(at) :]
        return update(input_x, jnp.broadcast_to(updates, shape), at).astype(input_x.dtype)

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = _IN_PLACE.format(
        verb=verb,
        locking=locking,
        error=error.__name__,
        index_form=", the last dimension holds positions" if by_position else ", along the first dimension",
        shape="indices.shape[:-1] + input_x.shape[indices.shape[-1]:]"
        if by_position
        else "indices.shape + input_x.shape[1:]",
    )
    check = position("indices", "input_x", error) if by_position else index("indices", "input_x", negative=False)
    return operator(name, functional=functional, writes=("input_x",), checks=[check])(kernel)


_in_place("ScatterUpdate", "update", True, allowed=ANY, functional="scatter_update")
_in_place("ScatterAdd", "add", False, functional="scatter_add")
_in_place("ScatterSub", "sub", False, functional="scatter_sub")
_in_place("ScatterMul", "mul", False, functional="scatter_mul")
_in_place("ScatterDiv", "div", False, functional="scatter_div")
_in_place("ScatterMax", "max", True, functional="scatter_max")
_in_place("ScatterMin", "min", False, functional="scatter_min")
_in_place(
    "ScatterNdUpdate", "update", True, by_position=True, allowed=ANY, functional="scatter_nd_update", error=ValueError
)
_in_place("ScatterNdAdd", "add", False, by_position=True, functional="scatter_nd_add")
_in_place("ScatterNdSub", "sub", False, by_position=True, functional="scatter_nd_sub")


@operator(writes=("input_x",), checks=[position("indices", of="input_x")])
def ScatterNonAliasingAdd(input_x, indices, updates):
    """Slices of a Parameter increased by others, in place.

    Inputs:
        - **input_x** (Parameter) - What is written, numbers.
        - **indices** (Tensor) - int32 or int64, the last dimension holds positions.
        - **updates** (Tensor) - Of shape indices.shape[:-1] + input_x.shape[indices.shape[-1]:].

    Outputs:
        Parameter, the written one.

    Raises:
        TypeError: If `indices` are not integers or the element types differ.
        ValueError: If the shapes do not fit.
        RuntimeError: If a position is outside; in a compiled graph only with ``check_indices``.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    name = "ScatterNonAliasingAdd"
    dtype_in(name, "input_x", input_x, NUMBER)
    dtype_in(name, "indices", indices, INDEX)
    updates = _in_type_of(name, input_x, updates)
    return input_x.at[_position(name, input_x, indices, updates)].add(updates, **_DROP)


_COPY = """A copy of a Tensor whose slices at given positions are {verb} others.

    Inputs:
        - **input_x** (Tensor) - Of at least 1 dimension.
        - **indices** (Tensor) - int32 or int64, the last dimension holds positions.
        - **updates** (Tensor) - Of the element type of `input_x` and shape
          indices.shape[:-1] + input_x.shape[indices.shape[-1]:].

    Outputs:
        Tensor of the shape and element type of `input_x`.

    Raises:
        TypeError: If `indices` are not integers or the element types differ.
        ValueError: If the shapes do not fit.
        {error}: If a position is outside; in a compiled graph only with ``check_indices``.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([1., 2., 4.], mindspore.float32)
        >>> print(ops.{name}()(x, Tensor([[1]], mindspore.int32), Tensor([8.], mindspore.float32)))
        {shown}
    """


def _into_copy(mode, shown):
    verb, update = _UPDATES[mode]
    name = f"TensorScatter{mode.capitalize()}"
    error = ValueError if mode == "update" else RuntimeError

    def kernel(input_x, indices, updates):
        dtype_in(name, "input_x", input_x, ANY if mode == "update" else NUMBER)
        dtype_in(name, "indices", indices, INDEX)
        same_dtype(name, input_x=input_x, updates=updates)
        return update(input_x, updates, _position(name, input_x, indices, updates)).astype(input_x.dtype)

    kernel.__name__ = kernel.__qualname__ = name
    kernel.__doc__ = _COPY.format(verb=verb, name=name, shown=shown, error=error.__name__)
    return operator(
        name,
        functional=f"tensor_scatter_{mode}",
        methods=(f"tensor_scatter_{mode}",),
        checks=[position("indices", "input_x", error)],
    )(kernel)


_into_copy("update", "[1. 8. 4.]")
_into_copy("add", "[ 1. 10.  4.]")
_into_copy("sub", "[ 1. -6.  4.]")
_into_copy("mul", "[ 1. 16.  4.]")
_into_copy("div", "[1.   0.25 4.  ]")
_into_copy("max", "[1. 8. 4.]")
_into_copy("min", "[1. 2. 4.]")


@operator(functional="scatter_nd", checks=[position("indices", of="shape")])
def ScatterNd(indices, updates, shape: Shape):
    """A Tensor of zeros with slices added at given positions.

    Inputs:
        - **indices** (Tensor) - int32 or int64, the last dimension holds positions.
        - **updates** (Tensor) - Of shape indices.shape[:-1] + shape[indices.shape[-1]:].
        - **shape** (tuple[int]) - Shape of the result.

    Outputs:
        Tensor of shape `shape` and the element type of `updates`.

    Raises:
        TypeError: If `indices` are not integers or `shape` is not made of int.
        ValueError: If an entry of `shape` is not positive or the shapes do not fit.
        RuntimeError: If a position is outside; in a compiled graph only with ``check_indices``.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> indices = Tensor([[0, 1], [1, 1]], mindspore.int32)
        >>> print(ops.ScatterNd()(indices, Tensor([3.2, 1.1], mindspore.float32), (3, 3)))
        [[0.  3.2 0. ]
         [0.  1.1 0. ]
         [0.  0.  0. ]]
    """
    dtype_in("ScatterNd", "indices", indices, INDEX)
    dtype_in("ScatterNd", "updates", updates, NUMBER)
    if any(n < 1 for n in shape):
        raise ValueError(f"For 'ScatterNd', 'shape' should be positive, but got {shape}.")
    zeros = jnp.zeros(shape, updates.dtype)
    return zeros.at[_position("ScatterNd", zeros, indices, updates)].add(updates, **_DROP)


@operator(functional="tensor_scatter_elements")
def TensorScatterElements(
    input_x, indices, updates, *, axis: Int = 0, reduction: OneOf("none", "add", "mul", "max", "min") = "none"
):
    """A copy of a Tensor with the element at `indices` along an axis set, for each place of `indices`.

    Args:
        axis (int): The axis that `indices` count along. Default: 0.
        reduction (str): "none" sets elements; "add", "mul", "max" and "min" combine them. Default: "none".

    Inputs:
        - **input_x** (Tensor) - Of at least 1 dimension.
        - **indices** (Tensor) - int32 or int64, of as many dimensions as `input_x`; negative ones count from the end,
          and what one out of range was to write is left out, as in MindSpore.
        - **updates** (Tensor) - Of the shape of `indices` and the element type of `input_x`.

    Outputs:
        Tensor of the shape and element type of `input_x`.

    Raises:
        TypeError: If `indices` are not integers or the element types differ.
        ValueError: If the shapes do not fit or `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[1., 2., 3.]], mindspore.float32)
        >>> print(ops.tensor_scatter_elements(x, Tensor([[2, 0]]), Tensor([[7., 8.]], mindspore.float32), 1))
        [[8. 2. 7.]]
    """
    name = "TensorScatterElements"
    dtype_in(name, "input_x", input_x, ANY)
    dtype_in(name, "indices", indices, INDEX)
    axis = axis_in(name, axis, input_x.ndim)
    updates = jnp.broadcast_to(updates.astype(input_x.dtype), indices.shape) if updates.weak_type else updates
    same_dtype(name, input_x=input_x, updates=updates)
    if indices.ndim != input_x.ndim or updates.shape != indices.shape:
        raise ValueError(
            f"For '{name}', 'indices' should have {input_x.ndim} dimensions and 'updates' their shape, "
            f"but got {indices.shape} and {updates.shape}."
        )
    indices = jnp.where(indices < 0, indices + input_x.shape[axis], indices)
    places = tuple(
        indices if d == axis else jax.lax.broadcasted_iota(indices.dtype, indices.shape, d) for d in range(input_x.ndim)
    )
    mode = "update" if reduction == "none" else reduction
    return _UPDATES[mode][1](input_x, updates, places).astype(input_x.dtype)


@operator(writes=("input_x",))
def UpdateCache(input_x, indices, updates, max_num: Int):
    """Rows of a Parameter replaced, in place; an index below 0 or from `max_num` on is left out.

    Inputs:
        - **input_x** (Parameter) - What is written.
        - **indices** (Tensor) - int32 or int64, along the first dimension; its shape does not matter.
        - **updates** (Tensor) - One row for each index.
        - **max_num** (int) - Bound of the indices.

    Outputs:
        Tensor of shape (1,), which holds nothing of use.

    Raises:
        TypeError: If `indices` are not integers or the element types differ.
        ValueError: If the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    name = "UpdateCache"
    dtype_in(name, "indices", indices, INDEX)
    updates = _in_type_of(name, input_x, updates)
    if updates.size != indices.size * math.prod(input_x.shape[1:]):
        raise ValueError(
            f"For '{name}', 'updates' should have one row of shape {input_x.shape[1:]} for each of "
            f"{indices.size} indices, but got shape {updates.shape}."
        )
    indices, updates = indices.reshape(-1), updates.reshape(-1, *input_x.shape[1:])
    rows = jnp.where((indices < 0) | (indices >= max_num), input_x.shape[0], indices)
    return input_x.at[rows].set(updates, **_DROP), jnp.zeros(1, jnp.float32)
