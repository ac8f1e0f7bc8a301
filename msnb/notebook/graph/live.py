"""Update graph views while the user edits the notebook cell of their network.

The definitions of the edited text are executed, the network is traced with them, and the view shows the new graph.
Only imports and definitions of functions and classes are executed, with decorators and default values, in a copy of
the session's names. The only calls are the network's own `construct`, on tracers, and constructors that have changed
(`rebuild_network.py`). If this fails, the view shows the reason above the last version that worked.

A view created from a name shows the object that the name refers to after each cell (`after_cell`).
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

if TYPE_CHECKING:  # used only in annotations
    from msnb.notebook.graph.view import GraphView

_MOST = 12  # maximum views that are followed; older views are dropped
_PATIENCE = 2.0  # maximum seconds of a trace, which blocks the kernel; slower networks are not followed

_followed = collections.deque()
_texts = {}  # file name of edited text -> file of its cell


class FollowedView:
    """A view that is updated, with the call of the network that it shows.

    Args:
        view (GraphView): The view, referenced weakly.
        net (Union[Cell, Callable]): The network of the graph.
        args (tuple): Inputs; of Tensors only shape and dtype are stored.
        kwargs (dict): Inputs by name.

    Attributes:
        path (tuple): The path from a name of the session to the network, None without such a name.
        cell (str): The id of the notebook cell that shows the view, None if the front end sends none.
        files (set): The source files of the network.
        outdated (str): The message that the network is older than its cells; "" if it is current.
    """

    def __init__(
        self, view: "GraphView", net: "Cell | Callable[..., Any]", args: tuple[Any, ...], kwargs: dict[Any, Any]
    ) -> None:
        shell = cell_names.shell()
        space, text = getattr(shell, "user_ns", {}), _get_running_cell_text(shell)
        self.view = weakref.ref(view)
        self.cell = cell_names.running_cell()
        self.path = bindings.find_path(net, space, text)
        # A network without a name needs a strong reference, because no other reference keeps it alive.
        self.net = weakref.ref(net) if self.path else lambda: net
        self._arg_paths = {
            key: bindings.find_path(value, space, text)
            for key, value in (*enumerate(args), *kwargs.items())
            if type(value) is Tensor
        }
        self.args = tuple(map(_replace_tensors_by_shapes, args))
        self.kwargs = {name: _replace_tensors_by_shapes(value) for name, value in kwargs.items()}
        self.slow = False
        self.outdated = ""
        self.files = set()
        self.find_files()

    def find_files(self) -> None:
        """Collect the source files of the graph and of the Cells. The graph of a failed trace lacks some of them."""
        net = self.net()
        cells = [cell for _, cell in net.cells_and_names()] if isinstance(net, Cell) else []
        functions = [*(type(cell).construct for cell in cells), getattr(net, "fn", net)]
        codes = filter(None, (getattr(function, "__code__", None) for function in functions))
        self.files = {node.source[0] for node in self.view().graph.all_nodes() if getattr(node, "source", None)}
        self.files.update(code.co_filename for code in codes)

    def is_open(self) -> bool:
        """Return True if the view exists and is not closed."""
        view = self.view()
        return view is not None and not view.is_closed

    def inputs_now(self, space: dict[str, Any]) -> tuple[tuple[Any, ...], dict[Any, Any]]:
        """Return the inputs. A Tensor with a name is replaced by the current object of that name."""

        def now(key, outline):
            path = self._arg_paths.get(key)
            value = bindings.follow_path(path, space) if path else None
            return _replace_tensors_by_shapes(value) if type(value) is Tensor else outline

        args = tuple(now(index, outline) for index, outline in enumerate(self.args))
        return args, {name: now(name, outline) for name, outline in self.kwargs.items()}


def _get_running_cell_text(shell):
    """Return the text of the running notebook cell."""
    texts = getattr(getattr(shell, "history_manager", None), "input_hist_raw", None)
    return texts[-1] if texts else ""


def _replace_tensors_by_shapes(value):
    if type(value) is Tensor:
        return box(jax.ShapeDtypeStruct(value._array.shape, value._array.dtype))
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(map(_replace_tensors_by_shapes, value))
    return value


def follow(view: Any, net: Any, args: Any, kwargs: Any) -> None:
    """Update `view` from now on when the cells of its nodes change."""
    if len(_followed) == _MOST:
        last = _followed.popleft()
        if last.is_open() and last.path:  # the session has the network as long as the user needs it
            last.view().release_network()
    _followed.append(FollowedView(view, net, args, kwargs))


def update(file: str, text: str, space: dict[Any, Any]) -> tuple[Any, ...]:
    """Update every view with nodes from a cell to the cell's new text.

    Args:
        file (str): The cell's file, as in tracebacks.
        text (str): The current text of the cell.
        space (dict): The session's names.

    Returns:
        tuple, the number of updated views, and the reason why others could not be updated, or None.
    """
    cell = cell_names.cell_of(file)
    files = {file, *cell_names.files_of(cell)}
    followers = [f for f in _followed if f.is_open() and not f.slow and f.files & files and f.net() is not None]
    if not followers:
        return 0, None
    try:
        definitions = _execute_definitions(file, text, space)
    except SyntaxError as error:
        return _show_update_error(followers, f"line {error.lineno}: {error.msg}")
    except Exception as error:
        return _show_update_error(followers, f"{type(error).__name__}: {error}")
    updated, message = 0, None
    for followed in followers:
        started, name = time.thread_time(), name_of(followed.net())
        try:
            net = followed.net()
            # An outdated network was built from earlier classes, so the new constructors are compared with theirs.
            names = rebuild_network.changed_constructors(
                definitions, {**space, **_collect_cell_classes(net, files)} if followed.outdated else space
            )
            net = rebuild_network.copy_with_new_classes(net, files, definitions, names)
            if net is None:
                continue
            _update_view(followed, net, followed.args, followed.kwargs, is_edited=True)
        except Exception as error:
            message = _show_failure(followed, net, followed.args, error)
            continue
        updated += 1
        message = _stop_following_if_slow(followed, name, started) or message
        if followed.outdated:
            followed.view().note(followed.outdated, stale=False)
    return updated, message


def after_cell(result: Any) -> None:
    """After a cell has run, update every view whose network has a name that now refers to another network.

    If the network is older than the text of its cell, or another cell bound the name, the view only shows a message.
    """
    shell, cell = cell_names.shell(), getattr(getattr(result, "info", None), "cell_id", None)
    space = shell.user_ns
    for expired in [f for f in _followed if f.view() is None or not (f.path or f.is_open())]:
        _followed.remove(expired)  # releases the strong reference to a network without a name
    for followed in [f for f in _followed if f.is_open()]:
        try:
            _refresh_view(followed, space, cell)
        except Exception as error:  # a failing view must not prevent the next cell
            followed.view().note(f"{type(error).__name__}: {error}")
    bindings.record(space, cell)


def _refresh_view(followed, space, cell):
    path, view = followed.path, followed.view()
    now = bindings.follow_path(path, space) if path else followed.net()
    label = _find_cell_label(cell)
    if now is followed.net() and now is not None:
        files = cell_names.files_of(cell)
        if cell != followed.cell and files and files[-1] not in followed.files and followed.files & set(files):
            followed.outdated = f"{label} was run: {_format_rerun_instruction(followed, cell)} to see the new net."
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
        _show_rebound_network(followed, now, space)


def _format_rerun_instruction(followed, cell):
    """Return the part of a message that tells the user to run a certain cell to update a view."""
    path = followed.path
    maker = bindings.last_cell(path[0]) if path else None
    if maker in (None, cell, followed.cell):
        return "run this cell"
    return f"run {_find_cell_label(maker)}, which makes {bindings.show_path(path)},"


def _find_cell_label(cell):
    return next(filter(None, map(cell_names.label, reversed(cell_names.files_of(cell)))), "a cell")


def _show_rebound_network(followed, net, space):
    """Show the network that a view's name refers to now."""
    args, kwargs = followed.inputs_now(space)
    started, before = time.thread_time(), (followed.args, followed.kwargs)
    followed.net, followed.outdated = weakref.ref(net), ""
    with contextlib.redirect_stdout(io.StringIO()):  # suppress prints during the trace: the cell has ended
        try:
            _update_view(followed, net, args, kwargs)
            followed.args, followed.kwargs = args, kwargs
        except Exception as error:
            try:
                _update_view(followed, net, *before)  # the new inputs don't fit: a name now refers to another object
            except Exception:
                _show_failure(followed, net, args, error)
    followed.find_files()
    _stop_following_if_slow(followed, name_of(net), started)
    followed.view().show_again()


