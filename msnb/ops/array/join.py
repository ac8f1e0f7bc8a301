"""Operators that join Tensors, take them apart, and cut pieces out of them."""

import jax.numpy as jnp

from msnb.common.kinds import Int, Ints, NonNegInt, PositiveInt, Tensors
from msnb.core.declare import operator
from msnb.ops._check import ANY, axis_in, dtype_in, same_dtype, same_shape, tensor_only


def _several(op, xs, least=1):
    if len(xs) < least:
        raise ValueError(f"For '{op}', there should be at least {least} Tensor, but got {len(xs)}.")
    for i, x in enumerate(xs):
        tensor_only(op, f"input_x[{i}]", x)
    same_dtype(op, **{f"input_x[{i}]": x for i, x in enumerate(xs)})


@operator
def Concat(input_x: Tensors, *, axis: Int = 0):
    """Tensors put one after another along an axis.

    Args:
        axis (int): The axis. Default: 0.

    Inputs:
        - **input_x** (Union[tuple[Tensor], list[Tensor]]) - Tensors of one element type and of shapes that differ
          along `axis` only.

    Outputs:
        Tensor whose length along `axis` is the sum of those of the inputs.

    Raises:
        TypeError: If `axis` is not an int or the element types differ.
        ValueError: If `axis` is out of range or the shapes do not fit.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[0, 1], [2, 1]], mindspore.float32)
        >>> print(ops.Concat(1)((x, x)))
        [[0. 1. 0. 1.]
         [2. 1. 2. 1.]]
    """
    _several("Concat", input_x)
    first = input_x[0]
    axis = axis_in("Concat", axis, first.ndim)
    for i, x in enumerate(input_x):
        if x.ndim != first.ndim or any(
            a != b for d, (a, b) in enumerate(zip(x.shape, first.shape, strict=True)) if d != axis
        ):
            raise ValueError(
                f"For 'Concat', the shapes should agree except along axis {axis}, but got {first.shape} "
                f"for input_x[0] and {x.shape} for input_x[{i}]."
            )
    return jnp.concatenate(input_x, axis)


@operator
def ParallelConcat(values: Tensors):
    """Tensors whose first dimension is 1, put one after another along it.

    Inputs:
        - **values** (Union[tuple[Tensor], list[Tensor]]) - Tensors of one shape (1, ...) and element type.

    Outputs:
        Tensor of shape (number of inputs, ...).

    Raises:
        TypeError: If the element types differ.
        ValueError: If the shapes differ or the first dimension is not 1.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[0, 1]], mindspore.int32)
        >>> print(ops.ParallelConcat()((x, x)))
        [[0 1]
         [0 1]]
    """
    _several("ParallelConcat", values)
    same_shape("ParallelConcat", **{f"values[{i}]": x for i, x in enumerate(values)})
    if not values[0].ndim or values[0].shape[0] != 1:
        raise ValueError(
            f"For 'ParallelConcat', the first dimension of the inputs should be 1, but the shape is {values[0].shape}."
        )
    return jnp.concatenate(values)


@operator(aliases=("Pack",))
def Stack(input_x: Tensors, *, axis: Int = 0):
    """Tensors of one shape put side by side along a new axis.

    Args:
        axis (int): Where the new axis goes. Default: 0.

    Inputs:
        - **input_x** (Union[tuple[Tensor], list[Tensor]]) - Tensors of one shape and element type.

    Outputs:
        Tensor with one dimension more than the inputs.

    Raises:
        TypeError: If `axis` is not an int or the element types differ.
        ValueError: If `axis` is out of range or the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Stack()((Tensor([0, 1], mindspore.int32), Tensor([2, 3], mindspore.int32))))
        [[0 1]
         [2 3]]
    """
    _several("Stack", input_x)
    same_shape("Stack", **{f"input_x[{i}]": x for i, x in enumerate(input_x)})
    return jnp.stack(input_x, axis_in("Stack", axis, input_x[0].ndim + 1))


