"""`if` statements and conditional expressions of lowered code: of a Tensor of the graph, both branches are traced."""

from collections.abc import Callable
from typing import Any

from msnb.core.script.builtin_overloads import boolean, dynamic
from msnb.core.script.merge_branches import Branch, copied, select
from msnb.core.script.undefined import MISSING


def if_(
    condition: Any,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
    read: Callable[[], Any],
    write: Callable[..., None],
    names: tuple[str, ...],
    place: tuple[Any, ...] | None,
    guards: bool = False,
) -> Any:
    """An `if` statement: the branches change the variables `names`. One that guards what follows a jump does nothing in
    the other branch, which has jumped."""
    if not dynamic(condition):
        return then() if condition else otherwise()
    yes, no = _both(then, otherwise, read, write, lambda value: read())
    write(select(boolean(condition, place), yes, no, names, place, guards))


def if_going(*args: Any) -> Any:
    """``if not left:`` around what follows a jump."""
    return if_(*args, guards=True)


def if_return(
    condition: Any,
    then: Callable[[], Any],
    otherwise: Callable[[], Any],
    read: Callable[[], Any],
    write: Callable[..., None],
    names: tuple[str, ...],
    place: tuple[Any, ...] | None,
) -> Any:
    """An `if` whose branches both return."""
    if not dynamic(condition):
        return then() if condition else otherwise()
    yes, no = _both(then, otherwise, read, write, lambda value: (value,))
    return select(boolean(condition, place), yes, no, ("return",), place)[0]


def _both(then, otherwise, read, write, left):
    """The two branches, each traced from the same variables; `left` makes of what one returns what it leaves behind."""
    before = read()

    def branch(fn):
        def run():
            write(copied(before))
            return left(fn())

        return Branch(run)

    try:
        return branch(then), branch(otherwise)
    finally:
        write(before)


def if_function(*args: Any) -> Any:
    """An `if` whose value the function returns: a path that falls off the end returns None."""
    value = if_return(*args)
    return None if value is MISSING else value


def if_expression(
    condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any], place: tuple[Any, ...] | None
) -> Any:
    """``a if condition else b``."""
    if not dynamic(condition):
        return then() if condition else otherwise()
    yes, no = Branch(lambda: (then(),)), Branch(lambda: (otherwise(),))
    return select(boolean(condition, place), yes, no, ("expression",), place)[0]
