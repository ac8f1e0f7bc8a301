"""The values of one program that watchpoints can check: results of nodes, gradients and weights."""

import dataclasses
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from msnb.core.jaxpr.instrument import TRANSPARENT
from msnb.insight.debugger.selection import select_nodes
from msnb.insight.gradients.rows import LABEL
from msnb.insight.watchpoints.conditions import ACTIVATIONS
from msnb.ir.anf import CNode, FuncGraph, ParameterNode
from msnb.ir.read import read
from msnb.nn.optim import Optimizer

if TYPE_CHECKING:  # used only in annotations
    from msnb.core.program.program import Program
    from msnb.nn.cell import Cell

Key = tuple[int, int]  # number of a node, index of its result


@dataclasses.dataclass
class WatchedValues:
    """The values of one program.

    Attributes:
        graph (FuncGraph): the graph of the program.
        nodes (dict[int, CNode]): number -> node.
        equations (dict): key of an equation -> its node, see `core.jaxpr.instrument`.
        tensors (list[Key]): results of nodes that are real and not empty, in the order of execution.
        n_not_real (int): number of results that are not real or are empty.
        activations (list[Key]): results of activation functions.
        gradients (dict[str, Key]): name of a Parameter -> its gradient.
        weights (dict[str, tuple]): name -> (index among the inputs or None, index among the outputs or None).
        readers (dict[str, CNode]): name of a Parameter -> first node that reads it.
        trains (bool): True if the program updates one of the weights.
    """

    graph: FuncGraph
    nodes: dict[int, CNode]
    equations: dict[tuple[Any, ...], CNode]
    tensors: list[Key]
    n_not_real: int
    activations: list[Key]
    gradients: dict[str, Key]
    weights: dict[str, tuple[int | None, int | None]]
    readers: dict[str, CNode]
    trains: bool

    def select(self, query: Any) -> "frozenset[int] | None":
        """Return the numbers of the nodes that a query selects; None for all nodes.

        Raises:
            ValueError: If no node matches.
        """
        if query is None:
            return None
        queries = query if isinstance(query, (list, tuple, set, frozenset)) else [query]
        return frozenset(node.id for one in queries for node in select_nodes(self.graph, one))

    def keys_of(self, target: str, operators: Collection[str], selection: "frozenset[int] | None") -> Any:
        """Return the watched values of a target: names for "weight" and "gradient", else keys.

        Args:
            target (str): "weight", "gradient", "activation" or "tensor".
            operators (Collection[str]): operators in lower case; empty for all.
            selection (frozenset[int]): numbers of nodes; None for all. A weight and its gradient belong to the nodes
                that read the weight.
        """
        if target in ("weight", "gradient"):
            names = self.weights if target == "weight" else self.gradients
            return [name for name in names if selection is None or self._is_read_by(name, selection)]
        keys = self.activations if target == "activation" else self.tensors
        return [
            key
            for key in keys
            if (selection is None or key[0] in selection)
            and (not operators or self.nodes[key[0]].op.lower() in operators)
        ]

    def _is_read_by(self, name, selection):
        return any(
            isinstance(source, ParameterNode) and source.name == name
            for ident in selection
            for source in self.nodes[ident].inputs
        )


def weights_of(net: "Cell") -> dict[str, Any]:
    """Return {name: Parameter} of the weights and biases of a network, without the state of its optimizers."""
    optimizers = [cell for _, cell in net.cells_and_names() if isinstance(cell, Optimizer)]
    optimized = {id(p) for optimizer in optimizers for p in optimizer.parameters}
    state = {id(p) for optimizer in optimizers for p in optimizer.get_parameters()} - optimized
    return {p.name: p for p in net.get_parameters() if id(p) not in state and p.name.endswith((".weight", ".bias"))}


def watched_values(program: "Program", weights: dict[str, Any]) -> WatchedValues:
    """Return the values of a program that can be watched.

    Args:
        program (Program): the program.
        weights (dict): name -> Parameter, see `weights_of`.
    """
    equations: dict[tuple[Any, ...], CNode] = {}

    def visit(node, eqn, path):
        if node is not None:
            equations[(*path, id(eqn))] = node

    graph = read(program.jaxpr, program.name, program.inputs, visit=visit)
    labels: dict[str, Key] = {}
    _Origins(equations, labels).run(program.jaxpr.jaxpr, (), [None] * len(program.jaxpr.jaxpr.invars))
    nodes = {node.id: node for node in graph.all_nodes()}
    tensors, n_not_real = _list_real_results(program, equations, _find_residuals(graph))
    own = {id(p): name for name, p in weights.items()}
    positions = {own[id(p)]: index for index, p in enumerate(program.params) if id(p) in own}
    written = {own[id(p)]: program.n_results + i for i, p in enumerate(program.written) if id(p) in own}
    names = [name for name in weights if name in positions or name in written]
    return WatchedValues(
        graph,
        nodes,
        equations,
        tensors,
        n_not_real,
        _find_activations(tensors, nodes),
        {name: labels[name] for name in weights if name in labels},
        {name: (positions.get(name), written.get(name)) for name in names},
        _find_first_readers(graph),
        bool(written),
    )


