"""Guards: Python values that a trace has read, and their comparison at each call.

Python values that a trace reads become constants of the graph. `Reads` records globals and closure variables of every
traced function of the user. It also records the contents of mutable values (lists, dictionaries, sets, numpy arrays,
plain objects, and modules of the user) in these variables and in attributes that the functions use. Each call of a
compiled program calls `Reads.same`, which compares the recorded values with the current ones, in C where possible.
"""

import contextlib
import dis
import functools
import inspect
import operator
import threading
import types
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from msnb import log
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.converted_code import is_converted
from msnb.core.operator.annotations import changes
from msnb.core.operator.autocast import OuterTensors
from msnb.core.script.convert_function import is_library_module
from msnb.core.state import trace_state
from msnb.core.support.weak_identity import WeakIdentityDict, weakly
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.parameter_view import ParameterView
from msnb.core.tensor.tensor import Tensor

_thread = threading.local()
_loaded = WeakIdentityDict()  # code -> result of `_collect_loaded_names`
_ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes))
_SPACES = ("SimpleNamespace", "Namespace", "EasyDict")  # classes of libraries that hold values of the user
_MAX_COMPARED = 1 << 16  # maximum bytes of an array, and elements of a container, that are guarded
_MAX_DEPTH = 4


class GuardedCell(Protocol):
    """Protocol of `nn.Cell`: the members that guards read."""

    _attr_name: str

    def _iterate_own_attributes(self) -> Iterable[tuple[str, Any]]: ...


@contextlib.contextmanager
def collecting():
    """Context manager that collects the Python values that one trace reads; yields its `Reads`."""
    outer = getattr(_thread, "reads", None)
    reads = _thread.reads = Reads()
    try:
        yield reads
    finally:
        _thread.reads = outer


def note(fn: Any, instance: Any = None) -> None:
    """Record that the current trace runs the function `fn`, as a method of `instance` if that is not None."""
    reads = getattr(_thread, "reads", None)
    if reads is not None:
        reads.add(fn, instance)
    if trace_state.thread.compute_dtype is not None and trace_state.thread.frame is not None:
        outer_tensors = trace_state.thread.frame.trace.state_of(OuterTensors)
        outer_tensors.update((id(value), value) for value in _iterate_outer_values(fn) if isinstance(value, Tensor))


def note_global(space: dict[str, Any], name: str) -> None:
    """Record that the current trace reads the global `name` of the namespace `space`."""
    reads = getattr(_thread, "reads", None)
    if reads is not None:
        reads.globals.setdefault(id(space), (space, {}))[1][name] = space[name]


def _iterate_outer_values(fn):
    """Yield the values of a function's outer names: globals, closure variables and defaults."""
    loads, _ = _collect_loaded_names(fn.__code__)
    yield from (fn.__globals__[name] for name in loads if name in fn.__globals__)
    for cell in fn.__closure__ or ():
        with contextlib.suppress(ValueError):
            yield cell.cell_contents
    yield from fn.__defaults__ or ()
    yield from (fn.__kwdefaults__ or {}).values()


def depend(label: str, get: Any) -> None:
    """Add the value of `get()` as a guard of the current trace; the program is traced again when it changes.

    Args:
        label (str): Description for messages.
        get (Callable): Returns a number or a string. It must be fast, because each call of the program calls it.
    """
    reads = getattr(_thread, "reads", None)
    if reads is not None and all(getter is not get for _, getter, _ in reads.contents):
        reads.contents.append((label, get, _SameValue(get())))


