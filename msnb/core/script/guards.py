"""What a trace read of Python's world, and whether it still stands there.

A graph is built once, so whatever Python value it was built from is a constant in it. Here these are remembered: the
globals and closure variables of every function of the user's that was traced, and what stands inside them and inside
the attributes that those functions name, as far as it can change in place (lists, dictionaries, sets, numpy arrays,
plain objects and modules of the user's). Each call of a compiled program asks `Reads.same`, in C where it can.
"""

import contextlib
import dis
import functools
import inspect
import operator
import threading
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from msnb import log
from msnb.core.compat.jax_private import is_tracer
from msnb.core.errors.converted_code import is_converted
from msnb.core.operator.annotations import changes
from msnb.core.script.convert_function import is_library_module
from msnb.core.state import trace_state
from msnb.core.support.weak_identity import WeakIdentityDict, weakly
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.parameter_view import ParameterView
from msnb.core.tensor.tensor import Tensor

if TYPE_CHECKING:  # named in annotations alone
    from msnb.nn.cell import Cell

_thread = threading.local()
_loaded = WeakIdentityDict()  # code -> what `_names` gives
_ATOMS = frozenset((type(None), bool, int, float, complex, str, bytes))
_SPACES = ("SimpleNamespace", "Namespace", "EasyDict")  # libraries' classes that hold what the user puts in
_LARGEST = 1 << 16  # bytes of an array, or elements of a container, that are compared in each call
_DEEPEST = 4


@contextlib.contextmanager
def collecting():
    """Collect what one trace reads; gives its `Reads`."""
    outer = getattr(_thread, "reads", None)
    reads = _thread.reads = Reads()
    try:
        yield reads
    finally:
        _thread.reads = outer


def note(fn: Any, instance: Any = None) -> None:
    """Remember, for the trace going on, that it runs the function `fn`, as a method of `instance` if that is given."""
    reads = getattr(_thread, "reads", None)
    if reads is not None:
        reads.add(fn, instance)
    if trace_state.thread.compute_dtype is not None and trace_state.thread.frame is not None:
        named = trace_state.thread.frame.root().named
        named.update((id(value), value) for value in _outside(fn) if isinstance(value, Tensor))


def _outside(fn):
    """What a function finds under a name outside of it: globals, closure variables and defaults."""
    loads, _ = _names(fn.__code__)
    yield from (fn.__globals__[name] for name in loads if name in fn.__globals__)
    for cell in fn.__closure__ or ():
        with contextlib.suppress(ValueError):
            yield cell.cell_contents
    yield from fn.__defaults__ or ()
    yield from (fn.__kwdefaults__ or {}).values()


def depend(label: str, get: Any) -> None:
    """Remember, for the trace going on, what `get()` gives: a program is traced anew once that is another number.

    Args:
        label (str): What it is, for messages.
        get (Callable): Gives a number or a string, fast: each call of the program asks.
    """
    reads = getattr(_thread, "reads", None)
    if reads is not None and all(known is not get for _, known, _ in reads.contents):
        reads.contents.append((label, get, _Is(get())))


