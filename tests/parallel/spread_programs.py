"""What runs on eight devices, in a process of its own (`test_spread.py`): each function is a check."""

import collections
import sys
import traceback
from pathlib import Path

import numpy as np

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.communication import create_group, release
from msnb.core.compile import program_of
from msnb.core.facets import MissingEntry
from msnb.core.operator import REGISTRY
from msnb.ir.stages import Stages
from msnb.ops import operations as P
from msnb.parallel import auto, plan
from msnb.parallel.collectives import collectives
from msnb.parallel.mesh import named_mesh
from msnb.parallel.rules import Call, rule_of, rules
from msnb.parallel.search.choosing import cost_of, dynamic_programming
from msnb.parallel.search.greedy import recursive_programming

sys.path.insert(0, str(Path(__file__).parent))  # it is run from a file elsewhere
from random_nets import check_nets_at_random_give_what_one_device_gives, legal  # noqa: E402, F401 - a check as these

RANDOM = np.random.default_rng(0)


def spread(devices=8, **settings):
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="semi_auto_parallel", device_num=devices, **settings)


def floats(*shape):
    return Tensor(RANDOM.standard_normal(shape).astype(np.float32))


def sent(program, devices=8):
    """The communication in what XLA made."""
    return collectives(program.compiled().as_text(), devices)


def counted(program, devices=8):
    """How often each kind of it stands there."""
    return dict(collections.Counter(one.kind for one in sent(program, devices)))


class TwoProducts(nn.Cell):
    """x @ w1 @ w2, as in MindSpore's design note."""

    def __init__(self, *strategies):
        super().__init__()
        random = np.random.default_rng(1)
        self.w1, self.w2 = (
            Parameter(Tensor(random.standard_normal((64, 64)).astype(np.float32) / 8), name=n) for n in ("w1", "w2")
        )
        self.first, self.second = (P.MatMul().shard(s) if s else P.MatMul() for s in strategies or (None, None))

    def construct(self, x):
        return self.second(self.first(x, self.w1), self.w2)


class Squares(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x):
        return ops.square(self.net(x)).mean()


def trained(net, x, steps=3):
    """(losses, new weights) of a few steps of momentum."""
    step = nn.TrainOneStepCell(Squares(net), nn.Momentum(net.trainable_params(), 0.01, 0.9)).set_train()
    losses = [step(x).asnumpy() for _ in range(steps)]
    return losses, [p.asnumpy() for p in net.trainable_params()], program_of(step, x)


def check_two_products_of_the_design_note():
    """Equal numbers, and one gathering between rows and columns, as the note has it."""
    x = floats(32, 64)
    context.set_context(mode=context.GRAPH_MODE)
    losses, weights, _ = trained(TwoProducts(), x)
    wanted = {
        (((4, 1), (1, 1)), ((1, 1), (1, 4))): {"all-gather": 1},
        (((4, 1), (1, 1)), ((4, 1), (1, 1))): {},
        (((1, 1), (1, 4)), ((1, 4), (4, 1))): {"all-reduce": 1},
    }
    for strategies, forward in wanted.items():
        spread(4)
        net = TwoProducts(*strategies)
        assert counted(program_of(net, x), 4) == forward
        for got, one in zip(trained(net, x)[:2], (losses, weights), strict=True):
            for a, b in zip(got, one, strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())


def check_the_graph_says_what_is_on_each_device_and_what_is_sent():
    spread()
    program = program_of(TwoProducts(((4, 1), (1, 2)), ((4, 2), (2, 1))), floats(32, 64))
    stages = Stages(program, "two")
    held = [node.attrs for node in stages["traced"].nodes if node.name == "sharding_constraint"]
    assert {"divided": (4, 2), "on_each_device": (8, 32)} in held
    kernels = list(stages["optimised"].all_nodes())
    (sends,) = (node.attrs for node in kernels if node.name == "all-reduce")
    assert sends["devices"] == "2 of 8" and sends["bytes_sent"] == sent(program)[0].bytes == 8 * 64 * 4
    assert [(4, 2), (4, 1)] == [node.attrs["divided"] for node in kernels if "MatMul" in node.name]


def check_parameters_lie_as_their_readers_say_and_so_does_what_the_optimizer_keeps():
    spread()
    net = TwoProducts(((1, 1), (1, 8)), ((1, 8), (8, 1)))
    _, _, program = trained(net, floats(32, 64))
    lying = {p.name: p._stored().sharding.shard_shape((64, 64)) for p in program.params if p.shape == (64, 64)}
    assert lying == {
        "net.w1": (64, 8),
        "net.w2": (8, 64),
        "moments.net.w1": (64, 8),
        "moments.net.w2": (8, 64),
    }, lying
    assert program.example_arguments()[0][0].sharding.shard_shape((64, 64)) == (64, 8)


def check_a_parallel_optimizer_keeps_a_part_on_each_device():
    x, strategies = floats(32, 64), (((8, 1), (1, 1)), ((2, 1), (1, 4)))
    spread()
    losses, weights, _ = trained(TwoProducts(*strategies), x)
    spread(enable_parallel_optimizer=True)
    got, parts, program = trained(TwoProducts(*strategies), x)
    lying = {p.name: p._stored().sharding.shard_shape(p.shape) for p in program.params if p.shape == (64, 64)}
    assert lying == {
        "net.w1": (64, 64),
        "net.w2": (64, 16),
        "moments.net.w1": (8, 64),
        "moments.net.w2": (32, 16),
    }, lying
    for a, b in zip((*got, *parts), (*losses, *weights), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())
    net = TwoProducts(*strategies)
    net.w2.parallel_optimizer = False
    kept = {p.name: p._stored().sharding.shard_shape(p.shape) for p in trained(net, x, 1)[2].params}
    assert (kept["moments.net.w1"], kept["moments.net.w2"]) == ((8, 64), (64, 16)), kept


