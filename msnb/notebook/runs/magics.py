"""The magic `%ms_runs FOLDER`: the table of runs."""

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from msnb.insight.runs import live_views
from msnb.notebook.kernel.magic_options import parse
from msnb.notebook.kernel.magic_registration import register_magics
from msnb.notebook.runs.view import RunsView, runs


@magics_class
class RunsMagics(Magics):
    """The magic `%ms_runs`."""

    @no_var_expand
    @magic_arguments("%ms_runs")
    @argument("-t", "--target", help="The metric that the runs are judged by.")
    @argument("-g", "--goal", choices=("minimize", "maximize"), help="Which way it is better.")
    @argument("folder", nargs="?", default="runs", help="Where the runs are (default: runs).")
    @line_magic("ms_runs")
    def ms_runs(self, line: str) -> Any:
        """`%ms_runs FOLDER` shows all runs below a folder, to compare their settings and results.

        %ms_runs --target accuracy runs
        """
        options = parse(self.ms_runs, line)
        try:
            return runs(options.folder.strip("'\""), options.target, options.goal)
        except (OSError, ValueError) as error:
            raise UsageError(f"%ms_runs: {error}") from None


def _show_tuning_runs(runs, target, goal):
    """Show the runs of a tuning below its cell, and return a function that updates them.

    A live view is updated after each trial and keeps the user's settings. The saved output is
    written once, at the end of the cell.
    """
    view = RunsView(runs, goal=goal, target=target)
    display(view)

    def after():
        if view.refresh() and not view.live:
            view.show_again()

    return after


def install(shell: Any) -> Any:
    """Register the magic with a shell. Return the undo function."""
    remove_magics = register_magics(shell, RunsMagics(shell))
    hide = live_views.by(_show_tuning_runs)

    def undo():
        hide()
        remove_magics()

    return undo
