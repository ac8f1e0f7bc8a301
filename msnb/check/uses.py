"""Finds the names of MindSpore that a program uses, their lines and arguments, from its syntax tree."""

import ast
import contextlib
import sys
from collections.abc import Iterator
from typing import NamedTuple

ROOT = "mindspore"
_CAUGHT = {"ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException"}
_RECURSION_LIMIT = 20_000  # calls of Python; Python's parser allows less than half as many levels
_FEATURE_TESTS = frozenset(("__version__", "hasattr", "find_spec"))


class Use(NamedTuple):
    """One use of a name.

    Attributes:
        name (str): MindSpore's name, ``"mindspore.nn.Dense"``; a method of the result of calling a class is
            ``"mindspore.Model().train"``.
        line (int): The line, from 1.
        guarded (bool): Whether the program handles the absence of the name.
        called (bool): Whether the name is called. Then `positional_count` and `keywords` describe the call.
        positional_count (Union[int, None]): Number of positional arguments; None if a ``*`` argument hides it.
        keywords (tuple[str]): Names of keyword arguments.
        at_import (bool): Whether the use runs when the module is imported: it is outside of functions.
    """

    name: str
    line: int
    guarded: bool
    called: bool = False
    positional_count: int | None = 0
    keywords: tuple[str, ...] = ()
    at_import: bool = False


def uses(tree: ast.Module) -> list[Use]:
    """Return the uses in a module, in the order of its lines."""
    with _allow_deep_recursion():
        reader = _Reader(_find_feature_test_names(tree))
        reader.scope = _Scope(tree, None)
        for statement in tree.body:
            reader.visit(statement)
    return sorted(set(reader.uses), key=lambda use: (use.line, use.name))


@contextlib.contextmanager
def _allow_deep_recursion():
    """Context manager that raises Python's recursion limit. The parser accepts trees that are deeper than the default
    limit, such as a sum of a thousand terms.
    """
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


class _Scope:
    """Maps each name of a function, class or module to a path in MindSpore, or to None if it means another object."""

    def __init__(self, node, parent):
        self.parent, self.is_class = parent, isinstance(node, ast.ClassDef)
        self.names = {}
        self.calls = {}  # name -> the call that produces it, if that is its only binding
        counts = {}
        for name, meaning, call in _iterate_bindings(node):
            counts[name] = counts.get(name, 0) + 1
            earlier = self.names.get(name, meaning)
            self.names[name] = meaning if earlier == meaning else None
            self.calls[name] = call
        self.calls = {name: call for name, call in self.calls.items() if call is not None and counts[name] == 1}

    def path(self, name):
        """Return the path of a name, or None if it is not a name of MindSpore."""
        scope = self._find_scope(name)
        return scope.names[name] if scope is not None else None

    def call(self, name):
        """Return the call that produces the value of a name, or None if it is uncertain."""
        scope = self._find_scope(name)
        return scope.calls.get(name) if scope is not None else None

    def _find_scope(self, name):
        scope, first = self, True
        while scope is not None:
            if name in scope.names and (first or not scope.is_class):
                return scope
            scope, first = scope.parent, False
        return None


