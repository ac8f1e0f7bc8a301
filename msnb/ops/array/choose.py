"""Elements chosen by a condition or by whether they are 0."""

import jax.numpy as jnp
import numpy as np

from msnb.common.kinds import NonNegInt, OneOf, PositiveInt, Tensors, check
from msnb.core._jax_private import is_tracer
from msnb.core.by_values import ShapeByValues
from msnb.core.cases import F, Flags, Values, case, refused
from msnb.core.declare import operator, spelling
from msnb.core.dtype import promote
from msnb.core.errors import describe
from msnb.core.tensor import Tensor, box
from msnb.ops._check import ANY, BOOL, INDEX, INT, dtype_in, rank, same_dtype, same_shape, tensor_only
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor, common_type
from msnb.ops.array.broadcast import BroadcastTo


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


@spelling(Select)
def select(condition: Tensor, input: Tensor, other: Tensor | float) -> Tensor:
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
    return Select.functional(condition, input, other)


@operator
def _Where(condition, x, y):
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


@spelling(_Where)
def where(condition: Tensor, input: Tensor, other: Tensor | float) -> Tensor:
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
    return _Where.functional(condition, input, other)


@spelling(_Where, method="where")
def _where_of(self: Tensor, condition: Tensor, y: Tensor | float) -> Tensor:
    """Elements of the Tensor where a condition holds, of `y` elsewhere."""
    return _Where.functional(condition, self, y)


@spelling(_Where, method="select")
def _select_of(self: Tensor, condition: Tensor, y: Tensor | float) -> Tensor:
    """Elements of the Tensor where a condition holds, of `y` elsewhere."""
    return _Where.functional(condition, self, y)


