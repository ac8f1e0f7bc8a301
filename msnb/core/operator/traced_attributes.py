"""Operators with traced attributes: numbers that enter the computation as its inputs do.

Outside of a graph such an attribute is an input of the operator's program, a scalar that widens nothing, and one
program serves every value. In a graph, which is compiled for its constants anyway, it is a constant, so that XLA
can fold it and a reader sees it at its node; unless it is a Tensor, which is an input in both.
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
from msnb.core.operator.value_checks import Checked, CheckedOperator
from msnb.core.state import trace_state
from msnb.core.support.lru_cache import LruCache
from msnb.core.tensor.tensor import Tensor, box

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.eager.kernel import Kernel

_thread = trace_state.thread
_new = object.__new__
_placed = LruCache(1024)  # number -> its array


def declared(fn: Callable[..., Any], *rest: Any, checks: Sequence[Any] = (), rows: Any = None) -> Operator:
    """The `Operator` that `fn` declares, with its checks and rows; see there for the other arguments."""
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
    """A float as an array on the device, kept for later calls: a jit takes it sooner than a Python float."""
    if type(number) is not float:
        return number
    key = hashable(number)
    array = _placed.get(key)
    if array is None:
        array = _placed.recall(key)
    if array is None:
        array = from_float(number)
        if array is None:
            return number
        _placed.keep(key, array)
    return array


class TracedOperator(Operator):
    """An operator some of whose attributes are traced. See `Operator` for the arguments."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.traced: dict[str, tuple[float, ...]] = {
            name: kind.constants for name, (kind, _) in self.attributes.items() if kind.traced
        }
        self._opened = {}

    def opened(self, attributes: dict[str, Any], graph: bool) -> Any:
        """(names, operator): the attributes that are inputs now, and the operator that takes them as its last ones."""
        names = tuple(
            [
                name
                for name, constants in self.traced.items()
                if isinstance(attributes[name], Tensor) or not graph and attributes[name] not in constants
            ]
        )
        found = self._opened.get(names)
        if found is None:
            found = self._opened[names] = self._open(names) if names else self
        return names, found

    def _open(self, names):
        fn, count = self.fn, len(names)

        def opened(*args, **attributes):
            return fn(*args[:-count], **attributes, **dict(zip(names, map(weak_scalar, args[-count:]))))

        twin = copy.copy(self)
        twin.fn = opened
        twin.inputs = self.inputs + [Input(name, None, None) for name in names]
        twin.attributes = {name: entry for name, entry in self.attributes.items() if name not in names}
        twin.kernels = LruCache()
        return twin

    def ready(self, attributes: dict[str, Any]) -> "Kernel | None":
        """The kernel of PYNATIVE calls with plain inputs, which its numbers follow; None if one of them is a Tensor."""
        names, opened = self.opened(attributes, graph=False)
        if any(isinstance(attributes[name], Tensor) for name in names):
            return None
        return Operator.kernel(opened, {name: attributes[name] for name in opened.attributes})

    def numbers(self, attributes: dict[str, Any]) -> tuple[Any, ...]:
        """What follows the inputs of that kernel."""
        return tuple([device_scalar(attributes[name]) for name in self.opened(attributes, graph=False)[0]])

    def prepared(self, attributes: dict[str, Any], args: tuple[Any, ...]) -> Any:
        """See `Operator.prepared`."""
        names, opened = self.opened(attributes, graph=False)
        if any(isinstance(attributes[name], Tensor) for name in names):
            return None
        numbers = tuple([device_scalar(attributes[name]) for name in names])
        rest = {name: attributes[name] for name in opened.attributes}
        kernel, _ = Operator.prepared(
            opened, rest, (*args, *[box(n) if isinstance(n, jax.Array) else n for n in numbers])
        )
        return kernel, numbers

    def __call__(self, attributes: dict[str, Any], args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Any:
        if kwargs or len(args) != len(self.inputs):
            args = self._bind(args, kwargs or {})
        names, opened = self.opened(attributes, graph=_thread.frame is not None)
        if names:
            args = (*args, *[device_scalar(attributes[name]) for name in names])
            attributes = {name: attributes[name] for name in opened.attributes}
        return Operator.__call__(opened, attributes, args)

    def failed(
        self,
        error: BaseException,
        kernel: "Kernel",
        boxes: Sequence[Any],
        arrays: Sequence[Any],
        targets: Sequence[Any] = (),
    ) -> Any:
        """See `Operator.failed`; a number is shown as one."""
        boxes = [b.item() if isinstance(b, jax.Array) and not b.ndim and not is_tracer(b) else b for b in boxes]
        return super().failed(error, kernel, boxes, arrays, targets)


class CheckedTracedOperator(Checked, TracedOperator):
    """A `TracedOperator` with checks."""


def traced_call(op: "TracedOperator") -> Callable[..., Any] | None:
    """`__call__` of a class whose operator has traced attributes and takes plain Tensors: dispatch and the numbers."""
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
            numbers = op.numbers(self._attributes)
            if float not in map(type, numbers):  # floats stay what they are only while JAX traces
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
                return op.failed(error, self._kernel, (*args, *numbers), [array, *numbers])
            if type(out) is tuple:
                return tuple([box(copy_if_aliased(o, (array,))) for o in out])
            tensor = _new(Tensor)
            tensor._array, tensor._node = copy_if_aliased(out, (array,)) if out is array else out, None
            return tensor

    return call
