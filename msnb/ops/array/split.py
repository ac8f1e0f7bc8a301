"""Operators that split a Tensor along an axis."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Int, IntOrTuple, Ints, Optional, PositiveInt, check
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axis_in, tensor_argument, tensor_only
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor


@operator(aliases=("Unpack",))
def Unstack(input_x, *, axis: Int = 0, num: Optional(Int) = None):
    """Split a Tensor into its slices along an axis, the inverse of Stack.

    Args:
        axis (int): The axis, which is removed. Default: 0.
        num (int): The length of the axis, which is checked. Default: None, no check.

    Inputs:
        - **input_x** (Tensor) - Of at least 1 dimension.

    Outputs:
        A tuple of Tensors, one for each index of the axis.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range, or its length is not `num`.

    Examples:
        >>> print(ops.Unstack()(Tensor([[1, 1], [2, 2]], mindspore.int32))[1])
        [2 2]
    """
    tensor_only("Unstack", "input_x", input_x)
    axis = axis_in("Unstack", axis, input_x.ndim)
    if num is not None and num != input_x.shape[axis]:
        raise ValueError(
            f"For 'Unstack', 'num' should be {input_x.shape[axis]}, the length of the axis, but got {num}."
        )
    if not input_x.shape[axis]:
        return ()
    return tuple(jnp.squeeze(part, axis) for part in jnp.split(input_x, input_x.shape[axis], axis))


@spelling(Unstack, function="unstack")
def unstack(input_x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """Split a Tensor into its slices along an axis.

    Args:
        input_x (Tensor): Of at least 1 dimension.
        axis (int): The axis, which is removed. Default: 0.

    Returns:
        A tuple of Tensors.
    """
    return Unstack.functional(input_x, axis)


@spelling(Unstack, function="unbind", method="unbind")
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Split a Tensor into its slices along an axis.

    Args:
        input (Tensor): Of at least 1 dimension.
        dim (int): The axis, which is removed. Default: 0.

    Returns:
        A tuple of Tensors.
    """
    return Unstack.functional(input, dim)


@operator(casts_inputs=False)
def Split(x, *, axis: Int = 0, output_num: PositiveInt = 1):
    """Split a Tensor into pieces of equal length along an axis.

    Args:
        axis (int): The axis. Default: 0.
        output_num (int): Number of pieces, a divisor of the length. Default: 1.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        A tuple of `output_num` Tensors.

    Raises:
        TypeError: If an argument is not an int.
        ValueError: If `axis` is out of range or its length is not a multiple of `output_num`.

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


def _convert_arguments_of_1_8(args, kwargs):
    """Convert the arguments of `split` in MindSpore 1.8 to 1.10 to keyword arguments of this function.
    `output_num`, the number of pieces, is converted to the length of a piece.
    """
    kwargs = {("tensor" if key == "input_x" else key): value for key, value in kwargs.items()}
    if "output_num" in kwargs:
        number = check(PositiveInt, kwargs.pop("output_num"), "output_num", "split")
        tensor = args[0] if args else kwargs["tensor"]
        length = tensor.shape[axis_in("split", kwargs.get("axis", 0), tensor.ndim)]
        if length % number:
            raise ValueError(f"For 'split', {number} equal pieces cannot be cut from a length of {length}.")
        kwargs["split_size_or_sections"] = length // number
    return kwargs


@spelling(Split, function="split")
@keyword_aliases(_convert_arguments_of_1_8, input_x="tensor", output_num="split_size_or_sections")
def split(
    tensor: Tensor, split_size_or_sections: int | tuple[int, ...] | list[int], axis: int = 0
) -> tuple[Tensor, ...]:
    """Split a Tensor along an axis.

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
        if length == 0:
            return (tensor,)
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


spelling(Split, method="split")(keyword_aliases(split_size="split_size_or_sections", dim="axis")(split))


