"""Values changed inside a network: against PyTorch's hooks, against masks written by hand, and nothing left behind."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from faulty_networks import batch, network

import msnb
from msnb import Parameter, Tensor, context, nn, ops
from msnb.core.jaxpr.instrument import Replace, evaluate_replaced
from msnb.core.program.program_cache import programs_of
from msnb.core.script.checkpointed_while import while_over_tree
from msnb.insight.debugger.selection import select_nodes
from msnb.insight.instrument import list_points
from msnb.interventions import (
    apply,
    attribute,
    clamp,
    freeze,
    from_run,
    mean,
    noise,
    project,
    replace,
    resample,
    scale,
    steer,
    zero,
)

GOLDEN = np.load(Path(__file__).parent.parent / "golden" / "interventions.npz")
NAMES = {"gamma": "weight", "beta": "bias"}  # MindSpore's names of the Parameters of a LayerNorm -> PyTorch's


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


class Convolutional(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, pad_mode="valid")
        self.conv2 = nn.Conv2d(4, 4, 3, pad_mode="valid")
        self.fc = nn.Dense(64, 5)
        self.relu1, self.relu2, self.flatten = nn.ReLU(), nn.ReLU(), nn.Flatten()

    def construct(self, x):
        return self.fc(self.flatten(self.relu2(self.conv2(self.relu1(self.conv1(x))))))


class Masked(nn.Cell):
    """`Convolutional` with a mask at its second ReLU."""

    def __init__(self, net, mask):
        super().__init__()
        self.net, self.mask = net, Tensor(mask)

    def construct(self, x):
        net = self.net
        return net.fc(net.flatten(net.relu2(net.conv2(net.relu1(net.conv1(x)))) * self.mask))


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm((8,), epsilon=1e-5)
        self.q, self.k, self.v, self.o = (nn.Dense(8, 8) for _ in range(4))
        self.softmax, self.relu = nn.Softmax(), nn.ReLU()
        self.up, self.down = nn.Dense(8, 16), nn.Dense(16, 8)
        self.scores, self.mix, self.transpose = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul(), ops.Transpose()

    def heads(self, y):
        return self.transpose(y.reshape((y.shape[0], y.shape[1], 2, 4)), (0, 2, 1, 3))

    def construct(self, x):
        y = self.norm(x)
        weights = self.softmax(self.scores(self.heads(self.q(y)), self.heads(self.k(y))) / 2.0)
        mixed = self.transpose(self.mix(weights, self.heads(self.v(y))), (0, 2, 1, 3)).reshape(x.shape)
        x = x + self.o(mixed)
        return x + self.down(self.relu(self.up(x)))


class Blocks(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = nn.CellList([Block(), Block()]), nn.Dense(8, 3)

    def construct(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.update, self.candidate = nn.Dense(6, 4), nn.Dense(6, 4)
        self.sigmoid, self.tanh, self.concat = nn.Sigmoid(), nn.Tanh(), ops.Concat(1)

    def construct(self, x):
        h = ops.zeros((x.shape[1], 4), msnb.float32)
        i = Tensor(0, msnb.int32)
        while i < 4:
            z = self.sigmoid(self.update(self.concat((x[i], h))))
            h = (1 - z) * h + z * self.tanh(self.candidate(self.concat((x[i], h))))
            i = i + 1
        return h


def golden_network(name, cls):
    net = cls()
    for path, parameter in net.parameters_and_names():
        head, _, last = path.rpartition(".")
        parameter.set_data(Tensor(GOLDEN[f"{name} {head}.{NAMES.get(last, last)}"]))
    return net


def squares(net):
    return lambda x: ops.ReduceSum()(net(x) ** 2)


def check_against_golden(name, net, changes):
    x = Tensor(GOLDEN[f"{name.partition('/')[0]} input x"])
    weights = net.trainable_params()
    with msnb.intervene(net, changes):
        y = net(x)
        grads, by_weight = ops.GradOperation(get_all=True, get_by_list=True)(squares(net), weights)(x)
    np.testing.assert_allclose(y.asnumpy(), GOLDEN[f"{name}/y"], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(grads[0].asnumpy(), GOLDEN[f"{name}/dx"], rtol=1e-4, atol=1e-5)
    for (path, _), gradient in zip(net.parameters_and_names(), by_weight, strict=True):
        head, _, last = path.rpartition(".")
        expected = GOLDEN[f"{name}/d {head}.{NAMES.get(last, last)}"]
        np.testing.assert_allclose(gradient.asnumpy(), expected, rtol=1e-4, atol=2e-5, err_msg=path)


CNN_CHANGES = {
    "cnn/zero": {"scope:relu2": zero(channel=2)},
    "cnn/scale": {"scope:relu1": scale(2.5, batch=1)},
    "cnn/clamp": {"scope:relu1": clamp(0.1, 0.4)},
    "cnn/mean": {"scope:relu1": mean()},
}


@pytest.mark.parametrize("name", ["cnn/zero", "cnn/scale", "cnn/clamp", "cnn/mean"])
def test_a_changed_activation_equals_a_forward_hook_of_pytorch_with_its_gradients(mode, name):
    check_against_golden(name, golden_network("cnn", Convolutional), CNN_CHANGES[name])


def test_a_changed_gradient_equals_a_backward_hook_of_pytorch(mode):
    # PyTorch's hook of the ReLU changes the gradient with respect to its input, the result of the convolution
    check_against_golden(
        "cnn/backward", golden_network("cnn", Convolutional), {"scope:conv1": scale(0.5, lane="backward")}
    )


@pytest.mark.parametrize(
    "name, query, change",
    [
        ("steer", "scope:blocks.0 op:Add", lambda v: steer(v, 3.0, position=2)),
        ("project", "scope:blocks.1 op:Add", lambda v: project(v)),
        ("head", "scope:blocks.0 op:Softmax", lambda v: zero(channel=1)),
    ],
)
def test_a_changed_value_of_a_transformer_equals_a_hook_of_pytorch(mode, name, query, change):
    net = golden_network("blocks", Blocks)
    x = Tensor(GOLDEN["blocks input x"])
    first = select_nodes(msnb.ir.graph(net, x), query)[0]  # of the two residual sums of a block
    check_against_golden(f"blocks/{name}", net, {first.id: change(GOLDEN["blocks input vector"])})


def test_one_round_of_a_loop_equals_a_hook_that_counts_its_calls(mode):
    net = golden_network("gru", Recurrent)
    check_against_golden("gru/round", net, {"op:Tanh": apply(ops.ReLU(), round=2)})


def test_zeroing_equals_a_mask_written_by_hand_exactly(mode):
    net = Convolutional()
    for parameter in net.get_parameters():  # small integers: sums are exact in any order
        parameter.set_data(Tensor(np.random.RandomState(1).randint(-3, 4, parameter.shape).astype(np.float32)))
    x, weights = Tensor(GOLDEN["cnn input x"].round()), net.trainable_params()
    mask = np.ones((1, 4, 1, 1), np.float32)
    mask[:, [0, 3]] = 0
    by_hand = Masked(net, mask)
    grad = ops.GradOperation(get_all=True, get_by_list=True)
    expected = by_hand(x), grad(by_hand, weights)(x)
    with msnb.intervene(net, {"scope:relu2": zero(channel=[0, -1])}):
        actual = net(x), grad(net, weights)(x)
    np.testing.assert_array_equal(actual[0].asnumpy(), expected[0].asnumpy())
    for mine, theirs in zip([*actual[1][0], *actual[1][1]], [*expected[1][0], *expected[1][1]], strict=True):
        np.testing.assert_array_equal(mine.asnumpy(), theirs.asnumpy())


def test_nothing_is_left_after_the_block_or_an_error_in_it(mode):
    net = golden_network("cnn", Convolutional)
    x, weights = Tensor(GOLDEN["cnn input x"]), net.trainable_params()
    grad = ops.GradOperation(get_by_list=True)(net, weights)
    before, gradients = net(x).asnumpy(), [g.asnumpy() for g in grad(x)]
    compiled = [entry.program for entries in programs_of(net).table.values() for entry in entries]

    def check_unchanged():
        np.testing.assert_array_equal(net(x).asnumpy(), before)
        for gradient, expected in zip(grad(x), gradients, strict=True):
            np.testing.assert_array_equal(gradient.asnumpy(), expected)
        programs = [entry.program for entries in programs_of(net).table.values() for entry in entries]
        assert programs == compiled  # its own program runs again, without a compilation
        assert "_compile_always" not in vars(net)

    for factor in range(6):
        with msnb.intervene(net, {"op:ReLU": scale(float(factor))}):
            assert (net(x).asnumpy() != before).any() or factor == 1
    check_unchanged()
    with pytest.raises(KeyError), msnb.intervene(net, {"op:ReLU": zero()}):
        net(x)
        raise KeyError
    check_unchanged()
    with pytest.raises(ValueError, match="No node"), msnb.intervene(net, {"op:Relw": zero()}):
        net(x)
    check_unchanged()
    with msnb.intervene(net, {"scope:relu1": zero()}) as outer, msnb.intervene(net, {"scope:relu2": zero()}):
        both = net(x).asnumpy()
    np.testing.assert_array_equal(both[0], both[1])  # only the bias is left
    with outer:
        assert (net(x).asnumpy() == both).all()  # relu1 of zeros: the second convolution gives zeros as well
    check_unchanged()


def test_other_numbers_of_a_change_need_no_compilation(mode):
    net = golden_network("cnn", Convolutional)
    x = Tensor(GOLDEN["cnn input x"])
    results, programs = [], set()
    for channel in range(4):
        intervention = msnb.intervene(net, {"scope:relu2": zero(channel=channel)})
        with intervention:
            results.append(net(x).asnumpy())
            (entries,) = intervention.programs(net).table.values()
            programs.add(entries[-1].program)
    assert len(programs) == 1
    assert all((results[0] != result).any() for result in results[1:])
    with pytest.raises(ValueError, match="'channel' 4 is outside of an axis of length 4"):
        msnb.intervene(net, {"scope:relu2": zero(channel=4)})(x)


def test_a_training_step_inside_the_block_trains_the_changed_network(mode):
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1))
    x, y = Tensor(np.ones((5, 3), np.float32)), Tensor(np.ones((5, 2), np.float32))
    step(x, y)
    before = net[0].weight.asnumpy(), net[2].bias.asnumpy()
    with msnb.intervene(net, {"op:ReLU": zero()}):
        step(x, y)
    np.testing.assert_array_equal(net[0].weight.asnumpy(), before[0])
    assert (net[2].bias.asnumpy() != before[1]).any()
    with pytest.raises(ValueError, match="gradient that TrainOneStepCell computes itself"):
        msnb.intervene(step, {"op:ReLU": zero()})(x, y)


@pytest.mark.parametrize("recomputed", [False, True])
def test_repeated_cells_are_changed_one_by_one(mode, recomputed):
    class Layer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense, self.tanh = nn.Dense(3, 3), nn.Tanh()

        def construct(self, x):
            return self.tanh(self.dense(x)) + 1.0

    net = nn.SequentialCell(*[Layer() for _ in range(6)])
    if recomputed:
        for layer in net:
            layer.recompute()
    x = Tensor(np.ones((2, 3), np.float32))

    def by_hand(x):
        for index, layer in enumerate(net):
            x = layer.tanh(layer.dense(x)) * (0.0 if index == 4 else 1.0) + 1.0
        return x

    weights = net.trainable_params()
    grad = ops.GradOperation(get_by_list=True)
    with msnb.intervene(net, {"scope:4 op:Tanh": zero()}) as intervention:
        actual = net(x), grad(net, weights)(x)
    assert len(intervention.nodes) == 1
    np.testing.assert_allclose(actual[0].asnumpy(), by_hand(x).asnumpy(), rtol=1e-6)
    for mine, theirs in zip(actual[1], grad(by_hand, weights)(x), strict=True):
        np.testing.assert_allclose(mine.asnumpy(), theirs.asnumpy(), rtol=1e-5, atol=1e-7)
    with msnb.intervene(net[4], {"op:Tanh": zero()}):  # one of equal Cells, within the others
        np.testing.assert_allclose(net(x).asnumpy(), actual[0].asnumpy(), rtol=1e-6)


def test_parameters_that_the_network_writes_and_random_numbers_pass_through(mode):
    class Counting(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = Parameter(Tensor(0.0), name="count", requires_grad=False)
            self.dropout, self.relu = nn.Dropout(0.5), nn.ReLU()

        def construct(self, x):
            self.count += 1.0
            return self.relu(self.dropout(x)) * self.count

    net = Counting().set_train()
    x = Tensor(np.ones((100,), np.float32))
    with msnb.intervene(net, {"op:ReLU": scale(10.0)}):
        first, second = net(x).asnumpy(), net(x).asnumpy()
    assert float(net.count.asnumpy()) == 2
    assert set(np.unique(first)) == {0.0, 20.0} and set(np.unique(second)) == {0.0, 40.0}
    assert ((first > 0) != (second > 0)).any()


def test_a_branch_and_a_function_with_its_own_gradient(mode):
    class Branch(nn.Cell):
        def construct(self, x, flag):
            if flag > 0:
                y = ops.Exp()(x)
            else:
                y = ops.Tanh()(x)
            return y * 2.0

    net, x = Branch(), Tensor(np.array([0.5, -1.0], np.float32))
    up, down = Tensor(1, msnb.int32), Tensor(-1, msnb.int32)
    with msnb.intervene(net, {"op:Exp": scale(3.0)}):
        np.testing.assert_allclose(net(x, up).asnumpy(), 6 * np.exp(x.asnumpy()), rtol=1e-6)
        np.testing.assert_allclose(net(x, down).asnumpy(), 2 * np.tanh(x.asnumpy()), rtol=1e-6)
        gradient = ops.GradOperation(get_all=True)(net)(x, up)[0]
    np.testing.assert_allclose(gradient.asnumpy(), 6 * np.exp(x.asnumpy()), rtol=1e-6)

    class Straight(nn.Cell):
        def construct(self, x):
            return ops.Sign()(ops.Exp()(x))

        def bprop(self, x, out, dout):
            return (dout,)

    net = nn.SequentialCell(Straight())
    with msnb.intervene(net, {"op:Exp": scale(-1.0)}):
        np.testing.assert_array_equal(net(x).asnumpy(), [-1, -1])
        with pytest.raises(ValueError, match="bprop of its own"):
            ops.GradOperation()(net)(x)
    with msnb.intervene(net, {"op:Sign": scale(3.0)}):
        np.testing.assert_array_equal(net(x).asnumpy(), [3, 3])
        np.testing.assert_array_equal(ops.GradOperation()(net)(x).asnumpy(), [3, 3])


def test_predefined_changes(mode):
    net = nn.SequentialCell(nn.ReLU(), nn.Tanh())
    x = Tensor(np.arange(12, dtype=np.float32).reshape(4, 3) / 5)
    value = x.asnumpy()

    def changed(change):
        return np.arctanh(msnb.intervene(net, {"op:ReLU": change})(x).asnumpy().astype(np.float64))

    def check(change, expected):
        np.testing.assert_allclose(changed(change), expected, atol=2e-4)

    check(replace(0.25), np.full((4, 3), 0.25))
    check(replace([0.1, 0.2, 0.3], batch=[0, 2]), np.where([[1], [0], [1], [0]], [0.1, 0.2, 0.3], value))
    check(zero(batch=slice(1, None)), value * [[1], [0], [0], [0]])
    check(steer([1.0, 0.0, 0.0], -0.5), value - [0.5, 0, 0])
    check(project([0.0, 2.0, 0.0], onto=True), value * [0, 1, 0])
    check(mean(axis=None), np.full((4, 3), value.mean()))
    mixed = changed(resample(seed=1))
    assert sorted(mixed[:, 0].round(3)) == sorted(value[:, 0].astype(np.float64).round(3))
    assert (changed(noise(0.1)) == changed(noise(0.1))).all()
    assert (changed(noise(0.1)) != changed(noise(0.1, seed=5))).any()
    # frozen: the second node does not see the change of the first
    frozen = msnb.intervene(net, {"op:ReLU": zero(), "op:Tanh": freeze()})(x)
    np.testing.assert_allclose(frozen.asnumpy(), net(x).asnumpy(), rtol=1e-6)


def test_the_value_of_a_recorded_run_is_put_into_another(mode):
    net = golden_network("cnn", Convolutional)
    x = GOLDEN["cnn input x"]
    view = msnb.view(net, Tensor(x))
    view.run(Tensor(x))
    expected = net(Tensor(x)).asnumpy()
    actual = msnb.intervene(net, {"scope:relu2 op:ReLU": from_run(view)})(Tensor(x * 0))
    np.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_a_function_is_called_through_the_result_of_with(mode):
    def function(x):
        return ops.Exp()(x) + 1.0

    x = Tensor(np.array([1.0, 2.0], np.float32))
    with msnb.intervene(function, {"op:Exp": zero()}) as changed:
        np.testing.assert_array_equal(changed(x).asnumpy(), [1, 1])
        np.testing.assert_array_equal(ops.GradOperation()(changed)(x).asnumpy(), [0, 0])
    jitted = msnb.ms_function(function)
    with msnb.intervene(jitted, {"op:Exp": zero()}):
        np.testing.assert_array_equal(jitted(x).asnumpy(), [1, 1])
    np.testing.assert_allclose(jitted(x).asnumpy(), np.exp(x.asnumpy()) + 1, rtol=1e-6)


class Loop(nn.Cell):
    def construct(self, x, n):
        i = Tensor(0, msnb.int32)
        while i < n:
            x = ops.Tanh()(x)
            i = i + 1
        return ops.Argmax(output_type=msnb.int32)(ops.Exp()(x))


@pytest.mark.parametrize(
    "query, change, error, message",
    [
        ("op:Exp", lambda v: v.sum(), ValueError, r"\(Exp, test_intervene.py:\d+\): the function should"),
        (
            "op:Exp",
            lambda v: v.astype(msnb.float16),
            ValueError,
            r"return Tensor\[Float32\]\(3,\), but returned Tensor",
        ),
        ("op:Exp", lambda v: ops.StandardNormal()((3,)), ValueError, "draws random numbers"),
        ("op:Exp", replace(np.ones((2, 2))), ValueError, r"an array of shape \(2, 2\) does not fit the value's \(3,\)"),
        ("op:Exp", zero(channel=3), ValueError, "'channel' 3 is outside of an axis of length 3"),
        ("op:Exp", zero(position=0), ValueError, "'position' needs a value with 3 or 4 axes"),
        ("op:Exp", zero(round=0), ValueError, "not inside a loop"),
        ("op:Exp", zero(output=1), ValueError, "has 1 results, so it has no 'output' 1"),
        (
            "op:Tanh",
            zero(round=(0, 1)),
            ValueError,
            r"inside one loop, so 'round' should be one number, but got \(0, 1\)",
        ),
        ("op:Tanh", freeze(), ValueError, "inside a loop or a branch"),
        ("op:Less", zero(), ValueError, "in the condition of a loop"),
        ("op:Argmax", scale(2.0), ValueError, "it computes with real numbers, but the value is int32"),
        ("op:Argmax", attribute(axis=3), ValueError, r"\(Argmax, test_intervene.py:\d+\): "),
        ("op:Argmax", attribute(axi=0), ValueError, "Argmax has no attribute 'axi'; the nearest is 'axis'."),
        ("op:Argmax", attribute(axis="x"), ValueError, r"attribute\(axis='x'\) can't change node"),
        ("op:Exp", attribute(axis=0), ValueError, "Exp has no attribute 'axis'; it has none."),
        ("op:Exq", zero(), ValueError, "Similar operators: Exp"),
    ],
)
def test_a_change_that_does_not_fit_names_the_node(query, change, error, message):
    net, x = Loop(), Tensor(np.array([0.1, 0.2, 0.3], np.float32))
    with pytest.raises(error, match=message):
        msnb.intervene(net, {query: change})(x, Tensor(2, msnb.int32))


class Attributes(nn.Cell):
    """A network with attributes to exchange."""

    def __init__(self, epsilon=1e-7, alpha=1.0, axis=-1):
        super().__init__()
        self.norm, self.elu, self.softmax = nn.LayerNorm((4,), epsilon=epsilon), ops.Elu(alpha), nn.Softmax(axis)
        self.dense = nn.Dense(4, 4, weight_init="ones")

    def construct(self, x):
        return self.softmax(self.elu(self.norm(self.dense(x) * x)))


def test_another_attribute_equals_a_network_that_was_built_with_it(mode):
    x = Tensor(np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32))
    net, other = Attributes(), Attributes(0.1, 0.5, 0)
    before = net(x).asnumpy()
    changes = {
        "op:LayerNorm": attribute(epsilon=0.1),
        "op:Elu": [attribute(alpha=3.0), attribute(alpha=0.5)],  # the last one counts
        "op:Softmax": [attribute(axis=0), scale(1.0)],
    }
    grad = ops.GradOperation()
    with msnb.intervene(net, changes) as changed:
        value, gradient = net(x), grad(squares(net))(x)
    np.testing.assert_allclose(value.asnumpy(), other(x).asnumpy(), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(gradient.asnumpy(), grad(squares(other))(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert [node.op for node in changed.nodes] == ["LayerNorm", "Elu", "Elu", "Softmax", "Softmax"]
    np.testing.assert_array_equal(net(x).asnumpy(), before)


def test_an_attribute_that_changes_a_shape_is_refused():
    class Joined(nn.Cell):
        def construct(self, x):
            return ops.Concat(1)((x, x))

    with pytest.raises(ValueError, match=r"a result would be float32\[4, 3\] in place of float32\[2, 6\]\."):
        msnb.intervene(Joined(), {"op:Concat": attribute(axis=0)})(Tensor(np.ones((2, 3), np.float32)))


def test_an_attribute_inside_a_loop_holds_in_all_rounds():
    class Repeated(nn.Cell):
        def construct(self, x, n):
            i = Tensor(0, msnb.int32)
            while i < n:
                x = ops.Elu()(x) - 1.0
                i = i + 1
            return x

    x = np.array([0.5, -0.5], np.float32)
    got = msnb.intervene(Repeated(), {"op:Elu": attribute(alpha=0.0)})(Tensor(x), Tensor(3, msnb.int32)).asnumpy()
    for _ in range(3):
        x = np.maximum(x, 0) - 1
    np.testing.assert_allclose(got, x, rtol=1e-6)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: msnb.intervene(3, {"op:Exp": zero()}), "'net' should be a Cell or a function, but got int 3"),
        (lambda: msnb.intervene(Loop(), {}), "'changes' should be a dict"),
        (lambda: msnb.intervene(Loop(), {1.5: zero()}), "A query of 'changes' should be words"),
        (lambda: msnb.intervene(Loop(), {"op:Exp": 3}), r"should be a function of the value, such as zero\(\)"),
        (lambda: zero(chanel=2), "no argument 'chanel'. Did you mean 'channel'?"),
        (lambda: zero(channel="red"), "'channel' should be an int, a list of ints or a slice"),
        (lambda: scale("2"), "'factor' should be a number"),
        (lambda: attribute(), "needs at least one attribute"),
        (lambda: attribute(axis=Tensor(1)), "'axis' should be a number, a str or a tuple of these"),
        (lambda: from_run(3), "'run' should be a timeline or a view"),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_a_value_inside_vmap_is_refused():
    mapped = msnb.vmap(lambda v: ops.ReLU()(v) * 2.0)

    class Mapped(nn.Cell):
        def construct(self, x):
            return mapped(x)

    with pytest.raises(ValueError, match="vmap maps, where its value has one more axis"):
        msnb.intervene(Mapped(), {"op:ReLU": zero()})(Tensor(np.ones((2, 3), np.float32)))


# ---------------------------------------------------------------------- patching
def last_difference(y):
    return y[0, -1, 0] - y[0, -1, 2]


def test_the_effect_of_each_node_equals_patching_by_hooks_of_pytorch(mode):
    net = golden_network("blocks", Blocks)
    x, other = Tensor(GOLDEN["blocks input x"]), Tensor(GOLDEN["blocks input other"])
    for attribution, name in ((False, "patch"), (True, "attribution")):
        result = msnb.patch(net, x, other, last_difference, attribution=attribution)
        np.testing.assert_allclose([result.clean, result.corrupt], GOLDEN["blocks/metrics"], rtol=1e-5)
        np.testing.assert_allclose(list(result.effects.values()), GOLDEN[f"blocks/{name}"], rtol=1e-4, atol=1e-5)
        assert result.is_estimate == attribution
    # the last sum of the last block carries everything that the head reads at the last position
    assert abs(result.table()[0]["effect"]) == max(map(abs, result.effects.values()))
    column = result.column()
    assert len(column["values"]) == len(msnb.ir.graph(net, x))
    view = msnb.view(net, x)
    view.set_column("effect", column)


def rank_correlation(first, second):
    """Return Spearman's rank correlation."""
    ranks = [np.argsort(np.argsort(values)) for values in (first, second)]
    return np.corrcoef(*ranks)[0, 1]


