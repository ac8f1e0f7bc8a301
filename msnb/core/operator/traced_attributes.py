"""Operators with traced attributes: numbers that are inputs of the compiled kernel.

Outside a graph such an attribute is a weakly typed scalar input of the kernel, so that one kernel serves every
value. In a graph, which is compiled for its constants anyway, it is a constant that XLA can fold and that the graph
view shows. A Tensor is an input in both.
"""

import copy
from collections.abc import Callable, Sequence
from typing import Any

from msnb.common.kinds import hashable
from msnb.core.compat.jax_private import from_float, weak_scalar
from msnb.core.operator.operator_types import Input, Operator, copy_if_aliased, operand
from msnb.core.state import trace_state
from msnb.core.support.lru_cache import LruCache
from msnb.core.tensor.tensor import Tensor, box

_thread = trace_state.thread
_new = object.__new__
_device_scalars = LruCache(1024)  # number -> its array


def make_operator(fn: Callable[..., Any], *rest: Any, checks: Sequence[Any] = (), rows: Any = None) -> Operator:
    """Return the `Operator` that `fn` declares; arguments as for `Operator`."""
    op = Operator(fn, *rest, checks=checks, rows=rows)
    constants = {name: kind.constants for name, (kind, _) in op.attributes.items() if getattr(kind, "traced", False)}
    if constants:
        op.traced = TracedAttributes(constants)
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


class TracedAttributes:
    """The attributes of an operator that are inputs of the program.

    Args:
        constants (dict): Name of the attribute -> its values that stay constants of the kernel.
    """

    __slots__ = ("constants", "_opened")

    def __init__(self, constants: dict[str, tuple[float, ...]]) -> None:
        self.constants = constants
        self._opened: dict[tuple[str, ...], Operator] = {}

    def open(self, op: Operator, attributes: dict[str, Any], is_graph: bool) -> tuple[tuple[str, ...], Operator]:
        """Return (names, operator): the attributes of `op` that are inputs in this call, and the operator that takes
        them as its last inputs.
        """
        names = tuple(
            [
                name
                for name, constants in self.constants.items()
                if isinstance(attributes[name], Tensor) or not is_graph and attributes[name] not in constants
            ]
        )
        if not names:
            return names, op
        opened = self._opened.get(names)
        if opened is None:
            opened = self._opened[names] = _convert_attributes_to_inputs(op, names)
        return names, opened

    def device_scalars(self, attributes: dict[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
        """Return the scalars for the attributes `names`, which follow the inputs of the opened operator."""
        return tuple([device_scalar(attributes[name]) for name in names])

    def renew(self) -> "TracedAttributes":
        """Return the same attributes for a copy of the operator."""
        return TracedAttributes(self.constants)


_NONE = TracedAttributes({})


def _convert_attributes_to_inputs(op, names):
    """Return a copy of `op` whose attributes `names` are its last inputs."""
    fn, count = op.fn, len(names)

    def call_opened(*args, **attributes):
        return fn(*args[:-count], **attributes, **dict(zip(names, map(weak_scalar, args[-count:]))))

    opened = copy.copy(op)
    opened.fn = call_opened
    opened.inputs = op.inputs + [Input(name, None, None) for name in names]
    opened.attributes = {name: entry for name, entry in op.attributes.items() if name not in names}
    opened.kernels = LruCache()
    opened.traced = _NONE
    return opened


def traced_call(op: Operator) -> Callable[..., Any] | None:
    """Return the `__call__` of a class that has traced attributes and whose inputs are plain Tensors.

    It passes the attributes to the kernel as scalars after the Tensors.
    """
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
            attributes, traced = self._attributes, op.traced
            assert traced is not None
            numbers = traced.device_scalars(attributes, traced.open(op, attributes, is_graph=False)[0])
            if float not in map(type, numbers):  # while JAX traces, a value stays a Python float
                self._numbers = numbers
        arrays = [a._array if type(a) is Tensor else operand(a, name, n) for a, n in zip(args, names)]
        return op.run(kernel, (*args, *numbers), (*arrays, *numbers))

    if count != 1 or op.checks:

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
