"""Peak memory of one device, from the live range of each value.

Live ranges follow the order of the equations, with XLA's buffer assignment:

- A view has no buffer. A broadcast constant is computed where it is read.
- A result reuses the buffer of an operand of its size that is not read later.
- A resharded value has a second buffer until its last reader in the new layout.
- An all-reduce has a buffer in addition to its operand. All-reduces without an immediate reader are combined, and done
  at the end.
- The operands of a convolution are transposed to XLA's layout.
- Zeros to which a loop adds exist from the beginning, where XLA creates them.
- The values of one round of a loop are live while the loop runs.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.core.compat.jax_private import scan_counts
from msnb.parallel.cost_model.transfer_cost import MeshCostModel
from msnb.parallel.graph.flatten_jaxpr import Equation, flatten_body
from msnb.parallel.planning.common_subexpressions import first_equal_results
from msnb.parallel.search.choice_problem import Edge, Problem, holds_graph

_VIEWS = frozenset(("reshape", "squeeze", "expand_dims", "name", "stop_gradient"))
_BROADCASTS = frozenset(("broadcast_in_dim", "iota"))
_NESTED = frozenset(("scan", "shard_map"))
_ACCUMULATING = "scan", "scatter"  # these update their first operand in place
# Primitives that read operands from memory, as convolutions do. XLA fuses all others into element-wise loops.
_READ_FROM_MEMORY = (
    *(
        "dot_general",
        "scan",
        "shard_map",
        "while",
        "cond",
        "sort",
        "scatter",
        "gather",
        "concatenate",
        "pad",
        "top_k",
        "cum",
    ),
    *("reduce", "arg", "select_and", "dynamic_update_slice", "checkpoint", "remat"),
)


def peak_bytes(problem: Problem, chosen: list[int]) -> float:
    """Return the peak memory of each device in bytes: the inputs, which are always live, and the peak of all other
    values.

    Args:
        problem (Problem): The search problem.
        chosen (list[int]): Index of the selected choice for each node.
    """
    step = _MemoryTimeline(problem, chosen)
    return step.input_bytes + step.compute_peak()


class _MemoryTimeline:
    """Changes of the number of live bytes at each equation of a step."""

    def __init__(self, problem: Problem, chosen: list[int]) -> None:
        self._problem, self._cost_model = problem, problem.cost_model
        self._first, self._end = len(problem.graph.inputs), len(problem.nodes)
        self._choices = [node[k] for node, k in zip(problem.nodes, chosen, strict=True)]
        self._names = [*[""] * self._first, *(e.primitive.name for e in problem.graph.equations)]
        self._change = np.zeros(self._end + 2)
        self._reads: dict[tuple[int, int], list[Edge]] = defaultdict(list)
        for edge in problem.edges:
            number, index = edge.source
            self._reads[
                number, self._find_first_equal_results(number)[index] if self._has_nested_graph(number) else index
            ].append(edge)
        self._last: dict[tuple[int, int], int] = {}
        self.input_bytes = sum(choice.stored_bytes for choice in self._choices[: self._first])

    def compute_peak(self) -> float:
        """Return the peak of the live bytes, without the inputs."""
        for number in range(self._end - 1, -1, -1):
            for index, value in enumerate(self._problem.values[number]):
                if self._reads[number, index]:
                    self._add_value((number, index), value.bytes)
        for number in range(self._first, self._end):
            if self._names[number] == "scan" and any(
                self._reads[number, k] for k in self._find_first_equal_results(number)
            ):
                self._add_live_range(self._compute_peak_of_round(number), number, number)
        self._add_all_reduces()
        return max(0.0, float(np.cumsum(self._change).max()))

    def _add_value(self, source: tuple[int, int], size: int) -> None:
        number, index = source
        layout = self._choices[number].outputs[index]
        is_broadcast = self._names[number] in _BROADCASTS
        same_layout_reads, resharded_reads = [number], defaultdict(list)
        for edge in self._reads[source]:
            reader = self._end if edge.target[1] is None else edge.target[0]
            target_layout = self._problem.layouts(edge, self._choices[number], self._choices[edge.target[0]])[1]
            end = (
                self._last.get((reader, 0), reader) if reader < self._end and self._names[reader] in _VIEWS else reader
            )
            # A convolution reads a transposed copy. For `conv_filter_grad` it is written together with the value.
            if self._is_convolution(reader):
                first = number if self._names[reader] == "conv_filter_grad" else reader
                self._add_live_range(size / self._cost_model.count_shards(target_layout), first, reader)
            if target_layout == layout:
                same_layout_reads.append(end)
            elif not is_broadcast and not (
                self._shards_no_more_than(layout, target_layout) and self._is_elementwise(reader)
            ):
                resharded_reads[target_layout].append((reader, end))
        self._last[source] = max(same_layout_reads)
        for target_layout, ends in resharded_reads.items():
            shard_bytes = size / self._cost_model.count_shards(target_layout)
            self._add_live_range(shard_bytes, min(reader for reader, _ in ends), max(end for _, end in ends))
            self._last[source] = max(self._last[source], min(reader for reader, _ in ends))
        if number >= self._first and self._names[number] not in _VIEWS and not is_broadcast:
            self._add_live_range(
                size / self._cost_model.count_shards(layout),
                self._find_first_live_equation(number, index),
                self._last[source],
            )
        if is_broadcast and not any(self._problem.graph.equations[number - self._first].shapes):
            self._add_zeros_for_accumulation(source, size)

    def _add_zeros_for_accumulation(self, source: tuple[int, int], size: int) -> None:
        """Add an array of zeros into which an equation accumulates: it is live from the beginning of the step up to
        that equation.
        """
        for edge in self._reads[source]:
            reader = self._end if edge.target[1] is None else edge.target[0]
            if reader < self._end and self._names[reader].startswith(_ACCUMULATING):
                target_layout = self._problem.layouts(edge, self._choices[source[0]], self._choices[reader])[1]
                self._change[self._first] += size / self._cost_model.count_shards(target_layout)
                self._change[reader] -= size / self._cost_model.count_shards(target_layout)

    def _find_first_live_equation(self, number: int, index: int) -> int:
        """Return the index of the equation from which a result is live. Stacked results of a loop are live from the
        start of the step, because they begin as zeros.
        """
        if self._names[number] == "scan":
            equation = self._problem.graph.equations[number - self._first]
            return self._first if index >= scan_counts(equation)[1] else number
        return number

    def _has_nested_graph(self, number: int) -> bool:
        """Return True if a node is a loop or a `shard_map`."""
        return self._names[number] in _NESTED

    def _find_first_equal_results(self, number: int) -> list[int]:
        """Return, for each result of a loop or `shard_map`, the index of the first result with the same value."""
        return self._memoize("same", number, first_equal_results)

    def _compute_peak_of_round(self, number: int) -> float:
        """Return the peak of live bytes inside one round of a loop, without the loop's operands and results."""
        all_operations = max(choice.operations for choice in self._problem.nodes[number])
        share = self._choices[number].operations / all_operations if all_operations else 1.0
        return share * self._memoize("inside", number, _compute_body_peak)

    def _memoize(self, name: str, number: int, compute: Callable[[Equation], Any]) -> Any:
        memo = self._problem.memo
        if (name, number) not in memo:
            memo[name, number] = compute(self._problem.graph.equations[number - self._first])
        return memo[name, number]

    def _shards_no_more_than(self, layout, target_layout):
        return all(set(a) <= set(b) for a, b in zip(layout, target_layout, strict=True))

    def _is_elementwise(self, number):
        return number < self._end and not (
            self._names[number].startswith(_READ_FROM_MEMORY) or self._is_convolution(number)
        )

    def _is_convolution(self, number):
        return number < self._end and f"{self._names[number]}_".startswith("conv_")

    def _add_live_range(self, size: float, first: int, last: int) -> None:
        """Add `size` bytes that are live from equation `first` to equation `last`. An element-wise reader reuses the
        buffer.
        """
        self._change[first] += size
        self._change[last if last > first and self._is_elementwise(last) else last + 1] -= size

    def _add_all_reduces(self) -> None:
        """Add the partial sums, which are live until the combined all-reduces are done."""
        pending: Any = []
        for number, choice in enumerate(self._choices):
            size = sum(size for _, size in choice.sums)
            if not size:
                continue
            equation = self._problem.graph.equations[number - self._first]
            if holds_graph(equation):  # the sums of a round reuse the buffers of the previous round
                self._add_live_range(size / equation.params.get("length", 1), number, number)
                continue
            readers = [self._reads[number, k] for k in range(len(choice.outputs))]
            first_reader = min(
                (e.target[0] for edges in readers for e in edges if e.target[1] is not None), default=number
            )
            pending.append((number, first_reader, size))
        while pending:
            number, first_reader, size = pending.pop(0)
            combined = [entry for entry in pending if entry[0] < first_reader]
            last = max([number, *(number_of_sum for number_of_sum, _, _ in combined)])
            for number_of_sum, _, partial_bytes in [(number, first_reader, size), *combined]:
                self._add_live_range(partial_bytes, number_of_sum, last)
            pending = [entry for entry in pending if entry[0] >= first_reader]


def _compute_body_peak(equation: Equation) -> float:
    body = Problem(flatten_body(equation), MeshCostModel({}, {}), {})
    return _MemoryTimeline(body, [0] * len(body.nodes)).compute_peak()