def test_estimated_effects_rank_the_nodes_of_a_transformer_as_patching_does():
    msnb.set_seed(0)
    net, x = network("Transformer"), batch("Transformer")
    noise_of_batch = np.random.default_rng(4).standard_normal(x.shape).astype(np.float32)
    corrupt = x + Tensor(0.3 * noise_of_batch)
    effects = []
    for attribution in (False, True):
        result = msnb.patch(net, x, corrupt, lambda y: y[0, -1, 0] - y[0, -1, 3], "scope:layers", attribution)
        effects.append([result.effects[node.id] for node in result.nodes])
    assert len(effects[0]) > 80
    assert rank_correlation(*effects) > 0.9


LENGTH, TOKENS = 5, 6  # of the induction network


class Head(nn.Cell):
    """A head of attention without Parameters to train: matrices of query and key, and of value and output."""

    def __init__(self, match, move):
        super().__init__()
        self.match, self.move = Parameter(Tensor(match), name="match"), Parameter(Tensor(move), name="move")
        self.product, self.softmax = ops.MatMul(), ops.Softmax(-1)
        self.past = Tensor(np.where(np.tril(np.ones((LENGTH, LENGTH))), 0, -1e9).astype(np.float32))

    def construct(self, x):
        scores = self.product(self.product(x, self.match), ops.transpose(x, (1, 0))) + self.past
        return self.product(self.softmax(scores), self.product(x, self.move))


