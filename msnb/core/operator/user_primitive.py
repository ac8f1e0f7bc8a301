"""Base classes for operators that users write; the computation is a method `kernel` over jax arrays."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from msnb.common import dtype as mstype
from msnb.common.kinds import hashable
from msnb.core.eager import float_status, integer_gradients, tape
from msnb.core.eager.kernel import Kernel
from msnb.core.errors.messages import describe, explain_kernel_error
from msnb.core.jaxpr.op_names import graph_name
from msnb.core.operator.abstract_operator import call_abstractly
from msnb.core.operator.annotations import count_change
from msnb.core.operator.bprop_registry import with_bprop
from msnb.core.operator.operator_types import USER_OPERATORS, copy_if_aliased, in_precision, operand
from msnb.core.operator.primitive import Primitive
from msnb.core.state import trace_state
from msnb.core.support.lru_cache import LruCache
from msnb.core.tensor.tensor import Tensor, box

__all__ = ["PrimitiveWithCheck", "PrimitiveWithInfer", "prim_attr_register"]

_thread = trace_state.thread


def prim_attr_register(fn: Callable[..., Any]) -> Callable[..., None]:
    """Decorator for `__init__` of a Primitive: name the Primitive after its class and store every argument as an
    attribute.
    """
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
      by JAX.

    A subclass may have its own gradient, a function ``bprop(*inputs, out, dout)``. It is returned by the method
    ``get_bprop(self)``, or by a function of the operator with the decorator ``@bprop_getters.register(Cube)``
    (`mindspore.ops._grad.grad_base`).

    Without `kernel`, a graph has only the inferred shape and dtype: it can be traced and viewed, but not run.

    Args:
        name (str): Name of the operator.

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

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__call__" in cls.__dict__:
            cls.__call__ = _wrap_with_abstract_fallback(cls.__dict__["__call__"])

    def _handle_attribute_change(self):
        self.__dict__.pop("_own_kernel", None)
        if self._called:  # before the first call, in __init__, no graph has read it
            count_change(self)

    def infer_shape(self, *args: Any) -> Any:
        """Return the shape of the output; None if only the kernel defines it."""
        return None

    def infer_dtype(self, *args: Any) -> Any:
        """Return the dtype of the output; None if only the kernel defines it."""
        return None

    def infer_value(self, *args: Any) -> Any:
        """Return the value of the output if it is constant; None otherwise."""
        return None

    def kernel(self, *arrays: Any) -> Any:
        """Compute the output from jax arrays.

        Raises:
            NotImplementedError: If the subclass does not define this method.
        """
        raise NotImplementedError(
            f"The operator '{self.name}' has no kernel: define `def kernel(self, *arrays)`, "
            f"a pure function over jax arrays, in class {type(self).__name__}."
        )

    def check_inputs(self, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """Run `infer_shape` and `infer_dtype`; return their results."""
        shapes = self.infer_shape(*[tuple(a.shape) for a in arrays])
        dtypes = self.infer_dtype(*[mstype.TensorType(mstype.from_numpy_dtype(a.dtype)) for a in arrays])
        return shapes, dtypes

    def __call__(self, *args: Any) -> Any:
        if _thread.compute_dtype is not None:
            args = tuple(in_precision(args))
        arrays = [operand(a, self.name, f"input {i}") for i, a in enumerate(args)]
        kernel = self._get_kernel()
        try:
            out = kernel.run(*arrays)
        except BaseException as error:
            kernel.recover(error)
            raise explain_kernel_error(error, self.name, args) from None
        results = out if type(out) is tuple else (out,)
        if _thread.frame is None:
            results = tuple(copy_if_aliased(o, arrays) for o in results)
        boxes = tuple(box(o) for o in results)
        if _thread.results_observed:
            if _thread.recording:
                tape.record(kernel, [a._node if isinstance(a, Tensor) else None for a in args], arrays, boxes)
            float_status.note([b._array for b in boxes])
            if _thread.carriers is not None:
                integer_gradients.attach_carriers(kernel, arrays, boxes)
        return boxes if type(out) is tuple else boxes[0]

    def _get_kernel(self):
        cls = type(self)
        self.__dict__["_called"] = True
        USER_OPERATORS[self.name] = cls
        if "_kernels" not in cls.__dict__:
            cls._kernels = LruCache()
        settings = {k: v for k, v in self.attrs.items() if k not in ("input_names", "output_names")}
        try:
            key = (self.name, tuple((k, hashable(v)) for k, v in settings.items()))
            kernel = cls._kernels.get(key) or cls._kernels.recall(key)
        except TypeError:
            key, kernel = id(self), self.__dict__.get("_own_kernel")
        if kernel is None:
            name = graph_name(self.name, settings)
            prim = self

            def fn(*arrays):
                arrays = [jnp.asarray(a) for a in arrays]
                shapes, dtypes = prim.check_inputs(arrays)
                out = with_bprop(prim, functools.partial(_run_or_trace_abstractly, prim, shapes, dtypes))(*arrays)
                _check_outputs(prim.name, out, shapes, dtypes)
                return out

            kernel = Kernel(name, fn)
            if isinstance(key, tuple):
                cls._kernels.keep(key, kernel)
            else:
                self.__dict__["_own_kernel"] = kernel
        return kernel


class PrimitiveWithCheck(PrimitiveWithInfer):
    """Like `PrimitiveWithInfer`, but a subclass defines `check_shape` and `check_dtype`, which check and do not infer.

    Args:
        name (str): Name of the operator.
    """

    def check_shape(self, *args: Any) -> Any:
        """Raise if the shapes do not fit."""

    def check_dtype(self, *args: Any) -> Any:
        """Raise if the dtypes do not fit."""

    def check_inputs(self, arrays: Sequence[Any]) -> tuple[Any, Any]:
        """Run the checks; the kernel defines shape and dtype of the outputs."""
        self.check_shape(*[tuple(a.shape) for a in arrays])
        self.check_dtype(*[mstype.TensorType(mstype.from_numpy_dtype(a.dtype)) for a in arrays])
        return None, None


def _run_or_trace_abstractly(prim, shapes, dtypes, *arrays):
    """Run the kernel. In a graph, trace an operator without kernel by its inferred shapes and dtypes."""
    has_kernel = type(prim).kernel is not PrimitiveWithInfer.kernel or "kernel" in vars(prim)
    if has_kernel or _thread.frame is None or shapes is None or dtypes is None:
        return prim.kernel(*arrays)
    return call_abstractly(prim.name, arrays, shapes, dtypes)


def _wrap_with_abstract_fallback(call):
    """Wrap a `__call__` that a class defines: if it raises NotImplementedError, a graph gets a node without
    computation.
    """

    @functools.wraps(call)
    def run(self, *args, **kwargs):
        try:
            return call(self, *args, **kwargs)
        except NotImplementedError:
            if _thread.frame is None:
                raise
        return PrimitiveWithInfer.__call__(self, *args)

    return run


def _check_outputs(name, out, shapes, dtypes):
    """Raise if the kernel's results differ from the inferred shapes and dtypes."""
    if not isinstance(out, tuple):
        out, shapes, dtypes = (out,), None if shapes is None else (shapes,), None if dtypes is None else (dtypes,)
    for i, array in enumerate(out):
        if shapes is not None and tuple(shapes[i]) != tuple(array.shape):
            raise ValueError(
                f"For '{name}', infer_shape says {tuple(shapes[i])} but the kernel returned {tuple(array.shape)}."
            )
        if dtypes is not None:
            announced = dtypes[i].element if isinstance(dtypes[i], mstype.TensorType) else dtypes[i]
            if announced is not None and mstype.np_dtype(announced) != array.dtype:
                raise TypeError(
                    f"For '{name}', infer_dtype says {announced} but the kernel returned {describe(array)}."
                )
