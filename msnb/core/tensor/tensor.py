"""`Tensor`: a box around one `jax.Array`. Operators are attached to it by their declarations."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb import context, log
from msnb.common import display_hooks
from msnb.common import dtype as mstype
from msnb.common.suggestions import TENSOR, no_attribute
from msnb.core.compat.jax_private import drop_weak_type, is_tracer
from msnb.core.errors.data_dependent_shape import ValueNeeded
from msnb.core.errors.messages import explain_branch, format_location, user_line
from msnb.core.state import deferred_errors, trace_state
from msnb.core.support.unknown_shape import UnknownShape, make_unknown_shape
from msnb.core.tensor.conversion import Boxed, available, to_array
from msnb.core.tensor.formatting import tensor_repr, traced_text

_thread = trace_state.thread
_MS_DTYPE = mstype._BY_NUMPY
_initializer: Callable[..., Any]


def register_initializer(initializer: Callable[..., Any]) -> None:
    """Set the function for `Tensor(init=...)`. `core.tensor.lazy` registers it, because that module imports this
    one."""
    global _initializer
    _initializer = initializer


def _report_ignored_arguments(const_arg, device):
    log.unused("Tensor", "what a graph takes as a constant is decided by how it is used", const_arg=const_arg)
    is_default = device is None or device.partition(":")[0].upper() == context.get_context("device_target").upper()
    log.unused("Tensor", "what set_device names holds all Tensors", device=not is_default)


class Tensor(Boxed):
    """An n-dimensional array with MindSpore's interface.

    Args:
        input_data (Union[Tensor, numpy.ndarray, float, int, bool, list, tuple]): The values. numpy arrays keep their
            dtype and are copied; Python floats become float32, Python ints int64.
        dtype (mindspore.dtype): Type of the elements. Default: None, the type of `input_data`.
        shape (Union[tuple, list, int]): Shape of a Tensor without `input_data`, together with `init`. Without `init`
            the Tensor only describes an input for `export`, `set_inputs` and `input_signature`. None for an axis then
            allows any length; None instead of the tuple allows any number of axes.
        init (Initializer): Fills a Tensor given by `shape` and `dtype` instead of `input_data`.
        const_arg (bool): No effect. In MindSpore, True makes the Tensor a constant of the graph. Default: False.
        device (str): No effect; `mindspore.set_device` selects the device of all Tensors. Default: None.

    Outputs:
        Tensor with the shape and dtype of `input_data`.

    Raises:
        TypeError: If `input_data` is of another type, or holds values that no MindSpore dtype describes.
        ValueError: If lists are nested unevenly.

    Examples:
        >>> Tensor(np.array([[1, 2], [3, 4]]), mindspore.float32).shape
        (2, 2)
    """

    # `_whole` is set only for views, see `core.tensor.views`. Programs set attributes of their own.
    __slots__ = ("_array", "_node", "_whole", "__weakref__", "__dict__")
    _mime_ = display_hooks.mime
    _is_filled_without_init = False  # True in MindSpore 2; `core.operator.api_generations` sets it

    if TYPE_CHECKING:  # slots, and attributes that operators attach to the class
        _array: Any
        _node: Any
        _whole: Any

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> "Tensor": ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __add__(self, other: Any) -> "Tensor": ...
        def __sub__(self, other: Any) -> "Tensor": ...
        def __mul__(self, other: Any) -> "Tensor": ...
        def __truediv__(self, other: Any) -> "Tensor": ...
        def __radd__(self, other: Any) -> "Tensor": ...
        def __rsub__(self, other: Any) -> "Tensor": ...
        def __rmul__(self, other: Any) -> "Tensor": ...
        def __neg__(self) -> "Tensor": ...
        def __lt__(self, other: Any) -> "Tensor": ...
        def __le__(self, other: Any) -> "Tensor": ...
        def __gt__(self, other: Any) -> "Tensor": ...
        def __ge__(self, other: Any) -> "Tensor": ...

    def __init__(
        self,
        input_data: Any = None,
        dtype: Any = None,
        shape: int | Sequence[int] | None = None,
        init: Any = None,
        const_arg: bool = False,
        device: str | None = None,
    ) -> None:
        if const_arg or device is not None:
            _report_ignored_arguments(const_arg, device)
        if input_data is None:
            if init is None:
                self._array = make_unknown_shape(shape, dtype and mstype.dtype_to_nptype(dtype))
                self._node = None
                if self._array is not None:
                    return
                if shape is None or dtype is None or not self._is_filled_without_init:
                    raise TypeError("For 'Tensor', give 'input_data', or 'shape', 'dtype' and 'init' together.")
                input_data = np.zeros(shape, mstype.dtype_to_nptype(dtype))  # MindSpore 2 leaves the values open
            else:
                input_data = _initializer(init, shape, dtype if dtype is not None else mstype.float32)
        if dtype is not None and not isinstance(dtype, mstype.Type):
            raise TypeError(
                f"For 'Tensor', 'dtype' should be a mindspore dtype, but got {dtype!r}.{_suggest_dtype(dtype)}"
            )
        self._array = to_array(input_data, dtype)
        self._node = None

    if not TYPE_CHECKING:  # hidden from type checkers, so that they report missing attributes

        def __getattr__(self, name):
            raise AttributeError(no_attribute(type(self).__name__, name, TENSOR, "Tensor"), name=name, obj=self)

    # ---------------------------------------------------------------- properties
    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, a tuple of int."""
        return tuple(self._array.shape)

    @property
    def param_info(self) -> Any:
        """None; that of a Parameter is a record of its settings."""

    @property
    def dtype(self) -> mstype.Type:
        """Type of the elements, a MindSpore dtype."""
        return mstype.string if type(self._array) is _StringArray else _MS_DTYPE[self._array.dtype]

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self._array.size)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._array.ndim

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._array.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Step along each axis in bytes, for the row-major layout."""
        step, out = self.itemsize, []
        for length in reversed(self.shape):
            out.append(step)
            step *= length
        return tuple(reversed(out))

    @property
    def virtual_flag(self) -> bool:
        """Return False: every Tensor has data."""
        return False

    def dim(self) -> int:
        """Return the number of dimensions."""
        return self._array.ndim

    def item(self, index: int | tuple[int, ...] | None = None) -> Any:
        """Return one element as a Python number. In a graph its value is not known yet, so a 0-D Tensor is returned.

        Args:
            index (Union[None, int, tuple[int]]): Index of the element. Default: None, for a Tensor of one element.

        Returns:
            Union[int, float, bool, Tensor].

        Raises:
            ValueError: If there are several elements and no index.
            IndexError: If the index is out of range.
        """
        array = self._array
        if is_tracer(array):
            return _index_traced_array(array, index)
        return self._get_python_scalar("item()") if index is None else self.asnumpy().item(index)

    def itemset(self, *args: Any) -> "Tensor":
        """Return a copy with one element replaced: itemset(value) or itemset(index, value).

        NumPy's `itemset` changes the array in place; this method does not.
        """
        if len(args) not in (1, 2):
            raise TypeError(
                f"For 'itemset', there should be a value, or an index and a value, but got {len(args)} arguments."
            )
        index, value = args if len(args) == 2 else (..., args[0])
        if isinstance(index, int):
            index = tuple(int(i) for i in np.unravel_index(index, self.shape))
        changed = Tensor(self)
        changed[index] = value
        return changed

    def contiguous(self) -> "Tensor":
        """Return the Tensor itself: its data is always contiguous."""
        return self

    def is_contiguous(self) -> bool:
        """Return True: the data is always contiguous."""
        return True

    def is_floating_point(self) -> bool:
        """Return True for floating point elements."""
        return self.dtype in (*mstype.float_type, mstype.bfloat16)

    def is_complex(self) -> bool:
        """Return True for complex elements."""
        return self.dtype in (mstype.complex64, mstype.complex128)

    @property
    def data(self) -> "Tensor":
        """The Tensor itself."""
        return self

    @property
    def device(self) -> str:
        """Name of the device that holds the data."""
        return str(self._array.device)

    def ndimension(self) -> int:
        """Return the number of dimensions."""
        return self._array.ndim

    def numel(self) -> int:
        """Return the number of elements."""
        return self.size

    nelement = numel

    def __pos__(self) -> "Tensor":
        return self

    # ------------------------------------------------------------------ values
    def asnumpy(self) -> np.ndarray:
        """Return a numpy copy of the values.

        Raises:
            RuntimeError: If the Tensor is traced: in GRAPH mode its value is known only when the graph runs.
        """
        return np.array(self._get_concrete_array("asnumpy()"))

    def numpy(self) -> np.ndarray:
        """Same as `asnumpy`."""
        return self.asnumpy()

    def tolist(self) -> list[Any]:
        """Return the values as nested Python lists, a Python number for a 0-D Tensor."""
        return self.asnumpy().tolist()

    def _snapshot_array(self):
        """Return an array that does not change when this Tensor is rebound. The array itself is immutable."""
        return self._array

    def _get_concrete_array(self, what):
        if _thread.pending_verdicts:
            deferred_errors.wait_and_report()
        array = self._array
        if is_tracer(array):
            where = user_line()
            at = f" at {format_location(*where[:2])}" if where else ""
            raise ValueNeeded(f"{what}{at}", traced_text(array))
        if not array.is_fully_addressable and not array.is_fully_replicated:
            raise RuntimeError(
                f"{what} needs all values of a Tensor of shape {tuple(array.shape)}, of which this process has a part: "
                f"the others are on devices of other processes. msnb.parallel.whole(tensor), which all processes call "
                f"together, brings them here."
            )
        return array

    def __bool__(self) -> bool:
        array = self._array
        if array.size != 1 or array.ndim > 1:
            raise ValueError(
                f"Only a Tensor with one element has a truth value, but the shape is {self.shape}; "
                f"use .any() or .all()."
            )
        if is_tracer(array):
            where = user_line()
            at = f" at {format_location(*where[:2])}" if where else ""
            raise TypeError(f"A Tensor is used as a Python bool{at} {explain_branch()}")
        return bool(self._get_concrete_array("bool()"))

    def __int__(self) -> int:
        return int(self._get_python_scalar("int()"))

    def __float__(self) -> float:
        return float(self._get_python_scalar("float()"))

    def __complex__(self) -> complex:
        return complex(self._get_python_scalar("complex()"))

    def __index__(self) -> int:
        value = self._get_python_scalar("an index")
        if not isinstance(value, (int, bool)):
            raise TypeError(f"Only an integer Tensor serves as an index, but the dtype is {self.dtype}.")
        return int(value)

    def _get_python_scalar(self, what):
        if self.size != 1:
            raise ValueError(f"{what} needs a Tensor with one element, but the shape is {self.shape}.")
        return np.asarray(self._get_concrete_array(what)).item()

    def __len__(self) -> int:
        if not self._array.ndim:
            raise TypeError("A 0-D Tensor has no length.")
        return self._array.shape[0]

    def __iter__(self) -> Any:
        if not self._array.ndim:
            raise TypeError("A 0-D Tensor cannot be iterated over.")
        return (self[i] for i in range(self._array.shape[0]))

    def __str__(self) -> str:
        array = self._array
        return traced_text(array) if is_tracer(array) else str(np.asarray(self._get_concrete_array("str()")))

    def __repr__(self) -> str:
        array = self._array
        if isinstance(array, UnknownShape):
            return f"Tensor(shape={list(array.shape)}, dtype={self.dtype})"
        return (
            traced_text(array)
            if is_tracer(array)
            else tensor_repr(np.asarray(self._get_concrete_array("repr()")), self.dtype)
        )

    def __format__(self, spec: str) -> str:
        if spec and self.size == 1 and not is_tracer(self._array):
            return format(np.asarray(self._get_concrete_array("format()")).item(), spec)
        return format(str(self), spec)

    __hash__ = object.__hash__

    # ------------------------------------------------------------------ change
    def _rebind_array(self, array):
        """Rebind this Tensor to `array`. A trace records the old array and restores it when it ends."""
        frame = _thread.frame
        if frame is not None:
            frame.remember(self)
        elif self in trace_state.constants:
            trace_state.epoch.bump()
        self._array = array

    def assign_value(self, value: "Tensor") -> "Tensor":
        """Copy the value of another Tensor into this one and return self.

        Raises:
            TypeError: If `value` is not a Tensor.
        """
        if not isinstance(value, Tensor):
            raise TypeError(f"For 'assign_value', 'value' should be a Tensor, but got {type(value).__name__}.")
        self._rebind_array(value._array)
        self._node = value._node
        return self

    def set_dtype(self, dtype: mstype.Type) -> "Tensor":
        """Convert the elements to `dtype` in place and return self."""
        self._rebind_array(drop_weak_type(jnp.asarray(self._array, available(mstype.np_dtype(dtype)))))
        return self

    @staticmethod
    def convert_bytes_to_tensor(bytes_data: bytes, shape: tuple[int, ...], dtype: mstype.Type) -> "Tensor":
        """Build a Tensor from bytes, such as `get_bytes` returns.

        Args:
            bytes_data (bytes): The elements, in row-major order.
            shape (tuple[int]): The shape.
            dtype (mindspore.dtype): The element type.

        Raises:
            ValueError: If the number of bytes does not fit the shape and the element type.
        """
        return Tensor(np.frombuffer(bytes_data, mstype.np_dtype(dtype)).reshape(shape))

    @staticmethod
    def from_numpy(array: np.ndarray) -> "Tensor":
        """Return a Tensor with a copy of the values of a NumPy array. Later changes of the array do not affect it.

        Raises:
            TypeError: If `array` is not a numpy array.
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"For 'from_numpy', 'array' should be a numpy.ndarray, but got {type(array).__name__}.")
        return Tensor(array)

    # ------------------------------------------------------------------ MindSpore's interface of Tensors without data
    def init_data(
        self, slice_index: int | None = None, shape: Sequence[int] | None = None, opt_shard_group: str | None = None
    ) -> "Tensor":
        """Return the Tensor itself: it has its complete data from the beginning.

        Raises:
            ValueError: If `shape` differs from the shape of the Tensor.
        """
        if shape is not None and tuple(shape) != self.shape:
            raise ValueError(
                f"For 'init_data', the Tensor holds data of shape {self.shape} already, but 'shape' is "
                f"{tuple(shape)}; cut a slice by indexing, or make it with initializer(init, shape)."
            )
        report_ignored_slice("Tensor.init_data", slice_index, opt_shard_group)
        return self

    def to_tensor(
        self, slice_index: int | None = None, shape: Sequence[int] | None = None, opt_shard_group: str | None = None
    ) -> "Tensor":
        """Older name of `init_data`."""
        return Tensor.init_data(self, slice_index, shape, opt_shard_group)

    def is_init(self) -> bool:
        """Return True: the data exists from the beginning."""
        return True

    def set_init_flag(self, flag: bool) -> None:
        """Accept `flag` without effect: the data always exists."""
        if not isinstance(flag, bool):
            raise TypeError(f"For 'set_init_flag', 'flag' should be bool, but got {type(flag).__name__}.")
        log.unused("Tensor.set_init_flag", "the data is there already", flag=not flag)

    init_flag = True
    has_init = False

    def data_sync(self, wait: bool = True) -> None:
        """Wait until the values have been computed."""
        if wait and not is_tracer(self._array):
            jax.block_until_ready(self._get_concrete_array("data_sync()"))
        return None

    # ------------------------------------------------------------------ other libraries
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = np.asarray(self._get_concrete_array("numpy"))
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __jax_array__(self) -> jax.Array:
        return self._array

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._get_concrete_array("dlpack").__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[Any, int]:
        return self._get_concrete_array("dlpack").__dlpack_device__()

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_pickle, (self.asnumpy(),), self.__dict__ or None

    def __copy__(self) -> "Tensor":
        """Return a Tensor of the same values. Attributes that the program has set are copied, too."""
        clone = box(self._array)
        if self.__dict__:
            clone.__dict__.update(self.__dict__)
        return clone

    def __deepcopy__(self, memodict: Any) -> "Tensor":
        clone = box(self._array)
        if isinstance(memodict, dict):  # MindSpore does not read it, and programs pass other values
            memodict[id(self)] = clone
        return clone