class Reads:
    """Python values that one trace read. After `seal`, `same` and `change` compare them with the current ones."""

    def __init__(self):
        self.code_ids: set[Any] = set()  # ids of code, kept alive by `functions`
        self.functions: list[Any] = []
        self.globals: dict[Any, Any] = {}  # id of a namespace -> (namespace, {name: value})
        self.closures: list[Any] = []  # (closure cell, value, name)
        self.attributes: set[Any] = set()  # names of attributes that the functions use
        self.objects: dict[Any, Any] = {}  # id -> object whose methods ran
        self.checks: list[Any] = []  # (itemgetter, namespace, values)
        self.contents: list[Any] = []  # (label, function that returns the current value, snapshot)
        self.primitives: list[Any] = []  # (name, Primitive, its number of changes)

    def add(self, fn: Any, instance: Any) -> None:
        """Record the values that a function and its nested functions read."""
        if instance is not None and _has_user_attributes(instance):
            self.objects.setdefault(id(instance), instance)
        code = fn.__code__
        if is_converted(code) or id(code) in self.code_ids:
            return  # recorded already, or a nested function that exists only during the trace
        self.code_ids.add(id(code))
        self.functions.append((fn, code))
        loads, attributes = _collect_loaded_names(code)
        self.attributes |= attributes
        space = fn.__globals__
        _, values = self.globals.setdefault(id(space), (space, {}))
        values.update((name, space[name]) for name in loads if name in space)
        for name, cell in zip(code.co_freevars, fn.__closure__ or ()):
            with contextlib.suppress(ValueError):
                self.closures.append((cell, cell.cell_contents, name))

    # ------------------------------------------------------------------ after the trace
    def seal(self, program: str, cells: list[GuardedCell]) -> bool:
        """Take snapshots of the values that were read; returns True if `same` has anything to compare.

        Args:
            program (str): Name of the program, for messages.
            cells (list[Cell]): Cells of the program. Of their attributes only the contents of mutable values are
                compared here: setting an attribute of a Cell increases the epoch.

        Raises:
            TypeError: If the trace stored a traced Tensor in an object that outlives it.
        """
        if not self.functions:
            return bool(self.contents)
        for space, values in self.globals.values():
            values = {
                name: value
                for name, value in values.items()
                if not isinstance(value, types.ModuleType) or not is_library_module(value.__name__)
            }
            if values:
                names = list(values)
                getter = operator.itemgetter(*names, names[0])
                self.checks.append((getter, space, getter(values)))
                for name, value in values.items():
                    self._add_snapshot(program, f"'{name}'", value, cells=cells)
        for _, value, name in self.closures:
            self._add_snapshot(program, f"'{name}'", value, cells=cells)
        for instance in self.objects.values():
            self._add_snapshot(program, f"the {type(instance).__name__} of the method", instance, weakly(instance))
        for cell in cells:
            for name, value in cell._iterate_own_attributes():
                if name in self.attributes:
                    self._add_snapshot(program, f"'{name}' of {type(cell).__name__}", value, cells=cells)
        for kind in {type(cell) for cell in cells}:
            for base, name in self._iterate_read_class_attributes(kind):
                self._add_snapshot(
                    program,
                    f"'{name}' of class {base.__name__}",
                    vars(base)[name],
                    functools.partial(vars(base).get, name),
                )
        self.objects = None  # the guards refer to these objects weakly
        return bool(self.checks or self.closures or self.contents)

    def _iterate_read_class_attributes(self, cls):
        for base in cls.__mro__:
            if not is_library_module(base.__module__):
                yield from (
                    (base, n)
                    for n, v in vars(base).items()
                    if n in self.attributes and not callable(v) and not hasattr(v, "__get__")
                )

    def _add_snapshot(self, program, label, value, get=None, cells=()):
        """Take a snapshot of `value`, which each call compares with the current contents of `value` or, if there is a
        function `get`, with the result of ``get()``.
        """
        has_leaked = _remove_traced_tensors(value)
        if has_leaked:
            hook = _describe_hook_that_reads(value, cells)
            where = f": {hook} leaves one there, which" if hook else ": the Tensor"
            raise TypeError(
                f"{label} outlives the graph of {program}, and a graph cannot keep a Tensor in it{where} has no value "
                f"in a graph. In PYNATIVE mode it has one: context.set_context(mode=context.PYNATIVE_MODE), or in a "
                f"notebook %%mindspore -m pynative. "
                + ("Or remove the hook: handle.remove()." if hook else "Or return it, or make it a Parameter.")
            )
        self.primitives += [(label, p, changes(p)) for p in _find_primitives(value, self.attributes, _MAX_DEPTH)]
        try:
            snapshot = _take_snapshot(value, self.attributes, _MAX_DEPTH)
        except _TooLarge as size:
            log.once(
                f"{program} has {label}, which is too large ({size}) to be compared in every call, as a constant "
                f"in its graph: what is changed inside it later is not seen. Hand it over as an input or make it "
                f"a Parameter."
            )
            return
        if get is not None or not isinstance(snapshot, _SameValue):
            self.contents.append((label, get or (lambda: value), snapshot))

    def same(self) -> bool:
        """Return True if every value that the trace read is unchanged."""
        try:
            for getter, space, values in self.checks:
                if not all(map(operator.is_, getter(space), values)) and not _are_values_equal(getter(space), values):
                    return False
            for cell, value, _ in self.closures:
                now = cell.cell_contents
                if now is not value and not _are_values_equal((now,), (value,)):
                    return False
        except (KeyError, ValueError):  # a name was deleted
            return False
        for _, get, snapshot in self.contents:
            if not snapshot.matches(get()):
                return False
        return True

    def same_code(self) -> bool:
        """Return True if the functions still have the code that was traced; reloading tools replace it in place."""
        return all(fn.__code__ is code for fn, code in self.functions)

    def same_primitives(self) -> bool:
        """Return True if no attribute, strategy or stage of Primitives outside Cells has changed."""
        return all(changes(primitive) == before for _, primitive, before in self.primitives)

    def change(self) -> str:
        """Describe in words the first value that has changed; empty if none has."""
        for fn, code in self.functions:
            if fn.__code__ is not code:
                return f"'{fn.__name__}' was redefined"
        for label, primitive, before in self.primitives:
            if changes(primitive) != before:
                return f"an attribute of {label} changed"
        for space, values in self.globals.values():
            for name, value in values.items():
                if name not in space or space[name] is not value and not _are_values_equal((space[name],), (value,)):
                    return f"'{name}' was redefined"
        for cell, value, name in self.closures:
            now = cell.cell_contents
            if now is not value and not _are_values_equal((now,), (value,)):
                return f"'{name}' was set anew"
        for label, get, snapshot in self.contents:
            if not snapshot.matches(get()):
                return f"{label} was changed in place"
        return ""


