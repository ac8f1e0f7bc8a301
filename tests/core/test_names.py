"""A Program describes its nodes: readable names, their meaning, strategy and stage."""

import copy
import gc
import os
import pickle
import re
import subprocess
import sys
import weakref

import jax
import numpy as np
import pytest
from fresh import ROOT

import msnb as ms
from msnb import Tensor, context, ir, nn, ops
from msnb.core.jaxpr.op_names import GraphName, attributes_of, graph_name, number_names, operator_in
from msnb.core.operator.user_primitive import PrimitiveWithInfer, prim_attr_register
from msnb.core.program import program_cache
from msnb.ir.stages import Stages
from msnb.ops import operations as P

X = Tensor(np.ones((4, 4), np.float32))


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


class Net(nn.Cell):
    """Calls `fn(self, x)`."""

    def __init__(self, fn, **values):
        super().__init__()
        for name, value in values.items():
            setattr(self, name, value)
        self.fn = fn

    def construct(self, x):
        return self.fn(self, x)


def names_in(program):
    return [str(e.params["name"]) for e in program.jaxpr.jaxpr.eqns if isinstance(e.params.get("name"), GraphName)]


# ---------------------------------------------------------------------- texts
@pytest.mark.parametrize(
    "made, text",
    [
        (lambda: P.Softmax(), "Softmax"),
        (lambda: P.Softmax(0), "Softmax[axis=(0,)]"),
        (lambda: P.LayerNorm(epsilon=1e-5), "LayerNorm[epsilon=1e-05]"),
        (lambda: P.Softmax(0).shard(((2, 1),)).set_stage(1), "Softmax[axis=(0,),strategy=((2,1),),stage=1]"),
    ],
)
def test_a_name_says_what_differs_from_the_defaults(made, text):
    op = made()
    given = [X] if op.name == "Softmax" else [X, Tensor(np.ones(4, np.float32)), Tensor(np.zeros(4, np.float32))]
    program = program_cache.program_of(Net(lambda self, x: self.op(*given), op=op), X)
    assert names_in(program)[-1] == text


@pytest.mark.parametrize(
    "value, text",
    [
        (True, "True"),
        (1e-5, "1e-05"),
        ((2, 3), "(2,3)"),
        ((2,), "(2,)"),
        (ms.float16, "Float16"),
        (np.dtype("int32"), "int32"),
        (np.arange(3), "(0,1,2)"),
        (np.zeros((3, 4), np.float32), "float32(3,4)"),
        (Tensor(np.zeros((3, 4), np.float32)), "Float32(3,4)"),
        (tuple(range(20)), "(0,1,2,3,4,5,..+14)"),
        ('a"/b)\\{', "a__b___"),
        (len, "len"),
        ({"a": 1}, "(a=1)"),
    ],
)
def test_a_value_has_a_short_form(value, text):
    assert graph_name("Op", {"v": value}) == f"Op[v={text}]"


def test_a_long_name_ends_and_its_parentheses_close():
    name = graph_name("Op", {f"attribute{i}": tuple(range(i, i + 6)) for i in range(20)})
    assert len(name) < 110
    assert name.count("(") == name.count(")")
    assert operator_in(name) == "Op"


def test_the_pullback_of_an_operator_is_named_after_it():
    name = graph_name("Softmax", {"axis": 0}).gradient
    assert name == "SoftmaxGrad[axis=0]"
    assert attributes_of(name) == ("SoftmaxGrad", {"axis": 0})
    assert graph_name("Relu", {}).gradient.gradient == "ReluGradGrad"


# ---------------------------------------------------------------------- the table of a Program
class tagged(PrimitiveWithInfer):  # noqa: N801 - named as functions are
    """A user's operator whose attribute is too long for a name."""

    @prim_attr_register
    def __init__(self, tag):
        """Takes the attribute."""

    def kernel(self, x):
        return x + len(self.tag)


def test_a_program_explains_its_names():
    net = Net(lambda self, x: self.b(self.a(x)), a=P.Softmax(0), b=P.Softmax(1).shard(((1, 2),)))
    table = program_cache.program_of(net, X).names
    assert table["Softmax[axis=(0,)]"].settings == {"axis": (0,)}
    meaning = table["Softmax[axis=(1,),strategy=((1,2),)]"]
    assert (meaning.operator, meaning.attributes, meaning.strategy) == ("Softmax", {"axis": (1,)}, ((1, 2),))
    assert meaning.stage is None


