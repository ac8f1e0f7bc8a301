"""A Python loop within a graph is unrolled, and XLA compiles each of its rounds: from some hundred on that is said."""

from collections import Counter
from typing import TYPE_CHECKING

from msnb.core._jax_private import user_frame
from msnb.core.names import operator_in
from msnb.core.places import place

if TYPE_CHECKING:  # named in annotations alone
    from msnb.core.program import Program

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
        where = user_frame(first[scope, name].source_info.traceback)
        if where is not None and where[:2] != asked:  # else the library's own loop, over the Parameters of an optimizer
            return (
                f"A Python loop in {program.title} was unrolled: {operator_in(name)} at {place(*where[:2])} stands "
                f"{count} times in its graph of {len(eqns)} operators, and XLA compiles each of them. A loop whose "
                f"condition is a Tensor is compiled once: i = Tensor(0), while i < {count}: ..., i = i + 1."
            )
    return None
