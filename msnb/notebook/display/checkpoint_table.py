"""The table of `msnb.summary` for a checkpoint file, or for the result of `load_checkpoint`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from msnb._util.byte_size import format_bytes
from msnb.common import dtype as mstype
from msnb.exchange.open_file import weights_in
from msnb.notebook.display.html import count, escape, number
from msnb.notebook.display.parameter_table import ParameterTable

_MEASURES = 5  # columns of numbers: element count, mean, standard deviation, minimum, maximum
_BINS, _WIDTH, _HEIGHT = 24, 96, 16  # bins of the histogram in a row, its width and height in pixels
_SAMPLE = 1 << 20  # maximum elements of a Parameter that the statistics use


class Contents(ParameterTable):
    """The Parameters of a checkpoint, one row each.

    Args:
        parameters (Mapping[str, Union[Parameter, array, str]]): the Parameters by name, from `load_checkpoint` or from
            a file.
        title (str): name of their source.

    Attributes:
        parameters (dict): the argument as a dict.
        numbers (int), nbytes (int): total number of elements and of bytes of all Parameters.
    """

    heads = ("Parameter", "Shape", "Type", "Numbers", "Mean", "Std", "Smallest", "Largest", "Values")
    numbers_in = range(3, 3 + _MEASURES)

    def __init__(self, parameters: Mapping[str, Any], title: str) -> None:
        self.parameters: dict[str, Any] = dict(parameters)
        self.title: str = title
        arrays = [p for p in self.parameters.values() if not isinstance(p, str)]
        self.numbers: int = sum(p.size for p in arrays)
        self.nbytes: int = sum(p.nbytes for p in arrays)
        self._rows = [_format_row(name, p) for name, p in self.parameters.items()]

    def totals(self) -> str:
        """Return the number and the size of the Parameters as text."""
        many = len(self.parameters)
        return (
            f"{self.title}: {many} Parameter{'s' * (many != 1)}, {self.numbers:,} numbers, {format_bytes(self.nbytes)}"
        )

    def _format_text_rows(self):
        return [(*cells, problem) for cells, problem, _ in self._rows]

    def _format_html_rows(self):
        return [
            (*map(escape, cells), f'{bars}<span class="bad">{escape(problem)}</span>')
            for cells, problem, bars in self._rows
        ]


def contents(source: Any) -> Contents:
    """Return the table of a checkpoint file, or of Parameters by name.

    Args:
        source (Union[str, Path, Mapping[str, Parameter]]): the file, or the result of `load_checkpoint`. Only the
            Parameters in the table are read from a file.

    Raises:
        ValueError: If the file is no checkpoint, encrypted or damaged.
        FileNotFoundError: If there is no such file.
        TypeError: If a value of the mapping is no Tensor.
    """
    if isinstance(source, Mapping):
        wrong = next(
            (n for n, value in source.items() if not (hasattr(value, "asnumpy") or isinstance(value, str))), None
        )
        if wrong is not None:
            raise TypeError(
                f"For 'summary', a dict should hold Parameters by name, as load_checkpoint gives it, but '{wrong}' is "
                f"{type(source[wrong]).__name__}."
            )
        return Contents(source, "a dict")
    return Contents(weights_in(source), Path(source).name)


def _format_row(name, value):
    """Return (cells, problem in words, histogram) of a Parameter. For a str, the second item is the str."""
    if isinstance(value, str):
        return (name, "", "str", *[""] * _MEASURES), value if len(value) < 80 else f"{value[:77]}...", ""
    values = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
    dtype = mstype.pytype_to_dtype(values.dtype)
    flat = values.reshape(-1)
    flat = flat[:: max(1, -(-flat.size // _SAMPLE))]
    wide = flat.astype(np.float64) if flat.dtype.kind != "c" else np.abs(flat)
    finite = wide[np.isfinite(wide)]
    measures = (finite.mean(), finite.std(), finite.min(), finite.max()) if finite.size else ()
    cells = (name, str(values.shape), str(dtype), f"{values.size:,}", *map(number, measures))
    nonfinite = [(np.isnan(wide).sum(), "NaN"), (np.isinf(wide).sum(), "Inf")]
    problem = ", ".join(f"{count(int(many))} {what}" for many, what in nonfinite if many)
    return (*cells, *[""] * (3 + _MEASURES - len(cells))), problem, _draw_histogram(finite)


def _draw_histogram(values):
    if values.size < 2 or values.min() == values.max():
        return ""
    counts, _ = np.histogram(values, _BINS)
    step = _WIDTH / _BINS
    bars = "".join(
        f"M{at * step:.0f} {_HEIGHT}v{-max(1.0, many / counts.max() * _HEIGHT):.1f}h{step - 1:.0f}V{_HEIGHT}z"
        for at, many in enumerate(counts)
        if many
    )
    return (
        f'<svg role="img" aria-label="histogram" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f'<path fill="#2b8cc4" d="{bars}"/></svg>'
    )
