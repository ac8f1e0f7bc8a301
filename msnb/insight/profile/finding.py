"""One piece of advice of a profile."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.rows import Row


class Finding:
    """One piece of advice.

    Attributes:
        share (float): share of the step, from 0 to 1; for varying steps, the part of a slow step above the median.
        text (str): the observation and the remedy.
        source (tuple | None): (file, line, function) of the code to change.
        label (str): the displayed number: the share, unless another number is more useful.
        kind (str): ``"operator"``, ``"data"``, ``"host"``, ``"compile"``, ``"spread"``, ``"fine"``.
    """

    __slots__ = ("share", "text", "source", "kind", "row", "label")

    def __init__(
        self,
        share: float,
        text: str,
        source: tuple[Any, ...] | None = None,
        kind: str | None = "operator",
        row: "Row | None" = None,
        label: str | None = None,
    ) -> None:
        self.share: float = share
        self.text: str = text
        self.source: tuple[Any, ...] | None = source
        self.kind: str | None = kind
        self.row = row
        self.label: str = label or format_percent(share)

    def __repr__(self) -> str:
        return self.text


def format_percent(value):
    return f"{100 * value:.0f} %" if value >= 0.01 else f"{100 * value:.1f} %"
