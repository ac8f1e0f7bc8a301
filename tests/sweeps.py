"""What `make test` runs of a sweep: the first case of each kind. The others follow the same law: `make bench` has them.

A kind is what can break on its own, a file of operators, a class, an element type, and never a list of names: what is
new is its first case, and runs.
"""

import pytest


def split(cases, kind):
    """(the first case of each `kind(case)`, the others), both in their order."""
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
