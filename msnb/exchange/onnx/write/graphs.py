"""Write the nodes of a graph. An operator is written by its lowering, or as the JAX primitives of its kernel. Control
flow becomes If, Loop and Scan.
"""

import enum
from typing import Any

import numpy as np

from msnb.core.compat.jax_private import scan_counts
from msnb.core.operator.operator_types import REGISTRY, USER_OPERATORS, Operator
from msnb.exchange.symbolic import merged
from msnb.exchange.unsupported_ops import unsupported_error
from msnb.formats import onnx
from msnb.ir import read
from msnb.ir.anf import AnfNode, CNode, FuncGraph, ValueNode

from .builder import Builder, Extent, Refused, Value, lowerings, primitives, type_of

Env = dict[AnfNode, tuple[Value, ...]]


class Missing:
    """Collects the operators that cannot be exported, for one error."""

    def __init__(self) -> None:
        self.reasons: dict[CNode, list[str]] = {}

    def add(self, node: CNode, why: str) -> None:
        """Record the reason why a call cannot be exported."""
        reasons = self.reasons.setdefault(node, [])
        if why not in reasons:
            reasons.append(why)

    def raise_any(self, graph: FuncGraph) -> None:
        """Raise an error if any calls were recorded."""
        if self.reasons:
            raise unsupported_error(
                graph, self.reasons, "ONNX", {node: "; ".join(why) for node, why in self.reasons.items()}
            )


def write_nodes(b: Builder, graph: FuncGraph, env: Env, missing: Missing, outer: CNode | None = None) -> list[Value]:
    """Write the nodes of a graph and return its outputs. `env` maps nodes to values: it contains the parameters, and
    results are added.
    """
    for node in live_nodes(graph):
        inputs = [value_of(b, source, slot, env) for source, slot in node.uses]
        prefix, types = b.prefix, b.types
        if outer is None:
            b.prefix = b.file.name(name_prefix(node))
        b.types = tuple(type_of(kind) for kind in node.types)
        try:
            if b.types and all(0 in shape for _, shape in b.types):  # empty results
                results = [b.const(np.zeros([int(n) for n in shape]), dtype) for dtype, shape in b.types]
            else:
                results = _write_call(b, node, inputs, env, missing, outer)
        except Refused as error:
            missing.add(outer or node, str(error) if outer is None else f"{node.op}: {error}")
            results = None
        if results is None:
            results = tuple(Value("", dtype, shape) for dtype, shape in b.types)
        env[node] = tuple(_cast_to_graph_type(b, value, *kind) for value, kind in zip(results, b.types, strict=False))
        b.prefix, b.types = prefix, types
    return [value_of(b, source, slot, env) for source, slot in graph.outputs]


def name_prefix(node: CNode) -> str:
    """Return the prefix of all names that are written for a call, for example ``/layer1/conv/Conv2D``."""
    attributes = [segment.partition("-")[0] for segment in node.scope.split("/") if segment and segment != "Default"]
    return "/".join(["", *attributes, node.op])


def value_of(b: Builder, node: AnfNode, slot: int, env: Env) -> Value:
    """Return the value of a node's result."""
    if not isinstance(node, ValueNode):
        return env[node][slot]
    values = env.get(node)
    if values is None:
        value = node.value
        dtype = type_of(node.types[0])[0] if node.types else np.asarray(value).dtype.name
        if value is None:
            raise Refused("the value of a constant is not known")
        if isinstance(value, Extent):
            return b.squeeze(b.length(value), [0])
        constant = b.const(np.asarray(value), dtype)
        if isinstance(value, (bool, int, float)):
            constant.constant = value
        values = env[node] = (constant,)
    return values[0]


def _cast_to_graph_type(b, value, dtype, shape):
    """Cast a result to the type in the graph and complete its shape."""
    if value is None:
        return Value("", dtype, shape)
    if value.dtype != dtype and value.name:
        value = b.cast(value, dtype)
    if value.shape is None:
        value.shape = shape
    return value


def _write_call(b, node, inputs, env, missing, outer):
    """Write a call and return its results, or None if it was recorded as missing."""
    entry = lowerings.named(node.op) or lowerings.named(f"_{node.op}")
    if entry is not None and node.direction == "forward":
        args, settings = arguments(node, inputs)
        results = entry(b, *args, **settings)
        if results is not NotImplemented:
            return results if isinstance(results, (tuple, list)) else (results,)
    entry = _CONTROL.get(node.op)
    if entry is not None:
        return entry(b, node, inputs, env, missing, outer)
    entry = primitives.get(node.op)
    if entry is not None:
        results = entry(b, *inputs, **node.attrs)
        return results if isinstance(results, (tuple, list)) else (results,)
    kernel_graph = kernel_graph_of(node)
    if kernel_graph is None:
        missing.add(
            outer or node,
            "" if outer is None else f"its kernel uses {node.op}",
        )
        return None
    kernel_env = dict(zip(kernel_graph.parameters, ((value,) for value in inputs), strict=True))
    return write_nodes(b, kernel_graph, kernel_env, missing, outer or node)


