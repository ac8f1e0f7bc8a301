"""Explain the gradient of a Parameter or node: the path from the loss to it, the factor of each node, and the cause.

The loss is evaluated equation by equation inside one compiled function. A zero is added to each operand, and the
gradients with respect to these zeros are the contributions of the operands. This gives for each node the gradient with
respect to its output and the part that the node passes to its operand. The factor of the node is the quotient of their
norms. The explanation names a cause only if the numbers show it.
"""

import dataclasses
import difflib
import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from msnb.core.compat.jax_private import Literal
from msnb.core.errors.messages import describe
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import box
from msnb.insight.debugger.equations import Equation, Equations, flatten_program
from msnb.insight.debugger.loop_rounds import LoopRounds, trace_rounds
from msnb.insight.debugger.names import in_brackets, line_of, name_of_node, place_of_node, short_line
from msnb.insight.debugger.replay import Replay, program_inputs
from msnb.insight.debugger.selection import select_nodes
from msnb.insight.gradients.rows import SATURATES, main_slots
from msnb.insight.gradients.text_format import num
from msnb.ir.anf import CNode, FuncGraph, ParameterNode
from msnb.ir.api import name_of, of_program
from msnb.nn.cell import Cell

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program

_PASSES_LITTLE = 0.1  # a ReLU is reported if at most this share of its outputs is positive
_SATURATED = 0.5  # a function is reported if at least this share of its outputs is saturated
_CONFIDENT = 0.999  # a softmax is saturated if its largest probability exceeds this
_SMALL = 0.1  # a node is reported if its factor is at most this
_SMALL_PRODUCT = 1e-3  # an operator is reported if the product of its factors is at most this
_LISTED = 4  # maximum number of nodes that are named
# Operators whose gradient with respect to one operand is a product with the other operand.
_PRODUCTS = frozenset(("Mul", "MatMul", "BatchMatMul", "Conv2D", "Conv3D", "Dense", "Mm", "Bmm", "BiasDense"))


@dataclasses.dataclass(frozen=True)
class Passage:
    """One node on the way from the loss to the target.

    Attributes:
        node (Union[CNode, None]): the node; None for a helper without a node.
        name (str): Cell path and operator.
        line (str): ``file:line``, "" if unknown.
        arriving (float): norm of the gradient with respect to the output.
        leaving (float): norm of the part that goes on along the path.
    """

    node: CNode | None
    name: str
    line: str
    arriving: float
    leaving: float

    @property
    def factor(self) -> float:
        """`leaving` divided by `arriving`; NaN if nothing arrives."""
        return self.leaving / self.arriving if self.arriving else math.nan


@dataclasses.dataclass(frozen=True)
class Reason:
    """One cause that the numbers show.

    Attributes:
        kind (str): "unread", "frozen", "cut", "dead", "saturated", "small", "zero", "nonfinite" or "large".
        text (str): a sentence.
        node (Union[CNode, None]): the node to look at.
    """

    kind: str
    text: str
    node: CNode | None = None

    def __str__(self) -> str:
        return self.text


class Explanation:
    """Explanation of the size of one gradient; see `msnb.why`.

    Attributes:
        target (str): name of the Parameter, or of the node with its line.
        graph (FuncGraph): graph of the loss.
        path (list[Passage]): the nodes from the loss to the target, in the order in which the gradient passes them.
        norm (float): norm of the gradient; NaN if it could not be computed.
        rms (float): root mean square of its elements.
        reasons (list[Reason]): the causes that the numbers show, the most important first.
        rounds (list[LoopRounds]): the gradients by round of each `while` on the path.
        loss (Union[float, None]): the loss; None if it was not computed.
    """

    def __init__(
        self,
        target: str,
        graph: FuncGraph,
        path: list[Passage],
        norm: float,
        rms: float,
        reasons: list[Reason],
        loss: float | None,
        program: "Program",
        note: str = "",
        rounds: Sequence[LoopRounds] = (),
    ) -> None:
        self.target, self.graph, self.path = target, graph, path
        self.norm, self.rms, self.reasons, self.loss = norm, rms, reasons, loss
        self.program, self.note, self.rounds = program, note, list(rounds)

    @property
    def text(self) -> str:
        """The answer in sentences, and the path as a table."""
        lines = [self._format_headline(), *map(str, self.reasons)]
        if self.note:
            lines.append(self.note)
        table = self.table()
        by_round = [line for one in self.rounds for line in ("", one.table())]
        return "\n".join([*lines, "", table, *by_round] if table else lines)

    def _format_headline(self):
        loss = "" if self.loss is None else f"; the loss is {num(self.loss)}"
        if math.isnan(self.norm):
            return f"The gradient of {self.target} is not a number{loss}."
        return f"The gradient of {self.target} has norm {num(self.norm)} ({num(self.rms)} per element, RMS){loss}."

    def table(self) -> str:
        """Return the path as text: node, gradient of its output, factor, line."""
        shown = [p for p in self.path if p.node is not None or p.factor != 1.0]
        # the rows end at the first node that passes zero or NaN: all later ones pass the same
        stop = next((n for n, p in enumerate(shown) if not p.leaving or math.isnan(p.leaving)), len(shown))
        rows = [
            (p.name, num(p.arriving), num(p.leaving), "" if math.isnan(p.factor) else num(p.factor), short_line(p.line))
            for p in shown[: stop + 1]
        ]
        if not rows:
            return ""
        if len(shown) > len(rows):
            rows.append((f"and {len(shown) - len(rows)} more", "", "", "", ""))
        rows = [("from the loss", "arrives", "goes on", "factor", "line"), *rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )

    def __repr__(self) -> str:
        return self.text


