"""From a graph to nodes: calls by their lowerings, control flow by ONNX's own, and others by what their kernels do."""

import enum
from typing import Any

import numpy as np

from msnb.core._jax_private import scan_counts
from msnb.core.operator import OF_USERS, REGISTRY, Operator
from msnb.exchange.missing import unsupported_error
from msnb.exchange.symbolic import merged
from msnb.formats import onnx
from msnb.ir import read
from msnb.ir.anf import AnfNode, CNode, FuncGraph, ValueNode

from .builder import Builder, Extent, Refused, Value, lowerings, primitives, type_of

Env = dict[AnfNode, tuple[Value, ...]]


class Missing:
    """What could not be written, collected to be told at once."""

    def __init__(self) -> None:
        self.found: dict[CNode, list[str]] = {}

    def add(self, node: CNode, why: str) -> None:
        """Note a call."""
        known = self.found.setdefault(node, [])
        if why not in known:
            known.append(why)

    def raise_any(self, graph: FuncGraph) -> None:
        """Raise what was collected of a graph, if anything was."""
        if self.found:
            raise unsupported_error(
                graph, self.found, "ONNX", {node: "; ".join(why) for node, why in self.found.items()}
            )


def write_nodes(b: Builder, graph: FuncGraph, env: Env, missing: Missing, outer: CNode | None = None) -> list[Value]:
    """Write the nodes of a graph whose parameters are in `env`, which gets their results; the graph's outputs."""
    for node in needed(graph):
        inputs = [value_of(b, source, slot, env) for source, slot in node.uses]
        place, types = b.place, b.types
        if outer is None:
            b.place = b.file.name(place_of(node))
        b.types = tuple(type_of(kind) for kind in node.types)
        try:
            if b.types and all(0 in shape for _, shape in b.types):  # there is nothing to compute
                results = [b.const(np.zeros([int(n) for n in shape]), dtype) for dtype, shape in b.types]
            else:
                results = _written(b, node, inputs, env, missing, outer)
        except Refused as error:
            missing.add(outer or node, str(error) if outer is None else f"{node.op}: {error}")
            results = None
        if results is None:
            results = tuple(Value("", dtype, shape) for dtype, shape in b.types)
        env[node] = tuple(_fitted(b, value, *kind) for value, kind in zip(results, b.types, strict=False))
        b.place, b.types = place, types
    return [value_of(b, source, slot, env) for source, slot in graph.outputs]


def place_of(node: CNode) -> str:
    """What names of a call begin with: ``/layer1/conv/Conv2D``."""
    parts = [part.partition("-")[0] for part in node.scope.split("/") if part and part != "Default"]
    return "/".join(["", *parts, node.op])


def value_of(b: Builder, node: AnfNode, slot: int, env: Env) -> Value:
    """What a node's result is called."""
    if not isinstance(node, ValueNode):
        return env[node][slot]
    found = env.get(node)
    if found is None:
        value = node.value
        dtype = type_of(node.types[0])[0] if node.types else np.asarray(value).dtype.name
        if value is None:
            raise Refused("the value of a constant is not known")
        if isinstance(value, Extent):
            return b.squeeze(b.length(value), [0])
        made = b.const(np.asarray(value), dtype)
        if isinstance(value, (bool, int, float)):
            made.known = value
        found = env[node] = (made,)
    return found[0]


def _fitted(b, value, dtype, shape):
    """A result in the type that the graph says it has."""
    if value is None:
        return Value("", dtype, shape)
    if value.dtype != dtype and value.name:
        value = b.cast(value, dtype)
    if value.shape is None:
        value.shape = shape
    return value


def _written(b, node, inputs, env, missing, outer):
    """Results of a call, None where it was noted as missing."""
    entry = lowerings.named(node.op) or lowerings.named(f"_{node.op}")
    if entry is not None and node.direction == "forward":
        args, settings = arguments(node, inputs)
        made = entry(b, *args, **settings)
        if made is not NotImplemented:
            return made if isinstance(made, (tuple, list)) else (made,)
    entry = _CONTROL.get(node.op)
    if entry is not None:
        return entry(b, node, inputs, env, missing, outer)
    entry = primitives.get(node.op)
    if entry is not None:
        made = entry(b, *inputs, **node.attrs)
        return made if isinstance(made, (tuple, list)) else (made,)
    opened = opened_of(node)
    if opened is None:
        missing.add(
            outer or node,
            "" if outer is None else f"its kernel uses {node.op}",
        )
        return None
    within = dict(zip(opened.parameters, ((value,) for value in inputs), strict=True))
    return write_nodes(b, opened, within, missing, outer or node)


