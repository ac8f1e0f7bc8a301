"""`msnb.attribute`: properties of the methods, nodes in loops and branches, errors, display, an unchanged network."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import msnb
from msnb import Parameter, Tensor, context, log, nn, ops
from msnb.insight.attribution import METHODS, grad_cam, gradient, modified_relu_gradient
from msnb.interventions import zero


def draw(*shape, seed=7):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


IMAGES = draw(3, 1, 10, 10)
TARGETS = [0, 2, 1]
NODES = {"grad_cam": "conv", "grad_cam_plus_plus": "conv"}


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


class Small(nn.Cell):
    """A convolution and two dense layers, with functional or Cell ReLUs."""

    def __init__(self, is_functional=False, has_bias=True):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, pad_mode="valid", has_bias=has_bias, weight_init="normal")
        self.fc1, self.fc2 = nn.Dense(48, 6, has_bias=has_bias), nn.Dense(6, 4, has_bias=has_bias)
        self.pool, self.flatten = nn.MaxPool2d(2, 2), nn.Flatten()
        self.relu = ops.relu if is_functional else nn.ReLU()

    def construct(self, x):
        x = self.pool(self.relu(self.conv(x)))
        return self.fc2(self.relu(self.fc1(self.flatten(x))))


def set_weights(net, seed, scale=0.5):
    rng = np.random.default_rng(seed)
    for parameter in net.get_parameters():
        parameter.set_data(Tensor((scale * rng.standard_normal(parameter.shape)).astype(np.float32)))
    return net


def sum_of_examples(values):
    return values.reshape(len(values), -1).sum(axis=1)


NET, FUNCTIONAL = Small(), Small(is_functional=True)
WITHOUT_BIAS = Small(has_bias=False)


# ---------------------------------------------------------------------- properties
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 1000), method=st.sampled_from(sorted(METHODS)))
def test_functional_and_cell_relu_have_equal_attributions(seed, method):
    node = NODES.get(method)
    first, second = (
        msnb.attribute(set_weights(net, seed), Tensor(IMAGES), target=TARGETS, method=method, node=node).values
        for net in (NET, FUNCTIONAL)
    )
    np.testing.assert_array_equal(first, second)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 1000), node=st.sampled_from([None, "conv", "fc1"]))
def test_integrated_gradients_add_up_to_the_difference_of_the_scores(seed, node):
    net = set_weights(NET, seed)
    options = {"method": "integrated_gradients", "node": node, "baseline": 0.1}
    result = msnb.attribute(net, Tensor(IMAGES), target=TARGETS, steps=200, **options)
    difference = result.scores - result.baseline_scores
    np.testing.assert_allclose(sum_of_examples(result.values), difference, atol=2e-2 * np.abs(difference).max() + 1e-3)
    np.testing.assert_allclose(result.completeness_error, sum_of_examples(result.values) - difference, atol=1e-4)


@pytest.mark.parametrize("quadrature", ["gausslegendre", "trapezoid"])
def test_integrated_gradients_of_a_linear_network_are_exact_in_any_number_of_steps(quadrature):
    net = nn.Dense(4, 3)
    x = draw(2, 4)
    options = {"method": "integrated_gradients", "steps": 2, "quadrature": quadrature}
    result = msnb.attribute(net, Tensor(x), target=1, **options)
    np.testing.assert_allclose(result.values, x * net.weight.asnumpy()[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(result.completeness_error, 0, atol=1e-5)


@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 1000),
    rule=st.sampled_from(["epsilon", "composite"]),
    node=st.sampled_from([None, "fc1"]),
)
def test_relevance_without_bias_adds_up_to_the_score(seed, rule, node):
    net = set_weights(WITHOUT_BIAS, seed)
    result = msnb.attribute(net, Tensor(IMAGES), target=TARGETS, method="lrp", rule=rule, epsilon=0.0, node=node)
    np.testing.assert_allclose(sum_of_examples(result.values), result.scores, rtol=1e-3, atol=1e-4)


def test_relevance_of_a_dense_layer_is_the_formula():
    net = nn.Dense(3, 2)
    weight, bias = np.array([[1, 2, 3], [2, 1, -1]], np.float32), np.array([0.5, -2.0], np.float32)
    net.weight.set_data(Tensor(weight))
    net.bias.set_data(Tensor(bias))
    x = np.array([[0.5, 2.0, -1.0], [1.5, -0.2, 0.7]], np.float32)
    score = x @ weight[1] + bias[1]
    products = x * weight[1]
    result = msnb.attribute(net, Tensor(x), target=1, method="lrp", epsilon=0.25)
    expected = products * (score / (score + 0.25 * np.sign(score)))[:, None]
    np.testing.assert_allclose(result.values, expected, rtol=1e-4)
    positive = np.maximum(products, 0)
    result = msnb.attribute(net, Tensor(x), target=1, method="lrp", rule="z-plus", epsilon=0.0)
    np.testing.assert_allclose(result.values, positive / positive.sum(1, keepdims=True) * score[:, None], rtol=1e-4)


# ---------------------------------------------------------------------- nodes
class Controlled(nn.Cell):
    """ReLUs in a loop and in a branch over Tensors."""

    def __init__(self, is_functional):
        super().__init__()
        self.fc, self.relu, self.relu6 = nn.Dense(5, 5), nn.ReLU(), nn.ReLU6()
        self.is_functional = is_functional

    def construct(self, x):
        count = ops.zeros((), msnb.int32)
        while count < 3:
            x = ops.relu(self.fc(x)) if self.is_functional else self.relu(self.fc(x))
            count = count + 1
        if x.sum() > 0:
            x = ops.relu6(2 * x - 1) if self.is_functional else self.relu6(2 * x - 1)
        else:
            x = x - 1
        return self.fc(x)


def guide_by_hand(net, x, target, rule):
    """Return the gradient with numpy for one example."""
    weight, bias = net.fc.weight.asnumpy(), net.fc.bias.asnumpy()
    masks = []
    for _ in range(3):
        x = weight @ x + bias
        masks.append(x > 0)
        x = np.maximum(x, 0)
    assert x.sum() > 0
    is_active = (2 * x - 1 > 0) & (2 * x - 1 < 6)
    gradient = np.maximum(weight[target], 0) * (is_active if rule == "guided" else 1) * 2
    for mask in reversed(masks):
        gradient = weight.T @ (np.maximum(gradient, 0) * (mask if rule == "guided" else 1))
    return gradient


@pytest.mark.parametrize("rule", ["guided", "deconvolution"])
@pytest.mark.parametrize("is_functional", [False, True])
def test_rules_act_at_relus_in_loops_and_branches(mode, rule, is_functional):
    net = set_weights(Controlled(is_functional), 3)
    x = np.abs(draw(1, 5))
    values = modified_relu_gradient(net, Tensor(x), 2, rule)
    np.testing.assert_allclose(values[0], guide_by_hand(net, x[0], 2, rule), rtol=1e-4, atol=1e-5)


def test_relevance_names_a_node_without_a_rule_in_a_loop(mode):
    class Looped(nn.Cell):
        def construct(self, x):
            count = ops.zeros((), msnb.int32)
            while count < 3:
                x = ops.exp(x)
                count = count + 1
            return x

    with pytest.raises(ValueError, match=r"no rule for .*Exp .*'integrated_gradients'"):
        msnb.attribute(Looped(), Tensor(np.ones((1, 5), np.float32)), target=0, method="lrp")


def test_relevance_passes_a_loop(mode):
    net = set_weights(Controlled(True), 3)
    net.fc.bias.set_data(Tensor(np.zeros(5, np.float32)))
    x, weight = np.abs(draw(1, 5)), net.fc.weight.asnumpy()
    values = [x[0]]
    for _ in range(3):
        values.append(np.maximum(weight @ values[-1], 0))
    assert values[3].sum() > 0
    values.append(np.clip(2 * values[3] - 1, 0, 6))
    scores = weight @ values[4]
    result = msnb.attribute(net, Tensor(x), target=2, method="lrp", epsilon=0.0)
    relevance = weight[2] * values[4]
    relevance = 2 * values[3] / (2 * values[3] - 1) * relevance  # the constant has the rest
    for value in values[2::-1]:
        product = weight @ value
        relevance = value * (weight.T @ np.where(product != 0, relevance / product, 0))
    np.testing.assert_allclose(result.scores, scores[2:3], rtol=1e-4)
    np.testing.assert_allclose(result.values[0], relevance, rtol=1e-3, atol=1e-4)


def test_the_name_of_a_cell_selects_its_last_node():
    net = set_weights(NET, 1)
    weights = gradient(net, IMAGES, TARGETS)
    of_input = msnb.attribute(net, Tensor(IMAGES), target=TARGETS, node="")
    np.testing.assert_array_equal(of_input.values, weights)
    result = msnb.attribute(net, Tensor(IMAGES), target=TARGETS, node="conv")
    assert result.node.endswith("BiasAdd")
    by_query = msnb.attribute(net, Tensor(IMAGES), target=TARGETS, node="scope:conv op:BiasAdd")
    np.testing.assert_array_equal(result.values, by_query.values)


def test_a_cell_that_runs_twice_means_its_last_run():
    net = set_weights(NET, 1)
    result = msnb.attribute(net, Tensor(IMAGES), target=TARGETS, node="relu")
    assert result.values.shape == (3, 6)
    of_dense = msnb.attribute(net, Tensor(IMAGES), target=TARGETS, node="op:ReLU shape:3x6")
    np.testing.assert_array_equal(result.values, of_dense.values)


@pytest.mark.parametrize("method", ["gradient", "guided_backprop", "lrp"])
def test_a_recomputed_cell_has_equal_attributions(method):
    first, second = set_weights(Small(has_bias=False), 1), set_weights(Small(has_bias=False), 1)
    second.fc1.recompute()
    second.conv.recompute()
    for node in (None, "conv", "fc1"):
        expected, values = (
            msnb.attribute(net, Tensor(IMAGES), target=TARGETS, method=method, node=node).values
            for net in (first, second)
        )
        np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-6)


def test_an_intervention_is_explained():
    net = set_weights(NET, 1)
    before = gradient(net, IMAGES, TARGETS)
    with msnb.intervene(net, {"op:Conv2D": zero()}):
        assert not gradient(net, IMAGES, TARGETS).any()
    np.testing.assert_array_equal(gradient(net, IMAGES, TARGETS), before)
    assert before.any()


def test_gradient_of_a_node_is_that_of_the_rest_of_the_network():
    net = set_weights(NET, 2)
    hidden = draw(3, 6)
    rest = ops.GradOperation()(lambda h: net.fc2(ops.relu(h))[:, 2].sum())
    head = msnb.attribute(lambda h: net.fc2(ops.relu(h)), Tensor(hidden), target=2)
    np.testing.assert_allclose(head.values, rest(Tensor(hidden)).asnumpy(), rtol=1e-6)


class Words(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding, self.fc = nn.Embedding(30, 4, embedding_table="normal"), nn.Dense(4, 2)

    def construct(self, ids, mask):
        return self.fc((self.embedding(ids) * mask.expand_dims(2)).sum(1))


def test_tokens_are_explained_at_the_embedding(mode):
    ids = Tensor(np.array([[3, 4, 5], [6, 7, 0]], np.int32))
    mask = Tensor(np.array([[1, 1, 1], [1, 1, 0]], np.float32))
    tokens = [["a", "good", "film"], ["too", "long"]]
    net = set_weights(Words(), 5)
    result = msnb.attribute(net, ids, mask, target=[1, 0], method="lrp", tokens=tokens)
    assert result.values.shape == (2, 3, 4) and result.map.shape == (2, 3)
    products = (net.embedding.embedding_table.asnumpy()[ids.asnumpy()] * net.fc.weight.asnumpy()[[1, 0]][:, None]).sum(
        2
    )
    np.testing.assert_allclose(result.map, products * mask.asnumpy(), rtol=1e-3, atol=1e-5)
    assert "good " in repr(result) and "film" in result._repr_html_()
    assert result.tokens == tokens


# ---------------------------------------------------------------------- the network stays as it is
class Normalized(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.flatten = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten()
        self.drop, self.fc = nn.Dropout(0.5), nn.Dense(200, 4)

    def construct(self, x):
        return self.fc(self.drop(self.flatten(ops.relu(self.bn(self.conv(x))))))


def list_state(net):
    """Return the attributes of all Cells without those that the first trace computes."""
    lazy = ("_programs", "_has_bprop")
    return [{k: v for k, v in vars(cell).items() if k not in lazy} for _, cell in net.cells_and_names()]


@pytest.mark.parametrize("is_training", [False, True])
def test_nothing_of_the_network_changes(mode, is_training, monkeypatch):
    said = []
    monkeypatch.setattr(log, "warning", lambda form, *args: said.append(form % args))
    net = Normalized().set_train(is_training)
    before = {name: parameter.asnumpy() for name, parameter in net.parameters_and_names()}
    state = list_state(net)
    for method in METHODS:
        node = NODES.get(method)
        if is_training and method == "lrp":
            continue  # it has no rule for normalization by the statistics of the batch
        msnb.attribute(net, Tensor(IMAGES), target=1, method=method, node=node)
        with pytest.raises(ValueError, match="outside of the 4 scores"):
            msnb.attribute(net, Tensor(IMAGES), target=9, method=method, node=node)
    assert net.training == is_training
    assert state == list_state(net)
    for name, parameter in net.parameters_and_names():
        np.testing.assert_array_equal(parameter.asnumpy(), before[name])
    assert any("set_train(False)" in sentence for sentence in said) == is_training


@pytest.mark.parametrize("method", sorted(METHODS))
def test_other_inputs_and_weights_are_not_traced_again(mode, method):
    traces = []

    class Counted(Small):
        def construct(self, x):
            traces.append(1)
            return super().construct(x)

    net, node = set_weights(Counted(), 0), NODES.get(method)
    first = msnb.attribute(net, Tensor(IMAGES), target=TARGETS, method=method, node=node).values
    count = len(traces)
    second = msnb.attribute(set_weights(net, 1), Tensor(IMAGES + 1), target=[3, 3, 3], method=method, node=node).values
    assert len(traces) == count
    assert not np.array_equal(first, second)


# ---------------------------------------------------------------------- arguments and errors
def test_the_default_target_is_the_predicted_class():
    net = set_weights(NET, 4)
    predicted = net(Tensor(IMAGES)).asnumpy().argmax(1)
    result = msnb.attribute(net, Tensor(IMAGES))
    np.testing.assert_array_equal(result.target, predicted)
    np.testing.assert_array_equal(result.values, gradient(net, IMAGES, Tensor(predicted.astype(np.int32))))


def test_outputs_of_other_shapes():
    x = Tensor(draw(2, 3, 4))
    result = msnb.attribute(lambda x: ops.exp(x), x, target=(1, -1))
    expected = np.zeros(x.shape, np.float32)
    expected[:, 1, 3] = np.exp(x.asnumpy()[:, 1, 3])
    np.testing.assert_allclose(result.values, expected, rtol=1e-6)
    np.testing.assert_allclose(msnb.attribute(lambda x: (x * x).sum((1, 2)), x).values, 2 * x.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"method": "gradcam"}, ValueError, "Did you mean 'grad_cam'"),
        ({"method": "lrp", "step": 3}, TypeError, "no option 'step'. It has rule, epsilon, softmax"),
        ({"method": "integrated_gradients", "step": 3}, TypeError, "Did you mean 'steps'"),
        ({"method": "guided_backprop", "rule": "guided"}, TypeError, "It has none"),
        ({"method": "integrated_gradients", "steps": 0}, ValueError, "'steps' should be an int of at least 1"),
        ({"method": "integrated_gradients", "baseline": np.ones((2, 2))}, ValueError, "'baseline' should be"),
        ({"method": "smooth_grad", "noise": -1}, ValueError, "'noise' should be"),
        ({"method": "lrp", "rule": "alpha"}, ValueError, "'rule' should be one of 'epsilon'"),
        ({"method": "grad_cam"}, ValueError, "such as node='conv'"),
        ({"method": "grad_cam", "node": "fc1"}, ValueError, r"fc1/BiasAdd .* has the shape \[3, 6\]"),
        ({"node": "convolution"}, ValueError, "Similar Cells: conv"),
        ({"node": "op:Relu6"}, ValueError, "No node of the graph matches"),
        ({"target": 4}, ValueError, "'target' 4 is outside of the 4 scores"),
        ({"target": [0, 1]}, ValueError, "one int or 3 ints"),
        ({"target": 1.5}, TypeError, "'target' should be the index of a class"),
        ({"target": (1, 2)}, ValueError, "'target' has 2 indices"),
        ({"input_index": 1}, ValueError, "one of the 1 inputs"),
        ({"tokens": ["a"]}, ValueError, "'tokens' belong to values"),
    ],
)
def test_errors_say_what_is_expected(options, error, words):
    with pytest.raises(error, match=words):
        msnb.attribute(NET, Tensor(IMAGES), **{"target": 0, **options})


@pytest.mark.parametrize(
    ("net", "inputs", "options", "error", "words"),
    [
        (NET, (), {}, ValueError, "needs the inputs of the network, .* but got none"),
        (NET, ({"x": Tensor(IMAGES)},), {}, TypeError, "input 0 is dict of 1. Pass a function of Tensors"),
        (NET, ([Tensor(IMAGES)],), {}, TypeError, "input 0 is list of 1. Pass a function of Tensors"),
        (Small, (Tensor(IMAGES),), {}, TypeError, "'net' should be a Cell or a function, but got the class Small"),
        (3, (Tensor(IMAGES),), {}, TypeError, "'net' should be a Cell or a function, but got int 3"),
        (NET, (Tensor(IMAGES),), {"target": [[0], [1, 2], [3]]}, TypeError, "'target' should be the index of a class"),
        (NET, (Tensor(IMAGES),), {"method": "smooth_grad", "noise": np.inf}, ValueError, "'noise' should be a finite"),
        (lambda x: x.sum((1, 2, 3)), (Tensor(IMAGES),), {"target": 0}, ValueError, "returns one score per example"),
        (
            ops.abs,
            (Tensor(np.ones((2, 3), np.complex64)),),
            {},
            ValueError,
            r"is Complex64\[2, 3\], which has no gradient",
        ),
    ],
)
def test_unusual_calls_say_what_is_expected(mode, net, inputs, options, error, words):
    with pytest.raises(error, match=words):
        msnb.attribute(net, *inputs, **options)


def test_a_number_among_the_inputs_is_not_the_explained_input(mode):
    x, y = draw(2, 3), draw(2, 3, seed=8)
    net = lambda a, factor, b: factor * a * b  # noqa: E731
    for index, expected in ((0, 2 * y), (2, 2 * x)):
        result = msnb.attribute(net, Tensor(x), 2.0, Tensor(y), target=1, input_index=index)
        np.testing.assert_allclose(result.values, expected * np.eye(3)[1], rtol=1e-6)
    same = Tensor(x)
    values = msnb.attribute(lambda a, b: a * a * b, same, same, target=1, input_index=1).values
    np.testing.assert_allclose(values, x * x * np.eye(3)[1], rtol=1e-6)
    values = msnb.attribute(lambda a: 3 * a, Parameter(same, "x"), target=1).values
    np.testing.assert_allclose(values, np.tile(3 * np.eye(3)[1], (2, 1)), rtol=1e-6)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_an_empty_batch_has_empty_attributions(mode, method):
    result = msnb.attribute(NET, Tensor(IMAGES[:0]), method=method, node=NODES.get(method))
    assert result.values.shape == IMAGES[:0].shape and not len(result.scores)
    assert "0 examples" in repr(result) and "0 examples" in result.describe_title()
    assert result._repr_html_()


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("dtype", [msnb.float16, msnb.bfloat16, msnb.float64])
def test_attributions_of_other_dtypes_are_float32(method, dtype):
    x = Tensor(draw(2, 3, 4, 4)).astype(dtype)
    net = lambda x: (ops.relu(x) * 2).sum((2, 3))  # noqa: E731
    result = msnb.attribute(net, x, target=1, method=method, node="" if method.startswith("grad_cam") else None)
    assert result.values.dtype == np.float32
    np.testing.assert_allclose(
        result.scores, 2 * np.maximum(x.astype(msnb.float32).asnumpy()[:, 1], 0).sum((1, 2)), rtol=0.02
    )


def test_a_network_with_one_score_per_example_needs_no_target():
    x = draw(2, 3)
    for target in (None, ()):
        values = msnb.attribute(lambda x: (x * x).sum(1), Tensor(x), target=target).values
        np.testing.assert_allclose(values, 2 * x, rtol=1e-6)


@pytest.mark.parametrize(
    ("net", "words"),
    [
        (lambda x: (x, x), "returns 2 Tensors"),
        (lambda x: x.sum(), "with a row for each of the 2 examples"),
        (lambda x: x > 0, "should return real numbers"),
    ],
)
def test_networks_without_scores_raise(net, words):
    with pytest.raises(ValueError, match=words):
        msnb.attribute(net, Tensor(np.ones((2, 3), np.float32)), target=0)


class Functional(nn.Cell):
    """`nn.Dense` twice, as operators."""

    def __init__(self, dense):
        super().__init__()
        self.dense = dense

    def construct(self, x):
        for layer in self.dense:
            x = ops.maximum(ops.matmul(x, layer.weight.T) + layer.bias, 0)
        return x


@pytest.mark.parametrize("rule", ["epsilon", "z-plus"])
def test_relevance_of_operators_equals_that_of_cells(rule):
    layers = nn.CellList([set_weights(nn.Dense(4, 5), 1), set_weights(nn.Dense(5, 3), 2)])
    cells = nn.SequentialCell(layers[0], nn.ReLU(), layers[1], nn.ReLU())
    x = Tensor(np.abs(draw(3, 4)))
    first, second = (
        msnb.attribute(net, x, target=1, method="lrp", rule=rule, epsilon=0.1).values
        for net in (cells, Functional(layers))
    )
    np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-6)


LINEAR = {
    "resize": lambda x: ops.ResizeBilinear((3, 3))(x),
    "pool": lambda x: nn.AdaptiveAvgPool2d(2)(x),
    "item": lambda x: x[:, :, 1:3],
    "join": lambda x: ops.concat((x, 2 * x), 1) - x.mean(1, keep_dims=True),
    "transposed": nn.Conv2dTranspose(2, 3, 3),
    "leaky": lambda x: ops.leaky_relu(x, 0.1),
    "split": lambda x: ops.Split(1, 2)(x)[1] / 2,
}


@pytest.mark.parametrize("name", LINEAR)
def test_operators_preserve_relevance(name):
    x = Tensor(draw(2, 2, 4, 4))

    def net(x):
        return LINEAR[name](x).sum((2, 3))

    result = msnb.attribute(net, x, target=0, method="lrp", epsilon=0.0)
    np.testing.assert_allclose(sum_of_examples(result.values), result.scores, rtol=1e-3, atol=1e-4)


def test_relevance_refuses_a_division_by_an_activation():
    with pytest.raises(ValueError, match="division by an activation"):
        msnb.attribute(lambda x: 1 / x, Tensor(np.ones((2, 3), np.float32)), target=0, method="lrp")


def test_relevance_names_the_node_without_a_rule():
    with pytest.raises(ValueError, match=r"LRP has no rule for Exp.* \(test_attribution.py:\d+\)"):
        msnb.attribute(lambda x: ops.exp(x * 2), Tensor(np.ones((2, 3), np.float32)), target=0, method="lrp")


def test_relevance_in_training_mode_advises_the_evaluation_mode():
    with pytest.raises(ValueError, match=r"FusedBatchNormEx.* set_train\(False\) first gives BatchNorm a rule"):
        msnb.attribute(Normalized().set_train(True), Tensor(IMAGES), target=1, method="lrp")


def test_a_branch_without_relevance_may_have_any_operator():
    x = draw(2, 3)
    net = lambda x: x * 2 + 0 * ops.stop_gradient(ops.exp(x))  # noqa: E731
    np.testing.assert_allclose(
        msnb.attribute(net, Tensor(x), target=0, method="lrp", epsilon=0.0).values[:, 0], 2 * x[:, 0], rtol=1e-4
    )


def test_a_loop_has_no_single_value():
    class Looped(nn.Cell):
        def construct(self, x):
            while x.sum() < 100:
                x = ops.exp(x)
            return x

    with pytest.raises(ValueError, match="inside a loop or a branch"):
        msnb.attribute(Looped(), Tensor(np.ones((2, 3), np.float32)), target=0, node="op:Exp")


def test_a_network_without_relu_says_that_the_rule_has_no_effect(monkeypatch):
    said = []
    monkeypatch.setattr(log, "warning", lambda form, *args: said.append(form % args))
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(modified_relu_gradient(ops.tanh, x, 0, "guided"), gradient(ops.tanh, x, 0))
    assert "has no ReLU or ReLU6" in said[0]


# ---------------------------------------------------------------------- display
def test_images_are_drawn_with_their_map():
    result = msnb.attribute(NET, Tensor(IMAGES), target=TARGETS, method="integrated_gradients")
    page = result._repr_html_()
    assert page.count("<img") == 6 and "raises the score" in page and "target 2" in page
    assert repr(result).splitlines()[0] == "integrated_gradients of the input, 3 examples, values [3, 1, 10, 10]"
    assert grad_cam(NET, IMAGES, TARGETS, "conv").shape == IMAGES.shape


def test_numbers_are_listed():
    result = msnb.attribute(nn.Dense(3, 2, weight_init="ones"), Tensor([[1.0, 2.0, 3.0]]), target=1)
    assert "[0] +1  [1] +1  [2] +1" in repr(result)
    assert "<table" in result._repr_html_()
    np.testing.assert_array_equal(np.asarray(result), result.to_tensor().asnumpy())