# ---------------------------------------------------------------------- entry
Target = Parameter | CNode | str | int


def explain_gradient(target: Target, loss_net: Any, *inputs: Any) -> Explanation:
    """Explain the gradient with respect to a Parameter or a node for one call of a loss, see `msnb.why`.

    Raises:
        TypeError: If `loss_net` can't be called, or `target` is of another type.
        ValueError: If the loss is not a scalar, or there is no such Parameter or node.
    """
    if not callable(loss_net):
        raise TypeError(
            f"For 'why', 'loss_net' should be a Cell or function that returns the loss, but got {describe(loss_net)}."
        )
    program, arrays = program_inputs(loss_net, *inputs)
    return _explain_target(target, loss_net, loss_net, program, arrays)


def explain_step(target: Target, replay: Replay) -> Explanation:
    """Explain the gradient with respect to a Parameter or a node in a recorded training step.

    Args:
        target (Union[Parameter, CNode, str, int]): as for `msnb.why`. Nodes are those of the network that returns the
            loss.
        replay (Replay): the step.

    Raises:
        ValueError: If the Cell of the step has no attribute `network` that returns the loss.
    """
    step = replay.program.root()
    network = getattr(step, "network", None)
    if not isinstance(network, Cell):
        raise ValueError(
            f"The loss of {replay.program.name} can't be traced alone: it is no TrainOneStepCell. Pass the network "
            "that returns the loss, and the batch: msnb.why(parameter, loss_net, x, y)."
        )
    names = [entry[0] for entry in replay.program.inputs]
    batch = [box(array) for array, kind in zip(replay.inputs, names, strict=True) if kind == "arg"]
    program, arrays = program_inputs(network, *batch)
    recorded = dict(zip(map(id, replay.program.params), replay.inputs, strict=False))
    for index, stored in enumerate(program.params):
        arrays[index] = recorded.get(id(stored), arrays[index])
    if program.random and replay.program.random:
        arrays[len(program.params)] = replay.inputs[len(replay.program.params)]
    answer = _explain_target(target, step, network, program, arrays)
    results = replay.results
    if answer.loss is not None and results and results[0].ndim == 0 and not _is_close(float(results[0]), answer.loss):
        answer.note = f"The step itself had the loss {num(float(results[0]))}."
    return answer


def names_parameter(target: Any) -> bool:
    """Return True for a Parameter and for the name of one; False for a node, its number, and a query with a field."""
    return isinstance(target, Parameter) or isinstance(target, str) and ":" not in target


def _explain_target(target, owner, net, program, arrays):
    if not names_parameter(target):
        return _explain_node_gradient(target, net, program, arrays)
    return _explain_parameter_gradient(_find_parameter(target, program, owner), net, program, arrays)


def _is_close(x, y):
    return x == y or math.isnan(x) and math.isnan(y) or abs(x - y) <= 1e-3 * max(abs(x), abs(y))


def _find_parameter(parameter, program, net):
    """Return `parameter` if it is a Parameter, else the Parameter of that name."""
    if isinstance(parameter, Parameter):
        return parameter
    own = list(net.get_parameters()) if isinstance(net, Cell) else program.params
    named = {p.name: p for p in own}
    if parameter not in named:
        near = difflib.get_close_matches(parameter, named, n=3, cutoff=0.3) or list(named)[:3]
        raise ValueError(
            f"For 'why', there is no Parameter {parameter!r}. Similar ones: {', '.join(near)}. A node is selected by a "
            "query with a field, such as 'op:ReLU'."
        )
    return named[parameter]


def _explain_parameter_gradient(parameter, net, program, arrays):
    graph = of_program(program, name_of(net))
    position = next((i for i, p in enumerate(program.params) if p is parameter), None)
    if position is None:
        return _explain_unread_parameter(parameter, net, program, graph)
    equations = flatten_program(program, graph, keeps_gradient_rules=True)
    loss = _find_loss_index(program, equations, net)
    backward = _Backward(equations, position, loss, arrays)
    return backward.explain(parameter.name, program, is_frozen=not parameter.requires_grad)