def _iterate_bindings(node) -> Iterator[tuple[str, str | None, ast.Call | None]]:
    """Yield (name, path in MindSpore or None, call that produces it or None) for each binding of a name."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        a = node.args
        for arg in [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]:
            yield arg.arg, None, None
    body = node.body if isinstance(node.body, list) else [node.body]
    waiting = [*body]
    while waiting:
        inner = waiting.pop(0)
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield inner.name, None, None
            continue  # its body is a separate scope
        if isinstance(inner, ast.Lambda):
            continue
        if isinstance(inner, ast.Import):
            for alias in inner.names:
                top = alias.name.partition(".")[0]
                yield alias.asname or top, _get_path_if_mindspore(alias.name if alias.asname else top), None
        elif isinstance(inner, ast.ImportFrom):
            base = None if inner.level else _get_path_if_mindspore(inner.module or "")
            for alias in inner.names:
                yield alias.asname or alias.name, base and f"{base}.{alias.name}", None
        elif isinstance(inner, ast.Assign) and len(inner.targets) == 1 and isinstance(inner.targets[0], ast.Name):
            yield inner.targets[0].id, None, inner.value if isinstance(inner.value, ast.Call) else None
            waiting.append(inner.value)
            continue
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, (ast.Store, ast.Del)):
            yield inner.id, None, None
        elif isinstance(inner, ast.ExceptHandler) and inner.name:
            yield inner.name, None, None
        elif isinstance(inner, (ast.Global, ast.Nonlocal)):
            for name in inner.names:
                yield name, None, None
        waiting.extend(ast.iter_child_nodes(inner))


def _get_path_if_mindspore(path):
    return path if path == ROOT or path.startswith(ROOT + ".") else None


class _Reader(ast.NodeVisitor):
    """Walks a module and records the names that it uses.

    Args:
        asking (Set[str]): Names that test for features. A use under a condition with such a name is guarded.
    """

    def __init__(self, asking):
        self.uses, self.scope, self.guards, self.asking = [], None, 0, asking
        self.depth = 0  # of functions around the node

    # Scopes.
    def visit_FunctionDef(self, node):
        for outer in [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(outer)
        for arg in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            if arg.annotation is not None:
                self.visit(arg.annotation)
        if node.returns is not None:
            self.visit(node.returns)
        self._visit_function_body(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        for outer in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(outer)
        self._visit_function_body(node, [node.body])

    def visit_ClassDef(self, node):
        for outer in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(outer)
        self._visit_in_new_scope(node, node.body)

    def _visit_function_body(self, node, body):
        self.depth += 1
        self._visit_in_new_scope(node, body)
        self.depth -= 1

    def _visit_in_new_scope(self, node, body):
        self.scope = _Scope(node, self.scope)
        for inner in body:
            self.visit(inner)
        self.scope = self.scope.parent

    # Guards.
    def visit_Try(self, node):
        prepared = any(catches_missing_name(handler) for handler in node.handlers)
        self.guards += prepared
        for inner in node.body:
            self.visit(inner)
        self.guards -= prepared
        for handler in node.handlers:  # a handler may use an alternative name, which may be absent as well
            self.guards += prepared
            self.visit(handler)
            self.guards -= prepared
        for inner in [*node.orelse, *node.finalbody]:
            self.visit(inner)

    visit_TryStar = visit_Try

    def visit_If(self, node):
        asks = not collect_names(node.test).isdisjoint(self.asking | {"version"})
        self.guards += asks
        self.generic_visit(node)
        self.guards -= asks

    visit_IfExp = visit_If

    def visit_BoolOp(self, node):
        guard_count = 0
        for value in node.values:  # an operand that tests a feature guards the operands after it
            self.visit(value)
            asks = not collect_names(value).isdisjoint(self.asking)
            self.guards += asks
            guard_count += asks
        self.guards -= guard_count

    # Names.
    def visit_Import(self, node):
        for alias in node.names:
            if _get_path_if_mindspore(alias.name):
                self._add_use(alias.name, node)

    def visit_ImportFrom(self, node):
        base = None if node.level else _get_path_if_mindspore(node.module or "")
        for alias in node.names if base else ():
            self._add_use(base if alias.name == "*" else f"{base}.{alias.name}", node)

    def visit_Call(self, node):
        name = self._resolve_mindspore_path(node.func)
        if name is None or "()" in name:
            self.visit(node.func)
        if name is not None:
            starred = any(isinstance(arg, ast.Starred) for arg in node.args)
            keywords = tuple(k.arg for k in node.keywords if k.arg is not None)
            self._add_use(name, node, True, None if starred else len(node.args), keywords)
        for inner in [*node.args, *node.keywords]:
            self.visit(inner)

    def visit_Attribute(self, node):
        name = self._resolve_mindspore_path(node)
        if name is not None and isinstance(node.ctx, ast.Load) and "()" not in name:
            self._add_use(name, node)
        elif name is None or "()" in name:
            self.visit(node.value)

    def visit_Name(self, node):
        name = self.scope.path(node.id)
        if name is not None and isinstance(node.ctx, ast.Load):
            self._add_use(name, node)

    def _add_use(self, name, node, *how):
        self.uses.append(Use(name, node.lineno, self.guards > 0, *how)._replace(at_import=not self.depth))

    def _resolve_mindspore_path(self, node):
        """Return the path in MindSpore of an expression, or None."""
        attributes = []
        while isinstance(node, ast.Attribute):
            attributes.insert(0, node.attr)
            node = node.value
        call = node if isinstance(node, ast.Call) else None
        base = None
        if isinstance(node, ast.Name):
            base = self.scope.path(node.id)
            call = self.scope.call(node.id) if base is None else None
        if call is not None and len(attributes) == 1:
            call_path = self._resolve_mindspore_path(call.func)
            base = f"{call_path}()" if call_path is not None and "()" not in call_path else None
        return ".".join([base, *attributes]) if base is not None else None


def collect_names(node: ast.AST) -> set[str | None]:
    """Return the names and attributes in an expression."""
    return {getattr(inner, "id", getattr(inner, "attr", None)) for inner in ast.walk(node)}


def _find_feature_test_names(tree):
    """Return names that test for features: `hasattr`, and variables like `has_jit = hasattr(ms, "jit")`."""
    answers = []
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        returned = [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None]
        answers += [(function.name, collect_names(value)) for value in returned]
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            answers.append((node.targets[0].id, collect_names(node.value)))
    names = _FEATURE_TESTS
    while more := {name for name, words in answers if name not in names and words & names}:
        names |= more
    return names


def catches_missing_name(handler: ast.ExceptHandler) -> bool:
    """Return True if an exception handler handles the error of a missing name or module."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(getattr(kind, "id", getattr(kind, "attr", None)) in _CAUGHT for kind in kinds)
