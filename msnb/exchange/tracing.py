"""Trace a network in evaluation mode into the graph that an exporter writes."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from msnb.core.eager.kernel import gradient_rules
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.program.program_cache import program_of
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor
from msnb.exchange.unsupported_ops import unsupported_error
from msnb.ir.anf import CNode, FuncGraph, ValueNode
from msnb.ir.api import name_of, of_program
from msnb.nn.cell import Cell
from msnb.nn.graph_cell import prune
from msnb.nn.graph_cell import written_inputs as targets

SCOPE = "Gradients"  # scope of the operators that compute a gradient, as in MindSpore


class Values(Mapping[str, Any]):
    """{name: value} of Parameters. An array is copied from the device when it is accessed."""

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
    """Set a network to evaluation mode and restore the mode of each of its Cells on exit. A plain function is
    unchanged.
    """
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
        net.set_train(True)  # notifies compiled programs that flags have changed
        for cell, values in zip(cells, phases, strict=True):
            cell.__dict__.update(values)


def traced(net: Cell | Callable[..., Any], *inputs: Any) -> FuncGraph:
    """Return the graph of a network at the level of MindSpore's operators, with `weights` set.

    Args:
        net (Union[Cell, Callable]): The network, or a function; it is traced in evaluation mode.
        inputs: The arguments of the call to trace.

    Returns:
        FuncGraph. It does not return the new values of Parameters that a call may write.

    Raises:
        NotImplementedError: If the network draws random numbers.
    """
    # A Parameter passed as an input is an ordinary input and not a weight of the network.
    args = _convert_parameters_to_tensors(inputs)
    with evaluating(net):
        program = program_of(net, *args)
        graph = of_program(program, name_of(net))
    _check_no_random_draws(program, graph)
    _inline_number_arguments(graph, program, args)
    graph.weights = Values(_index_parameters_by_name(program.params))
    if graph.written:
        del graph.outputs[len(graph.outputs) - graph.written :]
        graph.written = 0
    return graph


def trace_step(net: Cell | Callable[..., Any], *inputs: Any, rules: Callable[..., Any]) -> FuncGraph:
    """Return the graph of a network with its updates of Parameters. Each update is a node: the operator that writes the
    Parameter, or an Assign of the new value.

    Args:
        net (Union[Cell, Callable]): The network, such as a train step; it is traced in evaluation mode.
        inputs: The arguments of the call to trace.
        rules (Callable): Gradient rules of operators, see `msnb.core.eager.kernel.differentiated`.

    Returns:
        FuncGraph, with `weights` set.
    """
    args = _convert_parameters_to_tensors(inputs)
    with evaluating(net):
        program = program_of(net, *args)
        graph = of_program(program, name_of(net))
        _check_no_random_draws(program, graph)
        if any(node.direction == "backward" for node in graph.all_nodes()):
            with gradient_rules(rules):
                program = program_of(net, *args, anew=True)
            graph = of_program(program, name_of(net))
            for node in graph.all_nodes():
                outer_scope, _, last = node.scope.rpartition("/")
                if last == SCOPE:  # operators that a gradient rule calls are not marked as gradients themselves
                    node.scope, node.direction = f"{last}/{outer_scope}", "update"
    _inline_number_arguments(graph, program, args)
    graph.weights = Values(_index_parameters_by_name(program.params))
    _replace_write_targets_by_parameters(graph)
    first = len(graph.outputs) - graph.written
    values, graph.outputs[first:], graph.written = graph.outputs[first:], [], 0
    parameters = {node.name: node for node in graph.parameters if node.is_weight}
    for parameter, (node, slot) in zip(program.written, values, strict=True):
        target = parameters[parameter.name]
        written_inputs = targets(node) if isinstance(node, CNode) else []
        if slot < len(written_inputs) and node.inputs[written_inputs[slot]] is target:
            continue
        assign = CNode("Assign", (target, node), (0, slot), target.types, direction="update")
        assign.scope = getattr(node, "scope", "") or "Default"
        graph.nodes.append(assign)
    prune(graph)
    return graph


def _convert_parameters_to_tensors(inputs):
    leaves, rebuild = flatten(tuple(inputs))
    return rebuild([Tensor(x) if isinstance(x, Parameter) else x for x in leaves])


def _check_no_random_draws(program, graph):
    """Raise an error if the network draws random numbers. They come from msnb's random stream, which a file cannot
    contain.
    """
    drawing = [node for node in graph.all_nodes() if getattr(REGISTRY.get(node.op), "random", False)]
    if program.random and drawing:
        raise unsupported_error(graph, drawing, "a file", dict.fromkeys(drawing, "it draws random numbers"))


def _inline_number_arguments(graph, program, inputs):
    """Replace inputs that are Python numbers by constants. A program takes a number as an input, but an exported graph
    takes only Tensors.
    """
    leaves = flatten(inputs)[0]
    flat_args = program.select_inputs(leaves, leaves)
    # inputs for the random stream come before the arguments
    arguments = [p for p in graph.parameters if not p.is_weight][-len(flat_args) :]
    numbers = {node: ValueNode(x, node.types) for node, x in zip(arguments, flat_args) if not isinstance(x, Tensor)}
    if not numbers:
        return
    graph.parameters[:] = [node for node in graph.parameters if node not in numbers]
    graph.outputs[:] = [(numbers.get(node, node), slot) for node, slot in graph.outputs]
    for node in graph.nodes:
        node.inputs = tuple(numbers.get(source, source) for source in node.inputs)


def _replace_write_targets_by_parameters(graph):
    """Make the Parameter itself the target of every operator that writes it.

    If a Parameter is written twice, tracing makes the result of the first operator the target of the second.
    """
    values = {}
    for node in graph.nodes:
        inputs = list(node.inputs)
        for slot, index in enumerate(targets(node)):
            inputs[index] = values.get((node.inputs[index], node.slots[index]), node.inputs[index])
            values[node, slot] = inputs[index]
        if inputs != list(node.inputs):
            node.slots = tuple(0 if a is not b else slot for a, b, slot in zip(inputs, node.inputs, node.slots))
            node.inputs = tuple(inputs)


def _index_parameters_by_name(parameters):
    by_name = {}
    for p in parameters:
        if by_name.setdefault(p.name, p) is not p:
            raise ValueError(
                f"For 'export', two Parameters are named '{p.name}', of which a file could hold one only. Keep their "
                "Cells in attributes or a CellList, or rename one of them."
            )
    return by_name