def _explain_node_gradient(query, net, program, arrays):
    if isinstance(query, bool) or not isinstance(query, (CNode, str, int)):
        raise TypeError(
            "For 'why', 'target' should be a Parameter, its name, or a node such as 'op:ReLU line:12', but got "
            f"{describe(query)}."
        )
    graph = of_program(program, name_of(net))
    nodes = select_nodes(graph, query)
    equations = flatten_program(program, graph, keeps_gradient_rules=True)
    by_node = equations.by_node()
    node = next((node for node in nodes if node.id in by_node), None)
    if node is None:
        raise ValueError(
            f"For 'why', {place_of_node(nodes[0])} is inside a loop or a branch, which is one node of the path. Ask "
            "for that loop or branch."
        )
    start = by_node[node.id].results[main_slots(graph).get(node.id, 0)]
    if start is None:
        raise ValueError(f"For 'why', nothing reads the result of {place_of_node(node)}.")
    backward = _Backward(equations, start, _find_loss_index(program, equations, net), arrays)
    answer = backward.explain(place_of_node(node), program)
    if len(nodes) > 1:
        answer.note = f"{len(nodes)} nodes match {query!r}; this is the first in the order of execution."
    return answer


def _explain_unread_parameter(parameter, net, program, graph):
    owned = isinstance(net, Cell) and any(p is parameter for p in net.get_parameters())
    if not owned and isinstance(net, Cell):
        raise ValueError(f"For 'why', {parameter.name} is no Parameter of {name_of(net)}.")
    text = f"{parameter.name} is not read: nothing that computes the loss uses it."
    return Explanation(parameter.name, graph, [], 0.0, 0.0, [Reason("unread", text)], None, program)


def _find_loss_index(program, equations, net):
    """Return the index of the loss: the first result that is a real scalar."""
    shapes = []
    for index in range(program.n_results - bool(program.errors)):  # the last result has the flags of failed checks
        aval = program.jaxpr.out_avals[index]
        shapes.append(aval.shape)
        if math.prod(aval.shape) == 1 and jax.dtypes.issubdtype(aval.dtype, np.floating):
            return equations.outputs[index]
    raise ValueError(
        f"For 'why', {name_of(net)} should return a scalar loss, but its result has shape "
        f"{shapes[0] if shapes else ()}. Wrap it: nn.WithLossCell(net, loss_fn)."
    )


# ---------------------------------------------------------------------- numbers
class _Edge:
    """One operand of an equation: the value with index `source` at `position`."""

    __slots__ = ("equation", "position", "source")

    def __init__(self, equation: int, position: int, source: int) -> None:
        self.equation, self.position, self.source = equation, position, source


