"""What lasts for one cell: its imports, mode and device, the clock and the graphs of `%%mindspore`.

A cell's scope opens where IPython starts to run its statements and closes when they are done, whatever happened. There
the computations that the cell has started are waited for too, so that an error in one of them belongs to this cell.
"""

import ast
import contextlib
import functools
import linecache
import sys

from IPython import get_ipython

from msnb import context
from msnb.notebook import errors, graphs, rewrite
from msnb.notebook.clock import Clock
from msnb.notebook.graph import cells
from msnb.notebook.waiting import wait

_scopes = []  # innermost last; %%capture runs a cell within a cell


@contextlib.contextmanager
def scope():
    """The scope of one cell, from its first statement to its last."""
    opened = Scope()
    _scopes.append(opened)
    try:
        yield opened
    finally:
        while _scopes and _scopes.pop() is not opened:
            pass
        opened.end()


class Scope:
    """One running cell."""

    def __init__(self):
        self.options = None
        self._before = {}
        self._clock = None
        self._ran = None

    def begin(self, options):
        """Do what the options of `%%mindspore` ask for.

        Raises:
            ValueError: If the device is not there; nothing has changed then.
        """
        if self.options is not None:  # %%timeit begins anew in every round
            return
        if options.device:
            self._set(device_target=options.device)
        if options.mode:
            self._set(mode={"graph": context.GRAPH_MODE, "pynative": context.PYNATIVE_MODE}[options.mode])
        if options.check:
            self._set(check_indices=True)
        self.options = options
        self._ran = graphs.Ran() if options.ir else None
        self._clock = Clock() if options.time else None

    def _set(self, **setting):
        ((key, value),) = setting.items()
        before = getattr(context._state, key)
        context.set_context(**setting)
        self._before[key] = (getattr(context._state, key), before)

    def end(self):
        """Put mode, device and checks back; show what was asked for."""
        for key, (during, before) in self._before.items():
            if getattr(context._state, key) == during:  # else the cell itself has set it, to last
                put_back(key, before)
        try:
            if self._clock is not None:
                print(self._clock.stop())
            if self._ran is not None:
                self._ran.show()
        except Exception:  # the cell itself is done; what could not be shown must not break the shell's loop
            get_ipython().showtraceback()


def put_back(key, value):
    """Give a setting a value that it had before; unlike `set_context` this takes a default of None too."""
    context._settings.assign({key: value})
    for listener in context._listeners.get(key, ()):
        listener(value)


def begin(options):
    """Begin `%%mindspore` in the cell that is running."""
    _scopes[-1].begin(options)
    _keep_first_line(sys._getframe(1))


def rewriting():
    """Whether the cell that is running is a `%%mindspore` cell."""
    return any(scope.options is not None for scope in _scopes)


def transform(tree):
    """AST transformer: rewrites the imports of a `%%mindspore` cell, and of magics inside it."""
    if isinstance(tree, ast.Module) and (rewrite.begins(tree) or rewriting()):
        return ast.fix_missing_locations(rewrite.Imports().visit(tree))
    return tree


class _Transformer(ast.NodeTransformer):
    def visit(self, node):
        return transform(node)


def _keep_first_line(frame):
    """Tracebacks and views quote the cell as it was typed, its first line as a comment."""
    while frame is not None:
        entry = linecache.cache.get(frame.f_code.co_filename)
        if frame.f_code.co_name == "<module>" and entry is not None and len(entry) == 4:
            lines = entry[2]
            if lines and lines[0].startswith("get_ipython().run_cell_magic('mindspore', ") and entry[1] is None:
                options = ast.parse(lines[0]).body[0].value.args[1].value
                lines[0] = f"# {rewrite.MAGIC} {options}".rstrip() + "\n"
            return
        frame = frame.f_back


def install(shell):
    """Make a shell's cells know `%%mindspore`; returns what undoes it."""
    manager = shell.input_transformer_manager
    manager.line_transforms.insert(0, rewrite.first_line)
    transformer = _Transformer()
    shell.ast_transformers.append(transformer)
    cells.install()
    run = shell.run_ast_nodes

    @functools.wraps(run)
    async def run_ast_nodes(nodes, cell_name, *args, result=None, **kwargs):
        with scope():
            return await run(nodes, cell_name, *args, result=result, **kwargs) or _waited(shell, result)

    shell.run_ast_nodes = run_ast_nodes

    def undo():
        if rewrite.first_line in manager.line_transforms:
            manager.line_transforms.remove(rewrite.first_line)
        if transformer in shell.ast_transformers:
            shell.ast_transformers.remove(transformer)
        cells.uninstall(shell)
        if vars(shell).get("run_ast_nodes") is run_ast_nodes:
            del shell.run_ast_nodes

    return undo


def _waited(shell, result):
    """Whether a computation that the cell had started has failed; its error is then the cell's."""
    try:
        wait()
    except Exception as error:
        if result is not None:
            result.error_in_exec = error
        errors.show_late(shell, error)
        return True
    return False
