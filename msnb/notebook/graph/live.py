"""Graphs that follow a cell while it is typed: its definitions are read anew, traced, and shown in the same view.

Of the text only imports and definitions of functions and classes are executed, with decorators and default values, in
a copy of the session's names; nothing is called but the network's own `construct`, on tracers, and a constructor that
has changed (`anew.py`). A view that cannot follow says why, above the last version that worked.
"""

import ast
import builtins
import collections
import linecache
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax

from msnb.core import compile, unfinished
from msnb.core.tensor import Tensor, box
from msnb.ir import source
from msnb.ir.api import name_of
from msnb.ir.stages import Stages
from msnb.notebook.graph import anew
from msnb.notebook.rewrite import Imports, begins, generation

if TYPE_CHECKING:  # named in annotations alone
    from msnb.nn.cell import Cell
    from msnb.notebook.graph.view import GraphView

_MOST = 12  # views that are followed; the oldest are let go
_PATIENCE = 2.0  # seconds of tracing, which the kernel spends on nothing else; a slower network is not followed

_followed = collections.deque(maxlen=_MOST)
_texts = {}  # file of the typed text -> file of the cell that it stands for


class Followed:
    """One view with the call that it shows.

    Args:
        view (GraphView): What is on screen; this keeps it neither open nor alive.
        net (Union[Cell, Callable]): What it is the graph of.
        args (tuple): Inputs; of Tensors only shape and dtype are kept.
        kwargs (dict): Inputs by name.
    """

    def __init__(
        self, view: "GraphView", net: "Cell | Callable[..., Any]", args: tuple[Any, ...], kwargs: dict[Any, Any]
    ) -> None:
        self.view = weakref.ref(view)
        self.net = weakref.ref(net)
        self.args = tuple(map(_outline, args))
        self.kwargs = {name: _outline(value) for name, value in kwargs.items()}
        self.slow = False
        self.files = {node.source[0] for node in view.graph.all_nodes() if getattr(node, "source", None)}


def _outline(value):
    if type(value) is Tensor:
        return box(jax.ShapeDtypeStruct(value._array.shape, value._array.dtype))
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(map(_outline, value))
    return value


def follow(view: Any, net: Any, args: Any, kwargs: Any) -> None:
    """Keep `view` in step with the cells that its nodes come from."""
    _followed.append(Followed(view, net, args, kwargs))


def update(file: str, text: str, space: dict[Any, Any]) -> tuple[Any, ...]:
    """Show, in every view with nodes from a cell, what the cell's new text would make of them.

    Args:
        file (str): The cell's file, as tracebacks name it.
        text (str): What stands in the cell now.
        space (dict): The session's names.

    Returns:
        tuple, the number of views that changed, and a sentence about what could not be followed or None.
    """
    found = [f for f in _followed if file in f.files and not f.slow and f.view() is not None and f.net() is not None]
    if not found:
        return 0, None
    try:
        made = _definitions(file, text, space)
    except SyntaxError as error:
        return _standing(found, f"line {error.lineno}: {error.msg}")
    except Exception as error:
        return _standing(found, f"{type(error).__name__}: {error}")
    names = anew.changed(made, space)
    shown, said = 0, None
    for followed in found:
        started, view, name = time.thread_time(), followed.view(), name_of(followed.net())
        try:
            net = anew.twin(followed.net(), file, made, names)
            if net is None:
                continue
            program = compile.program_of(net, *followed.args, **followed.kwargs)
            stages = Stages(program, name)
            graph = stages.whole
        except Exception as error:
            _, said = _standing([followed], _sentence(error))
            continue
        view.update(graph, stages.main, stages.__getitem__, stages.offered, stages.wait, program.params)
        shown += 1
        seconds = time.thread_time() - started  # what a busy machine adds is not the network
        followed.slow = seconds > _PATIENCE
        if followed.slow:
            said = f"{name} takes {seconds:.1f} s to trace; from now on its graph follows when the cell is run."
            view.note(said, stale=False)
    return shown, said


def _standing(followed, why):
    """What `update` answers where views stay as they are: each says why."""
    for each in followed:
        each.view().note(why)
    return 0, why


def _sentence(error):
    """What a person reads of an error, with its line of the typed text where it came up in one."""
    said, trace = str(error).partition("\n")[0] or type(error).__name__, unfinished.of(error)
    at = trace.source if trace is not None else None
    return f"line {at[1]}: {said}" if at is not None and at[0] in _texts else said


def _definitions(file, text, space):
    """{name: definition} of the text."""
    from IPython import get_ipython

    code = get_ipython().transform_cell(text)
    tree = ast.parse(code)
    if begins(tree):
        tree = Imports(generation(tree)).visit(tree)
    kept = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))]
    # The same lines under another name: what ran keeps its own text for tracebacks.
    name = f"{file}*"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    _texts[name] = file
    source.register_namer(_label)
    names = dict(space)
    exec(builtins.compile(ast.fix_missing_locations(ast.Module(kept, [])), name, "exec"), names)
    return {n.name: names[n.name] for n in kept if hasattr(n, "name")}


def _label(file):
    return source.label(_texts[file]) if file in _texts else None


def original(file: str) -> str:
    """The file of the cell that a file of typed text stands for."""
    return _texts.get(file, file)
