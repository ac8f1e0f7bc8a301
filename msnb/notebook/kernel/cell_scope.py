"""State of one cell: imports, mode, device, timing and graphs of `%%mindspore`.

A cell's scope opens at IPython's event before execution and closes at the event after it, also after an error. At the
end it waits for the computations that the cell has started, so that their errors belong to the cell.
"""

import ast
import contextlib
import linecache
import os
import sys
from collections.abc import Callable
from typing import Any

from IPython import get_ipython

from msnb import alias, context
from msnb.check import choosing
from msnb.core.operator import api_generations
from msnb.notebook.graph import calls, live, rebuild_network
from msnb.notebook.kernel import cell_names, cell_views, errors, rewrite_imports
from msnb.notebook.kernel.block_until_ready import wait
from msnb.notebook.kernel.clock import Clock

_WAY = "%mindspore on --api {0}, or %%mindspore --api {0} for one cell,"  # instruction that selects a generation
_scopes = []  # innermost last; %%capture runs a cell within a cell


@contextlib.contextmanager
def scope():
    """Open a scope for code that runs as a nested cell."""
    opened = _open_scope()
    try:
        yield opened
    finally:
        _close_scope(opened)


def _open_scope():
    opened = Scope()
    _scopes.append(opened)
    return opened


def _close_scope(opened):
    """End a scope and its inner scopes."""
    while opened in _scopes:
        _scopes.pop().end()


class Scope:
    """State of one running cell."""

    def __init__(self):
        self.options: Any = None
        self.info: Any = None  # IPython's ExecutionInfo of the cell, which is also `info` of the cell's result
        self._before = {}
        self._clock = None
        self._ran = None
        self._endings = []

    def at_end(self, act: Callable[[], None]) -> None:
        """Call `act` when the cell is done, also after an error."""
        self._endings.append(act)

    def begin(self, options: Any) -> None:
        """Apply the options of `%%mindspore`.

        Raises:
            ValueError: If the device does not exist. No setting has changed then.
        """
        if self.options is not None:  # %%timeit calls this in every round; only the first call has an effect
            return
        if options.device:
            self._set_context_until_end(device_target=options.device)
        if options.mode:
            self._set_context_until_end(
                mode={"graph": context.GRAPH_MODE, "pynative": context.PYNATIVE_MODE}[options.mode]
            )
        if options.check:
            self._set_context_until_end(check_indices=True)
        if options.api:
            api_generations.share(int(options.api))
        self.options = options
        self._ran = calls.CallRecorder() if options.ir else None
        self._clock = Clock() if options.time else None

    @property
    def api(self) -> int:
        """The generation of the cell's imports."""
        return int(self.options.api) if self.options.api else alias.api()

    def _set_context_until_end(self, **setting):
        ((key, value),) = setting.items()
        before = getattr(context._state, key)
        context.set_context(**setting)
        self._before[key] = (getattr(context._state, key), before)

    def end(self) -> None:
        """Restore mode, device and checks; print the time and show the graphs if they were requested."""
        for key, (during, before) in self._before.items():
            if getattr(context._state, key) == during:  # a setting that the cell itself has changed is not restored
                put_back(key, before)
        for act in reversed(self._endings):
            act()
        shows = []
        if self._clock is not None:
            shows.append(lambda: print(self._clock.stop()))
        if self._ran is not None:
            self._ran.close()  # closed first, because showing the graphs may fail
            shows.append(self._ran.show)
        for show in shows:
            try:
                show()
            except Exception:  # an error here would end IPython's handling of the cell
                get_ipython().showtraceback()


def put_back(key: Any, value: Any) -> None:
    """Restore the previous value of a setting. Unlike `set_context` it accepts the default None."""
    context._settings.assign({key: value})
    for listener in context._listeners.get(key, ()):
        listener(value)


def begin(options: Any) -> None:
    """Apply the options of `%%mindspore` to the running cell."""
    _scopes[-1].begin(options)
    _restore_first_line(sys._getframe(1))


def at_end(act: Callable[[], None]) -> None:
    """Call `act` when the running cell is done, also after an error."""
    _scopes[-1].at_end(act)


