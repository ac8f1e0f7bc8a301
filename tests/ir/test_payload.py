import gzip
import json

import ir_programs as programs
import jax
import jax.numpy as jnp

from msnb import ir
from msnb.ir.layout.hierarchy import Hierarchy
from msnb.ir.overlay import check_column
from msnb.ir.payload import pack, stage


def graph_of(layers, kind="step"):
    return ir.read(programs.traced(kind, layers), "Net", programs.inputs(kind, layers))


def running(differences):
    total, values = 0, []
    for difference in differences:
        total += difference
        values.append(total)
    return values


def test_what_is_packed_can_be_read_again():
    graph = graph_of(3)
    data = json.loads(gzip.decompress(pack([stage(graph)])))
    (result,) = data["stages"]
    signatures = running(result["nodes"]["sig"])
    assert [result["sigs"][number][0] for number in signatures] == [node.name for node in graph.all_nodes()]
    tree = Hierarchy(graph)
    homes = running(result["nodes"]["scope"])
    assert [result["scopes"]["name"][home] for home in homes] == [tree.home[node.id].name for node in graph.all_nodes()]
    inputs = iter(result["nodes"]["ins"])
    for number, node in enumerate(graph.all_nodes()):
        for kind, source in zip(result["sigs"][signatures[number]][1], node.inputs, strict=False):
            if not kind.startswith("="):
                reference = next(inputs)
                expected = -1 - graph.parameters.index(source) if source in graph.parameters else number - source.id
                assert reference == expected


def test_the_same_graph_gives_the_same_bytes():
    assert pack([stage(graph_of(4))]) == pack([stage(graph_of(4))])


def test_a_node_of_a_large_step_costs_less_than_fifteen_bytes():
    graph = graph_of(300)
    assert len(pack([stage(graph)])) < 15 * len(graph)


def test_a_loop_reads_what_stands_outside_it():
    def program(x, y):
        return jax.lax.fori_loop(0, 3, lambda i, v: programs.add(v, y), programs.relu(x))

    stage_data = stage(ir.read(jax.make_jaxpr(program)(jnp.ones(3), jnp.ones(3))))
    assert stage_data["extra"], "the results of the body flow into the loop"
    assert all(reference >= -len(stage_data["params"]) for reference in stage_data["nodes"]["ins"])


def test_a_folded_copy_stands_for_every_node_and_keeps_the_sums():
    graph = graph_of(200)
    unfolded, folded = stage(graph), stage(graph, folded=True)
    assert sum(folded["nodes"]["times"]) == len(graph)
    assert len(folded["nodes"]["times"]) < len(graph) / 10

    def total(result):
        times = result["nodes"].get("times") or [1] * len(graph)
        return sum(
            result["sigs"][number][4] * many
            for number, many in zip(running(result["nodes"]["sig"]), times, strict=True)
        )

    assert abs(total(unfolded) - total(folded)) <= 0.01 * total(unfolded)
    assert len(folded["scopes"]["name"]) == len(folded["scopes"]["count"]) < len(unfolded["scopes"]["name"])


def test_a_folded_copy_keeps_the_sums_of_columns():
    graph = graph_of(200)
    column = check_column("time", {"values": [1.0] * len(graph)}, len(graph))
    stage_data = stage(graph, columns={"time": column}, folded=True)["columns"]["time"]
    assert stage_data["scopes"][0] == len(graph) > 10 * len(stage_data["values"])