def check_parameters_of_a_recomputed_cell_lie_as_without():
    x, found = floats(32, 64), []
    for again in (False, True):
        spread()
        net = TwoProducts(((1, 1), (1, 8)), ((1, 8), (8, 1)))
        if again:
            net.recompute()
        losses, weights, program = trained(net, x)
        lying = {p.name: p._stored().sharding.shard_shape((64, 64)) for p in program.params if p.shape == (64, 64)}
        found.append(([*losses, *weights], lying, program_of(net, x) and net.parameter_layout_dict))
    for a, b in zip(found[0][0], found[1][0], strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(a).max())
    assert found[0][1:] == found[1][1:], found
    assert found[1][1]["moments.net.w2"] == (8, 64)


class TwoLayers(nn.Cell):
    """Two layers, of which one may be given strategies; the names are those of MindSpore's example."""

    def __init__(self, **strategies):
        super().__init__()
        random = np.random.default_rng(5)
        draw = lambda *shape: Tensor(random.standard_normal(shape).astype(np.float32) / 8)  # noqa: E731
        self.block1 = nn.Dense(64, 64, weight_init=draw(64, 64))
        self.block2 = nn.Dense(64, 64, weight_init=draw(64, 64))
        if strategies:
            self.block2_shard = self.block2.shard(**strategies)

    def construct(self, x):
        return self.block2(ops.tanh(self.block1(x)))


def check_a_cell_is_held_to_strategies_of_its_own():
    x = floats(32, 64)
    context.set_context(mode=context.GRAPH_MODE)
    losses, weights, _ = trained(TwoLayers(), x)
    told = {"in_strategy": ((2, 1),), "out_strategy": ((1, 4),), "parameter_plan": {"self.block2.weight": (4, 1)}}
    for mode in ("semi_auto_parallel", "auto_parallel", "stand_alone"):
        context.set_auto_parallel_context(parallel_mode=mode, device_num=8)
        net = TwoLayers(**told)
        got, parts, program = trained(net, x)
        for a, b in zip((*got, *parts), (*losses, *weights), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())
        if mode == "semi_auto_parallel":
            lying = {p.name: p._stored().sharding.shard_shape(p.shape) for p in program.params}
            assert {lying[name] for name in lying if name.endswith("block2.weight")} == {(16, 64)}, lying
            assert net(x)._array.sharding.shard_shape((32, 64)) == (32, 16)


def check_a_function_is_held_to_strategies_and_wrong_ones_are_refused():
    spread()
    x = floats(32, 64)
    halves = ms.shard(lambda a, b: (a + b, a * 2), ((2, 1), (2, 1)), ((2, 4), (8, 1)))
    step = ms.ms_function(lambda a: halves(a, a))
    added, doubled = step(x)
    for out, parts in ((added, (16, 16)), (doubled, (4, 64))):
        np.testing.assert_allclose(out.asnumpy(), 2 * x.asnumpy(), rtol=1e-6)
        assert out._array.sharding.shard_shape((32, 64)) == parts
    wrong = {
        ((3, 1),): "cannot be cut by the strategy (3, 1) over 8 devices",
        ((2,),): "cannot be cut by the strategy (2,)",
        ((16, 1),): "cannot be cut by the strategy (16, 1)",
        ((2, 1), (2, 1)): "one tuple for each of the 1 inputs, but has 2",
    }
    for strategy, said in wrong.items():
        refused(lambda: TwoLayers(in_strategy=strategy)(x), said)  # noqa: B023 - called at once
    refused(lambda: TwoLayers(in_strategy=((2, 1),), parameter_plan={"other": (2, 1)})(x), "its Parameters are: weight")


class Block(nn.Cell):
    """A block of a Transformer without its attention; `mask` is what it cannot be given in a pipeline."""

    def __init__(self, random, norm=None):
        super().__init__()
        draw = lambda *shape: Tensor(random.standard_normal(shape).astype(np.float32) / 4)  # noqa: E731
        self.wide, self.narrow = nn.Dense(8, 16, weight_init=draw(16, 8)), nn.Dense(16, 8, weight_init=draw(8, 16))
        self.norm = norm() if norm else nn.LayerNorm((8,))
        self.tanh = P.Tanh()

    def construct(self, x, mask=1.0):
        return x + mask * self.narrow(self.tanh(self.wide(self.norm(x))))


class Blocks(nn.Cell):
    """A table, equal blocks, and a layer with a loss."""

    def __init__(self, count=4, norm=None, masked=False):
        super().__init__()
        random = np.random.default_rng(2)
        self.table = nn.Embedding(10, 8, embedding_table=Tensor(random.standard_normal((10, 8)).astype(np.float32)))
        self.blocks = nn.CellList([Block(random, norm) for _ in range(count)])
        self.head = nn.Dense(8, 2, weight_init=Tensor(random.standard_normal((2, 8)).astype(np.float32)))
        self.masked = masked

    def construct(self, places):
        x = self.table(places)
        for block in self.blocks:
            x = block(x, 2.0) if self.masked else block(x)
        return ops.square(self.head(x)).mean()


