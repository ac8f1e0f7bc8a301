"""`Parameter`: a named view (store, index) of an array that only its store references.

A `Store` has the arrays of several Parameters in one list. A compiled step takes all of them and returns new ones in
one operation, for any number of Parameters. The list is part of the result of the last step. Replacing that result is
one C-level operation, which an interrupt cannot split.
"""

import itertools
from collections import deque
from collections.abc import Iterable
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.initializer import initializer
from msnb.common.missing import refused_use
from msnb.core.compat.jax_private import argument_signature, copy_array, drop_weak_type
from msnb.core.state import deferred_errors, trace_state
from msnb.core.tensor.conversion import to_array
from msnb.core.tensor.meta_tensor import MetaTensor
from msnb.core.tensor.param_info import ParamInfo
from msnb.core.tensor.tensor import Tensor

_thread = trace_state.thread
_numbers = itertools.count()


def next_key() -> int:
    """Return a number larger than the keys of all existing Parameters and smaller than those of later ones."""
    return next(_numbers)


class Store:
    """The current arrays of some Parameters: ``results[-1][0]``, a list.

    Args:
        arrays (list): Arrays without other references.
        writer (tuple[Parameter]): The Parameters of the arrays, if a program replaces all of them in each call; None if
            there is no such program.
    """

    __slots__ = ("results", "writer", "__weakref__")

    def __init__(self, arrays: list[jax.Array], writer: tuple["Parameter", ...] | None = None) -> None:
        self.results: deque[tuple[list[Any]]] = deque([(list(arrays),)], maxlen=1)
        self.writer: tuple[Parameter, ...] | None = writer

    @property
    def arrays(self) -> list[jax.Array]:
        """The current arrays of the Parameters."""
        return self.results[-1][0]


