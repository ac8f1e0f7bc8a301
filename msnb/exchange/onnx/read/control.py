"""Import ONNX operators: branches and loops."""

import numpy as np

from msnb import log
from msnb.ir.anf import FuncGraph, ParameterNode

from .reader import Reader
from .values import InconsistentModel, Ref, UnsupportedOperator, handles, type_of

_MAX_ROUNDS = 1024  # iterations of an unrolled loop


@handles("If")
def _read_if(r, node):
    test, graphs = node.inputs[0], [node.attr(name) for name in ("else_branch", "then_branch")]
    if test.value is not None:
        return r.inline(graphs[bool(np.all(test.value))], [])
    branches = _read_branches(r, graphs)
    types = [ref.node.types[ref.slot] for ref in branches[1][1]]
    if types != [ref.node.types[ref.slot] for ref in branches[0][1]]:
        return r.inline(graphs[bool(np.all(r.static(test)))], [])
    captured = [pair for reader, _ in branches for pair in reader.captured]
    graphs, first_feed = [], 1
    for title, (reader, outputs) in zip(("false", "true"), branches, strict=True):
        count = len(reader.captured)
        parameters = [parameter for _, parameter in reader.captured]
        graphs.append(
            _build_branch_graph(title, parameters, reader, outputs, range(first_feed, first_feed + count), count)
        )
        first_feed += count
    test = r.reshape(test, ()) if test.rank else test
    return r.control("Switch", [test, *(outer for outer, _ in captured)], types, graphs)


def _read_branches(r, graphs):
    """Return (reader, outputs) of both branches.

    A model may have branches for inputs of different shapes, and the condition selects the one that fits.
    """
    branches: list = [None, None]
    errors = []
    for index, graph in enumerate(graphs):
        try:
            branches[index] = r.inner(graph, [])
        except InconsistentModel as error:
            errors.append((index, error))
    if errors and (r.model.needs_all_branches or len(errors) == 2):
        raise errors[0][1]
    for index, error in errors:
        outputs = branches[1 - index][1]
        if not all(output.is_float for output in outputs):
            raise error
        log.once(
            "load_onnx: one branch of the model does not fit inputs of these shapes. Its results are NaN where the "
            f"condition selects it. {error}"
        )
        r.model.unread.update(_iterate_input_names(graphs[index]))
        reader = Reader(r.model, r)
        branches[index] = reader, [reader.filled(output.shape, np.nan, output.dtype) for output in outputs]
    return branches


def _iterate_input_names(graph):
    """Yield the names of values that the nodes of a Graph message use, those of inner graphs included."""
    for message in graph.get("node", []):
        yield from message.get("input", [])
        for attribute in message.get("attribute", []):
            if "g" in attribute:
                yield from _iterate_input_names(attribute["g"])


def _build_branch_graph(title, parameters, reader, outputs, feeds, free):
    return FuncGraph(title, parameters, reader.nodes, [(o.node, o.slot) for o in outputs], tuple(feeds), free)


@handles("Loop")
def _read_loop(r, node):
    rounds, condition, state = node.input(0), node.input(1), list(node.inputs[2:])
    body = node.attr("body")
    scans = len(body.get("output", [])) - 1 - len(state)
    limit = None if rounds is None else _get_constant_or_sample(r, rounds)
    if scans and rounds is not None:  # the length of a scan output is the number of iterations
        limit = r.static(rounds) if limit is None else limit
        condition = condition if condition is None or condition.value is not None else r.const(r.static(condition))
    if (
        limit is not None
        and int(np.asarray(limit).flat[0]) <= _MAX_ROUNDS
        and (condition is None or condition.value is not None)
    ):
        results = _unroll_loop_if_constant(r, body, int(np.asarray(limit).flat[0]), condition, state, scans)
        if results is not None:
            return results
    if scans:
        raise UnsupportedOperator("the number of its rounds is not known, and it collects a result of each")
    return _build_while(r, body, rounds, condition, state)


def _get_constant_or_sample(r, x):
    if x.value is not None:
        return x.value
    node = x.node
    if isinstance(node, ParameterNode) and not node.is_weight and node.name in r.model.samples:
        return r.static(x)
    return None


