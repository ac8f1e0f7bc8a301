"""Operators that copy a Tensor and set or combine elements at indices."""

import jax
import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Int, OneOf, Optional, PositiveInt, Shape
from msnb.core.operator.cases import F, Values, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling, with_source_of
from msnb.core.operator.value_checks import position
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, BOOL, INDEX, NUMBER, axis_in, dtype_in, same_dtype, tensor_argument
from msnb.ops._in_place import take_over
from msnb.ops._upcast import in_float32
from msnb.ops.array._scatter import DROP, divide_slices, multiply_slices, position_of

_COPY = """{summary}

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

    Examples:
        >>> x = Tensor([1., 2., 4.], mindspore.float32)
        >>> print(ops.{name}()(x, Tensor([[1]], mindspore.int32), Tensor([8.], mindspore.float32)))
        {shown}
    """


def _declare_copying_operator(example, allowed=NUMBER, error=RuntimeError):
    """Return a decorator that declares an operator from a function `update(x, updates, at)`. The function returns a
    changed copy of `x`; `at` is the index tuple of `indices`.
    """

    def declare(update):
        name = update.__name__
        functional = name.replace("TensorScatter", "tensor_scatter_").lower()

        def kernel(input_x, indices, updates):
            dtype_in(name, "input_x", input_x, allowed)
            dtype_in(name, "indices", indices, INDEX)
            same_dtype(name, input_x=input_x, updates=updates)
            return update(input_x, updates, position_of(name, input_x, indices, updates)).astype(input_x.dtype)

        doc = _COPY.format(summary=update.__doc__, name=name, shown=example, error=error.__name__)
        declared = operator(
            functional=functional,
            methods=(functional,),
            checks=[position("indices", "input_x", error)],
            generation=1 if name == "TensorScatterUpdate" else 2,
        )
        return declared(with_source_of(update, kernel, doc))

    return declare


@_declare_copying_operator("[1. 8. 4.]", allowed=ANY, error=ValueError)
def TensorScatterUpdate(x, updates, at):
    """Copy a Tensor and replace slices at indices."""
    return x.at[at].set(updates, **DROP)


@_declare_copying_operator("[ 1. 10.  4.]")
def TensorScatterAdd(x, updates, at):
    """Copy a Tensor and add to slices at indices."""
    return x.at[at].add(updates, **DROP)


@_declare_copying_operator("[ 1. -6.  4.]")
def TensorScatterSub(x, updates, at):
    """Copy a Tensor and subtract from slices at indices."""
    return x.at[at].add(-updates, **DROP)


@_declare_copying_operator("[ 1. 16.  4.]")
def TensorScatterMul(x, updates, at):
    """Copy a Tensor and multiply slices at indices."""
    return in_float32(multiply_slices)(x, updates, at)


@_declare_copying_operator("[1.   0.25 4.  ]")
def TensorScatterDiv(x, updates, at):
    """Copy a Tensor and divide slices at indices."""
    return divide_slices(x, updates, at)


@_declare_copying_operator("[1. 8. 4.]")
def TensorScatterMax(x, updates, at):
    """Copy a Tensor and replace slices at indices by max(slice, update)."""
    return x.at[at].max(updates, **DROP)


@_declare_copying_operator("[1. 2. 4.]")
def TensorScatterMin(x, updates, at):
    """Copy a Tensor and replace slices at indices by min(slice, update)."""
    return x.at[at].min(updates, **DROP)


