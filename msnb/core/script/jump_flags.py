"""First pass: `break`, `continue` and early `return` become flags and else-branches, so that no block is left early.

- ``if c: return a; rest`` becomes ``if c: return a else: rest``, which needs no placeholder for the value.
- If only some paths of a branch return, and in loops, a flag and a variable carry the value out.
- Statements after a possible jump are guarded by ``if not flag``.

Flags are Python bools as long as the conditions are known, so unrolled loops cost nothing.
"""

import ast
from collections.abc import Callable
from typing import Any

from msnb.core.script.bound_names import always_leaves, assign, at_location, contains, load

MISSING_RETURN = "__msnb_missing"  # represents None on a path that falls off the end
FLAGS = ("__return", "__break", "__continue")  # prefixes of the flags
RETURN_VALUE = "__rv"  # prefix of variables whose value only matters once their flag is set


class Jumps:
    """Rewrites the body of one function so that it has no jumps.

    Args:
        fresh (Callable): Returns an unused name with a prefix.
    """

    def __init__(self, fresh: Callable[..., Any]) -> None:
        self.fresh = fresh

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Return the body without jumps; every path that has a `return` ends in it."""
        return [_mark_top_level(node) for node in self.returns(self.loops(_move_rest_into_else(body)))]

    # ------------------------------------------------------------------ loops
    def loops(self, block: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite the loops of the block, innermost first, so that they have no break, continue, return and else."""
        out = []
        for node in block:
            if isinstance(node, (ast.While, ast.For)):
                out += self.loop(node)
                continue
            for field in ("body", "orelse", "finalbody"):
                if isinstance(getattr(node, field, None), list) and isinstance(node, (ast.If, ast.With, ast.Try)):
                    setattr(node, field, self.loops(getattr(node, field)))
            for handler in getattr(node, "handlers", []):
                handler.body = self.loops(handler.body)
            out.append(node)
        return out

    def loop(self, node: ast.For | ast.While) -> list[ast.stmt]:
        node.body = self.loops(node.body)
        node.broken = None
        breaks = contains(node.body, ast.Break, into_loops=False)
        continues = contains(node.body, ast.Continue, into_loops=False)
        returns = contains(node.body, ast.Return)
        before, after = [], []
        if breaks or returns or continues:
            flags = Flags(
                self.fresh("break") if breaks or returns else None,
                self.fresh("continue") if continues else None,
                self.fresh("return") if returns else None,
                self.fresh(RETURN_VALUE[2:]) if returns else None,
            )
            body = flags.rewrite(node.body)
            if continues:
                body.insert(0, assign(flags.skip, ast.Constant(False)))
            node.body = body
            node.broken = flags.broken
            before = [assign(f, ast.Constant(False)) for f in (flags.broken, flags.left) if f]
            if returns:
                after = [ast.If(load(flags.left), [ast.Return(load(flags.value))], [])]
        orelse, node.orelse = node.orelse, []
        if orelse:
            orelse = self.loops(orelse)
            guard = [ast.If(ast.UnaryOp(ast.Not(), load(node.broken)), orelse, [])] if node.broken else orelse
            after = after + guard
        for new in before + after:
            at_location(node, new)
        return [*before, node, *after]

    # ------------------------------------------------------------------ returns
    def returns(self, block: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite every `if` that may return into one whose branches both return."""
        out = []
        for i, node in enumerate(block):
            rest = block[i + 1 :]
            if isinstance(node, ast.If) and contains([node], ast.Return):
                if always_leaves(node.body):
                    node.orelse = node.orelse + rest
                elif node.orelse and always_leaves(node.orelse):
                    node.body = node.body + rest
                else:
                    return out + self.flagged(node, rest)
                node.body, node.orelse = self.closed(node, node.body), self.closed(node, node.orelse)
                node.returns = True
                return out + [node]
            if isinstance(node, (ast.With, ast.Try)) and contains([node], ast.Return) and not always_leaves([node]):
                return out + self.flagged(node, rest)
            if isinstance(node, ast.With):
                node.body = self.returns(node.body)
            out.append(node)
            if isinstance(node, ast.Return):
                break
        return out

    def closed(self, place: ast.AST, block: list[ast.stmt]) -> list[ast.stmt]:
        """Return `block` rewritten so that every path returns; a path without `return` returns `MISSING_RETURN`."""
        block = self.returns(block)
        if not always_leaves(block):
            block = block + [at_location(place, ast.Return(load(MISSING_RETURN)))]
        return block

    def flagged(self, node: ast.stmt, rest: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite a statement that returns on some paths only: a flag and a variable carry the returned value out of
        it.
        """
        flags = Flags(None, None, self.fresh("return"), self.fresh(RETURN_VALUE[2:]))
        rewritten = flags.rewrite([node])
        final = ast.If(load(flags.left), [ast.Return(load(flags.value))], [])
        return (
            at_location(node, [assign(flags.left, ast.Constant(False))])
            + rewritten
            + self.returns([at_location(node, final)] + rest)
        )


def _move_rest_into_else(block):
    """Rewrite ``if c: raise e; rest`` as ``if c: raise e else: rest``: the rest must not run in the graph either."""
    out = []
    for i, node in enumerate(block):
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, field, None), list) and not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                setattr(node, field, _move_rest_into_else(getattr(node, field)))
        out.append(node)
        if isinstance(node, ast.If) and node.body and isinstance(node.body[-1], ast.Raise):
            rest = _move_rest_into_else(block[i + 1 :])
            node.orelse = node.orelse + rest
            break
    return out


