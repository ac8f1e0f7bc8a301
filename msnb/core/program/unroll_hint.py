"""A Python loop within a graph is unrolled, and XLA compiles each of its rounds: from some hundred on that is said."""

import ast
import functools
import linecache
from collections import Counter
from typing import TYPE_CHECKING

from msnb.core.compat.jax_private import user_frames
from msnb.core.errors.source_location import format_location
from msnb.core.jaxpr.op_names import operator_in

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program.program import Program

MANY = 400  # times that one operator of one Cell stands in a graph


def sentence(program: "Program") -> str | None:
    """What to say of a program with an unrolled loop; None where there is none, or a short one."""
    eqns = program.jaxpr.jaxpr.eqns
    if len(eqns) < MANY:
        return None
    texts = {}  # id of a scope -> its text; the scopes live as long as the equations
    counts, first = Counter(), {}
    for eqn in eqns:
        stack = eqn.source_info.name_stack
        scope = texts.get(id(stack))
        if scope is None:
            scope = texts[id(stack)] = str(stack)
        key = scope, str(eqn.params.get("name", eqn.primitive.name))
        counts[key] += 1
        first.setdefault(key, eqn)
    asked = None if program.first_line is None else program.first_line[:2]
    for (scope, name), count in counts.most_common():
        if count < MANY:
            break
        frames = _frames_within(first[scope, name].source_info.traceback, asked)
        # else the loop is the library's own, over the Parameters of an optimizer or over the gradients it clips
        if any(_is_in_loop(*frame) for frame in frames):
            where = frames[0]
            return (
                f"A Python loop in {program.title} was unrolled: {operator_in(name)} at {format_location(*where)} "
                f"stands {count} times in its graph of {len(eqns)} operators, and XLA compiles each of them. A loop "
                f"whose condition is a Tensor is compiled once: i = Tensor(0), while i < {count}: ..., i = i + 1."
            )
    return None


def _frames_within(traceback, asked):
    """[(file, line)] of the user's code within the program, innermost first; `asked` is the line that called it."""
    frames = [frame[:2] for frame in user_frames(traceback)]
    return frames[: frames.index(asked)] if asked in frames else frames


def _is_in_loop(file, line):
    """The line stands in a loop of its file, or in a file that cannot be read."""
    lines = tuple(linecache.getlines(file))
    ranges = _loops(lines) if lines else None
    return ranges is None or any(first <= line <= last for first, last in ranges)


@functools.lru_cache(maxsize=8)
def _loops(lines):
    """[(first line, last line)] of the loops and comprehensions in a text, None where it is no Python."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    kinds = ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp
    return [(node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, kinds)]