@spelling(_Where, numpy="where")
def _numpy_where(
    condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Elements of `x` where a condition holds, of `y` elsewhere, with broadcasting.

    Args:
        condition (Union[Tensor, list, tuple, bool]): Of bool; numbers count as True unless they are 0.
        x (Union[Tensor, list, tuple, Number]): Elements. Default: None.
        y (Union[Tensor, list, tuple, Number]): Elements. Default: None.

    Returns:
        Tensor of the broadcast shape, in the element type in which `x` and `y` meet. Without `x` and `y` a tuple of
        vectors, the places of what is not 0 along each dimension: how many there are depends on values, so never in a
        compiled graph.

    Raises:
        TypeError: If only one of `x` and `y` is given.
        ValueError: If the shapes do not broadcast.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(mindspore.numpy.where(mindspore.numpy.arange(4) > 1, 5, 7))
        [7 7 5 5]
    """
    condition = as_tensor(condition, "where", "condition")
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    return _Where.functional(condition, *common_type(as_tensor(x, "where", "x"), as_tensor(y, "where", "y")))


@operator
def _SelectFirst(conditions: Tensors, choices: Tensors, default):
    """In each place the element of the first choice whose condition holds, with broadcasting.

    Inputs:
        - **conditions** (tuple[Tensor]) - Of bool, or numbers that count as True unless they are 0.
        - **choices** (tuple[Tensor]) - As many, of one element type.
        - **default** (Union[Tensor, Number]) - The element where no condition holds.

    Outputs:
        Tensor of the broadcast shape and the element type of the choices.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    try:
        shape = np.broadcast_shapes(*(x.shape for x in (*conditions, *choices, default)))
    except ValueError:
        shapes = ", ".join(str(x.shape) for x in (*conditions, *choices, default))
        raise ValueError(f"For 'select', the shapes do not broadcast: {shapes}.") from None
    found = jnp.broadcast_to(default.astype(choices[0].dtype), shape)
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        found = jnp.where(condition != 0, choice, found)
    return found


def _parts(function, argument, values):
    """The Tensors of a list, or the slices of a Tensor."""
    if not isinstance(values, (list, tuple)):
        values = as_tensor(values, function, argument)
        if not values.ndim:
            raise ValueError(f"For '{function}', '{argument}' should be a list or a Tensor, but got a number.")
    return [as_tensor(v, function, f"{argument}[{i}]") for i, v in enumerate(values)]


@spelling(_SelectFirst, numpy="select")
def numpy_select(condlist: ArrayLike, choicelist: ArrayLike, default: ArrayLike = 0) -> Tensor:
    """In each place the element of the first choice whose condition holds, with broadcasting.

    Args:
        condlist (Union[list, tuple, Tensor]): The conditions, Tensors of bool or lists; numbers count as True unless
            they are 0.
        choicelist (Union[list, tuple, Tensor]): As many Tensors, lists or numbers.
        default (Union[Number, Tensor]): The element where no condition holds. Default: 0.

    Returns:
        Tensor of the broadcast shape, in the element type in which the choices meet.

    Raises:
        ValueError: If there is not one choice for each condition, or the shapes do not broadcast.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> x = mindspore.numpy.arange(5)
        >>> print(mindspore.numpy.select([x < 2, x > 3], [x, x * x], -1))
        [ 0  1 -1 -1 16]
    """
    conditions, choices = _parts("select", "condlist", condlist), _parts("select", "choicelist", choicelist)
    if len(conditions) != len(choices) or not choices:
        raise ValueError(
            f"For 'select', there should be a choice for each condition, but got {len(conditions)} and {len(choices)}."
        )
    return _SelectFirst.functional(conditions, common_type(*choices), as_tensor(default, "select", "default"))


@operator
def _Choose(a, choices: Tensors, *, mode: OneOf("clip", "wrap") = "clip"):
    """In each place the element of the choice whose number stands there, with broadcasting.

    Args:
        mode (str): What a number out of range means: "clip" the first or the last choice, "wrap" counts around.
            Default: "clip".

    Inputs:
        - **a** (Tensor) - Integers, numbers of choices.
        - **choices** (tuple[Tensor]) - Of one element type.

    Outputs:
        Tensor of the broadcast shape and the element type of the choices.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    dtype_in("choose", "a", a, INT)
    return jnp.choose(a, choices, mode=mode)


@spelling(_Choose, numpy="choose")
def choose(a: ArrayLike, choices: ArrayLike, mode: str = "clip") -> Tensor:
    """In each place the element of the choice whose number stands there, with broadcasting.

    Args:
        a (Union[Tensor, list, tuple, int]): Integers, numbers of choices.
        choices (Union[list, tuple, Tensor]): Tensors, lists or numbers; a Tensor stands for its slices.
        mode (str): What a number out of range means: "clip" the first or the last choice, "wrap" counts around.
            Default: "clip".

    Returns:
        Tensor of the broadcast shape, in the element type in which the choices meet.

    Raises:
        TypeError: If `a` is not made of integers.
        ValueError: If `choices` is a number or empty, or `mode` is none of these, or the shapes do not broadcast.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    found = _parts("choose", "choices", choices)
    if not found:
        raise ValueError("For 'choose', 'choices' should hold at least one Tensor, but it is empty.")
    return _Choose.functional(as_tensor(a, "choose", "a"), common_type(*found), mode)


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
        raise ShapeByValues(op, "the shape of the result", "use ops.select or ops.where")
    return np.asarray(x._array)


@spelling(function="masked_select", method="masked_select")
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of a Tensor where a mask is True, as a vector; its length depends on values, no graph can hold it.

    Args:
        input (Tensor): The elements.
        mask (Tensor): Of bool, of a shape that broadcasts with that of `input`.

    Returns:
        Tensor of 1 dimension.


    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(ops.masked_select(Tensor([1, 2, 3]), Tensor([True, False, True])))
        [1 3]
    """
    known = _known("masked_select", mask)
    shape = np.broadcast_shapes(input.shape, known.shape)
    if input.shape != shape:
        input = BroadcastTo.functional(input, shape)
    return input[box(jnp.asarray(np.broadcast_to(known, shape)))]


@spelling(function="nonzero", method="nonzero")
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """Places of the elements that are not 0. Never in a compiled graph: how many there are depends on values.

    Args:
        input (Tensor): Numbers or bool.
        as_tuple (bool): Whether to return a vector for each dimension instead of one matrix. Default: False.

    Returns:
        Tensor of int64, of shape (count, input.ndim), or a tuple of vectors.


    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    places = np.nonzero(_known("nonzero", input))
    if as_tuple:
        return tuple(Tensor(p.astype(np.int64)) for p in places)
    return Tensor(np.stack(places, axis=1).astype(np.int64) if places else np.zeros((0, 0), np.int64))


@spelling(function="argwhere", method="argwhere")
def argwhere(input: Tensor) -> Tensor:
    """Places of the elements that are not 0; the same as `nonzero`.

    Args:
        input (Tensor): Numbers or bool.

    Returns:
        Tensor of int64, of shape (count, input.ndim).

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return nonzero(input)


@spelling(numpy="argwhere")
def _numpy_argwhere(a: ArrayLike) -> Tensor:
    """Places of the elements that are not 0. Never in a compiled graph: how many there are depends on values.

    Args:
        a (Union[Tensor, list, tuple]): Numbers or bool.

    Returns:
        Tensor of int64, of shape (count, a.ndim).


    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    return nonzero(as_tensor(a, "argwhere", "a"))


@spelling(function="bincount", method="bincount")
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of the numbers from 0 occurs in a vector. Never in a compiled graph: the length depends on values.

    Args:
        input (Tensor): Integers, not negative, a vector.
        weights (Tensor): What each element counts. Default: None, 1.
        minlength (int): The result has at least this length. Default: 0.

    Returns:
        Tensor.


    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    values = _known("bincount", input)
    counts = np.bincount(values, None if weights is None else _known("bincount", weights), minlength)
    return Tensor(counts.astype(values.dtype if weights is None else np.float32))


@operator
def _BinCount(x, weights=None, *, length: NonNegInt):
    """How often each of the numbers from 0 to `length` - 1 occurs, or the sum of the weights of its occurrences.

    Args:
        length (int): How many numbers are counted; larger ones are left out.

    Inputs:
        - **x** (Tensor) - Integers, a vector; what is below 0 counts as 0.
        - **weights** (Tensor) - What each element counts, of the shape of `x`. Default: None, 1.

    Outputs:
        Tensor of float32, of shape (length,).

    Raises:
        TypeError: If `x` is not made of integers.
        ValueError: If `x` is no vector, or the shapes differ.
    """
    dtype_in("bincount", "x", x, INT)
    rank("bincount", "x", x, 1)
    if weights is not None:
        same_shape("bincount", x=x, weights=weights)
    counted = jnp.ones(x.shape, jnp.float32) if weights is None else weights.astype(jnp.float32)
    return jnp.zeros(length, jnp.float32).at[jnp.maximum(x, 0)].add(counted, mode="drop")


@spelling(_BinCount, numpy="bincount")
def _bincount_of_numpy(
    x: ArrayLike, weights: ArrayLike | None = None, minlength: NonNegInt = 0, length: NonNegInt | None = None
) -> Tensor:
    """How often each of the numbers from 0 occurs in a vector. In a graph it needs `length`.

    Args:
        x (Union[Tensor, list, tuple]): Integers, a vector; what is below 0 counts as 0.
        weights (Union[Tensor, list, tuple]): What each element counts, of the shape of `x`. Default: None, 1.
        minlength (int): The result has at least this length. Default: 0.
        length (int): The length of the result; larger numbers are left out. Default: None, as long as the largest
            number wants, which only PYNATIVE mode knows.

    Returns:
        Tensor of float32, a vector.

    Raises:
        TypeError: If `x` is not made of integers, or an argument has the wrong type.
        ValueError: If `x` is no vector, or the shapes differ.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> print(mindspore.numpy.bincount([0, 1, 1, 3], length=3))
        [1. 2. 0.]
    """
    x = as_tensor(x, "bincount", "x")
    if length is None:
        if is_tracer(x._array):
            raise ShapeByValues("bincount", "the length of the result", "give it 'length'")
        values = _known("bincount", x)
        wanted = max(int(values.max()), 0) + 1 if values.size else 0
        length = max(check(NonNegInt, minlength, "minlength", "bincount"), wanted)
    return _BinCount(length)(x, None if weights is None else as_tensor(weights, "bincount", "weights"))


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


CASES = [
    case(Select, Flags(2, 3), F(2, 3), F(2, 3)),
    case(_Where, Flags(2, 3), F(2, 3), F(3)),
    case(_SelectFirst, (Flags(2, 3), Flags(3)), (F(2, 3), F(3)), F()).without("mindspore", NUMPYS),
    case(_Choose, Values([[0, 3, 1]]), (F(2, 3), F(3)), mode="wrap").without("mindspore", NUMPYS),
    case(MaskedFill, F(2, 3), Flags(3), F()),
    case(SequenceMask, Values([1, 3]), 4),
    case(_BinCount, Values([1, 3, 1, 0, 7]), F(5), length=4)
    .without("mindspore", NUMPYS)
    .without("differences", "it adds in float32"),
    refused(TypeError, Select, F(2, 3), F(2, 3), F(2, 3)),
]