def _index_traced_array(array, index):
    """Return one element of a traced array."""
    if index is None and array.size != 1:
        raise ValueError(f"item() needs a Tensor with one element, but the shape is {tuple(array.shape)}.")
    positions = np.arange(array.size).reshape(array.shape)
    return box(array.reshape(-1)[positions.item(0 if index is None else index)])


def attach(name: str, method: Any) -> None:
    """Make `method`, a function or a property, an attribute of every Tensor. Operator declarations call it."""
    setattr(Tensor, name, method)


def _suggest_dtype(dtype):
    """Return a hint with the MindSpore dtype for a numpy or Python type, or ""."""
    try:
        return f" Write {mstype.from_numpy_dtype(np.dtype(dtype))!r}."
    except (TypeError, ValueError, NotImplementedError, KeyError):
        return ""


_new = object.__new__


def box(array: jax.Array) -> Tensor:
    """Return a Tensor that holds a jax.Array, without any check."""
    tensor = _new(Tensor)
    tensor._array = array
    tensor._node = None
    return tensor


class _StringArray(np.ndarray):
    is_fully_addressable = True  # as of a jax.Array: no other process has values of it


def box_strings(array: np.ndarray) -> Tensor:
    """Return a Tensor of the element type String. It holds an array of str itself, because JAX has no strings."""
    return box(array.view(_StringArray))  # pyright: ignore[reportArgumentType]


def unbox(value: Any) -> Any:
    """Return the array of a Tensor; other values are returned unchanged."""
    return value._array if isinstance(value, Tensor) else value


def is_traced(value: object) -> bool:
    """Return True if `value` is a Tensor inside a trace, so that its value is not known yet."""
    return isinstance(value, Tensor) and is_tracer(value._array)


def _from_pickle(array):
    return box_strings(array) if array.dtype.kind == "U" else Tensor(array)


def report_ignored_slice(where: str, slice_index: int | None, opt_shard_group: str | None) -> None:
    """Log once that arguments about a slice of a Tensor have no effect."""
    log.unused(
        where,
        "a Tensor is made whole, and lies on devices as the strategies of the program say that it is given to",
        slice_index=slice_index is not None,
        opt_shard_group=opt_shard_group,
    )


jax.tree_util.register_pytree_node(Tensor, lambda t: ((t._array,), None), lambda _, children: box(children[0]))


_from_pickle.__module__ = "msnb.common.tensor"  # pickles name this public module
