"""A Tensor taken apart along an axis."""

import jax
import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import (
    Int,
    IntOrTuple,
    Ints,
    NonNegInt,
    PositiveInt,
    Shape,
    check,
)
from msnb.core.cases import F, case, refused
from msnb.core.declare import operator, spelling
from msnb.core.tensor import Tensor
from msnb.ops._check import (
    axis_in,
    tensor_only,
)
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor


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


@spelling(Unstack, function="unstack")
def unstack(input_x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """A Tensor taken apart along an axis.

    Args:
        input_x (Tensor): Of at least 1 dimension.
        axis (int): The axis, which the results lack. Default: 0.

    Returns:
        A tuple of Tensors.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return Unstack.functional(input_x, axis)


@spelling(Unstack, function="unbind", method="unbind")
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """A Tensor taken apart along an axis.

    Args:
        input (Tensor): Of at least 1 dimension.
        dim (int): The axis, which the results lack. Default: 0.

    Returns:
        A tuple of Tensors.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return Unstack.functional(input, dim)


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


@spelling(Split, function="split", method="split")
def split(
    tensor: Tensor, split_size_or_sections: int | tuple[int, ...] | list[int], axis: int = 0
) -> tuple[Tensor, ...]:
    """A Tensor cut into pieces along an axis.

    Args:
        tensor (Tensor): Of at least 1 dimension.
        split_size_or_sections (Union[int, tuple[int], list[int]]): Length of each piece (the last may be shorter), or
            the lengths of all pieces.
        axis (int): The axis. Default: 0.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If the lengths are not int.
        ValueError: If the lengths do not add up, or `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.split(Tensor([1, 2, 3], mindspore.int32), 2)[1])
        [3]
    """
    axis = axis_in("split", axis, tensor.ndim)
    length = tensor.shape[axis]
    if isinstance(split_size_or_sections, int) and not isinstance(split_size_or_sections, bool):
        size = split_size_or_sections
        if size < 1:
            raise ValueError(f"For 'split', the length of a piece should be positive, but got {size}.")
        if length % size == 0:
            return Split.functional(tensor, axis, length // size)
        sections = [size] * (length // size) + [length % size]
    else:
        sections = check(Ints, split_size_or_sections, "split_size_or_sections", "split")
        if sum(sections) != length or min(sections, default=0) < 0:
            raise ValueError(
                f"For 'split', the lengths {sections} should add up to {length}, the length of axis {axis}."
            )
    ends = np.cumsum(sections)
    before = (slice(None),) * axis
    return tuple(tensor[(*before, slice(int(end - n), int(end)))] for n, end in zip(sections, ends, strict=True))


@spelling(Split, function="chunk", method="chunk")
def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """A Tensor cut into a number of pieces along an axis, the last of which may be shorter.

    Args:
        input (Tensor): Of at least 1 dimension.
        chunks (int): How many pieces at most.
        axis (int): The axis. Default: 0.

    Returns:
        A tuple of Tensors.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    chunks = check(PositiveInt, chunks, "chunks", "chunk")
    length = input.shape[axis_in("chunk", axis, input.ndim)]
    return split(input, max(-(-length // chunks), 1), axis)


@operator
def _SplitAt(x, *, places: IntOrTuple, axis: Int):
    """A Tensor cut into pieces along an axis.

    Args:
        places (Union[int, tuple[int]]): How many pieces, of which the first may be longer by 1; or where to cut.
        axis (int): The axis.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        A tuple of Tensors.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    if isinstance(places, int):
        return tuple(jnp.array_split(x, places, axis))
    before = (slice(None),) * axis
    ends = zip((0, *places), (*places, x.shape[axis]), strict=True)
    return tuple(x[(*before, slice(low, high))] for low, high in ends)


def _cut(function, x, indices_or_sections, axis, evenly):
    x = as_tensor(x, function, "x")
    axis = axis_in(function, check(Int, axis, "axis", function), x.ndim)
    places = check(IntOrTuple, indices_or_sections, "indices_or_sections", function)
    if isinstance(places, int):
        if places < 1:
            raise ValueError(f"For '{function}', there should be at least 1 section, but got {places}.")
        if evenly and x.shape[axis] % places:
            raise ValueError(
                f"For '{function}', the length of axis {axis} should be a multiple of {places}, but the shape is "
                f"{x.shape}; array_split cuts it unevenly."
            )
    pieces = _SplitAt.functional(x, places, axis)
    return pieces if isinstance(pieces, tuple) else (pieces,)


@spelling(_SplitAt, numpy="split")
def numpy_split(
    x: ArrayLike, indices_or_sections: int | tuple[int, ...] | list[int], axis: int = 0
) -> tuple[Tensor, ...]:
    """A Tensor cut along an axis into pieces of equal length, or at given places.

    Args:
        x (Union[Tensor, list, tuple]): Of at least 1 dimension.
        indices_or_sections (Union[int, tuple[int], list[int]]): How many pieces, a divisor of the length; or the
            indices, in order, at which a piece begins: (2, 3) makes x[:2], x[2:3] and x[3:].
        axis (int): The axis. Default: 0.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` is not made of int, or `axis` is not an int.
        ValueError: If `axis` is out of range, or its length is not a multiple of the number of pieces.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(mindspore.numpy.split(mindspore.numpy.arange(5), (2, 3))[2])
        [3 4]
    """
    return _cut("split", x, indices_or_sections, axis, True)


@spelling(_SplitAt, numpy="array_split")
def array_split(
    x: ArrayLike, indices_or_sections: int | tuple[int, ...] | list[int], axis: int = 0
) -> tuple[Tensor, ...]:
    """A Tensor cut along an axis into a number of pieces, of which the first may be longer by 1, or at given places.

    Args:
        x (Union[Tensor, list, tuple]): Of at least 1 dimension.
        indices_or_sections (Union[int, tuple[int], list[int]]): How many pieces; or the indices, in order, at which a
            piece begins.
        axis (int): The axis. Default: 0.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` is not made of int, or `axis` is not an int.
        ValueError: If `axis` is out of range, or the number of pieces is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _cut("array_split", x, indices_or_sections, axis, False)


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


@operator
def SliceGrad(dy, x, begin: Shape, size: Shape):
    """Gradient of Slice: the cotangent within zeros of the input's shape."""
    if tuple(dy.shape) != size or len(begin) != x.ndim:
        raise ValueError(
            f"For 'SliceGrad', 'dy' should have shape {size} and 'begin' {x.ndim} entries, but got "
            f"{dy.shape} and {begin}."
        )
    return jnp.pad(dy, [(b, n - b - s) for b, n, s in zip(begin, x.shape, size, strict=True)])


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

    return jax.linear_transpose(cut, jax.ShapeDtypeStruct(shapex, dy.dtype))(dy)[0]


@spelling(Slice, function="narrow", method="narrow")
def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """A stretch of a Tensor along an axis.

    Args:
        input (Tensor): Any Tensor.
        axis (int): The axis.
        start (int): Where the stretch begins.
        length (int): How long it is.

    Returns:
        Tensor.

    Raises:
        ValueError: If the stretch does not lie within the Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    axis = axis_in("narrow", axis, input.ndim)
    if start < 0 or length < 0 or start + length > input.shape[axis]:
        raise ValueError(
            f"For 'narrow', the stretch from {start} of length {length} should lie within axis {axis} of "
            f"shape {input.shape}."
        )
    return input[(slice(None),) * axis + (slice(start, start + length),)]


CASES = [
    case(_SplitAt, F(5, 2), places=2, axis=0).without("mindspore", NUMPYS),
    case(_SplitAt, F(2, 5), places=(1, 3), axis=1).without("mindspore", NUMPYS),
    case(Unstack, F(2, 3), axis=1),
    case(Split, F(4, 3), axis=0, output_num=2),
    case(Slice, F(3, 4), (1, 0), (2, 3)),
    case(SliceGrad, F(2), F(4), (1,), (2,)),
    case(StridedSlice, F(3, 4, 5), (0, 1, 4), (2, 3, 0), (1, 1, -2)).without("gradient", "MindSpore gives zeros"),
    case(
        StridedSlice, F(3, 4, 5), (0, 1, 4), (2, 3, 0), (1, 1, 1), begin_mask=2, end_mask=4, shrink_axis_mask=1
    ).without("gradient", "MindSpore gives zeros"),
    case(StridedSlice, F(3, 4, 5), (1, 0, 1), (2, 0, 3), (1, 1, 1), ellipsis_mask=2),
    case(StridedSlice, F(3, 4), (0, 0, 1), (2, 0, 3), (1, 1, 1), new_axis_mask=2),
    case(StridedSliceGrad, F(2), (4,), (0,), (2,), (1,)),
    refused(ValueError, Split, F(2, 3), axis=1, output_num=2),
    refused(ValueError, Split, output_num=0, says="output_num"),
    refused(ValueError, StridedSlice, F(2, 3), (0, 0), (1, 1), (1, 0)),
]
