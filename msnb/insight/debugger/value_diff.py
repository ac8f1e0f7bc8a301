"""Compare two runs by value: find the first node that differs, and split each difference into two parts.

Let A and B be the runs, and k a node that both have. The total difference is ``B_k - A_k``. Node k of B is also
evaluated on the operands of node k of A. The difference between this value and ``A_k`` is made at the node. The other
part of the total difference came in with the operands.

If both runs are traced programs on one device, one compiled call evaluates A, B, and the nodes of B on the values of A.
Operations that are equal in both are computed once. Otherwise the runs are evaluated separately.
"""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.insight.debugger.compared_loops import are_alike, run_together
from msnb.insight.debugger.equations import is_number, is_random, iterate_values
from msnb.insight.debugger.names import in_brackets, line_of, name_of_node, short_line
from msnb.insight.debugger.runs_to_compare import ComparedRun
from msnb.insight.debugger.selection import select_nodes
from msnb.insight.debugger.table import TextTable
from msnb.ir.anf import CNode
from msnb.ir.compare import Comparison, compare

_ALL_AT_ONCE = 64 << 20  # if the values have more bytes, the compiled call reduces them; this takes longer to compile
_ROUNDINGS = 4.0  # tolerance as a multiple of the rounding error of one operation
_TINY = 2.0**-126  # the smallest normal float32
_DRAWS = 3  # number of random perturbations that measure the sensitivity of a node
AS_THEY_ARE, COPY = "as they are", "copy"


@dataclasses.dataclass(frozen=True)
class Pair:
    """A node of A, its counterpart in B, and the results that are compared.

    Attributes:
        node (CNode): node of A.
        mate (CNode): node of B.
        slots (tuple): (index of the value in A, index of the value in B) per compared result.
        note (str): the reason why nothing is compared, "" otherwise.
    """

    node: CNode
    mate: CNode
    slots: tuple[tuple[int, int], ...]
    note: str = ""


@dataclasses.dataclass(frozen=True)
class NodeDifference:
    """The difference of two runs at one node. Magnitudes are the largest over all elements of all results.

    Attributes:
        node (CNode): node of A.
        mate (CNode): the counterpart in B.
        total (float): difference between the values of the two runs.
        came_in (float): the part that came in with the operands.
        made_here (float): the part that the node makes.
        scale (float): largest magnitude of the value in A.
        tolerance (float): largest `made_here` that rounding explains.
        note (str): the reason why a part is unknown, "" otherwise.
        ulps (float): largest difference between the values of the two runs in units in the last place of the less
            precise dtype. For integers it is the difference.
        cosine (float): cosine of the angle between the values of the two runs as vectors; 1 if they have one direction.
            `ulps` and `cosine` are NaN inside loops, and if the compared values have more than 64 MB.
    """

    node: CNode
    mate: CNode
    total: float
    came_in: float
    made_here: float
    scale: float
    tolerance: float
    note: str = ""
    ulps: float = math.nan
    cosine: float = math.nan

    @property
    def exceeds(self) -> bool:
        """True if the node itself makes a difference that rounding does not explain."""
        return self.made_here > self.tolerance

    @property
    def name(self) -> str:
        """Cell path and operator, such as ``layer1.0.conv/Conv2D``."""
        return name_of_node(self.node)

    @property
    def line(self) -> str:
        """File and line of the source, "" if unknown."""
        return line_of(self.node) or line_of(self.mate)

    @property
    def dtypes(self) -> tuple[str, str] | None:
        """The dtypes of the first result that has another dtype in B, such as ``("Float32", "Float16")``; None if all
        are equal.
        """
        pairs = [(mine.dtype, theirs.dtype) for mine, theirs in zip(self.node.types, self.mate.types, strict=False)]
        return next((pair for pair in pairs if pair[0] != pair[1] and "Key" not in pair), None)

    def __str__(self) -> str:
        at = f" ({self.line})" if self.line else ""
        dtypes = f", {' and '.join(self.dtypes)}" if self.dtypes else ""
        return (
            f"{self.name}{at}: made here {_format_number(self.made_here)}, came in "
            f"{_format_number(self.came_in)}, tolerance "
            f"{_format_number(self.tolerance)}, largest value {_format_number(self.scale)}{dtypes}"
        )


