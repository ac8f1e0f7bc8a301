"""The call path of declared Primitives, from `ops.ReLU()(x)` to its kernel.

Each function builds the `__call__` of a class for one form of inputs. The usual call goes directly to the kernel.
Recording, mixed precision, checks and unusual arguments take the slow path, `Operator.__call__`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msnb.common import dtype as mstype
from msnb.core.operator.operator_types import in_precision, operand
from msnb.core.operator.traced_attributes import traced_call
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.operator.operator_types import Operator

_thread = trace_state.thread
_new = object.__new__
# Types of static arguments. A cache key has the pair (type, value), because True, 1 and 1.0 are equal keys of a dict.
# Besides these types, only tuples of int take the fast path.
_ATOMS = frozenset(
    (int, bool, str, type(None), *{type(t) for t in vars(mstype).values() if isinstance(t, mstype.Type)})
)
_INTS = frozenset((int,))
_BOXES = frozenset((Tensor, Parameter))
_BOX, _MANY, _STATIC = object(), object(), object()


def call_of(op: "Operator") -> Callable[..., Any] | None:
    """Return the `__call__` for the class of operator `op`; None if the class keeps the inherited one."""
    if op.plain:
        return _make_call_for_tensors(op) if op.traced is None else traced_call(op)
    if op.written or op.random or op.checks or op.rows is not None:
        return None
    return _make_call_for_static_inputs(op)


def _make_call_for_tensors(op):
    """Return the `__call__` of an operator whose inputs are all required Tensors."""
    name, names, count = op.name, [i.name for i in op.inputs], len(op.inputs)

    def general(self, args, kwargs):
        if kwargs or len(args) != count:
            args = op._bind_arguments(args, kwargs)
        if _thread.compute_dtype is not None and (op.casts_inputs or not _thread.casts_all):
            args = in_precision(args)
        arrays = [operand(a, name, n) for a, n in zip(args, names)]
        return op.run(self._kernel, args, arrays)

    if op.checks:

        def call(self, *args, **kwargs):
            return general(self, args, kwargs)
    elif count == 1:

        def call(self, *args, **kwargs):
            if (
                len(args) == 1
                and type(args[0]) is Tensor
                and not kwargs
                and not _thread.results_observed
                and _thread.compute_dtype is None
            ):
                array = args[0]._array
                try:
                    out = self._kernel.run(array)
                except BaseException as error:
                    return op.handle_error(error, self._kernel, args, [array])
                if type(out) is not tuple and out is not array:
                    tensor = _new(Tensor)
                    tensor._array, tensor._node = out, None
                    return tensor
                return op.finish(out, self._kernel, args, [array])
            return general(self, args, kwargs)
    elif count == 2:

        def call(self, *args, **kwargs):
            if len(args) == 2 and not kwargs and not _thread.results_observed and _thread.compute_dtype is None:
                x, y = args
                a = x._array if type(x) is Tensor else operand(x, name, names[0])
                b = y._array if type(y) is Tensor else operand(y, name, names[1])
                try:
                    out = self._kernel.run(a, b)
                except BaseException as error:
                    return op.handle_error(error, self._kernel, args, [a, b])
                if type(out) is not tuple and out is not a and out is not b:
                    tensor = _new(Tensor)
                    tensor._array, tensor._node = out, None
                    return tensor
                return op.finish(out, self._kernel, args, [a, b])
            return general(self, args, kwargs)
    else:

        def call(self, *args, **kwargs):
            return general(self, args, kwargs)

    return call


def _make_call_for_static_inputs(op):
    """Return the `__call__` of an operator with static inputs, tuples of Tensors, or optional Tensors.

    It caches the kernel for the types and static values of a call.
    """
    input_kinds = tuple([_MANY if i.many else _BOX if i.kind is None else _STATIC for i in op.inputs])
    defaults, required = op.defaults, len(op.inputs) - len(op.defaults)
    count, traced, returns_integers = len(op.inputs), op.traced is not None, op.real is not None

    def call(self, *args, **kwargs):
        n_args = len(args)
        if (
            kwargs
            or not required <= n_args <= count
            or _thread.results_observed
            or _thread.compute_dtype is not None
            or traced
            and _thread.frame is not None
            or returns_integers
            and _thread.carriers is not None
        ):
            return self._operator(self._attributes, args, kwargs)
        if n_args < count:
            args += defaults[n_args - required :]
        key, arrays = [], []
        for arg, input_kind in zip(args, input_kinds):
            kind = type(arg)
            if input_kind is _BOX:
                if arg is None:
                    key.append(0)
                elif isinstance(arg, Tensor):
                    key.append(1)
                    arrays.append(arg._array)
                else:
                    return self._operator(self._attributes, args, kwargs)
            elif input_kind is _MANY:
                if kind is not tuple and kind is not list or not _BOXES.issuperset(map(type, arg)):
                    return self._operator(self._attributes, args, kwargs)
                key.append(len(arg))
                arrays.extend([a._array for a in arg])
            elif kind in _ATOMS:
                key.append(kind)
                key.append(arg)
            elif kind is tuple and _INTS.issuperset(map(type, arg)):
                key.append(arg)
            else:
                return self._operator(self._attributes, args, kwargs)
        key = tuple(key)
        prepared = self._prepared.get(key)
        if prepared is None:
            prepared = self._prepared.recall(key) or _prepare_and_cache_kernel(self, key, args)
            if prepared is None:
                return self._operator(self._attributes, args, kwargs)
        kernel, numbers = prepared
        try:
            out = kernel.run(*arrays, *numbers)
        except BaseException as error:
            return op.handle_error(error, kernel, _find_tensors(args), arrays)
        if type(out) is not tuple:
            for array in arrays:
                if out is array:
                    break
            else:
                tensor = _new(Tensor)
                tensor._array, tensor._node = out, None
                return tensor
        return op.finish(out, kernel, (), arrays)  # boxes are only needed for recording, which is off here

    return call


def _find_tensors(args):
    """Return the Tensors among arguments, in order."""
    leaves = [leaf for arg in args for leaf in (arg if type(arg) in (tuple, list) else (arg,))]
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]


def _prepare_and_cache_kernel(prim, key, args):
    """Return (kernel, numbers) for arguments. Cached under `key`, except if a number is a Python float."""
    prepared = prim._operator.prepare_call(prim._attributes, args)
    if prepared is None or float in map(type, prepared[1]):
        return None
    return prim._prepared.keep(key, prepared)
