"""Operators that select elements from several Tensors: by a condition, by the first true condition, or by index."""

import jax.numpy as jnp
import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import OneOf, Tensors
from msnb.core.operator.api_generations import called_as, differs_in_api2
from msnb.core.operator.cases import F, Flags, Values, case, refused
from msnb.core.operator.declare import keyword_aliases, operator, spelling
from msnb.core.support.type_promotion import promote
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import ANY, INT, axis_in, dtype_in, same_dtype, tensor_argument
from msnb.ops._numpy import NUMPYS, ArrayLike, as_tensor, common_type
from msnb.ops._shapes import shapes
from msnb.ops.array.nonzero import nonzero


@operator
def Select(condition, x, y):
    """Select elements of `x` where a condition is True, and of `y` elsewhere.

    Inputs:
        - **condition** (Tensor) - Of bool. A scalar selects all of `x` or all of `y`.
        - **x** (Union[Tensor, Number]) - Of the shape of `condition`, or a number.
        - **y** (Union[Tensor, Number]) - Of the shape of `condition` and the element type of `x`, or a number.

    Outputs:
        Tensor of the element type of `x`. Its shape is that of `condition`, or of `x` if `condition` is a scalar.

    Raises:
        TypeError: If `condition` is not bool or the element types differ.
        ValueError: If the shapes differ.

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
    shape = condition.shape or x.shape or y.shape
    for argument, value in (("x", x), ("y", y)):
        if value.ndim and value.shape != shape:
            raise ValueError(
                f"For 'Select', '{argument}' should have the shape of 'condition', {condition.shape}, "
                f"but got {value.shape}."
                if condition.ndim
                else f"For 'Select', 'x' and 'y' should have one shape, but got {x.shape} and {y.shape}."
            )
    return jnp.where(condition, x, y)


@operator
def _BroadcastSelect(condition, x, y):
    """Select elements of `x` where a condition is True, and of `y` elsewhere; the shapes broadcast."""
    try:
        shape = jnp.broadcast_shapes(condition.shape, x.shape, y.shape)
    except ValueError:
        raise ValueError(
            f"For 'Select', the shapes do not broadcast: {condition.shape}, {x.shape} and {y.shape}."
        ) from None
    operands = [value if value.weak_type else jnp.broadcast_to(value, shape) for value in (x, y)]
    return Select.kernel(jnp.broadcast_to(condition, shape), *operands)


@spelling(_BroadcastSelect, generation=1)
def select(condition: Tensor, input: Tensor, other: Tensor | float) -> Tensor:
    """Select elements of `input` where a condition is True, and of `other` elsewhere; their shapes broadcast.

    Args:
        condition (Tensor): Of bool.
        input (Union[Tensor, Number]): Elements.
        other (Union[Tensor, Number]): Elements of the type of `input`, or a number.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: If `condition` is not bool or the element types differ.
        ValueError: If the shapes do not broadcast.
    """
    return _BroadcastSelect.functional(condition, input, other)


@operator
def _Where(condition, x, y):
    """Select elements of `x` where a condition is True, and of `y` elsewhere, with broadcasting.

    Inputs:
        - **condition** (Tensor) - Of bool; nonzero numbers are treated as True.
        - **x** (Union[Tensor, Number]) - Elements.
        - **y** (Union[Tensor, Number]) - Elements.

    Outputs:
        Tensor of the broadcast shape and the common element type.
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
    """Select elements of `input` where a condition is True, and of `other` elsewhere, with broadcasting.

    Args:
        condition (Tensor): Of bool.
        input (Union[Tensor, Number]): Elements.
        other (Union[Tensor, Number]): Elements.

    Returns:
        Tensor of the broadcast shape and the common element type.

    Examples:
        >>> print(ops.where(Tensor([True, False]), Tensor([1., 2.]), 0.))
        [1. 0.]
    """
    return _Where.functional(condition, input, other)


_PROMOTES = "the inputs broadcast, and may have several element types, which are promoted"


