"""The boxes of a graph drawing."""

from typing import Any

ROOT, LANE, SCOPE, CONTROL, FOLD, UNIT, CROWD, PAGE, LONE = range(9)
LANES = ("forward", "backward", "update")


class Scope:
    """A box of the drawing that contains other boxes. `children` are Scopes and CNodes in the order of execution.

    `kind` is one of ROOT, LANE (forward, backward, update), SCOPE (a Cell), CONTROL (a branch or loop), FOLD (repeats
    of one block), UNIT (one repeat that has several children), CROWD (many independent calls of one operator),
    PAGE (a slice of a scope with too many nodes for one layout) and LONE (a Cell with a single operator, drawn as that
    operator with the Cell's name).
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
        """Return the child scope with this name, and create it if it does not exist."""
        scope = self.named.get(name)
        if scope is None:
            scope = self.named[name] = Scope(name, kind, self)
            self.children.append(scope)
        return scope

    def leaves(self) -> Any:
        """Yield the CNodes in this scope and all scopes below, in the order of the tree."""
        for child in self.children:
            if isinstance(child, Scope):
                yield from child.leaves()
            else:
                yield child

    def scopes(self) -> Any:
        """Yield this scope and all scopes below, parents first."""
        yield self
        for child in self.children:
            if isinstance(child, Scope):
                yield from child.scopes()

    def ancestors(self) -> "list[Scope]":
        """Return the scopes from the root down to this one."""
        chain, scope = [], self
        while scope is not None:
            chain.append(scope)
            scope = scope.parent
        return chain[::-1]

    def __repr__(self) -> str:
        return f"Scope({'/'.join(scope.name for scope in self.ancestors()[1:])})"
