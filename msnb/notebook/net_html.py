"""A Cell as a notebook shows it: the tree of its sub-Cells with the Parameters of each, to open and close."""

import re
from typing import Any

from msnb.notebook.html import count, escape, framed, size

_PARAMETERS = re.compile(r",?\s*\w+=Parameter \((?:[^()]|\([^()]*\))*\)")
_OPEN = 2  # levels that are open at first
_MOST = 3000  # Cells that one display shows
_REPEATS = 3  # equal neighbours that are drawn once


def net_html(cell: Any) -> str:
    """HTML for a Cell."""
    parameters = list(cell.get_parameters())
    trained = sum(p.size for p in parameters if p.requires_grad)
    fixed = sum(p.size for p in parameters) - trained
    facts = [f"{count(trained)} trainable numbers in {len([p for p in parameters if p.requires_grad])} Parameters"]
    if fixed:
        facts.append(f"{count(fixed)} fixed")
    facts.append(size(sum(p.nbytes for p in parameters)))
    facts.append("training" if cell.training else "evaluating")
    head = (
        f'<div class="head"><b>{escape(type(cell).__name__)}</b>'
        + "".join(f'<span class="dim">{fact}</span>' for fact in facts)
        + "</div>"
    )
    return framed(head + _Tree().draw("", cell, 0), f"Cell {type(cell).__name__}")


class _Tree:
    def __init__(self):
        self.left = _MOST
        self.signatures = {}

    def draw(self, name, cell, level, times=1, until=""):
        """One Cell with everything in it."""
        if self.left <= 0:
            return ""
        self.left -= 1
        inside = [_parameter(n, p) for n, p in cell._params.items() if p is not None]
        inside += self._children(cell, level + 1)
        line = self._line(name, cell, times, until)
        if self.left <= 0:
            inside.append('<div class="leaf dim">…</div>')
        if not inside:
            return f'<div class="leaf">{line}</div>'
        is_open = " open" if level < _OPEN and (level == 0 or cell._cells) else ""
        return f"<details{is_open}><summary>{line}</summary><div>{''.join(inside)}</div></details>"

    def _children(self, cell, level):
        children = [(n, c) for n, c in cell._cells.items() if c is not None]
        drawn, position = [], 0
        while position < len(children):
            name, child = children[position]
            times = 1
            while position + times < len(children) and self._signature(
                children[position + times][1]
            ) == self._signature(child):
                times += 1
            if times < _REPEATS:
                times = 1
            drawn.append(self.draw(name, child, level, times, children[position + times - 1][0]))
            position += times
        return drawn

    def _line(self, name, cell, times, until):
        numbers = sum(p.size for p in cell.get_parameters())
        about = _about(cell)
        named = f'<span class="mono">{escape(name if times == 1 else f"{name} … {until}")}</span> ' if name else ""
        repeated = f" <b>× {times}</b>" if times > 1 else ""
        return (
            f"{named}<b>{escape(type(cell).__name__)}</b>{repeated}"
            + (f' <span class="mono dim">{escape(about)}</span>' if about else "")
            + (f' <span class="num">· {count(numbers)}{" each" if times > 1 else ""}</span>' if numbers else "")
        )

    def _signature(self, cell):
        """Equal for Cells that look the same from here."""
        known = self.signatures.get(id(cell))
        if known is None:
            known = self.signatures[id(cell)] = (
                type(cell),
                _about(cell),
                tuple((n, p.shape, p.dtype, p.requires_grad) for n, p in cell._params.items() if p is not None),
                tuple((n, self._signature(c)) for n, c in cell._cells.items() if c is not None),
            )
        return known


def _about(cell):
    about = _PARAMETERS.sub("", cell.extend_repr() or "").strip(", ")  # they have lines of their own
    return about if len(about) <= 160 else about[:157] + "…"


def _parameter(name, parameter):
    fixed = "" if parameter.requires_grad else " · not trained"
    return (
        f'<div class="leaf"><span class="mono">{escape(name)}</span> '
        f'<span class="mono dim">{parameter.shape} {escape(str(parameter.dtype))}</span>'
        f'<span class="num"> · {count(parameter.size)}{fixed}</span></div>'
    )