class Induction(nn.Cell):
    """Two layers of four heads that continue "A B ... A" by B: head 1 of the first layer writes the token before each
    position beside it, and head 2 of the second layer looks for its own token there. All other heads are small noise.

    The residual stream has the token, its position, the token before it, and the predicted token.
    """

    def __init__(self):
        super().__init__()
        rng, width = np.random.default_rng(0), 3 * TOKENS + LENGTH
        starts = np.cumsum([0, TOKENS, LENGTH, TOKENS])
        token, position, previous, predicted = starts

        def small():
            return rng.normal(0, 0.05, (width, width)).astype(np.float32)

        heads = [[[small(), small()] for _ in range(4)] for _ in range(2)]
        match, move = heads[0][1]
        match[position + 1 : position + LENGTH, position : position + LENGTH - 1] += 20 * np.eye(LENGTH - 1)
        move[token : token + TOKENS, previous : previous + TOKENS] += np.eye(TOKENS)
        match, move = heads[1][2]
        match[token : token + TOKENS, previous : previous + TOKENS] += 20 * np.eye(TOKENS)
        move[token : token + TOKENS, predicted : predicted + TOKENS] += 5 * np.eye(TOKENS)
        self.layers = nn.CellList([nn.CellList([Head(*matrices) for matrices in layer]) for layer in heads])
        self.predicted, self.position = int(predicted), Tensor(np.eye(LENGTH, dtype=np.float32))

    def construct(self, tokens):
        rest = ops.Zeros()((LENGTH, 2 * TOKENS), msnb.float32)
        x = ops.Concat(1)((tokens, self.position, rest))
        for layer in self.layers:
            total = x
            for head in layer:
                total = total + head(x)
            x = total
        return x[-1, self.predicted :]


