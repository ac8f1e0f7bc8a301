"""A table with a row for each Parameter: as text, as HTML, as a file."""

from collections.abc import Container, Sequence
from pathlib import Path

from msnb.notebook.display import page
from msnb.notebook.display.html import alone, escape, framed
from msnb.notebook.display.table_css import STYLE
from msnb.notebook.text_width import columns_of, pad


class ParameterTable:
    """Base class of `Contents` and `Changes`, which provide the rows.

    Attributes:
        heads (tuple[str]): column titles.
        numbers_in (Container[int]): indices of the columns of numbers, which are right-aligned.
        title (str): name of the Parameters' source.
    """

    heads: tuple[str, ...]
    numbers_in: Container[int]
    title: str

    def totals(self) -> str:
        """Return the totals as text."""
        raise NotImplementedError

    def _format_text_rows(self) -> Sequence[Sequence[str]]:
        """Return the rows' cells as text."""
        raise NotImplementedError

    def _format_html_rows(self) -> Sequence[Sequence[str]]:
        """Return the rows' cells as HTML."""
        return [[escape(cell) for cell in row] for row in self._format_text_rows()]

    def __repr__(self) -> str:
        return "\n".join([self.totals(), *_align_columns([self.heads, *self._format_text_rows()], self.numbers_in)])

    def _repr_html_(self) -> str:
        heads = "".join(
            f'<th scope="col"{self._get_alignment_class(column)}>{head}</th>' for column, head in enumerate(self.heads)
        )
        classes = [self._get_alignment_class(column) for column in range(len(self.heads))]
        rows = "".join(
            f"<tr>{''.join(f'<td{style}>{cell}</td>' for style, cell in zip(classes, row, strict=True))}</tr>"
            for row in self._format_html_rows()
        )
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        body = f'{STYLE}<div class="layers" tabindex="0">{table}</div><div class="totals">{escape(self.totals())}</div>'
        return framed(body, f"Parameters of {self.title}")

    def _get_alignment_class(self, column):
        return ' class="n"' if column in self.numbers_in else ""

    def save(self, path: str | Path) -> None:
        """Write the table to a file: a standalone page, or text.

        Args:
            path (Union[str, Path]): Path of the file, ending in ".html" or ".txt".

        Raises:
            ValueError: If it ends otherwise.
        """
        makers = {".html": lambda: alone(self._repr_html_(), self.title), ".txt": lambda: f"{self!r}\n"}
        page.save(path, makers, type(self).__name__)


def _align_columns(rows, numbers):
    """Return the lines of a text table. The columns `numbers` are right-aligned."""
    widths = [max(columns_of(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            pad(cell, width, to_right=column in numbers)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