def check_a_pipeline_computes_what_one_device_does():
    places = Tensor(np.random.default_rng(0).integers(0, 10, 16).astype(np.int32))
    found = []
    for stages in (1, 2, 4):
        context.reset_auto_parallel_context()
        if stages > 1:
            spread(pipeline_stages=stages, full_batch=True)
        net = Blocks()
        if stages == 4:
            for number, cell in enumerate((*net.blocks, net.table, net.head)):
                cell.pipeline_stage = (0, 1, 2, 3, 0, 3)[number]
        step = nn.TrainOneStepCell(nn.PipelineCell(net, 4), nn.Adam(net.trainable_params(), 0.01)).set_train()
        losses = [step(places).asnumpy() for _ in range(2)]
        found.append([*losses, *[p.asnumpy() for p in net.trainable_params()]])
        assert ("ppermute" in str(program_of(step, places).jaxpr)) == (stages > 1)
    for other in found[1:]:
        for a, b in zip(other, found[0], strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())


def check_each_device_has_its_share_of_the_stages_and_its_rows():
    """Between two steps a device has a part of each Parameter of a block, and of what Adam keeps of it; in a step it
    sends what it has of them, once, and their gradients back, and hands on its rows of each part."""
    places = Tensor(np.random.default_rng(0).integers(0, 10, 16).astype(np.int32))
    spread(pipeline_stages=2, full_batch=True)
    net = Blocks()
    step = nn.TrainOneStepCell(nn.PipelineCell(net, 4), nn.Adam(net.trainable_params(), 0.01)).set_train()
    step(places)
    for param in step.get_parameters():
        inside = ".blocks." in f".{param.name}"
        assert param._array.sharding.shard_shape(param.shape) != param.shape or not inside, param.name
    found = collections.defaultdict(float)
    for one in sent(program_of(step, places)):
        found[one.kind] += one.bytes
    params = sum(4 * p.size for p in net.blocks.get_parameters())
    assert found["all-to-all"] == 2 * (params / 2) / 2
    assert found["collective-permute"] == 2 * 5 * (4 / 4 * 8 * 4)  # there and back, 5 rounds, one row of four
    rows = nn.PipelineCell(Blocks(norm=lambda: _Centered()), 4)
    whole = rows(places).asnumpy()
    context.reset_auto_parallel_context()
    np.testing.assert_allclose(whole, rows(places).asnumpy(), rtol=1e-5)


class _Centered(nn.Cell):
    """Rows that depend on one another."""

    def construct(self, x):
        return x - x.mean(0)


class Drawing(nn.Cell):
    """Adds its scale where its mask is."""

    def __init__(self, scale):
        super().__init__()
        self.scale = Parameter(Tensor(np.float32(scale)), name="scale")
        self.dropout = nn.Dropout(0.75)

    def construct(self, x):
        return x + self.scale * 0.75 * self.dropout(ops.ones_like(x))


