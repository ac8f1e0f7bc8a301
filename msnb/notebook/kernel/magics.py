"""`%%mindspore` and the line magics: their options, their help, their errors."""

import argparse
import difflib
import traceback
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments

from msnb import alias, context
from msnb.notebook import magic_help
from msnb.notebook.dashboard import magics as dashboard_magics
from msnb.notebook.debugger import magics as debug_magics
from msnb.notebook.explainer import magics as explainer_magics
from msnb.notebook.gradients import magics as gradient_magics
from msnb.notebook.graph import calls
from msnb.notebook.kernel import cell_names, cell_scope, cluster, errors, rewrite_imports
from msnb.notebook.kernel.magic_options import parse
from msnb.notebook.kernel.magic_registration import register_magics
from msnb.notebook.labels import magics as label_magics
from msnb.notebook.pipeline import magics as pipeline_magics
from msnb.notebook.plan.view import install as install_plans
from msnb.notebook.profile import magics as profile_magics
from msnb.notebook.runs import magics as runs_magics

MODES = ("graph", "pynative")
DEVICES = ("CPU", "GPU", "TPU")
GENERATIONS = ("1", "2")
OPTIONS = {
    "--mode": "graph or pynative, for this cell",
    "--device": "CPU, GPU or TPU, for this cell",
    "--api": "1 or 2: whose meaning names have where MindSpore r1.1 and MindSpore 2 disagree",
    "--check": "raise at indices out of range in compiled graphs too, for this cell",
    "--ir": "show the graph of each Cell and compiled function that ran",
    "--time": "show wall, compile and run seconds",
}
_SWITCHES = ("on", "off")


def _make_choice_parser(what, names):
    def choose(text):
        names_by_lower = {name.lower(): name for name in names}
        if text.lower() not in names_by_lower:
            near = difflib.get_close_matches(text.lower(), names_by_lower, 1)
            guess = f" Did you mean {names_by_lower[near[0]]}?" if near else ""
            raise argparse.ArgumentTypeError(f"a {what} is one of {', '.join(names)}, but got {text!r}.{guess}")
        return names_by_lower[text.lower()]

    return choose