def _collect_loaded_names(code):
    """Return (names of globals, names of attributes) that a code object and its nested code load."""
    cached = _loaded.get(code)
    if cached is not None:
        return cached
    loads, attributes = set(), set()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            loads.add(instruction.argval)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(instruction.argval)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            inner = _collect_loaded_names(const)
            loads |= inner[0]
            attributes |= inner[1]
    _loaded[code] = loads, attributes
    return loads, attributes


def _are_values_equal(now, before):
    """Return True if tuples have the same objects, or equal numbers and strings of the same type."""
    return all(a is b or type(a) is type(b) and type(a) in _ATOMS and a == b for a, b in zip(now, before))


def _has_user_attributes(value):
    """Return True for a module or object of the user, whose attributes may be part of a graph."""
    if isinstance(value, types.ModuleType):
        return not is_library_module(value.__name__)
    kind = type(value)
    if kind.__name__ in _SPACES:
        return hasattr(value, "__dict__")
    return (
        hasattr(value, "__dict__")
        and not isinstance(value, (type, types.FunctionType, Tensor))
        and not hasattr(kind, "_fingerprint")
        and not is_library_module(kind.__module__)
    )


def _describe_hook_that_reads(value, cells):
    """Describe the hook of a Cell that refers to `value` by a name; "" if there is none."""
    for cell in cells:
        for hooks in (getattr(cell, "_hooks", None) or {}).values():
            for function, *_ in hooks.values():
                if not inspect.isfunction(function):
                    continue
                variables = inspect.getclosurevars(function)
                if any(one is value for one in (*variables.nonlocals.values(), *variables.globals.values())):
                    layer = f"'{cell._attr_name}' ({type(cell).__name__})" if cell._attr_name else type(cell).__name__
                    return f"the hook '{function.__name__}' of {layer}"
    return ""


def _remove_traced_tensors(value):
    """Remove traced Tensors from a list, dictionary or set; returns True if there were any."""

    def traced(v):
        return isinstance(v, Tensor) and is_tracer(v._array)

    remaining = None
    if type(value) is list:
        remaining = [v for v in value if not traced(v)]
    elif type(value) is dict:
        remaining = {k: v for k, v in value.items() if not traced(v)}
    elif type(value) is set:
        remaining = {v for v in value if not traced(v)}
    if remaining is None or len(remaining) == len(value):
        return False
    value.clear()
    (value.extend if type(value) is list else value.update)(remaining)
    return True


