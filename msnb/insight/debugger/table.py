"""A small table of strings. A terminal shows it as aligned text, and a notebook as HTML."""

import html
from collections.abc import Sequence

_CELL = "text-align:left;vertical-align:top;white-space:nowrap"


class TextTable:
    """Rows of text with a heading, shown as aligned text or as HTML.

    Args:
        columns (Sequence[str]): names of the columns.
        rows (Sequence[Sequence[str]]): the cells.
        marked (Sequence[bool]): rows that are drawn in red. Default: (), none.
        title (str): a line above the table. Default: "".
    """

    def __init__(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[bool] = (), title: str = ""
    ) -> None:
        self.columns: list[str] = list(columns)
        self.rows: list[list[str]] = [list(row) for row in rows]
        self.marked: list[bool] = list(marked) or [False] * len(self.rows)
        self.title: str = title

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in (self.columns, *self.rows)
        ]
        marks = [" ", *("*" if mark else " " for mark in self.marked)]
        body = [f"{mark} {line}".rstrip() for mark, line in zip(marks, lines, strict=True)]
        return "\n".join([self.title, *body] if self.title else body)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title = f"<p>{html.escape(self.title)}</p>" if self.title else ""
        return f"<div>{title}{html_table(self.columns, self.rows, self.marked)}</div>"


def html_table(columns: Sequence[str], rows: Sequence[Sequence[str]], marked: Sequence[bool] = ()) -> str:
    """Return a table as HTML. On a narrow page it scrolls sideways, because wrapped numbers are hard to read.

    Args:
        columns (Sequence[str]): names of the columns.
        rows (Sequence[Sequence[str]]): the cells.
        marked (Sequence[bool]): rows that are drawn in red. Default: (), none.
    """
    head = "".join(f'<th scope="col" style="{_CELL}">{html.escape(name)}</th>' for name in columns)
    marks = marked or [False] * len(rows)
    body = "".join(_format_html_row(row, mark) for row, mark in zip(rows, marks, strict=True))
    return (
        '<div style="overflow-x:auto" tabindex="0" role="region" aria-label="table">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _format_html_row(row, is_marked):
    style = ' style="color:#d55e00;font-weight:600"' if is_marked else ""
    cells = "".join(f'<td style="{_CELL}">{html.escape(cell)}</td>' for cell in row)
    return f"<tr{style}>{cells}</tr>"
