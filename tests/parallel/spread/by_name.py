"""Strategies with named device axes, output strategies, and networks with their own parallel settings."""

import numpy as np
from eight_devices import Squares, TwoProducts, count_communication, floats, refused, set_devices

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.program.program_cache import program_of
from msnb.ops import operations as P
from msnb.parallel import Layout
from msnb.parallel.auto_parallel import AutoParallel
from msnb.parallel.nn import Pipeline, PipelineGradReducer

GRID = Layout((2, 4), ("dp", "mp"))
BY_NAME = (GRID("dp", "None"), GRID("None", "mp")), (GRID("dp", "mp"), GRID("mp", "None"))
BY_NUMBER = ((2, 1), (1, 4)), ((2, 4), (4, 1))


class Product(nn.Cell):
    def __init__(self, *strategies):
        super().__init__()
        self.product = P.MatMul().shard(*strategies)

    def construct(self, x, y):
        return self.product(x, y)


def alone():
    """Set eight devices in stand-alone mode, so that only networks with their own settings are sharded."""
    context.set_context(mode=context.GRAPH_MODE)
    context.set_auto_parallel_context(device_num=8)


def assert_close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def check_named_axes_compute_and_send_the_same():
    x = floats(32, 64)
    context.set_context(mode=context.GRAPH_MODE)
    expected = TwoProducts()(x).asnumpy()
    set_devices()
    net = TwoProducts(*BY_NAME)
    assert_close(net(x).asnumpy(), expected)
    assert (
        count_communication(program_of(net, x))
        == count_communication(program_of(TwoProducts(*BY_NUMBER), x))
        == {"all-reduce": 1}
    )


def check_named_axis_has_fixed_devices():
    """Plain numbers take mesh axes from the front, so that (1, 4) and (2, 4) would use different devices."""
    set_devices()
    one, grid = P.ReLU().shard((GRID("None", "mp"),)), P.ReLU().shard((GRID("dp", "mp"),))

    class Two(nn.Cell):
        def construct(self, x):
            return grid(one(x))

    assert count_communication(program_of(Two(), floats(32, 64))) == {}


def check_output_strategy():
    set_devices()
    x, y = floats(8, 16), floats(16, 32)
    for out, parts in ((((8, 1),), (8, 1)), (((2, 1),), (2, 1)), ((GRID("mp", "dp"),), (4, 2))):
        inputs = BY_NAME[1] if out[0] == GRID("mp", "dp") else BY_NUMBER[1]
        net = Product(inputs, out)
        result = net(x, y)
        assert_close(result.asnumpy(), x.asnumpy() @ y.asnumpy())
        shard = result._array.sharding.shard_shape((8, 32))
        assert shard == (8 // parts[0], 32 // parts[1]), shard


def check_invalid_layouts_raise():
    set_devices()
    x, y, other = floats(8, 16), floats(16, 32), Layout((4, 2), ("a", "b"))
    for strategies, message in (
        ([(GRID("dp", "mp"), GRID("mp", "dp"))], "do not belong together along 'dp'"),
        ([(GRID("dp", "mp"), other("a", "None"))], "several device matrices"),
        ([(GRID("dp", "mp"), (4, 1))], "one or the other"),
        ([(Layout((3,), ("a",))("None", "None"), (1, 1))], "do not divide 8"),
        ([((2, 4), (4, 1)), ((2, 3),)], "cannot be cut"),
        ([((2, 4), (4, 1)), ((2, 1), (1, 1))], "one tuple for each of the 1 outputs"),
    ):
        refused(lambda strategies=strategies: Product(*strategies)(x, y), message)


def check_auto_parallel_shards_only_its_network():
    alone()
    x, net = floats(32, 64), TwoProducts(*BY_NAME)
    expected = net(x).asnumpy()
    assert program_of(net, x).spread is None
    around = AutoParallel(net, "semi_auto")
    assert_close(around(x).asnumpy(), expected)
    (entries,) = around._programs.table.values()
    assert count_communication(entries[0].program) == {"all-reduce": 1}
    assert context.get_auto_parallel_context("parallel_mode") == "stand_alone"
    assert program_of(net, x).spread is None
    before = around._programs.compiled
    around(x)
    assert around._programs.compiled == before


def check_model_trains_auto_parallel_network():
    from msnb import dataset as ds

    alone()
    x = floats(32, 64).asnumpy()
    losses = []
    for around in (lambda net: net, AutoParallel):
        net = around(Squares(TwoProducts(*BY_NAME)))
        if isinstance(net, AutoParallel):
            net.dataset_strategy("full_batch")
            net.hsdp()
        seen = []

        class Seen(ms.train.callback.Callback):
            def step_end(self, run_context, seen=seen):
                seen.append(float(run_context.original_args().net_outputs.asnumpy()))

        model = ms.Model(net, optimizer=nn.Momentum(net.trainable_params(), 0.01, 0.9))
        model.train(2, ds.NumpySlicesDataset(x, ["x"], shuffle=False).batch(16), callbacks=Seen())
        losses.append(seen)
        entries = [entry for several in model.train_network._programs.table.values() for entry in several]
        assert {entry.program.spread is None for entry in entries} == {not isinstance(net, AutoParallel)}
    assert len(losses[0]) == 4
    assert_close(np.array(losses[1]), np.array(losses[0]))


def check_auto_parallel_of_train_function():
    alone()
    x = floats(32, 64)

    def train(around):
        net = TwoProducts(*BY_NAME)
        optimizer, reducer = nn.SGD(net.trainable_params(), 0.01), PipelineGradReducer(net.trainable_params(), 2.0)
        gradient = ms.value_and_grad(lambda x: 2 * ops.square(net(x)).mean(), None, net.trainable_params())

        def step(x):
            loss, gradients = gradient(x)
            optimizer(reducer(gradients))
            return loss

        call = around(step)
        return np.array([float(call(x).asnumpy()) for _ in range(3)])

    assert_close(train(AutoParallel), train(lambda step: step))


def check_stages_of_auto_parallel():
    alone()
    x = floats(8, 16)
    blocks = nn.SequentialCell([nn.Dense(16, 16, activation="relu") for _ in range(4)])
    loss = Pipeline(Squares(blocks), 2, stage_config={f"net.{i}": i // 2 for i in range(4)})
    expected = loss(x).asnumpy()
    around = AutoParallel(loss)
    around.pipeline(stages=2, scheduler="gpipe")
    assert around.get_pipeline_stages() == 2
    assert_close(around(x).asnumpy(), expected)
    (entries,) = around._programs.table.values()
    assert "collective-permute" in count_communication(entries[0].program)


def check_parameter_plan_with_names():
    set_devices()
    weight = Parameter(Tensor(np.ones((64, 64), np.float32)), name="w")

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w, self.product = weight, P.MatMul()

        def construct(self, x):
            return self.product(x, self.w)

    net = Net()
    net.shard(in_strategy=(GRID("dp", "None"),), parameter_plan={"w": GRID("None", "mp")})
    net(floats(32, 64))
    assert weight._get_stored_array().sharding.shard_shape((64, 64)) == (64, 16)
