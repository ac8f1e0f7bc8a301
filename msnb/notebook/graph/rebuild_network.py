"""Rebuild a network from the new text of its cell, with the original constructor arguments and without values.

The original network does not change. Each Cell whose class a notebook cell defines stores the arguments of its last
construction.
"""

import ast
import collections
import contextlib
import inspect
import io
import sys
from typing import TYPE_CHECKING, Any

from msnb.common import initializer
from msnb.core.script.source import find_definition
from msnb.core.state import events, random_stream
from msnb.core.support.weak_identity import attach, attached, weakly
from msnb.nn.cell import Cell
from msnb.nn.optim.optimizer import Optimizer
from msnb.notebook.kernel import cell_names

if TYPE_CHECKING:  # used only in annotations
    from types import FrameType

_ARGUMENTS_KEY = "__msnb_made_with__"
_LARGE = 1 << 20  # larger arguments, in bytes, are only referenced weakly
# attributes that are set after construction
_COPIED_ATTRIBUTES = ("training", "requires_grad", "_phase", "_compute", "_func_graph_flags")
_listener = None


class CannotFollow(Exception):
    """The reason why a network can't be rebuilt, shown to the user."""


def install() -> None:
    """Record constructor arguments of Cells from now on. A second call has no effect."""
    global _listener
    if _listener is None or _listener.closed:
        _listener = events.listen(made=_record_constructor_arguments, name="live graph")


def uninstall() -> None:
    """Stop recording constructor arguments."""
    if _listener is not None:
        _listener.close()


def _record_constructor_arguments(cell: Any) -> None:
    frame, outermost = sys._getframe(1), None
    while frame is not None and not (frame.f_code is Cell.__init__.__code__ and frame.f_locals["self"] is cell):
        frame = frame.f_back
    while frame is not None and frame.f_code.co_name == "__init__" and _get_first_argument(frame) is cell:
        outermost, frame = frame, frame.f_back
    if outermost is not None and cell_names.label(outermost.f_code.co_filename):
        attach(cell, _ARGUMENTS_KEY, _read_constructor_arguments(outermost))


def _get_first_argument(frame: "FrameType") -> Any:
    names = frame.f_code.co_varnames
    return frame.f_locals.get(names[0]) if names else None


def _read_constructor_arguments(frame):
    """Return ([getters of positional arguments], {name: getter}) of a running constructor."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames
    count, only = code.co_argcount, code.co_kwonlyargcount
    positional = [values.get(name) for name in names[1:count]]
    named = {name: values.get(name) for name in names[count : count + only]}
    position = count + only
    if code.co_flags & inspect.CO_VARARGS:
        positional += values.get(names[position], ())
        position += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        named |= values.get(names[position], {})
    return [_make_getter(value) for value in positional], {name: _make_getter(value) for name, value in named.items()}


def _make_getter(value):
    return weakly(value) if isinstance(value, Cell) or getattr(value, "nbytes", 0) > _LARGE else lambda: value


def changed_constructors(definitions: dict[str, Any], space: dict[str, Any]) -> set[str]:
    """Return names of Cell classes in a text whose constructors differ from the session's.

    A constructor also differs if a function that it calls has changed. Changes of `construct` do not count.

    Args:
        definitions (dict): The definitions of the text, by name.
        space (dict): The session's names.
    """
    texts = {
        name: (_dump_constructor_syntax(value), _dump_constructor_syntax(space.get(name)))
        for name, value in definitions.items()
    }
    names = {name for name, (new, old) in texts.items() if old and new != old}
    while True:
        further = {n for n, value in definitions.items() if n not in names and _collect_referenced_names(value) & names}
        if not further:
            return {n for n in names if isinstance(definitions[n], type) and issubclass(definitions[n], Cell)}
        names |= further


def _collect_construction_functions(value):
    """Return {name: function} of the functions that construct an instance: `__init__` and the methods that it calls.

    For a function, the result is the function itself.
    """
    if not isinstance(value, type):
        return {"": value} if hasattr(value, "__code__") else {}
    methods = {n: getattr(f, "__func__", f) for n, f in vars(value).items() if hasattr(f, "__code__")}
    functions, pending = {}, ["__init__"]
    while pending:
        name = pending.pop()
        if name in methods and name not in functions:
            functions[name] = methods[name]
            pending += methods[name].__code__.co_names
    return functions


def _dump_constructor_syntax(value):
    with contextlib.suppress(OSError):  # a function without source text counts as unchanged
        return {
            n: ast.dump(find_definition(f.__code__, n)[0]) for n, f in _collect_construction_functions(value).items()
        }
    return None


def _collect_referenced_names(value):
    """Return the names that a definition's functions read, and the names of its base classes."""
    names = {base.__name__ for base in value.__mro__[1:]} if isinstance(value, type) else set()
    codes = [f.__code__ for f in _collect_construction_functions(value).values()]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [inner for inner in code.co_consts if inspect.iscode(inner)]
    return names


