"""Ways to spread a program that have a name, as choices of a search's problem."""

import math
import time
from collections.abc import Mapping

import numpy as np

from msnb.parallel.planning.living import kept
from msnb.parallel.search.choosing import cost_of, dynamic_programming
from msnb.parallel.search.costs import Layout
from msnb.parallel.search.problem import Problem

Strategy = tuple[Problem, list[int]]
_AGAIN = 3  # times that the search is asked for less memory


def cut_rows(problem: Problem, number: int) -> Layout:
    """The layout of an input whose first axis that can be is cut by all axes of the mesh, or by as many as can be."""
    machines, shape = problem.machines, problem.graph.inputs[number].shape
    axes = tuple(machines.sizes)
    for count in range(len(axes), 0, -1):
        parts = math.prod(machines.sizes[a] for a in axes[:count])
        for place, size in enumerate(shape):
            if size % parts == 0:
                return tuple(axes[:count] if k == place else () for k in range(len(shape)))
    return ((),) * len(shape)


def whole(problem: Problem, number: int) -> Layout:
    """The layout of an input that each device has all of."""
    return ((),) * len(problem.graph.inputs[number].shape)


def followed(problem: Problem, inputs: Mapping[int, Layout]) -> Strategy:
    """Each equation computed where its operands are, from how all inputs lie: what sends least for its operands, then
    what leaves most of them alone, then what divides the work most.

    Args:
        problem (Problem): The choices.
        inputs (Mapping[int, Layout]): For each input.
    """
    fixed = problem.fixed(inputs)
    into: list[list] = [[] for _ in fixed.nodes]
    for edge in fixed.edges:
        if edge.target[1] is not None:
            into[edge.target[0]].append(edge)
    chosen: list[int] = []
    for node, edges in zip(fixed.nodes, into, strict=True):
        if not edges:  # what is made of nothing is cut where it is read
            chosen.append(max(range(len(node)), key=lambda k, node=node: node[k].held))
            continue
        moved = np.zeros(len(node))
        changed = np.zeros(len(node), int)
        for edge in edges:
            before = fixed.nodes[edge.source[0]][chosen[edge.source[0]]]
            moved = moved + fixed.moving(edge)[chosen[edge.source[0]]]
            pairs = [fixed.layouts(edge, before, choice) for choice in node]
            changed += [lying != wanted for lying, wanted in pairs]
        keys = [(moved[k], changed[k], c.operations, c.sent, c.held) for k, c in enumerate(node)]
        chosen.append(min(range(len(node)), key=keys.__getitem__))
    return fixed, chosen


def searched(problem: Problem, beside: Strategy, memory: float, seconds: float, operation: float) -> Strategy:
    """The best that the search finds; never one that sends more than `beside`, where that fits into the memory.

    The search counts memory at one moment that is the same for all strategies. Where what it finds keeps more than
    there is at another moment, it is asked again for so much less, as long as the time lasts.
    """
    deadline, limit = time.monotonic() + seconds, memory
    found = dynamic_programming(problem, limit, seconds, operation)
    for _ in range(_AGAIN):
        left, more = deadline - time.monotonic(), kept(problem, found) / memory
        if more <= 1 or left <= 0:
            break
        limit /= more
        try:
            found = min(found, dynamic_programming(problem, limit, left, operation), key=lambda c: kept(problem, c))
        except RuntimeError:  # there is none that keeps so little at the search's moment
            break
    other = problem.numbers(beside)
    better = cost_of(problem, other) < cost_of(problem, found) or kept(problem, found) > memory
    return problem, other if better and kept(problem, other) <= memory else found
