"""Ways to spread a program that have a name, as choices of a search's problem."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from msnb.parallel.planning.estimate import communication
from msnb.parallel.planning.living import kept
from msnb.parallel.search.choosing import show_bytes
from msnb.parallel.search.costs import Layout, Machines
from msnb.parallel.search.problem import Problem

Strategy = tuple[Problem, list[int]]
_AGAIN = 3  # times that the search is asked for less memory
# What a byte costs in a search beyond the time that it takes: it comes in a message that takes time, too. With 12, what
# was found for eight networks was as fast as with 0 and 2, or faster; the others are for what sends too much with that,
# and for small networks, of which messages take most of the time.
_PRICES = 12.0, 96.0, 1000.0


class Refused(NamedTuple):
    """A way that there is not.

    Attributes:
        name (str): What it would be called.
        reason (str): Why.
    """

    name: str
    reason: str


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


def named(around: Any, say: Callable[[str], None] = lambda _: None) -> Iterator[tuple[str, Strategy] | Refused]:
    """The ways of a plan that have a name, or why one is not there.

    Args:
        around (Plans): What they are for.
        say (Callable): Is told which phase begins. Default: nobody is.
    """
    problem, kinds = around.problem, [kind for _, kind, _ in around.tensors]

    def lying(cut):
        return {n: (cut_rows if kind in cut else whole)(problem, n) for n, kind in enumerate(kinds)}

    ways = {"data parallel": followed(problem, lying({"argument"}))}
    if "state" in kinds:
        ways["optimizer sharded"] = followed(problem, lying({"argument", "state"}))
    if "parameter" in kinds:
        say(f"search 1 of 2, full sharding, up to {around.seconds:,.0f} s")
        fixed = problem.fixed(lying({"argument", "state", "parameter"}))
        ways["fully sharded"] = fixed, around.search(fixed, None, work=1 / (1 + _PRICES[0]))
    yield from ways.items()
    say(f"search 2 of 2, the fastest within the memory, up to {around.seconds:,.0f} s")
    try:
        strategy, failed = searched(around, list(ways.values()))
    except RuntimeError as error:
        yield Refused("searched", str(error))
        return
    yield "searched", strategy
    if failed:
        yield Refused("the search", f"{failed} 'searched' is the fastest of the others.")


def searched(around: Any, others: Sequence[Strategy]) -> tuple[Strategy, str]:
    """The fastest of what the search finds and of other strategies, by the time that plans tell of them.

    None is taken that keeps more than there is memory; none that sends more bytes than the first of the others, data
    parallelism, where that one fits. The search adds up what overlaps in a step, and knows no messages, so that the
    strategies are compared at last by what is told of them.

    Args:
        around (Plans): What it is for.
        others (Sequence[Strategy]): The other strategies, data parallelism first.

    Returns:
        tuple, the strategy, and why the search itself found none: "" where it did.

    Raises:
        RuntimeError: If nothing that is found fits into the memory.
    """
    problem, memory = around.problem, around.memory
    candidates = [problem.numbers(one) for one in others]
    failed, limit = None, float("inf")
    if kept(problem, candidates[0]) <= memory:
        limit = _sent(problem, candidates[0])
    try:
        candidates += _found(around, problem, limit, min(around.duration(problem, one).step for one in candidates))
    except RuntimeError as error:  # then one of the others, if there is one that fits
        failed = error
    fit = [one for one in candidates if kept(problem, one) <= memory and _sent(problem, one) <= limit]
    if not fit:
        raise failed or RuntimeError(
            f"No way was found to spread the program over the devices that keeps no more than {show_bytes(memory)}: "
            f"the least that was found keeps {show_bytes(min(kept(problem, one) for one in candidates))}."
        )
    fastest = min(fit, key=lambda one: around.duration(problem, one).step)
    return (problem, fastest), "" if failed is None else str(failed)


def _found(around: Any, problem: Problem, limit: float, seconds: float) -> list[list[int]]:
    """What the search finds at the first price of a byte; where that sends more bytes than `limit`, or takes longer
    than others, `seconds`, at higher ones as well."""
    deadline, found = time.monotonic() + around.seconds, []
    for price in _PRICES:
        if found and (time.monotonic() > deadline or _is_good(around, problem, found[-1], limit, seconds)):
            break
        weights = {axis: (weight + price) / (1 + price) for axis, weight in problem.machines.weights.items()}
        other = problem
        if weights != problem.machines.weights:
            other = Problem(problem.graph, Machines(problem.machines.sizes, weights), around.returned)
        found.append(_as_in(problem, other, _within(around, other, deadline, 1 / (1 + price))))
    return found


def _is_good(around, problem, one, limit, seconds):
    return _sent(problem, one) <= limit and around.duration(problem, one).step <= seconds * 1.001


def _as_in(problem: Problem, other: Problem, chosen: list[int]) -> list[int]:
    """The choices with the same layouts in another problem of the same graph and mesh."""
    found = []
    for mine, theirs, number in zip(problem.nodes, other.nodes, chosen, strict=True):
        wanted = theirs[number].inputs, theirs[number].outputs
        found.append(next(k for k, choice in enumerate(mine) if (choice.inputs, choice.outputs) == wanted))
    return found


def _within(around: Any, problem: Problem, deadline: float, work: float = 1.0) -> list[int]:
    """The best that the search finds within the memory.

    It counts memory at one moment that is the same for all strategies. Where what it finds keeps more than there is at
    another moment, it is asked again for so much less, as long as the time lasts.
    """
    limit = around.memory
    found = around.search(problem, limit, max(1.0, deadline - time.monotonic()), work)
    for _ in range(_AGAIN):
        left, more = deadline - time.monotonic(), kept(problem, found) / around.memory
        if more <= 1 or left <= 0:
            break
        limit /= more
        try:
            found = min(found, around.search(problem, limit, left, work), key=lambda c: kept(problem, c))
        except RuntimeError:  # there is none that keeps so little at the search's moment
            break
    return found


def _sent(problem: Problem, chosen: list[int]) -> float:
    """Bytes that each device sends."""
    return sum(one.bytes for one in communication(problem, chosen))