def _unroll_loop_if_constant(r, body, rounds, condition, state, scans):
    """Unroll a loop. Return None if its condition is not constant."""
    node_count = len(r.nodes)
    goes_on = condition is None or bool(np.all(condition.value))
    collected = [[] for _ in range(scans)]
    for number in range(rounds):
        if not goes_on:
            break
        outputs = r.inline(body, [r.const(np.int64(number)), r.const(np.bool_(True)), *state])
        if outputs[0].value is None:
            del r.nodes[node_count:]
            return None
        goes_on = bool(np.all(outputs[0].value))
        state = outputs[1 : 1 + len(state)]
        for values, value in zip(collected, outputs[1 + len(state) :], strict=True):
            values.append(value)
    if scans and not collected[0]:
        raise UnsupportedOperator("it collects results of no rounds")
    return [*state, *(r("Stack", values, axis=0) for values in collected)]


def _build_while(r, body, rounds, condition, state):
    """Build a While operator. Its state is the iteration number, the condition and the state of the ONNX loop."""
    carried = [r.const(np.int64(0)), condition if condition is not None else r.const(np.bool_(True)), *state]
    carried = [r.reshape(x, ()) if i < 2 and x.rank else x for i, x in enumerate(carried)]
    kinds = [type_of(x.shape, x.dtype) for x in carried]
    reader, outputs = r.inner(body, [(None, kind) for kind in kinds])
    count = Ref(reader.parameters[0])
    reader.scope = r.scope
    new_state = [reader("Add", count, reader.const(np.int64(1))), *outputs]
    new_state = [reader.reshape(x, ()) if i < 2 and x.rank else x for i, x in enumerate(new_state)]
    if [type_of(x.shape, x.dtype) for x in new_state] != kinds:
        raise UnsupportedOperator("its state changes its shape or type")
    body_graph = _build_body_graph(r, reader, new_state)
    test = Reader(r.model, r)
    test.scope = r.scope
    test_state = [ParameterNode(p.name, p.types) for p in reader.parameters]
    goes_on = Ref(test_state[1])
    if rounds is not None:
        limit = rounds if rounds.value is not None else test.capture(rounds, "rounds")
        limit = test.reshape(limit, ()) if limit.rank else limit
        goes_on = test("LogicalAnd", test("Less", Ref(test_state[0]), limit), goes_on)
    test_captured = [outer for outer, _ in test.captured]
    body_captured = [outer for outer, _ in reader.captured]
    inputs = [*test_captured, *body_captured, *carried]
    start = len(test_captured) + len(body_captured)
    state_feeds = range(start, start + len(carried))
    test_parameters = [p for _, p in test.captured] + test_state
    test_graph = FuncGraph(
        "condition",
        test_parameters,
        test.nodes,
        [(goes_on.node, goes_on.slot)],
        (*range(len(test_captured)), *state_feeds),
        len(test_captured),
    )
    body_graph.feeds = (*range(len(test_captured), start), *state_feeds)
    body_graph.free = len(body_captured)
    return r.control("While", inputs, kinds, [test_graph, body_graph])[2:]


def _build_body_graph(r, reader, outputs):
    parameters = [p for _, p in reader.captured] + reader.parameters
    return FuncGraph("body", parameters, reader.nodes, [(o.node, o.slot) for o in outputs])


@handles("Scan")
def _read_scan(r, node):
    """Unroll a Scan. The number of iterations follows from the input shapes."""
    body, scan_count = node.attr("body"), node.attr("num_scan_inputs")
    if node.version < 9:
        raise UnsupportedOperator("it is that of opset 8")
    state, sequences = list(node.inputs[:-scan_count]), node.inputs[-scan_count:]
    directions = node.attr("scan_input_directions") or [0] * scan_count
    axes = node.attr("scan_input_axes") or [0] * scan_count
    rounds = sequences[0].shape[axes[0]]
    if rounds > _MAX_ROUNDS:
        raise UnsupportedOperator(f"it has more than {_MAX_ROUNDS} rounds")
    results = len(body.get("output", [])) - len(state)
    collected = [[] for _ in range(results)]
    for number in range(rounds):
        slices = []
        for x, is_backward, axis in zip(sequences, directions, axes, strict=True):
            position = rounds - 1 - number if is_backward else number
            slices.append(r("Gather", x, r.const(np.int64(position)), axis % x.rank))
        outputs = r.inline(body, [*state, *slices])
        state = outputs[: len(state)]
        for values, value in zip(collected, outputs[len(state) :], strict=True):
            values.append(value)
    directions = node.attr("scan_output_directions") or [0] * results
    axes = node.attr("scan_output_axes") or [0] * results
    stacked = [r("Stack", f[::-1] if w else f, axis=a) for f, w, a in zip(collected, directions, axes, strict=True)]
    return [*state, *stacked]