class Reads:
    """What one trace read. `seal` ends it; then `same` and `change` compare with what stands there now."""

    def __init__(self):
        self.seen: set[Any] = set()  # ids of code, kept alive by `functions`
        self.functions: list[Any] = []
        self.globals: dict[Any, Any] = {}  # id of a namespace -> (namespace, {name: value})
        self.closures: list[Any] = []  # (closure cell, value, name)
        self.attributes: set[Any] = set()  # names of attributes that the functions mention
        self.objects: dict[Any, Any] = {}  # id -> object whose methods ran
        self.checks: list[Any] = []  # (itemgetter, namespace, values)
        self.contents: list[Any] = []  # (name, reference to the value, its Snapshot)
        self.primitives: list[Any] = []  # (name, Primitive, how often it had changed)

    def add(self, fn: Any, instance: Any) -> None:
        """Note what a function and what is nested in it read."""
        if instance is not None and _plain(instance):
            self.objects.setdefault(id(instance), instance)
        code = fn.__code__
        if is_converted(code) or id(code) in self.seen:
            return  # a function that the trace itself made lives no longer than the trace
        self.seen.add(id(code))
        self.functions.append((fn, code))
        loads, attributes = _names(code)
        self.attributes |= attributes
        space = fn.__globals__
        _, found = self.globals.setdefault(id(space), (space, {}))
        found.update((name, space[name]) for name in loads if name in space)
        for name, cell in zip(code.co_freevars, fn.__closure__ or ()):
            with contextlib.suppress(ValueError):
                self.closures.append((cell, cell.cell_contents, name))

    # ------------------------------------------------------------------ after the trace
    def seal(self, program: str, cells: "list[Cell]") -> bool:
        """Remember the contents of what was read; returns whether there is anything that `same` has to look at.

        Args:
            program (str): Name of the program, for messages.
            cells (list[Cell]): Those of the program, whose own attributes are not compared: a change of them is noticed
                when it is made.

        Raises:
            TypeError: If the trace left a Tensor of its own in something that outlives it.
        """
        if not self.functions:
            return bool(self.contents)
        for space, found in self.globals.values():
            found = {
                name: value
                for name, value in found.items()
                if not isinstance(value, types.ModuleType) or not is_library_module(value.__name__)
            }
            if found:
                names = list(found)
                getter = operator.itemgetter(*names, names[0])
                self.checks.append((getter, space, getter(found)))
                for name, value in found.items():
                    self._watch(program, f"'{name}'", value, cells=cells)
        for _, value, name in self.closures:
            self._watch(program, f"'{name}'", value, cells=cells)
        for instance in self.objects.values():
            self._watch(program, f"the {type(instance).__name__} of the method", instance, weakly(instance))
        for cell in cells:
            for name, value in cell._own_attributes():
                if name in self.attributes:
                    self._watch(program, f"'{name}' of {type(cell).__name__}", value, cells=cells)
        for kind in {type(cell) for cell in cells}:
            for base, name in self._of_class(kind):
                self._watch(
                    program,
                    f"'{name}' of class {base.__name__}",
                    vars(base)[name],
                    functools.partial(vars(base).get, name),
                )
        self.objects = None  # weak from here on
        return bool(self.checks or self.closures or self.contents)

    def _of_class(self, kind):
        for base in kind.__mro__:
            if not is_library_module(base.__module__):
                yield from (
                    (base, n)
                    for n, v in vars(base).items()
                    if n in self.attributes and not callable(v) and not hasattr(v, "__get__")
                )

    def _watch(self, program, label, value, get=None, cells=()):
        """Compare, in each call, the contents of `value`; with `get`, what that gives."""
        leaked = _leaked(value)
        if leaked:
            hook = _hook_that_reads(value, cells)
            where = f": {hook} leaves one there, which" if hook else ": the Tensor"
            raise TypeError(
                f"{label} outlives the graph of {program}, and a graph cannot keep a Tensor in it{where} has no value "
                f"in a graph. In PYNATIVE mode it has one: context.set_context(mode=context.PYNATIVE_MODE), or in a "
                f"notebook %%mindspore -m pynative. "
                + ("Or remove the hook: handle.remove()." if hook else "Or return it, or make it a Parameter.")
            )
        self.primitives += [(label, p, changes(p)) for p in _primitives(value, self.attributes, _DEEPEST)]
        try:
            snapshot = _snapshot(value, self.attributes, _DEEPEST)
        except _TooLarge as size:
            log.once(
                f"{program} has {label}, which is too large ({size}) to be compared in every call, as a constant "
                f"in its graph: what is changed inside it later is not seen. Hand it over as an input or make it "
                f"a Parameter."
            )
            return
        if get is not None or not isinstance(snapshot, _Is):
            self.contents.append((label, get or (lambda: value), snapshot))

    def same(self) -> bool:
        """Whether everything that the trace read still stands there."""
        try:
            for getter, space, values in self.checks:
                if not all(map(operator.is_, getter(space), values)) and not _equal(getter(space), values):
                    return False
            for cell, value, _ in self.closures:
                now = cell.cell_contents
                if now is not value and not _equal((now,), (value,)):
                    return False
        except (KeyError, ValueError):  # a name that is gone
            return False
        for _, get, snapshot in self.contents:
            if not snapshot.holds(get()):
                return False
        return True

    def same_code(self) -> bool:
        """Whether the functions still have the code that was traced: reloading tools replace it in place."""
        return all(fn.__code__ is code for fn, code in self.functions)

    def same_primitives(self) -> bool:
        """Whether no Primitive outside of the Cells was given another attribute, strategy or stage."""
        return all(changes(primitive) == before for _, primitive, before in self.primitives)

    def change(self) -> str:
        """In words, the first thing that stands there no longer; empty if all does."""
        for fn, code in self.functions:
            if fn.__code__ is not code:
                return f"'{fn.__name__}' was redefined"
        for label, primitive, before in self.primitives:
            if changes(primitive) != before:
                return f"an attribute of {label} changed"
        for space, found in self.globals.values():
            for name, value in found.items():
                if name not in space or space[name] is not value and not _equal((space[name],), (value,)):
                    return f"'{name}' was redefined"
        for cell, value, name in self.closures:
            now = cell.cell_contents
            if now is not value and not _equal((now,), (value,)):
                return f"'{name}' was set anew"
        for label, get, snapshot in self.contents:
            if not snapshot.holds(get()):
                return f"{label} was changed in place"
        return ""


