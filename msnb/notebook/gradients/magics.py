"""The magic `%ms_grad`: the gradients of one training step."""

import ast
import builtins
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand

from msnb.notebook import gradients
from msnb.notebook.kernel.magic_options import show_line

_HELP = "write %ms_grad net, loss, (x, y)   or   %ms_grad loss_net(x, y)   or   %ms_grad train_step(x, y)"


@magics_class
class GradientMagics(Magics):
    """The magic `%ms_grad`, the gradient inspector."""

    @no_var_expand
    @line_magic
    def ms_grad(self, line: str) -> Any:
        """`%ms_grad net, loss, (x, y)` runs one training step, restores the network, and shows every gradient.

        Use `%ms_grad loss_net(x, y)` for a Cell that returns its loss, and `%ms_grad train_step(x, y)` for a Cell that
        trains. Other arguments of `msnb.inspect_gradients` follow after a comma:
        `%ms_grad net, loss, dataset, steps=20`.
        """
        return view_of(line, self.shell.user_ns)


def view_of(line: str, space: Any) -> Any:
    """Return the GradientView of an expression after `%ms_grad`.

    Raises:
        UsageError: If it is neither a call of a Cell nor a list of arguments of `inspect_gradients`.
    """
    if not line.strip():
        raise UsageError(f"%ms_grad needs something to look at: {_HELP}")
    try:
        call = ast.parse(f"__msnb_inspect({line.strip()})", "<%ms_grad>", "eval").body
    except SyntaxError as error:
        raise UsageError(f"%ms_grad: {error.msg}: {_HELP}") from None
    show_line("%ms_grad", line.strip())

    def run(tree, **names):
        code = builtins.compile(ast.fix_missing_locations(ast.Expression(tree)), "<%ms_grad>", "eval")
        return eval(code, {**space, **names})

    def caught(*args, **kwargs):
        return args, kwargs

    only = call.args[0] if len(call.args) == 1 else None
    if isinstance(only, ast.Call):
        net = run(only.func)
        if _is_cell(net):
            args, kwargs = run(
                ast.Call(ast.Name("__msnb_inspect", ast.Load()), only.args, only.keywords), __msnb_inspect=caught
            )
            if kwargs:
                raise UsageError("%ms_grad takes the inputs of a Cell by position: %ms_grad loss_net(x, y)")
            _, options = run(ast.Call(ast.Name("__msnb_inspect", ast.Load()), [], call.keywords), __msnb_inspect=caught)
            return gradients.inspect_gradients(net, None, tuple(args), **options)
    args, kwargs = run(call, __msnb_inspect=caught)
    if not args or not _is_cell(args[0]):
        raise UsageError(f"%ms_grad begins with a Cell: {_HELP}")
    if len(args) < 3 and "data" not in kwargs:
        raise UsageError(f"%ms_grad {line.strip()}: a step needs a batch, and there is none: {_HELP}")
    return gradients.inspect_gradients(*args, **kwargs)


def _is_cell(value):
    """Return True for a Cell. The test does not import `msnb.nn`."""
    return hasattr(value, "trainable_params")


def install(shell: Any) -> Any:
    """Register the magic with a shell. Return the undo function."""
    registered = GradientMagics(shell)
    shell.register_magics(registered)

    def undo():
        table = shell.magics_manager.magics["line"]
        if getattr(table.get("ms_grad"), "__self__", None) is registered:
            del table["ms_grad"]

    return undo
