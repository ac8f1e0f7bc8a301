"""Graphs to show: of what a cell has run (`--ir`), and of an expression (`%ms_ir`)."""

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

_MOST = 8  # views that one cell shows


class Ran:
    """Which Cells and compiled functions run from its making to :meth:`show` or :meth:`close`."""

    def __init__(self):
        self._calls_before = {program: program.calls for program in program_cache.all_programs()}
        self._known = WeakIdentityDict()  # nets in `_called`
        self._called = []  # (net, args, kwargs)
        self._failed = None  # (error, net, args, kwargs) of the call that ended the cell
        self._listener = events.listen(left=self._left, name="--ir")

    def _left(self, call):
        """Remember what the outermost Cell or function was called with."""
        if call.around is None and call.error is not None:
            self._failed = call.error, call.net, call.args, call.kwargs
        elif call.around is None and not call.traced and call.net not in self._known:
            self._known[call.net] = True
            self._called.append((call.net, call.args, call.kwargs))

    def close(self) -> None:
        """Look away."""
        self._listener.close()

    def show(self) -> None:
        """Look away; show one view for each network."""
        self.close()
        shows = [functools.partial(show_call, *called) for called in self._called]
        shows += [functools.partial(show, p) for p in program_cache.all_programs() if self._ran_inside(p)]
        if self._failed is not None:
            shows.append(functools.partial(_show_failed, *self._failed))
        if not shows:
            print("--ir: no Cell and no ms_function has run in this cell. Call one here, or use %ms_ir net(x).")
        for each in shows[:_MOST]:
            each()
        if len(shows) > _MOST:
            print(f"--ir: {len(shows) - _MOST} more graphs are not shown; %ms_ir net(x) shows one of them.")

    def _ran_inside(self, program):
        """Whether a program has run that is not of an outermost call: a compiled part of something PYNATIVE."""
        ran = program.calls > self._calls_before.get(program, 0)
        return ran and not any(net is program.root() for net, *_ in self._called)


def _show_failed(error, net, args, kwargs):
    """Show how far a call is that has ended its cell; one of PYNATIVE mode is traced for it."""
    if partial_trace.partial_trace_of(error) is not None:
        show_before(error, net, args, kwargs)
    else:
        with contextlib.suppress(Exception):  # shown already, and the cell ends with its own
            show_call(net, args, kwargs)


def show_call(net: Any, args: Any, kwargs: Any) -> None:
    """Show the graph of one call; while the notebook is open it follows the cells that it comes from."""
    try:
        program = program_cache.program_of(net, *args, **kwargs)
    except Exception as error:
        show_before(error, net, args, kwargs)
        raise
    view = show(program, net)
    live.follow(view, net, args, kwargs)


def show(program: Any, net: Any = None) -> Any:
    """Show the graph of a program of `msnb.core.program.program_cache`: a view where there is a browser, else text."""
    view = of_program(program, program.name if net is None else name_of(net))
    shell = get_ipython()
    if shell is not None and "text/html" in shell.display_formatter.active_types:
        display(view)
    else:
        print(view.text())
    return view


def show_expression(expression: str, space: dict[Any, Any]) -> None:
    """Show the graph of an expression such as ``net(x)``, which is not run: only its function and inputs are.

    Args:
        expression (str): A call of a Cell or function; or a Cell or compiled function that has run before.
        space (dict): The names that it may use.

    Raises:
        UsageError: If it is no call, and nothing that has run; or no expression at all.
    """
    if not expression.strip():
        raise UsageError("%ms_ir needs a call to look at, such as: %ms_ir net(x)")
    tree = parsed("%ms_ir", expression.strip())

    def value(node):
        return eval(builtins.compile(ast.fix_missing_locations(ast.Expression(node)), "<%ms_ir>", "eval"), space)

    if isinstance(tree, ast.Call):
        # Python itself sorts out stars and keywords.
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
