"""`GraphCell`: a Cell that runs a graph. It can be viewed, differentiated and trained like any other Cell."""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import numpy as np

from msnb.core.errors.messages import describe
from msnb.core.operator.operator_types import REGISTRY, USER_OPERATORS, Operator
from msnb.core.script import runtime
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.pytree import flatten
from msnb.core.tensor.tensor import Tensor, box
from msnb.ir.anf import AnfNode, CNode, FuncGraph, OpenGraph, ParameterNode, ValueNode
from msnb.nn.cell import Cell

__all__ = ["GraphCell"]

_MAX_NAMES = 8  # names listed in an error message; more are counted


class GraphCell(Cell):
    """A Cell that runs a graph, such as one read from a file.

    Its Parameters keep their names in the graph. It runs the operators of the graph under their scopes. Branches and
    loops run like those of a `construct`.

    Args:
        graph (FuncGraph): The result of `mindspore.load`, `msnb.load_onnx` or `msnb.ir.graph`.
        params_init (dict): New values by the names of Parameters: Tensors or Parameters. Default: None, the Parameters
            have the values of the graph.
        obf_random_seed (int): For graphs that were obfuscated, which msnb does not read. Default: None.

    Inputs:
        The inputs of the graph, in its order; tuples, lists and dicts of Tensors as in the network.

    Outputs:
        The outputs of the graph: a Tensor, or a tuple of Tensors.

    Raises:
        TypeError: If `graph` is no FuncGraph, or `params_init` is no dict of Tensors.
        ValueError: If a Parameter has no value, a value has another shape or type, or a name in `params_init` is
            not in the graph.
        NotImplementedError: If the graph holds operators that msnb does not have; all of them are named.

    Examples:
        >>> from msnb import ir
        >>> x = Tensor(np.array([-1.0, 2.0], np.float32))
        >>> print(nn.GraphCell(ir.graph(nn.ReLU(), x))(x))
        [0. 2.]
    """

    def __init__(
        self, graph: FuncGraph, params_init: dict[str, Any] | None = None, obf_random_seed: int | None = None
    ) -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(graph, FuncGraph):
            raise TypeError(
                f"For 'GraphCell', 'graph' should be what mindspore.load(file) returns, but got {describe(graph)}."
            )
        if obf_random_seed is not None:
            raise NotImplementedError(
                "For 'GraphCell', 'obf_random_seed' is not available: msnb does not read obfuscated graphs; export the "
                "network without obfuscation."
            )
        if not isinstance(graph, OpenGraph) or graph.build is None:
            _check_operators_available(graph)
        self.graph = graph
        self._built: dict[Any, FuncGraph] = {}
        self._written: list[ParameterNode] | None = None
        initial_values = _check_params(params_init, graph)
        for node in graph.parameters:
            if node.is_weight:
                value = initial_values.get(node.name, graph.weights.get(node.name))
                self.insert_param_to_cell(node.name, _make_parameter(node, value), check_name=False)

    @property
    def argument_names(self) -> list[str]:
        """Names of the graph's inputs."""
        return [node.name for node in self.graph.parameters if not node.is_weight]

    def construct(self, *inputs: Any) -> Any:
        names = self.argument_names
        if any(isinstance(x, (tuple, list, dict)) for x in inputs):  # the inputs of the graph are the leaves
            inputs = tuple(flatten(inputs)[0])
        if len(inputs) != len(names):
            raise TypeError(f"The graph takes {len(names)} inputs ({', '.join(names)}), but got {len(inputs)}.")
        graph, input_values, values = self._get_graph_for_inputs(inputs), iter(inputs), []
        for node in graph.parameters:
            values.append(self._params[node.name] if node.is_weight else next(input_values))
        # Nodes read the old values of Parameters that the graph writes. The new values are results of nodes.
        before = {node: box(self._params[node.name]._array) for node in self._get_written_parameters(graph)}
        env = {node: (value, self._params[node.name]) for node, value in before.items()}
        results = _run_graph(graph, values, env)[: len(graph.outputs) - graph.written]
        return results[0] if len(results) == 1 else tuple(results)

    def _get_written_parameters(self, graph):
        """Return the Parameters that a graph writes."""
        if graph is not self.graph:
            return written_parameters(graph)
        if self._written is None:
            self._written = written_parameters(graph)
        return self._written

    def _get_graph_for_inputs(self, inputs):
        """Return the graph to run. For a graph with dynamic axes it is built for the shapes of the inputs."""
        if not isinstance(self.graph, OpenGraph) or self.graph.build is None:
            return self.graph
        shapes = tuple(np.shape(x) if not isinstance(x, Tensor) else x.shape for x in inputs)
        if shapes not in self._built:
            self._built[shapes] = self.graph.build(list(shapes))
            _check_operators_available(self._built[shapes])
        return self._built[shapes]


