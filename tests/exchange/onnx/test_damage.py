"""Damaged ONNX files are read or raise an error, and cannot force msnb to use much memory or time."""

import random
import resource
from pathlib import Path

import numpy as np
import pytest
from damage import mutate
from test_networks import NETWORKS, build

import msnb as ms
from msnb import ir
from msnb.exchange.onnx import read
from msnb.formats import onnx, protobuf

KIND = onnx.value_info("x", "float32", (2, 3))


def model(*nodes, result="y", kind=KIND, **more):
    """Return a Model message of these nodes with the input x."""
    graph = {"node": list(nodes), "name": "g", "input": [kind], "output": [onnx.value_info(result, "float32", None)]}
    return {"graph": {**graph, **more}, "opset_import": [{"domain": "", "version": 18}]}


def node(op, inputs, output="y", **attributes):
    attributes = [onnx.attribute(name, value) for name, value in attributes.items()]
    return {"input": inputs, "output": [output], "name": f"the {op}", "op_type": op, "attribute": attributes}


def constant(name, value):
    return node("Constant", [], name, value=np.asarray(value))


@pytest.mark.parametrize("seed", range(2))
def test_damaged_files_are_read_or_raise(seed, tmp_path):
    rng, path = random.Random(seed), tmp_path / "a.onnx"
    files = [protobuf.encode(onnx.SCHEMA, "Model", build(name)[2]) for name in NETWORKS]
    for _ in range(40):
        path.write_bytes(mutate(rng.choice(files), rng, onnx.SCHEMA))
        try:
            ir.text(ms.load_onnx(path).graph)
        except (ValueError, NotImplementedError) as error:
            assert str(error)


LARGE = [1 << 20, 1 << 20]
HUGE_MODELS = {
    "ConstantOfShape": [constant("s", LARGE), node("ConstantOfShape", ["s"])],
    "Expand": [constant("s", LARGE), constant("o", np.float32(1)), node("Expand", ["o", "s"])],
    "Tile": [constant("s", LARGE), constant("o", np.ones((1, 1), np.float32)), node("Tile", ["o", "s"])],
    "Range": [*(constant(n, np.int64(v)) for n, v in zip("abc", (0, 1 << 40, 1))), node("Range", ["a", "b", "c"])],
    "OneHot": [
        *(constant(n, v) for n, v in (("i", np.array([1])), ("d", np.array(1 << 40)), ("v", np.array([0.0, 1.0])))),
        node("OneHot", ["i", "d", "v"]),
    ],
    "HannWindow": [constant("n", np.int64(1 << 40)), node("HannWindow", ["n"])],
    "Pad": [constant("p", [0, 0, 1 << 40, 0]), node("Pad", ["x", "p"], mode="reflect")],
    "Resize": [constant("s", [1 << 20, 1 << 20]), node("Resize", ["x", "", "", "s"])],
    "Split": [node("Split", ["x"], num_outputs=1 << 40)],
    "AveragePool": [
        constant("s", [1, 1, 2, 3]),
        node("Reshape", ["x", "s"], "z"),
        node("AveragePool", ["z"], kernel_shape=[1 << 40, 1], ceil_mode=1),
    ],
    "product": [constant("c", np.ones((1 << 15, 1))), constant("r", np.ones((1, 1 << 15))), node("Add", ["c", "r"])],
}


@pytest.mark.parametrize("name", HUGE_MODELS)
def test_huge_results_are_not_allocated_while_reading(name, tmp_path, fresh):
    """Read the model in a process that may use 1 GB more than it has after its start."""
    onnx.save(model(*HUGE_MODELS[name]), tmp_path / "a.onnx")
    code = f"""
import resource
import msnb
from msnb import Tensor, ops
ops.Add()(Tensor([1.0]), Tensor([1.0]))
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 30),) * 2)
try:
    print(msnb.load_onnx({str(tmp_path / "a.onnx")!r}).graph)
except (ValueError, NotImplementedError) as error:
    print("refused:", error)
"""
    if not hasattr(resource, "RLIMIT_AS") or not Path("/proc/self/statm").exists():
        pytest.skip("this system does not limit address space")
    result = fresh.run(code, tmp_path)
    assert result.status == 0 and ("FuncGraph" in result.out or "refused:" in result.out), result.err


def test_error_names_the_inconsistent_node():
    with pytest.raises(ValueError, match=r"The node 'the Reshape' \(Reshape\) of the model cannot be read: .*\(4, 4\)"):
        read.cell_of(model(constant("s", [4, 4]), node("Reshape", ["x", "s"])))


def test_recursive_functions_raise():
    call = {**node("F", ["a"], "b"), "domain": "own"}
    function = {"name": "F", "domain": "own", "input": ["a"], "output": ["b"], "node": [call, {**call, "input": ["b"]}]}
    with pytest.raises(NotImplementedError, match="'F' is called without an end"):
        read.cell_of({**model({**node("F", ["x"]), "domain": "own"}), "functions": [function]})


def test_nested_loops_raise_instead_of_unrolling():
    def loop(body, output):
        return node("Loop", ["n", "go", output], output + "'", body=body)

    def graph(level):
        inner = loop(graph(level - 1), "v") if level else node("Relu", ["v"], "v'")
        names = [onnx.value_info(n, d, ()) for n, d in (("i", "int64"), ("c", "bool"))]
        out = [onnx.value_info("c", "bool", ()), onnx.value_info("v'", "float32", (2, 3))]
        return {"node": [inner], "name": "b", "input": [*names, onnx.value_info("v", "float32", (2, 3))], "output": out}

    nodes = [constant("n", np.int64(100)), constant("go", np.bool_(True)), loop(graph(2), "x")]
    with pytest.raises(NotImplementedError, match="rounds of loops"):
        read.cell_of(model(*nodes, result="x'"))
