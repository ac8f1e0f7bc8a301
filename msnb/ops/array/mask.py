"""Operators that fill or select elements where a mask is True, and masks from sequence lengths."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import PositiveInt
from msnb.core.operator.cases import F, Flags, Values, case
from msnb.core.operator.declare import operator, spelling
from msnb.core.tensor.tensor import Tensor, box
from msnb.ops._check import BOOL, INDEX, dtype_in, rank, same_dtype, tensor_argument, tensor_only
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._in_place import take_over
from msnb.ops._shapes import shapes
from msnb.ops.array.broadcast import BroadcastTo
from msnb.ops.array.nonzero import concrete_array


@operator(functional="masked_fill", methods=("masked_fill",))
@shapes("input_x mask: ~s, value: ()")
def MaskedFill(input_x, mask, value):
    """Copy a Tensor and fill it with one value where a mask is True.

    Inputs:
        - **input_x** (Tensor) - Numbers or bool.
        - **mask** (Tensor) - Of bool, of a shape that broadcasts with that of `input_x`.
        - **value** (Union[Tensor, Number]) - The value, a scalar.

    Outputs:
        Tensor of the broadcast shape and the element type of `input_x`.

    Raises:
        TypeError: If `mask` is not bool.
        ValueError: If `value` is not a scalar.

    Examples:
        >>> print(ops.masked_fill(Tensor([1., 2.], mindspore.float32), Tensor([True, False]), 0.5))
        [0.5 2. ]
    """
    tensor_only("MaskedFill", "input_x", input_x)
    dtype_in("MaskedFill", "mask", mask, BOOL)
    rank("MaskedFill", "value", value, 0)
    return jnp.where(mask, value.astype(input_x.dtype), input_x)


@spelling(function="masked_select", method="masked_select")
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Select the elements where a mask is True, as a vector. This does not run in a compiled graph, because the length
    of the vector depends on data.

    Args:
        input (Tensor): The elements.
        mask (Tensor): Of bool, of a shape that broadcasts with that of `input`.

    Returns:
        Tensor of 1 dimension.


    Examples:
        >>> print(ops.masked_select(Tensor([1, 2, 3]), Tensor([True, False, True])))
        [1 3]
    """
    tensor_argument("masked_select", "input", input)
    chosen = concrete_array("masked_select", mask)
    shape = np.broadcast_shapes(input.shape, chosen.shape) or (1,)  # a selected scalar is a vector
    if input.shape != shape:
        input = BroadcastTo.functional(input, shape)
    return input[box(jnp.asarray(np.broadcast_to(chosen, shape)))]


@operator
def SequenceMask(lengths, maxlen: PositiveInt):
    """Make masks from sequence lengths: mask[..., j] = j < lengths[...], for j from 0 to `maxlen` - 1.

    Inputs:
        - **lengths** (Tensor) - Integers, of any shape but a scalar.
        - **maxlen** (int) - Length of the mask, positive.

    Outputs:
        Tensor of bool, of shape (*lengths.shape, maxlen).

    Raises:
        TypeError: If `lengths` are not integers.
        ValueError: If `maxlen` is not positive.
    """
    dtype_in("sequence_mask", "lengths", lengths, INDEX)
    return jnp.arange(maxlen) < lengths[..., None]


@spelling(SequenceMask)
def sequence_mask(lengths: Tensor, maxlen: int | None = None) -> Tensor:
    """Make masks from sequence lengths: mask[..., j] = j < lengths[...], for j from 0 to `maxlen` - 1.

    Args:
        lengths (Tensor): Integers, of any shape but a scalar.
        maxlen (int): Length of the mask, positive. Default: None, the largest of `lengths`. A compiled graph requires
            `maxlen`.

    Returns:
        Tensor of bool, of shape (*lengths.shape, maxlen).

    Raises:
        TypeError: If `lengths` are not integers.
        ValueError: If `maxlen` is not positive.

    Examples:
        >>> print(ops.sequence_mask(Tensor([1, 3], mindspore.int32), 3))
        [[ True False False]
         [ True  True  True]]
    """
    if maxlen is None:
        maxlen = int(concrete_array("sequence_mask", lengths).max())
    return SequenceMask.functional(lengths, maxlen)


@spelling(MaskedFill, method="masked_fill_")
def _masked_fill_inplace(self: Tensor, mask: Tensor, value: Tensor | float) -> Tensor:
    """Fill the elements where `mask` is True, in place, and return the Tensor."""
    return take_over("masked_fill_", self, MaskedFill.functional(self, mask, value))


@host_operator()
class MaskedSelect(HostPrimitive):
    """Select the elements of a Tensor where a mask is True, as a vector. This does not run in a compiled graph, because
    the length of the vector depends on data.

    Inputs:
        - **input** (Tensor) - The elements.
        - **mask** (Tensor) - Of bool, of a shape that broadcasts with that of `input`.

    Outputs:
        Tensor of 1 dimension.

    Raises:
        TypeError: If an input is no Tensor.
        ValueError: If the shapes do not broadcast.
    """

    def __call__(self, input, mask):
        return masked_select(input, mask)


@operator(methods=("masked_scatter",), generation=2)
@shapes("input mask: ~s")
def MaskedScatter(input, mask, source):
    """Copy a Tensor and replace its elements where a mask is True by the elements of another, in order.

    Inputs:
        - **input** (Tensor) - Any Tensor.
        - **mask** (Tensor) - Of bool, of a shape that broadcasts with that of `input`.
        - **source** (Tensor) - Of the element type of `input`, with at least one element for each True of the mask.

    Outputs:
        Tensor of the broadcast shape.

    Raises:
        TypeError: If `mask` is not bool, or the element types differ.
        ValueError: If the shapes do not broadcast.
    """
    tensor_only("MaskedScatter", "input", input)
    dtype_in("MaskedScatter", "mask", mask, BOOL)
    same_dtype("MaskedScatter", input=input, source=source)
    input, mask = jnp.broadcast_arrays(input, mask)
    if mask.size and not source.size:
        raise ValueError(f"For 'MaskedScatter', 'source' should have elements, but got shape {source.shape}.")
    number = jnp.clip(jnp.cumsum(mask.reshape(-1)) - 1, 0, source.size - 1).reshape(mask.shape)
    return jnp.where(mask, source.reshape(-1)[number], input)


@spelling(MaskedScatter, method="masked_scatter_")
def _masked_scatter_inplace(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Write the elements of `source`, in order, where `mask` is True, in place; return the Tensor."""
    return take_over("masked_scatter_", self, MaskedScatter.functional(self, mask, source))


CASES = [
    case(MaskedFill, F(2, 3), Flags(3), F()),
    case(SequenceMask, Values([1, 3]), 4),
    case(MaskedSelect, F(2, 3), Flags(2, 3)).without("graph", "its shape depends on values"),
    case(MaskedScatter, F(2, 3), Flags(2, 3), F(6)).without("gradient", "MindSpore has none for every input"),
    case(MaskedScatter, F(2, 3), Flags(3), F(2, 4)).without("gradient", "MindSpore has none for every input"),
]