class _Backward:
    """The gradients along all paths between a value and the loss.

    Args:
        equations (Equations): the equations of the loss.
        start (int): index of the value of a Parameter or of a node.
        loss (int): index of the loss among the values.
        inputs (list): the inputs.
    """

    def __init__(self, equations: Equations, start: int, loss: int, inputs: list[Any]) -> None:
        self.equations, self.start, self.loss, self.inputs = equations, start, loss, inputs
        self.edges: list[_Edge] = self._list_edges_to_loss()
        self.values, gradients = self._compute_gradients()
        self.norms: list[float] = [_norm(g) for g in gradients]
        self.gradients = gradients
        self.readers: dict[int, list[int]] = {}
        for number, edge in enumerate(self.edges):
            self.readers.setdefault(edge.source, []).append(number)

    def _list_edges_to_loss(self):
        """Return the edges on the paths from the start to the loss."""
        all_edges, dependent = [], {self.start}
        for number, equation in enumerate(self.equations.equations):
            reads = [_Edge(number, at, index) for at, index in enumerate(equation.operands) if index in dependent]
            if reads:
                all_edges += reads
                dependent.update(index for index in equation.results if index is not None)
        needed, edges = {self.loss}, []
        for edge in reversed(all_edges):
            if needed.intersection(self.equations.equations[edge.equation].results):
                edges.append(edge)
                needed.add(edge.source)
        return edges[::-1]

    def _compute_gradients(self):
        """Return ({index: value}, gradient of each edge or None if its value has no gradient)."""
        steps, loss = self.equations.equations, self.loss
        by_place = {(edge.equation, edge.position): number for number, edge in enumerate(self.edges)}

        def evaluate(inputs, shifts):
            values = {**dict(enumerate(inputs)), **self.equations.constants}
            for number, equation in enumerate(steps):
                operands = []
                for at, index in enumerate(equation.operands):
                    shift = shifts.get(by_place.get((number, at)))
                    operands.append(values[index] if shift is None else values[index] + shift)
                results = equation.run(operands)
                values.update((i, value) for i, value in zip(equation.results, results, strict=True) if i is not None)
            return jnp.reshape(values[loss], ()), values

        @jax.jit
        def compute(inputs):
            kinds = jax.eval_shape(lambda *each: evaluate(each, {})[1], *inputs)
            shifts = {
                number: jnp.zeros(kinds[edge.source].shape, kinds[edge.source].dtype)
                for number, edge in enumerate(self.edges)
                if jax.dtypes.issubdtype(kinds[edge.source].dtype, np.floating)
            }
            gradients, values = jax.grad(lambda s: evaluate(inputs, s), has_aux=True)(shifts)
            return gradients, {i: value for i, value in values.items() if _is_numeric(value)}

        gradients, values = compute(list(self.inputs))
        return values, [gradients.get(number) for number in range(len(self.edges))]

    def cotangent(self, index: int) -> Any:
        """Return the gradient with respect to a value, None if it has none."""
        if index == self.loss:
            return np.ones((), np.float32)
        gradients = [self.gradients[number] for number in self.readers.get(index, ())]
        arrays = [np.asarray(gradient) for gradient in gradients if gradient is not None]
        return functools.reduce(np.add, arrays) if arrays else None

    def arriving(self, equation: Equation) -> float:
        """Return the norm of the gradient with respect to the results of an equation."""
        norms = [_norm(self.cotangent(index)) for index in equation.results if index is not None]
        return math.sqrt(sum(norm**2 for norm in norms))

    # ------------------------------------------------------------------ path
    def path(self) -> list[int]:
        """Return the edges of the most important path from the start to the loss.

        It follows the largest gradient. Where no gradient arrives, it takes the shortest way to an equation that a
        gradient reaches.
        """
        number = self._select_first_edge()
        path = []
        while number is not None:
            path.append(number)
            equation = self.equations.equations[self.edges[number].equation]
            following = [n for index in equation.results if index is not None for n in self.readers.get(index, ())]
            if self.loss in equation.results or not following:
                break
            largest = max(following, key=lambda n: _replace_nan_by_infinity(self.norms[n]))
            if self.norms[largest] == 0 and not self._computes_loss(equation):
                shortest = self._find_shortest_path_to_gradient(following)
                path += shortest[:-1]
                number = shortest[-1]
            else:
                number = largest
        return path

    def _computes_loss(self, equation):
        return self.loss in equation.results

    def _select_first_edge(self):
        following = self.readers.get(self.start, [])
        if not following:
            return None
        largest = max(following, key=lambda n: _replace_nan_by_infinity(self.norms[n]))
        return largest if self.norms[largest] != 0 else self._select_edge_toward_gradient(following)

    def _select_edge_toward_gradient(self, following):
        return self._find_shortest_path_to_gradient(following)[0]

    def _find_shortest_path_to_gradient(self, following):
        """Return edges from one of `following` to an equation that a gradient reaches, by breadth-first search."""
        queue, seen = [[n] for n in following], set(following)
        first = queue[0]
        while queue:
            way = queue.pop(0)
            equation = self.equations.equations[self.edges[way[-1]].equation]
            if self._computes_loss(equation) or self.arriving(equation) != 0:
                return way
            for index in equation.results:
                for number in self.readers.get(index, ()) if index is not None else ():
                    if number not in seen:
                        seen.add(number)
                        queue.append([*way, number])
        return first

    def passages(self, path: Sequence[int]) -> list[Passage]:
        """Return the Passage of each equation of a path, starting at the loss."""
        result = []
        for number in reversed(path):
            equation = self.equations.equations[self.edges[number].equation]
            result.append(
                Passage(
                    equation.node,
                    _get_equation_name(equation),
                    line_of(equation.node) if equation.node is not None else "",
                    self.arriving(equation),
                    self.norms[number],
                )
            )
        return result

    # ------------------------------------------------------------------ reasons
    def explain(self, target: str, program: "Program", is_frozen: bool = False) -> Explanation:
        """Return the explanation for the start, whose name is `target`."""
        graph, loss = self.equations.graph, float(np.asarray(self.values[self.loss]).reshape(()))
        gradient = self.cotangent(self.start)
        path = self.path()
        norm = 0.0 if gradient is None else _norm(gradient)
        rms = 0.0 if gradient is None or not gradient.size else norm / math.sqrt(gradient.size)
        reasons = list(self._generate_reasons(target, is_frozen, path, norm))
        norm = norm if math.isfinite(norm) else math.nan
        rounds = self._trace_loops(target, path) if norm > 0 and math.isfinite(norm) else ()
        return Explanation(target, graph, self.passages(path), norm, rms, reasons, loss, program, rounds=rounds)

    def _trace_loops(self, target, path):
        """Return the gradients by round of the loops on a path, in the order in which the gradient passes them."""
        traced = []
        for number in reversed(path):
            edge = self.edges[number]
            equation = self.equations.equations[edge.equation]
            if equation.node is None or equation.node.op != "While":
                continue
            values = {**dict(enumerate(self.inputs)), **self.equations.constants, **self.values}
            traced.append(
                trace_rounds(
                    equation.jaxpr,
                    [values[index] for index in equation.operands],
                    [self.cotangent(index) for index in equation.results if index is not None],
                    edge.position,
                    name_of_node(equation.node).rpartition("/")[0] or equation.node.name,
                    target if edge.source == self.start else "the value before",
                )
            )
        return [one for one in traced if one is not None]

    def _generate_reasons(self, target, is_frozen, path, norm):
        if is_frozen:
            yield Reason("frozen", f"{target}.requires_grad is False, so that no training takes this gradient.")
        bad_value = self._explain_first_nonfinite()
        if bad_value is not None:
            yield bad_value
            return
        if not self.edges:
            yield Reason("cut", f"The loss does not depend on {target}: {self._describe_dependency_end()}")
            return
        if not math.isfinite(norm):
            yield self._explain_nonfinite_gradient()
            return
        if norm == 0:
            yield from self._explain_zero_gradient(path)
            return
        yield from self._explain_small_factors(path)

    def _explain_first_nonfinite(self):
        """Return the Reason for the first NaN among the values that the loss depends on, or for the first infinity."""
        needed = self._collect_values_for_loss()
        for index in range(self.equations.n_inputs):
            if _classify_nonfinite(self.values.get(index)) and index in needed:
                name = self.equations.graph.parameters[index].name
                return Reason(
                    "nonfinite",
                    f"{name}, which the loss reads, is not finite: {self._describe_nonfinite_value(index)}.",
                )
        first = {}
        for equation in self.equations.equations:
            for index in equation.results:
                kind = _classify_nonfinite(self.values.get(index)) if index in needed else ""
                if kind:
                    first.setdefault(kind, (equation, index))
        # an infinity may be intended, such as a mask of attention, if the loss is finite
        bad = first.get("NaN") or (first.get("Inf") if _classify_nonfinite(self.values[self.loss]) else None)
        return None if bad is None else self._make_nonfinite_reason(*bad)

    def _trace_nonfinite_origin(self, equation, index):
        """Follow operands that are not finite back to the first one. Return (its equation, its index)."""
        made_by = {i: each for each in self.equations.equations for i in each.results if i is not None}
        while True:
            before = [i for i in equation.operands if i in made_by and _classify_nonfinite(self.values.get(i))]
            if not before:
                return equation, index
            index = before[0]
            equation = made_by[index]

    def _describe_nonfinite_value(self, index):
        return _format_nonfinite_counts(self.values[index])

    def _collect_values_for_loss(self):
        needed = {self.loss}
        for equation in reversed(self.equations.equations):
            if needed.intersection(equation.results):
                needed.update(equation.operands)
        return needed

    def _make_nonfinite_reason(self, equation, index):
        origin, first = self._trace_nonfinite_origin(equation, index)
        text = (
            f"{_format_equation_location(origin)} makes the first values that are not finite: "
            f"{self._describe_nonfinite_value(first)}."
        )
        text += self._describe_invalid_operands(origin)
        if origin is not equation:
            text += (
                f" {_format_equation_location(equation)} makes NaN of them."
                if _classify_nonfinite(self.values[index]) == "NaN"
                else ""
            )
        return Reason("nonfinite", text, origin.node)

    def _describe_invalid_operands(self, equation):
        """Return a sentence about the operands that explain an operator's NaN or infinity; "" if none do."""
        if equation.node is None:
            return ""
        operands = [np.asarray(self.values[i]) for i in equation.operands if i in self.values]
        operands = [_to_float64(o) for o in operands if o.size and o.dtype.kind != "c"]
        if not operands:
            return ""
        op, first = equation.node.op.lower(), operands[0]
        zeros, negative = int((first == 0).sum()), int((first < 0).sum())
        if op in ("log", "log1p"):
            limit = -1.0 if op == "log1p" else 0.0
            at_limit, below = int((first == limit).sum()), int((first < limit).sum())
            if at_limit or below:
                return f" Its operand has {at_limit} of {first.size} elements equal to {limit:g} and {below} below."
        if op in ("sqrt", "rsqrt") and (negative or zeros and op == "rsqrt"):
            return f" Its operand has {zeros} of {first.size} elements equal to 0 and {negative} below."
        if op in ("div", "realdiv", "truediv", "floordiv", "mod", "reciprocal", "inv"):
            divisor = operands[-1]
            count = int((divisor == 0).sum())
            if count:
                return f" Its divisor has {count} of {divisor.size} elements equal to 0."
        finite = first[np.isfinite(first)]
        if finite.size:
            return f" Its operand ranges from {num(finite.min())} to {num(finite.max())}."
        return ""

    def _explain_nonfinite_gradient(self):
        """Return the Reason for the first gradient of the backward pass that is not finite."""
        for number in range(len(self.edges) - 1, -1, -1):
            gradient = self.gradients[number]
            if gradient is None or not _classify_nonfinite(gradient):
                continue
            equation = self.equations.equations[self.edges[number].equation]
            arriving = self.arriving(equation)
            operand = np.asarray(self.values[self.edges[number].source])
            wide = _to_float64(operand)
            text = (
                f"{_format_equation_location(equation)} makes the first gradient that is not finite: "
                f"{_format_nonfinite_counts(gradient)}, where one "
                f"of norm {num(arriving)} arrives. Its operand ranges from {num(wide.min())} to {num(wide.max())} and "
                f"has {int((wide == 0).sum())} of {wide.size} elements equal to 0."
            )
            return Reason("nonfinite", text, equation.node)
        return Reason("nonfinite", "The sum of the gradients overflows.")

    def _describe_dependency_end(self):
        """Return a clause that names the last equation whose value depends on the start."""
        dependent, last = {self.start}, None
        for equation in self.equations.equations:
            if dependent.intersection(equation.operands):
                dependent.update(index for index in equation.results if index is not None)
                last = equation
        return (
            f"what is computed from it ends at {_format_equation_location(last)}."
            if last is not None
            else "nothing reads it."
        )

    def _explain_zero_gradient(self, path):
        """Yield a Reason for each equation, on any path to the start, that turns a nonzero gradient into zero."""
        reasons, seen = [], set()
        for number, edge in enumerate(self.edges):
            equation = self.equations.equations[edge.equation]
            if self.norms[number] != 0 or id(equation) in seen or self._passes_any_gradient(edge.equation):
                continue
            if not jax.dtypes.issubdtype(self.values[edge.source].dtype, np.floating):
                continue  # the equation that computes the integers cuts the gradient
            arriving = self.arriving(equation)
            if arriving != 0 or not self._has_gradient(equation):
                seen.add(id(equation))
                reasons.append(self._explain_stopped_gradient(equation, edge, arriving))
        reasons = [reason for reason in reasons if reason is not None]
        reasons.sort(key=lambda reason: ("cut", "dead", "saturated", "zero").index(reason.kind))
        yield from reasons[:_LISTED]
        if len(reasons) > _LISTED:
            yield Reason("zero", f"{len(reasons) - _LISTED} more nodes pass nothing.")

    def _passes_any_gradient(self, equation):
        return any(self.norms[n] != 0 for n, edge in enumerate(self.edges) if edge.equation == equation)

    def _has_gradient(self, equation):
        """Return True if a result of an equation has a floating-point dtype. Integers, for example, have no
        gradient.
        """
        kinds = [np.asarray(self.values[i]).dtype for i in equation.results if i in self.values]
        return any(jax.dtypes.issubdtype(kind, np.floating) for kind in kinds)

    def _explain_stopped_gradient(self, equation, edge, arriving):
        if not self._has_gradient(equation):
            kinds = sorted({str(np.asarray(self.values[i]).dtype) for i in equation.results if i in self.values})
            text = (
                f"{_format_equation_location(equation)} cuts the gradient: its result is {', '.join(kinds)}, "
                "which has no derivative."
            )
            return Reason("cut", text, equation.node) if self._has_reader_with_gradient(equation) else None
        if not self._has_nonzero_derivative(equation, edge.position):
            return Reason(
                "cut",
                f"{_format_equation_location(equation)} cuts the gradient: one of norm {num(arriving)} "
                "arrives, and its derivative is "
                "zero whatever the values are.",
                equation.node,
            )
        return self._explain_zero_derivative(equation, edge, arriving)

    def _has_reader_with_gradient(self, equation):
        """Return True if a gradient reaches an equation that reads a result of this one."""
        readers = [n for i in equation.results if i is not None for n in self.readers.get(i, ())]
        return any(self.arriving(self.equations.equations[self.edges[n].equation]) != 0 for n in readers)

    def _has_nonzero_derivative(self, equation, position):
        """Return True unless the derivative of an equation with respect to an operand is zero for all values."""
        operands = [self.values.get(i, self.equations.constants.get(i)) for i in equation.operands]
        if any(operand is None for operand in operands):
            return True

        def tangents(tangent):
            def apply(value):
                results = equation.run([*operands[:position], value, *operands[position + 1 :]])
                return [r for r in results if r is not None and jax.dtypes.issubdtype(r.dtype, np.floating)]

            return jax.jvp(apply, (jnp.asarray(operands[position]),), (tangent,))[1]

        closed = jax.make_jaxpr(tangents)(jnp.asarray(operands[position]))
        return _outputs_depend_on_inputs(closed.jaxpr)

    def _explain_zero_derivative(self, equation, edge, arriving):
        """Explain a derivative that is zero for these values."""
        special = self._explain_activation(equation, 0.0)
        if special is not None:
            return special
        others = [
            (i, np.asarray(self.values[i]))
            for at, i in enumerate(equation.operands)
            if at != edge.position and i in self.values
        ]
        multiplies = equation.node is not None and equation.node.op in _PRODUCTS
        for index, array in others if multiplies else ():
            if array.size > 0 and not array.any():
                name = self._get_value_name(index)
                text = (
                    f"{_format_equation_location(equation)} passes nothing: {name}, its other operand, is zero "
                    "everywhere."
                )
                return Reason("zero", text, equation.node)
        constants = [getattr(source, "value", None) for source in equation.node.inputs] if multiplies else ()
        if any(constant is not None and np.size(constant) == 1 and not np.any(constant) for constant in constants):
            text = f"{_format_equation_location(equation)} passes nothing: its other operand is the constant 0."
            return Reason("zero", text, equation.node)
        text = (
            f"{_format_equation_location(equation)} passes nothing: a gradient of norm {num(arriving)} arrives, "
            "and 0 goes on."
        )
        return Reason("zero", text, equation.node)

    def _get_value_name(self, index):
        if index < self.equations.n_inputs:
            return self.equations.graph.parameters[index].name
        for equation in self.equations.equations:
            if index in equation.results:
                return f"the result of {_format_equation_location(equation)}"
        return "a constant"

    def _explain_activation(self, equation, factor):
        """Return the Reason for a ReLU that passes little or a saturated function; None if neither is evident."""
        node = equation.node
        if node is None or not node.types:
            return None
        output = self.values.get(next((i for i in equation.results if i is not None), -1))
        if output is None or not np.asarray(output).size:
            return None
        values = _to_float64(np.asarray(output))
        went = f"The gradient goes on with factor {num(factor)}."
        if node.op.startswith("ReLU"):
            open_units = values > 0
            if node.op == "ReLU6":
                open_units &= values < 6
            share = float(open_units.mean())
            if share <= _PASSES_LITTLE:
                amount = "nothing" if share == 0 else f"{share:.2%} of its elements"
                text = (
                    f"{_format_equation_location(equation)} passes {amount}: {_format_percent(1 - share)} of "
                    f"its outputs are flat. {went}"
                )
                return Reason("dead", text, node)
        ends = SATURATES.named(node.op)
        if ends is not None:
            share = float(((values < ends[0]) | (values > ends[1])).mean())
            if share >= _SATURATED:
                text = (
                    f"{_format_equation_location(equation)} is saturated: {_format_percent(share)} of its "
                    f"outputs lie at its ends. {went}"
                )
                return Reason("saturated", text, node)
        if node.op in ("Softmax", "SoftmaxV2") and values.ndim:
            share = float((values.max(-1) > _CONFIDENT).mean())
            if share >= _SATURATED:
                text = (
                    f"{_format_equation_location(equation)} is saturated: in {_format_percent(share)} of "
                    "its rows one probability exceeds "
                    f"{_CONFIDENT:g}. {went}"
                )
                return Reason("saturated", text, node)
        return None

    def _explain_small_factors(self, path):
        """Report activations that pass little, operators whose product is small, and single small factors."""
        passages = self.passages(path)
        by_number = list(zip(reversed(path), passages, strict=True))
        special = {}
        for number, passage in by_number:
            equation = self.equations.equations[self.edges[number].equation]
            reason = self._explain_activation(equation, passage.factor)
            if reason is not None:
                special[number] = passage, reason
        ordered = sorted(special.values(), key=lambda entry: entry[0].factor)
        yield from (reason for _, reason in ordered[:_LISTED])
        if len(ordered) > _LISTED:
            yield Reason("saturated", f"{len(ordered) - _LISTED} more activations on the path are flat.")
        yield from self._explain_factor_products(passages)

    def _explain_factor_products(self, passages):
        groups: dict[str, list[Passage]] = {}
        for passage in passages:
            if passage.node is not None and 0 < passage.factor < math.inf:
                groups.setdefault(passage.node.op, []).append(passage)
        products = {op: math.prod(p.factor for p in group) for op, group in groups.items()}
        for op in sorted(products, key=lambda each: products[each]):
            group, product = groups[op], products[op]
            if product > _SMALL_PRODUCT or len(group) < 2:
                continue
            least = min(group, key=lambda p: p.factor)
            each = product ** (1 / len(group))
            text = (
                f"{len(group)} {op} on the path multiply the gradient by {num(product)} in all, {num(each)} each; the "
                f"least is {least.name}{in_brackets(least.line)} with {num(least.factor)}."
            )
            yield Reason("small", text, least.node)
        for passage in sorted((p for g in groups.values() if len(g) < 2 for p in g), key=lambda p: p.factor):
            if passage.factor <= _SMALL_PRODUCT:
                text = (
                    f"{passage.name}{in_brackets(passage.line)} multiplies the gradient by {num(passage.factor)}: "
                    f"{num(passage.arriving)} arrives, {num(passage.leaving)} goes on."
                )
                yield Reason("small", text, passage.node)
        large = [
            p for p in passages if p.node is not None and math.isfinite(p.factor) and p.factor >= 1 / _SMALL_PRODUCT
        ]
        for passage in large[:_LISTED]:
            text = f"{passage.name}{in_brackets(passage.line)} multiplies the gradient by {num(passage.factor)}."
            yield Reason("large", text, passage.node)


