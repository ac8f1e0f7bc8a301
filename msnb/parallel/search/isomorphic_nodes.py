"""Group search nodes with equal surroundings, as in repeated blocks. Nodes of one group get the same choice."""

from collections import defaultdict

from msnb.parallel.search.choice_problem import Problem

_ROUNDS = 8  # distance, in edges, up to which surroundings are compared


def isomorphism_classes(problem: Problem, rounds: int = _ROUNDS) -> list[int]:
    """Return a class number for each node. Nodes of one class have the same choices, and their neighbours up to
    `rounds` edges away are of the same classes (Weisfeiler-Leman colouring).

    Args:
        problem (Problem): The search problem.
        rounds (int): The distance. Default: 8.
    """
    neighbors: list[list[tuple[bool, tuple[int, int | None], int]]] = [[] for _ in problem.nodes]
    for edge in problem.edges:
        (source, result), (target, operand) = edge.source, edge.target
        ports = result, operand
        neighbors[source].append((True, ports, target))
        neighbors[target].append((False, ports, source))
    colours = _number_distinct_keys(problem.nodes)
    for _ in range(rounds):
        signatures = [
            (
                colour,
                tuple(sorted((is_source, str(ports), colours[other]) for is_source, ports, other in node_neighbors)),
            )
            for colour, node_neighbors in zip(colours, neighbors, strict=True)
        ]
        colours = _number_distinct_keys(signatures)
    return colours


def _number_distinct_keys(keys):
    numbers: dict = defaultdict(lambda: len(numbers))
    return [numbers[key] for key in keys]