class Masks(nn.Cell):
    """What blocks have drawn, for each part by itself."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Drawing(2.0**i) for i in range(8)])

    def construct(self, x, part):
        for block in self.blocks:
            x = block(x)
        return ops.expand_dims(x, 1) * ops.expand_dims(part, 2)


def check_stages_draw_other_masks_in_each_block_and_part():
    """The rate is right, a seed gives the same ones again, and a gradient sees those that were drawn."""
    parts = Tensor(np.repeat(np.eye(4, dtype=np.float32), 16, 0))
    nothing = Tensor(np.zeros((64, 32), np.float32))
    spread(pipeline_stages=2, full_batch=True)
    net = nn.PipelineCell(Masks().set_train(), 4).set_train()
    both = ms.value_and_grad(net, None, net.trainable_params())
    found = []
    for seed in (3, None, 3):
        if seed is not None:
            ms.set_seed(seed)
        out, grads = both(nothing, parts)
        bits = np.rint(out.asnumpy()).astype(np.int64)  # (row, part, column)
        masks = (bits[None] >> np.arange(8)[:, None, None, None]) & 1
        np.testing.assert_allclose([g.asnumpy() for g in grads], masks.sum((1, 2, 3)), rtol=1e-5)
        found.append(masks)
    first, second, again = found
    assert (first == again).all() and (first != second).any()
    assert abs(first.mean() - 0.75) < 0.01  # of 16384: three times its deviation
    rows = first.transpose(0, 2, 1, 3).reshape(-1, 32)
    assert len(np.unique(rows, axis=0)) > 0.95 * len(rows)


def check_stages_that_are_not_equal_are_refused_in_a_sentence():
    places = Tensor(np.zeros(16, np.int32))
    uneven = Blocks()
    for number, block in enumerate(uneven.blocks):
        block.pipeline_stage = min(number, 1)
    cut = Blocks()
    for block in cut.blocks:
        block.tanh.shard(((2, 1),))
    wrong = {
        "has 3. Equal are": Blocks(3),
        "of which stages have [1, 3]": uneven,
        "takes one Tensor and gives one": Blocks(masked=True),
        "writes Parameters, such as BatchNorm": Blocks(norm=lambda: nn.BatchNorm1d(8)).set_train(),
        "'Tanh' has a strategy": cut,
    }
    spread(pipeline_stages=2, full_batch=True)
    for said, net in wrong.items():
        not_available(nn.PipelineCell(net, 4), places, said)
    context.set_auto_parallel_context(parallel_mode="auto_parallel")
    not_available(nn.PipelineCell(Blocks(), 4), places, "works in parallel_mode 'semi_auto_parallel'")


def not_available(net, x, said):
    try:
        net(x)
    except NotImplementedError as error:
        assert said in str(error), error
        return
    raise AssertionError(f"not refused: {said}")


def check_many_steps_do_not_wait_for_one_another():
    """Eight devices meet in each step, on however few processors."""
    spread()
    net, x = TwoProducts(((1, 8), (8, 1)), ((1, 8), (8, 1))), floats(32, 64)
    for _ in range(300):
        out = net(x)
    assert np.isfinite(out.asnumpy()).all()


def check_another_number_of_devices_is_another_program():
    x, net = floats(32, 64), TwoProducts(((2, 1), (1, 1)), ((2, 1), (1, 1)))
    for devices in (8, 2, 4):
        spread(devices)
        assert len(net(x)._array.sharding.device_set) == devices
    context.reset_auto_parallel_context()
    net.w1.set_data(Tensor(net.w1.asnumpy()))
    wanted = x.asnumpy() @ net.w1.asnumpy() @ net.w2.asnumpy()
    np.testing.assert_allclose(net(x).asnumpy(), wanted, rtol=1e-4, atol=1e-5)


def check_wrong_strategies_are_refused_in_a_sentence():
    x, w = floats(32, 64), floats(64, 128)
    wrong = {
        (8, ((4, 1), (2, 1))): "cuts axes that belong together differently: into 1 and 2 parts",
        (8, ((4,), (1, 1))): "should have 2 numbers for input 0 of shape (32, 64), but has (4,)",
        (8, ((4, 1),)): "should have one tuple for each of the 2 inputs, but has 1",
        (8, ((3, 1), (1, 1))): "cuts an axis of 32 into 3 parts, which are not equal",
        (8, ((16, 1), (1, 1))): "cuts into 16 parts, which does not divide the 8 devices (device_num)",
        (8, ((0, 1), (1, 1))): "should have positive ints, but input 0 has (0, 1)",
    }
    for (devices, strategy), said in wrong.items():
        spread(devices)
        product = P.MatMul().shard(strategy)
        refused(lambda: ms.ms_function(lambda a, b: product(a, b))(x, w), said)  # noqa: B023 - called at once
    softmax = P.Softmax().shard(((1, 8),))
    refused(lambda: ms.ms_function(lambda a: softmax(a))(x), "that has to stay whole: of shape (32, 64)")
    spread(128)
    relu = P.ReLU().shard(((128, 1),))
    refused(lambda: ms.ms_function(lambda a: relu(a))(floats(128, 8)), "over 128 devices (device_num), but there")


def refused(call, said):
    try:
        call()
    except RuntimeError as error:
        assert said in str(error), error
        return
    raise AssertionError(f"not refused: {said}")


class Classifier(nn.Cell):
    """Dense, BatchNorm, Dense: what rows have to do with one another is in the second."""

    def __init__(self, layerwise=False):
        super().__init__()
        random = np.random.default_rng(3)
        draw = lambda *shape: Tensor(random.standard_normal(shape).astype(np.float32) / 4)  # noqa: E731
        self.inner, self.norm = nn.Dense(8, 16, weight_init=draw(16, 8)), nn.BatchNorm1d(16)
        self.outer = nn.Dense(16, 3, weight_init=draw(3, 16))
        self.outer.weight.layerwise_parallel = layerwise

    def construct(self, x):
        return self.outer(ops.tanh(self.norm(self.inner(x))))


def classified(layerwise=False):
    """(what gives loss and gradients, its network)."""
    net = Classifier(layerwise)
    return nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")), net


def by_hand(x, y, parts, mean, layerwise=False, steps=2, rate=0.5):
    """(losses, weights) by r1.1's words: each process has its rows, their loss and statistics; gradients are summed."""
    context.reset_auto_parallel_context()
    context.set_context(mode=context.GRAPH_MODE)
    weights, losses = None, []
    for _ in range(steps):
        found = []
        for rank in range(parts):
            loss_net, net = classified()
            loss_net.set_train()
            if weights is not None:
                for p, value in zip(net.trainable_params(), weights[rank], strict=True):
                    p.set_data(Tensor(value))
            rows = slice(rank * len(x) // parts, (rank + 1) * len(x) // parts)
            params = ms.ParameterTuple(net.trainable_params())
            loss, grads = ops.value_and_grad(loss_net, None, params)(Tensor(x[rows]), Tensor(y[rows]))
            found.append((loss.asnumpy(), [g.asnumpy() for g in grads], [p.asnumpy() for p in params]))
        joined = [np.sum(g, axis=0) / (parts if mean else 1) for g in zip(*(g for _, g, _ in found), strict=True)]
        alone = [layerwise and name == "outer.weight" for name in (p.name for p in params)]
        weights = [
            [w - rate * (own if single else all_) for w, own, all_, single in zip(ws, gs, joined, alone, strict=True)]
            for _, gs, ws in found
        ]
        losses.append(np.mean([loss for loss, *_ in found]))
    return losses, weights[0]


def check_data_parallel_is_what_processes_with_their_own_rows_compute():
    x, y = RANDOM.standard_normal((32, 8)).astype(np.float32), RANDOM.integers(0, 3, 32).astype(np.int32)
    for mode, mean, layerwise in (
        ("data_parallel", True, False),
        ("data_parallel", False, False),
        ("hybrid_parallel", True, True),
    ):
        losses, weights = by_hand(x, y, 4, mean, layerwise)
        context.set_auto_parallel_context(parallel_mode=mode, device_num=4, gradients_mean=mean)
        loss_net, net = classified(layerwise)
        step = nn.TrainOneStepCell(loss_net, nn.SGD(net.trainable_params(), 0.5)).set_train()
        got = [step(Tensor(x), Tensor(y)).asnumpy() for _ in range(2)]
        np.testing.assert_allclose(got, losses, rtol=1e-5)
        for p, wanted in zip(net.trainable_params(), weights, strict=True):
            np.testing.assert_allclose(p.asnumpy(), wanted, rtol=0, atol=2e-6, err_msg=f"{mode} {p.name}")
        assert counted(program_of(step, Tensor(x), Tensor(y)), 4).keys() == {"all-reduce"}


def check_statistics_of_all_devices_are_those_of_the_whole_batch():
    x, y = floats(16, 6), floats(16, 6)
    for one, all_ in (
        (nn.BatchNorm1d, nn.SyncBatchNorm),
        (nn.BatchNorm1d, lambda number: nn.GlobalBatchNorm(number, device_num_each_group=4)),
        (ms.mint.nn.BatchNorm1d, ms.mint.nn.SyncBatchNorm),
    ):
        found = []
        for make, settings in ((one, {}), (all_, {"parallel_mode": "data_parallel", "device_num": 4})):
            context.reset_auto_parallel_context()
            context.set_auto_parallel_context(gradients_mean=True, **settings)
            norm = make(6)
            net = nn.SequentialCell(nn.Dense(6, 6, weight_init=Tensor(np.eye(6, dtype=np.float32))), norm)
            loss = nn.WithLossCell(net, nn.MSELoss())
            step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.5)).set_train()
            losses = [step(x, y).asnumpy() for _ in range(2)]
            found.append([losses, *[p.asnumpy() for p in net.get_parameters()]])
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=2e-6, err_msg=str(all_))
    context.set_auto_parallel_context(parallel_mode="data_parallel", device_num=4)
    context.set_context(mode=context.GRAPH_MODE)
    rows = x.asnumpy().reshape(4, 4, 6)
    for norm, groups in (
        (nn.GlobalBatchNorm(6), [[0, 1], [2, 3]]),
        (nn.SyncBatchNorm(6, process_groups=[[3, 0], [1, 2]]), [[0, 3], [1, 2]]),
        (ms.mint.nn.SyncBatchNorm(6), [[0, 1, 2, 3]]),
    ):
        got = norm.set_train()(x).asnumpy().reshape(4, 4, 6)
        for group in groups:
            own = rows[group]
            wanted = (own - own.mean((0, 1))) / np.sqrt(own.var((0, 1)) + 1e-5)
            np.testing.assert_allclose(got[group], wanted, rtol=1e-4, atol=1e-5)
    for norm in (nn.GlobalBatchNorm(6, device_num_each_group=3), nn.SyncBatchNorm(6, process_groups=[[0, 1], [2]])):
        try:
            norm.set_train()(x)
        except ValueError as error:
            assert "4 devices" in str(error), error
        else:
            raise AssertionError(norm)


