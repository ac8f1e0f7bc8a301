"""SEMI_AUTO_PARALLEL: operators, Cells and functions with strategies on eight devices."""

import math

import numpy as np
from eight_devices import TwoProducts, communication_of, count_communication, floats, refused, set_devices, train

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ir.stages import Stages
from msnb.ops import operations as P
from msnb.parallel.sharding.mesh import named_mesh


def check_two_products_of_the_design_note():
    """The values are equal, and there is one all-gather between rows and columns, as in the note."""
    x = floats(32, 64)
    context.set_context(mode=context.GRAPH_MODE)
    losses, weights, _ = train(TwoProducts(), x)
    expected = {
        (((4, 1), (1, 1)), ((1, 1), (1, 4))): {"all-gather": 1},
        (((4, 1), (1, 1)), ((4, 1), (1, 1))): {},
        (((1, 1), (1, 4)), ((1, 4), (4, 1))): {"all-reduce": 1},
    }
    for strategies, forward in expected.items():
        set_devices(4)
        net = TwoProducts(*strategies)
        assert count_communication(program_of(net, x), 4) == forward
        for got, one in zip(train(net, x)[:2], (losses, weights), strict=True):
            for a, b in zip(got, one, strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())


def check_graph_shows_shards_and_communication():
    set_devices()
    program = program_of(TwoProducts(((4, 1), (1, 2)), ((4, 2), (2, 1))), floats(32, 64))
    stages = Stages(program, "two")
    constrained = [node.attrs for node in stages["traced"].nodes if node.name == "sharding_constraint"]
    assert {"divided": (4, 2), "on_each_device": (8, 32)} in constrained
    kernels = list(stages["optimised"].all_nodes())
    (sends,) = (node.attrs for node in kernels if node.name == "all-reduce")
    assert sends["devices"] == "2 of 8" and sends["bytes_sent"] == communication_of(program)[0].bytes == 8 * 64 * 4
    assert [(4, 2), (4, 1)] == [node.attrs["divided"] for node in kernels if "MatMul" in node.name]


def check_optimised_graph_shows_shards():
    """An input knows its whole shape; no result is divided into parts that there are no devices for, as one would be
    that is taken for that of another product of the same line."""
    set_devices()
    net = nn.SequentialCell(nn.Dense(64, 256, has_bias=False), nn.Dense(256, 64, has_bias=False), nn.Dense(64, 8))
    net[0].matmul.shard(((1, 1), (8, 1)))
    net[1].matmul.shard(((1, 8), (1, 8)))
    optimised = Stages(train(net, floats(32, 64), 1)[2], "step")["optimised"]
    has = {node.name: (node.types[0].shape, node.global_shape) for node in optimised.parameters}
    assert has["net.0.weight"] == ((32, 64), (256, 64)) and has["net.1.weight"] == ((64, 32), (64, 256)), has
    assert has["net.2.weight"] == ((8, 64), None), has
    cuts = [node.attrs["divided"] for node in optimised.all_nodes() if "divided" in node.attrs]
    assert cuts and all(8 % math.prod(cut) == 0 for cut in cuts), cuts


def check_parameters_and_states_have_layout_of_reader():
    set_devices()
    net = TwoProducts(((1, 1), (1, 8)), ((1, 8), (8, 1)))
    _, _, program = train(net, floats(32, 64))
    shard_shapes = {
        p.name: p._get_stored_array().sharding.shard_shape((64, 64)) for p in program.params if p.shape == (64, 64)
    }
    assert shard_shapes == {
        "net.w1": (64, 8),
        "net.w2": (8, 64),
        "moments.net.w1": (64, 8),
        "moments.net.w2": (8, 64),
    }, shard_shapes
    assert program.example_arguments()[0][0].sharding.shard_shape((64, 64)) == (64, 8)


