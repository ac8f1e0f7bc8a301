"""What lasts for one cell: its imports, mode and device, the clock and the graphs of `%%mindspore`.

A cell's scope opens when IPython tells that it begins to execute one and closes when that is done, whatever happened.
Then the computations that the cell has started are waited for too, so that an error in one of them belongs to it.
"""

import ast
import contextlib
import linecache
import os
import sys
from typing import Any

from IPython import get_ipython

from msnb import alias, context
from msnb.check import choosing
from msnb.core.operator import api_generations
from msnb.notebook.graph import calls, live, rebuild_network
from msnb.notebook.kernel import cell_names, cell_views, errors, rewrite_imports
from msnb.notebook.kernel.block_until_ready import wait
from msnb.notebook.kernel.clock import Clock

_WAY = "%mindspore on --api {0}, or %%mindspore --api {0} for one cell,"  # to ask for a generation
_scopes = []  # innermost last; %%capture runs a cell within a cell


@contextlib.contextmanager
def scope():
    """The scope of code that runs as a cell of its own, within one."""
    opened = _open()
    try:
        yield opened
    finally:
        _close(opened)


def _open():
    opened = Scope()
    _scopes.append(opened)
    return opened


def _close(opened):
    """End a scope, and those within it that nobody has ended."""
    while opened in _scopes:
        _scopes.pop().end()


class Scope:
    """One running cell."""

    def __init__(self):
        self.options: Any = None
        self.info: Any = None  # IPython's description of the cell, which its result has too
        self._before = {}
        self._clock = None
        self._ran = None

    def begin(self, options: Any) -> None:
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
        if options.api:
            api_generations.share(int(options.api))
        self.options = options
        self._ran = calls.Ran() if options.ir else None
        self._clock = Clock() if options.time else None

    @property
    def api(self) -> int:
        """Whose names the cell's imports are."""
        return int(self.options.api) if self.options.api else alias.api()

    def _set(self, **setting):
        ((key, value),) = setting.items()
        before = getattr(context._state, key)
        context.set_context(**setting)
        self._before[key] = (getattr(context._state, key), before)

    def end(self) -> None:
        """Put mode, device and checks back; show what was asked for."""
        for key, (during, before) in self._before.items():
            if getattr(context._state, key) == during:  # else the cell itself has set it, to last
                put_back(key, before)
        shows = []
        if self._clock is not None:
            shows.append(lambda: print(self._clock.stop()))
        if self._ran is not None:
            self._ran.close()  # first: nothing may keep it attached
            shows.append(self._ran.show)
        for show in shows:
            try:
                show()
            except Exception:  # the cell itself is done; what could not be shown must not break the shell's loop
                get_ipython().showtraceback()


def put_back(key: Any, value: Any) -> None:
    """Give a setting a value that it had before; unlike `set_context` this takes a default of None too."""
    context._settings.assign({key: value})
    for listener in context._listeners.get(key, ()):
        listener(value)


def begin(options: Any) -> None:
    """Begin `%%mindspore` in the cell that is running."""
    _scopes[-1].begin(options)
    _keep_first_line(sys._getframe(1))


def rewriting() -> bool:
    """Whether the cell that is running is a `%%mindspore` cell."""
    return any(scope.options is not None for scope in _scopes)


def transform(tree: ast.Module) -> ast.Module:
    """AST transformer: rewrites the imports of a `%%mindspore` cell, and of magics inside it."""
    if isinstance(tree, ast.Module) and (rewrite_imports.begins(tree) or rewriting()):
        return ast.fix_missing_locations(rewrite_imports.Imports(_generation(tree)).visit(tree))
    return tree


def _generation(tree):
    """Whose names the imports of a cell are: what its first line asks for, else that of the cell that it runs in."""
    if rewrite_imports.begins(tree):
        return rewrite_imports.asked(tree) or _settled(tree)
    return next(scope.api for scope in reversed(_scopes) if scope.options is not None)


def _settled(tree):
    """The generation of the session, which the first cell that shows one chooses; a line below the cell says so."""
    if not alias.is_asked():
        said = alias.settle(choosing.judge_cell(tree, os.getcwd()), "This cell", _WAY)
        if said:
            print(f"msnb: {said}", file=sys.stderr)
    return alias.api()


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
                lines[0] = f"# {rewrite_imports.MAGIC} {options}".rstrip() + "\n"
            return
        frame = frame.f_back


def install(shell: Any) -> Any:
    """Make a shell's cells know `%%mindspore`; returns what undoes it."""
    manager = shell.input_transformer_manager
    manager.line_transforms.insert(0, rewrite_imports.first_line)
    transformer = _Transformer()
    shell.ast_transformers.append(transformer)
    cell_names.install()
    cell_views.install()
    rebuild_network.install()
    live.install()
    following = _Cells(shell)
    following.install()

    def undo():
        if rewrite_imports.first_line in manager.line_transforms:
            manager.line_transforms.remove(rewrite_imports.first_line)
        if transformer in shell.ast_transformers:
            shell.ast_transformers.remove(transformer)
        cell_names.uninstall(shell)
        cell_views.uninstall(shell)
        rebuild_network.uninstall()
        live.uninstall(shell)
        alias.forget_program()
        following.uninstall()

    return undo


class _Cells:
    """Opens and closes the scopes of a shell's cells, which its events tell of.

    Args:
        shell (InteractiveShell): The shell.
    """

    def __init__(self, shell):
        self.shell = shell
        self._skipped = None  # result of the last cell without text, of which only the end is told

    def install(self):
        """Follow the cells from the next one on."""
        for event, act in self._acts():
            self.shell.events.register(event, act)

    def uninstall(self):
        """Follow them no more; the cell that does this ends here."""
        for event, act in self._acts():
            if act in self.shell.events.callbacks.get(event, ()):
                self.shell.events.unregister(event, act)
        if _scopes:
            _close(_scopes[0])

    def _acts(self):
        # not `pre_run_cell` and `post_run_cell` alone, which a front end's silent cells do not have
        return ("pre_execute", self._begins), ("pre_run_cell", self._begun), ("post_execute", self._ended)

    def _begins(self):
        _open()

    def _begun(self, info):
        if _scopes:
            _scopes[-1].info = info

    def _ended(self):
        result = self.shell.last_execution_result
        own = [opened for opened in _scopes if result is not None and opened.info is result.info]
        if not own and result is not None and result is not self._skipped and not (result.info.raw_cell or "").strip():
            self._skipped = result
            return
        if not _scopes:
            return
        opened = own[-1] if own else _scopes[-1]
        try:
            if own or opened.info is None and result is not None and result.info.silent:  # else it was broken off
                self._wait(result)
        finally:
            _close(opened)

    def _wait(self, result):
        """Wait for what the cell has started; an error in that is the cell's."""
        if not result.success:
            return
        try:
            wait()
        except KeyboardInterrupt as error:
            result.error_in_exec = error
            self.shell.showtraceback(running_compiled_code=True)
        except Exception as error:
            result.error_in_exec = error
            errors.show_late(self.shell, error)
        self.shell.last_execution_succeeded = result.success
