"""Ports: points where edges cross the border of an open scope, so that a line continues to the box that reads the
value.

An edge between two siblings A and B is one line while both are closed. If B is open, the line continues from a port to
B's children that read the value. If A is open, lines lead from the children that compute it to a port. Open scopes
inside A and B have such ports too.
"""

from collections.abc import Collection, Iterable
from typing import Any

from msnb.ir.layout.hierarchy import Hierarchy, shared
from msnb.ir.layout.scopes import FOLD, Scope

_MOST = 8  # ports on one side; a larger number is merged into one
_HIDDEN = 0  # key of a port to repeats that are not drawn; no box has this id()


class Port:
    """A point on the border of an open scope at which edges cross it.

    Attributes:
        keys (set[int]): `id()` of the boxes outside the scope whose edges cross here.
        children (dict[int, int]): maps the `id()` of each connected child to the key of the child's port for the same
            edge.
    """

    __slots__ = ("keys", "children", "nodes", "x")

    def __init__(self) -> None:
        self.keys: set[int] = set()
        self.children: dict[int, int] = {}
        self.nodes: set[int] = set()
        self.x: float = 0.0

    def join(self, other: "Port") -> None:
        """Add the boxes of `other` to this port."""
        self.keys |= other.keys
        self.children = {**other.children, **self.children}


class Ports:
    """The ports of every scope that is drawn open.

    Args:
        tree (Hierarchy): the scopes.
        opened (Collection[int]): indices of the open scopes.
        more (Iterable): further edges, (path to their start, path to their end): arguments and results.
    """

    def __init__(self, tree: Hierarchy, opened: Collection[int], more: Iterable[Any] = ()) -> None:
        self.into: dict[int, dict[int, Port]] = {}
        self.out: dict[int, dict[int, Port]] = {}
        for start, end, depth in tree.crossings:
            self._add_ports_of_edge(start, end, depth, opened)
        for start, end in more:
            depth = shared(start, end)
            if depth > 1:  # no lines are drawn between lanes
                self._add_ports_of_edge(start, end, depth, opened)
        for ports in self.into.values():
            _merge_excess_ports(ports)
        for ports in self.out.values():
            _merge_equal_ports(ports)
            _merge_excess_ports(ports)

    def _add_ports_of_edge(self, start, end, depth, opened):
        first, last, around = start[depth], end[depth], start[depth - 1]
        if around.index not in opened:
            return  # then the scopes inside are closed too

        def drawn(scope, child):
            return scope.index in opened and (scope.kind != FOLD or child is scope.children[0])

        for scope, child in zip(end[depth:], end[depth + 1 :], strict=False):
            if drawn(scope, child):
                _add_port(self.into, scope, id(first), child, id(first), end[-1])
        for scope, child in zip(start[depth:], start[depth + 1 :], strict=False):
            if drawn(scope, child):
                _add_port(self.out, scope, id(last), child, id(last), start[-1])
        if around.kind == FOLD and drawn(around, first):
            _add_port(self.out, around, _HIDDEN, first, id(last), start[-1])

    def of(self, scope: Scope) -> tuple[list[Port], list[Port]]:
        """Return (ports where edges enter the scope, ports where edges leave it)."""
        return list(self.into.get(scope.index, {}).values()), list(self.out.get(scope.index, {}).values())


def find(ports: list[Port], key: int) -> Port | None:
    """Return the port of the edges to the outer box `key`. If that box is in a hidden repeat, its port is shared."""
    matches = [port for port in ports if key in port.keys] or [port for port in ports if _HIDDEN in port.keys]
    return matches[0] if matches else None


def _add_port(table, scope, key, child, inner, node):
    port = table.setdefault(scope.index, {}).setdefault(key, Port())
    port.keys.add(key)
    port.children.setdefault(id(child), inner)
    port.nodes.add(id(node))


def _merge_equal_ports(ports):
    """Merge ports that have the same source nodes."""
    by_sources = {}
    for key, port in list(ports.items()):
        first = by_sources.setdefault(frozenset(port.nodes), port)
        if first is not port:
            first.join(ports.pop(key))


def _merge_excess_ports(ports):
    if len(ports) > _MOST:
        first, *others = list(ports)
        for key in others:
            ports[first].join(ports.pop(key))