def rewriting() -> bool:
    """Return True if the running cell is a `%%mindspore` cell."""
    return any(scope.options is not None for scope in _scopes)


def transform(tree: ast.Module) -> ast.Module:
    """AST transformer: rewrite the imports of a `%%mindspore` cell, and of magics inside it."""
    if isinstance(tree, ast.Module) and (rewrite_imports.begins(tree) or rewriting()):
        return ast.fix_missing_locations(rewrite_imports.Imports(_select_api_generation(tree)).visit(tree))
    return tree


def _select_api_generation(tree):
    """Return the generation of a cell's imports: that of its first line, else that of the enclosing cell."""
    if rewrite_imports.begins(tree):
        return rewrite_imports.requested_generation(tree) or _choose_session_generation(tree)
    return next(scope.api for scope in reversed(_scopes) if scope.options is not None)


def _choose_session_generation(tree):
    """Return the session's generation. The first cell whose code needs a generation selects it and prints a message."""
    if not alias.is_asked():
        message = alias.settle(choosing.judge_cell(tree, os.getcwd()), "This cell", _WAY)
        if message:
            print(f"msnb: {message}", file=sys.stderr)
    return alias.api()


class _Transformer(ast.NodeTransformer):
    def visit(self, node):
        return transform(node)


def _restore_first_line(frame):
    """Restore the first line as a comment in the line cache, so that tracebacks and views quote the cell as typed."""
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
    """Make a shell's cells accept `%%mindspore`. Return the undo function."""
    manager = shell.input_transformer_manager
    manager.line_transforms.insert(0, rewrite_imports.first_line)
    transformer = _Transformer()
    shell.ast_transformers.append(transformer)
    cell_names.install()
    cell_views.install()
    rebuild_network.install()
    live.install()
    following = _CellEvents(shell)
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


class _CellEvents:
    """Open and close the scopes of a shell's cells at IPython's events.

    Args:
        shell (InteractiveShell): The shell.
    """

    def __init__(self, shell):
        self.shell = shell
        self._skipped = None  # result of the last empty cell; IPython sends only the final event for empty cells

    def install(self):
        """Register the event handlers."""
        for event, act in self._list_event_handlers():
            self.shell.events.register(event, act)

    def uninstall(self):
        """Unregister the event handlers, and close the scope of the running cell."""
        for event, act in self._list_event_handlers():
            if act in self.shell.events.callbacks.get(event, ()):
                self.shell.events.unregister(event, act)
        if _scopes:
            _close_scope(_scopes[0])

    def _list_event_handlers(self):
        # `pre_run_cell` and `post_run_cell` are not sufficient: IPython does not send them for silent cells.
        return (
            ("pre_execute", self._on_pre_execute),
            ("pre_run_cell", self._on_pre_run_cell),
            ("post_execute", self._on_post_execute),
        )

    def _on_pre_execute(self):
        _open_scope()

    def _on_pre_run_cell(self, info):
        if _scopes:
            _scopes[-1].info = info

    def _on_post_execute(self):
        result = self.shell.last_execution_result
        opened_by_cell = [opened for opened in _scopes if result is not None and opened.info is result.info]
        if (
            not opened_by_cell
            and result is not None
            and result is not self._skipped
            and not (result.info.raw_cell or "").strip()
        ):
            self._skipped = result
            return
        if not _scopes:
            return
        opened = opened_by_cell[-1] if opened_by_cell else _scopes[-1]
        try:
            # otherwise the cell was interrupted, and `result` is that of an earlier cell
            if opened_by_cell or opened.info is None and result is not None and result.info.silent:
                self._wait_for_computations(result)
        finally:
            _close_scope(opened)

    def _wait_for_computations(self, result):
        """Wait for computations that the cell has started, and report their errors as the cell's."""
        if not result.success:
            return
        try:
            wait()
        except KeyboardInterrupt as error:
            result.error_in_exec = error
            self.shell.showtraceback(running_compiled_code=True)
        except Exception as error:
            result.error_in_exec = error
            errors.show_background_error(self.shell, error)
        self.shell.last_execution_succeeded = result.success
