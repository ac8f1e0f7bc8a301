"""HTML display of a Cell: a collapsible tree of its sub-Cells and their Parameters."""

import re
from typing import Any

from msnb._util.byte_size import format_bytes
from msnb.nn.optim.optimizer import Optimizer
from msnb.notebook.display.html import count, escape, framed

_PARAMETERS = re.compile(r",?\s*\w+=Parameter \((?:[^()]|\([^()]*\))*\)")
# positions where the description of a Cell lacks the separator ", " between two items
_MISSING_SPACE = re.compile(r"(?<=[\w)]),(?=[a-z])|(?<=[a-z\d)])(?=weight_init=)")
_SHARED = ("of its Cells", "that it updates")
_FOLDED = 8  # from this number on, Parameters with a common name prefix are collapsed
_OPEN = 2  # levels that are expanded initially
_MOST = 3000  # maximum number of Cells that are drawn
_REPEATS = 3  # from this number on, equal adjacent Cells are drawn as one line


def net_html(cell: Any) -> str:
    """Return the HTML of a Cell."""
    parameters = list(cell.get_parameters())
    state = _collect_optimizer_state_ids(cell)
    trained = [p for p in parameters if p.requires_grad and id(p) not in state]
    fixed = sum(p.size for p in parameters if not p.requires_grad and id(p) not in state)
    facts = [f"{count(sum(p.size for p in trained))} trainable numbers in {len(trained)} Parameters"]
    if fixed:
        facts.append(f"{count(fixed)} fixed")
    if state:
        facts.append(f"{count(sum(p.size for p in parameters if id(p) in state))} of the optimizer's state")
    facts.append(format_bytes(sum(p.nbytes for p in parameters)))
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
        """Return the HTML of a Cell and its sub-Cells."""
        if self.left <= 0:
            return ""
        self.left -= 1
        own, folded = _format_parameters(cell)
        inside = [*own, *self._draw_children(cell, level + 1), *folded]
        line = self._format_line(name, cell, times, until)
        if self.left <= 0:
            inside.append('<div class="leaf dim">…</div>')
        if not inside:
            return f'<div class="leaf">{line}</div>'
        is_open = " open" if level < _OPEN and (level == 0 or cell._cells) else ""
        return f"<details{is_open}><summary>{line}</summary><div>{''.join(inside)}</div></details>"

    def _draw_children(self, cell, level):
        children = [(n, c) for n, c in cell._cells.items() if c is not None]
        lines, position = [], 0
        while position < len(children):
            name, child = children[position]
            times = 1
            while position + times < len(children) and self._compute_display_key(
                children[position + times][1]
            ) == self._compute_display_key(child):
                times += 1
            if times < _REPEATS:
                times = 1
            lines.append(self.draw(name, child, level, times, children[position + times - 1][0]))
            position += times
        return lines

    def _format_line(self, name, cell, times, until):
        elsewhere = {id(p) for p in cell.parameters} if isinstance(cell, Optimizer) else ()  # the network counts them
        numbers = sum(p.size for p in cell.get_parameters() if id(p) not in elsewhere)
        about = _describe_cell(cell)
        named = f'<span class="mono">{escape(name if times == 1 else f"{name} … {until}")}</span> ' if name else ""
        repeated = f" <b>× {times}</b>" if times > 1 else ""
        return (
            f"{named}<b>{escape(type(cell).__name__)}</b>{repeated}"
            + (f' <span class="mono dim">{escape(about)}</span>' if about else "")
            + (f' <span class="num">· {count(numbers)}{" each" if times > 1 else ""}</span>' if numbers else "")
        )

    def _compute_display_key(self, cell):
        """Return a key that is equal for Cells with the same display."""
        signature = self.signatures.get(id(cell))
        if signature is None:
            signature = self.signatures[id(cell)] = (
                type(cell),
                _describe_cell(cell),
                tuple((n, p.shape, p.dtype, p.requires_grad) for n, p in cell._params.items() if p is not None),
                tuple((n, self._compute_display_key(c)) for n, c in cell._cells.items() if c is not None),
            )
        return signature


def numbers_of(cell: Any) -> int:
    """Return the number of elements in a Cell's Parameters, without the state of optimizers."""
    state = _collect_optimizer_state_ids(cell)
    return sum(p.size for p in cell.get_parameters() if id(p) not in state)


def _collect_optimizer_state_ids(cell):
    """Return ids of Parameters that are state of optimizers: momenta, the learning rate."""
    state = set()
    for _, each in cell.cells_and_names():
        if isinstance(each, Optimizer):
            state |= {id(p) for p in each._params.values() if p is not None} - {id(p) for p in each.parameters}
    return state


def _format_parameters(cell):
    """Return (lines of a Cell's Parameters, collapsed groups).

    A group has the Parameters of sub-Cells, the Parameters that an optimizer updates, or many similar Parameters.
    """
    below = {id(p) for child in cell._cells.values() if child is not None for p in child.get_parameters()}
    updated = {id(p) for p in cell.parameters} if isinstance(cell, Optimizer) else set()
    groups = {}
    for name, parameter in cell._params.items():
        if parameter is not None:
            shared = "of its Cells" if id(parameter) in below else "that it updates" if id(parameter) in updated else ""
            groups.setdefault(shared or name.partition(".")[0], []).append((name, parameter))
    own, folded = [], []
    for title, members in groups.items():
        lines = [_format_parameter(name, parameter) for name, parameter in members]
        if len(lines) < _FOLDED and title not in _SHARED:
            own += lines
            continue
        numbers = f'<span class="num">· {count(sum(p.size for _, p in members))}</span>'
        line = f"{len(lines)} Parameter{'s' * (len(lines) != 1)} {escape(title)} {numbers}"
        folded.append(f"<details><summary>{line}</summary><div>{''.join(lines)}</div></details>")
    return own, folded


def _describe_cell(cell):
    about = _PARAMETERS.sub("", cell.extend_repr() or "").strip(", ")  # Parameters are drawn on other lines
    about = " ".join(_MISSING_SPACE.sub(", ", about).split())
    return about if len(about) <= 160 else about[:157] + "…"


def _format_parameter(name, parameter):
    fixed = "" if parameter.requires_grad else " · not trained"
    return (
        f'<div class="leaf"><span class="mono">{escape(name)}</span> '
        f'<span class="mono dim">{parameter.shape} {escape(str(parameter.dtype))}</span>'
        f'<span class="num"> · {count(parameter.size)}{fixed}</span></div>'
    )