def test_settings_that_share_a_text_are_numbered():
    long = "a" * 40
    ops_ = [tagged(long + "b"), tagged(long + "cc"), tagged(long + "b")]
    net = Net(lambda self, x: self.c(self.b(self.a(x))) if x.sum() > 9 else self.b(x), **dict(zip("abc", ops_)))
    program = program_cache.program_of(net, X)
    assert {m.attributes["tag"] for m in program.names.values() if m.operator == "tagged"} == {long + "b", long + "cc"}
    tags = [n.attrs["tag"] for n in ir.graph(net, X).all_nodes() if n.op == "tagged"]
    assert sorted(tags) == [long + "b", long + "b", long + "cc", long + "cc"]
    texts = [name for name in program.names if name.startswith("tagged")]
    assert texts == [f"tagged[tag={'a' * 30}..]", f"tagged[tag={'a' * 30}..]#2"]
    np.testing.assert_allclose(net(X).asnumpy(), X.asnumpy() + 41 + 42 + 41)


def test_a_graph_without_such_names_stays_the_same_object():
    closed = program_cache.program_of(Net(lambda self, x: self.a(x), a=P.Softmax(0)), X).jaxpr
    assert number_names(closed)[0] is closed


def test_what_a_name_means_goes_with_the_last_that_has_it():
    class Odd:
        """Something to refer to."""

    class Mine(PrimitiveWithInfer):
        """A user's."""

        def __init__(self, odd):
            super().__init__("Mine")
            self.add_prim_attr("odd", odd)

        def kernel(self, x):
            return x + 1

    odd = Odd()
    gone = weakref.ref(odd)
    net = Net(lambda self, x: self.op(x), op=Mine(odd))
    net(X)
    del net, odd, Mine
    jax.clear_caches()
    gc.collect()
    assert gone() is None


# ---------------------------------------------------------------------- elsewhere: HLO, another process
class cube(PrimitiveWithInfer):  # noqa: N801 - likewise
    """A user's operator."""

    def __init__(self):
        super().__init__("cube")

    def kernel(self, x):
        return jax.numpy.sin(x) * x * x


def test_the_operator_is_identified_in_hlo_whatever_its_attributes_say():
    tag = 'window={1}, dimensions={0} direction=LT body=%x calls=%y "/(('
    net = Net(lambda self, x: self.a(self.b(x)) @ x, a=cube().set_stage(3), b=tagged(tag))
    stages = Stages(program_cache.program_of(net, X), "net")
    for stage in ("StableHLO", "optimised"):
        results = {origin[1] for node in stages[stage].all_nodes() for origin in node.origins}
        results |= {part for node in stages[stage].all_nodes() for part in node.scope.split("/")}
        assert "cube" in results, stage
    assert not any("dimensions" in node.attrs and "0" in node.attrs["dimensions"] for node in stages["optimised"].nodes)
    assert {"cube", "tagged"} <= {node.op for node in stages["traced"].nodes}


_OTHER_PROCESS = """
import pickle, sys
import numpy as np
from msnb import Tensor, context, ir, ops
from msnb.ir.stages import Stages
from msnb.ops import operations as P
context.set_context(mode=context.GRAPH_MODE)
{history}
def net(x):
    y = P.Softmax(0).shard(((2, 1),))(x)
    return P.LayerNorm(epsilon=1e-3)(y, x[0], x[1])[0].reshape((2, 8)) * Tensor(np.ones(8))
from msnb.core import compile
x = Tensor(np.ones((4, 4), np.float32))
program = compile.program_of(net, x)
graph = ir.graph(net, x)
for node in graph.all_nodes():
    node.source = None
pickle.dump((list(program.names), graph), open(sys.argv[1], "wb"))
"""


