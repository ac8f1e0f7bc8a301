"""Named strategies of a program, as choices of a search problem."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from msnb.parallel.cost_model.transfer_cost import Layout, MeshCostModel
from msnb.parallel.planning.estimate import communication
from msnb.parallel.planning.liveness import peak_bytes
from msnb.parallel.search.choice_problem import Problem
from msnb.parallel.search.solver import show_bytes

Strategy = tuple[Problem, list[int]]
_MEMORY_RETRIES = 3  # searches with a lower memory limit
# Prices of a sent byte in a search, in addition to its transfer time: a price represents the latency of messages.
# Measured on eight networks: solutions with 12 were as fast as with 0 and 2, or faster. The higher prices are for
# problems in which 12 still sends too much, and for small networks, where latency dominates.
_BYTE_PRICES = 12.0, 96.0, 1000.0


class Refused(NamedTuple):
    """A strategy that cannot be used for the program.

    Attributes:
        name (str): Name of the strategy.
        reason (str): The reason.
    """

    name: str
    reason: str


def shard_first_axis(problem: Problem, number: int) -> Layout:
    """Return the layout of an input that shards its first divisible axis over as many mesh axes as possible."""
    cost_model, shape = problem.cost_model, problem.graph.inputs[number].shape
    axes = tuple(cost_model.sizes)
    for count in range(len(axes), 0, -1):
        shards = math.prod(cost_model.sizes[a] for a in axes[:count])
        for index, size in enumerate(shape):
            if size % shards == 0:
                return tuple(axes[:count] if k == index else () for k in range(len(shape)))
    return ((),) * len(shape)


def replicate(problem: Problem, number: int) -> Layout:
    """Return the replicated layout of an input."""
    return ((),) * len(problem.graph.inputs[number].shape)


def propagate_layouts(problem: Problem, inputs: Mapping[int, Layout]) -> Strategy:
    """Choose layouts from inputs to results: each equation is computed with the layouts that its operands already
    have.

    Each equation takes the choice that sends the fewest bytes for its operands. Ties are broken by the number of
    resharded operands, then by the number of operations.

    Args:
        problem (Problem): The search problem.
        inputs (Mapping[int, Layout]): The layout of each input.
    """
    fixed_problem = problem.fix_inputs(inputs)
    incoming: list[list] = [[] for _ in fixed_problem.nodes]
    for edge in fixed_problem.edges:
        if edge.target[1] is not None:
            incoming[edge.target[0]].append(edge)
    chosen: list[int] = []
    for node, edges in zip(fixed_problem.nodes, incoming, strict=True):
        if not edges:  # an equation without operands is sharded by its readers
            chosen.append(max(range(len(node)), key=lambda k, node=node: node[k].stored_bytes))
            continue
        sent_bytes = np.zeros(len(node))
        num_resharded = np.zeros(len(node), int)
        for edge in edges:
            before = fixed_problem.nodes[edge.source[0]][chosen[edge.source[0]]]
            sent_bytes = sent_bytes + fixed_problem.transfer_cost(edge)[chosen[edge.source[0]]]
            pairs = [fixed_problem.layouts(edge, before, choice) for choice in node]
            num_resharded += [source_layout != target_layout for source_layout, target_layout in pairs]
        keys = [(sent_bytes[k], num_resharded[k], c.operations, c.sent, c.stored_bytes) for k, c in enumerate(node)]
        chosen.append(min(range(len(node)), key=keys.__getitem__))
    return fixed_problem, chosen


def named_strategies(
    plans: Any, say: Callable[[str], None] = lambda _: None
) -> Iterator[tuple[str, Strategy] | Refused]:
    """Iterate over the named strategies of a program, such as data parallelism, with `Refused` for those that are not
    possible.

    Args:
        plans (Plans): The comparison that the strategies are for.
        say (Callable): Called with a sentence when a phase begins. Default: nothing is said.
    """
    problem, kinds = plans.problem, [kind for _, kind, _ in plans.tensors]

    def input_layouts(sharded_kinds):
        return {
            n: (shard_first_axis if kind in sharded_kinds else replicate)(problem, n) for n, kind in enumerate(kinds)
        }

    strategies = {"data parallel": propagate_layouts(problem, input_layouts({"argument"}))}
    if "state" in kinds:
        strategies["optimizer sharded"] = propagate_layouts(problem, input_layouts({"argument", "state"}))
    if "parameter" in kinds:
        say(f"search 1 of 2, full sharding, up to {plans.seconds:,.0f} s")
        fixed_problem = problem.fix_inputs(input_layouts({"argument", "state", "parameter"}))
        strategies["fully sharded"] = fixed_problem, plans.search(fixed_problem, None, work=1 / (1 + _BYTE_PRICES[0]))
    yield from strategies.items()
    say(f"search 2 of 2, the fastest within the memory, up to {plans.seconds:,.0f} s")
    try:
        strategy, failed = search_strategy(plans, list(strategies.values()))
    except RuntimeError as error:
        yield Refused("searched", str(error))
        return
    yield "searched", strategy
    if failed:
        yield Refused("the search", f"{failed} 'searched' is the fastest of the others.")


def search_strategy(plans: Any, others: Sequence[Strategy]) -> tuple[Strategy, str]:
    """Return the strategy with the shortest predicted step among the search's solutions and other strategies.

    A strategy must fit into the memory. If data parallelism, the first of the others, fits, no strategy may send
    more bytes. The search adds the times of communication and computation, which overlap in a step, and ignores
    latency. Therefore the predicted step times decide at the end.

    Args:
        plans (Plans): The comparison that the strategy is for.
        others (Sequence[Strategy]): The other strategies, data parallelism first.

    Returns:
        tuple, the strategy, and the reason why the search itself failed, or "".

    Raises:
        RuntimeError: If no strategy fits into the memory.
    """
    problem, memory = plans.problem, plans.memory
    candidates = [problem.choice_indices(solution) for solution in others]
    failed, limit = None, float("inf")
    if peak_bytes(problem, candidates[0]) <= memory:
        limit = _sum_sent_bytes(problem, candidates[0])
    try:
        candidates += _search_with_prices(
            plans, problem, limit, min(plans.duration(problem, solution).step for solution in candidates)
        )
    except RuntimeError as error:  # one of `others` is returned instead, if it fits
        failed = error
    fit = [
        solution
        for solution in candidates
        if peak_bytes(problem, solution) <= memory and _sum_sent_bytes(problem, solution) <= limit
    ]
    if not fit:
        raise failed or RuntimeError(
            f"No way was found to spread the program over the devices that keeps no more than {show_bytes(memory)}: "
            f"the least that was found keeps "
            f"{show_bytes(min(peak_bytes(problem, solution) for solution in candidates))}."
        )
    fastest = min(fit, key=lambda solution: plans.duration(problem, solution).step)
    return (problem, fastest), "" if failed is None else str(failed)


def _search_with_prices(plans: Any, problem: Problem, limit: float, seconds: float) -> list[list[int]]:
    """Return the solutions of the search, first for the lowest price of a byte. Higher prices are tried if the last
    solution sends more bytes than `limit`, or its step takes longer than `seconds`.
    """
    deadline, solutions = time.monotonic() + plans.seconds, []
    for price in _BYTE_PRICES:
        if solutions and (
            time.monotonic() > deadline or _is_good_enough(plans, problem, solutions[-1], limit, seconds)
        ):
            break
        weights = {axis: (weight + price) / (1 + price) for axis, weight in problem.cost_model.weights.items()}
        priced_problem = problem
        if weights != problem.cost_model.weights:
            priced_problem = Problem(problem.graph, MeshCostModel(problem.cost_model.sizes, weights), plans.returned)
        solutions.append(
            _translate_solution(
                problem, priced_problem, _search_within_memory(plans, priced_problem, deadline, 1 / (1 + price))
            )
        )
    return solutions


def _is_good_enough(plans, problem, solution, limit, seconds):
    return _sum_sent_bytes(problem, solution) <= limit and plans.duration(problem, solution).step <= seconds * 1.001


def _translate_solution(problem: Problem, other: Problem, chosen: list[int]) -> list[int]:
    """Return the choices of `problem` with the same layouts as a solution of another problem with the same graph and
    mesh.
    """
    indices = []
    for own_choices, other_choices, number in zip(problem.nodes, other.nodes, chosen, strict=True):
        layouts = other_choices[number].inputs, other_choices[number].outputs
        indices.append(next(k for k, choice in enumerate(own_choices) if (choice.inputs, choice.outputs) == layouts))
    return indices


def _search_within_memory(plans: Any, problem: Problem, deadline: float, work: float = 1.0) -> list[int]:
    """Return the best solution of the search that fits into the memory.

    The search counts memory at one equation that is the same for all strategies. If the solution has a higher peak at
    another equation, the search is repeated with a lower limit while time remains.
    """
    limit = plans.memory
    solution = plans.search(problem, limit, max(1.0, deadline - time.monotonic()), work)
    for _ in range(_MEMORY_RETRIES):
        remaining_time, excess = deadline - time.monotonic(), peak_bytes(problem, solution) / plans.memory
        if excess <= 1 or remaining_time <= 0:
            break
        limit /= excess
        try:
            solution = min(
                solution, plans.search(problem, limit, remaining_time, work), key=lambda c: peak_bytes(problem, c)
            )
        except RuntimeError:  # no solution has so little memory at the search's equation
            break
    return solution


def _sum_sent_bytes(problem: Problem, chosen: list[int]) -> float:
    return sum(transfer.bytes for transfer in communication(problem, chosen))
