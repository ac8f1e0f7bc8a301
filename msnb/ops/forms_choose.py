"""Functional forms that choose elements by condition, index or order, and that look at single values."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import Axis, Bool, Int, PositiveInt
from msnb.core._jax_private import is_tracer
from msnb.core.checks import index as index_check
from msnb.core.declare import operator
from msnb.core.dtype import promote
from msnb.core.errors import describe
from msnb.core.operator import FUNCTIONAL, REGISTRY
from msnb.core.tensor import Tensor, box
from msnb.ops._check import BOOL, INDEX, NUMBER, axis_in, dtype_in, rank, tensor_only, wide
from msnb.ops._host import functional


@operator
def Where(condition, x, y):
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
        raise ValueError(
            f"For 'where', the shapes do not broadcast: {condition.shape}, {x.shape} and {y.shape}."
        ) from None


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


_select = REGISTRY["Select"].primitive()


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


@operator(functional="masked_fill", methods=("masked_fill",))
def MaskedFill(input_x, mask, value):
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
        raise RuntimeError(
            f"For '{op}', the shape of the result depends on values, which a compiled graph does not "
            f"know; use ops.select or ops.where, or call it in PYNATIVE mode."
        )
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


@operator(functional="sequence_mask")
def SequenceMask(lengths, maxlen: PositiveInt):
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


@operator(functional="searchsorted", methods=("searchsorted",))
def SearchSorted(sorted_sequence, values, *, right: Bool = False):
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


@operator
def Take(input, indices, axis: Axis = ()):
    """Slices of a Tensor along an axis, or elements of the flattened Tensor.

    Inputs:
        - **input** (Tensor) - Any Tensor.
        - **indices** (Tensor) - Integers; one out of range takes the first or the last slice.
        - **axis** (int) - The axis; the flattened Tensor for (). Default: ().

    Outputs:
        Tensor.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    tensor_only("take", "input", input)
    return jnp.take(input, wide(indices), None if axis == () else axis_in("take", axis, input.ndim), mode="clip")


@operator(functional="index_fill", methods=("index_fill",), checks=[index_check("index", "x", "axis")])
def IndexFill(x, axis: Int, index, value):
    """A copy of a Tensor with one value in the slices that an index names.

    Inputs:
        - **x** (Tensor) - Any Tensor.
        - **axis** (int) - The axis that `index` counts along.
        - **index** (Tensor) - Integers, a vector; negative ones count from the end.
        - **value** (Union[Tensor, Number]) - The value.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        RuntimeError: If an index is out of range; in a compiled graph only with ``check_indices``.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    axis = axis_in("index_fill", axis, x.ndim)
    return x.at[(slice(None),) * axis + (wide(index),)].set(value.astype(x.dtype))


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