def _names(code):
    """(names of globals, names of attributes) that a code object and those nested in it load."""
    known = _loaded.get(code)
    if known is not None:
        return known
    loads, attributes = set(), set()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            loads.add(instruction.argval)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes.add(instruction.argval)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            inner = _names(const)
            loads |= inner[0]
            attributes |= inner[1]
    _loaded[code] = loads, attributes
    return loads, attributes


def _equal(now, before):
    """Whether tuples hold the same objects, or equal numbers and strings of the same type."""
    return all(a is b or type(a) is type(b) and type(a) in _ATOMS and a == b for a, b in zip(now, before))


def _plain(value):
    """Whether an object is of a class, or is a module, of the user's, so that its attributes may be part of a graph."""
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


def _hook_that_reads(value, cells):
    """The hook of a Cell that knows `value` by a name, in words; "" where there is none."""
    for cell in cells:
        for hooks in (getattr(cell, "_hooks", None) or {}).values():
            for function, _ in hooks.values():
                if not inspect.isfunction(function):
                    continue
                known = inspect.getclosurevars(function)
                if any(one is value for one in (*known.nonlocals.values(), *known.globals.values())):
                    layer = f"'{cell._attr_name}' ({type(cell).__name__})" if cell._attr_name else type(cell).__name__
                    return f"the hook '{function.__name__}' of {layer}"
    return ""


def _leaked(value):
    """Take the Tensors of a trace out of a list, dictionary or set; returns whether there were any."""

    def traced(v):
        return isinstance(v, Tensor) and is_tracer(v._array)

    kept = None
    if type(value) is list:
        kept = [v for v in value if not traced(v)]
    elif type(value) is dict:
        kept = {k: v for k, v in value.items() if not traced(v)}
    elif type(value) is set:
        kept = {v for v in value if not traced(v)}
    if kept is None or len(kept) == len(value):
        return False
    value.clear()
    (value.extend if type(value) is list else value.update)(kept)
    return True


