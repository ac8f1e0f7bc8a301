"""Readers of branches and loops."""

import numpy as np

from msnb.ir.anf import FuncGraph, ParameterNode

from .reader import Reader
from .values import Ref, Unread, handles, type_of

_LONGEST = 1024  # rounds that are written out


@handles("If")
def _if(r, node):
    test, graphs = node.inputs[0], [node.attr(name) for name in ("else_branch", "then_branch")]
    if test.value is not None:
        return r.inline(graphs[bool(np.all(test.value))], [])
    branches = [r.inner(graph, []) for graph in graphs]
    types = [ref.node.types[ref.slot] for ref in branches[1][1]]
    if types != [ref.node.types[ref.slot] for ref in branches[0][1]]:
        raise Unread("its branches give results of different shapes or types")
    captured = [pair for reader, _ in branches for pair in reader.captured]
    graphs, at = [], 1
    for title, (reader, outputs) in zip(("false", "true"), branches, strict=True):
        count = len(reader.captured)
        own = [parameter for _, parameter in reader.captured]
        graphs.append(_graph(title, own, reader, outputs, range(at, at + count), count))
        at += count
    test = r.reshape(test, ()) if test.rank else test
    return r.control("Switch", [test, *(outer for outer, _ in captured)], types, graphs)


def _graph(title, parameters, reader, outputs, feeds, free):
    return FuncGraph(title, parameters, reader.nodes, [(o.node, o.slot) for o in outputs], tuple(feeds), free)


@handles("Loop")
def _loop(r, node):
    rounds, going, state = node.input(0), node.input(1), list(node.inputs[2:])
    body = node.attr("body")
    scans = len(body.get("output", [])) - 1 - len(state)
    limit = None if rounds is None else _known(r, rounds)
    if scans and rounds is not None:  # as many results as rounds: their shape needs the number
        limit = r.static(rounds) if limit is None else limit
        going = going if going is None or going.value is not None else r.const(r.static(going))
    if limit is not None and int(np.asarray(limit).flat[0]) <= _LONGEST and (going is None or going.value is not None):
        made = _written_out(r, body, int(np.asarray(limit).flat[0]), going, state, scans)
        if made is not None:
            return made
    if scans:
        raise Unread("the number of its rounds is not known, and it collects a result of each")
    return _while(r, body, rounds, going, state)


def _known(r, x):
    if x.value is not None:
        return x.value
    node = x.node
    if isinstance(node, ParameterNode) and not node.is_weight and node.name in r.model.samples:
        return r.static(x)
    return None


def _written_out(r, body, rounds, going, state, scans):
    """The rounds one after another; None where a condition that is not known ends it."""
    kept = len(r.nodes)
    goes_on = going is None or bool(np.all(going.value))
    collected = [[] for _ in range(scans)]
    for number in range(rounds):
        if not goes_on:
            break
        outputs = r.inline(body, [r.const(np.int64(number)), r.const(np.bool_(True)), *state])
        if outputs[0].value is None:
            del r.nodes[kept:]
            return None
        goes_on = bool(np.all(outputs[0].value))
        state = outputs[1 : 1 + len(state)]
        for found, value in zip(collected, outputs[1 + len(state) :], strict=True):
            found.append(value)
    if scans and not collected[0]:
        raise Unread("it collects results of no rounds")
    return [*state, *(r("Stack", found, axis=0) for found in collected)]


def _while(r, body, rounds, going, state):
    """While: what is carried is the round, whether it goes on, and the state."""
    carried = [r.const(np.int64(0)), going if going is not None else r.const(np.bool_(True)), *state]
    carried = [r.reshape(x, ()) if i < 2 and x.rank else x for i, x in enumerate(carried)]
    kinds = [type_of(x.shape, x.dtype) for x in carried]
    reader, outputs = r.inner(body, [(None, kind) for kind in kinds])
    count = Ref(reader.parameters[0])
    reader.scope = r.scope
    after = [reader("Add", count, reader.const(np.int64(1))), *outputs]
    after = [reader.reshape(x, ()) if i < 2 and x.rank else x for i, x in enumerate(after)]
    if [type_of(x.shape, x.dtype) for x in after] != kinds:
        raise Unread("its state changes its shape or type")
    body_graph = _body(r, reader, after)
    test = Reader(r.model, r)
    test.scope = r.scope
    own = [ParameterNode(p.name, p.types) for p in reader.parameters]
    holds = Ref(own[1])
    if rounds is not None:
        limit = rounds if rounds.value is not None else test.capture(rounds, "rounds")
        limit = test.reshape(limit, ()) if limit.rank else limit
        holds = test("LogicalAnd", test("Less", Ref(own[0]), limit), holds)
    free = [outer for outer, _ in test.captured]
    more = [outer for outer, _ in reader.captured]
    inputs = [*free, *more, *carried]
    start = len(free) + len(more)
    state_feeds = range(start, start + len(carried))
    test_own = [p for _, p in test.captured] + own
    test_graph = FuncGraph(
        "condition", test_own, test.nodes, [(holds.node, holds.slot)], (*range(len(free)), *state_feeds), len(free)
    )
    body_graph.feeds = (*range(len(free), start), *state_feeds)
    body_graph.free = len(more)
    return r.control("While", inputs, kinds, [test_graph, body_graph])[2:]


def _body(r, reader, outputs):
    own = [p for _, p in reader.captured] + reader.parameters
    return FuncGraph("body", own, reader.nodes, [(o.node, o.slot) for o in outputs])


@handles("Scan")
def _scan(r, node):
    """The rounds one after another: how many there are is known from the shapes."""
    body, scanned = node.attr("body"), node.attr("num_scan_inputs")
    if node.version < 9:
        raise Unread("it is that of opset 8")
    state, given = list(node.inputs[:-scanned]), node.inputs[-scanned:]
    ways = node.attr("scan_input_directions") or [0] * scanned
    axes = node.attr("scan_input_axes") or [0] * scanned
    rounds = given[0].shape[axes[0]]
    if rounds > _LONGEST:
        raise Unread(f"it has more than {_LONGEST} rounds")
    results = len(body.get("output", [])) - len(state)
    collected = [[] for _ in range(results)]
    for number in range(rounds):
        slices = []
        for x, way, axis in zip(given, ways, axes, strict=True):
            at = rounds - 1 - number if way else number
            slices.append(r("Gather", x, r.const(np.int64(at)), axis % x.rank))
        outputs = r.inline(body, [*state, *slices])
        state = outputs[: len(state)]
        for found, value in zip(collected, outputs[len(state) :], strict=True):
            found.append(value)
    ways = node.attr("scan_output_directions") or [0] * results
    axes = node.attr("scan_output_axes") or [0] * results
    stacked = [r("Stack", f[::-1] if w else f, axis=a) for f, w, a in zip(collected, ways, axes, strict=True)]
    return [*state, *stacked]