@operator(functional="scatter_nd", checks=[position("indices", of="shape")])
def ScatterNd(indices, updates, shape: Shape):
    """Make a Tensor of zeros and add slices at given indices.

    Inputs:
        - **indices** (Tensor) - int16, int32 or int64, each row along the last dimension is a position.
        - **updates** (Tensor) - Of shape indices.shape[:-1] + shape[indices.shape[-1]:].
        - **shape** (tuple[int]) - Shape of the result.

    Outputs:
        Tensor of shape `shape` and the element type of `updates`.

    Raises:
        TypeError: If `indices` are not integers or `shape` does not consist of int.
        ValueError: If an entry of `shape` is not positive or the shapes do not fit.
        RuntimeError: If a position is out of range. Compiled graphs check this only with ``check_indices``.

    Examples:
        >>> indices = Tensor([[0, 1], [1, 1]], mindspore.int32)
        >>> print(ops.ScatterNd()(indices, Tensor([3.2, 1.1], mindspore.float32), (3, 3)))
        [[0.  3.2 0. ]
         [0.  1.1 0. ]
         [0.  0.  0. ]]
    """
    dtype_in("ScatterNd", "indices", indices, INDEX | {np.dtype(np.int16)})
    dtype_in("ScatterNd", "updates", updates, NUMBER, api2=BOOL)
    if any(n < 1 for n in shape):
        raise ValueError(f"For 'ScatterNd', 'shape' should be positive, but got {shape}.")
    zeros = jnp.zeros(shape, updates.dtype)
    return _add_at(zeros, updates, position_of("ScatterNd", zeros, indices, updates))


def _add_at(x, updates, at):
    """Return `x` with `updates` added at indices. For bool, addition is logical or."""
    return x.at[at].max(updates, **DROP) if x.dtype == bool else x.at[at].add(updates, **DROP)


_COMBINED = {
    "none": lambda x, updates, at: x.at[at].set(updates, **DROP),
    "add": _add_at,
    "mul": in_float32(multiply_slices),
    "max": lambda x, updates, at: x.at[at].max(updates, **DROP),
    "min": lambda x, updates, at: x.at[at].min(updates, **DROP),
}