# ---------------------------------------------------------------------- helpers
def _is_numeric(value):
    return jax.dtypes.issubdtype(value.dtype, np.number) or jax.dtypes.issubdtype(value.dtype, np.bool_)


def _to_float64(array):
    return np.asarray(array).astype(np.float64)


def _norm(array):
    if array is None:
        return 0.0
    wide = _to_float64(array)
    return float(np.sqrt(np.square(wide).sum()))


def _replace_nan_by_infinity(norm):
    return math.inf if math.isnan(norm) else norm


def _classify_nonfinite(array):
    """Return "NaN" or "Inf" for an array of floats that has one, else ""."""
    if array is None or not jax.dtypes.issubdtype(array.dtype, np.floating):
        return ""
    wide = _to_float64(array)
    return "NaN" if np.isnan(wide).any() else "Inf" if np.isinf(wide).any() else ""


def _format_nonfinite_counts(array):
    wide = _to_float64(array)
    counts = {"NaN": int(np.isnan(wide).sum()), "infinity": int(np.isinf(wide).sum())}
    return " and ".join(f"{count} of {wide.size} are {name}" for name, count in counts.items() if count)


def _outputs_depend_on_inputs(jaxpr):
    """Return True if an output of a jaxpr depends on an input."""
    reached = set(jaxpr.invars)
    for eqn in jaxpr.eqns:
        if any(not isinstance(var, Literal) and var in reached for var in eqn.invars):
            reached.update(eqn.outvars)
    return any(not isinstance(var, Literal) and var in reached for var in jaxpr.outvars)


