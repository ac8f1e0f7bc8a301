"""Names that a block of statements binds, and constructors for AST nodes."""

import ast
from collections.abc import Sequence
from typing import Any

_MUTATORS = frozenset(("append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "reverse"))


class _BoundNames(ast.NodeVisitor):
    """AST visitor that collects names bound in a block, in order. Nested functions, lambdas and comprehensions are
    separate scopes.
    """

    def __init__(self):
        self.names = {}

    def visit_Name(self, node):
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.names[node.id] = True

    def visit_FunctionDef(self, node):
        self.names[node.name] = True

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node):
        pass

    def _visit_comprehension(self, node):
        for inner in ast.walk(node):  # a walrus binds outside the comprehension
            if isinstance(inner, ast.NamedExpr):
                self.names[inner.target.id] = True

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension  # type: ignore[assignment]

    def visit_Import(self, node):
        for alias in node.names:
            self.names[(alias.asname or alias.name).split(".")[0]] = True

    visit_ImportFrom = visit_Import  # type: ignore[assignment]

    def visit_ExceptHandler(self, node):
        if node.name:
            self.names[node.name] = True
        self.generic_visit(node)

    def visit_Subscript(self, node):
        if isinstance(node.ctx, ast.Store):
            self._add_mutated_name(node.value)
        self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATORS:
            self._add_mutated_name(node.func.value)
        self.generic_visit(node)

    def _add_mutated_name(self, node):
        """Add `x` of ``x[i] = v`` or ``x.append(v)``: it is mutated, so a branch has to work on a copy."""
        while isinstance(node, ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name):
            self.names.setdefault(node.id, False)


def find_bound_names(nodes: Sequence[ast.AST]) -> dict[str, Any]:
    """Return {name: True if it is rebound, False if it is only mutated} of the names that `nodes` change."""
    visitor = _BoundNames()
    for node in nodes:
        visitor.visit(node)
    return visitor.names


class _ContainsVisitor(ast.NodeVisitor):
    def __init__(self, kinds, into_loops):
        self.kinds, self.into_loops, self.has_match = kinds, into_loops, False

    def generic_visit(self, node):
        if isinstance(node, self.kinds):
            self.has_match = True
        elif not self.has_match:
            super().generic_visit(node)

    def visit_FunctionDef(self, node):
        pass

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef  # type: ignore[assignment]

    def visit_For(self, node):
        if self.into_loops:
            self.generic_visit(node)
        else:
            for child in node.orelse:
                self.visit(child)

    visit_While = visit_For  # type: ignore[assignment]


def contains(nodes: Sequence[ast.AST], *kinds: type, into_loops: bool = True) -> bool:
    """Return True if the block has a node of one of `kinds` outside nested functions.

    Without `into_loops`, the bodies of `for` and `while` are not searched.
    """
    visitor = _ContainsVisitor(kinds, into_loops)
    for node in nodes:
        visitor.visit(node)
    return visitor.has_match


def always_leaves(block: Sequence[ast.stmt]) -> bool:
    """Return True if every path through the block returns or raises."""
    for node in block:
        if isinstance(node, (ast.Return, ast.Raise)):
            return True
        if isinstance(node, ast.If) and node.orelse and always_leaves(node.body) and always_leaves(node.orelse):
            return True
        if isinstance(node, ast.With) and always_leaves(node.body):
            return True
    return False


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([store(name)], value)


def arguments(*names: str) -> ast.arguments:
    return ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])


_LOCATED = (ast.expr, ast.stmt, ast.excepthandler, ast.arg, ast.keyword)


def at_location(place: ast.AST, node: Any) -> Any:
    """Copy the source position of `place` to `node` and to descendants that have none."""
    stack = [node] if isinstance(node, ast.AST) else list(node)
    while stack:
        inner = stack.pop()
        if isinstance(inner, _LOCATED):
            if hasattr(inner, "lineno"):
                continue
            ast.copy_location(inner, place)
        stack += ast.iter_child_nodes(inner)
    return node


def copy_tree(node: Any) -> Any:
    """Return a copy of an AST, much faster than `copy.deepcopy`, without attributes that other tools have set on its
    nodes.
    """
    if isinstance(node, list):
        return [copy_tree(item) if isinstance(item, ast.AST) else item for item in node]
    if not node._fields:  # nodes such as Load and Add are singletons
        return node
    kind: Any = type(node)
    copied_node = kind.__new__(kind)
    for name in (*node._fields, *node._attributes):
        if hasattr(node, name):
            value = getattr(node, name)
            setattr(copied_node, name, copy_tree(value) if isinstance(value, (ast.AST, list)) else value)
    return copied_node