def copy_with_new_classes(net: Any, files: set[str], definitions: dict[str, Any], names: set[str]) -> Any:
    """Return a copy of `net` whose classes are those of the new text; None if the text does not define the network.

    The copy shares the Parameters. Cells whose constructor is among `names` are constructed again.

    Args:
        net (Union[Cell, Callable]): The existing network, which is not modified.
        files (set[str]): The files of the cell that `definitions` belongs to, one for each text that has run.
        definitions (dict): The definitions of the new text, by name.
        names (set[str]): The classes with changed constructors, see `changed_constructors`.

    Raises:
        CannotFollow: If a Cell can't be constructed again.
    """
    if not isinstance(net, Cell):
        fn = getattr(net, "fn", net)
        return definitions.get(getattr(fn, "__name__", None))
    fresh = []
    copied = _copy_cell(net, files, definitions, names, {}, fresh)
    if fresh and fresh[0] is not net and any(isinstance(cell, Optimizer) for _, cell in net.cells_and_names()):
        raise CannotFollow(
            f"{type(fresh[0]).__name__} has other Parameters than the optimizer knows; run the cell to follow it."
        )
    return copied


def _copy_cell(net, files, definitions, names, copies, fresh):
    if id(net) in copies:
        return copies[id(net)]
    kind = type(net)
    if getattr(getattr(kind.construct, "__code__", None), "co_filename", None) in files:
        kind = definitions.get(kind.__name__, kind)
        if kind.__name__ in names:
            fresh.append(net)
            copied = copies[id(net)] = _reconstruct_cell(net, kind)
            return copied
    copied = copies[id(net)] = object.__new__(kind)
    values = dict(net.__dict__)
    cells = collections.OrderedDict(
        (name, cell and _copy_cell(cell, files, definitions, names, copies, fresh)) for name, cell in net._cells.items()
    )
    values.update({name: cell for name, cell in cells.items() if name in values}, _cells=cells, _programs=None)
    copied.__dict__.update(values)
    return copied


def _reconstruct_cell(net, kind):
    """Construct a Cell of the class `kind` with the arguments of `net`."""
    getters, named = attached(net, _ARGUMENTS_KEY) or ([], {})
    args, kwargs = [getter() for getter in getters], {name: getter() for name, getter in named.items()}
    name = kind.__name__
    try:
        with initializer.rehearsing(), random_stream.preserve_streams(), contextlib.redirect_stdout(io.StringIO()):
            cell_copy = kind(*args, **kwargs)
    except Exception as error:
        message = str(error).partition("\n")[0]
        raise CannotFollow(f"{name}'s new __init__ fails: {type(error).__name__}: {message}") from error
    cell_copy.update_parameters_name(_find_parameter_name_prefix(net))
    cell_copy.__dict__["_attr_name"] = net._attr_name
    others = dict(net.cells_and_names())
    for path, cell in cell_copy.cells_and_names():
        while path not in others:  # a new sub-Cell takes the attributes of its nearest existing ancestor
            path = path.rpartition(".")[0]
        cell.__dict__.update((name, others[path].__dict__[name]) for name in _COPIED_ATTRIBUTES)
    return cell_copy


def _find_parameter_name_prefix(net):
    """Return the prefix that enclosing Cells have added to the names of a Cell's Parameters."""
    for path, parameter in net.parameters_and_names():
        if parameter.name.endswith(path):
            return parameter.name.removesuffix(path)
    return ""