@differs_in_api2(_PROMOTES)
@spelling(_Where, function="select")
def _select_api2(condition: Tensor, input: Tensor | float, other: Tensor | float) -> Tensor:
    """Select elements of `input` where a condition is True, and of `other` elsewhere; shapes broadcast, types are
    promoted.

    Args:
        condition (Tensor): Of bool.
        input (Union[Tensor, Number]): Elements.
        other (Union[Tensor, Number]): Elements.

    Returns:
        Tensor of the broadcast shape and the common element type.

    Raises:
        TypeError: If `condition` is not a Tensor of bool.
        ValueError: If the shapes do not broadcast.
    """
    if tensor_argument("select", "condition", condition).dtype != mstype.bool_:
        raise TypeError(f"For 'select', 'condition' should be a Tensor of bool, but got {condition.dtype}.")
    return _Where.functional(condition, input, other)


called_as(Select, _select_api2, _PROMOTES)


@spelling(_Where, method="where")
@keyword_aliases(other="y")
def _tensor_where(self: Tensor, condition: Tensor, y: Tensor | float) -> Tensor:
    """Return elements of the Tensor where a condition is True, of `y` elsewhere."""
    return _Where.functional(condition, self, y)


@spelling(_Where, method="select")
@keyword_aliases(dim="condition", index="y")
def _tensor_select(self: Tensor, condition: Tensor | int, y: Tensor | float) -> Tensor:
    """Return elements of the Tensor where a condition is True, of `y` elsewhere. select(dim, index) returns a slice."""
    if isinstance(condition, int) and not isinstance(condition, bool):
        return self[(slice(None),) * axis_in("select", condition, self.ndim) + (y,)]
    return _Where.functional(condition, self, y)


