"""Operators that move blocks of pixels between the spatial dimensions and the channels or the batch."""

import math

import jax.numpy as jnp

from msnb.common.kinds import Kind
from msnb.core.operator.api_generations import called_as
from msnb.core.operator.cases import F, case
from msnb.core.operator.declare import operator
from msnb.ops._check import NUMBER, dtype_in, rank, tensor_only


def _make_minimum_check(low):
    def accept(value):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError
        if value < low:
            raise ValueError
        return value

    return accept


def _check_block_shape(value):
    value = (value, value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if len(value) != 2:
        raise ValueError
    return tuple(_make_minimum_check(1)(v) for v in value)


def _check_borders(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if len(value) != 2 or any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in value):
        raise ValueError
    return tuple(tuple(_make_minimum_check(0)(v) for v in pair) for pair in value)


def _check_nd_block_shape(value):
    if isinstance(value, bool) or not isinstance(value, (int, tuple, list)):
        raise TypeError
    return _make_minimum_check(1)(value) if isinstance(value, int) else tuple(_make_minimum_check(1)(v) for v in value)


def _check_nd_borders(value):
    if not isinstance(value, (tuple, list)):
        raise TypeError
    if not value or any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in value):
        raise ValueError
    return tuple(tuple(_make_minimum_check(0)(v) for v in pair) for pair in value)


BlockSize = Kind("an int of at least 2", _make_minimum_check(2))
BlockShape = Kind("a positive int or two of them", _check_block_shape)
AnyBlockShape = Kind("a positive int or some of them", _check_nd_block_shape)
AnyBorders = Kind("pairs of non-negative ints, one for each entry of 'block_shape'", _check_nd_borders)
Borders = Kind("two pairs of non-negative ints, ((top, bottom), (left, right))", _check_borders)


def _check_divisible(op, lengths, block, what):
    for length, size in zip(lengths, block, strict=True):
        if length % size:
            raise ValueError(f"For '{op}', {what} {tuple(lengths)} should be multiples of the block {tuple(block)}.")


