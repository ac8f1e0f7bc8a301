"""Where edges pass the rim of an open scope, so that what comes from outside is drawn on to the box that reads it.

An edge between two siblings A and B is one line while both are closed. Inside B, open, it goes on from a port of A's to
B's children that read it; inside A it comes from those that made it to a port; and so on inwards.
"""

from collections.abc import Collection, Iterable
from typing import Any

from msnb.ir.scopes import FOLD, LONE, Scope

from .hierarchy import Hierarchy, shared

_MOST = 8  # ports on one side; where there were more, one stands for all of them
_HIDDEN = 0  # the key of what goes on to repeats that are not drawn; no box has this id()


class Port:
    """One place on a rim.

    Attributes:
        keys (set[int]): `id()` of the boxes outside that it stands for.
        children (dict[int, int]): the `id()` of each child that it leads to or comes from, and the key of the port
            that the child has for the same edge.
    """

    __slots__ = ("keys", "children", "nodes", "x")

    def __init__(self) -> None:
        self.keys: set[int] = set()
        self.children: dict[int, int] = {}
        self.nodes: set[int] = set()
        self.x: float = 0.0

    def join(self, other: "Port") -> None:
        """Stand for what `other` stands for, too."""
        self.keys |= other.keys
        self.children = {**other.children, **self.children}


class Ports:
    """The ports of every scope that is drawn open.

    Args:
        tree (Hierarchy): the scopes.
        opened (Collection[int]): index of those that are open.
        more (Iterable): further edges, (way down to their beginning, way down to their end): arguments and results.
    """

    def __init__(self, tree: Hierarchy, opened: Collection[int], more: Iterable[Any] = ()) -> None:
        self.into: dict[int, dict[int, Port]] = {}
        self.out: dict[int, dict[int, Port]] = {}
        ways = {}
        for source, target in tree.edges:
            home = tree.home[source]
            if home is tree.home[target] and home.kind not in (FOLD, LONE):
                continue  # no rim lies between the two
            for number in (source, target):
                if number not in ways:
                    ways[number] = tree.way(tree.nodes[number])
            self._pass(ways[source], ways[target], opened)
        for start, end in more:
            self._pass(start, end, opened)
        for ports in self.into.values():
            _few(ports)
        for ports in self.out.values():
            _alike(ports)
            _few(ports)

    def _pass(self, start, end, opened):
        depth = shared(start, end)
        if depth < 2:
            return  # two lanes, between which nothing is drawn
        first, last, around = start[depth], end[depth], start[depth - 1]

        def drawn(scope, child):
            return scope.index in opened and (scope.kind != FOLD or child is scope.children[0])

        for scope, child in zip(end[depth:], end[depth + 1 :], strict=False):
            if drawn(scope, child):
                _note(self.into, scope, id(first), child, id(first), end[-1])
        for scope, child in zip(start[depth:], start[depth + 1 :], strict=False):
            if drawn(scope, child):
                _note(self.out, scope, id(last), child, id(last), start[-1])
        if around.kind == FOLD and drawn(around, first):
            _note(self.out, around, _HIDDEN, first, id(last), start[-1])

    def of(self, scope: Scope) -> tuple[list[Port], list[Port]]:
        """The ports above and those below, as data flows."""
        return list(self.into.get(scope.index, {}).values()), list(self.out.get(scope.index, {}).values())


def find(ports: list[Port], key: int) -> Port | None:
    """The port that stands for a box outside; where the box belongs to another repeat, that of the hidden ones."""
    found = [port for port in ports if key in port.keys] or [port for port in ports if _HIDDEN in port.keys]
    return found[0] if found else None


def _note(table, scope, key, child, inner, node):
    port = table.setdefault(scope.index, {}).setdefault(key, Port())
    port.keys.add(key)
    port.children.setdefault(id(child), inner)
    port.nodes.add(id(node))


def _alike(ports):
    """What goes to several places is one port where the same nodes made it."""
    made = {}
    for key, port in list(ports.items()):
        known = made.setdefault(frozenset(port.nodes), port)
        if known is not port:
            known.join(ports.pop(key))


def _few(ports):
    if len(ports) > _MOST:
        first, *others = list(ports)
        for key in others:
            ports[first].join(ports.pop(key))