@spelling(_Where, numpy="where")
def _numpy_where(
    condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Select elements of `x` where a condition is True, and of `y` elsewhere, with broadcasting.

    Args:
        condition (Union[Tensor, list, tuple, bool]): Of bool; nonzero numbers are treated as True.
        x (Union[Tensor, list, tuple, Number]): Elements. Default: None.
        y (Union[Tensor, list, tuple, Number]): Elements. Default: None.

    Returns:
        Tensor of the broadcast shape, in the common element type of `x` and `y`. Without `x` and `y`, a tuple of
        vectors: the indices of nonzero elements along each dimension. This form does not run in a compiled graph,
        because the number of indices depends on data.

    Raises:
        TypeError: If only one of `x` and `y` is given.
        ValueError: If the shapes do not broadcast.

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
    """Select elements of the first choice whose condition is True, with broadcasting.

    Inputs:
        - **conditions** (tuple[Tensor]) - Of bool, or numbers, of which nonzero ones are treated as True.
        - **choices** (tuple[Tensor]) - A Tensor for each condition, all of one element type.
        - **default** (Union[Tensor, Number]) - The element where no condition is True.

    Outputs:
        Tensor of the broadcast shape and the element type of the choices.
    """
    try:
        shape = np.broadcast_shapes(*(x.shape for x in (*conditions, *choices, default)))
    except ValueError:
        shapes = ", ".join(str(x.shape) for x in (*conditions, *choices, default))
        raise ValueError(f"For 'select', the shapes do not broadcast: {shapes}.") from None
    selected = jnp.broadcast_to(default.astype(choices[0].dtype), shape)
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        selected = jnp.where(condition != 0, choice, selected)
    return selected


def _as_tensor_list(function, argument, values):
    """Return the Tensors of a list, or the slices of a Tensor."""
    if not isinstance(values, (list, tuple)):
        values = as_tensor(values, function, argument)
        if not values.ndim:
            raise ValueError(f"For '{function}', '{argument}' should be a list or a Tensor, but got a number.")
    return [as_tensor(v, function, f"{argument}[{i}]") for i, v in enumerate(values)]


@spelling(_SelectFirst, numpy="select")
def numpy_select(condlist: ArrayLike, choicelist: ArrayLike, default: ArrayLike = 0) -> Tensor:
    """Select elements of the first choice whose condition is True, with broadcasting.

    Args:
        condlist (Union[list, tuple, Tensor]): The conditions, Tensors of bool or lists; nonzero numbers are treated as
            True.
        choicelist (Union[list, tuple, Tensor]): The choices, one for each condition: Tensors, lists or numbers.
        default (Union[Number, Tensor]): The element where no condition is True. Default: 0.

    Returns:
        Tensor of the broadcast shape, in the common element type of the choices.

    Raises:
        ValueError: If the number of choices is not that of conditions, or the shapes do not broadcast.

    Examples:
        >>> x = mindspore.numpy.arange(5)
        >>> print(mindspore.numpy.select([x < 2, x > 3], [x, x * x], -1))
        [ 0  1 -1 -1 16]
    """
    conditions, choices = (
        _as_tensor_list("select", "condlist", condlist),
        _as_tensor_list("select", "choicelist", choicelist),
    )
    if len(conditions) != len(choices) or not choices:
        raise ValueError(
            f"For 'select', there should be a choice for each condition, but got {len(conditions)} and {len(choices)}."
        )
    return _SelectFirst.functional(conditions, common_type(*choices), as_tensor(default, "select", "default"))


@operator
@shapes("a choices: ~s")
def _Choose(a, choices: Tensors, *, mode: OneOf("clip", "wrap") = "clip"):
    """Select elements by the index of a choice, with broadcasting: result[i] = choices[a[i]][i].

    Args:
        mode (str): Treatment of an index out of range: "clip" selects the first or the last choice, "wrap" uses the
            index modulo the number of choices. Default: "clip".

    Inputs:
        - **a** (Tensor) - Integers, the indices of the choices.
        - **choices** (tuple[Tensor]) - Of one element type.

    Outputs:
        Tensor of the broadcast shape and the element type of the choices.
    """
    dtype_in("choose", "a", a, INT)
    return jnp.choose(a, choices, mode=mode)


@spelling(_Choose, numpy="choose")
def choose(a: ArrayLike, choices: ArrayLike, mode: str = "clip") -> Tensor:
    """Select elements by the index of a choice, with broadcasting: result[i] = choices[a[i]][i].

    Args:
        a (Union[Tensor, list, tuple, int]): Integers, the indices of the choices.
        choices (Union[list, tuple, Tensor]): Tensors, lists or numbers. A single Tensor stands for its slices along the
            first dimension.
        mode (str): Treatment of an index out of range: "clip" selects the first or the last choice, "wrap" uses the
            index modulo the number of choices. Default: "clip".

    Returns:
        Tensor of the broadcast shape, in the common element type of the choices.

    Raises:
        TypeError: If `a` does not consist of integers.
        ValueError: If `choices` is a number or empty, or `mode` is another string, or the shapes do not broadcast.
    """
    tensors = _as_tensor_list("choose", "choices", choices)
    if not tensors:
        raise ValueError("For 'choose', 'choices' should hold at least one Tensor, but it is empty.")
    return _Choose.functional(as_tensor(a, "choose", "a"), common_type(*tensors), mode)


@spelling(_Choose, method="choose")
def _tensor_choose(self: Tensor, choices: ArrayLike, mode: str = "clip") -> Tensor:
    """Select choices[self[i]][i] for each element; see `mindspore.numpy.choose`."""
    return choose(self, choices, mode)


CASES = [
    case(Select, Flags(2, 3), F(2, 3), F(2, 3)),
    case(Select, Flags(), F(2, 3), F(2, 3)),
    refused(ValueError, Select, Flags(), F(2, 3), F(2, 1)),
    refused(ValueError, Select, Flags(2), F(2, 3), F(2, 3)),
    case(_BroadcastSelect, Flags(2, 1), F(2, 3), F(2, 3)),
    case(_Where, Flags(2, 3), F(2, 3), F(3)),
    case(_SelectFirst, (Flags(2, 3), Flags(3)), (F(2, 3), F(3)), F()).without("mindspore", NUMPYS),
    case(_Choose, Values([[0, 3, 1]]), (F(2, 3), F(3)), mode="wrap").without("mindspore", NUMPYS),
    refused(TypeError, Select, F(2, 3), F(2, 3), F(2, 3)),
]
