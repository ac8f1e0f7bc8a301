"""Format a profile as text for a terminal, and as Markdown."""

from typing import TYPE_CHECKING, Any

from msnb.insight.ellipsize import middle
from msnb.ir.source import show as place_of

if TYPE_CHECKING:  # used only in annotations
    from msnb.insight.profile.figures import Figures

MARKS = {"measured": " ", "fused": "+", "inferred": "~", "replayed": "=", "xla": "x"}
_COPY = "XLA's copy"  # displayed as "copy", because the mark x already means XLA
LEGEND = "+ fused with others, divided by counted work   ~ inferred   = replayed alone   x copy made by XLA"


def format_seconds(value: Any) -> str:
    """Format a time with a suitable unit."""
    if value is None:
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return "0" if value <= 0 else f"{value * 1e9:.0f} ns"


def count(value: Any, unit: str = "") -> str:
    """Format a large number with an SI prefix and a unit."""
    for prefix, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.0f} {unit}".rstrip()


def headline(profile: "Figures") -> str:
    """Return one line: the time of a step and its parts."""
    low, high = profile.spread
    total = sum(profile.parts.values()) or 1.0
    parts = ", ".join(f"{name} {100 * part / total:.0f} %" for name, part in profile.parts.items() if part > 0)
    return (
        f"{profile.name}, {profile.mode}: {format_seconds(profile.step_seconds)} a step "
        f"({format_seconds(low)} to {format_seconds(high)}, {len(profile.steps)} steps): {parts}; "
        f"compiling {format_seconds(profile.compile_seconds)}"
    )


def table(profile: "Figures", rows: Any) -> str:
    """Format a profile as a table for a terminal; see `Profile.text`."""
    out = [headline(profile), ""]
    out += [f"  {finding.text}" for finding in profile.advice[:4]]
    total = sum(profile.parts.values()) or 1.0
    first_rows = profile.rows[:rows]
    if first_rows:
        out += ["", f"{'time':>9} {'step':>6}   {'operator':<26} {'of peak':>7}  {'Cell':<28} line"]
    for row in first_rows:
        peak = profile.of_peak(row)
        name = middle(row.name.replace(_COPY, "copy"), 26)
        out.append(
            f"{format_seconds(row.seconds):>9} {100 * row.seconds / total:5.1f} % {MARKS[row.how]} {name:<26} "
            f"{'' if peak is None else f'{100 * peak:.0f} %':>7}  {middle(row.cell, 28):<28} {place_of(row.source)}"
        )
    if len(profile.rows) > rows:
        rest = sum(row.seconds for row in profile.rows[rows:])
        out.append(f"{format_seconds(rest):>9} {100 * rest / total:5.1f} %   {len(profile.rows) - rows} more")
    if first_rows:
        how = profile.attribution
        out += [
            "",
            f"{100 * (how['measured'] + how['fused']):.0f} % of the kernels' time is measured on operators, "
            f"{100 * how['xla']:.0f} % are XLA's own copies, {100 * how['inferred']:.0f} % is inferred.",
            LEGEND,
        ]
    out += [f"note: {note}" for note in profile.notes]
    return "\n".join(out)


def markdown(profile: "Figures", rows: Any = 12) -> str:
    """Return the profile as Markdown."""
    total = sum(profile.parts.values()) or 1.0
    out = [f"**{headline(profile)}**", ""]
    out += [f"- {finding.text}" for finding in profile.advice[:4]]
    out += ["", "| time | of the step | operator | Cell | line | how |", "|--:|--:|:--|:--|:--|:--|"]
    out += [
        f"| {format_seconds(row.seconds)} | {100 * row.seconds / total:.1f} % | {row.name} | {row.cell} | "
        f"{place_of(row.source)} | {row.how} |"
        for row in profile.rows[:rows]
    ]
    return "\n".join(out)
