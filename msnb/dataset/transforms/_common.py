"""Transforms of any column: types, one-hot codes, slices, padding. C++ operators in MindSpore."""

from enum import IntEnum
from typing import Annotated, Any

import numpy as np

from msnb.common import dtype as mstype
from msnb.common.arguments import answered
from msnb.common.kinds import check, checked
from msnb.dataset.core.datatypes import mstype_to_detype, numpy_type
from msnb.dataset.core.kinds import NonNegInt64, Whole, list_of, of_type, positive, within
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.engine.padding import pad_to

Scalar = Annotated[str | float | bool | int | bytes, of_type(str, float, bool, int, bytes)]


@checked
def check_one_hot(num_classes: Whole, smoothing_rate: Annotated[int | float, within(0.0, 1.0, int, float)]):
    """Checks of a number of classes and of the share of the 1 that is spread over them."""
    positive(num_classes, "")


class OneHot(TensorOp):
    """Labels as rows with a 1 at the label's place.

    Args:
        num_classes (int): Length of a row, greater than every label.
        smoothing_rate (float, optional): Share of the 1 spread over all places; the result is then float64. Default:
            0.0.

    Raises:
        TypeError: If `num_classes` is no int.
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

    def _coded(self, labels):
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
        coded = np.zeros((labels.size, self.num_classes), labels.dtype)
        coded[np.arange(labels.size), labels.reshape(-1)] = 1
        if self.smoothing_rate:
            coded = ((1 - self.smoothing_rate) * coded + self.smoothing_rate / self.num_classes).astype(np.float64)
        return coded

    def _transform_row(self, label):
        label = label.squeeze() if label.ndim else label
        if label.ndim > 1:
            raise RuntimeError(f"One hot only supports scalars or 1D shape Tensors, but got shape {label.shape}.")
        coded = self._coded(label)
        return coded[0] if len(coded) == 1 else coded

    def _transform_stack(self, labels):
        if labels.ndim == 1 or labels.ndim == 2 and labels.shape[1] == 1:
            return self._coded(labels)
        return NotImplemented


class Fill(TensorOp):
    """Every element replaced by one value.

    Args:
        fill_value (Union[str, bytes, int, float, bool]): The value; it takes the type of the column.

    Raises:
        TypeError: If it is no scalar.
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
    """The column in another type.

    Args:
        data_type (mindspore.dtype): The type.

    Raises:
        TypeError: If `data_type` is no MindSpore type.

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
    """One dimension's part of a :class:`Slice`."""

    kinds = (int, list, slice, bool, type(Ellipsis))

    def __init__(self, slice_option):
        self.option = slice_option.option if isinstance(slice_option, _SliceOption) else slice_option
        if self.option is not None:
            of_type(*self.kinds)(self.option, "slice_option")
        if isinstance(self.option, list):
            list_of(int)(self.option, "slice_option")


class Slice(TensorOp):
    """A part of the column: one slice per dimension.

    Args:
        slices (Union[int, list[int], slice, None, Ellipsis]): For each dimension from the first on: a place, places, a
            slice, or None
            or Ellipsis for all of it. A place keeps its dimension.

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
            array = self._along(array, axis, option)
        return np.ascontiguousarray(array)

    @staticmethod
    def _along(array, axis, option):
        if option is None or option is Ellipsis or option is True:
            return array
        length = array.shape[axis]
        if isinstance(option, slice):
            return array[(slice(None),) * axis + (option,)]
        places = option if isinstance(option, list) else [int(option)]
        if not places:
            raise RuntimeError("Both indices and slices can not be empty.")
        for place in places:
            if not -length <= place < length:
                raise RuntimeError(f"Index {place} is out of bounds. The dimension has {length} elements.")
        return np.take(array, places, axis=axis)


class Relational(IntEnum):
    """The comparisons of :class:`Mask`."""

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
    """Where the elements of a column compare to a constant.

    Args:
        operator (Relational): The comparison.
        constant (Union[str, int, float, bool]): What to compare with; it takes the type of the column.
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
        text = isinstance(self.constant, str | bytes)
        if self._type.kind == "S":
            raise RuntimeError("Cannot generate a string mask. Type should be numeric.")
        if text != (array.dtype.kind in "SU"):
            raise RuntimeError(
                "Cannot convert constant value to the type of the input tensor: "
                f"{self.constant!r} and a column of {array.dtype}."
            )
        if text:
            constant = self.constant.encode() if isinstance(self.constant, str) else self.constant
            made = np.array(_COMPARE[self.operator](array.astype(object), constant), bool).reshape(array.shape)
        else:
            made = _COMPARE[self.operator](array, np.array(self.constant).astype(array.dtype))
        return np.asarray(made).astype(self._type)