@pytest.mark.parametrize("attribution", [False, True])
def test_the_head_that_continues_a_repeated_pair_comes_first(attribution):
    net = Induction()
    a, b, c, d = range(4)
    clean, corrupt = (Tensor(np.eye(TOKENS, dtype=np.float32)[[*row]]) for row in ((a, b, c, d, a), (a, c, b, d, a)))
    assert (net(clean).asnumpy().argmax(), net(corrupt).asnumpy().argmax()) == (b, c)
    heads = [f"scope:layers.{layer}.{head} op:MatMul" for layer in range(2) for head in range(4)]
    graph = msnb.ir.graph(net, clean)
    outputs = {select_nodes(graph, query)[-1].id: query for query in heads}
    result = msnb.patch(net, clean, corrupt, lambda logits: logits[b] - logits[c], "op:MatMul", attribution)
    effects = {query: result.effects[ident] for ident, query in outputs.items()}
    first, second, *_ = sorted(effects, key=lambda query: -effects[query])
    difference = result.clean - result.corrupt
    assert first == "scope:layers.1.2 op:MatMul" and effects[first] > 0.9 * difference
    assert effects[second] < 0.1 * difference


def test_patching_leaves_out_nodes_without_a_single_value():
    net, x = Loop(), Tensor(np.array([0.1, 0.2, 0.3], np.float32))
    n = Tensor(2, msnb.int32)
    result = msnb.patch(net, (x, n), (x * 2, n), lambda y: y.astype(msnb.float32), nodes="e")
    assert any("inside a loop" in reason for reason in result.skipped.values())
    assert "selected nodes were left out" in repr(result)
    with pytest.raises(ValueError, match="no selected node can be patched: .*Tanh.* is inside a loop"):
        msnb.patch(net, (x, n), (x * 2, n), lambda y: y.astype(msnb.float32), nodes="op:Tanh")