class Attention(nn.Cell):
    """A block of a Transformer, behind a table of words."""

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
        seen = ops.matmul(ops.softmax(ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / 4.0), value)
        x = x + self.out(ops.reshape(ops.transpose(seen, (0, 2, 1, 3)), x.shape))
        return x + self.down(ops.gelu(self.up(self.norm(x))))


class Layers(nn.Cell):
    def __init__(self, width=256):
        super().__init__()
        self.layers = nn.SequentialCell([nn.Dense(width, width, activation="relu") for _ in range(3)])

    def construct(self, x):
        return self.layers(x)


def check_a_search_finds_what_computes_the_same_and_sends_little():
    """Losses as on one device, bytes as foreseen, and no more of them than when the batch alone is cut."""
    words = Tensor(RANDOM.integers(0, 128, (8, 16)).astype(np.int32))
    for make, x in ((Layers, floats(32, 256)), (Attention, words)):
        found = {}
        for mode in ("stand_alone", "auto_parallel"):
            context.set_context(mode=context.GRAPH_MODE)
            context.set_auto_parallel_context(parallel_mode=mode, device_num=8)
            ms.set_seed(5)
            found[mode] = trained(make(), x)
        alone, program = found["stand_alone"], found["auto_parallel"][2]
        for got, wanted in zip(found["auto_parallel"][:2], alone[:2], strict=True):
            for a, b in zip(got, wanted, strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * max(np.abs(b).max(), 1e-2))
        foreseen = cost_of(program.spread.problem, program.spread.choice)
        really = sum(one.bytes for one in sent(program))
        whole = sum(np.prod(p.shape) * 4 for p in program.params if p.requires_grad and "moments" not in p.name)
        assert 0.95 < really / foreseen < 1.05, (make.__name__, really, foreseen)
        assert foreseen <= 1.01 * 2 * 7 / 8 * whole, (make.__name__, foreseen, whole)


def check_a_search_finds_its_equations_among_those_that_check_labels():
    """What checks labels stands in the middle of what runs, which sends what was foreseen all the same."""
    x, labels, found = floats(512, 64), Tensor(RANDOM.integers(0, 8, 512).astype(np.int32)), {}
    for mode in ("stand_alone", "auto_parallel"):
        context.set_context(mode=context.GRAPH_MODE)
        context.set_auto_parallel_context(parallel_mode=mode, device_num=8)
        ms.set_seed(5)
        net = nn.SequentialCell([nn.Dense(64, 256), nn.ReLU(), nn.Dense(256, 64), nn.Dense(64, 8)])
        loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
        step = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 0.01)).set_train()
        found[mode] = [float(step(x, labels).asnumpy()) for _ in range(2)]
    np.testing.assert_allclose(found["auto_parallel"], found["stand_alone"], rtol=1e-5)
    program = program_of(step, x, labels)
    foreseen = cost_of(program.spread.problem, program.spread.choice)
    really = sum(one.bytes for one in sent(program))
    assert 0.9 < really / foreseen < 1.1, (really, foreseen)


