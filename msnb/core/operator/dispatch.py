"""Calls of declared Primitives: what lies between `ops.ReLU()(x)` and its kernel, and nothing else.

Each function makes the `__call__` of a class for one shape of inputs. The usual call goes straight to the kernel;
recording, mixed precision, checks and unusual arguments take the long way, `Operator.__call__`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msnb.common import dtype as mstype
from msnb.core.operator.operator_types import in_precision, operand
from msnb.core.operator.traced_attributes import TracedOperator, traced_call
from msnb.core.operator.value_checks import Checked
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.operator.operator_types import Operator

_thread = trace_state.thread
_new = object.__new__
# Static values whose type and value say all; a tuple of int is the other. True is 1 and 1.0 to a dict, so that the
# type belongs to the key.
_ATOMS = frozenset(
    (int, bool, str, type(None), *{type(t) for t in vars(mstype).values() if isinstance(t, mstype.Type)})
)
_INTS = frozenset((int,))
_BOXES = frozenset((Tensor, Parameter))
_BOX, _MANY, _STATIC = object(), object(), object()


def call_of(op: "Operator") -> Callable[..., Any] | None:
    """The `__call__` for the class of operator `op`; None where the one that all classes have serves."""
    if op.plain:
        return traced_call(op) if isinstance(op, TracedOperator) else _plain_call(op)
    if op.written or op.random or isinstance(op, Checked) or op.rows is not None:
        return None
    return _static_call(op)


def _plain_call(op):
    """Of an operator whose inputs are all Tensors, none of which may be absent."""
    name, names, count = op.name, [i.name for i in op.inputs], len(op.inputs)

    def general(self, args, kwargs):
        if kwargs or len(args) != count:
            args = op._bind(args, kwargs)
        if _thread.compute_dtype is not None:
            args = in_precision(args)
        arrays = [operand(a, name, n) for a, n in zip(args, names)]
        return op.run(self._kernel, args, arrays)

    if isinstance(op, Checked):

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
                    return op.failed(error, self._kernel, args, [array])
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
                    return op.failed(error, self._kernel, args, [a, b])
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


def _static_call(op):
    """Of an operator with static inputs, tuples of Tensors, or Tensors that may be absent: what such a call needs is
    remembered."""
    takes = tuple([_MANY if i.many else _BOX if i.kind is None else _STATIC for i in op.inputs])
    defaults, required = op.defaults, len(op.inputs) - len(op.defaults)
    count, traced, makes_whole = len(op.inputs), isinstance(op, TracedOperator), op.real is not None

    def call(self, *args, **kwargs):
        given = len(args)
        if (
            kwargs
            or not required <= given <= count
            or _thread.results_observed
            or _thread.compute_dtype is not None
            or traced
            and _thread.frame is not None
            or makes_whole
            and _thread.carriers is not None
        ):
            return self._operator(self._attributes, args, kwargs)
        if given < count:
            args += defaults[given - required :]
        key, arrays = [], []
        for arg, taken in zip(args, takes):
            kind = type(arg)
            if taken is _BOX:
                if arg is None:
                    key.append(0)
                elif isinstance(arg, Tensor):
                    key.append(1)
                    arrays.append(arg._array)
                else:
                    return self._operator(self._attributes, args, kwargs)
            elif taken is _MANY:
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
        found = self._prepared.get(key)
        if found is None:
            found = self._prepared.recall(key) or _prepare(self, key, args)
            if found is None:
                return self._operator(self._attributes, args, kwargs)
        kernel, numbers = found
        try:
            out = kernel.run(*arrays, *numbers)
        except BaseException as error:
            return op.failed(error, kernel, _boxes(args), arrays)
        if type(out) is not tuple:
            for array in arrays:
                if out is array:
                    break
            else:
                tensor = _new(Tensor)
                tensor._array, tensor._node = out, None
                return tensor
        return op.finish(out, kernel, (), arrays)  # nobody is looking, who would ask for the boxes

    return call


def _boxes(args):
    """The Tensors among arguments, in order."""
    leaves = [leaf for arg in args for leaf in (arg if type(arg) in (tuple, list) else (arg,))]
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]


def _prepare(prim, key, args):
    """(kernel, numbers) for arguments, kept under `key` unless a number has to be looked at in each call."""
    found = prim._operator.prepared(prim._attributes, args)
    if found is None or float in map(type, found[1]):
        return None
    return prim._prepared.keep(key, found)
