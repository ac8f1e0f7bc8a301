"""Functional forms that arrange elements: joining, splitting, turning, rolling, repeating."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Axis, Int, IntOrTuple, Ints, PositiveInt, Tensors, check
from msnb.core.declare import operator
from msnb.core.operator import FUNCTIONAL, REGISTRY
from msnb.ops._check import axis_in, tensor_only
from msnb.ops._host import functional

_concat, _stack = REGISTRY["Concat"].primitive, REGISTRY["Stack"].primitive
_unstack, _split = REGISTRY["Unstack"].primitive, REGISTRY["Split"].primitive
_reshape = FUNCTIONAL["reshape"]


@functional("concat")
def concat(tensors, axis=0):
    """Tensors put one after another along an axis.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): Tensors of one element type whose shapes differ along `axis` only.
        axis (int): The axis. Default: 0.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([[0, 1]], mindspore.float32)
        >>> print(ops.concat((x, x), 1))
        [[0. 1. 0. 1.]]
    """
    return _concat(axis)(tensors)


@functional("cat")
def cat(tensors, axis=0):
    """Tensors put one after another along an axis; the same as `concat`.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): Tensors of one element type whose shapes differ along `axis` only.
        axis (int): The axis. Default: 0.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _concat(axis)(tensors)


@functional("stack")
def stack(tensors, axis=0):
    """Tensors of one shape put side by side along a new axis.

    Args:
        tensors (Union[tuple[Tensor], list[Tensor]]): Tensors of one shape and element type.
        axis (int): Where the new axis goes. Default: 0.

    Returns:
        Tensor with one dimension more.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = Tensor([0, 1], mindspore.float32)
        >>> print(ops.stack((x, x)))
        [[0. 1.]
         [0. 1.]]
    """
    return _stack(axis)(tensors)


functional("pack")(stack)


@functional("unstack")
def unstack(input_x, axis=0):
    """A Tensor taken apart along an axis.

    Args:
        input_x (Tensor): Of at least 1 dimension.
        axis (int): The axis, which the results lack. Default: 0.

    Returns:
        A tuple of Tensors.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _unstack(axis)(input_x)


@functional("unbind")
def unbind(input, dim=0):
    """A Tensor taken apart along an axis.

    Args:
        input (Tensor): Of at least 1 dimension.
        dim (int): The axis, which the results lack. Default: 0.

    Returns:
        A tuple of Tensors.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _unstack(dim)(input)