class ValueDiff:
    """The result of a comparison by value.

    Args:
        first_run (ComparedRun): the run A.
        second_run (ComparedRun): the run B.
        rtol (float): tolerance relative to the largest value of a node. Default: None, computed from the dtype and the
            number of summands.
        pairs (Mapping): {query for nodes of A: query for nodes of B} of nodes to compare in addition to the matched
            ones. Default: None.
        weights (str): ``"copy"`` to copy different Parameters from A to B, or ``"as they are"`` to compare in spite of
            them. Default: None, different Parameters raise ValueError.
    """

    def __init__(
        self,
        first_run: ComparedRun,
        second_run: ComparedRun,
        rtol: float | None = None,
        pairs: Mapping[Any, Any] | None = None,
        weights: str | None = None,
    ) -> None:
        self.a, self.b, self.rtol = first_run, second_run, rtol
        self.different_weights: list[tuple[str, float]] = _compare_weights(first_run, second_run)
        if self.different_weights:
            _apply_weights_option(first_run, second_run, self.different_weights, weights)
        self.comparison: Comparison = compare(first_run.graph, second_run.graph)
        self.pairs: list[Pair] = _pair_nodes(first_run, second_run, self.comparison, pairs or {})
        if not self.pairs:
            raise ValueError(
                f"{first_run.graph.name} and {second_run.graph.name} have no node in common: there is nothing to "
                "compare. Pairs of nodes can be named: pairs={'op:Conv2D line:12': 'op:Conv2D line:40'}."
            )
        self._values: dict[int, list[tuple[Any, Any, Any]]] = {}
        self.nodes: list[NodeDifference] = self._measure_nodes()

    # ------------------------------------------------------------------ measuring
    def _measure_nodes(self):
        compared = [pair for pair in self.pairs if pair.slots]
        figures = dict(zip(map(id, compared), self._measure_pair_differences(compared), strict=True))
        bases = {id(pair): self._compute_tolerance(pair, figures[id(pair)]) for pair in compared}
        suspects = [
            pair for pair in compared if not figures[id(pair)].own <= bases[id(pair)] and not self._is_random(pair)
        ]
        if self.rtol is None and suspects:
            finite = [pair for pair in suspects if math.isfinite(figures[id(pair)].own)]
            for pair, response in zip(finite, self._measure_sensitivities(finite), strict=True):
                bases[id(pair)] = max(bases[id(pair)], _ROUNDINGS * response)
        entries = []
        for pair in self.pairs:
            inside = self._measure_inside_loops(pair)
            entry = self._make_node_difference(pair, figures.get(id(pair)), bases.get(id(pair), 0.0))
            if any(each.exceeds for each in inside):
                entry = dataclasses.replace(entry, tolerance=math.inf, note=_MADE_INSIDE)
            elif inside:  # the rounding errors of all nodes and rounds add up
                entry = dataclasses.replace(entry, tolerance=entry.tolerance * _ROUNDINGS * (1 + len(inside)))
            entries += [entry, *inside]
        return entries

    # ------------------------------------------------------------------ loops
    def _measure_inside_loops(self, pair):
        """Return the differences of the nodes inside two loops. Each is the largest over all rounds."""
        first, second = (
            run.equations.by_node()[node.id].loop for run, node in ((self.a, pair.node), (self.b, pair.mate))
        )
        if first is None or second is None or not self._is_compiled_jointly or not are_alike(first, second):
            return []
        pairs = [each for each in self._pair_loop_nodes(first.body, second.body) if each.slots]
        slots = [slot for each in pairs for slot in each.slots]
        if not slots:
            return []
        sources, dtypes = {j: i for i, j in slots}, _map_index_to_dtype(second.body)

        def substitutes(values):
            return {j: _cast(values[i], dtypes[j]) for j, i in sources.items()}

        def measure(a, b, hybrid):
            return jnp.stack([_measure_difference_in_program((a[i], b[j], hybrid[j])) for i, j in slots])

        def compare_loops(a, b, hybrid):
            return run_together(first, second, a, b, hybrid.read, substitutes, measure, len(slots))

        rows = iter(np.asarray(self._run_jointly(compare_loops)).tolist())
        entries = []
        for each in pairs:
            figure = _select_largest_difference([_Figure(*next(rows)) for _ in each.slots])
            # the sensitivity of a node inside a loop is not measured
            entries.append(self._make_node_difference(each, figure, 2 * self._compute_tolerance(each, figure)))
        return entries

    def _pair_loop_nodes(self, first, second):
        by_id = {node.id: number for number, node in enumerate(self.a.graph.all_nodes())}
        mates = {node.id: number for number, node in enumerate(self.b.graph.all_nodes())}
        links = dict(reversed(self.comparison.links))
        theirs = {mates[node_id]: equation for node_id, equation in second.by_node().items()}
        pairs = []
        for node_id, equation in first.by_node().items():
            mate = theirs.get(links.get(by_id[node_id], -1))
            if mate is not None:
                slots, note = _match_results(equation.node, mate.node, equation.results, mate.results)
                pairs.append(Pair(equation.node, mate.node, slots, note))
        return pairs

    def _make_node_difference(self, pair, figure, tolerance):
        if figure is None:
            # The shapes differ. If the operands have equal shapes, the node is the cause. Otherwise the operands are.
            shapes, others = (
                [source.types[slot : slot + 1] for source, slot in node.uses] for node in (pair.node, pair.mate)
            )
            incoming, own = (0.0, math.inf) if _list_shapes(shapes) == _list_shapes(others) else (math.inf, 0.0)
            return NodeDifference(pair.node, pair.mate, math.inf, incoming, own, 0.0, 0.0, pair.note)
        incoming, own, note = figure.incoming, figure.own, pair.note
        if self._is_random(pair):
            incoming, own, tolerance, note = math.nan, math.nan, math.inf, _DRAWN
        return NodeDifference(
            pair.node,
            pair.mate,
            figure.total,
            incoming,
            own,
            figure.scale,
            tolerance,
            note,
            figure.ulps,
            figure.cosine,
        )

    def _is_random(self, pair):
        """Return True for a node whose random numbers differ because one run is in PYNATIVE mode and one in GRAPH
        mode.
        """
        return is_random(pair.node) and self.a.equations.is_traceable != self.b.equations.is_traceable

    @property
    def _is_compiled_jointly(self):
        runs = self.a, self.b
        are_traced = all(run.equations.is_traceable and run.values is None for run in runs)
        return are_traced and self.a.device == self.b.device

    def _measure_pair_differences(self, pairs):
        nbytes = sum(pair.node.types[0].nbytes * 3 for pair in pairs if pair.node.types)
        if not self._is_compiled_jointly or nbytes <= _ALL_AT_ONCE:
            return [_measure_difference_on_host(values) for values in self._compute_pair_values(pairs)]

        def reduce(values):
            return jnp.stack([_measure_difference_in_program(triple) for triples in values for triple in triples])

        rows = iter(np.asarray(self._run_jointly_on_pairs(pairs, reduce)).tolist())
        return [_select_largest_difference([_Figure(*next(rows)) for _ in pair.slots]) for pair in pairs]

    def _compute_pair_values(self, pairs):
        """Return, per pair, [(value in A, value in B, value of B's node on A's operands)] of the compared results."""
        if self._is_compiled_jointly:
            values = self._run_jointly_on_pairs(pairs, lambda values: values)
        else:
            values = self._compute_values_separately(pairs)
        return [[tuple(map(np.asarray, triple)) for triple in triples] for triples in values]

    def _run_jointly_on_pairs(self, pairs, finish):
        def select(a, b, hybrid):
            return finish([[(a[i], b[j], hybrid[j]) for i, j in pair.slots] for pair in pairs])

        return self._run_jointly(select)

    def _run_jointly(self, select):
        """Return ``select(values of A, values of B, values of B on the operands of A)`` of one compiled call."""
        first, second = self.a.equations, self.b.equations
        shared = _map_equal_inputs(self.a, self.b)
        rest = [index for index in range(second.n_inputs) if index not in shared]

        def compute(inputs, others):
            mine = dict(zip(rest, others, strict=True))
            theirs = [inputs[shared[i]] if i in shared else mine[i] for i in range(second.n_inputs)]
            a, b = first.evaluate(inputs), second.evaluate(theirs)
            replaced = self._select_substitutes(a)
            hybrid = second.evaluate(theirs, replaced)
            return select(a, b, _Hybrid(hybrid, replaced))

        others = [self.b.inputs[index] for index in rest]
        inputs = self.a.inputs
        if self.a.device is not None:
            inputs, others = jax.device_put((inputs, others), self.a.device)
        return jax.jit(compute)(inputs, others)

    def _compute_values_separately(self, pairs):
        a, b = self.a.compute_values(), self.b.compute_values()
        hybrid = self.b.compute_on(self._select_substitutes(a))
        return [[(a[i], b[j], hybrid[j]) for i, j in pair.slots] for pair in pairs]

    def _select_substitutes(self, values):
        """Return the values of A for the results of B's paired nodes, in B's dtype."""
        return {
            index: _cast(values[source], self._dtype_in_b[index])
            for index, source in self._index_in_a.items()
            if source in values
        }

    @functools.cached_property
    def _index_in_a(self):
        """{index of a value of B: index of the value of A that replaces it}.

        If B computes a node in lower precision and casts the result back, the value of A also replaces the result of
        the cast. So the rounding counts as made at the node and not at its readers.
        """
        sources = {j: i for pair in self.pairs for i, j in pair.slots}
        rounded = {
            j
            for pair in self.pairs
            for slot, (_, j) in zip(_list_compared_slots(self.b, pair), pair.slots, strict=True)
            if _get_epsilon(pair.mate.types[slot].dtype) > _get_epsilon(pair.node.types[slot].dtype)
        }
        for equation in self.b.equations.equations:
            node = equation.node
            if node is not None and node.op == "Cast" and rounded.intersection(equation.operands[:1]):
                (result,) = equation.results
                if result is not None and result not in sources:
                    sources[result] = sources[equation.operands[0]]
        return sources

    @functools.cached_property
    def _dtype_in_b(self):
        return _map_index_to_dtype(self.b.equations)

    # ------------------------------------------------------------------ tolerances
    def _compute_tolerance(self, pair, figure):
        if self.rtol is not None:
            return self.rtol * figure.scale
        scale = figure.scale if math.isfinite(figure.scale) else 0.0
        return _ROUNDINGS * self._compute_pair_epsilon(pair) * math.sqrt(count_summands(pair.node)) * scale

    def _compute_pair_epsilon(self, pair):
        """Return the larger rounding error of two paired nodes.

        The error of B's node is limited to the rounding error of B's main precision.
        """
        mine, theirs = (max((_get_epsilon(t.dtype) for t in n.types), default=0.0) for n in (pair.node, pair.mate))
        return max(mine, min(theirs, self._median_epsilon_of_b))

    @functools.cached_property
    def _median_epsilon_of_b(self):
        """The median rounding error of B's nodes, which is that of its main precision."""
        epsilons = sorted(_get_epsilon(pair.mate.dtype) for pair in self.pairs if _get_epsilon(pair.mate.dtype))
        return epsilons[(len(epsilons) - 1) // 2] if epsilons else 0.0

    def _measure_sensitivities(self, pairs):
        """Return, per pair, the largest change of A's result when its operands change by rounding errors."""
        by_node = self.a.equations.by_node()
        rng = np.random.default_rng(0)
        jobs = []
        for pair in pairs:
            equation, epsilon = by_node[pair.node.id], self._compute_pair_epsilon(pair)
            outputs = [equation.results.index(i) for i, _ in pair.slots]
            jobs.append((equation, epsilon, outputs))

        def compute(values):
            responses = []
            for equation, epsilon, outputs in jobs:
                operands = [values[index] for index in equation.operands]
                base = equation.run(operands)
                largest = []
                for _ in range(_DRAWS):
                    changed = equation.run([_perturb_operand(operand, epsilon, rng) for operand in operands])
                    largest += [_max_or_zero(_compute_abs_difference(changed[slot], base[slot])) for slot in outputs]
                responses.append(jnp.max(jnp.stack(largest)))
            return responses

        equations = self.a.equations
        if equations.is_traceable:
            return [float(r) for r in jax.jit(lambda inputs: compute(equations.evaluate(inputs)))(self.a.inputs)]
        return [float(r) for r in compute(self.a.compute_values())]

    # ------------------------------------------------------------------ results
    @functools.cached_property
    def first(self) -> NodeDifference | None:
        """The first node in the order of execution whose `made_here` exceeds its tolerance; None if there is none."""
        return next((entry for entry in self.nodes if entry.exceeds), None)

    @property
    def unmatched(self) -> tuple[list[CNode], list[CNode]]:
        """The nodes of A and of B without a counterpart."""
        mine, theirs = {p.node.id for p in self.pairs}, {p.mate.id for p in self.pairs}
        inner_a, inner_b = _collect_inner_node_ids(self.a.graph), _collect_inner_node_ids(self.b.graph)
        return (
            [n for n in self.a.graph.nodes if n.id not in mine | inner_a and not self.a.is_dumped],
            [node for node in self.b.graph.nodes if node.id not in theirs and node.id not in inner_b],
        )

    def values(self, node: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (value in A, value in B, value of B's node on the operands of A) of the first result of a node.

        Args:
            node (Union[str, int, CNode, NodeDifference]): a query for nodes of A; the first match counts.

        Raises:
            ValueError: If no node matches, or it has no counterpart in B.
        """
        node = node.node if isinstance(node, NodeDifference) else select_nodes(self.a.graph, node)[0]
        pair = next((pair for pair in self.pairs if pair.node.id == node.id), None)
        if pair is None or not pair.slots:
            raise ValueError(f"{name_of_node(node)} can't be compared: {pair.note if pair else 'B has no such node'}.")
        return self._compute_pair_values([pair])[0][0]

    def table(self) -> TextTable:
        """Return a table with a row per node, in the order of execution. Nodes whose `made_here` exceeds the tolerance
        are marked.
        """
        rows = []
        for entry in self.nodes:
            kind = entry.node.types[0].short() if entry.node.types else ""
            kind += f" and {entry.dtypes[1]}" if entry.dtypes else ""
            figures = (entry.total, entry.came_in, entry.made_here, entry.tolerance, entry.scale, entry.ulps)
            cells = [*map(_format_number, figures), _format_cosine(entry.cosine)]
            rows.append([entry.name, kind, *cells, short_line(entry.line), entry.note])
        columns = ["node", "value", "difference", "came in", "made here", "tolerance", "largest value", "ulps"]
        columns += ["cosine", "line", "note"]
        return TextTable(columns, rows, [entry.exceeds for entry in self.nodes])

    def explain(self) -> str:
        """Return the comparison in sentences with numbers and lines."""
        return "\n".join(self._generate_sentences())

    def _generate_sentences(self):
        count = len(self.nodes)
        yield (
            f"{self.a.name} ({self.a.graph.name}) and {self.b.name} ({self.b.graph.name}) have {count} "
            f"node{'s' if count != 1 else ''} in common."
        )
        yield from self._describe_dtype_differences()
        first = self.first
        makers = [entry for entry in self.nodes if entry.exceeds]
        if first is None:
            yield from self._describe_equality()
        else:
            yield _describe_first_difference(first) + (
                f" It is {self._format_dtypes(first.dtypes)}." if first.dtypes else ""
            )
            for entry in sorted(makers, key=_compute_relative_difference, reverse=True)[:4]:
                if entry is not first:
                    dtypes = f"; it is {self._format_dtypes(entry.dtypes)}" if entry.dtypes else ""
                    yield f"{_format_location(entry)} also makes {_format_own_difference(entry)}{dtypes}."
            if len(makers) > 5:
                yield f"{len(makers) - 5} more nodes make differences above their tolerance; table() lists them."
        yield from self._describe_result_difference()
        drawn = [entry for entry in self.nodes if entry.note == _DRAWN]
        if drawn:
            names = ", ".join(_format_location(entry) for entry in drawn[:3])
            yield f"Left out, because the modes draw different random numbers: {names}."
        yield from (run.note for run in (self.a, self.b) if run.note)
        for nodes, run in zip(self.unmatched, (self.a, self.b), strict=True):
            if nodes:
                names = ", ".join(f"{name_of_node(n)}{in_brackets(line_of(n))}" for n in nodes[:3])
                more = f" and {len(nodes) - 3} more" if len(nodes) > 3 else ""
                yield f"Only in {run.name}: {names}{more}."
        if self.different_weights:
            name, largest = self.different_weights[0]
            yield (
                f"{len(self.different_weights)} Parameters differ between the runs, first {name} (by up to "
                f"{_format_number(largest)}): these differences count as made where a node reads them."
            )

    def _describe_dtype_differences(self):
        """Return sentences about the nodes whose dtype differs, one for each pair of dtypes."""
        entries: dict[tuple[str, str], list[NodeDifference]] = {}
        for entry in self.nodes:
            if entry.dtypes is not None:
                entries.setdefault(entry.dtypes, []).append(entry)
        for dtypes, those in entries.items():
            verb = "is" if len(those) == 1 else "are"
            first = f": {_format_location(those[0])}" if len(those) == 1 else f", first {_format_location(those[0])}"
            yield f"{len(those)} of them {verb} {self._format_dtypes(dtypes)}{first}."

    def _format_dtypes(self, dtypes):
        return f"{dtypes[0]} in {self.a.name} and {dtypes[1]} in {self.b.name}"

    def _describe_equality(self):
        numeric = [entry for entry in self.nodes if math.isfinite(entry.made_here)]
        if all(entry.total == 0 for entry in numeric):
            has_equal_dtypes = all(entry.dtypes is None for entry in self.nodes)
            yield "All their values are equal, bit by bit." if has_equal_dtypes else "All their values are equal."
            return
        worst = max(numeric, key=_compute_relative_difference)
        yield (
            "No node makes more than rounding explains. The largest own difference is "
            f"{_format_own_difference(worst)}, at "
            f"{_format_location(worst)}; its tolerance is {_format_number(worst.tolerance)}."
        )

    def _describe_result_difference(self):
        ends = {node.id for node, _ in self.a.graph.outputs if isinstance(node, CNode)}
        results = [entry for entry in self.nodes if entry.node.id in ends and math.isfinite(entry.total)]
        last = results[-1] if results else None
        if last is not None and last.total > 0:
            yield (
                f"The result {_format_location(last)} differs by up to {_format_number(last.total)}, where "
                "its largest value is "
                f"{_format_number(last.scale)}: {_format_number(last.came_in)} came in, "
                f"{_format_number(last.made_here)} is made there."
            )

    def __repr__(self) -> str:
        first = self.first
        return f"ValueDiff({len(self.nodes)} nodes, first difference: {first.name if first else 'none'})"


class _Hybrid(dict):
    """{index: value} of B's equations, evaluated on the operands of A. `read` is {index: value} that they read."""

    def __init__(self, values, replaced):
        super().__init__(values)
        self.read = {**values, **replaced}


# ---------------------------------------------------------------------- sentences
def _format_number(value):
    return "" if math.isnan(value) else f"{value:.3g}"


def _format_cosine(cosine):
    return "" if math.isnan(cosine) else f"{cosine:.7g}"


def _compute_relative_difference(entry):
    if math.isinf(entry.made_here):
        return math.inf
    return entry.made_here / entry.scale if entry.scale and math.isfinite(entry.made_here) else 0.0


def _format_location(entry):
    return f"{entry.name}{in_brackets(entry.line)}"


def _format_own_difference(entry):
    share = f", {_compute_relative_difference(entry):.2g} of its largest value" if entry.scale else ""
    return f"{_format_number(entry.made_here)}{share}"


def _describe_first_difference(first):
    if first.note == _OTHER_SHAPE:
        shapes = first.node.types[0].short(), first.mate.types[0].short()
        return f"The first difference is made at {_format_location(first)}: the result is {shapes[0]} and {shapes[1]}."
    if math.isinf(first.made_here):
        return (
            f"The first difference is made at {_format_location(first)}: one run has NaN or infinity there, and "
            "the other not."
        )
    came = f"; {_format_number(first.came_in)} came in" if first.came_in else "; nothing came in before"
    return (
        f"The first difference is made at {_format_location(first)}: {_format_own_difference(first)}, "
        f"{first.made_here / first.tolerance:.2g} times its tolerance{came}."
        if first.tolerance
        else f"The first difference is made at {_format_location(first)}: {_format_own_difference(first)}{came}."
    )


# ---------------------------------------------------------------------- figures
@dataclasses.dataclass(frozen=True)
class _Figure:
    """The largest differences at one node (total, came in, made here), its largest value in A, the total difference
    in units in the last place, and the cosine of the two values. The last two are computed on the host only.
    """

    total: float
    incoming: float
    own: float
    scale: float
    ulps: float = math.nan
    cosine: float = math.nan


def _measure_difference_on_host(triples):
    """Return the figures of one node from its values, in float64 on the host."""
    return _select_largest_difference(
        [
            _Figure(
                _compute_max_difference(b, a),
                _compute_max_difference(b, hybrid),
                _compute_max_difference(hybrid, a),
                _compute_max_magnitude(a),
                _compute_max_ulps(a, b),
                _compute_cosine(a, b),
            )
            for a, b, hybrid in triples
        ]
    )


def _select_largest_difference(figures):
    """Return the figures of the result that differs most, relative to its magnitude."""

    def badness(figure):
        return tuple(part / figure.scale if figure.scale else part for part in (figure.own, figure.total))

    return max(figures, key=badness)


def _to_float64(array):
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _compute_max_difference(x, y):
    if not x.size:
        return 0.0
    x, y = _to_float64(x), _to_float64(y)
    equal = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(all="ignore"):
        apart = np.where(equal, 0.0, np.abs(x - y))
    largest = float(np.max(np.where(np.isnan(apart), np.inf, apart)))
    return largest


def _compute_max_magnitude(x):
    magnitudes = np.abs(_to_float64(x))
    return float(np.max(magnitudes, initial=0.0, where=np.isfinite(magnitudes)))


def _compute_max_ulps(x, y):
    """Return the largest difference of two arrays in units in the last place of the less precise dtype."""
    if not x.size:
        return 0.0
    epsilon = max(_get_rounding_error(x), _get_rounding_error(y))
    if not epsilon:
        return _compute_max_difference(x, y)
    x, y = _to_float64(x), _to_float64(y)
    largest = np.maximum(np.abs(x), np.abs(y))
    spacing = epsilon * np.exp2(np.frexp(np.where(np.isfinite(largest), largest, 0.0))[1] - 1.0)
    equal = (x == y) | (np.isnan(x) & np.isnan(y))
    with np.errstate(all="ignore"):
        apart = np.where(equal, 0.0, np.abs(x - y)) / np.maximum(spacing, _TINY * epsilon)
    return float(np.max(np.where(np.isnan(apart), np.inf, apart)))


def _compute_cosine(x, y):
    """Return the cosine of two arrays as vectors, without the elements that are not finite."""
    x, y = (np.where(np.isfinite(z), z, 0) for z in (_to_float64(x).ravel(), _to_float64(y).ravel()))
    norms = np.linalg.norm(x), np.linalg.norm(y)
    if not all(norms):
        return float(norms[0] == norms[1])
    # the product of unit vectors would lose the digits of a small angle
    return float(1 - 0.5 * np.square(np.abs(x / norms[0] - y / norms[1])).sum())


def _measure_difference_in_program(triple):
    a, b, hybrid = triple
    size = jnp.where(jnp.isfinite(jnp.abs(a)), jnp.abs(a), 0).astype(jnp.float32)
    distances = [_max_or_zero(_compute_abs_difference(x, y)) for x, y in ((b, a), (b, hybrid), (hybrid, a))]
    return jnp.stack([*distances, jnp.max(size, initial=0)])


def _compute_abs_difference(x, y):
    """Return |x - y|: 0 where both are NaN or the same infinity, infinity where one is NaN."""
    kind = jnp.promote_types(jnp.promote_types(x.dtype, y.dtype), jnp.float32)
    x, y = jnp.asarray(x, kind), jnp.asarray(y, kind)
    equal = (x == y) | (jnp.isnan(x) & jnp.isnan(y))
    apart = jnp.where(equal, 0, jnp.abs(x - y))
    return jnp.where(jnp.isnan(apart), jnp.inf, apart)


def _max_or_zero(array):
    return jnp.max(array, initial=0).astype(jnp.float32)


def _perturb_operand(operand, epsilon, rng):
    """Return an operand with random relative changes of one rounding error; integers and keys are unchanged."""
    if not is_number(operand) or not jax.dtypes.issubdtype(operand.dtype, np.inexact):
        return operand
    signs = rng.choice(np.array([-1.0, 1.0], np.float32), size=np.shape(operand))
    return operand + operand * jnp.asarray(signs * epsilon, np.real(np.zeros((), operand.dtype)).dtype)


_EPSILONS = {
    "Float16": 2.0**-10,
    "BFloat16": 2.0**-7,
    "Float32": 2.0**-23,
    "Float64": 2.0**-52,
    "Complex64": 2.0**-23,
    "Complex128": 2.0**-52,
}


def _get_epsilon(dtype):
    return _EPSILONS.get(dtype, 0.0)


def count_summands(node: CNode) -> float:
    """Return the number of terms that an element of the result sums, estimated from the shapes and the FLOPs."""
    size = max(kind.size for kind in node.types) if node.types else 0
    if not size:
        return 1.0
    read = sum(kind.size for source in node.inputs for kind in source.types[:1])
    return max(1.0, node.flops / (2 * size), read / size)


def _map_index_to_dtype(equations):
    """Return {index of a value: name of its dtype} of the results of nodes."""
    return {index: node.types[slot].dtype for node, slot, index in iterate_values(equations) if slot < len(node.types)}


def _cast(value, dtype):
    from_name = {"Float16": jnp.float16, "BFloat16": jnp.bfloat16, "Float32": jnp.float32, "Float64": jnp.float64}
    kind = from_name.get(dtype)
    return value if kind is None or value.dtype == kind else value.astype(kind)


def _list_shapes(types):
    return [each.shape for entry in types for each in entry]


# ---------------------------------------------------------------------- pairs
_OTHER_SHAPE = "its shape differs"
_MADE_INSIDE = "made by nodes inside"
_DRAWN = "draws other random numbers"


def _collect_inner_node_ids(graph):
    return {inner.id for node in graph.nodes for sub in node.graphs for inner in sub.all_nodes()}


def _pair_nodes(a, b, comparison, by_hand):
    nodes_a, nodes_b = (list(run.graph.all_nodes()) for run in (a, b))
    index_a, index_b = ({node.id: number for number, node in enumerate(nodes)} for nodes in (nodes_a, nodes_b))
    links = {}
    for first, second in comparison.links:
        links.setdefault(first, second)
    for query, other in by_hand.items():
        chosen, mates = select_nodes(a.graph, query), select_nodes(b.graph, other)
        for one, mate in zip(chosen, mates, strict=False):
            links = {x: y for x, y in links.items() if y != index_b[mate.id]}
            links[index_a[one.id]] = index_b[mate.id]
    results_a, results_b = (
        {node_id: equation.results for node_id, equation in run.equations.by_node().items()} for run in (a, b)
    )
    pairs = []
    for first in sorted(links):
        node, mate = nodes_a[first], nodes_b[links[first]]
        if node.id not in results_a or mate.id not in results_b:
            continue
        slots, note = _match_results(node, mate, results_a[node.id], results_b[mate.id])
        if a.is_dumped:
            slots = tuple(slot for slot in slots if slot[0] in a.values)
        if slots or note:
            pairs.append(Pair(node, mate, slots, note))
    return pairs


def _match_results(node, mate, mine, theirs):
    """Return (pairs of indices of the results to compare, note if none can be compared) of two nodes."""
    slots, differs = [], False
    for slot, (i, j) in enumerate(zip(mine, theirs, strict=False)):
        if i is None or j is None or slot >= min(len(node.types), len(mate.types)):
            continue
        first, second = node.types[slot], mate.types[slot]
        if "Key" in (first.dtype, second.dtype):
            continue
        if first.shape != second.shape:
            differs |= not slots
            continue
        slots.append((i, j))
    return tuple(slots), _OTHER_SHAPE if differs and not slots else ""


def _list_compared_slots(b, pair):
    """Return the slots of B's node that are compared."""
    results = b.equations.by_node()[pair.mate.id].results
    return [results.index(j) for _, j in pair.slots]


# ---------------------------------------------------------------------- inputs and weights
def _map_equal_inputs(a, b):
    """Return {index of an input of B: index of the equal input of A}."""
    params, rest = a.parameters(), [i for i, entry in enumerate(a.input_names) if entry[0] != "param"]
    shared = {}
    others = [i for i, entry in enumerate(b.input_names) if entry[0] != "param"]
    candidates = [(j, params[name]) for name, j in b.parameters().items() if name in params]
    candidates += list(zip(others, rest, strict=False))
    for j, i in candidates:
        if _are_arrays_equal(a.inputs[i], b.inputs[j]):
            shared[j] = i
    return shared


def _are_arrays_equal(x, y):
    if x is y:
        return True
    x, y = np.asarray(x), np.asarray(y)
    return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def _match_parameters(a, b):
    """Return [(name, index in A, index in B)] of the Parameters of both runs. If the runs have no name in common,
    Parameters are matched in order.
    """
    first, second = a.parameters(), b.parameters()
    common = [(name, first[name], j) for name, j in second.items() if name in first]
    if common or len(first) != len(second):
        return common
    in_order = list(zip(first.items(), second.values(), strict=True))
    if all(np.shape(a.inputs[i]) == np.shape(b.inputs[j]) for (_, i), j in in_order):
        return [(name, i, j) for (name, i), j in in_order]
    return []


def _compare_weights(a, b):
    """Return [(name, largest difference)] of the Parameters that differ.

    A cast Parameter counts as equal to its original.
    """
    different = []
    for name, i, j in _match_parameters(a, b):
        x, y = np.asarray(a.inputs[i]), np.asarray(b.inputs[j])
        if x.shape != y.shape:
            different.append((name, math.inf))
            continue
        low = x.dtype if _get_rounding_error(x) > _get_rounding_error(y) else y.dtype
        apart = _compute_max_difference(x.astype(low), y.astype(low))
        if apart:
            different.append((name, apart))
    return different


def _get_rounding_error(array):
    """Return the rounding error of an array's dtype, 0 for integers."""
    return float(jnp.finfo(array.dtype).eps) if jax.dtypes.issubdtype(array.dtype, np.inexact) else 0.0


def _apply_weights_option(a, b, different, weights):
    name, largest = different[0]
    if weights == COPY:
        if b.values is not None:
            raise ValueError(
                "For 'diff', weights='copy' can't be used with a run in PYNATIVE mode: copy the Parameters yourself by "
                "msnb.load_param_into_net(b, a.parameters_dict())."
            )
        for _, i, j in _match_parameters(a, b):
            x, y = a.inputs[i], b.inputs[j]
            if np.shape(x) == np.shape(y):
                b.inputs[j] = jnp.asarray(x, y.dtype)
        different[:] = [entry for entry in different if math.isinf(entry[1])]
        return
    if weights == AS_THEY_ARE or a.is_step or b.is_step:
        return
    count = len(different)
    apart = "has another shape" if math.isinf(largest) else f"differs by up to {_format_number(largest)}"
    raise ValueError(
        f"{a.name} and {b.name} have different weights: {count} of {len(_match_parameters(a, b))} Parameters, first "
        f"{name!r}, which {apart}. Pass weights='copy' to use those of {a.name} in both, or weights='as they are'."
    )


def diff_values(
    a: ComparedRun,
    b: ComparedRun,
    rtol: float | None = None,
    pairs: Mapping[Any, Any] | None = None,
    weights: str | None = None,
) -> ValueDiff:
    """Compare two runs by value, see `msnb.diff`.

    Raises:
        ValueError: If an argument is out of range, the weights differ, or the runs have no node in common.
        TypeError: If `pairs` is not a dict.
    """
    if rtol is not None and (isinstance(rtol, bool) or not isinstance(rtol, (int, float)) or not rtol >= 0):
        raise ValueError(f"For 'diff', 'rtol' should be a number of at least 0, but got {rtol!r}.")
    if pairs is not None and not isinstance(pairs, Mapping):
        raise TypeError(f"For 'diff', 'pairs' should be a dict of queries, but got {type(pairs).__name__}.")
    if weights not in (None, COPY, AS_THEY_ARE):
        raise ValueError(f"For 'diff', 'weights' should be 'copy' or 'as they are', but got {weights!r}.")
    return ValueDiff(a, b, rtol, pairs, weights)


def _format_node_note(entry, names):
    """Return the text that a node's panel shows below its difference."""
    if entry is None:
        return None
    note = entry.note or (
        f"{_format_number(entry.made_here)} of a largest value of {_format_number(entry.scale)}; the tolerance is "
        f"{_format_number(entry.tolerance)}"
    )
    if not entry.note and not math.isnan(entry.cosine):
        note += f"; up to {_format_number(entry.ulps)} ulps, cosine {_format_cosine(entry.cosine)}"
    if entry.dtypes is None:
        return note
    return f"{note}; {' and '.join(f'{dtype} in {name}' for dtype, name in zip(entry.dtypes, names, strict=True))}"


def columns_of(result: ValueDiff, side: int) -> dict[str, dict[str, Sequence[Any]]]:
    """Return the columns "came in" and "made here" for a graph view, relative to the largest value of each node.

    Args:
        result (ValueDiff): the comparison.
        side (int): 0 for the graph of A, 1 for that of B.
    """
    nodes = list((result.b if side else result.a).graph.all_nodes())
    entries = {(entry.mate if side else entry.node).id: entry for entry in result.nodes}
    names = result.a.name, result.b.name
    columns = {}
    for key, label in (("made_here", "made here"), ("came_in", "came in")):
        values, notes = [], []
        for node in nodes:
            entry = entries.get(node.id)
            number = math.nan if entry is None else getattr(entry, key)
            is_shown = entry is not None and math.isfinite(number)
            values.append(None if not is_shown else number / entry.scale if entry.scale else number)
            notes.append(_format_node_note(entry, names) if key == "made_here" else None)
        columns[label] = {"values": values, "label": label, "note": notes, "fold": "max"}
    return columns