def _primitives(value, attributes, depth):
    """The Primitives that a value is or holds."""
    if changes(value) is not None:
        return [value]
    kind, inner = type(value), ()
    if depth and kind in (list, tuple, dict) and len(value) <= _LARGEST:
        inner = value.values() if kind is dict else value
    elif depth and _plain(value):
        inner = [v for n, v in list(vars(value).items()) if n in attributes]
    return [found for v in inner if type(v) not in _ATOMS for found in _primitives(v, attributes, depth - 1)]


# ---------------------------------------------------------------------- snapshots
class _TooLarge(Exception):
    pass


def _snapshot(value, attributes, depth):
    """What a value looks like now, as something with a method `holds(value)`."""
    kind = type(value)
    if kind in (list, tuple, dict, set):
        if len(value) > _LARGEST:
            raise _TooLarge(f"{len(value):,} elements")
        inner = list(value.values()) if kind is dict else value
        if all(type(v) in _ATOMS for v in inner):
            return _Is(value) if kind is tuple else _Flat(value)
        if kind is set or depth == 0:
            return _Is(value)
        return _Nested(value, [_snapshot(v, attributes, depth - 1) for v in inner])
    if isinstance(value, np.ndarray):
        if value.nbytes > _LARGEST:
            raise _TooLarge(f"{value.nbytes:,} bytes")
        return _Is(value) if value.dtype.hasobject else _Array(value)
    if isinstance(value, Tensor) and not isinstance(value, (Parameter, ParameterView)):
        return _Box(value)
    if depth and _plain(value):
        return _Object(
            value, {n: _snapshot(v, attributes, depth - 1) for n, v in list(vars(value).items()) if n in attributes}
        )
    return _Is(value)


class _Is:
    """The same object, or an equal number or string."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def holds(self, value):
        """See `_snapshot`."""
        return value is self.value or _equal((value,), (self.value,))


class _Box:
    """A Tensor that nothing has been written into."""

    __slots__ = ("value", "array")

    def __init__(self, value):
        self.value, self.array = value, value._array

    def holds(self, value):
        """See `_snapshot`."""
        return value is self.value and value._array is self.array


class _Flat:
    """A list, dictionary or set of numbers and strings."""

    __slots__ = ("copy", "types")

    def __init__(self, value):
        self.copy = value.copy()
        self.types = self._types(value)

    @staticmethod
    def _types(value):
        return list(map(type, value.values() if type(value) is dict else value))  # 1, 1.0 and True are equal

    def holds(self, value):
        """See `_snapshot`."""
        return value == self.copy and type(value) is type(self.copy) and self._types(value) == self.types


class _Nested:
    """A list, tuple or dictionary of anything."""

    __slots__ = ("kind", "keys", "inner")

    def __init__(self, value, inner):
        self.kind, self.inner = type(value), inner
        self.keys = list(value) if self.kind is dict else None

    def holds(self, value):
        """See `_snapshot`."""
        if type(value) is not self.kind or len(value) != len(self.inner):
            return False
        if self.keys is not None:
            if list(value) != self.keys:
                return False
            value = value.values()
        return all(snapshot.holds(v) for snapshot, v in zip(self.inner, value))


class _Array:
    """A numpy array."""

    __slots__ = ("shape", "dtype", "data")

    def __init__(self, value):
        self.shape, self.dtype, self.data = value.shape, value.dtype, value.tobytes()

    def holds(self, value):
        """See `_snapshot`."""
        return (
            isinstance(value, np.ndarray)
            and value.shape == self.shape
            and value.dtype == self.dtype
            and value.tobytes() == self.data
        )


class _Object:
    """A plain object or module, by those of its attributes that count."""

    __slots__ = ("ident", "inner")

    def __init__(self, value, inner):
        self.ident = weakly(value)
        self.inner = inner

    def holds(self, value):
        """See `_snapshot`."""
        if value is None or value is not self.ident():
            return False
        values = vars(value)
        return all(n in values and snapshot.holds(values[n]) for n, snapshot in self.inner.items())