def arguments(node: CNode, inputs: list[Value]) -> tuple[list[Any], dict[str, Any]]:
    """What a lowering is called with: the Tensors as the operator declares them, and its attributes by name."""
    op = REGISTRY.get(node.op) or REGISTRY.get(f"_{node.op}") or OF_USERS[node.op]
    if not isinstance(op, Operator):  # a class that a user has derived
        return list(inputs), dict(node.attrs)
    given, args = iter(inputs), []
    settings = {key: node.attrs[key] for key in op.attributes if key in node.attrs}
    settings = {**{k: default for k, (_, default) in op.attributes.items() if k not in settings}, **settings}
    for declared, entry in zip(op.inputs, node.layout or (1,) * len(op.inputs), strict=True):
        if entry == -1:
            settings[declared.name] = node.attrs.get(declared.name, declared.default)
        elif isinstance(entry, tuple):
            args.append([next(given) for _ in range(entry[0])])
        else:
            args.append(next(given) if entry else None)
    return args, settings


def opened_of(node: CNode) -> FuncGraph | None:
    """What an operator's kernel does, as a graph of JAX's primitives; None where there is no kernel."""
    if isinstance(node.kernel, list):  # several traces of one network, see `symbolic`
        graphs = [_read(kernel) for kernel in node.kernel]
        return merged(graphs, node.attrs["_sizes"])
    return _read(node.kernel) if hasattr(node.kernel, "eqns") else None


def _read(kernel):
    def keep(node, equation, path):
        if node is not None:
            node.attrs.update({key: _plain(value) for key, value in equation.params.items() if value is not None})
            if node.op == "Scan":
                node.attrs["num_carry"] = scan_counts(equation)[1]

    return read(kernel, "kernel", visit=keep)


