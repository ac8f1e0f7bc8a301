"""Base classes of dataset transforms.

A transform of the library is a function of the columns of one row. It may also define a form for many rows at once.

A deterministic transform defines ``_transform_row``. A random transform defines ``_sample_params``, which draws its
random numbers in the order of the rows, and ``_apply_params``, which uses them and may run on any thread. If drawing
and applying cannot be separated, it defines ``_transform_row_with_state`` instead. ``_transform_stack``,
``_sample_stack_params`` and ``_apply_stack_params`` process a chunk of rows of equal shape in one call. They may
return NotImplemented for input that they do not support.
"""

from enum import IntEnum
from typing import Any, Self

import numpy as np

from msnb.core.operator import api_generations
from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.streams import Mt32


class Described:
    """Base of objects that record their constructor arguments, so that a description of a pipeline can contain them."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        new = super().__new__(cls)
        new._made_with = (args, kwargs)
        return new


class TensorOp(Described):
    """Base of the transforms of the library.

    Attributes:
        inputs: Number of columns that it takes; None for any number.
        deterministic: Equal input gives equal output.
        pointwise: Each element depends only on the same element and on its channel, the last axis.
        costly: It takes so long that caching its result and running it in a thread pay off.
        to_planes: It only moves the channels, the last axis, to the front.
        makes_new: Its results are in memory that nothing else refers to.
    """

    inputs = 1
    deterministic = True
    pointwise = False
    costly = False
    to_planes = False
    makes_new = False
    _transform_stack = None
    _sample_params = None
    _sample_stack_params = None
    _apply_stack_in_place = None  # _apply_stack_params in place, for a chunk that nothing else refers to
    # (shape, dtype) of every result; _apply_params_into(params, row, out) then writes it to `out`
    _infer_result_spec = None

    def _transform_row(self, *arrays):
        raise NotImplementedError(f"{type(self).__name__} does not define what it does to a row.")

    def _create_random_state(self):
        """Return the transform's state for one running pipeline: a random stream, or None if it is deterministic."""
        return None if self.deterministic else Mt32(fresh_seed())

    def _transform_row_with_state(self, state, *arrays):
        if self.deterministic:
            return self._transform_row(*arrays)
        return self._apply_params(self._sample_params(state, *arrays), *arrays)

    def _run_eagerly(self, *arrays):
        """Apply the transform to one row outside a pipeline.

        A random transform starts from the seed in every call, as in MindSpore.
        """
        if self.deterministic:
            return self._transform_row(*arrays)
        return self._transform_row_with_state(self._create_random_state(), *arrays)

    def __call__(self, *inputs: Any) -> Any:
        """Apply the transform to numpy arrays, Tensors, PIL images or strings, outside a pipeline."""
        if not inputs:
            raise TypeError(f"{type(self).__name__} was called without input; give it one numpy array per column.")
        result = self._run_eagerly(*[as_array(x) for x in inputs])
        if api_generations.shared == 1:
            return result
        return (
            type(result)(map(_decode_strings, result)) if isinstance(result, tuple | list) else _decode_strings(result)
        )

    def __repr__(self) -> str:
        fields = ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items() if not k.startswith("_"))
        return f"{type(self).__name__}({fields})"


TensorOp.__module__ = "mindspore._c_dataengine"  # the class that MindSpore's own error messages name


class PyTensorOperation(Described):
    """Base of transforms that users write for MindSpore 2. They define ``_execute_py`` or ``__call__``.

    Examples:
        >>> from mindspore.dataset.transforms.transforms import PyTensorOperation
        >>> class Double(PyTensorOperation):
        ...     def _execute_py(self, x):
        ...         return x * 2
        >>> Double()(np.array([1, 2]))
        array([2, 4])
    """

    def __init__(self) -> None:
        self.transforms: list[Any] = []
        self.output_type: Any = None

    def _execute_py(self, *inputs):
        raise NotImplementedError(f"{type(self).__name__} should define _execute_py or __call__.")

    def __call__(self, *inputs: Any) -> Any:
        """Return the result of ``_execute_py`` for the columns of a row."""
        return self._execute_py(*inputs)


class Implementation(IntEnum):
    """The method that computes a transform of a library: ``parse`` (C) or ``_execute_py`` (PY)."""

    C = 0
    PY = 1


class TensorOperation(TensorOp):
    """Base of transforms that libraries write for MindSpore 2. Their method ``parse`` returns a transform of
    ``mindspore._c_dataengine``, which is applied. If ``implementation`` is PY, ``_execute_py`` is called.
    """

    inputs = None
    deterministic = False

    def __init__(self) -> None:
        self.implementation: Implementation = Implementation.C

    def parse(self) -> TensorOp:
        """Return the transform that is applied."""
        raise NotImplementedError(f"{type(self).__name__} should define parse.")

    def _transform_row_with_state(self, state, *arrays):
        if self.implementation == Implementation.PY:
            result = self._execute_py(*map(as_str, arrays))
            return tuple(map(as_array, result)) if isinstance(result, tuple) else as_array(result)
        return self.parse()._transform_row_with_state(state, *arrays)

    def _execute_py(self, *arrays):
        raise NotImplementedError(f"{type(self).__name__} should define _execute_py.")


def as_str(array: np.ndarray) -> Any:
    """Return a column's value as functions of MindSpore 2 take it: bytes as str, and a dict out of the array of objects
    that holds it in a pipeline. Other arrays are returned unchanged."""
    kind = array.dtype.kind
    return np.char.decode(array, "utf-8") if kind == "S" else array.item() if kind == "O" else array


def holds_dict(value: Any) -> bool:
    """Return True if `value` is a dict, which a column of MindSpore 2 may hold: `as_array` makes it an array of
    objects without dimensions."""
    return api_generations.shared == 2 and isinstance(value, dict)


def _decode_strings(result):
    """Convert arrays of bytes in `result` to arrays of str, as transforms of MindSpore 2 return them."""
    return as_str(result) if isinstance(result, np.ndarray) else result


def as_array(value: Any) -> np.ndarray:
    """Convert a column's value (array, Tensor, PIL image, number, str, bytes) to a numpy array."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind != "U" else np.char.encode(value, "utf-8")
    if isinstance(value, str):
        return np.array(value.encode("utf-8"))
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    array = np.asarray(value)
    if array.dtype.kind == "U":
        return np.char.encode(array, "utf-8")
    return array