def _update_view(followed, net, args, kwargs, is_edited=False):
    program = program_cache.program_of(net, *args, **kwargs)
    stages = Stages(program, name_of(net))
    view = followed.view()
    values = view.values_to_follow()
    view.update(stages.full_graph, stages.main, stages.__getitem__, stages.offered, stages.wait, program.params)
    if values is not None:
        view.follow_values(values, net, program, is_edited)
    elif not is_edited:
        view.follow_network(net, program)


def _stop_following_if_slow(followed, name, started):
    """Stop following a network whose tracing took too long. Return the message shown then, or None."""
    seconds = time.thread_time() - started  # CPU time of the thread, because wall time depends on other processes
    followed.slow = seconds > _PATIENCE
    if not followed.slow:
        return None
    message = f"{name} takes {seconds:.1f} s to trace; from now on its graph follows when the cell is run."
    followed.view().note(message, stale=False)
    return message


def _show_failure(followed, net, args, error):
    """Show the part of a network before its trace failed, with the failing operator marked. Return the message.

    For a Python error, such as an incomplete name, the last version stays on screen.
    """
    message, trace = sentence_of(error, net, args), partial_trace.partial_trace_of(error)
    graph = graph_before(error, name_of(net), message) if trace is not None and trace.operator is not None else None
    if graph is None:
        followed.view().note(message)
    else:
        followed.view().update(graph)
    return message


