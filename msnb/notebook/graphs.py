"""Graphs to show: of what a cell has run (`--ir`), and of an expression (`%ms_ir`)."""

import ast
import builtins
import functools

from IPython import get_ipython
from IPython.core.error import UsageError
from IPython.display import display

_MOST = 8  # views that one cell shows


class Ran:
    """Which Cells and compiled functions run from its making to :meth:`show`."""

    def __init__(self):
        from msnb.core import compile
        from msnb.nn.cell import Cell

        self._compile, self._cell = compile, Cell
        self._calls_before = {id(program): program.calls for program in compile.all_programs()}
        self._eager = {}
        self._call = Cell.__call__
        self._watch(Cell)

    def _watch(self, kind):
        """In PYNATIVE mode nothing is compiled; remember what the outermost Cells are called with."""
        call, eager, thread = self._call, self._eager, self._compile._thread
        running = []

        @functools.wraps(call)
        def watched(cell, *args, **kwargs):
            if running or thread.frame is not None:
                return call(cell, *args, **kwargs)
            running.append(cell)
            try:
                result = call(cell, *args, **kwargs)
            finally:
                running.clear()
            eager.setdefault(id(cell), (cell, args, kwargs))
            return result

        kind.__call__ = watched

    def show(self):
        """Stop watching; show one view for each program."""
        self._cell.__call__ = self._call
        programs = [p for p in self._compile.all_programs() if self._has_run(p)]
        compiled = {id(p.root()) for p in programs}
        for cell, args, kwargs in self._eager.values():
            if id(cell) not in compiled:
                programs.append(self._compile.program_of(cell, *args, **kwargs))
        if not programs:
            print("--ir: no Cell and no ms_function has run in this cell. Call one here, or use %ms_ir net(x).")
        for program in programs[:_MOST]:
            show(program)
        if len(programs) > _MOST:
            rest = ", ".join(sorted({p.name for p in programs[_MOST:]}))
            print(f"--ir: {len(programs) - _MOST} more graphs are not shown ({rest}); %ms_ir net(x) shows one of them.")

    def _has_run(self, program):
        before = self._calls_before.get(id(program))
        recorded = before is None and program._kernel is not None  # run under a PYNATIVE gradient
        return program.calls > (before or 0) or recorded


def show(program):
    """Show the graph of a program of `msnb.core.compile`: a view where there is a browser, else text."""
    from msnb.ir.api import of_program
    from msnb.notebook.graph import GraphView

    view = GraphView(of_program(program))
    shell = get_ipython()
    if shell is not None and "text/html" in shell.display_formatter.active_types:
        display(view)
    else:
        print(view.text())


def program_in(expression, space):
    """The program behind an expression such as ``net(x)``, which is not run: only its function and inputs are.

    Args:
        expression (str): A call of a Cell or function; or a Cell or compiled function that has run before.
        space (dict): The names that it may use.

    Raises:
        UsageError: If it is no call, and nothing that has run.
    """
    from msnb.core import compile

    if not expression.strip():
        raise UsageError("%ms_ir needs a call to look at, such as: %ms_ir net(x)")
    tree = ast.parse(expression.strip(), "<%ms_ir>", "eval").body

    def value(node):
        return eval(builtins.compile(ast.fix_missing_locations(ast.Expression(node)), "<%ms_ir>", "eval"), space)

    if isinstance(tree, ast.Call):
        # Python itself sorts out stars and keywords.
        caught = ast.Call(ast.Name("__msnb_arguments", ast.Load()), tree.args, tree.keywords)
        net = value(tree.func)
        space = {**space, "__msnb_arguments": lambda *args, **kwargs: (args, kwargs)}
        args, kwargs = value(ast.copy_location(caught, tree))
        return compile.program_of(net, *args, **kwargs)
    net = value(tree)
    programs = [p for p in compile.all_programs() if p.root() is net]
    if not programs:
        raise UsageError(f"%ms_ir {expression.strip()}: nothing is known about its inputs yet; give it a call to look "
                         f"at, such as: %ms_ir {expression.strip()}(x)")
    return programs[-1]
