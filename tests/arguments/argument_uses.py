"""Follow a function's parameters through assignments, attributes and calls of msnb's own functions.

A parameter ACTS if its value reaches something: a result, a call that is not msnb's, an attribute that other code
reads, a branch that does something. A check, an unused copy or an attribute that no code reads is no use of it.
It is SAID if the log names it, or every value but one is refused. A parameter that is neither is silent.
"""

import ast
import builtins
import inspect
import re
import sys
import types
from functools import cache
from pathlib import Path

from trees import tree_of

import msnb
from msnb import log
from msnb.common.kinds import kind_of
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.operator.primitive import DeclaredPrimitive

ROOT = Path(msnb.__file__).parent
SAMPLES = Path(__file__).with_name("argument_samples.py")  # what the walk is tested with
ACTS, RETURNED, SAID, TOLD, TESTED = "acts", "returned", "said", "told", "tested"
NOTHING, ALL = frozenset(), frozenset((ACTS, RETURNED))
PROBES = (None, True, False, 0, 1, 2, 0.5, "x", (), (1, 1))


def nodes(tree):
    """Yield all nodes of a tree, as `ast.walk` gives them, in half its time."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        for value in node.__dict__.values():
            if value.__class__ is list:
                todo += [v for v in value if isinstance(v, ast.AST)]
            elif isinstance(value, ast.AST):
                todo.append(value)


@cache
def survey(path):
    """Return ({line: definition}, names of the attributes that are read) of a file; a line is that of the first
    decorator."""
    defined, read = {}, set()
    for node in nodes(tree_of(path)):
        kind = type(node)
        if kind is ast.Attribute:
            if type(node.ctx) is ast.Load:
                read.add(node.attr)
        elif kind is ast.Constant:
            if type(node.value) is str and node.value.isidentifier():
                read.add(node.value)  # getattr(x, "name")
        elif kind is ast.FunctionDef or kind is ast.AsyncFunctionDef:
            defined[min([node.lineno, *(d.lineno for d in node.decorator_list)])] = node
    return defined, read


@cache
def attributes_read():
    """Return the names of all attributes that some line of msnb reads."""
    return frozenset().union(*(survey(str(path))[1] for path in (*ROOT.rglob("*.py"), SAMPLES)))


def definition(function):
    """Definition of a function of msnb, None of any other."""
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    if code is None or not code.co_filename.startswith((str(ROOT), str(SAMPLES))):
        return None
    return survey(code.co_filename)[0].get(code.co_firstlineno)


def place(function):
    """File and line, as an error names them."""
    node = definition(function)
    return f"{Path(inspect.unwrap(function).__code__.co_filename).relative_to(ROOT.parent)}:{node.lineno}"


def parameters(node):
    """Return the names of the parameters that take one value each."""
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]


_known = {}


def fates(function):
    """Return {parameter: its fate} for a function of msnb, or None if no fate is known."""
    function = inspect.unwrap(function)
    node = definition(function)
    if node is None:
        return None
    key = function.__code__
    if key not in _known:
        _known[key] = None  # while it calls itself
        result = _Body(function, node).fates()
        for other, when in variants().get(key, ()):
            for name in result:
                result[name] = result[name] | fates(other.fn).get(name, set())
                result[name] |= {ACTS} if name in when.__code__.co_consts else set()
        for name in said_by_kinds(function) & result.keys():
            result[name].add(SAID)
        _known[key] = result
    return _known[key]


@cache
def variants():
    """Return {code of an operator's function: [(operator, when)] that takes its place for some attributes}."""
    return {inspect.unwrap(op.fn).__code__: [op.variant] for op in REGISTRY.values() if getattr(op, "variant", None)}


def said_by_kinds(function):
    """Return the names of the parameters whose Kind says that they have no effect, or accepts the default alone."""
    if not getattr(function, "__annotations__", None):
        return set()
    declared = {
        p.name: (kind_of(p.annotation), p.default)
        for p in inspect.signature(function).parameters.values()  # a type in quotes is no Kind
    }
    return {
        n
        for n, (kind, default) in declared.items()
        if hasattr(kind, "otherwise") or getattr(kind, "expects", 0) == repr(default)
    }


def silent(fate):
    """Check that a parameter neither acts nor is said. A parameter that is only in an error names its caller."""
    return not (fate & {ACTS, RETURNED, SAID} or fate == {TOLD})


def operator_fate(op, attribute):
    """Return the fate of an attribute in an operator's function, or in the other one that some attributes choose."""
    return set(fates(op.fn).get(attribute, ())) if definition(op.fn) is not None else {ACTS}


def is_declared(kind, default):
    """Check that an operator's declaration says that an attribute has no effect, or accepts its default alone."""

    def other(value):
        try:
            return kind.accept(value) != default
        except (TypeError, ValueError, KeyError):
            return False

    choices = re.findall(r"'(.*?)'", kind.expects)
    return hasattr(kind, "otherwise") or not any(map(other, (*PROBES, *choices)))


class _Body:
    """One function: which flags each of its names gets."""

    def __init__(self, function, node):
        self.node = node
        self.module = sys.modules[function.__module__].__dict__
        if function.__globals__.get("__name__") in sys.modules:
            self.module = function.__globals__
        self.owner = self._owner(function)
        self.names = parameters(node)
        self.flags = {name: set() for name in self.names}
        self.local = {n.id for n in nodes(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.shared = {n for s in nodes(node) if isinstance(s, ast.Global | ast.Nonlocal) for n in s.names}
        self.tests = []
        self.depth = 0

    def _owner(self, function):
        *path, _ = function.__qualname__.split(".")
        thing = self.module.get(path[0]) if path else None
        for name in path[1:]:
            thing = getattr(thing, name, None)
        return thing if path and isinstance(thing, type) else None

    def fates(self):
        before = None
        while before != self.flags:
            before = {name: set(flags) for name, flags in self.flags.items()}
            self.block(self.node.body)
        return {name: self.flags[name] for name in self.names}

    # ------------------------------------------------------------------ statements
    def block(self, body):
        """Flags of what the statements do."""
        return frozenset().union(*(self.statement(s) for s in body))

    def statement(self, node):
        match node:
            case ast.Return(value=value):
                self.load(value, {RETURNED} if not self.depth else ALL)
                constant = value is None or isinstance(value, ast.Constant) and value.value is None
                return NOTHING if constant and not self.depth and not self.tests else frozenset((RETURNED,))
            case ast.Expr(value=value):
                return self.load(value, NOTHING)
            case ast.Assign(targets=targets, value=value):
                return frozenset().union(*(self.store(t, value) for t in targets))
            case ast.AnnAssign(target=target, value=value) | ast.AugAssign(target=target, value=value):
                return self.store(target, value) if value is not None else NOTHING
            case ast.If(test=test, body=body, orelse=orelse):
                return self.branch(test, body, orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                self.load(test, ALL)
                return self.block(body + orelse)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                done = self.block(body + orelse)
                self.load(iterable, done | self.of(target))
                return done
            case ast.With(items=items, body=body):
                for item in items:
                    self.load(item.context_expr, ALL)
                return self.block(body) | {ACTS}
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
                return self.block(body + [s for h in handlers for s in h.body] + orelse + last)
            case ast.Match(subject=subject, cases=cases):
                done = frozenset().union(*(self.block(c.body) for c in cases))
                self.load(subject, done)
                return done
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.inner(node)
                return NOTHING
            case ast.Raise(exc=error) if error is not None:
                for name in self.loads(error) & self.flags.keys():
                    self.flags[name].add(TOLD)
            case ast.Break() | ast.Continue():
                return frozenset((ACTS,))
        return NOTHING  # assert, del, pass, import, global

    def inner(self, node):
        self.depth += 1
        for default in (*node.args.defaults, *node.args.kw_defaults):
            self.load(default, ALL)
        if isinstance(node, ast.Lambda):
            self.load(node.body, ALL)
        else:
            self.block(node.body)
        self.depth -= 1

    def branch(self, test, body, orelse):
        named = self.loads(test)
        self.tests.append(named)
        done = self.block(body + orelse)
        self.tests.pop()
        self.load(test, done)
        if not orelse and isinstance(body[-1], ast.Raise) and not done:
            for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else (test,):
                self.judge(part, body[-1])
        return done

    def judge(self, test, error):
        """A test that only raises: comparing with something else is a use, refusing all values but one is said."""
        named = self.loads(test) & set(self.flags)
        others = any(isinstance(n, ast.Attribute | ast.Subscript) for n in nodes(test)) or len(named) > 1
        kind = any(
            isinstance(n, ast.Call)
            and isinstance(n.func, ast.Name)
            and isinstance([*n.args, None][0], ast.Name)
            and n.func.id in ("isinstance", "issubclass", "callable", "type", "hasattr")
            for n in nodes(test)
        )
        ranges = any(
            isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE | ast.In | ast.NotIn)
            for n in nodes(test)
            if isinstance(n, ast.Compare)
            for op in n.ops
        )
        absent = error.exc is not None and "NotImplementedError" in ast.unparse(error.exc)
        for name in named:
            self.flags[name].add(TESTED)
            if absent or not kind and not ranges and not others:
                self.flags[name].add(SAID)
            elif others and not kind:
                self.flags[name].add(ACTS)

    # ------------------------------------------------------------------ where values go
    def of(self, target):
        """Flags of what is stored into `target`."""
        match target:
            case ast.Name(id=name):
                return frozenset(self.flags.get(name, ())) | (ALL if name in self.shared else NOTHING)
            case ast.Attribute(attr=name):
                return frozenset((ACTS,)) if name in attributes_read() else NOTHING
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return frozenset().union(*map(self.of, parts))
            case ast.Starred(value=value):
                return self.of(value)
        return frozenset((ACTS,))  # an item

    def store(self, target, value):
        if isinstance(target, ast.Name):
            self.flags.setdefault(target.id, set())
        elif isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
                return frozenset().union(*(self.store(t, v) for t, v in zip(target.elts, value.elts, strict=True)))
            for part in nodes(target):
                if isinstance(part, ast.Name):
                    self.flags.setdefault(part.id, set())
        flags = self.of(target)
        if isinstance(target, ast.Subscript):
            self.load(target.slice, ALL)
            self.load(target.value, ALL)
        return self.load(value, flags) | flags

    def loads(self, node):
        return {n.id for n in nodes(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}

    def load(self, node, flags):
        """Give `flags` to the names whose values an expression hands on; return what evaluating it does."""
        match node:
            case None | ast.Constant():
                return NOTHING
            case ast.Name(id=name):
                if name in self.flags:
                    self.flags[name] |= flags
                return NOTHING
            case ast.Call():
                return self.call(node, flags)
            case ast.Lambda():
                self.inner(node)
                return NOTHING
            case ast.Yield(value=value) | ast.YieldFrom(value=value) | ast.Await(value=value):
                self.load(value, ALL)
                return ALL
            case ast.NamedExpr(target=target, value=value):
                self.flags.setdefault(target.id, set())
                return self.load(value, flags | self.of(target))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for part in nodes(node):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        self.flags.setdefault(part.id, set())
        return frozenset().union(
            *(
                self.load(child, flags | (self.of(node.target) if isinstance(node, ast.comprehension) else NOTHING))
                for child in ast.iter_child_nodes(node)
                if not isinstance(child, ast.expr_context)
            )
        )

    # ------------------------------------------------------------------ calls
    def call(self, node, flags):
        callee, bound = self.resolve(node.func)
        values = [*node.args, *(k.value for k in node.keywords)]
        if getattr(callee, "__module__", None) == log.__name__:
            named = frozenset().union(*map(self.loads, values)) | frozenset().union(*self.tests)
            said = {n for n in named if n in self.names} or (set(self.names) if not self.tests else set())
            for name in said:
                self.flags[name].add(SAID)
            return NOTHING
        known = self.known(callee, bound)
        if known is None:
            pure = (
                isinstance(callee, types.BuiltinFunctionType | type)
                and getattr(callee, "__module__", "") == "builtins"
                and callee not in (setattr, exec, eval, print)
            )
            for value in values:
                self.load(value, flags if pure else ALL)
            self.load(node.func.value if isinstance(node.func, ast.Attribute) else node.func, ALL)
            return NOTHING if pure else frozenset((ACTS,))
        names, fate, declared = known
        done = NOTHING
        positional = iter(names)
        for value in node.args:
            name = None if isinstance(value, ast.Starred) else next(positional, None)
            done |= self.hand(value, fate.get(name), flags)
            if isinstance(value, ast.Starred):
                positional = iter(())
        for keyword in node.keywords:
            done |= self.hand(keyword.value, fate.get(keyword.arg), flags)
        if isinstance(node.func, ast.Attribute) and not declared:
            self.load(node.func.value, ALL)
        return done

    def hand(self, value, fate, flags):
        """Load an argument whose parameter has `fate` (None: nobody knows) in a call whose result gets `flags`."""
        if fate is None:
            self.load(value, ALL)
            return frozenset((ACTS,))
        into = {f for f in fate if f != RETURNED} | (flags if RETURNED in fate else NOTHING)
        self.load(value, into)
        return frozenset((ACTS,)) if ACTS in fate else NOTHING

    def known(self, callee, bound):
        """(names of parameters in order, {name: fate}, whether it is an operator) of a callee, or None."""
        if isinstance(callee, type):
            if issubclass(callee, DeclaredPrimitive) and callee.operator is not None:
                kinds = callee.operator.attributes
                fate = {name: {SAID} if is_declared(*kind) else {ACTS} for name, kind in kinds.items()}
                return list(kinds), fate, True
            callee, bound = inspect.getattr_static(callee, "__init__", None), True
        if isinstance(callee, staticmethod | classmethod):
            callee, bound = callee.__func__, isinstance(callee, classmethod)
        if not isinstance(callee, types.FunctionType):
            return None
        inner = inspect.unwrap(callee)
        result = fates(inner)
        if result is None:
            return None
        node = definition(inner)
        if always_raises(node) or does_nothing(node):
            return None
        return parameters(node)[bound:], result, False

    def resolve(self, node):
        """Return (what a call's function is, whether its first parameter is bound); (None, False) if only a run
        knows."""
        match node:
            case ast.Name(id=name) if name not in self.local and name not in self.flags:
                result = self.module.get(name, getattr(builtins, name, None))
                return result, False
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if self.owner is not None:
                result = inspect.getattr_static(self.owner, name, None)
                return (result, not isinstance(result, staticmethod | type)) if result is not None else (None, False)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name) if self.owner is not None:
                for base in self.owner.__mro__[1:]:
                    if name in vars(base):
                        return vars(base)[name], True
            case ast.Attribute(value=value, attr=name):
                base, _ = self.resolve(value)
                if isinstance(base, types.ModuleType | type):
                    return inspect.getattr_static(base, name, None), False
        return None, False


def always_raises(node):
    """Check that a body ends in a raise and never returns, as for a feature that msnb does not have."""
    last = node.body[-1]
    refuses = isinstance(last, ast.Raise) or isinstance(last, ast.Expr) and "refuse" in ast.unparse(last)
    return refuses and not any(isinstance(n, ast.Return | ast.Yield) for n in nodes(node))


def is_exempt(node):
    """Check that the parameters of a function need no fate: a check, a hook, or a missing feature."""
    return node.name.lstrip("_").startswith("check") or always_raises(node) or does_nothing(node)


def does_nothing(node):
    """Check that a function is a hook for users: no statement, or one that returns a constant."""
    body = [
        s
        for s in node.body
        if not (isinstance(s, ast.Pass) or isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]
    return (
        not body
        or len(body) == 1
        and isinstance(body[0], ast.Return)
        and (body[0].value is None or isinstance(body[0].value, ast.Constant))
    )
