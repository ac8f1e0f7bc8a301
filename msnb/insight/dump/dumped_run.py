"""Read the values of a run from a dump, so that `msnb.diff` can compare them with another run.

The graph of the run comes from the network, because a dump has no graph. A node has a value if the dump has its
operator. Operators match by scope and type. The dumped network or the compared network may be wrapped in additional
Cells.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from msnb.insight.debugger.runs_to_compare import ComparedRun
from msnb.insight.dump.analyzer import DebuggerTensor, DumpAnalyzer
from msnb.insight.dump.file_names import flat_name, names_within_scopes
from msnb.ir.anf import CNode

_Sides = dict[tuple[str, int], DebuggerTensor]  # (io, slot) -> the tensor
_ROOT = "Default_"
_NUMBER = re.compile(r"^(.*-op)(\d+)$")


def is_dump(source: Any) -> bool:
    """Return True for a dump: its folder, a `DumpAnalyzer`, or (one of these, number of the iteration)."""
    if isinstance(source, tuple) and len(source) == 2:
        source = source[0]
    return isinstance(source, DumpAnalyzer) or isinstance(source, (str, os.PathLike)) and Path(source).is_dir()


def with_dumped_values(run: ComparedRun, source: Any) -> ComparedRun:
    """Return a run of the network with the values of a dump.

    Args:
        run (ComparedRun): a run of the network on the inputs of the dumped iteration. It is modified in place.
        source (Union[str, Path, DumpAnalyzer, tuple]): the dump, or (dump, number of the iteration). Without a number,
            the first iteration is read. If the dump has several graphs, the one with the most operators in common is
            read.

    Raises:
        ValueError: If the dump has no such iteration, no operator of the network, or values whose shapes differ from
            those in the network.
    """
    dump, iteration = source if isinstance(source, tuple) else (source, None)
    analyzer = dump if isinstance(dump, DumpAnalyzer) else DumpAnalyzer(dump)
    if iteration is not None and iteration not in analyzer.get_iterations():
        available = ", ".join(map(str, analyzer.get_iterations()))
        raise ValueError(f"The dump has no iteration {iteration!r}; it has {available}.")
    nodes = _map_flat_name_to_node(run)
    graphs = [
        (len(links := _match_node_names(nodes, group)), group, links)
        for group in _group_tensors_by_operator(analyzer, iteration)
    ]
    count, group, links = max(graphs, key=lambda graph: graph[0])
    if not count:
        theirs, mine = ", ".join(list(group)[:3]), ", ".join(list(nodes)[:3])
        raise ValueError(f"The dump has no operator of the network. It has {theirs}; the network has {mine}.")
    links = _drop_reordered_groups({nodes[name]: (other, group[other]) for name, other in links.items()})
    values, inputs = _read_values(run, {node: sides for node, (_, sides) in links.items()})
    run.values, run.is_dumped = values, True
    run.note = _describe_dumped_run(run, group, {name for name, _ in links.values()}, inputs)
    for index, array in inputs.items():
        if run.input_names[index][0] == "param":
            run.inputs[index] = array
    return run


def _group_tensors_by_operator(analyzer, iteration) -> Iterable[dict[str, _Sides]]:
    """Return, for each graph of the dump, {name of an operator: its tensors} of one iteration."""
    graphs: dict[tuple[int, str], dict[int, dict[str, _Sides]]] = {}
    for tensor in analyzer.select_tensors("", iterations=None if iteration is None else [iteration]):
        steps = graphs.setdefault((tensor.rank, tensor.node.graph_name), {})
        names = steps.setdefault(tensor.iteration, {})
        names.setdefault(flat_name(tensor.node.name), {})[tensor.io, tensor.slot] = tensor
    for steps in graphs.values():
        first = steps[min(steps)]
        ordered = sorted(first, key=lambda name: int(match[2]) if (match := _NUMBER.match(name)) else -1)
        yield dict(zip(names_within_scopes(ordered), map(first.__getitem__, ordered), strict=True))


def _map_flat_name_to_node(run) -> dict[str, CNode]:
    nodes = list(run.graph.all_nodes())
    return dict(zip(map(flat_name, names_within_scopes([node.fullname for node in nodes])), nodes, strict=True))


def _match_node_names(nodes: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    """Return {name of a node: name in the dump}. One of the two networks may be wrapped in additional Cells."""
    nodes, names = list(nodes), list(names)
    dumped = set(names)
    prefixes = {("", "")}
    prefixes |= {("", prefix) for prefix in _find_wrapper_prefixes(nodes, names)} | {
        (p, "") for p in _find_wrapper_prefixes(names, nodes)
    }
    choices = []
    for mine, theirs in prefixes:
        renamed = {name: _ROOT + theirs + name.removeprefix(_ROOT + mine) for name in nodes}
        choices.append({n: other for n, other in renamed.items() if n.startswith(_ROOT + mine) and other in dumped})
    return max(choices, key=len)


def _find_wrapper_prefixes(inner: list[str], outer: list[str]) -> list[str]:
    """Return the most frequent prefixes of names in `outer` whose remainder is a name in `inner`."""
    ends = {name.removeprefix(_ROOT) for name in inner if name.startswith(_ROOT)}
    counts: Counter[str] = Counter()
    for name in outer:
        rest = name.removeprefix(_ROOT)
        counts.update(rest[: i + 1] for i, sign in enumerate(rest) if sign == "_" and rest[i + 1 :] in ends)
    return [prefix for prefix, _ in counts.most_common(3)]


def _drop_reordered_groups(links: dict[CNode, tuple[str, _Sides]]) -> dict[CNode, tuple[str, _Sides]]:
    """Remove groups of equal operators of one Cell whose order in the dump may differ, such as updates."""
    groups: dict[tuple[str, str], list[CNode]] = {}
    for node in links:
        groups.setdefault((node.scope, node.name), []).append(node)
    for group in groups.values():
        if len(group) > 1 and (
            group[0].direction == "update" or not all(_has_equal_shapes(node, links[node][1]) for node in group)
        ):
            for node in group:
                del links[node]
    return links


def _has_equal_shapes(node, tensors):
    outputs = [(slot, tensor.value()) for (io, slot), tensor in tensors.items() if io == "output"]
    return all(v is None or v.shape == tuple(t.shape) for slot, v in outputs for t in node.types[slot : slot + 1])


def _read_values(run, matched: Mapping[CNode, _Sides]) -> tuple[dict[int, Any], dict[int, Any]]:
    """Return ({index: value} of the results, {index: value} of the inputs of the network that operators read)."""
    equations = run.equations.by_node()
    indices = {node: index for index, node in enumerate(run.graph.parameters)}
    values, inputs = {}, {}
    for node, tensors in matched.items():
        results = equations[node.id].results if node.id in equations else ()
        for (io, slot), tensor in tensors.items():
            if io == "output" and slot < min(len(results), len(node.types)) and results[slot] is not None:
                array = _read_output(tensor, tuple(node.types[slot].shape), node)
                if array is not None:
                    values[results[slot]] = array
            elif io == "input" and slot < len(node.inputs) and node.inputs[slot] in indices:
                index, array = indices[node.inputs[slot]], tensor.value()
                if array is not None and array.shape == np.shape(run.inputs[index]):
                    inputs[index] = array.astype(run.inputs[index].dtype)
    return values, inputs


def _read_output(tensor, shape, node):
    array = tensor.value()
    if array is not None and array.shape != shape:
        raise ValueError(
            f"The result of {node.fullname} has shape {array.shape} in the dump, and shape {shape} in the network. "
            "Compare the network and the batch that were dumped."
        )
    return array


def _describe_dumped_run(run, group, matched, inputs):
    tensor = next(iter(next(iter(group.values())).values()))
    words = [f"{run.name} is iteration {tensor.iteration} of graph {tensor.node.graph_name} of the dump"]
    others = [
        (name, difference)
        for index, array in inputs.items()
        if (name := run.input_names[index][1]) and run.input_names[index][0] == "arg"
        if (difference := _compute_max_difference(array, run.inputs[index]))
    ]
    if others:
        name, difference = others[0]
        words.append(
            f"The dump was written with another {name}: it differs by up to {difference:.3g}. "
            "These differences count as made where a node reads it"
        )
    rest = [sides for name, sides in group.items() if name not in matched]
    left = [next(iter(sides.values())).node for sides in rest]
    left = [node for node in left if "/" in node.name]  # the name of a Parameter has no "/"
    if left:
        names = ", ".join(node.name for node in left[:3])
        more = f" and {len(left) - 3} more" if len(left) > 3 else ""
        words.append(f"Operators of the dump that the network does not have: {names}{more}")
    return ". ".join(words) + "."


def _compute_max_difference(one, other):
    if not jax.dtypes.issubdtype(one.dtype, np.number):
        return 0.0
    return float(np.max(np.abs(np.asarray(one, np.float64) - np.asarray(other, np.float64)), initial=0.0))
