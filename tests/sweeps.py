"""Select the first case of each kind of a sweep for `make test`. `make bench` runs the others, for the same law.

A kind can break on its own: a file of operators, a class, an element type. It is never a list of names, so a new kind
has a first case, which runs. A test of both modes is such a sweep, too: `by_turns`.
"""

import pytest

MODES = (0, 1)  # context.GRAPH_MODE and context.PYNATIVE_MODE, without an import of msnb


def split(cases, kind):
    """Return (the first case of each `kind(case)`, the others), both in their order."""
    first, further = {}, []
    for case in cases:
        of = kind(case)
        if of in first:
            further.append(case)
        else:
            first[of] = case
    return list(first.values()), further


def swept(cases, kind):
    """pytest's parameters for all cases, of which those that are not the first of their kind are slow."""
    further = {id(case) for case in split(cases, kind)[1]}
    return [pytest.param(case, marks=[pytest.mark.slow] if id(case) in further else []) for case in cases]


def by_turns(items):
    """Return the tests, of those that pytest has collected, which `make test` leaves out because another one takes
    their turn.

    A test that has a `mode` runs in both with its first arguments: that is where one sees that it holds in both. With
    each further set of arguments it runs in one of them, by turns: an operator, a layer or an optimizer is as the first
    one is between the modes, and what is its own shows in either.
    """
    sets = {}
    for item in items:
        callspec = getattr(item, "callspec", None)
        mode = callspec and callspec.params.get("mode")
        if type(mode) is int and mode in MODES and not item.get_closest_marker("slow"):
            others = tuple(sorted((name, id(value)) for name, value in callspec.params.items() if name != "mode"))
            sets.setdefault((item.parent.nodeid, item.originalname), {}).setdefault(others, {})[mode] = item
    return [
        result[MODES[turn % 2]]
        for of_test in sets.values()
        for turn, result in enumerate(of_test.values())
        if turn and len(result) == 2
    ]