def check_the_greedy_search_computes_the_same():
    """Losses as on one device, bytes as foreseen, and the search is asked again when the context says another one."""
    x, found = floats(32, 256), {}
    for mode, search in (("stand_alone", None), ("auto_parallel", "recursive_programming")):
        context.set_context(mode=context.GRAPH_MODE)
        settings = {} if search is None else {"search_mode": search}
        context.set_auto_parallel_context(parallel_mode=mode, device_num=8, **settings)
        ms.set_seed(5)
        found[mode] = trained(Layers(), x)
    for got, wanted in zip(found["auto_parallel"][:2], found["stand_alone"][:2], strict=True):
        for a, b in zip(got, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * max(np.abs(b).max(), 1e-2))
    program = found["auto_parallel"][2]
    problem, choice = program.spread.problem, program.spread.choice
    assert choice == recursive_programming(problem) != dynamic_programming(problem)
    really = sum(one.bytes for one in sent(program))
    assert 0.95 < really / cost_of(problem, choice) < 1.05, (really, cost_of(problem, choice))


def check_a_plan_that_is_applied_is_what_runs():
    """The losses of one device, and the bytes that were foreseen."""
    x = floats(32, 256)
    found = {}
    for name in (None, "optimizer sharded", "fully sharded"):
        context.reset_auto_parallel_context()
        context.set_context(mode=context.GRAPH_MODE)
        ms.set_seed(5)
        net = Layers()
        if name is not None:
            step = nn.TrainOneStepCell(Squares(net), nn.Momentum(net.trainable_params(), 0.01, 0.9)).set_train()
            one = plan(step, x, devices=8, mesh=(2, 4), check=0, progress=False)[name]
            one.apply()
        found[name] = trained(net, x)
        for got, wanted in zip(found[name][:2], found[None][:2], strict=True):
            for a, b in zip(got, wanted, strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * max(np.abs(b).max(), 1e-2), err_msg=str(name))
        if name is not None:
            really = sum(each.bytes for each in sent(found[name][2]))
            assert 0.95 < really / one.bytes < 1.05, (name, really, one.bytes)
    assert auto._plans
    context.reset_auto_parallel_context()
    assert not auto._plans


def check_communication_joins_what_devices_have():
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="data_parallel", device_num=8)
    x = RANDOM.uniform(0.5, 1.5, (16, 3)).astype(np.float32)
    parts = x.reshape(8, 2, 3)
    wanted = {
        P.AllReduce(): np.tile(parts.sum(0), (8, 1)),
        P.AllReduce("max"): np.tile(parts.max(0), (8, 1)),
        P.AllReduce("min"): np.tile(parts.min(0), (8, 1)),
        P.AllReduce("prod"): np.tile(parts.prod(0), (8, 1)),
        P.AllGather(): np.tile(x, (8, 1)),
    }
    for operator, value in wanted.items():
        got = ms.ms_function(lambda a: operator(a))(Tensor(x))  # noqa: B023 - called at once
        np.testing.assert_allclose(got.asnumpy(), value, rtol=1e-5, err_msg=str(operator))
    wide = RANDOM.uniform(0.5, 1.5, (64, 3)).astype(np.float32)
    for operator, joined in ((P.ReduceScatter(), np.sum), (P.ReduceScatter("max"), np.max)):
        got = ms.ms_function(lambda a: operator(a))(Tensor(wide))  # noqa: B023 - called at once
        np.testing.assert_allclose(got.asnumpy(), joined(wide.reshape(8, 8, 3), axis=0), rtol=1e-5)
    broadcast = P.Broadcast(3)
    got = ms.ms_function(lambda a: broadcast((a,))[0])(Tensor(x))
    np.testing.assert_array_equal(got.asnumpy(), np.tile(parts[3], (8, 1)))
    reduce = P.AllReduce()
    gradient = ms.ms_function(lambda a: ops.grad(lambda b: (reduce(b) * b).sum())(a))(Tensor(x))
    np.testing.assert_allclose(gradient.asnumpy(), np.tile(2 * parts.sum(0), (8, 1)), rtol=1e-5)