@functional("split")
def split(tensor, split_size_or_sections, axis=0):
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
            return _split(axis, length // size)(tensor)
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


@functional("chunk")
def chunk(input, chunks, axis=0):
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


@functional("unsqueeze")
def unsqueeze(input, dim):
    """A Tensor with a dimension of length 1 inserted.

    Args:
        input (Tensor): Any Tensor.
        dim (int): Where the new dimension goes.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return FUNCTIONAL["expand_dims"](input, dim)


@functional("permute")
def permute(input, axis):
    """A Tensor with its dimensions in another order.

    Args:
        input (Tensor): Any Tensor.
        axis (tuple[int]): For each dimension of the result, which dimension of `input` it is.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return FUNCTIONAL["transpose"](input, axis)


@functional("swapaxes")
def swapaxes(input, axis0, axis1):
    """A Tensor with two dimensions exchanged.

    Args:
        input (Tensor): Any Tensor.
        axis0 (int): The first dimension.
        axis1 (int): The second dimension.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    a, b = axis_in("swapaxes", axis0, input.ndim, "axis0"), axis_in("swapaxes", axis1, input.ndim, "axis1")
    perm = list(range(input.ndim))
    perm[a], perm[b] = b, a
    return FUNCTIONAL["transpose"](input, tuple(perm))


functional("swapdims")(swapaxes)


@functional("ravel")
def ravel(input):
    """The elements of a Tensor as a vector.

    Args:
        input (Tensor): Any Tensor.

    Returns:
        Tensor of 1 dimension.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _reshape(input, (-1,))


@operator(functional="roll", methods=("roll",))
def Roll(input, shifts: IntOrTuple, dims: Axis = ()):
    """A Tensor whose elements move along dimensions; what leaves at the end comes in at the beginning.

    Args:
        input (Tensor): Any Tensor.
        shifts (Union[int, tuple[int]]): How far.
        dims (Union[None, int, tuple[int]]): Along which dimensions; the flattened Tensor for (). Default: ().

    Returns:
        Tensor of the shape of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.roll(Tensor([1, 2, 3]), 1))
        [3 1 2]
    """
    tensor_only("roll", "input", input)
    return jnp.roll(input, shifts, None if dims == () else dims)


@operator(functional="rot90", methods=("rot90",))
def Rot90(input, k: Int, dims: Ints):
    """A Tensor turned by quarter turns in the plane of two dimensions.

    Args:
        input (Tensor): Of at least 2 dimensions.
        k (int): How many quarter turns.
        dims (tuple[int]): The two dimensions.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("rot90", "input", input)
    return jnp.rot90(input, k, dims)


@operator(functional="repeat_interleave", methods=("repeat_interleave",))
def RepeatInterleave(input, repeats: IntOrTuple, axis: Axis = ()):
    """Each element of a Tensor several times, one after another.

    Args:
        input (Tensor): Any Tensor.
        repeats (Union[int, tuple[int]]): How often, for all elements or for each one along `axis`.
        axis (int): The axis; the flattened Tensor for None. Default: ().

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.repeat_interleave(Tensor([1, 2]), 2))
        [1 1 2 2]
    """
    tensor_only("repeat_interleave", "input", input)
    total = None if isinstance(repeats, int) else sum(repeats)
    return jnp.repeat(
        input,
        repeats if isinstance(repeats, int) else jnp.asarray(repeats),
        None if axis == () else axis_in("repeat_interleave", axis, input.ndim),
        total_repeat_length=total,
    )


@functional("repeat_elements")
def repeat_elements(x, rep, axis=0):
    """Each slice along an axis several times, one after another.

    Args:
        x (Tensor): Numbers.
        rep (int): How often, positive.
        axis (int): The axis. Default: 0.

    Returns:
        Tensor.

    Raises:
        TypeError: If `rep` or `axis` is not an int.
        ValueError: If `rep` is not positive or `axis` is out of range.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.repeat_elements(Tensor([[0, 1], [2, 3]], mindspore.int32), 2, 0))
        [[0 1]
         [0 1]
         [2 3]
         [2 3]]
    """
    rep = check(PositiveInt, rep, "rep", "repeat_elements")
    axis = axis_in("repeat_elements", check(Int, axis, "axis", "repeat_elements"), x.ndim)
    return FUNCTIONAL["repeat_interleave"](x, rep, axis)


@functional("meshgrid")
def meshgrid(*inputs, indexing="xy"):
    """Coordinate grids of vectors.

    Args:
        inputs (Tensor): At least 2 vectors of one element type.
        indexing (str): "xy" if the first vector runs along the columns, "ij" along the rows. Default: "xy".

    Returns:
        A tuple of Tensors.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return REGISTRY["Meshgrid"].primitive(indexing)(inputs)


@operator(functional="diagonal", methods=("diagonal",))
def Diagonal(input, *, offset: Int = 0, dim1: Int = 0, dim2: Int = 1):
    """A diagonal of two dimensions of a Tensor.

    Args:
        input (Tensor): Of at least 2 dimensions.
        offset (int): Which diagonal, counted upwards from the main one. Default: 0.
        dim1 (int): The first dimension. Default: 0.
        dim2 (int): The second dimension. Default: 1.

    Returns:
        Tensor, in which the diagonal is the last dimension.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("diagonal", "input", input)
    if input.ndim < 2:
        raise ValueError(f"For 'diagonal', 'input' should have at least 2 dimensions, but got shape {input.shape}.")
    return jnp.diagonal(input, offset, dim1, dim2)


@operator
def BroadcastTensors(inputs: Tensors):
    """Tensors broadcast against each other.

    Inputs:
        - **inputs** (tuple[Tensor]) - Tensors whose shapes broadcast.

    Outputs:
        A tuple of Tensors of one shape.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return tuple(jnp.broadcast_arrays(*inputs))


@operator(functional="movedim", methods=("movedim", "moveaxis"))
def MoveAxis(x, source: IntOrTuple, destination: IntOrTuple):
    """A Tensor with dimensions moved to other places, the others in their order.

    Inputs:
        - **x** (Tensor) - Any Tensor.
        - **source** (Union[int, tuple[int]]) - Which dimensions.
        - **destination** (Union[int, tuple[int]]) - Where they go.

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("movedim", "x", x)
    return jnp.moveaxis(x, source, destination)


functional("moveaxis")(FUNCTIONAL["movedim"])


@functional("narrow")
def narrow(input, axis, start, length):
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