@operator
def SpaceToDepth(x, *, block_size: BlockSize):
    """Move blocks of pixels into the channels.

    Args:
        block_size (int): Height and width of a block, at least 2.

    Inputs:
        - **x** (Tensor) - Images of shape (N, C, H, W), H and W multiples of `block_size`.

    Outputs:
        Tensor of shape (N, C * block_size**2, H / block_size, W / block_size).

    Raises:
        TypeError: If `block_size` is not an int.
        ValueError: If `block_size` is less than 2 or the shape does not fit.

    Examples:
        >>> print(ops.SpaceToDepth(2)(Tensor(np.zeros((1, 3, 2, 2)), mindspore.float32)).shape)
        (1, 12, 1, 1)
    """
    tensor_only("SpaceToDepth", "x", x)
    rank("SpaceToDepth", "x", x, 4)
    n, c, h, w = x.shape
    _check_divisible("SpaceToDepth", (h, w), (block_size, block_size), "height and width")
    blocks = x.reshape(n, c, h // block_size, block_size, w // block_size, block_size)
    return blocks.transpose(0, 3, 5, 1, 2, 4).reshape(n, c * block_size**2, h // block_size, w // block_size)


@operator
def DepthToSpace(x, *, block_size: BlockSize):
    """Move channels into blocks of pixels, the inverse of SpaceToDepth.

    Args:
        block_size (int): Height and width of a block, at least 2.

    Inputs:
        - **x** (Tensor) - Images of shape (N, C, H, W), C a multiple of block_size**2.

    Outputs:
        Tensor of shape (N, C / block_size**2, H * block_size, W * block_size).

    Raises:
        TypeError: If `block_size` is not an int.
        ValueError: If `block_size` is less than 2 or the shape does not fit.

    Examples:
        >>> print(ops.DepthToSpace(2)(Tensor(np.zeros((1, 12, 1, 1)), mindspore.float32)).shape)
        (1, 3, 2, 2)
    """
    tensor_only("DepthToSpace", "x", x)
    rank("DepthToSpace", "x", x, 4)
    n, c, h, w = x.shape
    _check_divisible("DepthToSpace", (c,), (block_size**2,), "the channels")
    blocks = x.reshape(n, block_size, block_size, c // block_size**2, h, w)
    return blocks.transpose(0, 3, 4, 1, 5, 2).reshape(n, c // block_size**2, h * block_size, w * block_size)


def _space_to_batch(op, x, block, paddings):
    dtype_in(op, "x", x, NUMBER)
    rank(op, "x", x, 4)
    x = jnp.pad(x, ((0, 0), (0, 0), *paddings))
    n, c, h, w = x.shape
    _check_divisible(op, (h, w), block, "the padded height and width")
    blocks = x.reshape(n, c, h // block[0], block[0], w // block[1], block[1])
    return blocks.transpose(3, 5, 0, 1, 2, 4).reshape(n * math.prod(block), c, h // block[0], w // block[1])


def _batch_to_space(op, x, block, crops):
    dtype_in(op, "x", x, NUMBER)
    rank(op, "x", x, 4)
    n, c, h, w = x.shape
    count = math.prod(block)
    _check_divisible(op, (n,), (count,), "the batch")
    for length, crop in zip((h * block[0], w * block[1]), crops, strict=True):
        if sum(crop) >= length:
            raise ValueError(f"For '{op}', 'crops' {crops} should leave something of the images of shape {x.shape}.")
    blocks = x.reshape(*block, n // count, c, h, w)
    images = blocks.transpose(2, 3, 4, 0, 5, 1).reshape(n // count, c, h * block[0], w * block[1])
    (top, bottom), (left, right) = crops
    return images[:, :, top : h * block[0] - bottom, left : w * block[1] - right]


@operator
def SpaceToBatch(x, *, block_size: BlockSize, paddings: Borders):
    """Pad images with zeros, and move blocks of pixels into the batch.

    Args:
        block_size (int): Height and width of a block, at least 2.
        paddings (Union[tuple, list]): ((top, bottom), (left, right)), the numbers of rows and columns of zeros.

    Inputs:
        - **x** (Tensor) - Images of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N * block_size**2, C, padded H / block_size, padded W / block_size).

    Raises:
        TypeError: If an argument does not consist of int.
        ValueError: If the padded height and width are not multiples of `block_size`.

    Examples:
        >>> x = Tensor([[[[1, 2], [3, 4]]]], mindspore.float32)
        >>> print(ops.SpaceToBatch(2, [[0, 0], [0, 0]])(x).shape)
        (4, 1, 1, 1)
    """
    return _space_to_batch("SpaceToBatch", x, (block_size, block_size), paddings)


@operator
def BatchToSpace(x, *, block_size: BlockSize, crops: Borders):
    """Move the batch into blocks of pixels, and crop the images: the inverse of SpaceToBatch.

    Args:
        block_size (int): Height and width of a block, at least 2.
        crops (Union[tuple, list]): ((top, bottom), (left, right)), the numbers of rows and columns to crop.

    Inputs:
        - **x** (Tensor) - Images of shape (N, C, H, W), N a multiple of block_size**2.

    Outputs:
        Tensor of shape (N / block_size**2, C, H * block_size - cropped, W * block_size - cropped).

    Raises:
        TypeError: If an argument does not consist of int.
        ValueError: If the batch is not a multiple of block_size**2, or the crops remove everything.

    Examples:
        >>> x = Tensor(np.array([[[[1]]], [[[2]]], [[[3]]], [[[4]]]]), mindspore.float32)
        >>> print(ops.BatchToSpace(2, [[0, 0], [0, 0]])(x))
        [[[[1. 2.]
           [3. 4.]]]]
    """
    return _batch_to_space("BatchToSpace", x, (block_size, block_size), crops)


@operator
def SpaceToBatchND(x, *, block_shape: BlockShape, paddings: Borders):
    """Pad images with zeros, and move blocks of pixels into the batch.

    Args:
        block_shape (Union[int, tuple, list]): Height and width of a block.
        paddings (Union[tuple, list]): ((top, bottom), (left, right)), the numbers of rows and columns of zeros.

    Inputs:
        - **x** (Tensor) - Images of shape (N, C, H, W).

    Outputs:
        Tensor of shape (N * block_shape[0] * block_shape[1], C, padded H / block_shape[0], padded W / block_shape[1]).

    Raises:
        TypeError: If an argument does not consist of int.
        ValueError: If the padded height and width are not multiples of `block_shape`.

    Examples:
        >>> x = Tensor([[[[1, 2], [3, 4]]]], mindspore.float32)
        >>> print(ops.SpaceToBatchND([2, 2], [[0, 0], [0, 0]])(x).shape)
        (4, 1, 1, 1)
    """
    return _space_to_batch("SpaceToBatchND", x, block_shape, paddings)


@operator
def BatchToSpaceND(x, *, block_shape: BlockShape, crops: Borders):
    """Move the batch into blocks of pixels, and crop the images: the inverse of SpaceToBatchND.

    Args:
        block_shape (Union[int, tuple, list]): Height and width of a block.
        crops (Union[tuple, list]): ((top, bottom), (left, right)), the numbers of rows and columns to crop.

    Inputs:
        - **x** (Tensor) - Images of shape (N, C, H, W), N a multiple of block_shape[0] * block_shape[1].

    Outputs:
        Tensor of shape (N / prod(block_shape), C, H * block_shape[0] - cropped, W * block_shape[1] - cropped).

    Raises:
        TypeError: If an argument does not consist of int.
        ValueError: If the batch is not a multiple of the block, or the crops remove everything.

    Examples:
        >>> x = Tensor(np.array([[[[1]]], [[[2]]], [[[3]]], [[[4]]]]), mindspore.float32)
        >>> print(ops.BatchToSpaceND([2, 2], [[0, 0], [0, 0]])(x))
        [[[[1. 2.]
           [3. 4.]]]]
    """
    return _batch_to_space("BatchToSpaceND", x, block_shape, crops)


@operator(generation=2)
def BatchToSpaceNDV2(input_x, block_shape: BlockShape, crops: Borders):
    """Move the batch into blocks of pixels, and crop the images: BatchToSpaceND with inputs instead of attributes.

    Inputs:
        - **input_x** (Tensor) - Images of shape (N, C, H, W), N a multiple of block_shape[0] * block_shape[1].
        - **block_shape** (Union[int, tuple, list]) - Height and width of a block.
        - **crops** (Union[tuple, list]) - ((top, bottom), (left, right)), the numbers of rows and columns to crop.

    Outputs:
        Tensor of shape (N / prod(block_shape), C, H * block_shape[0] - cropped, W * block_shape[1] - cropped).

    Raises:
        TypeError: If an argument does not consist of int.
        ValueError: If the batch is not a multiple of the block, or the crops remove everything.
    """
    return _batch_to_space("BatchToSpaceNDV2", input_x, block_shape, crops)


def _expand_block_shape(op, x, block, borders):
    """Return the block length along each of the last axes of `x`. Check that `borders` has a pair for each of them."""
    dtype_in(op, "x", x, NUMBER)
    block = (block,) * len(borders) if isinstance(block, int) else block
    if len(block) != len(borders) or len(block) >= x.ndim:
        raise ValueError(
            f"For '{op}', 'block_shape' and the pairs should be as many, and fewer than the dimensions of 'x', but got "
            f"{block}, {borders} and shape {x.shape}."
        )
    return block


@operator(functional="space_to_batch_nd", called=("input_x", "block_size"), generation=2)
def _SpaceToBatchND(x, *, block_shape: AnyBlockShape, paddings: AnyBorders):
    """Pad the last dimensions with zeros, and move blocks of them into the batch.

    Args:
        block_shape (Union[int, tuple, list]): Lengths of a block along the last dimensions.
        paddings (Union[tuple, list]): For each of the last dimensions (zeros at the start, zeros at the end).

    Inputs:
        - **x** (Tensor) - Of shape (N, ...), of more dimensions than `block_shape` has entries.

    Outputs:
        Tensor of shape (N * prod(block_shape), ...). The length of each of the last dimensions is the padded length
        divided by its block length.

    Raises:
        TypeError: If an argument does not consist of int.
        ValueError: If a padded dimension is not a multiple of its block.

    Examples:
        >>> x = Tensor([[[[1, 2], [3, 4]]]], mindspore.float32)
        >>> print(ops.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]]).shape)
        (4, 1, 1, 1)
    """
    block, count = _expand_block_shape("SpaceToBatchND", x, block_shape, paddings), len(paddings)
    x = jnp.pad(x, ((0, 0),) * (x.ndim - count) + paddings)
    ahead, behind = x.shape[:-count], x.shape[-count:]
    _check_divisible("SpaceToBatchND", behind, block, "the padded dimensions")
    sizes = [length // size for length, size in zip(behind, block, strict=True)]
    split = x.reshape(*ahead, *(n for pair in zip(sizes, block, strict=True) for n in pair))
    inner = [len(ahead) + 2 * i + 1 for i in range(count)]
    order = [*inner, *range(len(ahead)), *(axis - 1 for axis in inner)]
    return split.transpose(order).reshape(ahead[0] * math.prod(block), *ahead[1:], *sizes)


@operator(functional="batch_to_space_nd", called=("input_x",), generation=2)
def _BatchToSpaceND(x, *, block_shape: AnyBlockShape, crops: AnyBorders):
    """Move the batch into blocks of the last dimensions, and crop the last dimensions.

    Args:
        block_shape (Union[int, tuple, list]): Lengths of a block along the last dimensions.
        crops (Union[tuple, list]): For each of the last dimensions (entries to crop at the start, at the end).

    Inputs:
        - **x** (Tensor) - Of shape (N, ...), N a multiple of prod(block_shape).

    Outputs:
        Tensor of shape (N / prod(block_shape), ...). The length of each of the last dimensions is multiplied by its
        block length, then cropped.

    Raises:
        TypeError: If an argument does not consist of int.
        ValueError: If the batch is not a multiple of the block, or the crops remove everything.

    Examples:
        >>> x = Tensor(np.array([[[[1]]], [[[2]]], [[[3]]], [[[4]]]]), mindspore.float32)
        >>> print(ops.batch_to_space_nd(x, [2, 2], [[0, 0], [0, 0]]))
        [[[[1. 2.]
           [3. 4.]]]]
    """
    block, count = _expand_block_shape("BatchToSpaceND", x, block_shape, crops), len(crops)
    _check_divisible("BatchToSpaceND", x.shape[:1], (math.prod(block),), "the batch")
    rest, behind = (x.shape[0] // math.prod(block), *x.shape[1:-count]), x.shape[-count:]
    lengths = [length * size for length, size in zip(behind, block, strict=True)]
    for length, crop in zip(lengths, crops, strict=True):
        if sum(crop) >= length:
            raise ValueError(f"For 'BatchToSpaceND', 'crops' {crops} should leave something of the shape {x.shape}.")
    split = x.reshape(*block, *rest, *behind)
    pairs = [axis for i in range(count) for axis in (count + len(rest) + i, i)]
    joined = split.transpose([*range(count, count + len(rest)), *pairs]).reshape(*rest, *lengths)
    cut = [slice(first, length - last) for length, (first, last) in zip(lengths, crops, strict=True)]
    return joined[(..., *cut)]


_ANY_BLOCK = "blocks of any number of the last dimensions are taken, of Tensors with any number of dimensions"
called_as(SpaceToBatchND, _SpaceToBatchND.functional, _ANY_BLOCK, _SpaceToBatchND)
called_as(BatchToSpaceND, _BatchToSpaceND.functional, _ANY_BLOCK, _BatchToSpaceND)


CASES = [
    case(BatchToSpaceNDV2, F(4, 1, 2, 2), (2, 2), ((1, 0), (0, 1))).without("mindspore", "the CPU has no kernel"),
    case(SpaceToDepth, F(1, 2, 2, 4), block_size=2),
    case(DepthToSpace, F(1, 8, 1, 2), block_size=2),
    case(SpaceToBatch, F(1, 1, 2, 2), block_size=2, paddings=((0, 0), (0, 0))),
    case(BatchToSpace, F(4, 1, 1, 1), block_size=2, crops=((0, 0), (0, 0))),
    case(_SpaceToBatchND, F(2, 4, 2, 3), block_shape=(2, 3), paddings=((1, 1), (0, 3))),
    case(_SpaceToBatchND, F(1, 2, 2, 2, 4), block_shape=(2, 2), paddings=((0, 0), (0, 0))),
    case(_SpaceToBatchND, F(2, 2, 4), block_shape=(2,), paddings=((0, 0),)),
    case(_BatchToSpaceND, F(4, 1, 2, 2), block_shape=(2, 2), crops=((1, 0), (0, 1))),
    case(_BatchToSpaceND, F(4, 2, 1, 2, 2), block_shape=(2, 2), crops=((1, 0), (0, 1))),
    case(SpaceToBatchND, F(1, 1, 2, 3), block_shape=(2, 2), paddings=((1, 1), (0, 1))),
    case(BatchToSpaceND, F(4, 1, 2, 2), block_shape=(2, 2), crops=((1, 0), (0, 1))),
]
