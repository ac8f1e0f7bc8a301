"""Transforms of any column: types, one-hot encoding, slices, padding. They are C++ operators in MindSpore."""

from enum import IntEnum
from typing import Annotated, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.common.kinds import check, checked
from msnb.dataset.core.datatypes import mstype_to_detype, numpy_type
from msnb.dataset.core.kinds import Int, NonNegInt64, list_of, of_type, positive, within
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.engine.operations.padding import pad_to

Scalar = Annotated[str | float | bool | int | bytes, of_type(str, float, bool, int, bytes)]


@checked
def check_one_hot(num_classes: Int, smoothing_rate: Annotated[int | float, within(0.0, 1.0, int, float)]):
    """Check the number of classes and the smoothing rate of a one-hot encoding."""
    positive(num_classes, "")


class OneHot(TensorOp):
    """Encode labels as one-hot vectors.

    Args:
        num_classes (int): Number of classes, greater than every label.
        smoothing_rate (float, optional): Label smoothing: fraction of the 1 that is spread over all classes; the
            result is then float64.
            Default: 0.0.

    Raises:
        TypeError: If `num_classes` is not an int.
        ValueError: If it is not positive.
        RuntimeError: If a label is out of range or no integer.

    Examples:
        >>> import mindspore.dataset.transforms.c_transforms as C
        >>> C.OneHot(10)
    """

    @answered
    def __init__(self, num_classes: int, smoothing_rate: float = 0.0) -> None:
        check_one_hot(num_classes, smoothing_rate)
        self.num_classes: int = num_classes
        self.smoothing_rate: float = smoothing_rate

    def _encode_labels(self, labels):
        if labels.dtype.kind not in "iu":
            raise RuntimeError(
                f"One hot does not support input of this type: labels should be integers, but are {labels.dtype}."
            )
        if labels.size and (labels.max() >= self.num_classes or labels.min() < 0):
            raise RuntimeError(
                f"One_hot index values are not in range: labels go from {labels.min()} to {labels.max()}, but "
                f"num_classes is "
                f"{self.num_classes}."
            )
        encoded = np.zeros((labels.size, self.num_classes), labels.dtype)
        encoded[np.arange(labels.size), labels.reshape(-1)] = 1
        if self.smoothing_rate:
            encoded = ((1 - self.smoothing_rate) * encoded + self.smoothing_rate / self.num_classes).astype(np.float64)
        return encoded

    def _transform_row(self, label):
        label = label.squeeze() if label.ndim else label
        if label.ndim > 1:
            raise RuntimeError(f"One hot only supports scalars or 1D shape Tensors, but got shape {label.shape}.")
        encoded = self._encode_labels(label)
        return encoded[0] if len(encoded) == 1 else encoded

    def _transform_stack(self, labels):
        if labels.ndim == 1 or labels.ndim == 2 and labels.shape[1] == 1:
            return self._encode_labels(labels)
        return NotImplemented


class Fill(TensorOp):
    """Replace every element by one value.

    Args:
        fill_value (Union[str, bytes, int, float, bool]): The value. It is cast to the type of the column.

    Raises:
        TypeError: If it is not a scalar.
    """

    @checked
    def __init__(self, fill_value: Scalar):
        self.fill_value = fill_value

    def _transform_row(self, array):
        value = self.fill_value.encode() if isinstance(self.fill_value, str) else self.fill_value
        if array.dtype.kind in "SU":
            text = value if isinstance(value, bytes) else str(value).encode()
            return np.full(array.shape, text)
        if isinstance(value, bytes):
            raise RuntimeError(
                f"Types do not match: a column of {array.dtype} cannot be filled with the string {self.fill_value!r}."
            )
        return np.full(array.shape, np.array(value).astype(array.dtype))


