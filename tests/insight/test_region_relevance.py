"""The relevance of a region: gradient times activation at the nodes and channels of a network."""

import numpy as np
import pytest

import msnb
from msnb import Tensor, context, nn
from msnb.insight.region_relevance import PictureRelevance


class Net(nn.Cell):
    """Two convolutions without biases. Channel 1 of the first one sees the left half of the picture only."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 2, 1, pad_mode="valid", weight_init="ones", has_bias=False)
        self.second = nn.Conv2d(2, 3, 2, stride=2, pad_mode="valid", has_bias=False)
        self.flat = nn.Flatten()
        self.head = nn.Dense(48, 4, has_bias=False)

    def construct(self, x):
        return self.head(self.flat(msnb.ops.ReLU()(self.second(self.first(x)))))


@pytest.fixture(scope="module", params=["graph", "pynative"])
def mode(request):
    context.set_context(mode=context.GRAPH_MODE if request.param == "graph" else context.PYNATIVE_MODE)
    yield request.param
    context.set_context(mode=context.PYNATIVE_MODE)


@pytest.fixture(scope="module")
def picture():
    return np.random.default_rng(0).normal(size=(1, 1, 8, 8)).astype(np.float32)


@pytest.fixture(scope="module")
def net():
    msnb.set_seed(1)
    return Net()


@pytest.fixture
def relevance(mode, net, picture):
    return PictureRelevance(net, Tensor(picture), 2)


def test_the_relevance_of_a_node_is_its_value_times_its_gradient(relevance, net, picture):
    weight = net.second.weight.asnumpy()
    hidden = np.repeat(picture, 2, axis=1)
    patches = hidden.reshape(1, 2, 4, 2, 4, 2)
    second = np.einsum("ncyaxb,ocab->noyx", patches, weight)
    slope = net.head.weight.asnumpy()[2].reshape(1, 3, 4, 4) * (second > 0)
    node = relevance.select_node()
    assert "second" in node.scope
    np.testing.assert_allclose(relevance.get_map(node), (second * slope)[0], atol=1e-5)
    first = np.einsum("noyx,ocab->ncyaxb", slope, weight).reshape(1, 2, 8, 8) * hidden
    np.testing.assert_allclose(relevance.get_map(relevance.select_node("first")), first[0], atol=1e-5)
    scores = net(Tensor(picture)).asnumpy()
    assert relevance.score == pytest.approx(scores[0, 2], abs=1e-5)


def test_without_biases_each_node_carries_the_score(relevance):
    for node in relevance.list_nodes():
        region = relevance.measure(node, (0, 0, 1, 1))
        assert region.relevance == pytest.approx(relevance.score, abs=1e-5)
        assert region.share == pytest.approx(1)


def test_a_region_is_the_pixels_that_it_touches(relevance):
    first, second = relevance.select_node("first"), relevance.select_node("second")
    assert relevance.measure(first, (0, 0.25, 0.5, 0.5)).box == (0, 2, 4, 4)
    assert relevance.measure(second, (0, 0.25, 0.5, 0.5)).box == (0, 1, 2, 2)
    assert relevance.measure(second, (0.1, 0.26, 0.2, 0.51)).box == (0, 1, 1, 3)
    assert relevance.measure(second, (1, 1, 1, 1)).box == (3, 3, 4, 4)  # at least one pixel
    halves = [relevance.measure(first, box) for box in ((0, 0, 1, 0.5), (0, 0.5, 1, 1))]
    assert sum(half.relevance for half in halves) == pytest.approx(relevance.score, abs=1e-5)
    assert sum(half.share for half in halves) == pytest.approx(1)
    np.testing.assert_allclose(halves[0].channels, relevance.get_map(first)[:, :, :4].sum((1, 2)), atol=1e-6)


def test_a_node_without_pixels_is_refused(relevance, mode):
    with pytest.raises(ValueError, match=r"has the shape \[1, 4\]"):
        relevance.select_node("head")
    with pytest.raises(ValueError, match="[Ss]imilar"):
        relevance.select_node("secnd")
    with pytest.raises(ValueError, match="no node of shape"):
        PictureRelevance(nn.Dense(3, 2), Tensor(np.ones((1, 3), np.float32)), 0)


def test_the_network_is_traced_once_and_does_not_change(picture, mode):
    calls = []

    class Counting(Net):
        def construct(self, x):
            calls.append(1)
            return super().construct(x)

    counting = Counting()
    before = [value.asnumpy().copy() for value in counting.get_parameters()]
    for target in range(3):
        PictureRelevance(counting, Tensor(picture), target)
    assert len(calls) == 1
    for value, old in zip(counting.get_parameters(), before, strict=True):
        np.testing.assert_array_equal(value.asnumpy(), old)
