"""A hint about long unrolled Python loops, since XLA compiles each iteration."""

import ast
import functools
import linecache
from collections import Counter
from typing import TYPE_CHECKING

from msnb.core.compat.jax_private import user_frames
from msnb.core.errors.source_location import format_location
from msnb.core.jaxpr.op_names import operator_in

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program

HINT_AFTER = 400  # number of equations of one operator in one Cell


def format_hint(program: "Program") -> str | None:
    """Return the message about a program with an unrolled loop, or None."""
    eqns = program.jaxpr.jaxpr.eqns
    if len(eqns) < HINT_AFTER:
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
    call_line = None if program.first_line is None else program.first_line[:2]
    for (scope, name), count in counts.most_common():
        if count < HINT_AFTER:
            break
        frames = _list_frames_in_program(first[scope, name].source_info.traceback, call_line)
        # If the user's code has no loop, msnb has unrolled its own, such as an optimizer's loop over its Parameters.
        if any(_is_in_loop(*frame) for frame in frames):
            file, line = frames[0][:2]
            location = format_location(str(file), int(line))
            return (
                f"A Python loop in {program.title} was unrolled: {operator_in(name)} at {location} "
                f"stands {count} times in its graph of {len(eqns)} operators, and XLA compiles each of them. A loop "
                f"whose condition is a Tensor is compiled once: i = Tensor(0), while i < {count}: ..., i = i + 1."
            )
    return None


def _list_frames_in_program(traceback, call_line):
    """Return [(file, line)] of the user's code in the program, innermost first. `call_line` is the line that called
    it."""
    frames = [frame[:2] for frame in user_frames(traceback)]
    return frames[: frames.index(call_line)] if call_line in frames else frames


def _is_in_loop(file, line):
    """Return True if the line is in a loop of its file, or the file cannot be read."""
    lines = tuple(linecache.getlines(file))
    ranges = _find_loops(lines) if lines else None
    return ranges is None or any(first <= line <= last for first, last in ranges)


@functools.lru_cache(maxsize=8)
def _find_loops(lines):
    """Return [(first line, last line)] of loops and comprehensions in a source text; None on a syntax error."""
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    kinds = ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp
    return [(node.lineno, node.end_lineno) for node in ast.walk(tree) if isinstance(node, kinds)]
