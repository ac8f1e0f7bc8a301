"""MindSpore 2's `jet`, `derivative` and `linearize`: derivatives of any order along a curve, and linearization.

Each order is one more forward pass (`jvp` of `jvp`), so every operator with a derivative supports them.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msnb.common import dtype as mstype
from msnb.common.kinds import PositiveInt, check
from msnb.core.errors.messages import describe
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.core.transforms.functional import jvp
from msnb.ops._check import tensor_argument
from msnb.ops.array.create import OnesLike
from msnb.ops.array.join import Stack


def _as_float_tensors(op, name, value):
    values = value if isinstance(value, (tuple, list)) else (value,)
    tensors = [tensor_argument(op, name, v) for v in values]
    return [x.astype(mstype.float32) if x._array.dtype.kind in "biu" else x for x in tensors]


def _differentiate_along_curve(fn, primals, series, order):
    """Return a list: the value of `fn` and its derivatives up to `order`, at the start of a curve.

    The curve starts at `primals` and has the derivatives `series`.
    """

    def at(time):
        moved = []
        for x, terms in zip(primals, series, strict=True):
            power, scale = time, 1
            for k, term in enumerate(terms, 1):
                scale *= k
                x = x + term * (power / scale)
                power = power * time
            moved.append(x)
        return fn(*moved)

    def pushed(curve):
        return lambda time: jvp(curve, time, one)[1]

    one = OnesLike()(Tensor(0.0, mstype.float32))
    derivatives, curve = [at(one * 0)], at
    for _ in range(order):
        curve = pushed(curve)
        derivatives.append(curve(one * 0))
    return derivatives


def _split_outputs(derivatives):
    """Return a pair: True if there are several outputs, and a list of the value and derivatives of each output."""
    several = isinstance(derivatives[0], (tuple, list)) and len(derivatives[0]) > 1
    return several, [list(one) for one in zip(*derivatives, strict=True)] if several else [derivatives]


@spelling()
def derivative(fn: Callable[..., Any], primals: Tensor | tuple[Tensor, ...], order: int) -> tuple[Any, Any]:
    """Return the value of a function and its derivative of order `order` in the direction (1, 1, ..., 1).

    Args:
        fn (Union[Cell, function]): Takes and returns Tensors.
        primals (Union[Tensor, tuple[Tensor]]): The point; integers are converted to float32.
        order (int): Order of the derivative.

    Returns:
        tuple, the outputs and their derivatives; lists of them if there are several outputs.

    Raises:
        TypeError: If `primals` are no Tensors, or `order` is not an int.
        ValueError: If `order` is not positive.

    Examples:
        >>> value, second = ops.derivative(lambda x: x**3, Tensor([1.0, 2.0], mindspore.float32), 2)
        >>> print(second)
        [ 6. 12.]
    """
    check(PositiveInt, order, "order", "derivative")
    inputs = _as_float_tensors("derivative", "primals", primals)
    several, outputs = _split_outputs(_differentiate_along_curve(fn, inputs, [[OnesLike()(x)] for x in inputs], order))
    values, last = [one[0] for one in outputs], [one[-1] for one in outputs]
    return (values, last) if several else (values[0], last[0])


@spelling()
def jet(
    fn: Callable[..., Any], primals: Tensor | tuple[Tensor, ...], series: Tensor | tuple[Tensor, ...]
) -> tuple[Any, Any]:
    """Return the value of a function and its derivatives along a curve, from order 1 to the last order in `series`.

    Args:
        fn (Union[Cell, function]): Takes and returns Tensors.
        primals (Union[Tensor, tuple[Tensor]]): The point of the curve at 0; integers are converted to float32.
        series (Union[Tensor, tuple[Tensor]]): The derivatives of the curve, stacked by order along the first axis, for
            each of `primals`.

    Returns:
        tuple, the outputs, and their derivatives stacked by order; lists of them if there are several outputs.

    Raises:
        TypeError: If an argument is not a Tensor.
        ValueError: If the shapes do not fit.

    Examples:
        >>> x, series = Tensor([1.0, 2.0], mindspore.float32), Tensor([[1.0, 1.0], [0.0, 0.0]], mindspore.float32)
        >>> value, derivatives = ops.jet(lambda x: x**3, x, series)
        >>> print(derivatives)
        [[ 3. 12.]
         [ 6. 12.]]
    """
    inputs, terms = _as_float_tensors("jet", "primals", primals), _as_float_tensors("jet", "series", series)
    lengths = {term.shape[:1] for term in terms}
    if len(inputs) != len(terms) or len(lengths) != 1 or any(t.shape[1:] != x.shape for x, t in zip(inputs, terms)):
        shapes = [x.shape for x in inputs], [t.shape for t in terms]
        raise ValueError(f"For 'jet', 'series' should have the shapes (orders, *shape) of 'primals', but got {shapes}.")
    order = terms[0].shape[0]
    several, outputs = _split_outputs(
        _differentiate_along_curve(fn, inputs, [[t[k] for k in range(order)] for t in terms], order)
    )
    values, rest = [one[0] for one in outputs], [Stack()(one[1:]) for one in outputs]
    return (values, rest) if several else (values[0], rest[0])


@spelling()
def linearize(
    fn: Callable[..., Any], inputs: Tensor | Sequence[Tensor]
) -> tuple[Any, Callable[[Tensor | Sequence[Tensor]], Any]]:
    """Return (fn(*inputs), jvp), where jvp maps a direction to the derivative of `fn` in that direction.

    Args:
        fn (Union[Cell, function]): Takes and returns Tensors.
        inputs (Union[Tensor, tuple[Tensor], list[Tensor]]): The point at which `fn` is linearized.

    Returns:
        tuple, the outputs and the function of a direction, a Tensor or a tuple of them like `inputs`.

    Raises:
        TypeError: If `inputs` are no Tensors.

    Examples:
        >>> x = Tensor([1.0, 2.0], mindspore.float32)
        >>> value, push = ops.linearize(lambda x: x * x, x)
        >>> print(push(Tensor([1.0, 10.0], mindspore.float32)))
        [ 2. 40.]
    """
    points = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    if not all(isinstance(x, Tensor) for x in points):
        raise TypeError(f"For 'linearize', 'inputs' should be Tensors, but got {describe(inputs)}.")
    return fn(*points), lambda v: jvp(fn, points, v)[1]