class PadEnd(TensorOp):
    """The column filled up (or cut) at its ends to a shape.

    Args:
        pad_shape (list[Union[int, None]]): The shape; None leaves a dimension as it is.
        pad_value (Union[str, bytes, int, float, bool], optional): What to fill with. Default: None, 0 or "".

    Raises:
        TypeError: If an argument has the wrong type.
    """

    @checked
    def __init__(self, pad_shape: list[int | None], pad_value: Scalar | None = None) -> None:
        of_type(list)(pad_shape, "pad_end")
        given = [dim for dim in pad_shape if dim is not None]
        if not all(isinstance(dim, int) for dim in given):
            raise TypeError(f"a value in the list is not an integer. pad_shape is {pad_shape}.")
        for dim in given:
            check(NonNegInt64, dim, "pad_shape", "PadEnd")
        self.pad_shape, self.pad_value = pad_shape, pad_value

    def _transform_row(self, array):
        if not array.ndim or not self.pad_shape:
            return array  # there is no end to fill up
        if array.ndim != len(self.pad_shape):
            raise RuntimeError(
                f"PadEnd: invalid pad shape: pad_shape has {len(self.pad_shape)} dimension(s), but the column has "
                f"shape "
                f"{array.shape}."
            )
        shape = tuple(n if p is None else p for n, p in zip(array.shape, self.pad_shape, strict=True))
        return pad_to(array, shape, self.pad_value)


class Concatenate(TensorOp):
    """The input columns one after the other, between two constants.

    Args:
        axis (int, optional): 0 or -1. Default: 0.
        prepend (np.ndarray, optional): What comes first, 1-D. Default: None.
        append (np.ndarray, optional): What comes last, 1-D. Default: None.

    Raises:
        TypeError: If `prepend` or `append` is no array.
        ValueError: If they are not 1-D, or `axis` is another.
    """

    inputs = None

    @checked
    def __init__(
        self,
        axis: Whole = 0,
        prepend: Annotated[np.ndarray, of_type(np.ndarray)] | None = None,
        append: Annotated[np.ndarray, of_type(np.ndarray)] | None = None,
    ):
        for name, array in (("prepend", prepend), ("append", append)):
            if array is not None and array.ndim != 1:
                raise ValueError(f"can only {name} 1D arrays.")
        self.axis = axis
        if axis not in (0, -1):
            raise ValueError(f"only 1D concatenation supported. The axis should be 0 or -1, but is {axis}.")
        self.prepend = self._bytes(prepend)
        self.append = self._bytes(append)

    @staticmethod
    def _bytes(array):
        return np.char.encode(array, "utf-8") if array is not None and array.dtype.kind == "U" else array

    def _transform_row(self, *arrays):
        kind = arrays[0].dtype
        parts = [p for p in (self.prepend, *arrays, self.append) if p is not None]
        for part in parts:
            if part.ndim != 1:
                raise RuntimeError(f"Only 1D tensors supported, but got shape {part.shape}.")
            if part.dtype != kind and not (part.dtype.kind == "S" and kind.kind == "S"):
                raise RuntimeError(f"Tensor types do not match: {kind} and {part.dtype}.")
        return np.concatenate(parts)


class Duplicate(TensorOp):
    """The column twice: name two output columns."""

    def _transform_row(self, array):
        return array, array.copy()


class Unique(TensorOp):
    """The different elements of a 1-D column, in the order they first appear, the number of each element's, and their
    counts.

    Name three output columns.
    """

    def _transform_row(self, array):
        if array.ndim > 1 and array.size != array.shape[-1]:
            raise RuntimeError(f"Only 1D tensors supported, but got shape {array.shape}.")
        array = array.reshape(-1)
        if array.dtype.kind in "SU":
            raise RuntimeError("Unique op only supports numeric input.")
        _, first, inverse, counts = np.unique(array, return_index=True, return_inverse=True, return_counts=True)
        order = np.argsort(first, kind="stable")
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        return array[first[order]], place[inverse], counts[order].astype(np.int32)
