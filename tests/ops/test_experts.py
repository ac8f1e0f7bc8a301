"""Tokens grouped by expert, and rotary position embedding, beside their formulas."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, nn, ops
from msnb.ops.auto_generate import MoeTokenPermute, MoeTokenUnpermute, RotaryPositionEmbedding


def random(*shape):
    return np.random.RandomState(sum(shape)).randn(*shape).astype(np.float32)


def test_the_example_of_2_7_1_is_reproduced():
    tokens = Tensor([[n] * 3 for n in (1, 7, 2, 1, 2, 3)], ms.bfloat16)
    copies, positions = ops.moe_token_permute(tokens, Tensor([5, 0, 3, 1, 2, 4], ms.int32))
    assert copies.dtype == ms.bfloat16 and positions.dtype == ms.int32
    assert copies.astype(ms.float32).asnumpy()[:, 1].tolist() == [7, 1, 2, 2, 3, 1]
    assert positions.asnumpy().tolist() == [5, 0, 3, 1, 2, 4]
    copies = Tensor([[n] * 3 for n in (1, 0, 0, 3, 2, 1, 2, 3)], ms.bfloat16)
    out = ops.moe_token_unpermute(copies, Tensor([0, 6, 7, 5, 3, 1, 2, 4], ms.int32))
    assert out.astype(ms.float32).asnumpy()[:, 0].tolist() == [1, 2, 3, 1, 3, 0, 0, 2]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("count", [None, 9, 5])
def test_copies_are_grouped_and_brought_back(mode, count):
    ms.set_context(mode=mode)
    tokens, probs = random(6, 4), random(6, 2)
    experts = np.array([[3, 0], [1, 0], [2, 2], [0, 3], [1, 3], [2, 1]])
    order = sorted(range(12), key=lambda i: (experts.reshape(-1)[i], i))
    dropped = set(order[12 if count is None else count :])

    class Layer(nn.Cell):
        def construct(self, tokens, experts, probs):
            copies, positions = ops.moe_token_permute(tokens, experts, count)
            return copies, ops.moe_token_unpermute(copies * 2, positions, probs)

    copies, out = Layer()(Tensor(tokens), Tensor(experts), Tensor(probs))
    np.testing.assert_array_equal(copies.asnumpy(), tokens[np.array(order[:count]) // 2])
    kept = np.array([[(2 * i + k) not in dropped for k in range(2)] for i in range(6)])
    expected = 2 * tokens * (probs * kept).sum(1, keepdims=True)
    np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-5)
    gradient = ms.grad(lambda t: ops.moe_token_permute(t, Tensor(experts), count)[0].sum())(Tensor(tokens))
    np.testing.assert_array_equal(gradient.asnumpy(), np.repeat(kept.sum(1, keepdims=True), 4, 1))


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32])
def test_pairs_of_features_are_rotated(mode, dtype):
    x, angles = random(2, 5, 3, 8), random(1, 5, 1, 4)
    both = np.repeat(angles, 2, -1) if mode else np.tile(angles, 2)
    cos, sin = np.cos(both), np.sin(both)
    pairs = x.reshape(2, 5, 3, 4, 2) if mode else np.moveaxis(x.reshape(2, 5, 3, 2, 4), -2, -1)
    turned = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angles)
    expected = np.stack([turned.real, turned.imag], -1 if mode else -2).reshape(x.shape)
    inputs = [Tensor(a.astype(np.float32)).astype(dtype) for a in (x, cos, sin)]
    out = ops.rotary_position_embedding(*inputs, mode)
    assert out.dtype == dtype
    rtol = {ms.float32: 1e-5, ms.float16: 1e-2, ms.bfloat16: 5e-2}[dtype]
    np.testing.assert_allclose(out.astype(ms.float32).asnumpy(), expected, rtol=rtol, atol=rtol)
    again = RotaryPositionEmbedding()(*inputs, mode)
    np.testing.assert_array_equal(again.astype(ms.float32).asnumpy(), out.astype(ms.float32).asnumpy())


def test_arguments_that_do_not_fit_are_named():
    x, indices = Tensor(random(4, 2)), Tensor([0, 1, 2, 3], ms.int32)
    refusals = [
        (ValueError, "'padded_mode' should be False", lambda: ops.moe_token_permute(x, indices, None, True)),
        (ValueError, r"shape \(4,\) or \(4, K\)", lambda: MoeTokenPermute()(x, indices[:3])),
        (ValueError, "num_out_tokens", lambda: ops.moe_token_permute(x, indices, 0)),
        (TypeError, "indices", lambda: ops.moe_token_permute(x, x[:, 0])),
        (ValueError, "'restore_shape' should be None", lambda: MoeTokenUnpermute()(x, indices, None, False, (2, 2))),
        (TypeError, "sorted_indices", lambda: ops.moe_token_unpermute(x, indices.astype(ms.int64))),
        (ValueError, "mode", lambda: ops.rotary_position_embedding(x, x, x, 2)),
        (ValueError, "'x' should", lambda: ops.rotary_position_embedding(x, x, x)),
    ]
    for error, words, call in refusals:
        with pytest.raises(error, match=words):
            call()
