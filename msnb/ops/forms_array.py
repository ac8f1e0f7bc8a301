"""Functional forms that arrange elements: joining, splitting, choosing, rolling, sorting."""
import jax.numpy as jnp
import numpy as np

from msnb.core._jax_private import is_tracer
from msnb.core.dtype import promote
from msnb.core.errors import describe
from msnb.core.kinds import Axis, Bool, Int, IntOrTuple, Ints, Kind, PositiveInt, Tensors, Value
from msnb.core.operator import FUNCTIONAL, REGISTRY
from msnb.core.primitive import operator
from msnb.core.tensor import Tensor, box
from msnb.ops._check import BOOL, INDEX, NUMBER, axis_in, dtype_in, rank, tensor_only
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
        sections = Ints(split_size_or_sections, "split_size_or_sections", "split")
        if sum(sections) != length or min(sections, default=0) < 0:
            raise ValueError(f"For 'split', the lengths {sections} should add up to {length}, the length of axis "
                             f"{axis}.")
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
    chunks = PositiveInt(chunks, "chunks", "chunk")
    length = input.shape[axis_in("chunk", axis, input.ndim)]
    return split(input, max(-(-length // chunks), 1), axis)


@operator("Where")
def where_(condition, x, y):
    """Elements of `x` where a condition holds, of `y` elsewhere, with broadcasting.

    Inputs:
        - **condition** (Tensor) - Of bool; numbers count as True unless they are 0.
        - **x** (Union[Tensor, Number]) - Elements.
        - **y** (Union[Tensor, Number]) - Elements.

    Outputs:
        Tensor of the broadcast shape and the common element type.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    x, y = promote(x, y, op="where")
    try:
        return jnp.where(condition != 0 if condition.dtype != bool else condition, x, y)
    except ValueError:
        raise ValueError(f"For 'where', the shapes do not broadcast: {condition.shape}, {x.shape} and "
                         f"{y.shape}.") from None


_where = REGISTRY["Where"].primitive()


@functional("where")
def where(condition, input, other):
    """Elements of `input` where a condition holds, of `other` elsewhere, with broadcasting.

    Args:
        condition (Tensor): Of bool.
        input (Union[Tensor, Number]): Elements.
        other (Union[Tensor, Number]): Elements.

    Returns:
        Tensor of the broadcast shape and the common element type.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.where(Tensor([True, False]), Tensor([1., 2.]), 0.))
        [1. 0.]
    """
    return _where(condition, input, other)


@functional("select")
def select(condition, input, other):
    """Elements of `input` where a condition holds, of `other` elsewhere.

    Args:
        condition (Tensor): Of bool.
        input (Union[Tensor, Number]): Of the shape of `condition`, or a number.
        other (Union[Tensor, Number]): Of the shape of `condition` and the type of `input`, or a number.

    Returns:
        Tensor.

    Raises:
        TypeError: If `condition` is not bool or the element types differ.
        ValueError: If the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return _select(condition, input, other)


_select = REGISTRY["Select"].primitive()


@operator("MaskedFill", functional="masked_fill", methods=("masked_fill",))
def masked_fill(input_x, mask, value):
    """A copy of a Tensor with one value where a mask is True.

    Inputs:
        - **input_x** (Tensor) - Numbers or bool.
        - **mask** (Tensor) - Of bool, of a shape that broadcasts with that of `input_x`.
        - **value** (Union[Tensor, Number]) - The value, a scalar.

    Outputs:
        Tensor of the broadcast shape and the element type of `input_x`.

    Raises:
        TypeError: If `mask` is not bool.
        ValueError: If `value` is not a scalar.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.masked_fill(Tensor([1., 2.], mindspore.float32), Tensor([True, False]), 0.5))
        [0.5 2. ]
    """
    tensor_only("MaskedFill", "input_x", input_x)
    dtype_in("MaskedFill", "mask", mask, BOOL)
    rank("MaskedFill", "value", value, 0)
    return jnp.where(mask, value.astype(input_x.dtype), input_x)


def _known(op, x):
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{op}', the input should be a Tensor, but got {describe(x)}.")
    if is_tracer(x._array):
        raise RuntimeError(f"For '{op}', the shape of the result depends on values, which a compiled graph does not "
                           f"know; use ops.select or ops.where, or call it in PYNATIVE mode.")
    return np.asarray(x._array)


@functional("masked_select")
def masked_select(input, mask):
    """The elements of a Tensor where a mask is True, as a vector. Only in PYNATIVE mode: the length depends on values.

    Args:
        input (Tensor): The elements.
        mask (Tensor): Of bool, of a shape that broadcasts with that of `input`.

    Returns:
        Tensor of 1 dimension.

    Raises:
        RuntimeError: If the mask is being traced.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.masked_select(Tensor([1, 2, 3]), Tensor([True, False, True])))
        [1 3]
    """
    known = _known("masked_select", mask)
    shape = np.broadcast_shapes(input.shape, known.shape)
    if input.shape != shape:
        input = FUNCTIONAL["broadcast_to"](input, shape)
    return input[box(jnp.asarray(np.broadcast_to(known, shape)))]


@functional("nonzero")
def nonzero(input, *, as_tuple=False):
    """Places of the elements that are not 0. Only in PYNATIVE mode: how many there are depends on values.

    Args:
        input (Tensor): Numbers or bool.
        as_tuple (bool): Whether to return a vector for each dimension instead of one matrix. Default: False.

    Returns:
        Tensor of int64, of shape (count, input.ndim), or a tuple of vectors.

    Raises:
        RuntimeError: If the Tensor is being traced.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    places = np.nonzero(_known("nonzero", input))
    if as_tuple:
        return tuple(Tensor(p.astype(np.int64)) for p in places)
    return Tensor(np.stack(places, axis=1).astype(np.int64) if places else np.zeros((0, 0), np.int64))


@functional("bincount")
def bincount(input, weights=None, minlength=0):
    """How often each of the numbers from 0 occurs in a vector. Only in PYNATIVE mode: the length depends on values.

    Args:
        input (Tensor): Integers, not negative, a vector.
        weights (Tensor): What each element counts. Default: None, 1.
        minlength (int): The result has at least this length. Default: 0.

    Returns:
        Tensor.

    Raises:
        RuntimeError: If the Tensor is being traced.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    values = _known("bincount", input)
    counts = np.bincount(values, None if weights is None else _known("bincount", weights), minlength)
    return Tensor(counts.astype(values.dtype if weights is None else np.float32))


@functional("gather_elements")
def gather_elements(input, dim, index):
    """The element at `index` along a dimension, for each place of `index`; the same as `gather_d`.

    Args:
        input (Tensor): Of at least 1 dimension.
        dim (int): The dimension.
        index (Tensor): int32 or int64.

    Returns:
        Tensor of the shape of `index`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return FUNCTIONAL["gather_d"](input, dim, index)


@functional("index_select")
def index_select(input, axis, index):
    """Slices of a Tensor along an axis.

    Args:
        input (Tensor): Of at least 1 dimension.
        axis (int): The axis.
        index (Tensor): Integers, a vector.

    Returns:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return FUNCTIONAL["gather"](input, index, axis)


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


@operator("Roll", functional="roll", methods=("roll",))
def roll(input, shifts: IntOrTuple, dims: Axis = ()):
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


@operator("Rot90", functional="rot90", methods=("rot90",))
def rot90(input, k: Int, dims: Ints):
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


@operator("RepeatInterleave", functional="repeat_interleave", methods=("repeat_interleave",))
def repeat_interleave(input, repeats: IntOrTuple, axis: Axis = ()):
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
    return jnp.repeat(input, repeats if isinstance(repeats, int) else jnp.asarray(repeats),
                      None if axis == () else axis_in("repeat_interleave", axis, input.ndim), total_repeat_length=total)


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
    rep = PositiveInt(rep, "rep", "repeat_elements")
    axis = axis_in("repeat_elements", Int(axis, "axis", "repeat_elements"), x.ndim)
    return FUNCTIONAL["repeat_interleave"](x, rep, axis)


@operator("SequenceMask", functional="sequence_mask")
def sequence_mask(lengths, maxlen: PositiveInt):
    """For each length, that many True and False up to `maxlen`.

    Args:
        lengths (Tensor): Integers, of any shape but a scalar.
        maxlen (int): Length of the mask, positive.

    Returns:
        Tensor of bool, of shape (*lengths.shape, maxlen).

    Raises:
        TypeError: If `lengths` are not integers.
        ValueError: If `maxlen` is not positive.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.sequence_mask(Tensor([1, 3], mindspore.int32), 3))
        [[ True False False]
         [ True  True  True]]
    """
    dtype_in("sequence_mask", "lengths", lengths, INDEX)
    return jnp.arange(maxlen) < lengths[..., None]


@functional("argsort")
def argsort(input, axis=-1, descending=False):
    """Indices that bring a Tensor in order along an axis.

    Args:
        input (Tensor): Numbers.
        axis (int): The axis. Default: -1.
        descending (bool): Whether the largest comes first. Default: False.

    Returns:
        Tensor of int32.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return FUNCTIONAL["sort"](input, axis, descending)[1]


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


@operator("Diagonal", functional="diagonal", methods=("diagonal",))
def diagonal(input, *, offset: Int = 0, dim1: Int = 0, dim2: Int = 1):
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


@operator("SearchSorted", functional="searchsorted", methods=("searchsorted",))
def search_sorted(sorted_sequence, values, *, right: Bool = False):
    """Where values would go in an ordered vector so that it stays in order.

    Args:
        sorted_sequence (Tensor): An ordered vector of numbers.
        values (Tensor): Numbers, of any shape.
        right (bool): Whether values go after equal elements. Default: False.

    Returns:
        Tensor of int64, of the shape of `values`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("searchsorted", "sorted_sequence", sorted_sequence, NUMBER)
    rank("searchsorted", "sorted_sequence", sorted_sequence, 1)
    return jnp.searchsorted(sorted_sequence, values, side="right" if right else "left").astype(jnp.int64)


@operator("IsClose", functional="isclose", methods=("isclose",))
def isclose(input, other, *, rtol: Kind("a number", float) = 1e-05, atol: Kind("a number", float) = 1e-08,
            equal_nan: Bool = False):
    """True where two Tensors are equal up to a tolerance, abs(input - other) <= atol + rtol * abs(other).

    Args:
        input (Tensor): Numbers.
        other (Tensor): Numbers.
        rtol (float): Relative tolerance. Default: 1e-05.
        atol (float): Absolute tolerance. Default: 1e-08.
        equal_nan (bool): Whether two nan are equal. Default: False.

    Returns:
        Tensor of bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    input, other = promote(input, other, op="isclose")
    return jnp.isclose(input, other, rtol, atol, equal_nan)


@operator("BroadcastTensors")
def broadcast_tensors(inputs: Tensors):
    """Tensors broadcast against each other.

    Inputs:
        - **inputs** (tuple[Tensor]) - Tensors whose shapes broadcast.

    Outputs:
        A tuple of Tensors of one shape.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return tuple(jnp.broadcast_arrays(*inputs))


@operator("Take")
def take(input, indices, axis: Axis = ()):
    """Slices of a Tensor along an axis, or elements of the flattened Tensor.

    Inputs:
        - **input** (Tensor) - Any Tensor.
        - **indices** (Tensor) - Integers.
        - **axis** (int) - The axis; the flattened Tensor for (). Default: ().

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("take", "input", input)
    return jnp.take(input, indices, None if axis == () else axis_in("take", axis, input.ndim), mode="clip")



@operator("MoveAxis", functional="movedim", methods=("movedim", "moveaxis"))
def move_axis(x, source: IntOrTuple, destination: IntOrTuple):
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
        raise ValueError(f"For 'narrow', the stretch from {start} of length {length} should lie within axis {axis} of "
                         f"shape {input.shape}.")
    return input[(slice(None),) * axis + (slice(start, start + length),)]


@operator("IndexFill", functional="index_fill", methods=("index_fill",))
def index_fill(x, axis: Int, index, value):
    """A copy of a Tensor with one value in the slices that an index names.

    Inputs:
        - **x** (Tensor) - Any Tensor.
        - **axis** (int) - The axis that `index` counts along.
        - **index** (Tensor) - Integers, a vector.
        - **value** (Union[Tensor, Number]) - The value.

    Outputs:
        Tensor of the shape and element type of `x`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    axis = axis_in("index_fill", axis, x.ndim)
    return x.at[(slice(None),) * axis + (index,)].set(value.astype(x.dtype))


@operator("NanToNum", functional="nan_to_num", methods=("nan_to_num",))
def nan_to_num(input, nan: Value = 0.0, posinf: Value = None, neginf: Value = None):
    """A Tensor with numbers in place of nan and infinities.

    Inputs:
        - **input** (Tensor) - Floating point.
        - **nan** (float) - For nan. Default: 0.0.
        - **posinf** (float) - For infinity. Default: None, the largest number.
        - **neginf** (float) - For minus infinity. Default: None, the smallest number.

    Outputs:
        Tensor of the shape and element type of `input`.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return jnp.nan_to_num(input, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@functional("argwhere")
def argwhere(input):
    """Places of the elements that are not 0; the same as `nonzero`.

    Args:
        input (Tensor): Numbers or bool.

    Returns:
        Tensor of int64, of shape (count, input.ndim).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return nonzero(input)


@functional("allclose")
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements of two Tensors are equal up to a tolerance.

    Args:
        input (Tensor): Numbers.
        other (Tensor): Numbers.
        rtol (float): Relative tolerance. Default: 1e-05.
        atol (float): Absolute tolerance. Default: 1e-08.
        equal_nan (bool): Whether two nan are equal. Default: False.

    Returns:
        bool.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return bool(FUNCTIONAL["all"](FUNCTIONAL["isclose"](input, other, rtol, atol, equal_nan)))
