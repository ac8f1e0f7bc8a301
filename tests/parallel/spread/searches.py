"""AUTO_PARALLEL: the solution of a search or plan is what runs on eight devices."""

import numpy as np
from eight_devices import RANDOM, Layers, Squares, communication_of, floats, train

import msnb as ms
from msnb import Tensor, context, log, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ir.stages import Stages
from msnb.parallel import plan
from msnb.parallel.modes import auto
from msnb.parallel.search.recursive import recursive_programming
from msnb.parallel.search.solver import cost_of, dynamic_programming


class Attention(nn.Cell):
    """A Transformer block after an embedding."""

    def __init__(self, width=64, heads=4):
        super().__init__()
        self.heads, self.table = heads, nn.Embedding(128, width)
        self.query, self.key, self.value, self.out = (nn.Dense(width, width) for _ in range(4))
        self.norm, self.up, self.down = nn.LayerNorm((width,)), nn.Dense(width, 4 * width), nn.Dense(4 * width, width)

    def split(self, x):
        return ops.transpose(ops.reshape(x, (*x.shape[:2], self.heads, -1)), (0, 2, 1, 3))

    def construct(self, words):
        x = self.table(words)
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        attended = ops.matmul(ops.softmax(ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / 4.0), value)
        x = x + self.out(ops.reshape(ops.transpose(attended, (0, 2, 1, 3)), x.shape))
        return x + self.down(ops.gelu(self.up(self.norm(x))))


def check_search_computes_the_same_and_sends_little():
    """Losses equal those of one device, bytes equal the prediction, and are at most those of data parallelism."""
    words = Tensor(RANDOM.integers(0, 128, (8, 16)).astype(np.int32))
    for make, x in ((Layers, floats(32, 256)), (Attention, words)):
        results = {}
        for mode in ("stand_alone", "auto_parallel"):
            context.set_context(mode=context.GRAPH_MODE)
            context.set_auto_parallel_context(parallel_mode=mode, device_num=8)
            ms.set_seed(5)
            results[mode] = train(make(), x)
        alone, program = results["stand_alone"], results["auto_parallel"][2]
        for got, expected in zip(results["auto_parallel"][:2], alone[:2], strict=True):
            for a, b in zip(got, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * max(np.abs(b).max(), 1e-2))
        foreseen = cost_of(program.spread.problem, program.spread.choice)
        really = sum(one.bytes for one in communication_of(program))
        parameter_bytes = sum(
            np.prod(p.shape) * 4 for p in program.params if p.requires_grad and "moments" not in p.name
        )
        assert 0.95 < really / foreseen < 1.05, (make.__name__, really, foreseen)
        assert foreseen <= 1.01 * 2 * 7 / 8 * parameter_bytes, (make.__name__, foreseen, parameter_bytes)


def check_searched_program_has_scopes():
    """The compiled program has the names of operators and Cells, and communication is inside one of these scopes."""
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="auto_parallel", device_num=8)
    program = train(Layers(), floats(32, 256), 1)[2]
    nodes = list(Stages(program, "step")["optimised"].all_nodes())
    assert any("MatMul" in node.op for node in nodes), {node.op for node in nodes}
    assert any(node.direction == "backward" and "layers" in node.scope for node in nodes), {
        node.scope for node in nodes
    }
    sends = [node for node in nodes if "bytes_sent" in node.attrs]
    assert sends and all(node.scope for node in sends), [(node.op, node.scope) for node in sends]


def check_choices_match_program_with_label_checks():
    """The check of labels adds equations in the middle of the program. The communication still equals the
    prediction.
    """
    x, labels, results = floats(512, 64), Tensor(RANDOM.integers(0, 8, 512).astype(np.int32)), {}
    for mode in ("stand_alone", "auto_parallel"):
        context.set_context(mode=context.GRAPH_MODE)
        context.set_auto_parallel_context(parallel_mode=mode, device_num=8)
        ms.set_seed(5)
        net = nn.SequentialCell([nn.Dense(64, 256), nn.ReLU(), nn.Dense(256, 64), nn.Dense(64, 8)])
        loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
        step = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 0.01)).set_train()
        results[mode] = [float(step(x, labels).asnumpy()) for _ in range(2)]
    np.testing.assert_allclose(results["auto_parallel"], results["stand_alone"], rtol=1e-5)
    program = program_of(step, x, labels)
    foreseen = cost_of(program.spread.problem, program.spread.choice)
    really = sum(one.bytes for one in communication_of(program))
    assert 0.9 < really / foreseen < 1.1, (really, foreseen)


def check_greedy_search_computes_the_same():
    """Losses equal those of one device, bytes equal the prediction, and a changed search mode starts a new search."""
    x, results = floats(32, 256), {}
    for mode, search in (("stand_alone", None), ("auto_parallel", "recursive_programming")):
        context.set_context(mode=context.GRAPH_MODE)
        settings = {} if search is None else {"search_mode": search}
        context.set_auto_parallel_context(parallel_mode=mode, device_num=8, **settings)
        ms.set_seed(5)
        results[mode] = train(Layers(), x)
    for got, expected in zip(results["auto_parallel"][:2], results["stand_alone"][:2], strict=True):
        for a, b in zip(got, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * max(np.abs(b).max(), 1e-2))
    program = results["auto_parallel"][2]
    problem, choice = program.spread.problem, program.spread.choice
    assert choice == recursive_programming(problem) != dynamic_programming(problem)
    really = sum(one.bytes for one in communication_of(program))
    assert 0.95 < really / cost_of(problem, choice) < 1.05, (really, cost_of(problem, choice))


def check_applied_plan_runs():
    """Losses equal those of one device, and bytes equal the prediction."""
    x = floats(32, 256)
    results = {}
    for name in (None, "optimizer sharded", "fully sharded"):
        context.reset_auto_parallel_context()
        context.set_context(mode=context.GRAPH_MODE)
        ms.set_seed(5)
        net = Layers()
        if name is not None:
            step = nn.TrainOneStepCell(Squares(net), nn.Momentum(net.trainable_params(), 0.01, 0.9)).set_train()
            one = plan(step, x, devices=8, mesh=(2, 4), check=0, progress=False)[name]
            one.apply()
        results[name] = train(net, x)
        for got, expected in zip(results[name][:2], results[None][:2], strict=True):
            for a, b in zip(got, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * max(np.abs(b).max(), 1e-2), err_msg=str(name))
        if name is not None:
            really = sum(each.bytes for each in communication_of(results[name][2]))
            assert 0.95 < really / one.bytes < 1.05, (name, really, one.bytes)
    assert auto._plans and not any("The plan that was applied" in str(message) for message in log._logged_once)
    train(Layers(), floats(64, 256), 1)
    assert any("The plan that was applied is of another graph" in str(message) for message in log._logged_once)
    context.reset_auto_parallel_context()
    assert not auto._plans