class TypeCast(TensorOp):
    """Cast the column to another type.

    Args:
        data_type (mindspore.dtype): The type.

    Raises:
        TypeError: If `data_type` is not a MindSpore type.

    Examples:
        >>> import mindspore
        >>> import mindspore.dataset.transforms.c_transforms as C
        >>> C.TypeCast(mindspore.int32)
    """

    pointwise = True

    @answered
    def __init__(self, data_type: mstype.Type) -> None:
        if isinstance(data_type, type) and issubclass(data_type, np.generic) or isinstance(data_type, np.dtype):
            self._type = np.dtype(data_type)
        else:
            of_type(mstype.Type)(data_type, "data_type")
            self._type = mstype_to_detype(data_type)
        self.data_type: str = str(self._type)

    def _transform_row(self, array):
        if array.dtype.kind in "SU":
            if self._type.kind == "S":
                return array
            try:
                return array.astype(self._type)
            except ValueError:
                raise RuntimeError(
                    f"TypeCast does not support input of this type: {array.dtype} to {self._type}."
                ) from None
        with np.errstate(over="ignore", invalid="ignore"):
            return array.astype(self._type)

    _transform_stack = _transform_row


class _SliceOption:
    """Index or slice of one dimension, for :class:`Slice`."""

    kinds = (int, list, slice, bool, type(Ellipsis))

    def __init__(self, slice_option):
        self.option = slice_option.option if isinstance(slice_option, _SliceOption) else slice_option
        if self.option is not None:
            of_type(*self.kinds)(self.option, "slice_option")
        if isinstance(self.option, list):
            list_of(int)(self.option, "slice_option")


class Slice(TensorOp):
    """Slice an array with one index per dimension.

    Args:
        slices (Union[int, list[int], slice, None, Ellipsis]): For each dimension from the first on: an index, indices,
            a slice, or None or Ellipsis for all of it. An index keeps its dimension.

    Raises:
        TypeError: If a slice has the wrong type.

    Examples:
        >>> import mindspore.dataset.transforms.c_transforms as C
        >>> C.Slice(slice(1, 3))
    """

    def __init__(self, *slices: Any) -> None:
        self.slices: list[Any] = [_SliceOption(option).option for option in slices]

    def _transform_row(self, array):
        if len(self.slices) > array.ndim:
            raise RuntimeError(
                f"Slice: {len(self.slices)} slices were given for a column of {array.ndim} dimension(s), shape "
                f"{array.shape}."
            )
        for axis, option in enumerate(self.slices):
            array = self._take_along_axis(array, axis, option)
        return np.ascontiguousarray(array)

    @staticmethod
    def _take_along_axis(array, axis, option):
        if option is None or option is Ellipsis or option is True:
            return array
        length = array.shape[axis]
        if isinstance(option, slice):
            return array[(slice(None),) * axis + (option,)]
        indices = option if isinstance(option, list) else [int(option)]
        if not indices:
            raise RuntimeError("Both indices and slices can not be empty.")
        for index in indices:
            if not -length <= index < length:
                raise RuntimeError(f"Index {index} is out of bounds. The dimension has {length} elements.")
        return np.take(array, indices, axis=axis)


class Relational(IntEnum):
    """Comparison operators of :class:`Mask`."""

    EQ = 0
    NE = 1
    GT = 2
    GE = 3
    LT = 4
    LE = 5


_COMPARE = {
    Relational.EQ: np.equal,
    Relational.NE: np.not_equal,
    Relational.GT: np.greater,
    Relational.GE: np.greater_equal,
    Relational.LT: np.less,
    Relational.LE: np.less_equal,
}


class Mask(TensorOp):
    """Compare the elements of a column with a constant.

    Args:
        operator (Relational): The comparison.
        constant (Union[str, int, float, bool]): The constant. It is cast to the type of the column.
        dtype (mindspore.dtype, optional): Type of the result. Default: mindspore.bool_.

    Raises:
        TypeError: If an argument has the wrong type.
    """

    @checked
    def __init__(
        self,
        operator: Annotated[Relational, of_type(Relational)],
        constant: Scalar,
        dtype: Annotated[mstype.Type, of_type(mstype.Type)] = mstype.bool_,
    ):
        self.operator = operator
        self.constant = constant
        self.dtype = dtype
        self._type = numpy_type(dtype)

    def _transform_row(self, array):
        is_text = isinstance(self.constant, str | bytes)
        if self._type.kind == "S":
            raise RuntimeError("Cannot generate a string mask. Type should be numeric.")
        if is_text != (array.dtype.kind in "SU"):
            raise RuntimeError(
                "Cannot convert constant value to the type of the input tensor: "
                f"{self.constant!r} and a column of {array.dtype}."
            )
        if is_text:
            constant = self.constant.encode() if isinstance(self.constant, str) else self.constant
            mask = np.array(_COMPARE[self.operator](array.astype(object), constant), bool).reshape(array.shape)
        else:
            mask = _COMPARE[self.operator](array, np.array(self.constant).astype(array.dtype))
        return np.asarray(mask).astype(self._type)