def _get_equation_name(equation):
    return name_of_node(equation.node) if equation.node is not None else equation.label


def _format_equation_location(equation):
    return place_of_node(equation.node) if equation.node is not None else equation.label


def _format_percent(share):
    return f"{100 * share:.3g} %"


# ---------------------------------------------------------------------- hits of watchpoints
def cause_of(hit: Any, replay: Replay) -> list[CNode]:
    """Return the path from the first value that is out of its range to the node of a hit.

    The path goes back from the node through operands that are out of range, each time to the operand of largest
    magnitude. Out of range means not finite for NaN and infinity, or beyond the limit of the hit.

    Args:
        hit (Hit): a hit of a watchpoint. It has a ``node``, or the ``name`` of a Parameter and a ``kind``. Its
            ``parameter``, ``preset`` and ``actual`` describe the limit.
        replay (Replay): the step of the hit.

    Returns:
        list[CNode], from the cause to the node of the hit. It is empty for a Parameter that no node computes.
    """
    node = _find_node_of_hit(hit, replay)
    if node is None:
        return []
    statistics = replay.statistics()
    is_out = _make_range_test(hit, statistics.get(node.id))
    path, seen = [node], {node.id}
    while True:
        sources = [
            source
            for source in node.inputs
            if isinstance(source, CNode) and source.id not in seen and is_out(statistics.get(source.id))
        ]
        if not sources:
            return path[::-1]
        # continue at the operand that has a NaN, else at the operand of largest magnitude
        node = max(sources, key=lambda source: _make_severity_key(statistics[source.id]))
        seen.add(node.id)
        path.append(node)