_SHAPE_AND_TYPE_MESSAGE = "Only support update parameter by Tensor or Parameter with same shape and dtype as it"


def _check_params(params_init, graph):
    """Return `params_init` as a dict, or raise an error."""
    if params_init is None:
        return {}
    if not isinstance(params_init, dict):
        raise TypeError(f"For 'GraphCell', the argument 'params_init' must be a dict, but got {describe(params_init)}.")
    for name, value in params_init.items():
        if not isinstance(value, Tensor):
            raise TypeError(
                "For 'GraphCell', the key of the 'params_init' must be str, and the value must be Tensor or Parameter, "
                f"but {name!r} is {describe(value)}."
            )
    unknown = sorted(set(params_init) - {node.name for node in graph.parameters if node.is_weight})
    if unknown:
        raise ValueError(
            f"For 'GraphCell', 'params_init' has names that the graph lacks: {', '.join(unknown[:_MAX_NAMES])}."
        )
    return params_init


def _make_parameter(node, value):
    """Return the Parameter for a weight of a graph."""
    if value is None:
        raise ValueError(
            f"The Parameter '{node.name}' has no value in the graph; give one: GraphCell(graph, {{name: Tensor}})."
        )
    tensor = Tensor(value.asnumpy() if isinstance(value, Tensor) else np.asarray(value))
    if node.types and tensor.shape != node.types[0].shape:
        raise ValueError(
            f"{_SHAPE_AND_TYPE_MESSAGE}: {node.name!r} has shape {node.types[0].shape}, but got {tensor.shape}."
        )
    if node.types and str(tensor.dtype) != node.types[0].dtype:
        raise ValueError(f"{_SHAPE_AND_TYPE_MESSAGE}: {node.name!r} is {node.types[0].dtype}, but got {tensor.dtype}.")
    return Parameter(tensor, name=node.name, requires_grad=node.requires_grad)


# ---------------------------------------------------------------------- running
def operator_of(node: CNode) -> Operator | None:
    """Return the operator that a node calls, or None if msnb has none of that name."""
    op = REGISTRY.get(node.op) or REGISTRY.get(f"_{node.op}") or USER_OPERATORS.get(node.op)
    return op if isinstance(op, Operator) else None


def written_inputs(node: CNode) -> list[int]:
    """Return the indices of inputs that a node writes. Their new values are its first results."""
    op = operator_of(node)
    if op is None or not op.written:
        return []
    sizes = [entry[0] if isinstance(entry, tuple) else max(entry, 0) for entry in node.layout or (1,) * len(op.inputs)]
    return [sum(sizes[:index]) for index in op.written]


def written_parameters(graph: FuncGraph) -> list[ParameterNode]:
    """Return the Parameters that a graph writes, each once."""
    targets_of_nodes = [node.inputs[i] for node in graph.nodes for i in written_inputs(node)]
    return list(dict.fromkeys(node for node in targets_of_nodes if isinstance(node, ParameterNode)))


def prune(graph: FuncGraph) -> None:
    """Remove nodes that have no used result and write no Parameter, also in sub-graphs. The other nodes are numbered
    in the order of execution, which views and names rely on."""
    used: set[AnfNode] = set()
    _mark_and_prune_nodes(graph, used)
    for index, node in enumerate(graph.all_nodes()):
        node.id = index


def _mark_and_prune_nodes(graph, used):
    """Add the nodes that the outputs of a graph need to `used`, and remove the other nodes from the graph."""
    used.update(node for node, _ in graph.outputs)
    used_nodes = []
    for node in reversed(graph.nodes):
        if node not in used and not written_inputs(node):
            continue
        for inner in node.graphs:
            _mark_and_prune_nodes(inner, used)
        used.update(node.inputs)
        used_nodes.append(node)
    graph.nodes[:] = used_nodes[::-1]


