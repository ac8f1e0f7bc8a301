"""Properties of a Tensor as Python values: shape, size and type; tests of types."""

from typing import Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.kinds import Int, check
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.messages import describe
from msnb.core.operator.cases import F, case, refused
from msnb.core.operator.declare import spelling
from msnb.core.tensor.sparse import SparseBase
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import axis_in, tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops._numpy import ArrayLike, as_tensor


@host_operator("shape")
class Shape(HostPrimitive):
    """Shape of a Tensor.

    Inputs:
        - **input_x** (Tensor) - Of any shape and type.

    Outputs:
        tuple[int].

    Raises:
        TypeError: If `input_x` is not a Tensor.

    Examples:
        >>> print(ops.Shape()(Tensor(np.ones((3, 2, 1)), mindspore.float32)))
        (3, 2, 1)
    """

    def __call__(self, input_x: Any) -> Any:
        return tensor_argument("Shape", "input_x", input_x).shape


@host_operator()
class DynamicShape(HostPrimitive):
    """Shape of a Tensor, as a Tensor.

    Inputs:
        - **x** (Tensor) - Of any shape and type.

    Outputs:
        Tensor of int64, of shape (x.ndim,).

    Raises:
        TypeError: If `x` is not a Tensor.

    Examples:
        >>> print(ops.DynamicShape()(Tensor(np.ones((3, 2, 1)), mindspore.float32)))
        [3 2 1]
    """

    def __call__(self, input_x: Any) -> Any:
        return Tensor(np.array(tensor_argument("DynamicShape", "input_x", input_x).shape, np.int64))


@host_operator("dtype")
class DType(HostPrimitive):
    """Element type of a Tensor.

    Inputs:
        - **x** (Union[Tensor, COOTensor, CSRTensor]) - Of any shape and type.

    Outputs:
        mindspore.dtype.

    Raises:
        TypeError: If `x` has another type.

    Examples:
        >>> print(ops.DType()(Tensor([1., 2.], mindspore.float32)))
        Float32
    """

    def __call__(self, x: Any) -> Any:
        return (x if isinstance(x, SparseBase) else tensor_argument("DType", "x", x)).dtype


@host_operator("rank")
class Rank(HostPrimitive):
    """Number of dimensions of a Tensor.

    Inputs:
        - **input_x** (Tensor) - Of any shape and type.

    Outputs:
        int.

    Raises:
        TypeError: If `input_x` is not a Tensor.

    Examples:
        >>> print(ops.Rank()(Tensor([[2, 2], [2, 2]], mindspore.float32)))
        2
    """

    def __call__(self, input_x: Any) -> Any:
        return tensor_argument("Rank", "input_x", input_x).ndim


@host_operator("size")
class Size(HostPrimitive):
    """Number of elements of a Tensor.

    Inputs:
        - **input_x** (Tensor) - Of any shape and type.

    Outputs:
        int.

    Raises:
        TypeError: If `input_x` is not a Tensor.

    Examples:
        >>> print(ops.Size()(Tensor([[2, 2], [2, 2]], mindspore.float32)))
        4
    """

    def __call__(self, input_x: Any) -> Any:
        return tensor_argument("Size", "input_x", input_x).size


@spelling(Size, numpy="size")
def size(a: ArrayLike, axis: int | None = None) -> int:
    """Number of elements of a Tensor, or its length along an axis.

    Args:
        a (Union[Tensor, list, tuple, Number]): Any Tensor.
        axis (int): The axis. Default: None, all elements are counted.

    Returns:
        int.

    Raises:
        TypeError: If `axis` is not an int.
        ValueError: If `axis` is out of range.
    """
    a = as_tensor(a, "size", "a")
    return a.size if axis is None else a.shape[axis_in("size", check(Int, axis, "axis", "size"), a.ndim)]


@host_operator("same_type_shape")
class SameTypeShape(HostPrimitive):
    """Check that two Tensors agree in shape and element type, and return the first.

    Inputs:
        - **input_x** (Tensor) - Of any shape and type.
        - **input_y** (Tensor) - Of the shape and type of `input_x`.

    Outputs:
        Tensor, `input_x` itself.

    Raises:
        TypeError: If an input is not a Tensor or the element types differ.
        ValueError: If the shapes differ.
    """

    def __call__(self, input_x: Any, input_y: Any) -> Any:
        tensor_argument("SameTypeShape", "input_x", input_x)
        tensor_argument("SameTypeShape", "input_y", input_y)
        if input_x.dtype != input_y.dtype:
            raise TypeError(
                f"For 'SameTypeShape', the inputs should have one element type, but got "
                f"{input_x.dtype} and {input_y.dtype}."
            )
        if input_x.shape != input_y.shape:
            raise ValueError(
                f"For 'SameTypeShape', the inputs should have one shape, but got {input_x.shape} and {input_y.shape}."
            )
        return input_x