def test_names_and_graphs_of_two_processes_are_equal_whatever_happened_there_before(fresh, tmp_path):
    pickled = tmp_path / "made"
    done = fresh.run(_OTHER_PROCESS.format(history=""), tmp_path, pickled)
    assert done.status == 0, done.err
    names, graph = pickle.loads(pickled.read_bytes())
    (tmp_path / "other.py").write_text(  # not a fork of the same one, whose hashes of texts are equal
        _OTHER_PROCESS.format(history="ops.Softmax(1)(Tensor(np.ones((2, 2)))); ops.LayerNorm(epsilon=1e-9)")
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, tmp_path / "other.py", pickled], env=environment, check=True, timeout=300)
    others, other = pickle.loads(pickled.read_bytes())
    assert names == others and "LayerNorm[epsilon=0.001]" in names
    assert graph == other and hash(graph) == hash(other)
    node = next(node for node in graph.all_nodes() if node.op == "Softmax")
    assert node.attrs == {"axis": (0,), "strategy": ((2, 1),)}
    assert node.kernel is not None and "exp" in [eqn.primitive.name for eqn in node.kernel.eqns]
    assert ir.api.to_text(graph) == ir.api.to_text(other)
    node.attrs["axis"] = 1
    assert graph != other


def test_a_graph_with_branches_loops_and_gradients_is_read_as_it_was_saved():
    def fn(self, x):
        i = 0
        while x.sum() < 100.0:
            x, i = x * 2.0 if x[0, 0] > 3.0 else x + 1.0, i + 1
        return ops.dropout(self.op(x, x), 0.5)

    dense = nn.Dense(4, 4)
    step = nn.TrainOneStepCell(dense, nn.Momentum(dense.trainable_params(), 0.1, 0.9))
    for graph in (ir.graph(Net(fn, op=P.MatMul()), X), ir.graph(step, X)):
        read = pickle.loads(pickle.dumps(graph))
        assert read == graph and read is not graph
        assert ir.api.to_text(read) == ir.api.to_text(graph)
        assert pickle.loads(pickle.dumps(read)) == graph
        assert [n.name for n in read.all_nodes()] == [n.name for n in graph.all_nodes()]
    assert ir.graph(Net(fn, op=P.MatMul(True)), X) != ir.graph(Net(fn, op=P.MatMul()), X)


# ---------------------------------------------------------------------- strategy and stage
def nodes(net, *inputs):
    return [
        (n.op, {k: n.attrs[k] for k in ("strategy", "stage", "note") if k in n.attrs}) for n in graph_of(net, *inputs)
    ]


def graph_of(net, *inputs):
    return ir.graph(net, *(inputs or (X,))).all_nodes()


def test_two_strategies_are_two_nodes():
    one, two = P.MatMul().shard(((2, 1), (1, 2))), P.MatMul().shard(((1, 1), (1, 1)))
    net = Net(lambda self, x: self.a(self.b(self.c(x, x), x), x), a=one, b=two, c=P.MatMul())
    result = nodes(net)
    assert result == [
        ("MatMul", {}),
        ("MatMul", {"strategy": ((1, 1), (1, 1))}),
        ("MatMul", {"strategy": ((2, 1), (1, 2))}),
    ]
    np.testing.assert_allclose(net(X).asnumpy(), np.full((4, 4), 64.0))


def test_an_operator_is_placed_in_the_only_process():
    op = P.MatMul()
    assert op.place("MS_WORKER", 0) is None
    assert (op.attrs["ms_role"], op.attrs["rank_id"]) == ("MS_WORKER", 0)
    np.testing.assert_allclose(op(X, X).asnumpy(), X.asnumpy() @ X.asnumpy())
    with pytest.raises(ValueError, match="'role' should be 'MS_WORKER', but got 'MS_SERVER'"):
        op.place("MS_SERVER", 0)
    with pytest.raises(ValueError, match="'rank_id' should be 0, but got 1"):
        op.place("MS_WORKER", 1)
    with pytest.raises(TypeError, match="rank_id"):
        op.place("MS_WORKER", "0")


