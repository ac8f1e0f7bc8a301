"""Functions of values, types and shapes that run while a graph is traced."""

from typing import Any

from msnb.common import dtype as mstype
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.operator.declare import spelling
from msnb.core.tensor.sparse import RowTensor, SparseTensor
from msnb.core.tensor.tensor import Tensor
from msnb.ops.array.cast import Cast


@spelling(generation=1)
def tuple_setitem(data: Any, index: Any, value: Any) -> Any:
    """Return a copy of a tuple with one element replaced.

    Args:
        data (tuple): The tuple.
        index (int): Index of the element.
        value (Any): The new value.

    Returns:
        tuple.
    """
    return tuple(list_setitem(list(data), index, value))


@spelling(generation=1)
def list_setitem(data: Any, index: Any, value: Any) -> Any:
    """Return a copy of a list with one element replaced.

    Args:
        data (list): The list.
        index (int): Index of the element.
        value (Any): The new value.

    Returns:
        list.
    """
    data = list(data)
    data[index] = value
    return data


@spelling(generation=1)
def dict_setitem(data: Any, key: Any, value: Any) -> Any:
    """Return a copy of a dict with the value of one key replaced.

    Args:
        data (dict): The dict.
        key (Any): The key.
        value (Any): The new value.

    Returns:
        dict.
    """
    return {**data, key: value}