def _mark_top_level(node):
    """Mark a statement at the top level of a function: the function itself returns the value of such an `if`."""
    node.outermost = True
    return node


class Flags:
    """Names of the flags of one region: loop broken, iteration skipped, function returned, and its value."""

    def __init__(self, broken: str | None, skip: str | None, left: str | None, value: str | None) -> None:
        self.broken: str | None = broken
        self.skip: Any = skip  # this and the following attributes are names, or None without such a jump
        self.left: Any = left
        self.value: Any = value

    def rewrite(self, block: list[ast.stmt]) -> list[ast.stmt]:
        """Return the block with jumps replaced by assignments to the flags, and statements after a possible jump
        guarded.
        """
        out = []
        for i, node in enumerate(block):
            if isinstance(node, ast.Break) and self.broken:
                return out + at_location(node, [assign(self.broken, ast.Constant(True))])
            if isinstance(node, ast.Continue) and self.skip:
                return out + at_location(node, [assign(self.skip, ast.Constant(True))])
            if isinstance(node, ast.Return):
                assignments = [
                    assign(self.value, node.value or ast.Constant(None)),
                    assign(self.left, ast.Constant(True)),
                ]
                if self.broken:
                    assignments.append(assign(self.broken, ast.Constant(True)))
                return out + at_location(node, assignments)
            out.append(node)
            if isinstance(node, (ast.If, ast.With, ast.Try)) and self.jumps(node):
                for field in ("body", "orelse", "finalbody"):
                    if getattr(node, field, None):
                        setattr(node, field, self.rewrite(getattr(node, field)))
                for handler in getattr(node, "handlers", []):
                    handler.body = self.rewrite(handler.body)
                rest = self.rewrite(block[i + 1 :])
                if rest:
                    guard = ast.If(self.going_on(), rest, [])
                    guard.guards = True  # its other branch is the path after a jump
                    out.append(at_location(rest[0], guard))
                return out
        return out

    def jumps(self, node: ast.AST) -> bool:
        kinds = [ast.Return] if self.left else []
        return contains([node], *kinds) or (
            bool(self.broken or self.skip) and contains([node], ast.Break, ast.Continue, into_loops=False)
        )

    def going_on(self) -> ast.expr:
        """Return ``not broken and not skip``; a `return` in a loop also sets `broken`."""
        flags = [f for f in (self.broken or self.left, self.skip) if f]
        tests: list[ast.expr] = [ast.UnaryOp(ast.Not(), load(f)) for f in flags]
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