@pytest.mark.parametrize(
    "op, call",
    [
        (lambda: P.ReLU(), lambda op, x: op(x)),
        (lambda: P.MatMul(), lambda op, x: op(x, x)),
        (lambda: P.ReduceSum(True), lambda op, x: op(x, 1)),
        (lambda: P.LeakyReLUExt(0.3), lambda op, x: op(x)),
        (lambda: P.Softmax(0), lambda op, x: op(x)),
        (lambda: P.Concat(), lambda op, x: op((x, x))),
        (lambda: P.GatherV2(), lambda op, x: op(x, Tensor(np.int32([1])), 0)),
        (lambda: P.Dropout(0.5), lambda op, x: op(x)[0]),
        (lambda: P.BatchNorm(True), lambda op, x: op(x, x[0], x[0], ms.Parameter(x[0]), ms.Parameter(x[0]))[0]),
        (lambda: cube(), lambda op, x: op(x)),
    ],
    ids=["one", "two", "static", "traced", "attribute", "many", "checked", "random", "variant", "user's"],
)
def test_every_kind_of_operator_shows_its_stage_and_is_compiled_anew(op, call):
    op = op()
    if op.name == "BatchNorm":
        weights = [ms.Parameter(Tensor(np.ones(4, np.float32)), name=n) for n in "mv"]
        net = Net(lambda self, x: self.op(x, x[0], x[0], *weights)[0], op=op)
        net.insert_param_to_cell("m", weights[0])
        net.insert_param_to_cell("v", weights[1])
    else:
        net = Net(lambda self, x: call(self.op, x), op=op)
    before = program_cache.program_of(net, X)
    assert program_cache.program_of(net, X) is before
    op.set_stage(2)
    op.add_prim_attr("note", "mine")
    after = program_cache.program_of(net, X)
    assert after is not before and after.reason == "op of Net changed"
    assert (op.name, {"stage": 2, "note": "mine"}) in nodes(net)
    assert program_cache.program_of(net, X) is after
    op.del_prim_attr("note")
    assert (op.name, {"stage": 2}) in nodes(net)


OUTSIDE = P.MatMul()
LISTED = [P.MatMul()]


class Holder:
    """No Cell."""

    def __init__(self):
        self.op = P.MatMul()

    def run(self, x):
        return self.op(x, x)


HOLDER = Holder()


@pytest.mark.parametrize(
    "fn, op",
    [
        (ms.ms_function(lambda x: OUTSIDE(x, x)), lambda: OUTSIDE),
        (ms.ms_function(lambda x: LISTED[0](x, x)), lambda: LISTED[0]),
        (ms.ms_function(lambda x: HOLDER.run(x)), lambda: HOLDER.op),
    ],
    ids=["global", "in a list", "in an object"],
)
def test_a_program_is_compiled_anew_wherever_the_operator_stands(fn, op):
    before = program_cache.program_of(fn, X)
    assert program_cache.program_of(fn, X) is before
    op().shard(((1, 1), (1, 1)))
    after = program_cache.program_of(fn, X)
    assert after is not before and after.reason.startswith("an attribute of")
    assert nodes(fn) == [("MatMul", {"strategy": ((1, 1), (1, 1))})]
    assert program_cache.program_of(fn, X) is after


def test_an_attribute_of_the_operator_that_is_set_later_takes_effect():
    op = P.MatMul()
    net = Net(lambda self, x: self.op(x, x[:2]), op=op)
    with pytest.raises(ValueError):
        net(X)
    op.add_prim_attr("transpose_b", True)
    assert net(X).shape == (4, 2)


def test_pynative_operators_with_a_stage_give_what_they_gave():
    context.set_context(mode=context.PYNATIVE_MODE)
    for op in (P.LeakyReLUExt(0.3), P.ReLU(), P.Softmax()):
        want = op(X - 2).asnumpy()
        np.testing.assert_array_equal(op.set_stage(1)(X - 2).asnumpy(), want)
        assert op._kernel.name.meaning.stage == 1
        assert ops.grad(op)(X).shape == X.shape


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda op: pickle.loads(pickle.dumps(op))], ids=["copy", "pickle"])
def test_a_copy_keeps_its_strategy(twin):
    op = twin(P.MatMul(True).shard(((1, 2), (2, 1))))
    assert nodes(Net(lambda self, x: self.op(x, x), op=op)) == [("MatMul", {"strategy": ((1, 2), (2, 1))})]
    op.set_stage(1)
    assert nodes(Net(lambda self, x: self.op(x, x), op=op))[0][1]["stage"] == 1


def test_stages_do_not_fill_a_table():
    op = P.ReLU()
    for stage in range(2000):
        op.set_stage(stage)
    twins = type(op).operator._marked
    assert len(twins) + len(twins.older) <= 512


def test_names_are_legal_for_jax():
    for name in [graph_name("Op", {"a": 'x"y'}), graph_name("Op", {"v": (1, "a/b")})]:
        assert re.fullmatch(r"[\w.+\-=(),\[\]]+", name)