class PadEnd(TensorOp):
    """Pad (or truncate) the column at the end of each dimension to a shape.

    Args:
        pad_shape (list[Union[int, None]]): The shape; None keeps a dimension.
        pad_value (Union[str, bytes, int, float, bool], optional): Fill value. Default: None, 0 or "".

    Raises:
        TypeError: If an argument has the wrong type.
    """

    @checked
    def __init__(self, pad_shape: list[int | None], pad_value: Scalar | None = None) -> None:
        of_type(list)(pad_shape, "pad_end")
        sizes = [dim for dim in pad_shape if dim is not None]
        if not all(isinstance(dim, int) for dim in sizes):
            raise TypeError(f"a value in the list is not an integer. pad_shape is {pad_shape}.")
        for dim in sizes:
            check(NonNegInt64, dim, "pad_shape", "PadEnd")
        self.pad_shape, self.pad_value = pad_shape, pad_value

    def _transform_row(self, array):
        if not array.ndim or not self.pad_shape:
            return array  # a scalar cannot be padded
        if array.ndim != len(self.pad_shape):
            raise RuntimeError(
                f"PadEnd: invalid pad shape: pad_shape has {len(self.pad_shape)} dimension(s), but the column has "
                f"shape "
                f"{array.shape}."
            )
        shape = tuple(n if p is None else p for n, p in zip(array.shape, self.pad_shape, strict=True))
        return pad_to(array, shape, self.pad_value)


class Concatenate(TensorOp):
    """Concatenate the input columns, with an optional constant array before and after them.

    Args:
        axis (int, optional): 0 or -1. Default: 0.
        prepend (np.ndarray, optional): First array, 1-D. Default: None.
        append (np.ndarray, optional): Last array, 1-D. Default: None.

    Raises:
        TypeError: If `prepend` or `append` is not an array.
        ValueError: If they are not 1-D, or `axis` is neither 0 nor -1.
    """

    inputs = None

    @checked
    def __init__(
        self,
        axis: Int = 0,
        prepend: Annotated[np.ndarray, of_type(np.ndarray)] | None = None,
        append: Annotated[np.ndarray, of_type(np.ndarray)] | None = None,
    ):
        for name, array in (("prepend", prepend), ("append", append)):
            if array is not None and array.ndim != 1:
                raise ValueError(f"can only {name} 1D arrays.")
        self.axis = axis
        if axis not in (0, -1):
            raise ValueError(f"only 1D concatenation supported. The axis should be 0 or -1, but is {axis}.")
        self.prepend = self._encode_strings(prepend)
        self.append = self._encode_strings(append)

    @staticmethod
    def _encode_strings(array):
        return np.char.encode(array, "utf-8") if array is not None and array.dtype.kind == "U" else array

    def _transform_row(self, *arrays):
        kind = arrays[0].dtype
        arrays_to_join = [array for array in (self.prepend, *arrays, self.append) if array is not None]
        for array in arrays_to_join:
            if array.ndim != 1:
                raise RuntimeError(f"Only 1D tensors supported, but got shape {array.shape}.")
            if array.dtype != kind and not (array.dtype.kind == "S" and kind.kind == "S"):
                raise RuntimeError(f"Tensor types do not match: {kind} and {array.dtype}.")
        return np.concatenate(arrays_to_join)


class Duplicate(TensorOp):
    """Return the column and a copy of it. Name two output columns."""

    def _transform_row(self, array):
        return array, array.copy()


class Unique(TensorOp):
    """Return the distinct elements of a column, the index of each element among them, and their counts.

    A column of several dimensions is flattened. The distinct elements are in the order of their first occurrence. Name
    three output columns.
    """

    def _transform_row(self, array):
        array = array.reshape(-1)
        if array.dtype.kind in "SU":
            raise RuntimeError("Unique op only supports numeric input.")
        _, first, inverse, counts = np.unique(array, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return array[first[order]], rank[inverse], counts[order].astype(np.int32)