def arguments(node: CNode, inputs: list[Value]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments with which a lowering is called: Tensors in the order of the operator's declaration, and
    attributes by name.
    """
    op = REGISTRY.get(node.op) or REGISTRY.get(f"_{node.op}") or USER_OPERATORS[node.op]
    if not isinstance(op, Operator):  # a class derived by a user
        return list(inputs), dict(node.attrs)
    remaining, args = iter(inputs), []
    settings = {key: node.attrs[key] for key in op.attributes if key in node.attrs}
    settings = {**{k: default for k, (_, default) in op.attributes.items() if k not in settings}, **settings}
    for declared, entry in zip(op.inputs, node.layout or (1,) * len(op.inputs), strict=True):
        if entry == -1:
            settings[declared.name] = node.attrs.get(declared.name, declared.default)
        elif isinstance(entry, tuple):
            args.append([next(remaining) for _ in range(entry[0])])
        else:
            args.append(next(remaining) if entry else None)
    return args, settings


def kernel_graph_of(node: CNode) -> FuncGraph | None:
    """Return the kernel of an operator as a graph of JAX primitives, or None if there is no kernel."""
    if isinstance(node.kernel, list):  # one kernel per trace of the network, see msnb/exchange/symbolic.py
        graphs = [_read_kernel_graph(kernel) for kernel in node.kernel]
        return merged(graphs, node.attrs["_sizes"])
    return _read_kernel_graph(node.kernel) if hasattr(node.kernel, "eqns") else None


def _read_kernel_graph(kernel):
    def add_parameters(node, equation, path):
        if node is not None:
            node.attrs.update(
                {key: _convert_to_python(value) for key, value in equation.params.items() if value is not None}
            )
            if node.op == "Scan":
                node.attrs["num_carry"] = scan_counts(equation)[1]

    return read(kernel, "kernel", visit=add_parameters)


def _convert_to_python(value):
    """Convert a parameter of a primitive to Python numbers, strings and tuples where possible."""
    if isinstance(value, (bool, int, float, str, np.ndarray)):
        return value
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (tuple, list)):
        items = [_convert_to_python(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def live_nodes(graph: FuncGraph) -> list[CNode]:
    """Return the nodes that the outputs depend on. Nodes without a used result, such as checks of values, are
    omitted.
    """
    live, nodes = {node for node, _ in graph.outputs}, []
    for node in reversed(graph.nodes):
        if node in live:
            live.update(node.inputs)
            nodes.append(node)
    return nodes[::-1]


# ---------------------------------------------------------------------- control flow
def graph_message(b: Builder, name: str, inputs: list[Value], outputs: list[Value]) -> dict[str, Any]:
    """Return the Graph message of the nodes of a builder. An output of another graph, or one returned twice, is passed
    through an Identity node.
    """
    local_names = {out for node in b.nodes for out in node["output"]}
    names, used = [], set()
    for value in outputs:
        if value.name not in local_names or value.name in used:
            value = b.op("Identity", value, shape=value.shape)
        used.add(value.name)
        names.append(value)
    return {
        "node": b.nodes,
        "name": name,
        "input": [onnx.value_info(v.name, v.dtype, _make_shape_message(v.shape)) for v in inputs],
        "output": [onnx.value_info(v.name, v.dtype, _make_shape_message(v.shape)) for v in names],
    }


def _make_shape_message(shape):
    return None if shape is None else [str(n) if not isinstance(n, (int, np.integer)) else n for n in shape]


def _write_switch(b, node, inputs, env, missing, outer):
    """Write a Switch as an If. More than two branches become nested Ifs. The index may be a bool if there are two
    branches.
    """
    types = b.types

    def write_choice(b, graphs, index):
        if len(graphs) == 1:
            branch_env = {p: (inputs[i],) for p, i in zip(graphs[0].parameters, graphs[0].feeds, strict=True)}
            return write_nodes(b, graphs[0], {**env, **branch_env}, missing, outer)
        if index.dtype == "bool":
            test, graph_lists = index, (graphs[1:], graphs[:1])
        else:
            test = b.op("LessOrEqual", index, b.like(0, index), dtype="bool", shape=())
            graph_lists = (graphs[:1], graphs[1:])
        messages = []
        for title, graph_list in zip(("then", "else"), graph_lists, strict=True):
            inner = b.inner()
            rest = inner.op("Sub", index, inner.like(1, index), shape=()) if len(graph_list) > 1 else None
            results = write_choice(inner, graph_list, rest)
            results = [_cast_to_graph_type(inner, value, *kind) for value, kind in zip(results, types, strict=True)]
            messages.append(graph_message(inner, title, [], results))
        kinds, shapes = zip(*types, strict=True)
        attrs = {"then_branch": messages[0], "else_branch": messages[1]}
        return b.ops("If", test, count=len(types), dtypes=list(kinds), shapes=list(shapes), **attrs)

    return write_choice(b, list(node.graphs), inputs[0])


def _write_while(b, node, inputs, env, missing, outer):
    """Write a While as a Loop. The condition is written twice: before the loop and at the end of its body."""
    test, body = node.graphs
    state = [inputs[i] for i in body.feeds[body.free :]]
    free = {graph: [inputs[i] for i in graph.feeds[: graph.free]] for graph in (test, body)}
    first_condition = write_nodes(
        b, test, {**env, **{p: (v,) for p, v in zip(test.parameters, free[test] + state)}}, missing, outer
    )
    inner = b.inner()
    carried = [inner.graph_input(p.name, *type_of(p.types[0])) for p in body.parameters[body.free :]]
    count, condition = inner.graph_input("round", "int64", ()), inner.graph_input("going", "bool", ())
    body_env = {**env, **{p: (v,) for p, v in zip(body.parameters, free[body] + carried)}}
    new_state = write_nodes(inner, body, body_env, missing, outer)
    new_state = [
        _cast_to_graph_type(inner, value, old.dtype, old.shape) for value, old in zip(new_state, carried, strict=True)
    ]
    next_condition = write_nodes(
        inner, test, {**env, **{p: (v,) for p, v in zip(test.parameters, free[test] + new_state)}}, missing, outer
    )
    message = graph_message(inner, "body", [count, condition, *carried], [*next_condition, *new_state])
    state = [_cast_to_graph_type(b, value, old.dtype, old.shape) for value, old in zip(state, carried, strict=True)]
    return b.ops(
        "Loop",
        None,
        *first_condition,
        *state,
        count=len(carried),
        dtypes=[v.dtype for v in carried],
        shapes=[v.shape for v in carried],
        body=message,
    )


def _write_scan(b, node, inputs, env, missing, outer):
    """Write a Scan: carried values first, then values read and written by slices."""
    (body,) = node.graphs
    count, free = node.attrs.get("num_carry", 0), body.free
    values = [inputs[i] for i in body.feeds]
    scan_count = len(values) - free - count
    if scan_count == 0:
        return _write_counted_loop(b, node, values, env, missing, outer)
    inner = b.inner()
    names = [inner.graph_input(p.name, *type_of(p.types[0])) for p in body.parameters[free:]]
    body_env = {**env, **{p: (v,) for p, v in zip(body.parameters, values[:free] + names)}}
    results = write_nodes(inner, body, body_env, missing, outer)
    kinds = [(v.dtype, v.shape) for v in names[:count]]
    results = [_cast_to_graph_type(inner, v, *kinds[i]) if i < count else v for i, v in enumerate(results)]
    message = graph_message(inner, "body", names, results)
    backwards = [1 if node.attrs.get("reverse") else 0]
    dtypes, shapes = zip(*b.types, strict=True)
    return b.ops(
        "Scan",
        *[_cast_to_graph_type(b, v, n.dtype, None) for v, n in zip(values[free:], names, strict=True)],
        count=len(b.types),
        dtypes=list(dtypes),
        shapes=list(shapes),
        body=message,
        num_scan_inputs=scan_count,
        scan_input_directions=backwards * scan_count,
        scan_output_directions=backwards * (len(b.types) - count) or None,
    )


def _write_counted_loop(b, node, values, env, missing, outer):
    """Write a Scan that has no scanned arrays as a Loop with a fixed number of iterations."""
    (body,) = node.graphs
    count, free = node.attrs.get("num_carry", 0), body.free
    if node.attrs.get("reverse") and len(b.types) > count:
        raise Refused("it runs backwards over nothing")
    inner = b.inner()
    names = [inner.graph_input(p.name, *type_of(p.types[0])) for p in body.parameters[free:]]
    rounds, condition = inner.graph_input("round", "int64", ()), inner.graph_input("going", "bool", ())
    body_env = {**env, **{p: (v,) for p, v in zip(body.parameters, values[:free] + names)}}
    results = write_nodes(inner, body, body_env, missing, outer)
    results = [_cast_to_graph_type(inner, v, n.dtype, n.shape) for v, n in zip(results, names)] + results[count:]
    message = graph_message(inner, "body", [rounds, condition, *names], [condition, *results])
    dtypes, shapes = zip(*b.types, strict=True)
    length = b.const(np.array(node.attrs.get("length", 0), np.int64))
    values = [_cast_to_graph_type(b, v, n.dtype, None) for v, n in zip(values[free:], names, strict=True)]
    return b.ops(
        "Loop", length, None, *values, count=len(b.types), dtypes=list(dtypes), shapes=list(shapes), body=message
    )


_CONTROL = {"Switch": _write_switch, "While": _write_while, "Scan": _write_scan}
