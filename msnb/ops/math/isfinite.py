"""Operators that test for NaN and infinities: elementwise, for all elements, or with MindSpore's overflow status."""

import math

import jax.numpy as jnp

from msnb.common.kinds import Number, Optional
from msnb.core.eager import float_status
from msnb.core.operator.api_generations import replaces_in_api2
from msnb.core.operator.cases import F16, F, Values, case, refused
from msnb.core.operator.declare import operator, spelling
from msnb.core.operator.operator_types import Operator
from msnb.core.tensor.tensor import Tensor, box
from msnb.ops._check import ANY, FLOAT, dtype_in, tensor_argument, tensor_only
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._numpy import ArrayLike, as_tensor
from msnb.ops.array.create import full_like
from msnb.ops.math.compare import Greater, Less
from msnb.ops.math.logic import LogicalAnd


@operator(functional="isnan", called=(("input", "tensor"),), methods=("isnan",), numpy="isnan")
def IsNan(x):
    """Return True where an element is NaN.

    Inputs:
        - **x** (Tensor) - Numbers, of any shape.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Examples:
        >>> print(ops.IsNan()(Tensor(np.array([np.nan, 1.]), mindspore.float32)))
        [ True False]
    """
    tensor_only("IsNan", "x", x)
    return jnp.isnan(x)


@operator(functional="isinf", called=("input",), methods=("isinf",), numpy="isinf")
def IsInf(x):
    """Return True where an element is infinite.

    Inputs:
        - **x** (Tensor) - Numbers, of any shape.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Examples:
        >>> print(ops.IsInf()(Tensor(np.array([np.inf, 1.]), mindspore.float32)))
        [ True False]
    """
    tensor_only("IsInf", "x", x)
    return jnp.isinf(x)


@operator(functional="isfinite", called=("input",), methods=("isfinite",), numpy="isfinite")
def IsFinite(x):
    """Return True where an element is neither infinite nor NaN.

    Inputs:
        - **x** (Tensor) - Numbers or bool, of any shape.

    Outputs:
        Tensor of bool, of the shape of `x`.

    Examples:
        >>> print(ops.IsFinite()(Tensor(np.array([np.inf, 1.]), mindspore.float32)))
        [False  True]
    """
    dtype_in("IsFinite", "x", x, ANY)
    return jnp.isfinite(x)


@operator
def FloatStatus(x):
    """Return 1 if any element is infinite or NaN, else 0.

    Inputs:
        - **x** (Tensor) - Floating point numbers, of any shape.

    Outputs:
        Tensor of shape (1,) and the element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.

    Examples:
        >>> print(ops.FloatStatus()(Tensor(np.array([np.inf, 1.]), mindspore.float32)))
        [1.]
    """
    dtype_in("FloatStatus", "x", x, FLOAT)
    return (~jnp.isfinite(x)).any().astype(x.dtype).reshape(1)


@operator
def Eps(x):
    """Return a Tensor filled with a small positive number: 2**-14 for float16 and 2**-16 otherwise.

    Inputs:
        - **x** (Tensor) - Floating point numbers, of any shape; only shape and element type are used.

    Outputs:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.

    Examples:
        >>> print(ops.Eps()(Tensor([4., 1.], mindspore.float32)))
        [1.5258789e-05 1.5258789e-05]
    """
    dtype_in("Eps", "x", x, FLOAT)
    return jnp.full_like(x, 2.0 ** (-14 if x.dtype == jnp.float16 else -16))


@operator
def _MachineEpsilon(x):
    """Return a Tensor filled with the machine epsilon: the distance from 1 to the next number of the element type.

    Inputs:
        - **x** (Tensor) - Floating point numbers, of any shape; only shape and element type are used.

    Outputs:
        Tensor of the shape and element type of `x`.
    """
    dtype_in("Eps", "x", x, FLOAT)
    return jnp.full_like(x, jnp.finfo(x.dtype).eps)


replaces_in_api2(Eps, "it is the distance from 1 to the next number of the element type")(_MachineEpsilon)


@operator
def NPUAllocFloatStatus():
    """Return eight status words, all 0, for NPUClearFloatStatus and NPUGetFloatStatus.

    Outputs:
        Tensor of float32, of shape (8,).
    """
    return jnp.zeros(8, jnp.float32)


def _make_status_operator(name, write):
    """Return the operator `name`, which replaces the status words `x` by write(x, overflow)."""

    def kernel(x, overflow=None):
        dtype_in(name, "x", x, FLOAT)
        if x.shape != (8,):
            raise ValueError(f"For '{name}', 'x' should have shape (8,), but got {x.shape}.")
        return write(x, overflow)

    return Operator(kernel, name, ("x",), "written", False)


_clear = _make_status_operator("NPUClearFloatStatus", lambda x, _: jnp.zeros_like(x))
_get = _make_status_operator(
    "NPUGetFloatStatus", lambda x, overflow: jnp.zeros_like(x).at[0].set(overflow.astype(x.dtype))
)


@host_operator()
class NPUGetFloatStatus(HostPrimitive):
    """Set the first status word to 1 if a number has overflowed since NPUClearFloatStatus, else to 0.

    An overflow is a result of an operator, or a gradient, that is infinite or NaN. Values computed between this
    operator and the next NPUClearFloatStatus are not checked. A program without these two operators is not checked.

    Inputs:
        - **x** (Tensor) - The status words, floating point of shape (8,); written in place.

    Outputs:
        Tensor, `x` itself.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If the shape is not (8,).

    Examples:
        >>> status = ops.NPUAllocFloatStatus()()
        >>> cleared = ops.NPUClearFloatStatus()(status)
        >>> y = Tensor([1e30], mindspore.float32) * 1e30
        >>> print(ops.NPUGetFloatStatus()(status).sum())
        1.0
    """

    def __call__(self, x):
        return _get({}, (x, box(float_status.end())))


