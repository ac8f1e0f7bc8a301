"""Which nodes of a search are chosen alike: those whose surroundings are equal, as in blocks that repeat."""

from collections import defaultdict

from msnb.parallel.search.problem import Problem

_ROUNDS = 8  # of how far away what a node hangs together with is looked at


def classes(problem: Problem, rounds: int = _ROUNDS) -> list[int]:
    """A number for each node; nodes of one number have the same choices, and neighbours of the same numbers as far as
    so many edges away (Weisfeiler and Leman's colours).

    Args:
        problem (Problem): What is searched.
        rounds (int): How far. Default: 8.
    """
    around: list[list[tuple[bool, tuple[int, int | None], int]]] = [[] for _ in problem.nodes]
    for edge in problem.edges:
        (source, result), (target, operand) = edge.source, edge.target
        ports = result, operand
        around[source].append((True, ports, target))
        around[target].append((False, ports, source))
    colours = _numbered(problem.nodes)
    for _ in range(rounds):
        seen = [
            (own, tuple(sorted((forth, str(ports), colours[other]) for forth, ports, other in near)))
            for own, near in zip(colours, around, strict=True)
        ]
        colours = _numbered(seen)
    return colours


def _numbered(keys):
    known: dict = defaultdict(lambda: len(known))
    return [known[key] for key in keys]
