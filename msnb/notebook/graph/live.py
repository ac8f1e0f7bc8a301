"""Graphs that follow a cell while it is typed: its definitions are read anew, traced, and shown in the same view.

Of the text only imports and definitions of functions and classes are executed, with decorators and default values, in
a copy of the session's names; nothing is called but the network's own `construct`, on tracers, and a constructor that
has changed (`anew.py`). A view that cannot follow says why, above the last version that worked.

Once a cell has run, a view shows what the name that it was made of leads to now (`after_cell`).
"""

import ast
import builtins
import collections
import contextlib
import io
import linecache
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax

from msnb.core.jaxpr import partial_trace
from msnb.core.program import program_cache
from msnb.core.tensor.tensor import Tensor, box
from msnb.ir import source
from msnb.ir.api import name_of
from msnb.ir.partial_graph import graph_before
from msnb.ir.stages import Stages
from msnb.nn._cell import error_notes
from msnb.nn.cell import Cell
from msnb.notebook import bindings
from msnb.notebook.graph import rebuild_network
from msnb.notebook.kernel import cell_names
from msnb.notebook.kernel.rewrite_imports import Imports, begins, generation

if TYPE_CHECKING:  # named in annotations alone
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

    Attributes:
        path (tuple): The steps from a name of the session to the network, None where there was no such name.
        cell (str): The id of the notebook cell that shows the view, None where the front end tells none.
        files (set): The files that the network is written in.
        outdated (str): What a reader has to know while the network is older than its cells; "" while it is not.
    """

    def __init__(
        self, view: "GraphView", net: "Cell | Callable[..., Any]", args: tuple[Any, ...], kwargs: dict[Any, Any]
    ) -> None:
        shell = cell_names.shell()
        space, text = getattr(shell, "user_ns", {}), _running_text(shell)
        self.view = weakref.ref(view)
        self.cell = cell_names.running_cell()
        self.path = bindings.find_path(net, space, text)
        # Nothing else may hold a network that has no name.
        self.net = weakref.ref(net) if self.path else lambda: net
        self._arg_paths = {
            key: bindings.find_path(value, space, text)
            for key, value in (*enumerate(args), *kwargs.items())
            if type(value) is Tensor
        }
        self.args = tuple(map(_outline, args))
        self.kwargs = {name: _outline(value) for name, value in kwargs.items()}
        self.slow = False
        self.outdated = ""
        self.files = set()
        self.find_files()

    def find_files(self) -> None:
        """Take the files from the graph on screen, and from the Cells, which an unfinished graph lacks."""
        net = self.net()
        cells = [cell for _, cell in net.cells_and_names()] if isinstance(net, Cell) else []
        functions = [*(type(cell).construct for cell in cells), getattr(net, "fn", net)]
        codes = filter(None, (getattr(function, "__code__", None) for function in functions))
        self.files = {node.source[0] for node in self.view().graph.all_nodes() if getattr(node, "source", None)}
        self.files.update(code.co_filename for code in codes)

    def is_open(self) -> bool:
        """The view is there, and has not been taken away."""
        view = self.view()
        return view is not None and not view.is_closed

    def inputs_now(self, space: dict[str, Any]) -> tuple[tuple[Any, ...], dict[Any, Any]]:
        """The inputs, of which a Tensor with a name is the one that the name leads to now."""

        def now(key, outline):
            path = self._arg_paths.get(key)
            value = bindings.follow_path(path, space) if path else None
            return _outline(value) if type(value) is Tensor else outline

        args = tuple(now(index, outline) for index, outline in enumerate(self.args))
        return args, {name: now(name, outline) for name, outline in self.kwargs.items()}


def _running_text(shell):
    """The text of the notebook cell that is running."""
    texts = getattr(getattr(shell, "history_manager", None), "input_hist_raw", None)
    return texts[-1] if texts else ""


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
    cell = cell_names.cell_of(file)
    files = {file, *cell_names.files_of(cell)}
    found = [f for f in _followed if f.is_open() and not f.slow and f.files & files and f.net() is not None]
    if not found:
        return 0, None
    try:
        made = _definitions(file, text, space)
    except SyntaxError as error:
        return _standing(found, f"line {error.lineno}: {error.msg}")
    except Exception as error:
        return _standing(found, f"{type(error).__name__}: {error}")
    shown, said = 0, None
    for followed in found:
        started, name = time.thread_time(), name_of(followed.net())
        try:
            net = followed.net()
            # A network that is older than the cell was made by classes of its own.
            names = rebuild_network.changed(made, {**space, **_classes_of(net, files)} if followed.outdated else space)
            net = rebuild_network.twin(net, files, made, names)
            if net is None:
                continue
            _show(followed, net, followed.args, followed.kwargs)
        except Exception as error:
            said = _show_failure(followed, net, followed.args, error)
            continue
        shown += 1
        said = _pause_where_slow(followed, name, started) or said
        if followed.outdated:
            followed.view().note(followed.outdated, stale=False)
    return shown, said


def after_cell(result: Any) -> None:
    """Show, in every view whose name leads to another network since a cell has run, that network.

    A view stays as it is, and says so, where its network is older than the text of its cell, or where the name was
    taken by another cell.
    """
    shell, cell = cell_names.shell(), getattr(getattr(result, "info", None), "cell_id", None)
    space = shell.user_ns
    for gone in [f for f in _followed if f.view() is None]:
        _followed.remove(gone)  # with a network that had no name
    for followed in [f for f in _followed if f.is_open()]:
        try:
            _renew(followed, space, cell)
        except Exception as error:  # a view never stands between a reader and their next cell
            followed.view().note(f"{type(error).__name__}: {error}")
    bindings.record(space, cell)


def _renew(followed, space, cell):
    path, view = followed.path, followed.view()
    now = bindings.follow_path(path, space) if path else followed.net()
    label = _label_of(cell)
    if now is followed.net() and now is not None:
        files = cell_names.files_of(cell)
        if cell != followed.cell and files and files[-1] not in followed.files and followed.files & set(files):
            followed.outdated = f"{label} was run: {_what_to_run(followed, cell)} to see the new net."
            view.note(followed.outdated, stale=False)
        return
    name = bindings.show_path(path)
    if not callable(now):
        view.note(f"{name} is no network any more: run this cell again.")
    elif bindings.last_cell(path[0]) not in (cell, None) and cell is not None:
        if cell != followed.cell:
            view.note(f"{name} was made anew in {label}: run this cell to see the new net.", stale=False)
    elif followed.slow:
        view.note(f"{label} was run: run this cell to see the new net.")
    else:
        _show_anew(followed, now, space)


def _what_to_run(followed, cell):
    """The order that makes a view new after `cell` has run."""
    path = followed.path
    maker = bindings.last_cell(path[0]) if path else None
    if maker in (None, cell, followed.cell):
        return "run this cell"
    return f"run {_label_of(maker)}, which makes {bindings.show_path(path)},"


def _label_of(cell):
    return next(filter(None, map(cell_names.label, reversed(cell_names.files_of(cell)))), "a cell")


def _show_anew(followed, net, space):
    """Show the network that the name of a view leads to now."""
    args, kwargs = followed.inputs_now(space)
    started, before = time.thread_time(), (followed.args, followed.kwargs)
    followed.net, followed.outdated = weakref.ref(net), ""
    with contextlib.redirect_stdout(io.StringIO()):  # the cell that has run prints no more
        try:
            _show(followed, net, args, kwargs)
            followed.args, followed.kwargs = args, kwargs
        except Exception as error:
            try:
                _show(followed, net, *before)  # the name of an input stands for something else by now
            except Exception:
                _show_failure(followed, net, args, error)
    followed.find_files()
    _pause_where_slow(followed, name_of(net), started)
    followed.view().show_again()


def _show(followed, net, args, kwargs):
    program = program_cache.program_of(net, *args, **kwargs)
    stages = Stages(program, name_of(net))
    followed.view().update(stages.whole, stages.main, stages.__getitem__, stages.offered, stages.wait, program.params)


def _pause_where_slow(followed, name, started):
    """Stop following a network whose tracing took too long; returns what the view says then."""
    seconds = time.thread_time() - started  # what a busy machine adds is not the network
    followed.slow = seconds > _PATIENCE
    if not followed.slow:
        return None
    said = f"{name} takes {seconds:.1f} s to trace; from now on its graph follows when the cell is run."
    followed.view().note(said, stale=False)
    return said


def _show_failure(followed, net, args, error):
    """Show how far a network is that fails to trace, with what failed marked; a mistake of Python's, as half a name
    is one, leaves the last version on screen. Returns the sentence."""
    said, trace = sentence_of(error, net, args), partial_trace.of(error)
    graph = graph_before(error, name_of(net), said) if trace is not None and trace.operator is not None else None
    if graph is None:
        followed.view().note(said)
    else:
        followed.view().update(graph)
    return said


def _standing(followed, why):
    """What `update` answers where views stay as they are: each says why."""
    for each in followed:
        each.view().note(why)
    return 0, why


def sentence_of(error: Exception, net: Any, args: tuple[Any, ...]) -> str:
    """What a person reads of an error that tracing `net` has ended with: with the layer where it came up, and with its
    line of the typed text where it has one."""
    trace = partial_trace.of(error)
    if isinstance(net, Cell) and trace is not None:
        error_notes.add_note(net, args, error)
    said = error_notes.summarize_error(error)
    at = trace.source if trace is not None else None
    return f"line {at[1]}: {said}" if at is not None and (at[0] in _texts or cell_names.label(at[0])) else said


def _classes_of(net, files):
    """{name: class} of the Cells in a network that are written in `files`."""
    kinds = {type(cell) for _, cell in net.cells_and_names()} if isinstance(net, Cell) else ()
    codes = {kind: getattr(kind.construct, "__code__", None) for kind in kinds}
    return {kind.__name__: kind for kind, code in codes.items() if code is not None and code.co_filename in files}


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


def install() -> None:
    """Follow names from now on; calling it again changes nothing."""
    running = cell_names.shell()
    if running is not None and after_cell not in running.events.callbacks.get("post_run_cell", ()):
        running.events.register("post_run_cell", after_cell)


def uninstall(running: Any) -> None:
    """Undo `install` for a shell."""
    if after_cell in running.events.callbacks.get("post_run_cell", ()):
        running.events.unregister("post_run_cell", after_cell)
