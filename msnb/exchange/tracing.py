"""The graph that is exported: of a network set to evaluation, with the values of its Parameters."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from msnb.core.compile import program_of
from msnb.core.kernel import differentiated
from msnb.core.operator import REGISTRY
from msnb.core.parameter import Parameter
from msnb.core.tensor import Tensor
from msnb.core.tree import flatten
from msnb.exchange.missing import refusal
from msnb.ir.anf import CNode, FuncGraph, ValueNode
from msnb.ir.api import name_of, of_program
from msnb.nn.cell import Cell
from msnb.nn.graph_cell import prune, targets

SCOPE = "Gradients"  # where the operators stand that a gradient is written with, as in MindSpore


class Values(Mapping[str, Any]):
    """The values of Parameters by name, as arrays that are fetched from the device when they are asked for."""

    def __init__(self, parameters: dict[str, Parameter]) -> None:
        self._parameters = parameters

    def __getitem__(self, name: str) -> np.ndarray:
        return self._parameters[name].asnumpy()

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)


@contextlib.contextmanager
def evaluating(net: Any) -> Iterator[None]:
    """A network set to evaluation, and afterwards as it was, each Cell of it for itself. A function stays as it is."""
    cells = [cell for _, cell in net.cells_and_names()] if isinstance(net, Cell) else []
    training = [cell for cell in cells if cell.training]
    if not training:
        yield
        return
    phases = [{name: cell.__dict__[name] for name in ("training", "_phase", "_func_graph_flags")} for cell in cells]
    net.set_train(False)
    try:
        yield
    finally:
        net.set_train(True)  # this tells programs that flags have changed
        for cell, values in zip(cells, phases, strict=True):
            cell.__dict__.update(values)


def traced(net: Cell | Callable[..., Any], *inputs: Any) -> FuncGraph:
    """The graph of a network at the level of MindSpore's operators, `weights` filled.

    Args:
        net (Union[Cell, Callable]): The network, or a function; it is traced in evaluation.
        inputs: What it would be called with.

    Returns:
        FuncGraph, the new values of Parameters that evaluation may write left out.

    Raises:
        NotImplementedError: If the network draws random numbers.
    """
    # A Parameter that is given as an input is one: it is not a weight of the network.
    given = _given(inputs)
    with evaluating(net):
        program = program_of(net, *given)
        graph = of_program(program, name_of(net))
    _check_draws(program, graph)
    _settle(graph, program, given)
    graph.weights = Values(_by_name(program.params))
    if graph.written:
        del graph.outputs[len(graph.outputs) - graph.written :]
        graph.written = 0
    return graph


def stepped(net: Cell | Callable[..., Any], *inputs: Any, rules: Callable[..., Any]) -> FuncGraph:
    """The same graph with all that it writes: each new value of a Parameter is that of a node which writes it.

    Args:
        net (Union[Cell, Callable]): The network, such as a train step; it is traced in evaluation.
        inputs: What it would be called with.
        rules (Callable): What operators are differentiated by, see `msnb.core.kernel.differentiated`.

    Returns:
        FuncGraph, `weights` filled.
    """
    given = _given(inputs)
    with evaluating(net):
        program = program_of(net, *given)
        graph = of_program(program, name_of(net))
        _check_draws(program, graph)
        if any(node.direction == "backward" for node in graph.all_nodes()):
            with differentiated(rules):
                program = program_of(net, *given, anew=True)
            graph = of_program(program, name_of(net))
            for node in graph.all_nodes():
                within, _, last = node.scope.rpartition("/")
                if last == SCOPE:  # the operators of a rule are no gradients of themselves
                    node.scope, node.direction = f"{last}/{within}", "update"
    _settle(graph, program, given)
    graph.weights = Values(_by_name(program.params))
    _say_what_is_written(graph)
    first = len(graph.outputs) - graph.written
    values, graph.outputs[first:], graph.written = graph.outputs[first:], [], 0
    parameters = {node.name: node for node in graph.parameters if node.is_weight}
    for parameter, (node, slot) in zip(program.written, values, strict=True):
        target = parameters[parameter.name]
        places = targets(node) if isinstance(node, CNode) else []
        if slot < len(places) and node.inputs[places[slot]] is target:
            continue
        made = CNode("Assign", (target, node), (0, slot), target.types, direction="update")
        made.scope = getattr(node, "scope", "") or "Default"
        graph.nodes.append(made)
    prune(graph)
    return graph


def _given(inputs):
    leaves, rebuild = flatten(tuple(inputs))
    return rebuild([Tensor(x) if isinstance(x, Parameter) else x for x in leaves])


def _check_draws(program, graph):
    """Random numbers are drawn from a stream of msnb's, which no file has."""
    drawing = [node for node in graph.all_nodes() if getattr(REGISTRY.get(node.op), "random", False)]
    if program.random and drawing:
        raise refusal(graph, drawing, "a file", dict.fromkeys(drawing, "it draws random numbers"))


def _settle(graph, program, inputs):
    """Numbers that the network was called with, which a program is given as it is given Tensors, become constants."""
    leaves = flatten(inputs)[0]
    given = program.taken(leaves, leaves)
    arguments = [p for p in graph.parameters if not p.is_weight][-len(given) :]  # after the number of random draws
    numbers = {node: ValueNode(x, node.types) for node, x in zip(arguments, given) if not isinstance(x, Tensor)}
    if not numbers:
        return
    graph.parameters[:] = [node for node in graph.parameters if node not in numbers]
    graph.outputs[:] = [(numbers.get(node, node), slot) for node, slot in graph.outputs]
    for node in graph.nodes:
        node.inputs = tuple(numbers.get(source, source) for source in node.inputs)


def _say_what_is_written(graph):
    """A Parameter that is written again is the Parameter, and not its new value."""
    values = {}
    for node in graph.nodes:
        inputs = list(node.inputs)
        for slot, place in enumerate(targets(node)):
            inputs[place] = values.get((node.inputs[place], node.slots[place]), node.inputs[place])
            values[node, slot] = inputs[place]
        if inputs != list(node.inputs):
            node.slots = tuple(0 if a is not b else slot for a, b, slot in zip(inputs, node.inputs, node.slots))
            node.inputs = tuple(inputs)


def _by_name(parameters):
    found = {}
    for p in parameters:
        if found.setdefault(p.name, p) is not p:
            raise ValueError(
                f"For 'export', two Parameters are named '{p.name}', of which a file could hold one only. Keep their "
                "Cells in attributes or a CellList, or rename one of them."
            )
    return found
