"""Slices of a Tensor: a block, a range along an axis, or begin, end and step for each dimension."""

import jax.numpy as jnp

from msnb.common.kinds import Int, Ints, NonNegInt, Shape
from msnb.core.operator import api_generations
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axis_in, tensor_only
from msnb.ops.nn._pullback import apply_transpose


@operator(functional="slice", called=("input_x",), casts_inputs=False)
def Slice(x, begin: Ints, size: Ints):
    """Cut a block out of a Tensor: x[begin : begin + size] in each dimension.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.
        - **begin** (Union[tuple, list]) - First index in each dimension.
        - **size** (Union[tuple, list]) - Length in each dimension; -1 selects all elements up to the end.

    Outputs:
        Tensor of shape `size`.

    Raises:
        TypeError: If `begin` or `size` does not consist of int.
        ValueError: If the number of entries is not the number of dimensions, or the block is not inside `x`.

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
        is_empty = length == 0 and not api_generations.takes_api2()  # only MindSpore 2 allows empty blocks
        if low < 0 or is_empty or length < -1 or high > limit:
            raise ValueError(
                f"For 'Slice', the block from {begin} of size {size} should lie within the shape "
                f"{x.shape}{' and not be empty' if is_empty else ''}."
            )
        ends.append(high)
    return x[tuple(slice(low, high) for low, high in zip(begin, ends, strict=True))]


@operator
def SliceGrad(dy, x, begin: Shape, size: Shape):
    """Gradient of Slice: a Tensor with the input's shape that has the cotangent `dy` in the block and zeros outside."""
    if tuple(dy.shape) != size or len(begin) != x.ndim:
        raise ValueError(
            f"For 'SliceGrad', 'dy' should have shape {size} and 'begin' {x.ndim} entries, but got "
            f"{dy.shape} and {begin}."
        )
    if any(b < 0 or b + s > n for b, n, s in zip(begin, x.shape, size, strict=True)):
        raise ValueError(f"For 'SliceGrad', 'x' of shape {x.shape} has no slice of {size} from {begin} on.")
    return jnp.pad(dy, [(b, n - b - s) for b, n, s in zip(begin, x.shape, size, strict=True)])


@spelling(Slice, function="narrow")
def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """Return the slice input[start : start + length] along an axis.

    Args:
        input (Tensor): Any Tensor.
        axis (int): The axis.
        start (int): Start of the slice.
        length (int): Length of the slice.

    Returns:
        Tensor.

    Raises:
        ValueError: If the range is not inside the Tensor.
    """
    axis = axis_in("narrow", axis, input.ndim)
    if start < 0 or length < 0 or start + length > input.shape[axis]:
        raise ValueError(
            f"For 'narrow', the stretch from {start} of length {length} should lie within axis {axis} of "
            f"shape {input.shape}."
        )
    return input[(slice(None),) * axis + (slice(start, start + length),)]


spelling(Slice, method="narrow")(keyword_aliases(dim="axis")(narrow))


def _unpack_mask_bits(mask, length):
    return [bool(mask >> i & 1) for i in range(length)]


@operator(functional="strided_slice", called=("input_x",))
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
    """Slice a Tensor by begin, end and step for each dimension.

    Bit i of a mask concerns entry i. With `begin_mask` or `end_mask`, the bound of the entry is ignored. With
    `ellipsis_mask`, the entry is an ellipsis for the remaining dimensions. With `new_axis_mask`, it adds a dimension of
    length 1. With `shrink_axis_mask`, it selects the element at `begin` and drops the dimension.

    Args:
        begin_mask (int): Bit mask of the entries whose `begin` is ignored: they start at the first element. Default: 0.
        end_mask (int): Bit mask of the entries whose `end` is ignored: they reach to the last element. Default: 0.
        ellipsis_mask (int): Bit mask of the entry that is an ellipsis, at most one bit. Default: 0.
        new_axis_mask (int): Bit mask of the entries that insert a new dimension. Default: 0.
        shrink_axis_mask (int): Bit mask of the entries that are single indices. Default: 0.

    Inputs:
        - **x** (Tensor) - Of any shape.
        - **begin** (tuple[int]) - Start of each entry.
        - **end** (tuple[int]) - End of each entry, exclusive.
        - **strides** (tuple[int]) - Step of each entry, not 0.

    Outputs:
        Tensor of the element type of `x`.

    Raises:
        TypeError: If a mask is not an int or an input does not consist of int.
        ValueError: If a mask is negative, there is more than one ellipsis, the inputs differ in length, a stride is 0,
            or a single index is out of range.

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
    ellipsis, new_axis, shrink = (_unpack_mask_bits(m, count) for m in (ellipsis_mask, new_axis_mask, shrink_axis_mask))
    begins, ends = _unpack_mask_bits(begin_mask, count), _unpack_mask_bits(end_mask, count)
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
def StridedSliceGrad(
    dy,
    shapex: Shape,
    begin: Shape,
    end: Shape,
    strides: Shape,
    *,
    begin_mask: Int = 0,
    end_mask: Int = 0,
    ellipsis_mask: Int = 0,
    new_axis_mask: Int = 0,
    shrink_axis_mask: Int = 0,
):
    """Gradient of StridedSlice with respect to an input of shape `shapex`."""

    def cut(x):
        return StridedSlice.kernel(
            x,
            begin,
            end,
            strides,
            begin_mask=begin_mask,
            end_mask=end_mask,
            ellipsis_mask=ellipsis_mask,
            new_axis_mask=new_axis_mask,
            shrink_axis_mask=shrink_axis_mask,
        )

    if dy.dtype == bool:
        return apply_transpose(cut, shapex, dy.astype(jnp.int8)).astype(bool)
    return apply_transpose(cut, shapex, dy)


@spelling(Slice, function="tensor_slice")
def tensor_slice(input: Tensor, begin: tuple[int, ...], size: tuple[int, ...]) -> Tensor:
    """Cut a block out of a Tensor; see `slice`."""
    return Slice.functional(input, begin, size)


CASES = [
    case(Slice, F(3, 4), (1, 0), (2, 3)),
    case(SliceGrad, F(2), F(4), (1,), (2,)),
    case(StridedSlice, F(3, 4, 5), (0, 1, 4), (2, 3, 0), (1, 1, -2)).without("gradient", "MindSpore gives zeros"),
    case(
        StridedSlice, F(3, 4, 5), (0, 1, 4), (2, 3, 0), (1, 1, 1), begin_mask=2, end_mask=4, shrink_axis_mask=1
    ).without("gradient", "MindSpore gives zeros"),
    case(StridedSlice, F(3, 4, 5), (1, 0, 1), (2, 0, 3), (1, 1, 1), ellipsis_mask=2),
    case(StridedSlice, F(3, 4), (0, 0, 1), (2, 0, 3), (1, 1, 1), new_axis_mask=2),
    case(StridedSliceGrad, F(2), (4,), (0,), (2,), (1,)),
    refused(ValueError, StridedSlice, F(2, 3), (0, 0), (1, 1), (1, 0)),
]