def check_parallel_optimizer_shards_states():
    x, strategies = floats(32, 64), (((8, 1), (1, 1)), ((2, 1), (1, 4)))
    set_devices()
    losses, weights, _ = train(TwoProducts(*strategies), x)
    set_devices(enable_parallel_optimizer=True)
    got, parts, program = train(TwoProducts(*strategies), x)
    shard_shapes = {
        p.name: p._get_stored_array().sharding.shard_shape(p.shape) for p in program.params if p.shape == (64, 64)
    }
    assert shard_shapes == {
        "net.w1": (64, 64),
        "net.w2": (64, 16),
        "moments.net.w1": (8, 64),
        "moments.net.w2": (32, 16),
    }, shard_shapes
    for a, b in zip((*got, *parts), (*losses, *weights), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())
    net = TwoProducts(*strategies)
    net.w2.parallel_optimizer = False
    state_shapes = {p.name: p._get_stored_array().sharding.shard_shape(p.shape) for p in train(net, x, 1)[2].params}
    assert (state_shapes["moments.net.w1"], state_shapes["moments.net.w2"]) == ((8, 64), (64, 16)), state_shapes


def check_recomputed_cell_has_same_layouts():
    x, results = floats(32, 64), []
    for again in (False, True):
        set_devices()
        net = TwoProducts(((1, 1), (1, 8)), ((1, 8), (8, 1)))
        if again:
            net.recompute()
        losses, weights, program = train(net, x)
        shard_shapes = {
            p.name: p._get_stored_array().sharding.shard_shape((64, 64)) for p in program.params if p.shape == (64, 64)
        }
        results.append(([*losses, *weights], shard_shapes, program_of(net, x) and net.parameter_layout_dict))
    for a, b in zip(results[0][0], results[1][0], strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(a).max())
    assert results[0][1:] == results[1][1:], results
    assert results[1][1]["moments.net.w2"] == (8, 64)


class TwoLayers(nn.Cell):
    """Two layers, one of them with optional strategies; the names are those of MindSpore's example."""

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


def check_cell_shard():
    x = floats(32, 64)
    context.set_context(mode=context.GRAPH_MODE)
    losses, weights, _ = train(TwoLayers(), x)
    strategies = {"in_strategy": ((2, 1),), "out_strategy": ((1, 4),), "parameter_plan": {"self.block2.weight": (4, 1)}}
    for mode in ("semi_auto_parallel", "auto_parallel", "stand_alone"):
        context.set_auto_parallel_context(parallel_mode=mode, device_num=8)
        net = TwoLayers(**strategies)
        got, parts, program = train(net, x)
        for a, b in zip((*got, *parts), (*losses, *weights), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())
        if mode == "semi_auto_parallel":
            shard_shapes = {p.name: p._get_stored_array().sharding.shard_shape(p.shape) for p in program.params}
            assert {shard_shapes[name] for name in shard_shapes if name.endswith("block2.weight")} == {(16, 64)}, (
                shard_shapes
            )
            assert net(x)._array.sharding.shard_shape((32, 64)) == (32, 16)


def check_function_shard():
    set_devices()
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
    for strategy, message in wrong.items():
        refused(lambda: TwoLayers(in_strategy=strategy)(x), message)  # noqa: B023 - called at once
    refused(lambda: TwoLayers(in_strategy=((2, 1),), parameter_plan={"other": (2, 1)})(x), "its Parameters are: weight")


def check_many_steps_do_not_deadlock():
    """Eight devices communicate in each step, with any number of processors."""
    set_devices()
    net, x = TwoProducts(((1, 8), (8, 1)), ((1, 8), (8, 1))), floats(32, 64)
    for _ in range(300):
        out = net(x)
    assert np.isfinite(out.asnumpy()).all()