def _plain(value):
    """A parameter of a primitive as Python's own numbers, texts and tuples, where it is made of these."""
    if isinstance(value, (bool, int, float, str, np.ndarray)):
        return value
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (tuple, list)):
        parts = [_plain(v) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def needed(graph: FuncGraph) -> list[CNode]:
    """The nodes that the outputs depend on: what only checks is not written."""
    wanted, kept = {node for node, _ in graph.outputs}, []
    for node in reversed(graph.nodes):
        if node in wanted:
            wanted.update(node.inputs)
            kept.append(node)
    return kept[::-1]


# ---------------------------------------------------------------------- control flow
def graph_message(b: Builder, name: str, inputs: list[Value], outputs: list[Value]) -> dict[str, Any]:
    """The Graph message of what was written; results that are not made within are handed through."""
    made = {out for node in b.nodes for out in node["output"]}
    names, seen = [], set()
    for value in outputs:
        if value.name not in made or value.name in seen:
            value = b.op("Identity", value, shape=value.shape)
        seen.add(value.name)
        names.append(value)
    return {
        "node": b.nodes,
        "name": name,
        "input": [onnx.value_info(v.name, v.dtype, _told(v.shape)) for v in inputs],
        "output": [onnx.value_info(v.name, v.dtype, _told(v.shape)) for v in names],
    }


def _told(shape):
    return None if shape is None else [str(n) if not isinstance(n, (int, np.integer)) else n for n in shape]


def _switch(b, node, inputs, env, missing, outer):
    """If, one in another where there are more than two branches: a Bool chooses the second one, a number counts."""
    types = b.types

    def choice(b, graphs, index):
        if len(graphs) == 1:
            given = {p: (inputs[i],) for p, i in zip(graphs[0].parameters, graphs[0].feeds, strict=True)}
            return write_nodes(b, graphs[0], {**env, **given}, missing, outer)
        if index.dtype == "bool":
            test, parts = index, (graphs[1:], graphs[:1])
        else:
            test = b.op("LessOrEqual", index, b.like(0, index), dtype="bool", shape=())
            parts = (graphs[:1], graphs[1:])
        messages = []
        for title, part in zip(("then", "else"), parts, strict=True):
            inner = b.inner()
            rest = inner.op("Sub", index, inner.like(1, index), shape=()) if len(part) > 1 else None
            results = choice(inner, part, rest)
            results = [_fitted(inner, value, *kind) for value, kind in zip(results, types, strict=True)]
            messages.append(graph_message(inner, title, [], results))
        kinds, shapes = zip(*types, strict=True)
        attrs = {"then_branch": messages[0], "else_branch": messages[1]}
        return b.ops("If", test, count=len(types), dtypes=list(kinds), shapes=list(shapes), **attrs)

    return choice(b, list(node.graphs), inputs[0])


def _while(b, node, inputs, env, missing, outer):
    """Loop: its condition is asked before the first round, and after each."""
    test, body = node.graphs
    state = [inputs[i] for i in body.feeds[body.free :]]
    free = {graph: [inputs[i] for i in graph.feeds[: graph.free]] for graph in (test, body)}
    first = write_nodes(
        b, test, {**env, **{p: (v,) for p, v in zip(test.parameters, free[test] + state)}}, missing, outer
    )
    inner = b.inner()
    carried = [inner.given(p.name, *type_of(p.types[0])) for p in body.parameters[body.free :]]
    count, going = inner.given("round", "int64", ()), inner.given("going", "bool", ())
    within = {**env, **{p: (v,) for p, v in zip(body.parameters, free[body] + carried)}}
    after = write_nodes(inner, body, within, missing, outer)
    after = [_fitted(inner, value, old.dtype, old.shape) for value, old in zip(after, carried, strict=True)]
    again = write_nodes(
        inner, test, {**env, **{p: (v,) for p, v in zip(test.parameters, free[test] + after)}}, missing, outer
    )
    message = graph_message(inner, "body", [count, going, *carried], [*again, *after])
    state = [_fitted(b, value, old.dtype, old.shape) for value, old in zip(state, carried, strict=True)]
    return b.ops(
        "Loop",
        None,
        *first,
        *state,
        count=len(carried),
        dtypes=[v.dtype for v in carried],
        shapes=[v.shape for v in carried],
        body=message,
    )


def _scan(b, node, inputs, env, missing, outer):
    """Scan: values that are carried, then what is read and written one slice a round."""
    (body,) = node.graphs
    count, free = node.attrs.get("num_carry", 0), body.free
    given = [inputs[i] for i in body.feeds]
    scanned = len(given) - free - count
    if scanned == 0:
        return _counted(b, node, given, env, missing, outer)
    inner = b.inner()
    names = [inner.given(p.name, *type_of(p.types[0])) for p in body.parameters[free:]]
    within = {**env, **{p: (v,) for p, v in zip(body.parameters, given[:free] + names)}}
    after = write_nodes(inner, body, within, missing, outer)
    kinds = [(v.dtype, v.shape) for v in names[:count]]
    after = [_fitted(inner, v, *kinds[i]) if i < count else v for i, v in enumerate(after)]
    message = graph_message(inner, "body", names, after)
    backwards = [1 if node.attrs.get("reverse") else 0]
    dtypes, shapes = zip(*b.types, strict=True)
    return b.ops(
        "Scan",
        *[_fitted(b, v, n.dtype, None) for v, n in zip(given[free:], names, strict=True)],
        count=len(b.types),
        dtypes=list(dtypes),
        shapes=list(shapes),
        body=message,
        num_scan_inputs=scanned,
        scan_input_directions=backwards * scanned,
        scan_output_directions=backwards * (len(b.types) - count) or None,
    )


def _counted(b, node, given, env, missing, outer):
    """Loop of a number of rounds, for a scan that reads nothing."""
    (body,) = node.graphs
    count, free = node.attrs.get("num_carry", 0), body.free
    if node.attrs.get("reverse") and len(b.types) > count:
        raise Refused("it runs backwards over nothing")
    inner = b.inner()
    names = [inner.given(p.name, *type_of(p.types[0])) for p in body.parameters[free:]]
    rounds, going = inner.given("round", "int64", ()), inner.given("going", "bool", ())
    within = {**env, **{p: (v,) for p, v in zip(body.parameters, given[:free] + names)}}
    after = write_nodes(inner, body, within, missing, outer)
    after = [_fitted(inner, v, n.dtype, n.shape) for v, n in zip(after, names)] + after[count:]
    message = graph_message(inner, "body", [rounds, going, *names], [going, *after])
    dtypes, shapes = zip(*b.types, strict=True)
    length = b.const(np.array(node.attrs.get("length", 0), np.int64))
    given = [_fitted(b, v, n.dtype, None) for v, n in zip(given[free:], names, strict=True)]
    return b.ops(
        "Loop", length, None, *given, count=len(b.types), dtypes=list(dtypes), shapes=list(shapes), body=message
    )


_CONTROL = {"Switch": _switch, "While": _while, "Scan": _scan}
