"""Random operators: shapes, element types, ranges, repeatability."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.ops import composite as C
from msnb.ops import operations as P

F = Tensor(1.0, ms.float32)


@pytest.mark.parametrize(
    "draw, dtype, mean, deviation",
    [
        (lambda: P.StandardNormal()((4000,)), ms.float32, 0, 1),
        (lambda: P.UniformReal()((4000,)), ms.float32, 0.5, 0.2887),
        (lambda: P.StandardLaplace()((4000,)), ms.float32, 0, 1.414),
        (lambda: P.Gamma()((4000,), Tensor(2.0), Tensor(4.0)), ms.float32, 0.5, 0.3536),
        (lambda: P.Poisson()((4000,), Tensor(4.0)), ms.int32, 4, 2),
        (lambda: P.UniformInt()((4000,), Tensor(0, ms.int32), Tensor(10, ms.int32)), ms.int32, 4.5, 2.872),
        (lambda: P.TruncatedNormal()((4000,)), ms.float32, 0, 0.88),
        (lambda: C.normal((4000,), Tensor(3.0), Tensor(2.0)), ms.float32, 3, 2),
        (lambda: C.uniform((4000,), Tensor(2.0), Tensor(4.0)), ms.float32, 3, 0.5774),
        (lambda: ops.randn(4000), ms.float32, 0, 1),
        (lambda: C.laplace((4000,), Tensor(1.0), Tensor(0.5)), ms.float32, 1, 0.7071),
    ],
)
def test_numbers_are_distributed_as_asked(draw, dtype, mean, deviation):
    ms.set_seed(3)
    values = draw()
    assert values.dtype == dtype and values.shape == (4000,)
    assert values.asnumpy().mean() == pytest.approx(mean, abs=0.1 * max(deviation, 1))
    assert values.asnumpy().std() == pytest.approx(deviation, rel=0.1)


def test_the_same_seed_repeats_a_program_and_two_calls_differ():
    def draw():
        ms.set_seed(5)
        return (
            P.StandardNormal()((4,)).asnumpy(),
            P.StandardNormal()((4,)).asnumpy(),
            P.StandardNormal(seed=1)((4,)).asnumpy(),
        )

    first, second = draw(), draw()
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first[0], first[1])


def test_a_graph_draws_anew_in_each_call_and_repeats_after_the_seed():
    class Noise(nn.Cell):
        def __init__(self):
            super().__init__()
            self.normal = P.StandardNormal()

        def construct(self, x):
            return x + self.normal((3,))

    context.set_context(mode=context.GRAPH_MODE)
    net, x = Noise(), Tensor(np.zeros(3, np.float32))
    ms.set_seed(1)
    first, second = net(x).asnumpy(), net(x).asnumpy()
    ms.set_seed(1)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(net(x).asnumpy(), first)


def test_random_choice_picks_each_true_place_at_most_once():
    mask = np.zeros((4, 5), bool)
    mask[1, 2] = mask[3, 4] = mask[0, 0] = True
    index, valid = P.RandomChoiceWithMask(count=5)(Tensor(mask))
    assert index.dtype == ms.int32 and index.shape == (5, 2) and valid.asnumpy().sum() == 3
    assert {tuple(i) for i in index.asnumpy()[valid.asnumpy()]} == {(1, 2), (3, 4), (0, 0)}
    assert (index.asnumpy()[~valid.asnumpy()] == 0).all()


def test_samples_follow_their_weights():
    weights = Tensor([0.0, 9.0, 0.0], ms.float32)
    assert P.Multinomial()(weights, 4).asnumpy().tolist() == [1] * 4
    assert set(C.multinomial(Tensor([1.0, 1.0, 1.0], ms.float32), 3, replacement=False).asnumpy().tolist()) == {0, 1, 2}
    assert P.RandomCategorical(ms.int64)(Tensor([[0.0, 50.0]], ms.float32), 3, 0).asnumpy().tolist() == [[1, 1, 1]]


def test_permutations_hold_every_number_once():
    assert sorted(ops.randperm(6).asnumpy().tolist()) == list(range(6))
    assert sorted(P.Randperm(max_length=4)(Tensor([3], ms.int32)).asnumpy().tolist()) == [-1, 0, 1, 2]


def test_candidate_samplers_draw_different_classes():
    true = Tensor([[1], [3]], ms.int64)
    drawn, expected, _ = P.UniformCandidateSampler(1, 4, True, 4)(true)
    assert sorted(drawn.asnumpy().tolist()) == [0, 1, 2, 3] and expected.asnumpy().tolist() == [[1.0], [1.0]]
    drawn = P.LogUniformCandidateSampler(1, 5, True, 5)(true)[0]
    assert sorted(drawn.asnumpy().tolist()) == [0, 1, 2, 3, 4]


def test_expected_counts_follow_from_the_number_of_draws():
    """MindSpore gives 1 - (1 - p)**draws, and drawing all of five classes takes 14 draws on average, not hundreds."""
    true = Tensor([[1, 7], [0, 4]], ms.int64)
    p = np.log1p(1 / (np.arange(8) + 1)) / np.log(6)
    draws = []
    for seed in range(1, 40):
        drawn, expected, sampled = P.LogUniformCandidateSampler(2, 5, True, 5, seed)(true)
        draws.append(np.log1p(-expected.asnumpy()[1, 1]) / np.log1p(-p[4]))
        assert draws[-1] >= 4.99
        np.testing.assert_allclose(expected.asnumpy(), 1 - (1 - p[[[1, 7], [0, 4]]]) ** draws[-1], rtol=1e-3)
        np.testing.assert_allclose(sampled.asnumpy(), 1 - (1 - p[drawn.asnumpy()]) ** draws[-1], rtol=1e-3)
    assert 11 < np.mean(draws) < 18 and np.std(draws) > 3


def test_random_categorical_with_a_seed_samples_as_r1_1_does():
    logits = Tensor([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]], ms.float16)
    expected = [[4, 3, 2, 4, 4, 4, 3, 4, 1, 3]] * 2  # as MindSpore r1.1 documents by a test of its own
    for _ in range(2):
        samples = P.RandomCategorical(ms.int16)(logits, 10, 5)
        assert samples.dtype == ms.int16 and samples.asnumpy().tolist() == expected
    assert P.RandomCategorical()(Tensor([[0.0, 0.0, -1e9]]), 1000, 3).asnumpy().max() == 1
