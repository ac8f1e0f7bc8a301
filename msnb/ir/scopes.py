"""The boxes a graph is drawn in."""

from typing import Any

ROOT, LANE, SCOPE, CONTROL, FOLD, UNIT, CROWD, PAGE, LONE = range(9)
LANES = ("forward", "backward", "update")


class Scope:
    """A box that holds others. `children` are Scopes and CNodes in the order of execution.

    `kind` is one of ROOT, LANE (forward, backward, update), SCOPE (a Cell), CONTROL (a branch or loop), FOLD (repeats
    of one block), UNIT (one repeat, where a block is several siblings), CROWD (many independent calls of one operator),
    PAGE (a stretch of a scope that holds too many nodes to be laid out at once) and LONE (a Cell that is a single
    operator, drawn as that operator under the Cell's name).
    """

    __slots__ = ("name", "kind", "parent", "children", "index", "size", "start", "named")

    def __init__(self, name: str, kind: int = SCOPE, parent: "Scope | None" = None) -> None:
        self.name: str = name
        self.kind: int = kind
        self.parent: Scope | None = parent
        self.children: list[Any] = []
        self.index: int = -1
        self.size: int = 0
        self.start: int = 0
        self.named: dict[Any, Any] = {}

    def child(self, name: str, kind: int = SCOPE) -> "Scope":
        """The child scope of that name, made when it is missing."""
        found = self.named.get(name)
        if found is None:
            found = self.named[name] = Scope(name, kind, self)
            self.children.append(found)
        return found

    def leaves(self) -> Any:
        """CNodes below, in the order of the tree."""
        for child in self.children:
            if isinstance(child, Scope):
                yield from child.leaves()
            else:
                yield child

    def scopes(self) -> Any:
        """This scope and all below, parents first."""
        yield self
        for child in self.children:
            if isinstance(child, Scope):
                yield from child.scopes()

    def ancestors(self) -> "list[Scope]":
        """Scopes from the root down to this one."""
        chain, scope = [], self
        while scope is not None:
            chain.append(scope)
            scope = scope.parent
        return chain[::-1]

    def __repr__(self) -> str:
        return f"Scope({'/'.join(scope.name for scope in self.ancestors()[1:])})"