@operator(aliases=("Unpack",))
def Unstack(input_x, *, axis: Int = 0):
    """A Tensor taken apart along an axis, the inverse of Stack.

    Args:
        axis (int): The axis, which the results lack. Default: 0.

    Inputs:
        - **input_x** (Tensor) - Of at least 1 dimension.

    Outputs:
        A tuple of as many Tensors as `axis` is long.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Unstack()(Tensor([[1, 1], [2, 2]], mindspore.int32))[1])
        [2 2]
    """
    tensor_only("Unstack", "input_x", input_x)
    axis = axis_in("Unstack", axis, input_x.ndim)
    return tuple(jnp.squeeze(part, axis) for part in jnp.split(input_x, input_x.shape[axis], axis))


@operator
def Split(x, *, axis: Int = 0, output_num: PositiveInt = 1):
    """A Tensor cut into pieces of equal length along an axis.

    Args:
        axis (int): The axis. Default: 0.
        output_num (int): How many pieces, a divisor of the length. Default: 1.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        A tuple of `output_num` Tensors.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If `axis` is out of range or its length is not a multiple of `output_num`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Split(1, 2)(Tensor([[1, 2, 3, 4]], mindspore.int32))[1])
        [[3 4]]
    """
    tensor_only("Split", "x", x)
    axis = axis_in("Split", axis, x.ndim)
    if x.shape[axis] % output_num:
        raise ValueError(
            f"For 'Split', the length of axis {axis} should be a multiple of 'output_num' {output_num}, "
            f"but the shape is {x.shape}."
        )
    return tuple(jnp.split(x, output_num, axis))


@operator(functional="slice")
def Slice(x, begin: Ints, size: Ints):
    """A block cut out of a Tensor.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.
        - **begin** (Union[tuple, list]) - First index in each dimension.
        - **size** (Union[tuple, list]) - Length in each dimension; -1 goes to the end.

    Outputs:
        Tensor of shape `size`.

    Raises:
        TypeError: If `begin` or `size` is not made of int.
        ValueError: If there is not one entry for each dimension, or the block does not lie within `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.Slice()(Tensor([[1, 2, 3], [4, 5, 6]], mindspore.int32), (1, 0), (1, 2)))
        [[4 5]]
    """
    tensor_only("Slice", "x", x)
    if len(begin) != x.ndim or len(size) != x.ndim:
        raise ValueError(
            f"For 'Slice', 'begin' and 'size' should have {x.ndim} entries, one for each dimension of "
            f"'x', but got {begin} and {size}."
        )
    ends = []
    for low, length, limit in zip(begin, size, x.shape, strict=True):
        high = limit if length == -1 else low + length
        if low < 0 or length == 0 or length < -1 or high > limit:
            raise ValueError(
                f"For 'Slice', the block from {begin} of size {size} should lie within the shape "
                f"{x.shape} and not be empty."
            )
        ends.append(high)
    return x[tuple(slice(low, high) for low, high in zip(begin, ends, strict=True))]


def _bits(mask, length):
    return [bool(mask >> i & 1) for i in range(length)]