def _find_primitives(value, attributes, depth):
    """Return the Primitives that a value is or has."""
    if changes(value) is not None:
        return [value]
    kind, inner = type(value), ()
    if depth and kind in (list, tuple, dict) and len(value) <= _MAX_COMPARED:
        inner = value.values() if kind is dict else value
    elif depth and _has_user_attributes(value):
        inner = [v for n, v in list(vars(value).items()) if n in attributes]
    return [
        primitive for v in inner if type(v) not in _ATOMS for primitive in _find_primitives(v, attributes, depth - 1)
    ]


# ---------------------------------------------------------------------- snapshots
class _TooLarge(Exception):
    pass


def _take_snapshot(value, attributes, depth):
    """Return a snapshot of a value, an object with a method `matches(value)`."""
    kind = type(value)
    if kind in (list, tuple, dict, set):
        if len(value) > _MAX_COMPARED:
            raise _TooLarge(f"{len(value):,} elements")
        inner = list(value.values()) if kind is dict else value
        if all(type(v) in _ATOMS for v in inner):
            return _SameValue(value) if kind is tuple else _FlatSnapshot(value)
        if kind is set or depth == 0:
            return _SameValue(value)
        return _NestedSnapshot(value, [_take_snapshot(v, attributes, depth - 1) for v in inner])
    if isinstance(value, np.ndarray):
        if value.nbytes > _MAX_COMPARED:
            raise _TooLarge(f"{value.nbytes:,} bytes")
        return _SameValue(value) if value.dtype.hasobject else _ArraySnapshot(value)
    if isinstance(value, Tensor) and not isinstance(value, (Parameter, ParameterView)):
        return _TensorSnapshot(value)
    if depth and _has_user_attributes(value):
        return _ObjectSnapshot(
            value,
            {n: _take_snapshot(v, attributes, depth - 1) for n, v in list(vars(value).items()) if n in attributes},
        )
    return _SameValue(value)


class _SameValue:
    """Snapshot that compares an object by identity; a number or string by equality."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def matches(self, value):
        """Return True if the current `value` equals the snapshot."""
        return value is self.value or _are_values_equal((value,), (self.value,))


class _TensorSnapshot:
    """Snapshot that compares a Tensor by its array, which a write replaces."""

    __slots__ = ("value", "array")

    def __init__(self, value):
        self.value, self.array = value, value._array

    def matches(self, value):
        """Return True if the current `value` equals the snapshot."""
        return value is self.value and value._array is self.array


class _FlatSnapshot:
    """Snapshot of a list, dictionary or set of numbers and strings."""

    __slots__ = ("copy", "types")

    def __init__(self, value):
        self.copy = value.copy()
        self.types = self._types(value)

    @staticmethod
    def _types(value):
        return list(map(type, value.values() if type(value) is dict else value))  # needed, as 1, 1.0 and True are equal

    def matches(self, value):
        """Return True if the current `value` equals the snapshot."""
        return value == self.copy and type(value) is type(self.copy) and self._types(value) == self.types


class _NestedSnapshot:
    """Snapshot of a list, tuple or dictionary with a snapshot of each element."""

    __slots__ = ("kind", "keys", "inner")

    def __init__(self, value, inner):
        self.kind, self.inner = type(value), inner
        self.keys = list(value) if self.kind is dict else None

    def matches(self, value):
        """Return True if the current `value` equals the snapshot."""
        if type(value) is not self.kind or len(value) != len(self.inner):
            return False
        if self.keys is not None:
            if list(value) != self.keys:
                return False
            value = value.values()
        return all(snapshot.matches(v) for snapshot, v in zip(self.inner, value))


class _ArraySnapshot:
    """Snapshot of a numpy array."""

    __slots__ = ("shape", "dtype", "data")

    def __init__(self, value):
        self.shape, self.dtype, self.data = value.shape, value.dtype, value.tobytes()

    def matches(self, value):
        """Return True if the current `value` equals the snapshot."""
        return (
            isinstance(value, np.ndarray)
            and value.shape == self.shape
            and value.dtype == self.dtype
            and value.tobytes() == self.data
        )


class _ObjectSnapshot:
    """Snapshot of those attributes of a plain object or module that functions use."""

    __slots__ = ("ident", "inner")

    def __init__(self, value, inner):
        self.ident = weakly(value)
        self.inner = inner

    def matches(self, value):
        """Return True if the current `value` equals the snapshot."""
        if value is None or value is not self.ident():
            return False
        values = vars(value)
        return all(n in values and snapshot.matches(values[n]) for n, snapshot in self.inner.items())