def _show_update_error(followed, why):
    """Show the reason in each view that can't be updated. Return the result of `update`."""
    for each in followed:
        each.view().note(why)
    return 0, why


def sentence_of(error: Exception, net: Any, args: tuple[Any, ...]) -> str:
    """Return the message for an error from tracing `net`: with its layer, and its line in the edited text if known."""
    trace = partial_trace.partial_trace_of(error)
    if isinstance(net, Cell) and trace is not None:
        error_notes.add_note(net, args, error)
    said = error_notes.summarize_error(error)
    at = trace.source if trace is not None else None
    return f"line {at[1]}: {said}" if at is not None and (at[0] in _texts or cell_names.label(at[0])) else said


def _collect_cell_classes(net, files):
    """Return {name: class} of the Cells in a network whose source is in `files`."""
    kinds = {type(cell) for _, cell in net.cells_and_names()} if isinstance(net, Cell) else ()
    codes = {kind: getattr(kind.construct, "__code__", None) for kind in kinds}
    return {kind.__name__: kind for kind, code in codes.items() if code is not None and code.co_filename in files}


def _execute_definitions(file, text, space):
    """Execute the definitions of the text. Return {name: definition}."""
    from IPython import get_ipython

    code = get_ipython().transform_cell(text)
    tree = ast.parse(code)
    if begins(tree):
        tree = Imports(generation(tree)).visit(tree)
    statements = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))]
    # The file name differs from the cell's, so that tracebacks of the earlier code still show its text.
    name = f"{file}*"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    _texts[name] = file
    source.register_namer(_label_edited_text)
    names = dict(space)
    exec(builtins.compile(ast.fix_missing_locations(ast.Module(statements, [])), name, "exec"), names)
    return {n.name: names[n.name] for n in statements if hasattr(n, "name")}


def _label_edited_text(file):
    return source.label(_texts[file]) if file in _texts else None


def original(file: str) -> str:
    """Return the file of the cell that a file name of edited text belongs to."""
    return _texts.get(file, file)


def install() -> None:
    """Update views at the end of each cell from now on. A second call has no effect."""
    running = cell_names.shell()
    if running is not None and after_cell not in running.events.callbacks.get("post_run_cell", ()):
        running.events.register("post_run_cell", after_cell)


def uninstall(running: Any) -> None:
    """Undo `install` for a shell, and stop updating its views."""
    _followed.clear()
    _texts.clear()
    if after_cell in running.events.callbacks.get("post_run_cell", ()):
        running.events.unregister("post_run_cell", after_cell)
