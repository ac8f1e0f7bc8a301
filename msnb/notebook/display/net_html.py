"""A Cell as a notebook shows it: the tree of its sub-Cells with the Parameters of each, to open and close."""

import re
from typing import Any

from msnb.nn.optim.optimizer import Optimizer
from msnb.notebook.display.html import count, escape, framed, size

_PARAMETERS = re.compile(r",?\s*\w+=Parameter \((?:[^()]|\([^()]*\))*\)")
_STUCK = re.compile(r"(?<=[\w)]),(?=[a-z])|(?<=[a-z\d)])(?=weight_init=)")  # MindSpore's text has no space there
_SHARED = ("of its Cells", "that it updates")
_FOLDED = 8  # Parameters of one kind are one line
_OPEN = 2  # levels that are open at first
_MOST = 3000  # Cells that one display shows
_REPEATS = 3  # equal neighbours that are drawn once


def net_html(cell: Any) -> str:
    """HTML for a Cell."""
    parameters = list(cell.get_parameters())
    state = _state(cell)
    trained = [p for p in parameters if p.requires_grad and id(p) not in state]
    fixed = sum(p.size for p in parameters if not p.requires_grad and id(p) not in state)
    facts = [f"{count(sum(p.size for p in trained))} trainable numbers in {len(trained)} Parameters"]
    if fixed:
        facts.append(f"{count(fixed)} fixed")
    if state:
        facts.append(f"{count(sum(p.size for p in parameters if id(p) in state))} of the optimizer's state")
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
        own, folded = _parameters(cell)
        inside = [*own, *self._children(cell, level + 1), *folded]
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
        elsewhere = {id(p) for p in cell.parameters} if isinstance(cell, Optimizer) else ()  # they count in the network
        numbers = sum(p.size for p in cell.get_parameters() if id(p) not in elsewhere)
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


def numbers_of(cell: Any) -> int:
    """How many numbers a Cell's own Parameters hold, without what optimizers keep for themselves."""
    state = _state(cell)
    return sum(p.size for p in cell.get_parameters() if id(p) not in state)


def _state(cell):
    """Ids of the Parameters that optimizers keep for themselves: momenta, the learning rate."""
    found = set()
    for _, each in cell.cells_and_names():
        if isinstance(each, Optimizer):
            found |= {id(p) for p in each._params.values() if p is not None} - {id(p) for p in each.parameters}
    return found


def _parameters(cell):
    """(lines of a Cell's Parameters, what is folded away: those of its Cells or its network, and many of one kind)."""
    below = {id(p) for child in cell._cells.values() if child is not None for p in child.get_parameters()}
    updated = {id(p) for p in cell.parameters} if isinstance(cell, Optimizer) else set()
    groups = {}
    for name, parameter in cell._params.items():
        if parameter is not None:
            shared = "of its Cells" if id(parameter) in below else "that it updates" if id(parameter) in updated else ""
            groups.setdefault(shared or name.partition(".")[0], []).append((name, parameter))
    own, folded = [], []
    for title, members in groups.items():
        lines = [_parameter(name, parameter) for name, parameter in members]
        if len(lines) < _FOLDED and title not in _SHARED:
            own += lines
            continue
        numbers = f'<span class="num">· {count(sum(p.size for _, p in members))}</span>'
        line = f"{len(lines)} Parameter{'s' * (len(lines) != 1)} {escape(title)} {numbers}"
        folded.append(f"<details><summary>{line}</summary><div>{''.join(lines)}</div></details>")
    return own, folded


def _about(cell):
    about = _PARAMETERS.sub("", cell.extend_repr() or "").strip(", ")  # they have lines of their own
    about = " ".join(_STUCK.sub(", ", about).split())
    return about if len(about) <= 160 else about[:157] + "…"


def _parameter(name, parameter):
    fixed = "" if parameter.requires_grad else " · not trained"
    return (
        f'<div class="leaf"><span class="mono">{escape(name)}</span> '
        f'<span class="mono dim">{parameter.shape} {escape(str(parameter.dtype))}</span>'
        f'<span class="num"> · {count(parameter.size)}{fixed}</span></div>'
    )