def _find_residuals(graph):
    """Return the results that operators compute only for their gradients. They are not values of the network."""
    nodes = list(graph.all_nodes())
    read_forward = {(id(source), slot) for node in nodes if node.direction != "backward" for source, slot in node.uses}
    read_forward |= {
        (id(source), slot)
        for inner in (graph, *(sub for node in nodes for sub in node.graphs))
        for source, slot in inner.outputs
    }
    return {
        (node.id, slot)
        for node in nodes
        if node.direction == "forward" and node.kernel is not None
        for slot in range(1, len(node.types))
        if (id(node), slot) not in read_forward
    }


def _list_real_results(program, equations, residuals):
    kinds, n_not_real = [], 0
    by_id = {}
    _collect_equations(program.jaxpr.jaxpr, by_id)
    for key, node in equations.items():
        for slot, var in enumerate(by_id[key[-1]].outvars):
            is_result = type(var).__name__ != "DropVar" and hasattr(var.aval, "shape")
            if not is_result or (node.id, slot) in residuals:
                continue
            if jax.dtypes.issubdtype(var.aval.dtype, np.floating) and var.aval.size:
                kinds.append((node.id, slot))
            else:
                n_not_real += 1
    return sorted(kinds), n_not_real


def _collect_equations(jaxpr, by_id):
    for eqn in jaxpr.eqns:
        by_id[id(eqn)] = eqn
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    _collect_equations(inner, by_id)


def _find_activations(tensors, nodes):
    """Return results of activation functions: operators, or the last node of a Cell such as LeakyReLU."""
    keys, last_of_cell = [], {}
    for ident, slot in tensors:
        node = nodes[ident]
        if node.direction != "forward" or slot or node.is_recomputed:
            continue
        if node.op.lower() in ACTIVATIONS:
            keys.append((ident, slot))
            last_of_cell[node.scope] = None
            continue
        name = node.scope.rpartition("/")[2].rpartition("-")[2].lower()
        if name in ACTIVATIONS and last_of_cell.get(node.scope, ()) is not None:
            last_of_cell[node.scope] = ident, slot
    return sorted({*keys, *(key for key in last_of_cell.values() if key is not None)})


def _find_first_readers(graph):
    readers: dict[str, CNode] = {}
    for node in graph.all_nodes():
        for source in node.inputs:
            if isinstance(source, ParameterNode) and source.is_weight:
                readers.setdefault(source.name, node)
    return readers


class _Origins:
    """Finds the node that computes each labelled gradient."""

    def __init__(self, equations, labels):
        self.equations, self.labels = equations, labels

    def run(self, jaxpr, path, inputs):
        """Return the keys of the outputs of a graph, None for those that no node computes."""
        env = dict(zip(jaxpr.invars, inputs, strict=True))

        def look_up(var):
            return None if hasattr(var, "val") else env.get(var)

        for eqn in jaxpr.eqns:
            key, kind = (*path, id(eqn)), eqn.primitive.name
            if kind == "name":
                env[eqn.outvars[0]] = origin = look_up(eqn.invars[0])
                label = str(eqn.params["name"])
                if label.startswith(LABEL) and origin is not None:
                    self.labels.setdefault(label[len(LABEL) :], origin)
            elif key in self.equations:
                env.update((var, (self.equations[key].id, slot)) for slot, var in enumerate(eqn.outvars))
                self._walk_bodies(eqn, path)
            elif kind in TRANSPARENT:
                inner = _get_jaxpr(eqn.params[TRANSPARENT[kind]])
                results = self.run(inner, (*path, (id(eqn), 0)), [look_up(var) for var in eqn.invars])
                env.update(zip(eqn.outvars, results, strict=True))
        return [look_up(var) for var in jaxpr.outvars]

    def _walk_bodies(self, eqn, path):
        bodies = {
            "scan": lambda: [(0, eqn.params["jaxpr"])],
            "while": lambda: [(1, eqn.params["body_jaxpr"])],
            "cond": lambda: list(enumerate(eqn.params["branches"])),
        }.get(eqn.primitive.name)
        for index, body in bodies() if bodies is not None else ():
            inner = _get_jaxpr(body)
            self.run(inner, (*path, (id(eqn), index)), [None] * len(inner.invars))


def _get_jaxpr(inner):
    return inner.jaxpr if hasattr(inner, "consts") else inner
