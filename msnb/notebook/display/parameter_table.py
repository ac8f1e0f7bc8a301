"""A table with a row for each Parameter: as text, as HTML, as a file."""

from collections.abc import Container, Sequence
from pathlib import Path

from msnb.notebook.display import page
from msnb.notebook.display.html import alone, escape, framed
from msnb.notebook.display.table_css import STYLE
from msnb.notebook.text_width import columns_of, pad


class ParameterTable:
    """What `Contents` and `Changes` share; each says what stands in the cells.

    Attributes:
        heads (tuple[str]): what stands above the columns.
        numbers_in (Container[int]): the columns that stand to the right.
        title (str): what the Parameters are of.
    """

    heads: tuple[str, ...]
    numbers_in: Container[int]
    title: str

    def totals(self) -> str:
        """In words, what the whole is."""
        raise NotImplementedError

    def _texts(self) -> Sequence[Sequence[str]]:
        """The cells of the rows, as text."""
        raise NotImplementedError

    def _cells(self) -> Sequence[Sequence[str]]:
        """The same as HTML."""
        return [[escape(cell) for cell in row] for row in self._texts()]

    def __repr__(self) -> str:
        return "\n".join([self.totals(), *_aligned([self.heads, *self._texts()], self.numbers_in)])

    def _repr_html_(self) -> str:
        heads = "".join(
            f'<th scope="col"{self._alignment_class(column)}>{head}</th>' for column, head in enumerate(self.heads)
        )
        rows = "".join(
            f"<tr>{''.join(f'<td{self._alignment_class(column)}>{cell}</td>' for column, cell in enumerate(row))}</tr>"
            for row in self._cells()
        )
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        body = f'{STYLE}<div class="layers" tabindex="0">{table}</div><div class="totals">{escape(self.totals())}</div>'
        return framed(body, f"Parameters of {self.title}")

    def _alignment_class(self, column):
        return ' class="n"' if column in self.numbers_in else ""

    def save(self, path: str | Path) -> None:
        """Write the table to a file: a page that needs nothing else, or text.

        Args:
            path (Union[str, Path]): Where to, ending in ".html" or ".txt".

        Raises:
            ValueError: If it ends otherwise.
        """
        makers = {".html": lambda: alone(self._repr_html_(), self.title), ".txt": lambda: f"{self!r}\n"}
        page.save(path, makers, type(self).__name__)


def _aligned(rows, numbers):
    """The lines of a table of texts; what stands in the columns `numbers` goes to the right."""
    widths = [max(columns_of(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            pad(cell, width, to_right=column in numbers)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