def _check_operators_available(graph):
    """Raise an error that names all operators that cannot run."""
    missing = {}
    for node in graph.all_nodes():
        if node.op not in _CONTROL and operator_of(node) is None:
            missing.setdefault(node.op, node)
    if missing:
        names = [f"{op} ({node.fullname})" for op, node in list(missing.items())[:_MAX_NAMES]]
        more = f" and {len(missing) - _MAX_NAMES} more" if len(missing) > _MAX_NAMES else ""
        raise NotImplementedError(
            f"The graph '{graph.name}' has operators that msnb does not have: {', '.join(names)}{more}. "
            "msnb.view(graph) shows it without running."
        )


def _run_graph(graph: FuncGraph, values: Sequence[Any], env: dict[AnfNode, Any]) -> list[Any]:
    """Return the results of a graph for the values of its parameters. `env` has the results of outer nodes."""
    env = {**{node: (value,) for node, value in zip(graph.parameters, values, strict=True)}, **env}

    def value_of(node, slot):
        if isinstance(node, ValueNode):
            return _get_constant_value(node)
        return env[node][slot]

    for node in graph.nodes:
        inputs = [value_of(source, slot) for source, slot in node.uses]
        with _make_named_scope(node):
            control = _CONTROL.get(node.op)
            if control is not None:
                out = control(node, inputs, env)
            elif (op := operator_of(node)).written:
                out = _run_parameter_writing_node(op, node, inputs, env)
            else:
                out = op.call_again(node.attrs, node.layout, inputs)
        env[node] = out if isinstance(out, (tuple, list)) else (out,)
    return [value_of(node, slot) for node, slot in graph.outputs]


def _run_parameter_writing_node(op, node, inputs, env):
    """Run a node that writes Parameters. Its results are their new values."""
    indices = written_inputs(node)
    parameters = [env[node.inputs[i]][1] for i in indices]
    for i, parameter in zip(indices, parameters):
        inputs[i] = parameter
    op.call_again(node.attrs, node.layout, inputs)
    return tuple(box(parameter._array) for parameter in parameters)


def _make_named_scope(node):
    """Return a context with the scope of a node, relative to the scope of the GraphCell."""
    path = node.scope.removeprefix("Default").strip("/")
    return jax.named_scope(path) if path else contextlib.nullcontext()


def _get_constant_value(node):
    """Return the value of a constant. A number stays a number, so that it does not widen dtypes; an array becomes a
    Tensor."""
    value = node.value
    if isinstance(value, (np.ndarray, np.generic, jax.Array)):
        return Tensor(np.asarray(value))
    return value


def _select_subgraph_inputs(graph, inputs):
    """Return the values for the parameters of a sub-graph, from the inputs of its call."""
    return [inputs[i] for i in graph.feeds]


def _run_switch(node, inputs, env):
    """Run one of the graphs of a node. A Bool selects one of two graphs; the first graph is the false branch. A number
    is the index of a graph."""
    graphs = node.graphs

    def choose(branches: Sequence[FuncGraph], index: Any) -> Any:
        run = [
            lambda graph=graph: tuple(_run_graph(graph, _select_subgraph_inputs(graph, inputs), env))
            for graph in branches
        ]
        if len(run) == 1:
            return run[0]()
        chosen = index if index is inputs[0] and len(graphs) == 2 else index == 0
        first, rest = (run[1], run[0]) if chosen is index else (run[0], lambda: choose(branches[1:], index - 1))
        return runtime.if_expression(chosen, first, rest, None)

    return choose(graphs, inputs[0])


def _run_while(node, inputs, env):
    """Run a loop: the second graph is repeated while the first one returns True."""
    test, body = node.graphs
    state = [inputs[i] for i in body.feeds[body.free :]]

    def values(graph):
        return [inputs[i] for i in graph.feeds[: graph.free]] + list(state)

    def write(values: Iterable[Any]) -> None:
        state[:] = values

    names = tuple(parameter.name for parameter in body.parameters[body.free :])
    runtime.while_(
        lambda: _run_graph(test, values(test), env)[0],
        lambda: write(_run_graph(body, values(body), env)),
        lambda: tuple(state),
        write,
        names,
        (node.source or ("graph", 0))[:2],
    )
    return tuple(state)


_CONTROL: dict[str, Callable[[CNode, list[Any], dict[AnfNode, Any]], Any]] = {
    "Switch": _run_switch,
    "While": _run_while,
}
