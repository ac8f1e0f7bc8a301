"""The magic `%ms_dashboard FOLDER`: curves, pictures and graphs of recorded trainings."""

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_magic, magics_class, no_var_expand
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display

from msnb.notebook.dashboard.view import dashboard
from msnb.notebook.kernel.magic_options import parse
from msnb.notebook.kernel.magic_registration import register_magics

_RUN = ("msnb.insight.runs.run", "Run")


@magics_class
class DashboardMagics(Magics):
    """The magic `%ms_dashboard`, for recorded trainings."""

    @no_var_expand
    @magic_arguments("%ms_dashboard")
    @argument("folder", nargs="+", help="A run's folder, or a folder of runs; several are drawn together.")
    @line_magic("ms_dashboard")
    def ms_dashboard(self, line: str) -> None:
        """`%ms_dashboard runs/first` shows curves, pictures, histograms, tensors and graphs of a recorded training,
        while it runs and afterwards. `%ms_dashboard runs` shows all runs in a folder, in the same charts.

            %ms_dashboard runs/first runs/second
        """
        folders = [word.strip("'\"") for word in parse(self.ms_dashboard, line).folder]
        try:
            display(dashboard(folders))
        except FileNotFoundError as error:
            raise UsageError(f"%ms_dashboard: {error}") from None


def _build_mime_bundle(run, include=None, exclude=None):
    return dashboard(run)._repr_mimebundle_(include, exclude)


def install(shell: Any) -> Any:
    """Register the magic and the display of a Run with a shell. Return the undo function."""
    remove_magics = register_magics(shell, DashboardMagics(shell))
    formatter = shell.display_formatter.mimebundle_formatter
    formatter.for_type_by_name(*_RUN, _build_mime_bundle)  # registered by name, so that the class Run is not imported

    def undo():
        remove_magics()
        formatter.pop(".".join(_RUN), None)

    return undo
