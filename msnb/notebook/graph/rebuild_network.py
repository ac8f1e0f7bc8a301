"""Makes a network anew from the text of its cell: with its own arguments, without values, beside the one that is there.

Of each Cell whose class a notebook cell defines, what its constructor was called with last stands on the Cell.
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

if TYPE_CHECKING:  # named in annotations alone
    from types import FrameType

_WITH = "__msnb_made_with__"
_LARGE = 1 << 20  # bytes of an argument that is not kept alive for this
_KEPT = ("training", "requires_grad", "_phase", "_compute", "_func_graph_flags")  # what is set after a Cell was made
_listener = None


class CannotFollow(Exception):
    """Why a network is not made anew, in words for its reader."""


def install() -> None:
    """Remember from now on what Cells are made with; calling it again changes nothing."""
    global _listener
    if _listener is None or _listener.closed:
        _listener = events.listen(made=_made, name="live graph")


def uninstall() -> None:
    """Remember nothing from now on."""
    if _listener is not None:
        _listener.close()


def _made(cell: Any) -> None:
    frame, outermost = sys._getframe(1), None
    while frame is not None and not (frame.f_code is Cell.__init__.__code__ and frame.f_locals["self"] is cell):
        frame = frame.f_back
    while frame is not None and frame.f_code.co_name == "__init__" and _first(frame) is cell:
        outermost, frame = frame, frame.f_back
    if outermost is not None and cell_names.label(outermost.f_code.co_filename):
        attach(cell, _WITH, _arguments(outermost))


def _first(frame: "FrameType") -> Any:
    names = frame.f_code.co_varnames
    return frame.f_locals.get(names[0]) if names else None


def _arguments(frame):
    """([ways to positional arguments], {name: way}) that a constructor runs with; a way gives what it leads to."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames
    count, only = code.co_argcount, code.co_kwonlyargcount
    positional = [values.get(name) for name in names[1:count]]
    named = {name: values.get(name) for name in names[count : count + only]}
    at = count + only
    if code.co_flags & inspect.CO_VARARGS:
        positional += values.get(names[at], ())
        at += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        named |= values.get(names[at], {})
    return [_way(value) for value in positional], {name: _way(value) for name, value in named.items()}


def _way(value):
    return weakly(value) if isinstance(value, Cell) or getattr(value, "nbytes", 0) > _LARGE else lambda: value


def changed(made: dict[str, Any], space: dict[str, Any]) -> set[str]:
    """Names of functions and classes of a text which make networks otherwise than those of the session do: they, or
    what they call of the text, have changed. `construct` makes nothing.

    Args:
        made (dict): The definitions of the text, by name.
        space (dict): The session's names.
    """
    texts = {name: (_texts(value), _texts(space.get(name))) for name, value in made.items()}
    names = {name for name, (new, old) in texts.items() if old and new != old}
    while True:
        further = {n for n, value in made.items() if n not in names and _called(value) & names}
        if not further:
            return {n for n in names if isinstance(made[n], type) and issubclass(made[n], Cell)}
        names |= further


def _functions(value):
    """{name: function} of what an object of a class is made by, `__init__` and the methods that this calls; of a
    function, itself."""
    if not isinstance(value, type):
        return {"": value} if hasattr(value, "__code__") else {}
    methods = {n: getattr(f, "__func__", f) for n, f in vars(value).items() if hasattr(f, "__code__")}
    found, further = {}, ["__init__"]
    while further:
        name = further.pop()
        if name in methods and name not in found:
            found[name] = methods[name]
            further += methods[name].__code__.co_names
    return found


def _texts(value):
    with contextlib.suppress(OSError):  # without its source it counts as unchanged
        return {n: ast.dump(find_definition(f.__code__, n)[0]) for n, f in _functions(value).items()}
    return None


def _called(value):
    """The names that its functions read, and those of the classes that it is built on."""
    names = {base.__name__ for base in value.__mro__[1:]} if isinstance(value, type) else set()
    codes = [f.__code__ for f in _functions(value).values()]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [inner for inner in code.co_consts if inspect.iscode(inner)]
    return names


def twin(net: Any, files: set[str], made: dict[str, Any], names: set[str]) -> Any:
    """A Cell like `net`, whose classes are those of the new text: it shares the Parameters, but Cells whose
    constructor is among `names` are made anew; None for a network that the text does not define.

    Args:
        net (Union[Cell, Callable]): The network that is there, which stays as it is.
        files (set[str]): The files of the cell that `made` is the new text of, one for each text that has run.
        made (dict): Its definitions, by name.
        names (set[str]): The classes that make otherwise than before, see `changed`.

    Raises:
        CannotFollow: If one cannot be made anew.
    """
    if not isinstance(net, Cell):
        fn = getattr(net, "fn", net)
        return made.get(getattr(fn, "__name__", None))
    fresh = []
    found = _twin(net, files, made, names, {}, fresh)
    if fresh and fresh[0] is not net and any(isinstance(cell, Optimizer) for _, cell in net.cells_and_names()):
        raise CannotFollow(
            f"{type(fresh[0]).__name__} has other Parameters than the optimizer knows; run the cell to follow it."
        )
    return found


def _twin(net, files, made, names, known, fresh):
    if id(net) in known:
        return known[id(net)]
    kind = type(net)
    if getattr(getattr(kind.construct, "__code__", None), "co_filename", None) in files:
        kind = made.get(kind.__name__, kind)
        if kind.__name__ in names:
            fresh.append(net)
            found = known[id(net)] = _anew(net, kind)
            return found
    found = known[id(net)] = object.__new__(kind)
    values = dict(net.__dict__)
    cells = collections.OrderedDict(
        (name, cell and _twin(cell, files, made, names, known, fresh)) for name, cell in net._cells.items()
    )
    values.update({name: cell for name, cell in cells.items() if name in values}, _cells=cells, _programs=None)
    found.__dict__.update(values)
    return found


def _anew(net, kind):
    """A Cell of the class `kind`, made with what `net` was made with."""
    ways, named = attached(net, _WITH) or ([], {})
    args, kwargs = [way() for way in ways], {name: way() for name, way in named.items()}
    name = kind.__name__
    try:
        with initializer.rehearsing(), random_stream.preserve_streams(), contextlib.redirect_stdout(io.StringIO()):
            made = kind(*args, **kwargs)
    except Exception as error:
        said = str(error).partition("\n")[0]
        raise CannotFollow(f"{name}'s new __init__ fails: {type(error).__name__}: {said}") from error
    made.update_parameters_name(_prefix(net))
    made.__dict__["_attr_name"] = net._attr_name
    others = dict(net.cells_and_names())
    for path, cell in made.cells_and_names():
        while path not in others:  # one that is new is as the nearest one around it
            path = path.rpartition(".")[0]
        cell.__dict__.update((name, others[path].__dict__[name]) for name in _KEPT)
    return made


def _prefix(net):
    """What the names of its Parameters begin with, for the Cells around it."""
    for path, parameter in net.parameters_and_names():
        if parameter.name.endswith(path):
            return parameter.name.removesuffix(path)
    return ""
