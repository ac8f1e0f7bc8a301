"""Local names that a function may read before it assigns them."""

import ast
from collections.abc import Sequence

from msnb.core.script.bound_names import find_bound_names


def find_early_reads(body: Sequence[ast.stmt]) -> set[str]:
    """Return the names that `body` binds and that a path reads before it has bound them.

    A loop counts as one that runs at least once. Nested functions are not searched, because they read when called.
    """
    names = _rebound(body)
    if not names:
        return names
    visitor = _Reads(names)
    visitor.block(body)
    return visitor.early


def _rebound(body):
    """Return the names that a block rebinds."""
    return {name for name, is_rebound in find_bound_names(body).items() if is_rebound}


class _Reads(ast.NodeVisitor):
    """AST visitor that follows a block in order. `bound` has the names that every path so far has bound."""

    def __init__(self, names):
        self.names = names
        self.bound: set[str] = set()
        self.early: set[str] = set()

    def block(self, nodes):
        for node in nodes:
            self.visit(node)

    def paths(self, *blocks):
        """Follow alternative blocks; afterwards a name is bound if all of them have bound it."""
        before, after = self.bound, None
        for block in blocks:
            self.bound = set(before)
            self.block(block)
            after = self.bound if after is None else after & self.bound
        self.bound = before if after is None else after

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load):
            self.bound.add(node.id)
        elif node.id in self.names and node.id not in self.bound:
            self.early.add(node.id)

    def visit_Assign(self, node):
        self.visit(node.value)
        self.block(node.targets)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)

    def visit_NamedExpr(self, node):
        self.visit(node.value)
        self.visit(node.target)

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Name):
            self.visit(ast.Name(node.target.id, ast.Load()))
        self.visit(node.value)
        self.visit(node.target)

    def visit_If(self, node):
        self.visit(node.test)
        self.paths(node.body, node.orelse)

    def visit_While(self, node):
        self.visit(node.test)
        self._follow_loop(node)

    def visit_For(self, node):
        self.visit(node.iter)
        self.visit(node.target)
        self._follow_loop(node)

    def _follow_loop(self, node):
        before = set(self.bound)
        self.block(node.body)
        self.bound = before | _rebound(node.body)
        self.block(node.orelse)

    def visit_Try(self, node):
        before = set(self.bound)
        self.block([*node.body, *node.orelse])
        after = self.bound
        for handler in node.handlers:
            self.bound = before | ({handler.name} if handler.name else set())
            self.block(handler.body)
            after = after & self.bound
        self.bound = after
        self.block(node.finalbody)

    def visit_Match(self, node):
        self.visit(node.subject)
        before = set(self.bound)
        for case in node.cases:
            captured = {
                n.name for n in ast.walk(case.pattern) if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name
            }
            self.bound = before | captured
            self.block(case.body)
        self.bound = before

    def _leave(self, node):
        self.generic_visit(node)
        self.bound = set(self.names)  # the statements behind are never reached

    visit_Return = visit_Raise = visit_Break = visit_Continue = _leave  # type: ignore[assignment]

    def visit_FunctionDef(self, node):
        self.block(node.decorator_list)
        self.bound.add(node.name)

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node):
        pass

    def visit_Import(self, node):
        self.bound |= set(find_bound_names([node]))

    visit_ImportFrom = visit_Import  # type: ignore[assignment]

    def _visit_comprehension(self, node):
        targets = {n.id for part in node.generators for n in ast.walk(part.target) if isinstance(n, ast.Name)}
        bound, self.bound = self.bound, self.bound | targets
        self.generic_visit(node)
        self.bound = bound

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension  # type: ignore[assignment]
