"""`Primitive`: what `ops.Conv2D(...)` makes.

A class is generated from each declaration (`core.declare`). Users write their own by deriving from
`PrimitiveWithInfer` and giving the computation as a method `kernel` over jax arrays.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Self

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import hashable
from msnb.core import float_status, tape, trace
from msnb.core.errors import describe, explain_kernel_error
from msnb.core.kernel import Kernel
from msnb.core.marks import changed, marked, marks_of
from msnb.core.names import graph_name
from msnb.core.operator import REGISTRY, in_precision, operand, own
from msnb.core.recent import Recent
from msnb.core.tensor import Tensor, box

__all__ = ["Primitive", "DeclaredPrimitive", "PrimitiveWithInfer", "PrimitiveWithCheck", "prim_attr_register"]

_thread = trace.thread
_new = object.__new__


class Primitive:
    """An operator with its attributes set, to be called on Tensors.

    Args:
        name (str): Name of the operator.
    """

    _changes = 0  # of attributes and marks

    def __init__(self, name: str) -> None:
        self.name = name
        self.attrs: dict[str, Any] = {}
        self.init_attrs: dict[str, Any] = {"name": name}
        self._instance_name = None
        self.const_value: Any = None
        self.input_names: list[str] = []
        self.output_names: list[str] = []

    def add_prim_attr(self, name: str, value: Any) -> Self:
        """Set attribute `name` and return self."""
        self.__dict__[name] = value
        self.attrs[name] = value
        self._attributes_changed()
        return self

    def del_prim_attr(self, name: str) -> Self:
        """Remove attribute `name` and return self."""
        self.__dict__.pop(name, None)
        self.attrs.pop(name, None)
        self._attributes_changed()
        return self

    def _attributes_changed(self):
        changed(self)

    def init_prim_io_names(self, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """Name the inputs and outputs, as the graph shows them."""
        self.input_names, self.output_names = list(inputs), list(outputs)
        self.attrs["input_names"], self.attrs["output_names"] = self.input_names, self.output_names

    def set_prim_instance_name(self, instance_name: str) -> Self:
        """Name this instance and return self."""
        self._instance_name = instance_name
        return self

    set_instance_name = set_prim_instance_name

    @property
    def instance_name(self) -> str | None:
        """What `set_prim_instance_name` was given, None before."""
        return self._instance_name

    def set_stage(self, stage: int) -> Self:
        """Pipeline stage of this operator, which its node in the graph shows. Returns self."""
        return self.add_prim_attr("stage", stage)

    def shard(self, strategy: tuple[tuple[int, ...], ...] | None) -> Self:
        """Sharding strategy, one tuple per input, which its node in the graph shows. Returns self."""
        if strategy is not None and not isinstance(strategy, tuple):
            raise TypeError(f"For '{self.name}', the strategy should be a tuple of tuples, but got {strategy!r}.")
        return self.add_prim_attr("strategy", strategy)

    @property
    def update_parameter(self) -> bool:
        """Whether the operator writes one of its inputs."""
        return False

    def check_elim(self, *args: Any) -> tuple[bool, Any]:
        """(False, None): no call is replaced by its input."""
        return False, None

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self.attrs.items() if k not in ("input_names", "output_names"))
        return f"Prim[{self.name}]<{shown}>" if shown else f"Prim[{self.name}]"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = _new(type(self))
        twin.__dict__.update(self.__dict__)
        twin.attrs, twin.init_attrs = dict(self.attrs), dict(self.init_attrs)
        return twin


class DeclaredPrimitive(Primitive):
    """Base of the classes that `@operator` generates."""

    operator: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        op = type(self).operator
        super().__init__(op.name)
        self._bind(op.bind_attributes(args, kwargs))

    def _bind(self, attributes):
        op = type(self).operator
        if op.refuses is not None:
            op.refuses(attributes)
        self._attributes = attributes
        self.attrs.update(attributes)
        self.init_attrs.update(attributes)
        self.__dict__.update(attributes)
        self.input_names: list[str] = [i.name for i in op.inputs]
        self._settle()
        self._numbers = None  # what follows the inputs, once a call has put it on the device

    def _settle(self):
        """Find the operator that calls run, with the marks of this Primitive."""
        op, attributes = type(self).operator, self._attributes
        marks = marks_of(self.attrs, op.attributes)
        self._operator = marked(op.chosen(attributes), marks)
        self._kernel = marked(op, marks).ready(attributes) if op.plain else None
        self._prepared = Recent(64)  # what calls with static inputs have found out, see core.dispatch

    def add_prim_attr(self, name: str, value: Any) -> Self:
        """Set attribute `name` and return self; an attribute of the operator itself is checked and takes effect."""
        op = type(self).operator
        if name in op.attributes:
            self._bind({**self._attributes, name: op.attributes[name][0](value, name, op.name)})
            changed(self)
            return self
        return super().add_prim_attr(name, value)

    def _attributes_changed(self):
        self._settle()
        changed(self)

    @property
    def update_parameter(self) -> bool:
        """Whether the operator writes one of its inputs."""
        return bool(type(self).operator.written)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._operator(self._attributes, args, kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        extra = {k: v for k, v in self.__dict__.items() if k not in _OF_CALLS}
        return _rebuild, (type(self).__name__, self._attributes, extra)


_OF_CALLS = frozenset(("_attributes", "_operator", "_kernel", "_numbers", "_prepared"))


def _rebuild(name, attributes, extra):
    prim = REGISTRY[name].primitive(**attributes)
    prim.__dict__.update(extra)
    prim._attributes_changed()
    return prim


# ---------------------------------------------------------------------- written by users
def prim_attr_register(fn: Callable[..., Any]) -> Callable[..., None]:
    """Decorator for `__init__` of a Primitive: names it after its class and keeps every argument as an attribute."""
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def init(self, *args, **kwargs):
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        values = {k: v for k, v in list(bound.arguments.items())[1:]}
        name = values.get("name") or type(self).__name__
        if not isinstance(self.__dict__.get("attrs"), dict):
            Primitive.__init__(self, name)
        for key, value in values.items():
            self.add_prim_attr(key, value)
            self.init_attrs[key] = value
        return fn(self, *args, **kwargs)

    return init


class PrimitiveWithInfer(Primitive):
    """Base for operators that users write.

    A subclass checks in `infer_shape` and `infer_dtype` and computes in `kernel`:

    - ``infer_shape(self, *shapes)`` gets a tuple of int per input and returns the shape of the output (a tuple of
      shapes for several outputs);
    - ``infer_dtype(self, *dtypes)`` gets a tensor type per input and returns the dtype of the output;
    - ``kernel(self, *arrays)`` is a pure function over jax arrays. It is traced once per signature and differentiated
      by JAX; give ``bprop(self, *inputs, out, dout)``-like gradients by `jax.custom_vjp` inside.

    Args:
        name (str): Name of the operator.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``

    Examples:
        >>> class Cube(PrimitiveWithInfer):
        ...     @prim_attr_register
        ...     def __init__(self):
        ...         self.init_prim_io_names(inputs=["x"], outputs=["y"])
        ...     def infer_shape(self, x):
        ...         return x
        ...     def infer_dtype(self, x):
        ...         return x
        ...     def kernel(self, x):
        ...         return x * x * x
    """

    _kernels: Any = None  # per class: attributes -> Kernel
    _called = False

    def _attributes_changed(self):
        self.__dict__.pop("_own_kernel", None)
        if self._called:  # what is set before, in __init__, no graph has seen
            changed(self)

    def infer_shape(self, *args: Any) -> Any:
        """Shape of the output; None where it is left to the kernel."""
        return None

    def infer_dtype(self, *args: Any) -> Any:
        """dtype of the output; None where it is left to the kernel."""
        return None

    def infer_value(self, *args: Any) -> Any:
        """Value of the output where it is known without running; None otherwise."""
        return None

    def kernel(self, *arrays: Any) -> Any:
        """The computation over jax arrays.

        Raises:
            NotImplementedError: If the subclass gives none.
        """
        raise NotImplementedError(
            f"The operator '{self.name}' has no kernel: define `def kernel(self, *arrays)`, "
            f"a pure function over jax arrays, in class {type(self).__name__}."
        )

    def check_inputs(self, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """Run `infer_shape` and `infer_dtype`; return what they say of the outputs."""
        shapes = self.infer_shape(*[tuple(a.shape) for a in arrays])
        dtypes = self.infer_dtype(*[mstype.TensorType(mstype.from_numpy_dtype(a.dtype)) for a in arrays])
        return shapes, dtypes

    def __call__(self, *args: Any) -> Any:
        if _thread.compute_dtype is not None:
            args = tuple(in_precision(args))
        arrays = [operand(a, self.name, f"input {i}") for i, a in enumerate(args)]
        kernel = self._kernel_for()
        try:
            out = kernel.run(*arrays)
        except BaseException as error:
            kernel.recover(error)
            raise explain_kernel_error(error, self.name, args) from None
        results = out if type(out) is tuple else (out,)
        if _thread.frame is None:
            results = tuple(own(o, arrays) for o in results)
        boxes = tuple(box(o) for o in results)
        if _thread.looking:
            if _thread.recording:
                tape.record(kernel, [a._node if isinstance(a, Tensor) else None for a in args], arrays, boxes)
            float_status.note([b._array for b in boxes])
        return boxes if type(out) is tuple else boxes[0]

    def _kernel_for(self):
        cls = type(self)
        self.__dict__["_called"] = True
        if "_kernels" not in cls.__dict__:
            cls._kernels = Recent()
        settings = {k: v for k, v in self.attrs.items() if k not in ("input_names", "output_names")}
        try:
            key = (self.name, tuple((k, hashable(v)) for k, v in settings.items()))
            found = cls._kernels.get(key) or cls._kernels.recall(key)
        except TypeError:
            key, found = id(self), self.__dict__.get("_own_kernel")
        if found is None:
            name = graph_name(self.name, settings)
            twin = self

            def fn(*arrays):
                arrays = [jnp.asarray(a) for a in arrays]
                shapes, dtypes = twin.check_inputs(arrays)
                out = twin.kernel(*arrays)
                _check_outputs(twin.name, out, shapes, dtypes)
                return out

            found = Kernel(name, fn)
            if isinstance(key, tuple):
                cls._kernels.keep(key, found)
            else:
                self.__dict__["_own_kernel"] = found
        return found


class PrimitiveWithCheck(PrimitiveWithInfer):
    """Like `PrimitiveWithInfer`, but `check_shape` and `check_dtype` only check.

    Args:
        name (str): Name of the operator.
    """

    def check_shape(self, *args: Any) -> Any:
        """Raise if the shapes do not fit."""

    def check_dtype(self, *args: Any) -> Any:
        """Raise if the dtypes do not fit."""

    def check_inputs(self, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """Run the checks; the outputs are left to the kernel."""
        self.check_shape(*[tuple(a.shape) for a in arrays])
        self.check_dtype(*[mstype.TensorType(mstype.from_numpy_dtype(a.dtype)) for a in arrays])
        return None, None


def _check_outputs(name, out, shapes, dtypes):
    """Raise if the kernel's results are not what the operator announced."""
    if not isinstance(out, tuple):
        out, shapes, dtypes = (out,), None if shapes is None else (shapes,), None if dtypes is None else (dtypes,)
    for i, array in enumerate(out):
        if shapes is not None and tuple(shapes[i]) != tuple(array.shape):
            raise ValueError(
                f"For '{name}', infer_shape says {tuple(shapes[i])} but the kernel returned {tuple(array.shape)}."
            )
        if dtypes is not None:
            said = dtypes[i].element if isinstance(dtypes[i], mstype.TensorType) else dtypes[i]
            if said is not None and mstype.np_dtype(said) != array.dtype:
                raise TypeError(f"For '{name}', infer_dtype says {said} but the kernel returned {describe(array)}.")
