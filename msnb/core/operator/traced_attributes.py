"""Operators with traced attributes: numbers that are inputs of the compiled kernel.

Outside a graph such an attribute is a weakly typed scalar input of the kernel, so that one kernel serves every
value. In a graph, which is compiled for its constants anyway, it is a constant that XLA can fold and that the graph
view shows. A Tensor is an input in both.
"""

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax

from msnb.common.kinds import hashable, kind_of
from msnb.core.compat.jax_private import from_float, is_tracer, weak_scalar
from msnb.core.operator.operator_types import Input, Operator, copy_if_aliased, operand
from msnb.core.operator.row_gradients import lookup_operator
from msnb.core.operator.value_checks import CheckedOperator, CheckMixin
from msnb.core.state import trace_state
from msnb.core.support.lru_cache import LruCache
from msnb.core.tensor.tensor import Tensor, box

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.eager.kernel import Kernel

_thread = trace_state.thread
_new = object.__new__
_device_scalars = LruCache(1024)  # number -> its array


def make_operator(fn: Callable[..., Any], *rest: Any, checks: Sequence[Any] = (), rows: Any = None) -> Operator:
    """Return the `Operator` that `fn` declares, with its checks and rows; other arguments as for `Operator`."""
    if rows is not None:
        return lookup_operator(fn, *rest, checks=checks, rows=rows)
    parameters = inspect.signature(fn).parameters.values()
    traced = any(p.kind is p.KEYWORD_ONLY and getattr(kind_of(p.annotation), "traced", False) for p in parameters)
    if not checks:
        return (TracedOperator if traced else Operator)(fn, *rest)
    op = (CheckedTracedOperator if traced else CheckedOperator)(fn, *rest)
    op.checks = tuple(checks)
    return op


def device_scalar(number: float) -> Any:
    """Return a float as an array on the device, cached: a jit accepts it faster than a Python float."""
    if type(number) is not float:
        return number
    key = hashable(number)
    array = _device_scalars.get(key)
    if array is None:
        array = _device_scalars.recall(key)
    if array is None:
        array = from_float(number)
        if array is None:
            return number
        _device_scalars.keep(key, array)
    return array


class TracedOperator(Operator):
    """An operator with traced attributes. See `Operator` for the arguments."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.traced: dict[str, tuple[float, ...]] = {
            name: kind.constants for name, (kind, _) in self.attributes.items() if kind.traced
        }
        self._open_operators = {}

    def open_attributes(self, attributes: dict[str, Any], graph: bool) -> Any:
        """Return (names, operator): attributes that are inputs now, and the operator that takes them as its last
        inputs.
        """
        names = tuple(
            [
                name
                for name, constants in self.traced.items()
                if isinstance(attributes[name], Tensor) or not graph and attributes[name] not in constants
            ]
        )
        op = self._open_operators.get(names)
        if op is None:
            op = self._open_operators[names] = self._append_inputs(names) if names else self
        return names, op

    def _append_inputs(self, names):
        fn, count = self.fn, len(names)

        def call_opened(*args, **attributes):
            return fn(*args[:-count], **attributes, **dict(zip(names, map(weak_scalar, args[-count:]))))

        opened_operator = copy.copy(self)
        opened_operator.fn = call_opened
        opened_operator.inputs = self.inputs + [Input(name, None, None) for name in names]
        opened_operator.attributes = {name: entry for name, entry in self.attributes.items() if name not in names}
        opened_operator.kernels = LruCache()
        return opened_operator

    def plain_kernel(self, attributes: dict[str, Any]) -> "Kernel | None":
        """Return the kernel of PYNATIVE calls with plain inputs followed by its scalars; None if an attribute is a
        Tensor.
        """
        names, opened = self.open_attributes(attributes, graph=False)
        if any(isinstance(attributes[name], Tensor) for name in names):
            return None
        return Operator.kernel(opened, {name: attributes[name] for name in opened.attributes})

    def device_scalars(self, attributes: dict[str, Any]) -> tuple[Any, ...]:
        """Return the scalars that follow the inputs of that kernel."""
        return tuple([device_scalar(attributes[name]) for name in self.open_attributes(attributes, graph=False)[0]])

    def prepare_call(self, attributes: dict[str, Any], args: tuple[Any, ...]) -> Any:
        """See `Operator.prepared`."""
        names, opened = self.open_attributes(attributes, graph=False)
        if any(isinstance(attributes[name], Tensor) for name in names):
            return None
        numbers = tuple([device_scalar(attributes[name]) for name in names])
        rest = {name: attributes[name] for name in opened.attributes}
        kernel, _ = Operator.prepare_call(
            opened, rest, (*args, *[box(n) if isinstance(n, jax.Array) else n for n in numbers])
        )
        return kernel, numbers

    def __call__(self, attributes: dict[str, Any], args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Any:
        if kwargs or len(args) != len(self.inputs):
            args = self._bind(args, kwargs or {})
        names, opened = self.open_attributes(attributes, graph=_thread.frame is not None)
        if names:
            args = (*args, *[device_scalar(attributes[name]) for name in names])
            attributes = {name: attributes[name] for name in opened.attributes}
        return Operator.__call__(opened, attributes, args)

    def handle_error(
        self,
        error: BaseException,
        kernel: "Kernel",
        boxes: Sequence[Any],
        arrays: Sequence[Any],
        targets: Sequence[Any] = (),
    ) -> Any:
        """See `Operator.handle_error`; the message shows scalars as numbers."""
        boxes = [b.item() if isinstance(b, jax.Array) and not b.ndim and not is_tracer(b) else b for b in boxes]
        return super().handle_error(error, kernel, boxes, arrays, targets)


class CheckedTracedOperator(CheckMixin, TracedOperator):
    """A `TracedOperator` with checks."""


def traced_call(op: "TracedOperator") -> Callable[..., Any] | None:
    """Return the `__call__` of a class with traced attributes and plain Tensor inputs: dispatch with its scalars."""
    name, names, count = op.name, [i.name for i in op.inputs], len(op.inputs)

    def general(self, args, kwargs):
        kernel = self._kernel
        if (
            kernel is None
            or kwargs
            or len(args) != count
            or _thread.frame is not None
            or _thread.compute_dtype is not None
        ):
            return self._operator(self._attributes, args, kwargs)
        numbers = self._numbers
        if numbers is None:
            numbers = op.device_scalars(self._attributes)
            if float not in map(type, numbers):  # cached only if no value stayed a Python float, as in a trace of JAX
                self._numbers = numbers
        arrays = [a._array if type(a) is Tensor else operand(a, name, n) for a, n in zip(args, names)]
        return op.run(kernel, (*args, *numbers), (*arrays, *numbers))

    if count != 1 or type(op).run is not Operator.run:

        def call(self, *args, **kwargs):
            return general(self, args, kwargs)
    else:

        def call(self, *args, **kwargs):
            numbers = self._numbers
            if (
                numbers is None
                or kwargs
                or len(args) != 1
                or type(args[0]) is not Tensor
                or _thread.results_observed
                or _thread.frame is not None
                or _thread.compute_dtype is not None
            ):
                return general(self, args, kwargs)
            array = args[0]._array
            try:
                out = self._kernel.run(array, *numbers)
            except BaseException as error:
                return op.handle_error(error, self._kernel, (*args, *numbers), [array, *numbers])
            if type(out) is tuple:
                return tuple([box(copy_if_aliased(o, (array,))) for o in out])
            tensor = _new(Tensor)
            tensor._array, tensor._node = copy_if_aliased(out, (array,)) if out is array else out, None
            return tensor

    return call