def test_equal_metrics_have_no_shares():
    x = Tensor(np.ones((2, 3), np.float32))
    result = msnb.patch(nn.SequentialCell(nn.Dense(3, 4), nn.ReLU()), x, x, lambda y: y.sum(), "op:ReLU")
    assert "nan" not in repr(result) and "There are no shares" in repr(result)


def test_wrong_arguments_of_patch_are_named():
    net, x = nn.ReLU(), Tensor(np.ones((2, 3), np.float32))
    with pytest.raises(ValueError, match=r"same shapes and dtypes, but got Tensor\[Float32\]\(2, 3\) and Tensor"):
        msnb.patch(net, x, Tensor(np.ones((3, 3), np.float32)), lambda y: y.sum(), nodes="op:ReLU")
    with pytest.raises(ValueError, match=r"'metric' should return one number as a Tensor, but it returned float32"):
        msnb.patch(net, x, x, lambda y: y, nodes="op:ReLU")


def test_one_round_of_a_scan_is_replaced_before_the_scan_is_differentiated():
    def loop(x, rows):
        def body(carry, row):
            y = jnp.tanh(carry + row)
            return y * 2.0, y

        return jax.lax.scan(body, x, rows)

    class Zeroed(Replace):
        def replace(self, point, array, rounds):
            return jnp.where(rounds[0] == 1, 0.0, array)

    x, rows = jnp.ones(2), jnp.arange(6.0).reshape(3, 2) / 5
    closed = jax.make_jaxpr(loop)(x, rows)
    points, _ = list_points(closed)
    chosen = {key: own for key, own in points.items() if own[0].node.op == "tanh"}

    def changed(x, rows):
        outs = evaluate_replaced(closed, [x, rows], chosen, Zeroed(), while_over_tree)
        return sum(out.sum() for out in outs)

    def by_hand(x, rows):
        total = 0.0
        for index in range(3):
            y = jnp.tanh(x + rows[index]) * (0 if index == 1 else 1)
            total, x = total + y.sum(), y * 2
        return total + x.sum()

    actual, expected = (jax.value_and_grad(fn, (0, 1))(x, rows) for fn in (changed, by_hand))
    jax.tree.map(lambda mine, theirs: np.testing.assert_allclose(mine, theirs, rtol=1e-6), actual, expected)