def check_a_group_joins_what_its_members_have():
    """Values and gradients, beside r1.1's rules written with numpy."""
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="data_parallel", device_num=8)
    create_group("half", [3, 2, 1, 0])
    x = RANDOM.uniform(0.5, 1.5, (64, 3)).astype(np.float32)
    each = x.reshape(8, 8, 3)
    order = np.array([[3, 2, 1, 0], [7, 6, 5, 4]])  # the other half is one, too
    sums, largest = each[order].sum(1), each[order].max(1)
    mine, place = np.arange(8) // 4, 3 - np.arange(8) % 4
    has_it = each == largest[mine]
    weights = RANDOM.uniform(0.5, 1.5, each.shape).astype(np.float32)
    sent = weights[order].sum(1)[mine]
    rows = [slice(2 * p, 2 * p + 2) for p in place]
    cases = {
        P.AllReduce(group="half"): (sums[mine], sent),
        P.AllReduce("max", group="half"): (largest[mine], sent * has_it),
        P.Broadcast(1, group="half"): (each[np.where(mine, 5, 1)], weights),
    }
    for operator, (value, gradient) in cases.items():

        def run(a, operator=operator):
            return operator((a,))[0] if isinstance(operator, P.Broadcast) else operator(a)

        both(run, x, weights, value, gradient)
    few = each[:, :2]
    both(P.ReduceScatter(group="half"), x, few, cut(sums[mine], rows), few[order].reshape(2, 8, 3)[mine])
    back = cut(np.stack([weights[o].sum(0) for o in order])[mine], rows)
    both(P.AllGather(group="half"), few, weights, few[order].reshape(2, 8, 3)[mine], back)
    to_all = weights[order].reshape(2, 4, 4, 2, 3)  # half, from, to, rows
    to_all = np.stack([to_all[m, :, 3 - r % 4] for m, r in zip(mine, range(8), strict=True)]).reshape(8, 8, 3)
    exchange = P.AlltoAll(4, 0, 0, group="half")
    both(exchange, weights, to_all, to_all, weights)  # which goes back as it came
    across = P.AlltoAll(4, 0, 1, group="half")
    np.testing.assert_array_equal(
        ms.ms_function(lambda a: across(a))(Tensor(weights.reshape(-1, 3))).asnumpy(),
        to_all.reshape(8, 4, 2, 3).transpose(0, 2, 1, 3).reshape(16, 12),
    )
    of_two = weights[np.where(mine, 6, 2)]
    both(P.Reduce(1, group="half"), x, weights, sums[mine], of_two)  # member 1 of the halves is 2 and 6
    both(P.CollectiveGather(2, group="half"), few, weights, few[order].reshape(2, 8, 3)[mine], cut(of_two, rows))
    only_two = np.where((np.arange(8) % 4 == 2)[:, None, None], few[order].reshape(2, 8, 3)[mine], 0)
    both(P.CollectiveScatter(2, group="half"), x, few, cut(each[np.where(mine, 6, 2)], rows), only_two)
    create_group("odd", [0, 1, 2])
    odd = P.AllReduce(group="odd")
    refused(lambda: ms.ms_function(lambda a: odd(a))(Tensor(x)), "without a group, and all run one program")
    release()


def cut(each, rows):
    """Of what each device has, its rows."""
    return np.stack([values[own] for values, own in zip(each, rows, strict=True)])


def both(run, x, weights, value, gradient):
    """Compare what each device gets of its rows, and what comes back for `weights`."""
    x, weights = (Tensor(a.reshape(-1, 3)) for a in (x, weights))
    np.testing.assert_allclose(ms.ms_function(lambda a: run(a))(x).asnumpy(), value.reshape(-1, 3), rtol=1e-5)
    got = ms.ms_function(lambda a, w: ops.grad(lambda b: (run(b) * w).sum())(a))(x, weights)
    np.testing.assert_allclose(got.asnumpy(), gradient.reshape(-1, 3), rtol=1e-5)


def check_a_batch_that_cannot_be_divided_is_refused():
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(parallel_mode="data_parallel", device_num=8)
    try:
        Classifier()(floats(12, 8))
    except ValueError as error:
        assert "of shape (12, 8) cannot be divided by rows over 8 devices" in str(error)
    else:
        raise AssertionError("it is divided")


SHAPES = {  # of operators for which Tensors of one shape will not do
    "MatMul": [(8, 16), (16, 24)],
    "BatchMatMul": [(2, 8, 16), (2, 16, 24)],
    "BiasAdd": [(8, 16), (16,)],
    "Conv2D": [(8, 8, 6, 6), (16, 8, 3, 3)],
    "LayerNorm": [(8, 8, 16), (16,), (16,)],
    "Squeeze": [(8, 1, 16)],
    "Select": [(8, 16)] * 3,
    "KLDivLoss": [(8, 16)] * 2,
    **dict.fromkeys(("Gather", "SparseGatherV2", "EmbeddingLookup"), [(16, 8), (8, 4)]),
    **dict.fromkeys((f"UnsortedSegment{kind}" for kind in ("Sum", "Min", "Max", "Prod")), [(8, 16), (8,)]),
    "PReLU": [(8, 16), (16,)],
    "ReLUV2": [(8, 16, 4, 4)],
    "Range": [(16,)],
    "OneHot": [(8, 4), (), ()],
}
MADE = {
    "Conv2D": lambda: P.Conv2D(16, 3),
    "KLDivLoss": lambda: P.KLDivLoss("none"),
    "LayerNorm": lambda: P.LayerNorm(-1, -1),
    "Squeeze": lambda: P.Squeeze(1),
    "ArgMaxWithValue": lambda: P.ArgMaxWithValue(1),
    "ArgMinWithValue": lambda: P.ArgMinWithValue(1),
    "Argmax": lambda: P.Argmax(1),
    "Argmin": lambda: P.Argmin(1),
    "Split": lambda: P.Split(1, 2),
    "Concat": lambda: P.Concat(1),
    "Stack": lambda: P.Stack(1),
    "BroadcastTo": lambda: P.BroadcastTo((4, 8, 16)),
    "Range": lambda: P.Range(0.0, 16.0, 1.0),
}
STATIC = {  # what follows the Tensors
    "Cast": (ms.float16,),
    "Transpose": ((1, 0),),
    "ExpandDims": (1,),
    "Tile": ((2, 1),),
    "TopK": (3,),
    "CumSum": (1,),
    "CumProd": (1,),
    **dict.fromkeys(("Gather", "SparseGatherV2", "EmbeddingLookup"), (0,)),
    **dict.fromkeys((f"UnsortedSegment{kind}" for kind in ("Sum", "Min", "Max", "Prod")), (4,)),
    "Reshape": ((16, 8),),
    "Slice": ((0, 4), (8, 8)),
    "StridedSlice": ((0, 4), (8, 12), (1, 1)),
    **dict.fromkeys((f"Reduce{kind}" for kind in ("Sum", "Mean", "Max", "Min", "Prod", "All", "Any")), (1,)),
}
OF_BOOLS = ("LogicalNot", "LogicalAnd", "LogicalOr", "ReduceAll", "ReduceAny", "Select")
OF_INTS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "OneHot", "SparseSoftmaxCrossEntropyWithLogits")
OF_PLACES = (
    "Gather",
    "SparseGatherV2",
    "EmbeddingLookup",
    *(f"UnsortedSegment{k}" for k in ("Sum", "Min", "Max", "Prod")),
)
# They write or draw, and have checks of their own.
NOT_HERE = ("Assign", "AssignAdd", "AssignSub", "Dropout", "DropoutGenMask", "DropoutDoMask", "UniformCandidateSampler")