def check_number_of_devices_selects_program():
    x, net = floats(32, 64), TwoProducts(((2, 1), (1, 1)), ((2, 1), (1, 1)))
    for devices in (8, 2, 4):
        set_devices(devices)
        assert len(net(x)._array.sharding.device_set) == devices
    context.reset_auto_parallel_context()
    net.w1.set_data(Tensor(net.w1.asnumpy()))
    expected = x.asnumpy() @ net.w1.asnumpy() @ net.w2.asnumpy()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-5)


def check_wrong_strategies_raise():
    x, w = floats(32, 64), floats(64, 128)
    wrong = {
        (8, ((4, 1), (2, 1))): "cuts axes that belong together differently: into 1 and 2 parts",
        (8, ((4,), (1, 1))): "should have 2 numbers for input 0 of shape (32, 64), but has (4,)",
        (8, ((4, 1),)): "should have one tuple for each of the 2 inputs, but has 1",
        (8, ((3, 1), (1, 1))): "cuts an axis of 32 into 3 parts, which are not equal",
        (8, ((16, 1), (1, 1))): "cuts into 16 parts, which does not divide the 8 devices (device_num)",
        (8, ((0, 1), (1, 1))): "should have positive ints, but input 0 has (0, 1)",
    }
    for (devices, strategy), message in wrong.items():
        set_devices(devices)
        product = P.MatMul().shard(strategy)
        refused(lambda: ms.ms_function(lambda a, b: product(a, b))(x, w), message)  # noqa: B023 - called at once
    softmax = P.Softmax().shard(((1, 8),))
    refused(lambda: ms.ms_function(lambda a: softmax(a))(x), "that has to stay whole: of shape (32, 64)")
    set_devices(128)
    relu = P.ReLU().shard(((128, 1),))
    refused(lambda: ms.ms_function(lambda a: relu(a))(floats(128, 8)), "A CPU counts as 64 at most. Without")


def check_a_mesh_has_the_prime_factors_of_its_devices():
    assert dict(named_mesh(12).shape) == {"d0": 2, "d1": 2, "d2": 3}


def check_dataset_strategy():
    """Each argument has its own strategy, and values equal those of one device. An invalid strategy raises."""
    x, net = floats(16, 64), TwoProducts()
    context.reset_auto_parallel_context()
    alone = net(x).asnumpy()
    for strategy, part in (
        (((2, 4),), (8, 16)),
        (((1, 8),), (16, 8)),
        ("full_batch", (16, 64)),
        ("data_parallel", (2, 64)),
    ):
        set_devices(dataset_strategy=strategy)
        np.testing.assert_allclose(net(x).asnumpy(), alone, rtol=1e-5, atol=1e-5)
        shardings = program_of(net, x).compiled().input_shardings[0]
        assert shardings[-1].shard_shape((16, 64)) == part, (strategy, shardings[-1])
    set_devices(dataset_strategy=((3, 1),))
    refused(lambda: net(x), "The argument has shape (16, 64) and cannot be cut by the strategy (3, 1)")


def check_small_parameters_on_gpu_have_layouts():
    """The GPU is simulated by a CPU."""
    from msnb.core.program import executable

    class Passing:
        class device:  # noqa: N801 - what is called by that name
            platform = "gpu"

    x, real = floats(32, 64), (executable.context, executable._SMALL_BYTES)
    context.set_context(mode=context.GRAPH_MODE)
    losses, weights, _ = train(TwoProducts(), x)
    executable.context, executable._SMALL_BYTES = Passing, 1 << 20  # all of them
    try:
        set_devices()
        net = TwoProducts(((4, 1), (1, 2)), ((4, 2), (2, 1)))
        before = [p._array for p in net.trainable_params()]
        got, new, _ = train(net, x)
    finally:
        executable.context, executable._SMALL_BYTES = real
    assert not any(a.is_deleted() for a in before)
    assert {p._array.sharding.shard_shape((64, 64)) for p in net.trainable_params()} == {(64, 32), (32, 64)}
    np.testing.assert_allclose(got, losses, rtol=1e-5)
    for a, b in zip(new, weights, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * np.abs(b).max())