def test_nested_loops_are_addressed_by_a_tuple_and_cell_state_passes_through(mode):
    class Nested(nn.Cell):
        def __init__(self):
            super().__init__()
            self.total = Tensor(np.zeros(2, np.float32))

        def construct(self, x, n):
            i = Tensor(0, msnb.int32)
            while i < n:
                j = Tensor(0, msnb.int32)
                while j < n:
                    x = ops.Tanh()(x) + 1.0
                    j = j + 1
                i = i + 1
            self.total = self.total + x
            return x

    net, x, n = Nested(), Tensor(np.array([0.3, -0.7], np.float32)), Tensor(2, msnb.int32)
    expected = x.asnumpy()
    for i, j in np.ndindex(2, 2):
        expected = np.tanh(expected) * (3 if (i, j) == (1, 0) else 1) + 1
    with msnb.intervene(net, {"op:Tanh": scale(3.0, round=(1, 0))}):
        np.testing.assert_allclose(net(x, n).asnumpy(), expected, rtol=1e-6)
        net(x, n)
    np.testing.assert_allclose(net.total.asnumpy(), 2 * expected, rtol=1e-6)


class ReadsValues(nn.Cell):
    def construct(self, x):
        return ops.relu(x) if float(x.asnumpy().sum()) > 0 else x


def test_code_that_reads_values_is_said_to_be_compiled_in_pynative_mode():
    context.set_context(mode=context.PYNATIVE_MODE)
    net, x = ReadsValues(), Tensor(np.ones(3, np.float32))
    with (
        pytest.raises(RuntimeError, match="needs the value of a Tensor") as raised,
        msnb.intervene(net, {"op:ReLU": zero()}),
    ):
        net(x)
    assert "runs as one compiled program, also in PYNATIVE mode" in raised.value.__notes__[-1]
    assert net(x).asnumpy().tolist() == [1, 1, 1]