@operator(functional="strided_slice")
def StridedSlice(
    x,
    begin: Ints,
    end: Ints,
    strides: Ints,
    *,
    begin_mask: NonNegInt = 0,
    end_mask: NonNegInt = 0,
    ellipsis_mask: NonNegInt = 0,
    new_axis_mask: NonNegInt = 0,
    shrink_axis_mask: NonNegInt = 0,
):
    """A part of a Tensor, given by begin, end and step in each dimension.

    Bit i of a mask says something about entry i: in `begin_mask` and `end_mask` that the entry counts as left out, in
    `ellipsis_mask` that it stands for all dimensions not named, in `new_axis_mask` that it adds a dimension of
    length 1, in `shrink_axis_mask` that it picks the one element at `begin` and drops the dimension.

    Args:
        begin_mask (int): Entries that begin at the start. Default: 0.
        end_mask (int): Entries that go to the end. Default: 0.
        ellipsis_mask (int): The entry that is an ellipsis, at most one bit. Default: 0.
        new_axis_mask (int): Entries that are new dimensions. Default: 0.
        shrink_axis_mask (int): Entries that are single indices. Default: 0.

    Inputs:
        - **x** (Tensor) - Of any shape.
        - **begin** (tuple[int]) - Where each entry begins.
        - **end** (tuple[int]) - Where each entry ends, not included.
        - **strides** (tuple[int]) - Step of each entry, not 0.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If a mask is not an int or an input is not made of int.
        ValueError: If a mask is negative, there is more than one ellipsis, the inputs differ in length, a stride is 0,
            or a single index is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]]], mindspore.float32)
        >>> print(ops.StridedSlice()(x, (1, 0, 2), (2, 2, 3), (1, 1, 1)))
        [[[3.]
          [4.]]]
    """
    op = "StridedSlice"
    tensor_only(op, "x", x)
    count = len(begin)
    if len(end) != count or len(strides) != count:
        raise ValueError(
            f"For '{op}', 'begin', 'end' and 'strides' should have one length, but got {begin}, {end} and {strides}."
        )
    if 0 in strides:
        raise ValueError(f"For '{op}', 'strides' should not contain 0, but got {strides}.")
    ellipsis, new_axis, shrink = (_bits(m, count) for m in (ellipsis_mask, new_axis_mask, shrink_axis_mask))
    begins, ends = _bits(begin_mask, count), _bits(end_mask, count)
    if bin(ellipsis_mask).count("1") > 1:
        raise ValueError(f"For '{op}', 'ellipsis_mask' should have at most one bit set, but got {ellipsis_mask}.")
    named = sum(not (e or n) for e, n in zip(ellipsis, new_axis, strict=True))
    if named > x.ndim:
        raise ValueError(f"For '{op}', there are {named} entries for a Tensor of {x.ndim} dimensions.")
    index, dimension = [], 0
    for i in range(count):
        if ellipsis[i]:
            index.append(Ellipsis)
            dimension = x.ndim - sum(not n for n in new_axis[i + 1 :])
        elif new_axis[i]:
            index.append(None)
        elif shrink[i]:
            if not -x.shape[dimension] <= begin[i] < x.shape[dimension] or strides[i] < 0:
                raise ValueError(
                    f"For '{op}', a single index should be in [{-x.shape[dimension]}, "
                    f"{x.shape[dimension]}) with a positive stride, but got {begin[i]} and {strides[i]}."
                )
            index.append(begin[i])
            dimension += 1
        else:
            index.append(slice(None if begins[i] else begin[i], None if ends[i] else end[i], strides[i]))
            dimension += 1
    return x[tuple(index)]


@operator
def Select(condition, x, y):
    """Elements of `x` where a condition holds, of `y` elsewhere.

    Inputs:
        - **condition** (Tensor) - Of bool.
        - **x** (Union[Tensor, Number]) - Of the shape of `condition`, or a number.
        - **y** (Union[Tensor, Number]) - Of the shape of `condition` and the element type of `x`, or a number.

    Outputs:
        Tensor of the shape of `condition` and the element type of `x`.

    Raises:
        TypeError: If `condition` is not bool or the element types differ.
        ValueError: If the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x, y = Tensor([2, 3], mindspore.float32), Tensor([1, 2], mindspore.float32)
        >>> print(ops.Select()(Tensor([True, False]), x, y))
        [2. 2.]
    """
    if condition.dtype != bool:
        dtype_in("Select", "condition", condition, frozenset({jnp.dtype(bool)}))
    if x.weak_type or y.weak_type:
        kind = (y if x.weak_type else x) if x.weak_type != y.weak_type else None
        dtype = (
            kind.dtype
            if kind is not None
            else (jnp.float32 if jnp.issubdtype(jnp.promote_types(x.dtype, y.dtype), jnp.floating) else jnp.int32)
        )
        x, y = x.astype(dtype), y.astype(dtype)
    else:
        dtype_in("Select", "x", x, ANY)
        same_dtype("Select", x=x, y=y)
    for argument, value in (("x", x), ("y", y)):
        if value.ndim and value.shape != condition.shape or not value.ndim and condition.ndim and value.size != 1:
            raise ValueError(
                f"For 'Select', '{argument}' should have the shape of 'condition', {condition.shape}, "
                f"but got {value.shape}."
            )
    return jnp.where(condition, x, y)