@magics_class
class MindSporeMagics(Magics):
    """The magics of msnb."""

    @no_var_expand
    @magic_arguments("%mindspore")
    @argument(
        "-m",
        "--mode",
        type=_make_choice_parser("mode", MODES),
        metavar="graph|pynative",
        help="Run this cell in GRAPH or in PYNATIVE mode.",
    )
    @argument(
        "-d",
        "--device",
        type=_make_choice_parser("device", (*DEVICES, "Ascend")),
        metavar="CPU|GPU|TPU",
        help="Run this cell on this kind of device.",
    )
    @argument(
        "--check",
        action="store_true",
        help="Let compiled graphs raise at an index out of range, as PYNATIVE mode does.",
    )
    @argument(
        "--api",
        type=_make_choice_parser("generation", GENERATIONS),
        metavar="1|2",
        help="What names mean where MindSpore r1.1 (1) and MindSpore 2 (2) disagree. The names that this cell imports "
        "keep it; what all cells share, the methods of Tensors, follows the last cell that says --api.",
    )
    @argument("--ir", action="store_true", help="Show the graph of each Cell and compiled function that the cell ran.")
    @argument("--time", action="store_true", help="Show the cell's wall, compile and run seconds.")
    @cell_magic("mindspore")
    def mindspore_cell(self, line: str, cell_text: str | None) -> None:
        """Run a cell in which `import mindspore` means msnb.

        Only the import statements in this cell are affected; `%mindspore on` affects the session, imported files
        included. Mode, device and checks are restored at the end of the cell. Example:

            %%mindspore -m graph --ir
            import mindspore as ms
            net(x)
        """
        options = parse(self.mindspore_cell, line)
        if cell_text is None:  # `rewrite_imports.first_line` has created a call of the magic without a body
            self._begin_cell_scope(options)
        else:
            self._run_cell_text(options, cell_text)

    def _begin_cell_scope(self, options):
        try:
            cell_scope.begin(options)
        except ValueError as error:
            raise UsageError(f"%%mindspore: {error}") from None

    def _run_cell_text(self, options, text):
        """Run a cell body given as text, from a notebook exported as a script or code that calls the magic."""
        shell = self.shell
        source = shell.transform_cell(text)
        name = shell.compile.cache(source, cell_names.running_line()[0], raw_code=text)
        with cell_scope.scope():
            self._begin_cell_scope(options)
            tree = shell.transform_ast(shell.compile.ast_parse(source, name))
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], rewrite_imports.ast.Expr) else None
            exec(shell.compile(tree, name, "exec"), shell.user_ns)
            if last is not None:
                exec(shell.compile(rewrite_imports.ast.Interactive([last]), name, "single"), shell.user_ns)

    @line_magic("mindspore")
    def mindspore_session(self, line: str) -> None:
        """`%mindspore on`: `import mindspore` means msnb in the session, in imported files too.
        `%mindspore on --api 2` selects the API of MindSpore 2. `%mindspore off` ends the effect, and `%mindspore` shows
        the current setting.
        """
        wish, _, api = line.strip().lower().partition(" ")
        api = api.replace("=", " ").split()
        if (
            wish not in ("", *_SWITCHES)
            or api
            and (wish != "on" or api[:-1] != ["--api"] or api[-1] not in GENERATIONS)
        ):
            raise UsageError(
                f"%mindspore takes on, on --api 1, on --api 2 or off, but got {line.strip()!r}. For one cell, begin it "
                "with %%mindspore."
            )
        real = alias.hidden()
        if wish == "on":
            alias.install(warn=False, api=int(api[-1]) if api else None)
        elif wish == "off":
            alias.uninstall()
        if alias.installed():
            more = f"; {real} is hidden until %mindspore off" if real else ""
            of = ", as MindSpore 2 means it" if alias.api() == 2 else ""
            print(f"import mindspore is msnb in this session{of}{more}.")
        elif real:
            print(f"import mindspore is {real}, except in %%mindspore cells.")
        else:
            print("import mindspore is msnb in %%mindspore cells only; there is no other MindSpore here.")

    @line_magic
    def ms_mode(self, line: str) -> None:
        """`%ms_mode graph` or `%ms_mode pynative` sets the mode from here on; `%ms_mode` prints the current mode."""
        wish = line.strip().lower()
        if wish not in ("", *MODES):
            raise UsageError(f"%ms_mode takes graph or pynative, but got {line.strip()!r}.")
        if wish:
            context.set_context(mode=MODES.index(wish))
        print(f"{MODES[context.get_context('mode')].upper()} mode on {context.get_context('device_target')}")

    @no_var_expand
    @line_magic
    def ms_ir(self, line: str) -> None:
        """`%ms_ir net(x)` shows the graph of the call `net(x)` without running the call."""
        calls.show_expression(line, self.shell.user_ns)

    @line_magic
    def ms_check(self, line: str) -> Any:
        """`%ms_check` lists names and arguments of MindSpore that the cells of this session use and msnb lacks;
        `%ms_check train.py` does so for a file, a notebook or a folder. No code is run.
        """
        from msnb import check  # lazy, because few sessions use the checker

        if not line.strip():
            ran = [(n, text) for n, text in enumerate(self.shell.history_manager.input_hist_raw) if text.strip()]
            if not ran:
                raise UsageError("No cell has been run here; %ms_check FILE reads a file.")
            numbers, texts = zip(*ran, strict=True)
            return check.Report([check.of_cells(list(texts), "this session", list(numbers))])
        try:
            return check.check(line.strip().strip("'\""))
        except (FileNotFoundError, ValueError) as error:
            raise UsageError(str(error)) from None

    @line_magic
    def ms_traceback(self, line: str) -> None:
        """Print the last error with all frames, including those inside msnb and JAX."""
        error = errors.last()
        if error is None:
            print("No error has been shortened in this session.")
        else:
            print("".join(traceback.format_exception(error)))


def install(shell: Any) -> Any:
    """Register the magics with a shell. Return the undo function."""
    alias.explain()
    remove_magics = register_magics(shell, MindSporeMagics(shell))
    undo_profile = profile_magics.install(shell)
    undo_pipeline = pipeline_magics.install(shell)
    undo_gradients = gradient_magics.install(shell)
    undo_runs = runs_magics.install(shell)
    undo_dashboard = dashboard_magics.install(shell)
    undo_explainer = explainer_magics.install(shell)
    undo_label = label_magics.install(shell)
    undo_debug = debug_magics.install(shell)
    undo_plans = install_plans(shell)
    undo_cluster = cluster.install(shell)
    undo_help = magic_help.install(shell)

    def undo():
        undo_profile()
        undo_pipeline()
        undo_gradients()
        undo_runs()
        undo_dashboard()
        undo_explainer()
        undo_label()
        undo_debug()
        undo_plans()
        undo_cluster()
        undo_help()
        remove_magics()
        alias.uninstall()
        alias.explain(False)

    return undo
