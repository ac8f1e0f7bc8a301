"""numpy's form of an element-wise operator: `@operator(numpy="sin")` declares `mindspore.numpy.sin`.

Such a function accepts lists, numbers and Tensors, operands of any two element types, and the element type of the
result as `dtype`. If the operator does not support an element type, the operands are converted: `real("sqrt")` converts
integers to float32, `angle("sin")` small integers to float16, `truth("logical_and")` all numbers to bool.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from msnb.common import dtype as mstype
from msnb.core.operator.array_like import ArrayLike, array_type, as_operand, common_type, element_type
from msnb.core.tensor.tensor import Tensor

_INTEGERS = (*mstype.int_type, *mstype.uint_type)


def _map_all_types_to(types, into):
    return {mstype.np_dtype(t): into for t in types}


_REAL = _map_all_types_to((mstype.bool_, *_INTEGERS), mstype.float32)
_ANGLE = {**_REAL, **_map_all_types_to((mstype.bool_, mstype.int8, mstype.uint8), mstype.float16)}
_TRUTH = _map_all_types_to((*_INTEGERS, *mstype.float_type, mstype.bfloat16), mstype.bool_)


class Ufunc(NamedTuple):
    """Functions of `mindspore.numpy` that one operator defines, and the element types in which they compute.

    Attributes:
        names (tuple[str]): Names of the functions.
        enters (Mapping): Element type of the operands -> element type of the computation, if the two differ.
        operands (tuple[str]): Names of the operands. With (), they are x, or x1 and x2. Default: ().
        meet (Callable): Converts two Tensors to one element type. Default: `common_type`.
        returns_bool (bool): True if bool operands give a bool. Default: False.
    """

    names: tuple[str, ...]
    enters: Mapping[np.dtype, mstype.Type]
    operands: tuple[str, ...] = ()
    meet: Callable[[Tensor, Tensor], list[Tensor]] = common_type
    returns_bool: bool = False

    def taking(self, *operands: str) -> "Ufunc":
        """Return the same functions with other names of their operands."""
        return self._replace(operands=operands)

    def returning_bool(self) -> "Ufunc":
        """Return the same functions with a bool result for bool operands."""
        return self._replace(returns_bool=True)


def as_given(*names: str) -> Ufunc:
    """Declare functions of `mindspore.numpy` that compute in the element type of the operands."""
    return Ufunc(names, {})


def of_array(*names: str) -> Ufunc:
    """Declare functions of `mindspore.numpy` that convert a scalar operand to the element type of the array operand."""
    return Ufunc(names, {}, meet=array_type)


def number(*names: str, of_bool: mstype.Type = mstype.int32) -> Ufunc:
    """Declare functions of `mindspore.numpy` that convert bool to an integer type."""
    return Ufunc(names, _map_all_types_to((mstype.bool_,), of_bool))


def real(*names: str) -> Ufunc:
    """Declare functions of `mindspore.numpy` that convert integers and bool to float32."""
    return Ufunc(names, _REAL)


def angle(*names: str) -> Ufunc:
    """Declare functions of `mindspore.numpy` that convert 8-bit integers and bool to float16, other integers to
    float32.
    """
    return Ufunc(names, _ANGLE)


def angles(*names: str) -> Ufunc:
    """Declare functions of `mindspore.numpy` that convert each operand as `angle` does, and then promote both."""
    return Ufunc(names, _ANGLE, meet=_promote_angle_operands)


def _promote_angle_operands(x, y):
    return common_type(*[t.astype(_ANGLE.get(t._array.dtype, t.dtype)) for t in (x, y)])


def truth(*names: str) -> Ufunc:
    """Declare functions of `mindspore.numpy` that convert every number to bool: True if it is not 0."""
    return Ufunc(names, _TRUTH)


def in_type(result: Tensor, dtype: Any, function: str) -> Tensor:
    """Return `result` in the element type that a user requested, or unchanged if `dtype` is None."""
    if dtype is None:
        return result
    dtype = element_type(dtype, function)
    return result if result.dtype == dtype else result.astype(dtype)


def form_of(op: Any, name: str, ufunc: Ufunc) -> Callable[..., Tensor]:
    """Return the function `name` of `mindspore.numpy` that runs an `Operator` of one or two Tensors."""
    prim, enters, meet = op.primitive(), ufunc.enters, ufunc.meet
    call = type(prim).__call__
    operands = ufunc.operands or (("x",) if len(op.inputs) == 1 else ("x1", "x2"))

    def convert(result, operand):
        return result.astype(mstype.bool_) if ufunc.returns_bool and operand.dtype == mstype.bool_ else result

    if len(operands) == 1:

        def form(x, dtype=None):
            x = as_operand(x, name, operands[0])
            if into := enters.get(x._array.dtype):
                result = convert(call(prim, x.astype(into)), x)
            else:
                result = call(prim, x)
            return result if dtype is None else in_type(result, dtype, name)

    else:

        def form(x1, x2, dtype=None):
            x1, x2 = as_operand(x1, name, "x1"), as_operand(x2, name, "x2")
            if x1._array.dtype != x2._array.dtype:
                x1, x2 = meet(x1, x2)
            if into := enters.get(x1._array.dtype):
                result = convert(call(prim, x1.astype(into), x2.astype(into)), x1)
            else:
                result = call(prim, x1, x2)
            return result if dtype is None else in_type(result, dtype, name)

    return _set_metadata(form, op, name, operands)


def _set_metadata(form, op, name, operands):
    """Return `form` with its name, signature, documentation and names of operands."""
    code = form.__code__
    form.__code__ = code.replace(co_varnames=(*operands, *code.co_varnames[len(operands) :]))
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(n, positional, annotation=ArrayLike) for n in operands]
    parameters.append(inspect.Parameter("dtype", positional, default=None, annotation=Any))
    form.__name__ = form.__qualname__ = name
    form.__signature__ = inspect.Signature(parameters, return_annotation=Tensor)
    first = (inspect.getdoc(op.fn) or "").partition("\n\n")[0]
    arguments = "".join(f"    {n} (Union[Tensor, list, tuple, int, float, bool]): Of any shape.\n" for n in operands)
    shape = "shape in which the operands meet" if len(operands) > 1 else f"shape of `{operands[0]}`"
    form.__doc__ = (
        f"{first}\n\nArgs:\n{arguments}"
        f"    dtype (mindspore.dtype): Element type of the result. Default: None, what the operation gives.\n\n"
        f"Returns:\n    Tensor of the {shape}.\n\n"
        f"Raises:\n    TypeError: If an operand is none of these.\n"
        + ("    ValueError: If the shapes do not broadcast.\n" if len(operands) > 1 else "")
    )
    return form
