"""The table of `load_weights` as HTML."""

from collections.abc import Sequence
from typing import Any

from msnb.notebook.display.parameter_table import ParameterTable


class WeightsTable(ParameterTable):
    """The rows of `LoadedWeights`.

    Args:
        loaded (LoadedWeights): the result of `load_weights`.
    """

    heads = ("In the file", "Parameter", "Shape", "Matched by")
    numbers_in = ()

    def __init__(self, loaded: Any) -> None:
        self.title: str = loaded.title
        self._loaded = loaded

    def totals(self) -> str:
        """Return the number of Parameters that were loaded as text."""
        return self._loaded.totals()

    def _format_text_rows(self) -> Sequence[Sequence[str]]:
        return self._loaded.rows


def weights_html(loaded: Any) -> str:
    """Return the HTML of a `LoadedWeights`."""
    return WeightsTable(loaded)._repr_html_()