def _find_node_of_hit(hit, replay):
    """Return the node that computes the value of a hit; None for a Parameter that no node computes."""
    if isinstance(hit.node, CNode):
        return hit.node
    if hit.node is not None:
        return next(node for node in replay.graph.all_nodes() if node.id == hit.node)
    if getattr(hit, "kind", "") == "gradient":
        return _find_gradient_node(hit.name, replay.graph)
    written = replay.graph.outputs[len(replay.graph.outputs) - replay.graph.written :]
    new_values = dict(zip((p.name for p in replay.program.written), (source for source, _ in written), strict=True))
    source = new_values.get(hit.name)
    return source if isinstance(source, CNode) else None


def _find_gradient_node(name, graph):
    """Return the backward node whose result an update combines with a Parameter."""
    for node in graph.all_nodes():
        reads = any(isinstance(source, ParameterNode) and source.name == name for source in node.inputs)
        if reads and node.direction == "update":
            backward = [s for s in node.inputs if isinstance(s, CNode) and s.direction != "forward"]
            if backward:
                return backward[-1]
    return None


def _make_severity_key(row):
    return row["nan"] > 0, row["inf"] > 0, row["abs_mean"] if math.isfinite(row["abs_mean"]) else math.inf


def _make_range_test(hit, own):
    """Return a predicate of statistics. It is True for values that are out of range like the value of the hit."""

    def is_not_finite(row):
        return row is not None and (row["nan"] > 0 or row["inf"] > 0)

    preset, actual = (_to_float_or_none(getattr(hit, name, None)) for name in ("preset", "actual"))
    if is_not_finite(own) or preset is None or actual is None or not math.isfinite(actual):
        return is_not_finite
    name = str(getattr(hit, "parameter", "")).rpartition("_")[0]
    column = {"abs_mean": "abs_mean", "max": "max", "min": "min", "mean": "mean", "zero_percentage": "zeros"}.get(name)
    if column is None:
        return is_not_finite
    factor = 100.0 if column == "zeros" else 1.0
    if str(getattr(hit, "parameter", "")).endswith(("_gt", "_ge")):
        return lambda row: row is not None and row[column] * factor >= preset
    return lambda row: row is not None and row[column] * factor <= preset


def _to_float_or_none(value):
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
