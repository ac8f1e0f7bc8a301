"""Graphs of the calls in a cell (`--ir`), and of an expression (`%ms_ir`)."""

import ast
import builtins
import contextlib
import functools
from typing import Any

from IPython import get_ipython
from IPython.core.error import UsageError
from IPython.display import display

from msnb.core.jaxpr import partial_trace
from msnb.core.program import program_cache
from msnb.core.state import events
from msnb.core.support.weak_identity import WeakIdentityDict
from msnb.ir.api import name_of
from msnb.notebook.graph import live
from msnb.notebook.graph.api import of_program, show_before
from msnb.notebook.kernel.magic_options import expression as parsed

_MOST = 8  # maximum views that one cell shows


class CallRecorder:
    """Record the Cells and compiled functions that run between construction and :meth:`show` or :meth:`close`."""

    def __init__(self):
        self._calls_before = {program: program.calls for program in program_cache.all_programs()}
        self._recorded = WeakIdentityDict()  # nets in `_called`
        self._called = []  # (net, args, kwargs)
        self._failed = None  # (error, net, args, kwargs) of the call that ended the cell
        self._listener = events.listen(left=self._record_call, name="--ir")

    def _record_call(self, call):
        """Record the arguments of an outermost Cell or function."""
        if call.around is None and call.error is not None:
            self._failed = call.error, call.net, call.args, call.kwargs
        elif call.around is None and not call.traced and call.net not in self._recorded:
            self._recorded[call.net] = True
            self._called.append((call.net, call.args, call.kwargs))

    def close(self) -> None:
        """Stop recording."""
        self._listener.close()

    def show(self) -> None:
        """Stop recording, and show one view for each network."""
        self.close()
        shows = [functools.partial(show_call, *called) for called in self._called]
        shows += [functools.partial(show, p) for p in program_cache.all_programs() if self._has_run_inside_call(p)]
        if self._failed is not None:
            shows.append(functools.partial(_show_failed_call, *self._failed))
        if not shows:
            print("--ir: no Cell and no ms_function has run in this cell. Call one here, or use %ms_ir net(x).")
        for each in shows[:_MOST]:
            each()
        if len(shows) > _MOST:
            print(f"--ir: {len(shows) - _MOST} more graphs are not shown; %ms_ir net(x) shows one of them.")

    def _has_run_inside_call(self, program):
        """Return True if a program has run inside another call: a compiled part of a PYNATIVE call."""
        ran = program.calls > self._calls_before.get(program, 0)
        return ran and not any(net is program.root() for net, *_ in self._called)


def _show_failed_call(error, net, args, kwargs):
    """Show the partial graph of the call that raised. A call in PYNATIVE mode is traced to get that graph."""
    if partial_trace.partial_trace_of(error) is not None:
        show_before(error, net, args, kwargs)
    else:
        # the trace's error is displayed as part of the view, and the cell raises its own error
        with contextlib.suppress(Exception):
            show_call(net, args, kwargs)


def show_call(net: Any, args: Any, kwargs: Any) -> None:
    """Show the graph of one call. The graph is updated when the notebook cells that define the network are edited."""
    try:
        program = program_cache.program_of(net, *args, **kwargs)
    except Exception as error:
        show_before(error, net, args, kwargs)
        raise
    view = show(program, net)
    live.follow(view, net, args, kwargs)


def show(program: Any, net: Any = None) -> Any:
    """Show the graph of a program of `msnb.core.program.program_cache`: a view if there is a browser, else text."""
    view = of_program(program, program.name if net is None else name_of(net))
    shell = get_ipython()
    if shell is not None and "text/html" in shell.display_formatter.active_types:
        display(view)
    else:
        print(view.text())
    return view


def show_expression(expression: str, space: dict[Any, Any]) -> None:
    """Show the graph of an expression such as ``net(x)`` without calling it.

    Only the function and its inputs are evaluated.

    Args:
        expression (str): A call of a Cell or function, or a Cell or compiled function that has run before.
        space (dict): The names that it may use.

    Raises:
        UsageError: If the text is no expression, or an expression of another kind.
    """
    if not expression.strip():
        raise UsageError("%ms_ir needs a call to look at, such as: %ms_ir net(x)")
    tree = parsed("%ms_ir", expression.strip())

    def value(node):
        return eval(builtins.compile(ast.fix_missing_locations(ast.Expression(node)), "<%ms_ir>", "eval"), space)

    if isinstance(tree, ast.Call):
        # Evaluate a call of a helper with the same arguments, so that Python expands `*args` and `**kwargs`.
        caught = ast.Call(ast.Name("__msnb_arguments", ast.Load()), tree.args, tree.keywords)
        net = value(tree.func)
        space = {**space, "__msnb_arguments": lambda *args, **kwargs: (args, kwargs)}
        args, kwargs = value(ast.copy_location(caught, tree))
        show_call(net, args, kwargs)
        return
    net = value(tree)
    programs = [p for p in program_cache.all_programs() if p.root() is net]
    if not programs:
        raise UsageError(
            f"%ms_ir {expression.strip()}: nothing is known about its inputs yet; give it a call to look "
            f"at, such as: %ms_ir {expression.strip()}(x)"
        )
    show(programs[-1], net)