class Parameter(Tensor):
    """A Tensor with a name that belongs to a Cell and that training changes.

    Args:
        default_input (Union[Tensor, MetaTensor, numpy.ndarray, list, int, float]): Initial value. Always copied.
            An int becomes int32, a float float32.
        name (str): Name; a Cell names a Parameter after the attribute that holds it. Default: None.
        requires_grad (bool): True if optimizers train it. Default: True.
        layerwise_parallel (bool): True if data parallel training does not broadcast it. Default: False.
        parallel_optimizer (bool): True if an optimizer may divide it among devices. Default: True.
        storage_format (str): Memory layout on Ascend; no effect here. Default: "".
        device (str): No effect; `mindspore.set_device` selects the device of all Tensors. Default: None.

    Raises:
        ValueError: If `default_input` is a bool or None, or `name` is not valid.
        TypeError: If `default_input` cannot become a Tensor.

    Examples:
        >>> w = Parameter(Tensor(np.zeros((2, 3), np.float32)), name="w")
        >>> w.shape
        (2, 3)
    """

    __slots__ = ("_slot", "_name", "_requires_grad", "_prefix")

    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
        device: str | None = None,
    ) -> None:
        if isinstance(default_input, (bool, np.bool_)):
            raise ValueError(
                "For 'Parameter', 'default_input' should be a Tensor, a number or a numpy array, but got a bool."
            )
        if default_input is None:
            raise ValueError("For 'Parameter', 'default_input' is None; give a Tensor, a number or a numpy array.")
        if isinstance(default_input, MetaTensor):
            default_input = default_input.to_tensor()
        dtype = mstype.int32 if type(default_input) is int else None
        make_lazy = getattr(type(default_input), "_make_lazy", None)  # only a LazyTensor has it
        if make_lazy is not None and type(self) is Parameter:
            array = make_lazy(default_input, self)
        else:
            array = to_array(default_input, dtype)
            make_lazy = None
        if make_lazy is None and isinstance(default_input, (Tensor, jax.Array)):
            if _thread.frame is None:
                array = copy_array(array)
            else:
                # the copy must be concrete: the Parameter keeps it after the trace
                with jax.ensure_compile_time_eval():
                    array = copy_array(array)
        self._slot = (Store([array]), 0)
        self._name = "Parameter"
        if name is not None:
            self.name = name
        self._requires_grad = _check_bool("requires_grad", requires_grad)
        self.layerwise_parallel: bool = _check_bool("layerwise_parallel", layerwise_parallel)
        self._prefix = ""
        self._sliced = False
        self._is_init = False
        self.is_param_ps = False
        self.init_in_server = False
        self.cache_enable = False
        self.cache_shape: list[int] = []
        self.comm_fusion = 1
        self.parallel_optimizer_comm_recompute = False
        self.parallel_optimizer: bool = _check_bool("parallel_optimizer", parallel_optimizer)
        if storage_format or device is not None:
            where = "the device, which mindspore.set_device names, has one"
            log.unused("Parameter", where, storage_format=storage_format, device=device is not None)
        self.unique: bool = False
        self.key: int = next(_numbers)

    # ------------------------------------------------------------------ the array
    @property
    def _array(self):
        frame = _thread.frame
        if frame is not None:
            return frame.read(self)
        store, index = self._slot
        return store.results[-1][0][index]

    @_array.setter
    def _array(self, array):
        self._rebind_array(array)

    @property
    def _kind(self):
        """The array, of which only the shape and dtype may be used; see `TraceFrame.read`."""
        frame = _thread.frame
        return self._get_stored_array() if frame is None else frame.read(self, counts=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, a tuple of int."""
        return tuple(self._kind.shape)

    @property
    def dtype(self) -> mstype.Type:
        """Type of the elements, a MindSpore dtype."""
        return mstype.from_numpy_dtype(self._kind.dtype)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self._kind.size)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._kind.ndim

    @property
    def _node(self):
        nodes = _thread.nodes
        return None if nodes is None else nodes.get(id(self))

    @_node.setter
    def _node(self, node):
        nodes = _thread.nodes
        if nodes is not None:
            if node is None:
                nodes.pop(id(self), None)
            else:
                nodes[id(self)] = node

    def _get_stored_array(self):
        """Return the array outside any trace."""
        store, index = self._slot
        return store.results[-1][0][index]

    def _get_argument_signature(self):
        """Return the signature of the array by which `jax.jit` distinguishes arguments."""
        return argument_signature(self._get_stored_array())

    def _rebind_array(self, array):
        """Rebind the array; the caller must not use `array` afterwards."""
        frame = _thread.frame
        if frame is not None:
            frame.write(self, array)
            return
        if _thread.pending_verdicts:  # a Ctrl-C may stop the program that computes `array`
            deferred_errors.poll(finishes_loops=True)
        store, index = self._slot
        store.results[-1][0][index] = array

    def _snapshot_array(self):
        with trace_state.donation_lock.lock:  # another thread may be in a training step
            return copy_array(self._array)

    def _get_concrete_array(self, what):
        with trace_state.donation_lock.lock:
            return np.array(super()._get_concrete_array(what))

    def asnumpy(self) -> np.ndarray:
        """Return a numpy copy of the values; see `Tensor.asnumpy`."""
        return self._get_concrete_array("asnumpy()")

    def __jax_array__(self) -> jax.Array:
        return self._array if _thread.frame is not None else self._snapshot_array()

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._snapshot_array().__dlpack__(**kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self._get_concrete_array("numpy")
        return values if dtype is None else values.astype(dtype, copy=False)

    # ---------------------------------------------------------------- properties
    @property
    def name(self) -> str:
        """Name of the Parameter, unique within a network."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        if name is None:
            name = "Parameter"
        if not isinstance(name, str):
            raise ValueError(
                f"For 'Parameter', 'name' should be a string, but got {name!r} of type {type(name).__name__}."
            )
        name = name.strip()
        if not name or len(name) > 1024:
            raise ValueError(f"For 'Parameter', 'name' should have 1 to 1024 characters, but got {name!r}.")
        self._name = name

    @property
    def requires_grad(self) -> bool:
        """True if optimizers train this Parameter."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._requires_grad = _check_bool("requires_grad", value)
        trace_state.epoch.bump()

    @property
    def data(self) -> Self:
        """The Parameter itself, which is a Tensor."""
        return self

    @data.setter
    def data(self, data: Any) -> None:
        self.set_data(data)

    @property
    def inited_param(self) -> None:
        """None: `init_data` gives the Parameter itself its data, and makes no other one."""
        return None

    @property
    def sliced(self) -> bool:
        """True if a program has marked the Parameter as one slice of a distributed Tensor. Default: False.

        The mark changes nothing: a Parameter always has all its values.
        """
        return self._sliced

    @sliced.setter
    def sliced(self, value: bool) -> None:
        self._sliced = _check_bool("sliced", value)

    @property
    def is_init(self) -> bool:  # type: ignore[override]  # MindSpore's Parameter has a property, its Tensor a method
        """True if a program has marked the Parameter as transferred to the device. Default: False.

        The mark changes nothing: JAX transfers the data.
        """
        return self._is_init

    @is_init.setter
    def is_init(self, value: bool) -> None:
        self._is_init = _check_bool("is_init", value)

    def __parameter__(self) -> None:
        """Marks the class for MindSpore's compiler; nothing to do here."""

    def __str__(self) -> str:
        return (
            f"Parameter (name={self._name}, shape={self.shape}, dtype={self.dtype}, "
            f"requires_grad={self._requires_grad})"
        )

    __repr__ = __str__

    # ------------------------------------------------------------------ change and copy
    takes_any_shape_and_type = False  # True for MindSpore 2's `set_data`; `core.operator.api_generations` sets it

    def set_data(self, data: "Tensor | MetaTensor | np.ndarray | float", slice_shape: bool = False) -> Self:
        """Replace the value.

        Args:
            data (Union[Tensor, numpy.ndarray, int, float]): New value; it is copied and converted to the dtype of the
                Parameter unless that would narrow it.
            slice_shape (bool): Allow another shape. Default: False.

        Returns:
            Parameter, itself.

        Raises:
            TypeError: If `data` is neither a Tensor, an array nor a number, or its dtype would have to be narrowed.
            ValueError: If the shape differs and `slice_shape` is False.

        In MindSpore 2 the dtype may be narrowed and the shape may differ, see `api_generations.SHARED`.
        """
        if isinstance(data, MetaTensor):
            data = data.to_tensor()
        if not isinstance(data, (Tensor, np.ndarray, int, float)) or isinstance(data, bool):
            raise TypeError(
                f"For 'set_data', 'data' should be a Tensor or a number, "
                f"but got {data!r} of type {type(data).__name__}."
            )
        current = self._kind
        array = to_array(data)
        if Parameter.takes_any_shape_and_type:
            if isinstance(data, float) and np.dtype(current.dtype).kind in "biu":
                expected = mstype.from_numpy_dtype(np.dtype(current.dtype))
                raise TypeError(f"Parameter '{self._name}' is {expected}, but 'data' is the float {data}.")
        elif not slice_shape and array.shape != current.shape:
            raise ValueError(
                f"For 'set_data' of Parameter '{self._name}', the shape should be "
                f"{tuple(current.shape)}, but got {tuple(array.shape)}."
            )
        if array.dtype != current.dtype:
            if isinstance(data, Tensor) and not Parameter.takes_any_shape_and_type:
                check_not_narrowed(current.dtype, array.dtype, self._name)
            array = array.astype(current.dtype)
        if _thread.frame is None:
            array = copy_array(array)
            if not current.is_fully_addressable:
                trace_state.storage_epoch.bump()  # programs distribute it over the processes again
        self._rebind_array(drop_weak_type(array))
        self._node = None
        return self

    def assign_value(self, value: Tensor) -> Self:
        """Copy the values of another Tensor into this Parameter and return self."""
        if not isinstance(value, Tensor):
            raise TypeError(f"For 'assign_value', 'value' should be a Tensor, but got {type(value).__name__}.")
        array = value._array
        self._rebind_array(array if _thread.frame is not None else copy_array(array))
        return self

    def set_dtype(self, dtype: mstype.Type) -> Self:
        """Convert the elements to `dtype` in place and return self."""
        self._rebind_array(drop_weak_type(jnp.array(self._array, mstype.np_dtype(dtype), copy=True)))
        trace_state.epoch.bump()
        return self

    def set_parameter_data(self, data: "Tensor | MetaTensor | np.ndarray | float", slice_shape: bool = False) -> Self:
        """Older name of `set_data`."""
        return self.set_data(data, slice_shape)

    @property
    def default_input(self) -> Self:
        """Older name of `data`."""
        return self

    @default_input.setter
    def default_input(self, data: Any) -> None:
        self.set_data(data)

    def init_data(self, layout: Any = None, set_sliced: bool = False) -> Self:
        """Return the Parameter itself: it has its complete data from the beginning, for any `set_sliced`.

        Raises:
            ValueError: If a `layout` of a distributed Tensor is given.
        """
        if layout is not None:
            raise ValueError(
                "For 'init_data', a 'layout' belongs to distributed Parameters, which are placed by "
                "sharding here; leave it None."
            )
        log.unused("Parameter.init_data", "a Parameter is always whole", set_sliced=set_sliced)
        return self

    @property
    def param_info(self) -> ParamInfo:
        """The record of settings, such as `requires_grad`; a record that is assigned is written to this Parameter."""
        return ParamInfo(self)

    def _change_setting(self, name, value):
        setattr(self, name, value)

    @param_info.setter
    def param_info(self, value: ParamInfo) -> None:
        value.write_to(self)

    def clone(self, init: Any = "same") -> "Parameter":
        """Return a new Parameter of the same name and properties.

        Args:
            init (Union[Tensor, str, numbers.Number]): "same" copies the value; other values initialize it.
        """
        if isinstance(init, str) and init == "same":
            clone = Parameter(self, self._name, self._requires_grad, self.layerwise_parallel)
        else:
            clone = Parameter(
                initializer(init, self.shape, self.dtype), self._name, self._requires_grad, self.layerwise_parallel
            )
        return clone

    def value(self) -> Tensor:
        """Return a Tensor with a copy of the current value."""
        return Tensor(self)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` and return the Parameter."""
        self.requires_grad = requires_grad
        return self

    def add_pipeline_stage(self, stage: int) -> None:
        """Not supported: set the stage of the Cell that owns the Parameter, `Cell.pipeline_stage`.

        Raises:
            NotImplementedError: Always.
        """
        raise refused_use("mindspore.Parameter", "add_pipeline_stage")

    def set_param_ps(self, init_in_server: bool = False) -> None:
        """Not supported: parameter servers are not available.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("Parameter servers are not available in msnb yet; train without set_param_ps().")

    def set_cast_dtype(self, dtype: mstype.Type | None = None) -> None:
        """Not supported: `Cell.to_float` selects mixed precision per Cell."""
        raise RuntimeError("set_cast_dtype() is not available; use Cell.to_float() to compute in another precision.")

    def __reduce__(self) -> tuple[Any, ...]:
        state = {k: v for k, v in self.__dict__.items() if k not in ("key", "_param_info")}
        return _parameter_from_pickle, (self.asnumpy(), self._name, self._requires_grad, self.layerwise_parallel, state)

    def __copy__(self) -> "Parameter":
        return self.clone()

    def __deepcopy__(self, memodict: Any) -> "Parameter":
        clone = self.clone()
        if isinstance(memodict, dict):
            memodict[id(self)] = clone
        clone.__dict__.update({k: v for k, v in self.__dict__.items() if k not in ("key", "_param_info")})
        return clone


class ParameterTuple(tuple):
    """A tuple of Parameters, such as the weights that a gradient is taken with respect to.

    Args:
        iterable (Iterable): The Parameters.

    Raises:
        TypeError: If one of them is not a Parameter.
    """

    def __new__(cls, iterable: Iterable[Parameter]) -> Self:
        data = tuple(iterable)
        for item in data:
            if not isinstance(item, Parameter):
                raise TypeError(f"A ParameterTuple holds Parameters only, but got {type(item).__name__}.")
        return super().__new__(cls, data)

    def clone(self, prefix: str, init: Any = "same") -> "ParameterTuple":
        """Return a new ParameterTuple of clones, each named `prefix` + "." + its name.

        Args:
            prefix (str): Prefix of the names.
            init (Union[Tensor, str, numbers.Number]): As in `Parameter.clone`.
        """
        if not isinstance(prefix, str):
            raise TypeError(f"For 'clone', 'prefix' should be a string, but got {type(prefix).__name__}.")
        clones = []
        for param in self:
            clone = param.clone(init)
            clone.name = f"{prefix}.{param.name}"
            clones.append(clone)
        return ParameterTuple(clones)

    def __parameter_tuple__(self) -> None:
        """Marks the class for MindSpore's compiler; nothing to do here."""


_ORDER = {np.dtype(t._np): i for t, i in mstype.implicit_conversion_seq.items()}


def check_not_narrowed(target: Any, dtype: Any, name: str) -> None:
    """Raise a TypeError if writing values of `dtype` into a Parameter of dtype `target` would lose precision."""
    if _ORDER.get(np.dtype(dtype), 99) > _ORDER.get(np.dtype(target), 99):
        raise TypeError(
            f"Parameter '{name}' is {mstype.from_numpy_dtype(np.dtype(target))} and is not widened when it "
            f"is written, but the new value is {mstype.from_numpy_dtype(np.dtype(dtype))}; cast the value "
            f"first."
        )


def _check_bool(name, value):
    if not isinstance(value, bool):
        raise TypeError(f"For 'Parameter', '{name}' should be bool, but got {value!r} of type {type(value).__name__}.")
    return value


_parameter_keys = itertools.count()


def _get_unique_parameter_key():
    """Return a number that no other call returns. Libraries number Parameters by it."""
    return next(_parameter_keys)


def _parameter_from_pickle(array, name, requires_grad, layerwise_parallel, state):
    param = Parameter(array, name, requires_grad, layerwise_parallel)
    param.__dict__.update(state)
    return param


_parameter_from_pickle.__module__ = "msnb.common.parameter"  # the public module path in pickles