@operator(functional="tensor_scatter_elements")
def TensorScatterElements(
    input_x, indices, updates, *, axis: Int = 0, reduction: OneOf("none", "add", "mul", "max", "min") = "none"
):
    """Copy a Tensor and set elements along an axis: result[indices[i, j], j] = updates[i, j] for `axis` 0.

    Args:
        axis (int): The axis that `indices` refer to. Default: 0.
        reduction (str): "none" sets elements; "add", "mul", "max" and "min" combine them. Default: "none".

    Inputs:
        - **input_x** (Tensor) - Of at least 1 dimension.
        - **indices** (Tensor) - int32 or int64, of as many dimensions as `input_x`. Negative indices count from the
          end. Updates at indices out of range are dropped, as in MindSpore.
        - **updates** (Tensor) - Of the shape of `indices` and the element type of `input_x`.

    Outputs:
        Tensor of the shape and element type of `input_x`.

    Raises:
        TypeError: If `indices` are not integers or the element types differ.
        ValueError: If the shapes do not fit or `axis` is out of range.

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
    position = tuple(
        indices if d == axis else jax.lax.broadcasted_iota(indices.dtype, indices.shape, d) for d in range(input_x.ndim)
    )
    return _COMBINED[reduction](input_x, updates, position).astype(input_x.dtype)


@operator(generation=2)
def ScatterAddWithAxis(input_x, indices, updates, *, axis: Int = 0):
    """Copy a Tensor and add along an axis: result[indices[i, j], j] += updates[i, j] for `axis` 0.

    Args:
        axis (int): The axis that `indices` refer to. Default: 0.

    Inputs:
        - **input_x** (Tensor) - Of at least 1 dimension.
        - **indices** (Tensor) - int32 or int64, of as many dimensions as `input_x`.
        - **updates** (Tensor) - Of the shape of `indices` and the element type of `input_x`.

    Outputs:
        Tensor of the shape and element type of `input_x`.

    Raises:
        TypeError: If `indices` are not integers or the element types differ.
        ValueError: If the shapes do not fit or `axis` is out of range.
    """
    return TensorScatterElements.kernel(input_x, indices, updates, axis=axis, reduction="add")


def _crop_to_index_shape(index, src):
    """Crop `src` to the shape of `index`: keep the first elements along each axis."""
    if not isinstance(src, Tensor) or not isinstance(index, Tensor) or src.ndim != index.ndim:
        return src
    longer = src.shape != index.shape and all(n >= m for n, m in zip(src.shape, index.shape, strict=True))
    return src[tuple([slice(m) for m in index.shape])] if longer else src


@spelling(TensorScatterElements, method="scatter")
@keyword_aliases(dim="axis")
def _tensor_scatter(self: Tensor, axis: int, index: Tensor, src: Tensor | float) -> Tensor:
    """Return a copy with result[index[i, j], j] = src[i, j] for `axis` 0."""
    return TensorScatterElements.functional(self, index, _crop_to_index_shape(index, src), axis)


@spelling(TensorScatterElements, TensorScatterAdd, method="scatter_add")
@keyword_aliases(indices="dim", updates="index")
def _tensor_scatter_add(self: Tensor, dim: int | Tensor, index: Tensor, src: Tensor | float | None = None) -> Tensor:
    """Return a copy with result[index[i, j], j] += src[i, j] for `dim` 0.

    A call with two Tensors, scatter_add(indices, updates), adds to slices instead.
    """
    if src is None and isinstance(dim, Tensor):
        return TensorScatterAdd.functional(self, dim, index)
    return TensorScatterElements.functional(self, index, _crop_to_index_shape(index, src), dim, "add")


@spelling(TensorScatterElements, method="scatter_add_")
def _scatter_add_inplace(self: Tensor, dim: int, index: Tensor, src: Tensor | float) -> Tensor:
    """Increase the elements at `index` along an axis, in place, and return the Tensor."""
    return take_over(
        "scatter_add_",
        self,
        TensorScatterElements.functional(self, index, _crop_to_index_shape(index, src), dim, "add"),
    )


@spelling(TensorScatterElements, method="scatter_")
def _scatter_inplace(
    self: Tensor, dim: int, index: Tensor, src: Tensor | float, *, reduce: str | None = None
) -> Tensor:
    """Set elements along an axis in place, or combine them with `reduce` "add" or "multiply"; return the Tensor."""
    reduction = {None: "none", "add": "add", "multiply": "mul"}.get(reduce)
    if reduction is None:
        raise ValueError(f"For 'scatter_', 'reduce' should be None, 'add' or 'multiply', but got {reduce!r}.")
    return take_over(
        "scatter_",
        self,
        TensorScatterElements.functional(self, index, _crop_to_index_shape(index, src), dim, reduction),
    )


@spelling(TensorScatterElements)
def scatter(input: Tensor, axis: int, index: Tensor, src: Tensor | float) -> Tensor:
    """Copy a Tensor and set elements along an axis: result[index[i, j], j] = src[i, j] for `axis` 0.

    Args:
        input (Tensor): Of at least 1 dimension.
        axis (int): The axis that `index` refers to.
        index (Tensor): int32 or int64, of as many dimensions as `input`.
        src (Union[Tensor, float]): New values, at least as long as `index` in each dimension.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `index` does not consist of integers or the element types differ.
        ValueError: If the shapes do not fit or `axis` is out of range.
    """
    return TensorScatterElements.functional(input, index, _crop_to_index_shape(index, src), axis)


def _make_tensor_method(cls):
    def method(self, indices, updates):
        return cls.functional(self, indices, updates)

    method.__doc__ = f"As `ops.{cls.functional.__name__}`."
    return method


for _cls in (TensorScatterSub, TensorScatterMul, TensorScatterDiv, TensorScatterMax, TensorScatterMin):
    spelling(_cls, method=_cls.__name__.replace("TensorScatter", "scatter_").lower())(_make_tensor_method(_cls))


@operator
def _PutSlice(x, src, *, axis: Int, start: Optional(Int) = None, end: Optional(Int) = None, step: PositiveInt = 1):
    """Copy a Tensor and replace a slice along an axis.

    Args:
        axis (int): The axis.
        start (int): Start of the slice. Default: None, 0.
        end (int): End of the slice, exclusive. Default: None, the length of the axis.
        step (int): Step of the slice. Default: 1.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.
        - **src** (Tensor) - Of the shape of the slice.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        ValueError: If `axis` is out of range, or `src` does not have the shape of the slice.
    """
    at = x.at[(slice(None),) * axis_in("slice_scatter", axis, x.ndim) + (slice(start, end, step),)]
    expected = jax.eval_shape(at.get).shape
    if src.shape != expected:
        raise ValueError(f"For 'slice_scatter', 'src' should have shape {expected}, but got {src.shape}.")
    return at.set(src.astype(x.dtype))


@spelling(_PutSlice, function="slice_scatter", method="slice_scatter")
def slice_scatter(
    input: Tensor, src: Tensor, axis: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """Copy a Tensor and replace a slice along an axis.

    Args:
        input (Tensor): Of at least 1 dimension.
        src (Tensor): Of the shape of the slice.
        axis (int): The axis. Default: 0.
        start (int): Start of the slice. Default: None, 0.
        end (int): End of the slice, exclusive. Default: None, the length of the axis.
        step (int): Step of the slice. Default: 1.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `axis`, `start`, `end` or `step` is not an int.
        ValueError: If `axis` is out of range, or `src` does not have the shape of the slice.
    """
    return _PutSlice.functional(input, src, axis, start, end, step)


@spelling(_PutSlice, function="select_scatter", method="select_scatter")
def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    """Copy a Tensor and replace the slice at one index of an axis.

    Args:
        input (Tensor): Of at least 1 dimension.
        src (Tensor): Of a shape that broadcasts to the shape of `input` without the axis.
        axis (int): The axis.
        index (int): The index along the axis; a negative one counts from the end.

    Returns:
        Tensor of the shape and element type of `input`.

    Raises:
        TypeError: If `axis` or `index` is not an int.
        ValueError: If one of them is out of range, or `src` does not broadcast.
    """
    tensor_argument("select_scatter", "src", src)
    axis = axis_in("select_scatter", axis, tensor_argument("select_scatter", "input", input).ndim)
    index = axis_in("select_scatter", index, input.shape[axis], "index")
    expected = input.shape[:axis] + input.shape[axis + 1 :]
    src = (src if src.shape == expected else src.broadcast_to(expected)).expand_dims(axis)
    return _PutSlice.functional(input, src, axis, index, index + 1)


CASES = [
    case(TensorScatterUpdate, F(3, 3), Values([[0, 1], [2, 2]]), F(2)),
    case(TensorScatterAdd, F(3, 3), Values([[0, 1], [0, 1]]), F(2)),
    case(TensorScatterSub, F(3, 3), Values([[0, 1], [0, 1]]), F(2)),
    case(TensorScatterMul, F(3, 3), Values([[0, 1], [2, 2]]), F(2)),
    case(TensorScatterDiv, F(3, 3), Values([[0, 1], [2, 2]]), F(2, low=0.5)),
    case(TensorScatterMax, F(3, 3), Values([[0, 1], [0, 1]]), F(2)),
    case(TensorScatterMin, F(3, 3), Values([[0, 1], [2, 2]]), F(2)),
    case(ScatterNd, Values([[0], [2], [0]]), F(3, 2), (4, 2)),
    case(TensorScatterElements, F(3, 2), Values([[2, 0], [1, 1]]), F(2, 2), reduction="add"),
    refused(ValueError, ScatterNd, Values([[0]]), F(2, 3), (2, 2)),
    case(scatter, F(3, 2), 1, Values([[1], [0], [1]]), F(3, 1)),
    case(slice_scatter, F(3, 4), F(3, 2), 1, 0, 4, 2),
    case(select_scatter, F(3, 4), F(4), 0, -1),
    refused(ValueError, slice_scatter, F(3, 4), F(3, 3), 1, 0, 2),
    case(ScatterAddWithAxis, F(3, 3), Values([[1, 0, 2], [1, 2, 0]]), F(2, 3)).without("gradient", "2.7.1 has none"),
    case(ScatterAddWithAxis, F(2, 4), Values([[1, 1], [3, 0]]), F(2, 2), axis=1).without("gradient", "2.7.1 has none"),
]