@spelling(generation=1)
def tuple_div(x: Any, y: Any) -> Any:
    """Divide two tuples of int element by element. Each quotient must be an integer.

    Args:
        x (tuple): Dividends.
        y (tuple): Divisors.

    Returns:
        tuple of int.

    Raises:
        ValueError: If the lengths differ or a quotient is not an integer.
    """
    if len(x) != len(y):
        raise ValueError(f"For 'tuple_div', the tuples should have one length, but got {x} and {y}.")
    if any(b == 0 or a % b for a, b in zip(x, y, strict=True)):
        raise ValueError(f"For 'tuple_div', {x} should be divisible by {y}.")
    return tuple(a // b for a, b in zip(x, y, strict=True))


@spelling(generation=1)
def tail(data: Any) -> Any:
    """Return all elements of a sequence but the first.

    Args:
        data (Union[tuple, list]): The sequence.

    Returns:
        A sequence of the same kind.
    """
    return data[1:]


@spelling(generation=1)
def typeof(value: Any) -> Any:
    """Return the mindspore type of a value.

    Args:
        value (Any): A Tensor or a Python value.

    Returns:
        mindspore.dtype. For a Tensor, a tensor type that contains the element type.
    """
    return mstype.get_py_obj_dtype(value)


@spelling(generation=1)
def hastype(value: Any, type_: Any) -> Any:
    """Return True if a value is of a mindspore type or of a family of types.

    Args:
        value (Any): A Tensor, a Python value, or a type.
        type_ (mindspore.dtype): The type.

    Returns:
        bool.
    """
    dtype = value if isinstance(value, mstype.Type) else mstype.get_py_obj_dtype(value)
    if isinstance(dtype, mstype.TensorType) and isinstance(type_, mstype.Number):
        dtype = dtype.element
    return mstype.issubclass_(dtype, type_)


@spelling(generation=1)
def isconstant(x: Any) -> Any:
    """Return True if a value is constant before the program runs.

    Args:
        x (Any): A Tensor or a Python value.

    Returns:
        bool.
    """
    return not (isinstance(x, Tensor) and is_tracer(x._array))


@spelling(generation=1)
def mixed_precision_cast(dst_dtype: Any, x: Any) -> Any:
    """Cast floating point Tensors, also those in tuples, lists and dicts, to another floating point type.

    Args:
        dst_dtype (mindspore.dtype): The type.
        x (Any): A Tensor, a sequence of them, or another value, which is returned unchanged.

    Returns:
        `x` with its floating point Tensors converted.
    """
    if isinstance(x, Tensor):
        is_float = x.dtype in mstype.float_type or x.dtype == mstype.bfloat16
        return Cast.functional(x, dst_dtype) if is_float and x.dtype != dst_dtype else x
    if isinstance(x, dict):
        return {k: mixed_precision_cast(dst_dtype, v) for k, v in x.items()}
    if isinstance(x, (tuple, list)):
        return type(x)(mixed_precision_cast(dst_dtype, v) for v in x)
    if isinstance(x, (RowTensor, SparseTensor)):
        return type(x)(x.indices, mixed_precision_cast(dst_dtype, x.values), x.dense_shape)
    return x


@spelling(generation=1)
def broadcast_gradient_args(x_shape: Any, y_shape: Any) -> Any:
    """Return the axes over which to sum the gradients of two operands that were broadcast against each other.

    Args:
        x_shape (tuple[int]): Shape of the first operand.
        y_shape (tuple[int]): Shape of the second operand.

    Returns:
        Two tuples of int, one for each operand.

    Raises:
        ValueError: If the shapes do not broadcast.
    """
    rank = max(len(x_shape), len(y_shape))
    x = (1,) * (rank - len(x_shape)) + tuple(x_shape)
    y = (1,) * (rank - len(y_shape)) + tuple(y_shape)
    if any(a != b and 1 not in (a, b) for a, b in zip(x, y, strict=True)):
        raise ValueError(f"For 'broadcast_gradient_args', the shapes {x_shape} and {y_shape} do not broadcast.")
    pairs = list(enumerate(zip(x, y, strict=True)))
    return (tuple(i for i, (a, b) in pairs if a == 1 and b != 1), tuple(i for i, (a, b) in pairs if b == 1 and a != 1))


@spelling(generation=1)
def reduced_shape(shape: Any, axis: int | tuple[int, ...] | list[int]) -> Any:
    """Return `shape` with length 1 at the given axes.

    Args:
        shape (tuple[int]): The shape.
        axis (Union[int, tuple[int]]): The axes; all for ().

    Returns:
        tuple of int.
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis) or tuple(range(len(shape)))
    axes = {a % len(shape) for a in axes}
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


@spelling(generation=1)
def switch(condition: Any, when_true: Any, when_false: Any) -> Any:
    """Return `when_true` or `when_false`.

    Args:
        condition (Union[bool, Tensor]): A condition whose value is known while the graph is traced.
        when_true (Any): The result if `condition` is true.
        when_false (Any): The result if `condition` is false.

    Returns:
        `when_true` or `when_false`.

    Raises:
        TypeError: If the condition is a traced value. Use an if statement for it.
    """
    return when_true if condition else when_false


@spelling(generation=1)
def switch_layer(index: Any, layers: Any) -> Any:
    """Return one of several functions.

    Args:
        index (Union[int, Tensor]): Index of the function, known before the program runs.
        layers (Union[tuple, list]): The functions.

    Returns:
        layers[index].

    Raises:
        RuntimeError: If the index is a traced value.
    """
    return layers[int(index)]


def _declare_unsupported_function(name):
    def form(*args):
        raise NotImplementedError(
            f"'{name}' is part of MindSpore's compiler and computes nothing by itself; "
            f"use ops.GradOperation for gradients and plain Python for everything else "
            f"(got {', '.join(map(describe, args)) or 'no arguments'})."
        )

    form.__name__ = form.__qualname__ = name
    form.__doc__ = (
        f"`{name}` is part of MindSpore's compiler. It has a name here, and raises NotImplementedError.\n\n"
        "    Supported Platforms:\n        None\n    "
    )
    spelling(function=name, generation=1)(form)


for _name in (
    "array_reduce",
    "distribute",
    "embed",
    "ref_to_embed",
    "env_setitem",
    "env_getitem",
    "env_add",
    "env_get",
    "J",
    "make_ref",
):
    _declare_unsupported_function(_name)
