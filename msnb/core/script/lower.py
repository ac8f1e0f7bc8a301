"""Second pass: control flow becomes calls of `script.runtime`, with closures over the function's own variables.

`if`, `while` and `for` become `rt.if_`, `rt.while_` and `rt.for_`. Each block becomes a nested function. Two more
functions read and write the variables that the blocks bind. The code keeps the user's file name and line numbers, so
tracebacks, pdb and source links of the graph need no mapping.
"""

import ast
from collections.abc import Sequence
from typing import Any

from msnb.core.script.bound_names import arguments, assign, at_location, copy_tree, find_bound_names, load
from msnb.core.script.early_reads import find_early_reads
from msnb.core.script.jump_flags import MISSING_RETURN, Jumps

RUNTIME = "__msnb_rt"


class Lowering(ast.NodeTransformer):
    """AST transformer that rewrites one function definition.

    Args:
        filename (str): File of the source.
        self_name (str): First parameter of the enclosing method, for `super()`.
        depth (str): Suffix that keeps the names of nested functions distinct.
        outer_variables (frozenset): Variables of enclosing functions that are rewritten as well.
    """

    def __init__(
        self,
        filename: str,
        self_name: str | None = None,
        depth: str = "",
        outer_variables: frozenset[str] = frozenset(),
    ) -> None:
        self.filename = filename
        self.self_name = self_name
        self.depth = depth
        self.outer_variables: frozenset[str] = outer_variables
        self.foreign: frozenset[str] = frozenset()  # names from outside, such as globals; they are never rebound
        self.owner: str = "function"
        self.count: int = 0
        self.children: int = 0
        self.closed: dict[Any, Any] = {}  # names that blocks write through `nonlocal`

    def fresh(self, prefix: str) -> str:
        """Return a new name that does not collide with names of the user."""
        self.count += 1
        return f"__{prefix}{self.depth}_{self.count}"

    # ------------------------------------------------------------------ functions
    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite `node` in place."""
        own_nodes = _list_own_nodes(node)
        self.reject(own_nodes)
        args = node.args
        params = [a.arg for a in args.posonlyargs + args.args + args.kwonlyargs]
        params += [a.arg for a in (args.vararg, args.kwarg) if a]
        if self.self_name is None and params:
            self.self_name = params[0]
        kind = "bound method" if params[:1] == ["self"] else "function"
        self.owner = f"{kind} '{node.name}'"
        nonlocal_names = {n for inner in own_nodes if isinstance(inner, ast.Nonlocal) for n in inner.names}
        names = find_bound_names(node.body)
        own_names = {n for n, rebound in names.items() if rebound}.union(params) - nonlocal_names
        # from ``y[i] = v``, where `y` belongs to an enclosing function
        mutated_names = {n for n in names if n not in own_names and n not in nonlocal_names}
        nonlocals = sorted(mutated_names & self.outer_variables)
        nonlocal_names.update(nonlocals)
        self.foreign = frozenset(mutated_names - self.outer_variables)
        self.outer_variables = self.outer_variables | own_names
        early = sorted(find_early_reads(node.body).intersection(own_names).difference(params))
        body = self.block(Jumps(self.fresh).function(node.body))
        missing = [n for n in self.closed if n not in params and n not in nonlocal_names]
        start: list[ast.stmt] = [assign(n, self.rt("Undefined", ast.Constant(n))) for n in missing]
        for name in early:  # a graph reads the global of that name
            value = self.rt("global_value", ast.Constant(name))
            start.append(ast.If(self.rt("has_global", ast.Constant(name)), [assign(name, value)], []))
        position = 1 if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else 0
        while position < len(body) and isinstance(body[position], ast.Nonlocal):
            position += 1
        if nonlocals:
            start = [ast.Nonlocal(nonlocals), *start]
        node.body = body[:position] + at_location(node.body[0], start) + body[position:]
        node.decorator_list = []
        node.returns = None
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))):
            arg.annotation = None
        return node

    def reject(self, nodes: list[ast.AST]) -> None:
        """Raise SyntaxRefused for syntax that a graph cannot have, among the nodes of a function."""
        written = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        for inner in nodes:
            if isinstance(inner, ast.Global) and not written.isdisjoint(inner.names):
                raise SyntaxRefused(
                    inner,
                    "a graph cannot assign to a global name; return the value instead, or keep it in a Parameter",
                    self.filename,
                )
            if isinstance(inner, (ast.AsyncFor, ast.AsyncWith, ast.Await)):
                raise SyntaxRefused(
                    inner,
                    "async code cannot be part of a graph; compute the value before calling the Cell",
                    self.filename,
                )

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in _list_own_nodes(node)):
            return node
        self.children += 1
        inner = Lowering(self.filename, self.self_name, f"{self.depth}_{self.children}", self.outer_variables)
        decorators = [self.visit(d) for d in node.decorator_list]
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [d and self.visit(d) for d in node.args.kw_defaults]
        inner.function(node)
        node.decorator_list = decorators
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    # ------------------------------------------------------------------ blocks
    def block(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        out = []
        for node in nodes:
            rewritten = self.visit(node)
            out += rewritten if isinstance(rewritten, list) else [rewritten]
        return out

    def bound(self, nodes: Sequence[ast.AST]) -> dict[str, Any]:
        """Return the result of `find_bound_names` without names from outside the function, such as globals."""
        return {n: rebound for n, rebound in find_bound_names(nodes).items() if n not in self.foreign}

    def rt(self, name: str, *args: ast.expr) -> ast.Call:
        return ast.Call(ast.Attribute(load(RUNTIME), name, ast.Load()), list(args), [])

    def place(self, node: ast.AST) -> ast.Tuple:
        return ast.Tuple([ast.Constant(self.filename), ast.Constant(node.lineno), ast.Constant(self.owner)], ast.Load())

    def variables(self, names: Sequence[str]) -> Any:
        """Return ([get, set], name of get, name of set) for the variables `names`.

        The two function definitions read and assign the variables.
        """
        read, write, value = self.fresh("get"), self.fresh("set"), self.fresh("value")
        reader = ast.FunctionDef(read, arguments(), [ast.Return(_make_name_tuple(names, ast.Load))], [])
        body: list[ast.stmt] = [ast.Pass()]
        if names:
            body = [ast.Nonlocal(list(names)), ast.Assign([_make_name_tuple(names, ast.Store)], load(value))]
        writer = ast.FunctionDef(write, arguments(value), body, [])
        self.closed.update(dict.fromkeys(names))
        return [_set_type_params(reader), _set_type_params(writer)], load(read), load(write)

    def closure(self, prefix: str, names: Sequence[str], body: list[ast.stmt], *params: str) -> Any:
        name = self.fresh(prefix)
        start = [ast.Nonlocal(list(names))] if names else []
        return _set_type_params(ast.FunctionDef(name, arguments(*params), start + (body or [ast.Pass()]), []))

    def visit_If(self, node: ast.If) -> Any:
        names = list(self.bound([node]))
        test = self.visit(node.test)
        yes = self.closure("then", names, self.block(node.body))
        no = self.closure("else", names, self.block(node.orelse))
        helpers, read, write = self.variables(names)
        returns = getattr(node, "returns", False)
        outermost = getattr(node, "outermost", False)
        if returns:
            name = "if_function" if outermost else "if_return"
        else:
            name = "if_going" if hasattr(node, "guards") else "if_"
        call = self.rt(
            name, test, load(yes.name), load(no.name), read, write, _make_string_tuple(names), self.place(node)
        )
        return at_location(node, [*helpers, yes, no, ast.Return(call) if returns else ast.Expr(call)])

    def visit_While(self, node: ast.While) -> Any:
        names = list(self.bound([node]))
        test = self.visit(node.test)
        if node.broken:
            test = self.rt("and_", self.rt("not_", load(node.broken)), _make_lambda_node(test))
        tested_names = [n for n, rebound in self.bound([node.test]).items() if rebound]
        check = self.closure("test", tested_names, [ast.Return(test)])
        body = self.closure("body", names, self.block(node.body))
        helpers, read, write = self.variables(names)
        call = self.rt(
            "while_", load(check.name), load(body.name), read, write, _make_string_tuple(names), self.place(node)
        )
        return at_location(node, [*helpers, check, body, ast.Expr(call)])

    def visit_For(self, node: ast.For) -> Any:
        targets = list(find_bound_names([ast.Assign([node.target], ast.Constant(None))]))
        names = list({**dict.fromkeys(targets), **self.bound(node.body)})
        iterable, value = self.visit(node.iter), self.fresh("item")
        setter = self.closure("next", targets, [ast.Assign([self.visit(node.target)], load(value))], value)
        body = self.closure("body", names, self.block(node.body))
        helpers, read, write = self.variables(names)
        going = _make_lambda_node(self.rt("not_", load(node.broken))) if node.broken else ast.Constant(None)
        call = self.rt(
            "for_",
            iterable,
            load(setter.name),
            load(body.name),
            going,
            read,
            write,
            _make_string_tuple(names),
            self.place(node),
        )
        return at_location(node, [*helpers, setter, body, ast.Expr(call)])

    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        message = _make_lambda_node(node.msg) if node.msg else ast.Constant(None)
        return at_location(node, ast.Expr(self.rt("assert_", node.test, message, self.place(node))))

    def visit_Raise(self, node: ast.Raise) -> Any:
        self.generic_visit(node)
        if node.exc is not None:
            node.exc = at_location(node, self.rt("raising", node.exc, self.place(node)))
        return node

    def visit_Try(self, node: ast.Try) -> Any:
        self.generic_visit(node)
        if node.handlers:
            item = ast.withitem(self.rt("trying", self.place(node)))
            node.body = [at_location(node, ast.With([item], node.body))]
        return node

    # ------------------------------------------------------------------ assignments into Tensors
    def visit_Assign(self, node: ast.Assign) -> Any:
        if len(node.targets) == 1 and (target := self.split_target(node.targets[0])):
            root, indices = target
            value = self.visit(node.value)
            return at_location(
                node, self.assign_item(root, _make_tuple_node(map(self.index, indices)), value, self.place(node))
            )
        self.generic_visit(node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if target := self.split_target(node.target):
            root, indices = target
            key, place = self.fresh("index"), self.place(node)
            old = self.rt("get_part", self.visit(copy_tree(root)), load(key), place)
            value = ast.BinOp(old, node.op, self.visit(node.value))
            return at_location(
                node,
                [
                    assign(key, _make_tuple_node(map(self.index, indices))),
                    self.assign_item(root, load(key), value, place),
                ],
            )
        self.generic_visit(node)
        return node

    def split_target(self, target: Any) -> tuple[Any, list[Any]] | None:
        """Return (y, [i, j]) of the target ``y[i][j]``, where y is a name or an attribute of one.

        Return None if Python's own assignment is used: the target has no index; y is computed, and must not be
        evaluated twice; or a name that must not be rebound has a single index.
        """
        indices = []
        while isinstance(target, ast.Subscript):
            indices.insert(0, target.slice)
            target = target.value
        root = target
        while isinstance(root, ast.Attribute):
            root = root.value
        if not indices or not isinstance(root, ast.Name):
            return None
        is_plain = len(indices) == 1 and isinstance(target, ast.Name) and not self.may_be_rebound(target)
        return None if is_plain else (target, indices)

    def may_be_rebound(self, target: ast.expr) -> bool:
        """Return True if a target is a variable of this function."""
        return isinstance(target, ast.Name) and target.id not in self.foreign

    def assign_item(self, target: Any, indices: Any, value: Any, place: ast.Tuple) -> ast.stmt:
        """Return the statement that assigns a value at nested indices of the target."""
        if self.may_be_rebound(target):
            self.closed.setdefault(target.id)
            return assign(target.id, self.rt("set_part", load(target.id), indices, value, place))
        if isinstance(target, ast.Attribute):
            owner = self.visit(copy_tree(target.value))
            return ast.Expr(self.rt("put_attribute", owner, ast.Constant(target.attr), indices, value, place))
        return ast.Expr(self.rt("put_part", self.visit(copy_tree(target)), indices, value, place))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        self.generic_visit(node)
        if node.value is None or not isinstance(node.target, ast.Name):
            return node
        return at_location(node, ast.Assign([node.target], node.value))

    def index(self, node: ast.expr) -> Any:
        """Return the expression inside [ ] as an ordinary expression."""
        if isinstance(node, ast.Slice):
            return at_location(
                node,
                ast.Call(
                    load("slice"),
                    [self.visit(p) if p else ast.Constant(None) for p in (node.lower, node.upper, node.step)],
                    [],
                ),
            )
        if isinstance(node, ast.Tuple):
            return at_location(node, ast.Tuple([self.index(e) for e in node.elts], ast.Load()))
        return self.visit(node)

    # ------------------------------------------------------------------ expressions
    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        return at_location(
            node,
            self.rt(
                "if_expression",
                node.test,
                _make_lambda_node(node.body),
                _make_lambda_node(node.orelse),
                self.place(node),
            ),
        )

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        result = node.values[-1]
        for value in reversed(node.values[:-1]):
            result = self.rt(name, value, _make_lambda_node(result))
        return at_location(node, result)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return at_location(node, self.rt("not_", node.operand)) if isinstance(node.op, ast.Not) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        pieces = []
        for piece in node.values:
            if isinstance(piece, ast.FormattedValue):
                specification = self.visit(piece.format_spec) if piece.format_spec else ast.Constant("")
                piece = ast.Tuple([self.visit(piece.value), ast.Constant(piece.conversion), specification], ast.Load())
            pieces.append(piece)
        return at_location(node, self.rt("text", *pieces))

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod) and _is_string_constant(node.left):
            return at_location(node, self.rt("percent", node.left, node.right))
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if len(node.ops) == 1:
            if isinstance(node.ops[0], (ast.In, ast.NotIn)):
                call = self.rt("contains", node.left, node.comparators[0])
                return at_location(node, self.rt("not_", call) if isinstance(node.ops[0], ast.NotIn) else call)
            return node
        # ``a < b < c`` means ``a < b and b < c``, but b is computed once: nested lambdas bind it to a name.
        names = [self.fresh("operand") for _ in node.comparators[:-1]]
        result = None
        for i in reversed(range(len(node.ops))):
            left = load(names[i - 1]) if i else node.left
            right = load(names[i]) if i < len(names) else node.comparators[-1]
            test = ast.Compare(left, [node.ops[i]], [right])
            if isinstance(node.ops[i], (ast.In, ast.NotIn)):
                test = self.rt("contains", left, right)
                test = self.rt("not_", test) if isinstance(node.ops[i], ast.NotIn) else test
            result = test if result is None else self.rt("and_", test, _make_lambda_node(result))
            if i < len(names):
                result = ast.Call(ast.Lambda(arguments(names[i]), result), [node.comparators[i]], [])
        return at_location(node, result)

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id == MISSING_RETURN:
            return at_location(node, ast.Attribute(load(RUNTIME), "MISSING", ast.Load()))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and not isinstance(node.slice, (ast.Slice, ast.Tuple, ast.Constant)):
            return at_location(node, self.rt("get_item", node.value, node.slice, self.place(node)))
        return node

    def visit_Global(self, node: ast.Global) -> Any:
        return at_location(node, ast.Pass())  # its names are only read, see `reject`; blocks become separate functions

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        of = node.value
        is_super = isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.func.id == "super"
        self.generic_visit(node)
        if is_super and self.self_name and isinstance(node.ctx, ast.Load):
            return at_location(
                node, self.rt("attribute_of_super", node.value, load(self.self_name), ast.Constant(node.attr))
            )
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args and self.self_name:
            return at_location(node, ast.Call(load("super"), [load("__class__"), load(self.self_name)], []))
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format" and _is_string_constant(node.func.value):
            return at_location(
                node, ast.Call(self.rt("formatted", node.func.value).func, [node.func.value, *node.args], node.keywords)
            )
        if isinstance(node.func, ast.Name) and node.func.id in ("super", "hasattr", "getattr"):
            return node
        node.func = at_location(node, self.rt("call", node.func))
        return node


class SyntaxRefused(SyntaxError):
    """SyntaxError for code that cannot be part of a graph; has file and line like any SyntaxError."""

    def __init__(self, node: ast.AST, why: str, filename: str) -> None:
        super().__init__(why, (filename, node.lineno, node.col_offset + 1, None))


def mangle_private(node: ast.AST, class_name: str) -> Any:
    """Apply Python's mangling of private names in place: lowered code is compiled outside its class."""
    prefix = f"_{class_name.lstrip('_')}"

    def mangled(name):
        return prefix + name if name.startswith("__") and not name.endswith("__") else name

    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            inner.id = mangled(inner.id)
        elif isinstance(inner, ast.Attribute):
            inner.attr = mangled(inner.attr)
        elif isinstance(inner, ast.arg):
            inner.arg = mangled(inner.arg)


def _list_own_nodes(node):
    """Return the nodes of a function, without those of nested functions."""
    nodes, stack = [], list(ast.iter_child_nodes(node))
    while stack:
        top = stack.pop()
        nodes.append(top)
        if not isinstance(top, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            stack += ast.iter_child_nodes(top)
    return nodes


def _set_type_params(function):
    if hasattr(ast, "TypeVar") and not hasattr(function, "type_params"):
        function.type_params = []
    return function


def _is_string_constant(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _make_lambda_node(body):
    return ast.Lambda(arguments(), body)


def _make_name_tuple(names, context):
    return ast.Tuple([ast.Name(n, context()) for n in names], context())


def _make_tuple_node(items):
    return ast.Tuple(list(items), ast.Load())


def _make_string_tuple(names):
    return ast.Tuple([ast.Constant(n) for n in names], ast.Load())