@host_operator()
class NPUClearFloatStatus(HostPrimitive):
    """Set the status words to 0. NPUGetFloatStatus reports overflows that happen afterwards.

    Inputs:
        - **x** (Tensor) - The status words, floating point of shape (8,); written in place.

    Outputs:
        Tensor, `x` itself.

    Raises:
        TypeError: If `x` is not floating point.
        ValueError: If the shape is not (8,).
    """

    def __call__(self, x):
        cleared = _clear({}, (x,))
        float_status.begin()
        return cleared


@operator(functional="nan_to_num", methods=("nan_to_num",))
def NanToNum(
    input,
    *,
    nan: Optional(Number) = None,
    posinf: Optional(Number) = None,
    neginf: Optional(Number) = None,
):
    """Replace nan and infinities in a Tensor by numbers.

    Args:
        nan (float): Replacement of nan. Default: None, 0.0.
        posinf (float): Replacement of infinity. Default: None, the largest finite number.
        neginf (float): Replacement of minus infinity. Default: None, the lowest finite number.

    Inputs:
        - **input** (Tensor) - Floating point.

    Outputs:
        Tensor of the shape and element type of `input`.
    """
    return jnp.nan_to_num(input, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


@spelling(IsInf, numpy="isposinf")
def isposinf(x: ArrayLike) -> Tensor:
    """Return True where an element is plus infinity.

    Args:
        x (Union[Tensor, list, tuple, int, float, bool]): Of any shape.

    Returns:
        Tensor of bool, of the shape of `x`.

    Raises:
        TypeError: If `x` has another type.
    """
    x = as_tensor(x, "isposinf", "x")
    return LogicalAnd.functional(IsInf.functional(x), Greater.functional(x, 0))


@spelling(IsInf, numpy="isneginf")
def isneginf(x: ArrayLike) -> Tensor:
    """Return True where an element is minus infinity.

    Args:
        x (Union[Tensor, list, tuple, int, float, bool]): Of any shape.

    Returns:
        Tensor of bool, of the shape of `x`.

    Raises:
        TypeError: If `x` has another type.
    """
    x = as_tensor(x, "isneginf", "x")
    return LogicalAnd.functional(IsInf.functional(x), Less.functional(x, 0))


@spelling(IsInf, Greater, function="isposinf", method="isposinf")
def _ops_isposinf(input: Tensor) -> Tensor:
    """Return True where an element is plus infinity.

    Args:
        input (Tensor): Numbers, of any shape.

    Returns:
        Tensor of bool, of the shape of `input`.

    Raises:
        TypeError: If `input` is not a Tensor.
    """
    return isposinf(tensor_argument("isposinf", "input", input))


@spelling(IsInf, Less, function="isneginf", method="isneginf")
def _ops_isneginf(input: Tensor) -> Tensor:
    """Return True where an element is minus infinity.

    Args:
        input (Tensor): Numbers, of any shape.

    Returns:
        Tensor of bool, of the shape of `input`.

    Raises:
        TypeError: If `input` is not a Tensor.
    """
    return isneginf(tensor_argument("isneginf", "input", input))


@operator(functional="isreal", methods=("isreal",), generation=2)
def _IsReal(input):
    """Return True where the imaginary part of an element is 0.

    Inputs:
        - **input** (Tensor) - Numbers or bool, of any shape.

    Outputs:
        Tensor of bool, of the shape of `input`.

    Raises:
        TypeError: If `input` is not a Tensor.
    """
    dtype_in("isreal", "input", input, ANY)
    return jnp.isreal(input)


spelling(IsNan, function="isnan_ext")(IsNan.functional)


@spelling(Eps, function="eps")
def eps(x: Tensor) -> Tensor:
    """Return a Tensor filled with the machine epsilon: the distance from 1 to the next number of the element type.

    Args:
        x (Tensor): Floating point; only shape and element type are used.

    Returns:
        Tensor of the shape and element type of `x`.

    Raises:
        TypeError: If `x` is not floating point.
    """
    if not tensor_argument("eps", "x", x).is_floating_point():
        raise TypeError(f"For 'eps', 'x' should be floating point, but got {x.dtype}.")
    return full_like(x, float(jnp.finfo(x._array.dtype).eps))


CASES = [
    case(eps, F(2)).without("half", "each element type has its own"),
    case(eps, F16(2)),
    case(_ops_isposinf, Values([1.0, float("inf"), -float("inf")])),
    case(_ops_isneginf, Values([1.0, float("inf"), -float("inf")])),
    case(_IsReal, F(2, 3)),
    case(Eps, F(2, 3))
    .without("mindspore", "r1.1 has 2 ** -16 for float32, MindSpore 2 the distance from 1 to the next number")
    .without("half", "each element type has its own"),
    case(_MachineEpsilon, F(2, 3)).without("half", "each element type has its own"),
    *(case(op, Values([math.nan, math.inf, -math.inf, 1.0])) for op in (IsNan, IsInf, IsFinite, NanToNum)),
    case(NanToNum, Values([math.nan, math.inf, -math.inf, 1.0]), nan=1.5, posinf=2.5),
    refused(ValueError, NPUGetFloatStatus, F(2, 3)),
]