@host_operator("issubclass_")
class IsSubClass(HostPrimitive):
    """Return True if a type is the same as another or belongs to its family.

    Inputs:
        - **sub_type** (mindspore.dtype) - The type to test.
        - **type_** (mindspore.dtype) - A type, or a family such as mindspore.int_.

    Outputs:
        bool.

    Raises:
        TypeError: If an input is not a type.

    Examples:
        >>> print(ops.IsSubClass()(mindspore.int32, mindspore.int_))
        True
    """

    def __call__(self, sub_type: Any, type_: Any) -> Any:
        for argument, value in (("sub_type", sub_type), ("type_", type_)):
            if not isinstance(value, mstype.Type):
                raise TypeError(
                    f"For 'IsSubClass', '{argument}' should be a mindspore type, but got {describe(value)}."
                )
        return mstype.issubclass_(sub_type, type_)


@host_operator("isinstance_")
class IsInstance(HostPrimitive):
    """Return True if a value is of a type or of a family of types.

    Inputs:
        - **inst** (Any) - The value to test.
        - **type_** (mindspore.dtype) - A type, or a family such as mindspore.int_ or mindspore.tensor.

    Outputs:
        bool.

    Raises:
        TypeError: If `type_` is not a type.

    Examples:
        >>> print(ops.IsInstance()(1, mindspore.int_))
        True
    """

    def __call__(self, inst: Any, type_: Any) -> Any:
        if not isinstance(type_, mstype.Type):
            raise TypeError(f"For 'IsInstance', 'type_' should be a mindspore type, but got {describe(type_)}.")
        if type_ == mstype.list_:
            return isinstance(inst, list)
        if type_ == mstype.tuple_:
            return isinstance(inst, tuple)
        return mstype.issubclass_(mstype.get_py_obj_dtype(inst), type_)


@host_operator("shape_")
class TensorShape(HostPrimitive):
    """Shape of a Tensor, as a Tensor.

    Inputs:
        - **input_x** (Tensor) - Of any shape and type.

    Outputs:
        Tensor of int64, of shape (input_x.ndim,).

    Raises:
        TypeError: If `input_x` is not a Tensor.
    """

    def __call__(self, x: Any) -> Any:
        return Tensor(np.array(tensor_argument("TensorShape", "x", x).shape, np.int64))


@spelling(Size)
def numel(input: Tensor) -> int:
    """Number of elements of a Tensor.

    Args:
        input (Tensor): Any Tensor.

    Returns:
        int.

    Raises:
        TypeError: If `input` is not a Tensor.
    """
    return tensor_argument("numel", "input", input).size


@spelling()
def dyn_shape(input_x: Tensor) -> Tensor:
    """Shape of a Tensor, as a Tensor of int64.

    Args:
        input_x (Tensor): Any Tensor.

    Returns:
        Tensor of shape (number of dimensions,).

    Raises:
        TypeError: If `input_x` is not a Tensor.
    """
    return Tensor(np.array(tensor_argument("dyn_shape", "input_x", input_x).shape, np.int64))


@spelling()
def is_tensor(obj: Any) -> bool:
    """Return True if an object is a Tensor.

    Args:
        obj (Any): Any object.

    Returns:
        bool.
    """
    return isinstance(obj, Tensor)


@spelling()
def is_complex(input: Tensor) -> bool:
    """Return True if the elements of a Tensor are complex numbers.

    Args:
        input (Tensor): Any Tensor.

    Returns:
        bool.

    Raises:
        TypeError: If `input` is not a Tensor.
    """
    return tensor_argument("is_complex", "input", input).is_complex()


@spelling()
def is_nonzero(input: Tensor) -> bool:
    """Return True if the only element of a Tensor is not 0.

    Args:
        input (Tensor): A Tensor with one element.

    Returns:
        bool; in a compiled graph a Tensor of bool, whose value is known when it runs.

    Raises:
        TypeError: If `input` is not a Tensor.
        ValueError: If it has several elements, or none.
    """
    if tensor_argument("is_nonzero", "input", input).size != 1:
        raise ValueError(f"For 'is_nonzero', 'input' should have one element, but got shape {input.shape}.")
    answer = input.reshape(()) != 0
    return answer if is_tracer(answer._array) else bool(answer)


@spelling(method="is_signed")
def _is_signed(self: Tensor) -> bool:
    """Return True if the element type can hold negative values."""
    return self._array.dtype.kind not in "bu"


CASES = [
    case(TensorShape, F(2, 3)),
    refused(TypeError, Shape, 3),
]
