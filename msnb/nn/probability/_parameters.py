"""Parameters and values of distributions and bijectors: conversion to Tensors, and checks.

The names are MindSpore's: distributions that users derive call these in their constructors.
"""

from typing import Annotated, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import DType, Kind, NonNegInt, Optional, accept_value
from msnb.core.errors.messages import describe
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor, is_traced
from msnb.ops import functional as F

# Values of a parameter of a distribution. None means that each call passes a Tensor.
Numbers = float | list | np.ndarray | Tensor | None

_INTEGER_TYPES = (*mstype.int_type, *mstype.uint_type)


def _make_type_check(*allowed):
    def accept(value):
        value = accept_value(DType, value)
        if value not in allowed:
            raise TypeError
        return value

    return accept


Seed = Annotated[int | None, Optional(NonNegInt)]
FloatType = Annotated[Any, Kind("a type of floating point numbers", _make_type_check(*mstype.float_type))]
NumberType = Annotated[Any, Kind("a type of real numbers", _make_type_check(*mstype.float_type, *_INTEGER_TYPES))]


def cast_to_tensor(t: Any, hint_type: mstype.Type = mstype.float32) -> Tensor:
    """
    Return the value of a parameter as a Tensor.

    Args:
        t (Union[int, float, list, numpy.ndarray, Tensor, Parameter]): The numbers; a Parameter is returned unchanged.
        hint_type (mindspore.dtype): Element type of the result. Default: mindspore.float32.

    Returns:
        Tensor.

    Raises:
        ValueError: If `t` is None.
        TypeError: If `t` is a bool or of another type.
    """
    if t is None:
        raise ValueError("A parameter of a distribution should be numbers, but got None.")
    if isinstance(t, Parameter):
        return t
    if isinstance(t, Tensor):
        return as_type(t, hint_type)
    if isinstance(t, bool) or not isinstance(t, (np.ndarray, np.number, list, int, float)):
        raise TypeError(f"A parameter of a distribution should be numbers or a Tensor, but got {describe(t)}.")
    return Tensor(t, dtype=hint_type)


def as_type(x: Tensor, dtype: mstype.Type) -> Tensor:
    """Cast `x` to `dtype`."""
    return x if x.dtype == dtype else F.cast(x, dtype)