@spelling(Split, function="chunk")
def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """Split a Tensor into a number of pieces along an axis, the last of which may be shorter.

    Args:
        input (Tensor): Of at least 1 dimension.
        chunks (int): Maximum number of pieces.
        axis (int): The axis. Default: 0.

    Returns:
        A tuple of Tensors.
    """
    chunks = check(PositiveInt, chunks, "chunks", "chunk")
    length = tensor_argument("chunk", "input", input).shape[axis_in("chunk", axis, input.ndim)]
    return split(input, max(-(-length // chunks), 1), axis)


spelling(Split, method="chunk")(keyword_aliases(dim="axis")(chunk))


@operator
def _SplitAt(x, *, places: IntOrTuple, axis: Int):
    """Split a Tensor along an axis.

    Args:
        places (Union[int, tuple[int]]): Number of pieces, or the indices at which a new piece begins. With a number,
            the first pieces may be longer by 1.
        axis (int): The axis.

    Inputs:
        - **x** (Tensor) - Of at least 1 dimension.

    Outputs:
        A tuple of Tensors.
    """
    axis = axis_in("split", axis, x.ndim)
    if isinstance(places, int):
        return tuple(jnp.array_split(x, places, axis))
    before = (slice(None),) * axis
    ends = zip((0, *places), (*places, x.shape[axis]), strict=True)
    return tuple(x[(*before, slice(low, high))] for low, high in ends)


def _check_and_split(function, x, indices_or_sections, axis, evenly):
    x = as_tensor(x, function, "x")
    axis = axis_in(function, check(Int, axis, "axis", function), x.ndim)
    indices = check(IntOrTuple, indices_or_sections, "indices_or_sections", function)
    if isinstance(indices, int):
        if indices < 1:
            raise ValueError(f"For '{function}', there should be at least 1 section, but got {indices}.")
        if evenly and x.shape[axis] % indices:
            raise ValueError(
                f"For '{function}', the length of axis {axis} should be a multiple of {indices}, but the shape is "
                f"{x.shape}; array_split cuts it unevenly."
            )
    pieces = _SplitAt.functional(x, indices, axis)
    return pieces if isinstance(pieces, tuple) else (pieces,)


@spelling(_SplitAt, numpy="split")
def numpy_split(
    x: ArrayLike, indices_or_sections: int | tuple[int, ...] | list[int], axis: int = 0
) -> tuple[Tensor, ...]:
    """Split a Tensor along an axis into pieces of equal length, or at given indices.

    Args:
        x (Union[Tensor, list, tuple]): Of at least 1 dimension.
        indices_or_sections (Union[int, tuple[int], list[int]]): Number of pieces, a divisor of the length; or the
            indices, in order, at which a piece begins: (2, 3) makes x[:2], x[2:3] and x[3:].
        axis (int): The axis. Default: 0.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` does not consist of int, or `axis` is not an int.
        ValueError: If `axis` is out of range, or its length is not a multiple of the number of pieces.

    Examples:
        >>> print(mindspore.numpy.split(mindspore.numpy.arange(5), (2, 3))[2])
        [3 4]
    """
    return _check_and_split("split", x, indices_or_sections, axis, True)


@spelling(_SplitAt, numpy="array_split")
def array_split(
    x: ArrayLike, indices_or_sections: int | tuple[int, ...] | list[int], axis: int = 0
) -> tuple[Tensor, ...]:
    """Split a Tensor along an axis, into a number of pieces or at given indices. The first pieces may be longer by 1.

    Args:
        x (Union[Tensor, list, tuple]): Of at least 1 dimension.
        indices_or_sections (Union[int, tuple[int], list[int]]): Number of pieces; or the indices, in order, at which a
            piece begins.
        axis (int): The axis. Default: 0.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` does not consist of int, or `axis` is not an int.
        ValueError: If `axis` is out of range, or the number of pieces is not positive.
    """
    return _check_and_split("array_split", x, indices_or_sections, axis, False)


@spelling(_SplitAt, numpy="vsplit")
def _numpy_vsplit(x: ArrayLike, indices_or_sections: IntOrTuple) -> tuple[Tensor, ...]:
    """Split a Tensor along the first axis; see `split`.

    Args:
        x (Union[Tensor, list, tuple]): Of at least 2 dimensions.
        indices_or_sections (Union[int, tuple[int], list[int]]): Number of pieces, or the indices at which a new piece
            begins.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` does not consist of int.
        ValueError: If `x` has too few dimensions, or cannot be split into that many pieces.
    """
    x = as_tensor(x, "vsplit", "x")
    if x.ndim < 2:
        raise ValueError(f"For 'vsplit', 'x' should have at least 2 dimensions, but got shape {x.shape}.")
    return numpy_split(x, indices_or_sections, 0)


@spelling(_SplitAt, function="tensor_split", method="tensor_split")
def tensor_split(
    input: Tensor, indices_or_sections: int | tuple[int, ...] | list[int], axis: int = 0
) -> tuple[Tensor, ...]:
    """Split a Tensor along an axis, into a number of pieces or at given indices. The first pieces may be longer by 1.

    Args:
        input (Tensor): Of at least 1 dimension.
        indices_or_sections (Union[int, tuple[int], list[int]]): Number of pieces; or the indices, in order, at which a
            piece begins.
        axis (int): The axis. Default: 0.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` does not consist of int, or `axis` is not an int.
        ValueError: If `axis` is out of range, or the number of pieces is not positive.
    """
    return _check_and_split(
        "tensor_split", tensor_argument("tensor_split", "input", input), indices_or_sections, axis, False
    )


@spelling(_SplitAt, function="vsplit", method="vsplit")
def vsplit(input: Tensor, indices_or_sections: int | tuple[int, ...] | list[int]) -> tuple[Tensor, ...]:
    """Split a Tensor along the first axis; see `tensor_split`.

    Args:
        input (Tensor): Of at least 1 dimension.
        indices_or_sections (Union[int, tuple[int], list[int]]): Number of pieces, or the indices at which a new piece
            begins.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: If `indices_or_sections` does not consist of int.
        ValueError: If `input` is a number, or the number of pieces is not positive.
    """
    return tensor_split(input, indices_or_sections)


@spelling(Split)
def chunk_ext(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """Split a Tensor along a dimension into at most `chunks` pieces of equal length. The last piece may be shorter.

    An empty dimension gives `chunks` empty pieces.

    Args:
        input (Tensor): Any Tensor.
        chunks (int): Maximum number of pieces.
        dim (int): The dimension. Default: 0.

    Returns:
        A tuple of Tensors.

    Raises:
        ValueError: If `dim` is out of range, or `chunks` is not positive.
    """
    pieces = chunk(input, chunks, dim)
    return pieces if input.shape[dim] else pieces * chunks


@operator(generation=2)
def SplitWithSize(input, split_size: Ints, dim: Int = 0):
    """Split a Tensor into pieces of given lengths along a dimension.

    Inputs:
        - **input** (Tensor) - Any Tensor.
        - **split_size** (tuple[int]) - The lengths, which sum to the length of the dimension.
        - **dim** (int) - The dimension. Default: 0.

    Outputs:
        A tuple of Tensors.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If `dim` is out of range, or the sum of the lengths is not the length of the dimension.
    """
    tensor_only("SplitWithSize", "input", input)
    axis = axis_in("SplitWithSize", dim, input.ndim, "dim")
    if sum(split_size) != input.shape[axis] or any(n < 0 for n in split_size):
        raise ValueError(
            f"For 'SplitWithSize', 'split_size' should make up {input.shape[axis]}, the length of dimension {dim}, "
            f"but got {split_size}."
        )
    return tuple(jnp.split(input, np.cumsum(split_size)[:-1], axis))


@operator(generation=2)
def SplitV(input_x, *, size_splits: Ints, split_dim: Int, num_split: PositiveInt):
    """Split a Tensor into pieces of given lengths along an axis.

    Args:
        size_splits (Union[tuple, list]): The lengths. One of them may be -1, which stands for the remaining length.
        split_dim (int): The axis.
        num_split (int): Number of the lengths.

    Inputs:
        - **input_x** (Tensor) - Of at least 1 dimension.

    Outputs:
        A tuple of Tensors.

    Raises:
        ValueError: If `split_dim` is out of range, or the sum of the lengths is not the length of the axis.

    Examples:
        >>> first, rest = ops.SplitV((1, -1), 0, 2)(Tensor([1, 2, 3], mindspore.int32))
        >>> print(rest)
        [2 3]
    """
    axis = axis_in("SplitV", split_dim, input_x.ndim, "split_dim")
    length = input_x.shape[axis]
    left = length - sum(n for n in size_splits if n >= 0)
    sizes = [left if n == -1 else n for n in size_splits]
    if min(sizes, default=-1) < 0 or sum(sizes) != length or len(sizes) != num_split:
        raise ValueError(
            f"For 'SplitV', 'size_splits' should be {num_split} lengths, {length} together, of which one may be -1, "
            f"but got {size_splits}."
        )
    return tuple(jnp.split(input_x, np.cumsum(sizes)[:-1].tolist(), axis))


CASES = [
    case(SplitWithSize, F(2, 5), (2, 3), 1).without("mindspore", "the CPU has no kernel"),
    case(chunk_ext, F(5, 2), 2),
    case(_SplitAt, F(5, 2), places=2, axis=0).without("mindspore", NUMPYS),
    case(_SplitAt, F(2, 5), places=(1, 3), axis=1).without("mindspore", NUMPYS),
    case(Unstack, F(2, 3), axis=1),
    case(Split, F(4, 3), axis=0, output_num=2),
    refused(ValueError, Split, F(2, 3), axis=1, output_num=2),
    refused(ValueError, Split, output_num=0, says="output_num"),
    case(tensor_split, F(5, 2), 2),
    case(tensor_split, F(2, 5), (1, 3), 1),
    case(vsplit, F(4, 2), 2),
    case(SplitV, F(2, 5), size_splits=(2, -1, 1), split_dim=1, num_split=3).without(
        "mindspore", "the CPU has no kernel"
    ),
    refused(ValueError, SplitV, F(2, 5), size_splits=(2, 4), split_dim=1, num_split=2),
]