def example(name, op):
    """(a call of Tensors, the Tensors) of an operator."""
    count = sum(i.kind is None for i in op.inputs)
    shapes = SHAPES.get(name) or [(8, 16)] * count
    many = any(i.many for i in op.inputs)
    shapes = [(8, 16)] * 3 if many else shapes
    tensors = []
    for place, shape in enumerate(shapes):
        if name in OF_BOOLS and not (name == "Select" and place):
            tensors.append(Tensor(RANDOM.random(shape) > 0.5))
        elif name in OF_PLACES and place:
            tensors.append(Tensor(RANDOM.integers(0, 4, shape, np.int32)))
        elif name in OF_INTS and (place == (name != "OneHot") or name.startswith("Bitwise")):
            tensors.append(Tensor(RANDOM.integers(0, 4, shape[:1] if name.startswith("Sparse") else shape, np.int32)))
        else:
            tensors.append(Tensor(RANDOM.uniform(0.2, 0.9, shape).astype(np.float32)))
    if name == "OneHot":
        tensors = [tensors[0], 16, *tensors[1:]]
    return (MADE.get(name, getattr(P, name))(), tensors, many, STATIC.get(name, ()))


def check_each_rule_gives_what_one_device_gives():
    """An operator of each rule, with --all each that has one, cut at random as the rule allows."""
    wrong = []
    known = [REGISTRY[name] for name in rules.coverage().known if name not in NOT_HERE]
    for op in known if "--all" in sys.argv else {rules.get(op): op for op in known}.values():
        primitive, tensors, many, static = example(op.name, op)

        def run(*given, primitive=primitive, many=many, static=static):
            return primitive(given, *static) if many else primitive(*given, *static)

        context.reset_auto_parallel_context()
        context.set_context(mode=context.GRAPH_MODE)
        alone = ms.ms_function(lambda *given: run(*given))(*tensors)
        strategy = random_strategy(op, primitive, tensors, static, many)
        spread()
        primitive.shard(strategy)
        together = ms.ms_function(lambda *given: run(*given))(*tensors)
        for a, b in zip(*(o if isinstance(o, tuple) else (o,) for o in (alone, together)), strict=True):
            a, b = a.asnumpy().astype(np.float64), b.asnumpy().astype(np.float64)
            if not np.allclose(a, b, rtol=0, atol=2e-5 * max(1, np.nanmax(np.abs(a), initial=0)), equal_nan=True):
                wrong.append((op.name, strategy, np.abs(a - b).max()))
    assert not wrong, wrong


def random_strategy(op, primitive, tensors, static, many):
    """A strategy that the operator's rule allows, drawn from all that cut something on eight devices."""
    shapes = [t.shape for t in tensors if isinstance(t, Tensor)]
    settings = {**primitive._attributes, **dict(zip([i.name for i in op.inputs if i.kind is not None], static))}
    if op.name == "OneHot":
        settings["depth"] = 16
    rule = rule_of(Call(op.name, settings, shapes))
    return legal(RANDOM, rule, shapes)


def check_an_operator_without_a_rule_is_cut_by_rows_or_refused():
    x = floats(8, 4)
    sort = P.Sort()
    wanted = sort(x)[0].asnumpy()
    spread()
    for strategy, allowed in ((((8, 1),), True), (((4, 2),), False)):
        sort.shard(strategy)
        try:
            got = ms.ms_function(lambda x: sort(x))(x)[0].asnumpy()
        except MissingEntry as error:
            assert not allowed and "For 'Sort', there is no sharding rule: one axis" in str(error), error
        else:
            assert allowed
            np.testing.assert_array_equal(got, wanted)


def check_a_mesh_has_the_prime_factors_of_its_devices():
    assert dict(named_mesh(12).shape) == {"d0": 2, "d1": 2, "d2": 3}


if __name__ == "__main__":
    spread()  # before anything is computed
    failed = []
    for name, check in [*globals().items()]:
        if name.startswith("check_"):
            context.reset_auto_parallel_context()
            try:
                check()
            except Exception:
                failed.append(name)
                print(f"==== {name}\n{traceback.format_exc()}", flush=True)
    raise SystemExit(f"{len(failed)} failed: {failed}" if failed else 0)