def alike(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Cast Tensors to the widest of their dtypes."""
    widest = max((x.dtype for x in tensors), key=lambda dtype: mstype.np_dtype(dtype).itemsize)
    return tuple(as_type(x, widest) for x in tensors)


def check_parameters(parameters: dict[str, Any], seed: int | None, dtype: mstype.Type, name: str) -> dict[str, Any]:
    """Return the constructor arguments in the form that `Distribution` takes."""
    return {**parameters, "seed": seed, "dtype": dtype, "name": name, "param_dict": parameters}


def set_param_type(args: dict[str, Any], hint_type: mstype.Type | None) -> mstype.Type:
    """
    Return the dtype in which a distribution stores its parameters and computes.

    Args:
        args (dict): Parameter names and their values.
        hint_type (mindspore.dtype): The dtype of the distribution. It is used if no parameter has a dtype; float32
            replaces an integer dtype.

    Returns:
        mindspore.dtype: that of the arrays and Tensors among the parameters. Integers give float32. float64, the usual
        dtype of numpy arrays, gives float32 as well unless `hint_type` is float64.

    Raises:
        TypeError: If two parameters differ in dtype.
    """
    result_type = mstype.float32 if hint_type is None or hint_type in _INTEGER_TYPES else hint_type
    dtypes = {name: accept_value(DType, value.dtype) for name, value in args.items() if hasattr(value, "dtype")}
    if len(set(dtypes.values())) > 1:
        types = ", ".join(f"'{name}' of {dtype}" for name, dtype in dtypes.items())
        raise TypeError(f"The parameters of a distribution should have the same dtype, but got {types}.")
    if not dtypes:
        return result_type
    common = next(iter(dtypes.values()))
    if common in _INTEGER_TYPES or (common == mstype.float64 and result_type != mstype.float64):
        return mstype.float32
    return common


def _get_concrete_numbers(value):
    """Return the values of a Tensor as numbers, or None if the Tensor is traced or None."""
    return None if value is None or is_traced(value) else value.asnumpy()


def check_greater_equal_zero(value: Tensor | None, name: str) -> None:
    """Raise ValueError if a number in `value` is negative."""
    numbers = _get_concrete_numbers(value)
    if numbers is not None and not (numbers >= 0).all():
        raise ValueError(f"{name} should be greater than or equal to zero, but got {numbers}.")


def check_greater_zero(value: Tensor | None, name: str) -> None:
    """Raise ValueError if a number is 0 or less. Traced values and None pass."""
    numbers = _get_concrete_numbers(value)
    if numbers is not None and not (numbers > 0).all():
        raise ValueError(f"{name} should be greater than zero, but got {numbers}.")


def check_greater(a: Tensor | None, b: Tensor | None, name_a: str, name_b: str) -> None:
    """Raise ValueError unless all numbers of `a` are less than those of `b`."""
    low, high = _get_concrete_numbers(a), _get_concrete_numbers(b)
    if low is not None and high is not None and not (low < high).all():
        raise ValueError(f"{name_a} should be less than {name_b}, but got {low} and {high}.")


def check_no_scalar(family: str, scalars: type | tuple[type, ...], **parameters: Any) -> None:
    """Raise TypeError if a parameter is a Python number of one of the types `scalars`, which some distributions
    refuse."""
    for name, value in parameters.items():
        if isinstance(value, scalars):
            raise TypeError(f"For '{family}', '{name}' should not be a scalar: give [{value}] or a Tensor.")


def check_prob(p: Tensor | None) -> None:
    """Raise ValueError unless all numbers are between 0 and 1."""
    numbers = _get_concrete_numbers(p)
    if numbers is not None and not ((numbers > 0) & (numbers < 1)).all():
        raise ValueError(f"Probabilities should be greater than zero and less than one, but got {numbers}.")


def check_sum_equal_one(probs: Tensor | None) -> None:
    """Raise ValueError unless the numbers along the last axis add up to 1."""
    numbers = _get_concrete_numbers(probs)
    if numbers is None:
        return
    few = np.finfo(numbers.dtype).eps * numbers.shape[-1] * 4  # each has been rounded, and so has their sum
    if not np.allclose(numbers.sum(-1, dtype=np.float64), 1, rtol=0, atol=few):
        raise ValueError(f"Probabilities of the categories should sum to one, but got {numbers}.")


def check_rank(probs: Tensor) -> None:
    """Raise ValueError if `probs` is a scalar."""
    if probs.ndim == 0:
        raise ValueError("Probabilities of the categories should have an axis of categories, but got a scalar.")


def check_distribution_name(name: str | None, expected_name: str) -> None:
    """Raise ValueError unless the name of the other distribution is the expected one."""
    if name != expected_name:
        raise ValueError(f"The other distribution should be '{expected_name}', but got {describe(name)}.")


class CheckTensor:
    """A callable check: returns its argument if it is a Tensor, and raises TypeError otherwise."""

    def __call__(self, x: Any, name: str) -> Tensor:
        """Return `x`. Raise TypeError if it has another type."""
        if not isinstance(x, Tensor):
            raise TypeError(f"'{name}' should be a Tensor, but got {describe(x)}.")
        return x


class CheckTuple:
    """A callable check: returns its argument if it is a tuple, and raises TypeError otherwise."""

    def __call__(self, x: Any, name: str) -> tuple:
        """Return `x`. Raise TypeError if it has another type."""
        if not isinstance(x, tuple):
            raise TypeError(f"'{name}' should be a tuple, but got {describe(x)}.")
        return x
