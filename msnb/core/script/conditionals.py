"""`if` statements and conditional expressions of lowered code. If the condition is a traced Tensor, both branches are
traced.
"""

from collections.abc import Callable
from typing import Any

from msnb.core.script.builtin_overloads import boolean, dynamic
from msnb.core.script.merge_branches import Branch, copy_containers, select
from msnb.core.script.undefined import MISSING


def if_(
    condition: Any,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
    read: Callable[[], Any],
    write: Callable[..., None],
    names: tuple[str, ...],
    location: tuple[Any, ...] | None,
    guards: bool = False,
) -> Any:
    """Run an `if` statement; the branches assign the variables `names`.

    With `guards`, the condition is a jump flag. The branch `otherwise` runs after a jump and assigns nothing.
    """
    if not dynamic(condition):
        return then() if condition else otherwise()
    yes, no = _trace_both_branches(then, otherwise, read, write, lambda value: read())
    write(select(boolean(condition, location), yes, no, names, location, guards))


def if_going(*args: Any) -> Any:
    """Run the `if` that guards the statements after a jump; its condition is the jump flag."""
    return if_(*args, guards=True)


def if_return(
    condition: Any,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
    read: Callable[[], Any],
    write: Callable[..., None],
    names: tuple[str, ...],
    location: tuple[Any, ...] | None,
) -> Any:
    """Run an `if` whose branches both return."""
    if not dynamic(condition):
        return then() if condition else otherwise()
    yes, no = _trace_both_branches(then, otherwise, read, write, lambda value: (value,))
    return select(boolean(condition, location), yes, no, ("return",), location)[0]


def _trace_both_branches(then, otherwise, read, write, get_outputs):
    """Trace the two branches from the same variables. `get_outputs` maps a branch's return value to its outputs."""
    before = read()

    def branch(fn):
        def run():
            write(copy_containers(before))
            return get_outputs(fn())

        return Branch(run)

    try:
        return branch(then), branch(otherwise)
    finally:
        write(before)


def if_function(*args: Any) -> Any:
    """Run an `if` whose value the function returns; a path without `return` returns None."""
    value = if_return(*args)
    return None if value is MISSING else value


def if_expression(
    condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any], location: tuple[Any, ...] | None
) -> Any:
    """Evaluate the conditional expression ``then() if condition else otherwise()``."""
    if not dynamic(condition):
        return then() if condition else otherwise()
    yes, no = Branch(lambda: (then(),)), Branch(lambda: (otherwise(),))
    return select(boolean(condition, location), yes, no, ("expression",), location)[0]
