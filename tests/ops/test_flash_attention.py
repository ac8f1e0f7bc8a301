"""ops.flash_attention_score beside the formula in float64: layouts, masks, grouped heads, dropout, gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import msnb as ms
from msnb import Tensor, context, log, ops
from msnb.ops.operations.nn_ops import FlashAttentionScore

SIZE = 4  # of a head
LAYOUTS = ("BSH", "BNSD", "SBH", "BSND")
TOLERANCE = {"float32": 2e-6, "float16": 2e-3, "bfloat16": 2e-2}


@pytest.fixture(autouse=True)
def _pynative_afterwards():
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


def attention(xp, q, k, v, scale, excluded, shift=None):
    """Return the formula, for (B, N, S, D): scores, and outputs."""
    k, v = (xp.repeat(x, q.shape[1] // k.shape[1], 1) for x in (k, v))
    scores = xp.einsum("bnid,bnjd->bnij", q, k)
    scores = scale * (scores if shift is None else scores + shift)
    scores = xp.where(excluded, np.finfo(np.float32).min, scores)
    weights = xp.exp(scores - scores.max(-1, keepdims=True))
    return scores, xp.einsum("bnij,bnjd->bnid", weights / weights.sum(-1, keepdims=True), v)


def to_layout(x, layout):
    """Return (B, N, S, D) in a layout."""
    axes = layout.replace("H", "ND")
    x = np.transpose(x, ["BNSD".index(axis) for axis in axes])
    return x.reshape(*x.shape[:2], -1) if "H" in layout else x


def excluded_by(mode, length, keys, mask, before, after):
    """Return the pairs that a mode excludes."""
    query, key = np.arange(length)[:, None], np.arange(keys)
    last = query + keys - length
    own = np.zeros((length, keys), bool) if mask is None else mask.astype(bool)
    if mode == 0 and mask is not None:
        return own | (key < query - before) | (key > query + after)
    return {
        0: own,
        1: own,
        2: key > query,
        3: key > last,
        4: (key < last - before) | (key > last + after),
    }[mode]


@st.composite
def calls(draw):
    """Arguments of one call."""
    batch, shared = draw(st.sampled_from([(1, 1), (2, 2)]))
    heads = shared * draw(st.sampled_from([1, 2]))
    length, keys = draw(st.sampled_from([(3, 3), (3, 5), (5, 3)]))
    mode = draw(st.integers(0, 4))
    forms = [(length, keys), (1, 1, length, keys), (batch, 1, length, keys), (batch, heads, length, keys)]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    mask = None
    if mode == 1 or mode == 0 and draw(st.booleans()):
        mask = rng.random(draw(st.sampled_from(forms))) < 0.4
        mask = mask.astype(draw(st.sampled_from(["bool", "uint8"])))
    has_band = mode == 4 or mask is not None and mode == 0
    before, after = draw(st.sampled_from([(1, 1), (2, 0), (0, 2), (-1, 2), (2, -1)])) if has_band else (2**31 - 1,) * 2
    shift = None
    if draw(st.booleans()):
        shift = rng.standard_normal((draw(st.sampled_from([1, batch])), heads, length, keys))
    q = rng.standard_normal((batch, heads, length, SIZE))
    k, v = rng.standard_normal((2, batch, shared, keys, SIZE))
    return (q, k, v), shift, mask, mode, before, after, draw(st.sampled_from(LAYOUTS))


@settings(max_examples=60, deadline=None)
@given(calls(), st.sampled_from(list(TOLERANCE)), st.sampled_from([context.PYNATIVE_MODE, context.GRAPH_MODE]))
def test_outputs_are_the_formulas(call, dtype, mode_of_context):
    arrays, shift, mask, mode, before, after, layout = call
    context.set_context(mode=mode_of_context)
    dtype_of = getattr(ms, dtype)
    inputs = [Tensor(to_layout(x, layout), dtype_of) for x in arrays]
    rounded = [Tensor(x, dtype_of).astype(ms.float32).asnumpy().astype(np.float64) for x in arrays]
    heads, (length, keys) = arrays[0].shape[1], (arrays[0].shape[2], arrays[1].shape[2])
    if shift is not None:
        shift = Tensor(shift, dtype_of)
    got = ops.flash_attention_score(
        *inputs,
        heads,
        real_shift=shift,
        attn_mask=None if mask is None else Tensor(mask),
        scalar_value=0.5,
        pre_tokens=before,
        next_tokens=after,
        input_layout=layout,
        sparse_mode=mode,
    )
    shift = None if shift is None else shift.astype(ms.float32).asnumpy().astype(np.float64)
    excluded = excluded_by(mode, length, keys, mask, before, after)
    _, want = attention(np, *rounded, 0.5, excluded, shift)
    assert got.dtype == dtype_of and got.shape == inputs[0].shape
    got = got.astype(ms.float32).asnumpy()
    np.testing.assert_allclose(got, to_layout(want, layout), atol=4 * TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("mode_of_context", [context.PYNATIVE_MODE, context.GRAPH_MODE])
@pytest.mark.parametrize(("layout", "mode"), [("BSH", 3), ("BNSD", 1), ("SBH", 4), ("BSND", 2)])
def test_gradients_are_those_of_the_formula(layout, mode, mode_of_context):
    context.set_context(mode=mode_of_context)
    rng = np.random.default_rng(1)
    q = rng.standard_normal((2, 4, 3, SIZE)).astype(np.float32)
    k, v = rng.standard_normal((2, 2, 2, 5, SIZE)).astype(np.float32)
    shift = rng.standard_normal((1, 4, 3, 5)).astype(np.float32)
    mask = rng.random((3, 5)) < 0.4 if mode == 1 else None
    before, after = (1, 1) if mode == 4 else (2**31 - 1,) * 2
    excluded = excluded_by(mode, 3, 5, mask, before, after)
    probe = rng.standard_normal(q.shape).astype(np.float32)

    def loss(q, k, v, shift):
        out = ops.flash_attention_score(
            q,
            k,
            v,
            4,
            shift,
            attn_mask=None if mask is None else Tensor(mask),
            scalar_value=0.5,
            pre_tokens=before,
            next_tokens=after,
            input_layout=layout,
            sparse_mode=mode,
        )
        return (out * Tensor(to_layout(probe, layout))).sum()

    got = ops.grad(loss, (0, 1, 2, 3))(*(Tensor(to_layout(x, layout)) for x in (q, k, v)), Tensor(shift))
    want = jax.grad(lambda q, k, v, s: (attention(jnp, q, k, v, 0.5, excluded, s)[1] * probe).sum(), (0, 1, 2, 3))(
        q, k, v, shift
    )
    for one, other in zip(got, [*(to_layout(x, layout) for x in want[:3]), want[3]], strict=True):
        np.testing.assert_allclose(one.asnumpy(), other, atol=2e-5, rtol=1e-5)


def test_the_primitive_returns_largest_scores_and_sums_too():
    rng = np.random.default_rng(2)
    q, k, v = rng.standard_normal((3, 2, 2, 3, SIZE)).astype(np.float32)
    largest, total, nothing, out = FlashAttentionScore(2, scale_value=0.5, input_layout="BNSD", sparse_mode=2)(
        *map(Tensor, (q, k, v))
    )
    scores, want = attention(np, *(x.astype(np.float64) for x in (q, k, v)), 0.5, excluded_by(2, 3, 3, None, 0, 0))
    assert largest.shape == total.shape == (2, 2, 3, 8) and nothing.shape == ()
    peak = scores.max(-1, keepdims=True)
    np.testing.assert_allclose(largest.asnumpy(), np.broadcast_to(peak, largest.shape), rtol=1e-5, atol=1e-6)
    sums = np.broadcast_to(np.exp(scores - peak).sum(-1, keepdims=True), total.shape)
    np.testing.assert_allclose(total.asnumpy(), sums, rtol=1e-5)
    np.testing.assert_allclose(out.asnumpy(), want, rtol=1e-5, atol=1e-6)


def test_scores_that_are_too_large_for_float16_have_a_softmax():
    x = Tensor(np.full((1, 2, 64), 60.0), ms.float16)
    np.testing.assert_array_equal(ops.flash_attention_score(x, x, x, 1).asnumpy(), x.asnumpy())


def test_a_query_without_keys_weighs_all_equally_and_has_finite_gradients():
    rng = np.random.default_rng(3)
    q, k, v = (Tensor(x) for x in rng.standard_normal((3, 1, 2, SIZE)).astype(np.float32))
    mask = Tensor(np.array([[True, True], [False, True]]))

    def attend(q, k, v):
        return ops.flash_attention_score(q, k, v, 1, attn_mask=mask)

    out = attend(q, k, v).asnumpy()
    np.testing.assert_allclose(out[0], np.stack([v.asnumpy()[0].mean(0), v.asnumpy()[0, 0]]), rtol=1e-6)
    assert all(np.isfinite(x.asnumpy()).all() for x in ops.grad(lambda *x: attend(*x).sum(), (0, 1, 2))(q, k, v))


def test_dropout_is_by_mask_or_random():
    heads, length, keys, keep = 2, 4, 8, 0.5
    rng = np.random.default_rng(4)
    q = Tensor(rng.standard_normal((1, heads, length, keys)).astype(np.float32))
    k = Tensor(rng.standard_normal((1, heads, keys, keys)).astype(np.float32))
    v = Tensor(np.broadcast_to(np.eye(keys, dtype=np.float32), (1, heads, keys, keys)).copy())  # outputs are weights
    options = {"head_num": heads, "input_layout": "BNSD"}
    weights = ops.flash_attention_score(q, k, v, **options).asnumpy()
    bits = rng.integers(0, 256, (1, heads, length, keys // 8), np.uint8)
    dropped = ops.flash_attention_score(q, k, v, drop_mask=Tensor(bits), keep_prob=keep, **options).asnumpy()
    expected = ops.DropoutDoMask()(Tensor(weights), Tensor(bits.reshape(-1)), keep).asnumpy()
    np.testing.assert_allclose(dropped, expected, rtol=1e-6)
    assert 0 < (dropped == 0).sum() < dropped.size
    dropped = ops.flash_attention_score(q, k, v, keep_prob=keep, **options).asnumpy()
    assert 0 < (dropped == 0).sum() < dropped.size
    np.testing.assert_allclose(dropped[dropped != 0], (weights / keep)[dropped != 0], rtol=1e-6)


X = Tensor(np.ones((2, 8, 16), np.float32))
BYTES = Tensor(np.ones((2, 4, 8, 1), np.uint8))


# The classes of MindSpore 2.7.1, which infers shapes without a device.
@pytest.mark.parametrize(
    ("error", "message", "options"),
    [
        (RuntimeError, "'padding_mask' should be None.*attn_mask", {"padding_mask": X}),
        (RuntimeError, "'prefix' should be None.*sparse_mode=1", {"prefix": (1, 2)}),
        (RuntimeError, "'actual_seq_qlen' should be None.*pad", {"actual_seq_qlen": (1, 2)}),
        (RuntimeError, "'actual_seq_kvlen' should be None.*pad", {"actual_seq_kvlen": (1, 2)}),
        (ValueError, "'input_layout'.*pad the sequences", {"input_layout": "TND"}),
        (ValueError, "'input_layout' should be one of", {"input_layout": "XYZ"}),
        (TypeError, "'input_layout'", {"input_layout": 3}),
        (ValueError, "'sparse_mode'.*sparse_mode=1", {"sparse_mode": 5}),
        (ValueError, "'sparse_mode' should be one of", {"sparse_mode": 9}),
        (RuntimeError, "sparse_mode=1 needs an 'attn_mask'", {"sparse_mode": 1}),
        (RuntimeError, "2048.*sparse_mode=1", {"sparse_mode": 2, "attn_mask": ops.zeros((8, 8), ms.bool_)}),
        (RuntimeError, r"'attn_mask' should have shape.*\(8, 7\)", {"attn_mask": ops.zeros((8, 7), ms.bool_)}),
        (TypeError, "'attn_mask' should be of Bool or UInt8", {"attn_mask": ops.zeros((8, 8), ms.float32)}),
        (RuntimeError, "'real_shift'.*1024", {"real_shift": ops.zeros((1, 4, 1024, 8), ms.float32)}),
        (TypeError, "'real_shift' should be of Float32", {"real_shift": ops.zeros((1, 4, 8, 8), ms.float16)}),
        (RuntimeError, "'drop_mask' should be None if 'keep_prob' is 1.0", {"drop_mask": BYTES}),
        (RuntimeError, "'drop_mask' should have shape", {"drop_mask": BYTES[:, :2], "keep_prob": 0.5}),
        (TypeError, "'drop_mask' should be of UInt8", {"drop_mask": X, "keep_prob": 0.5}),
        (ValueError, "'keep_prob'", {"keep_prob": 1.5}),
        (RuntimeError, "should leave keys", {"sparse_mode": 4, "pre_tokens": -1, "next_tokens": -1}),
        (RuntimeError, "'head_num' should divide", {"head_num": 5}),
        (ValueError, "'head_num'", {"head_num": 0}),
        (RuntimeError, "should have 4 dimensions for the layout 'BNSD'", {"input_layout": "BNSD"}),
        (RuntimeError, "heads, 'head_num'", {"key": X[:, :, :12], "value": X[:, :, :12]}),
        (RuntimeError, "'value' should have shape", {"value": X[:, :4]}),
        (RuntimeError, "one batch", {"key": X[:1], "value": X[:1]}),
        (TypeError, "'key' should be of Float32", {"key": X.astype(ms.float16)}),
        (TypeError, "'query' should be of Float16 or BFloat16 or Float32", {"query": X.astype(ms.int32)}),
        (TypeError, "'query' should be a Tensor", {"query": 1.0}),
    ],
)
def test_mistakes_are_explained(error, message, options):
    with pytest.raises(error, match=message):
        ops.flash_attention_score(**{"query": X, "key": X, "value": X, "head_num": 4, **options})


def test_a_drop_mask_has_complete_bytes():
    x = X[:, :4]
    with pytest.raises(RuntimeError, match="8 divides.*random mask"):
        ops.flash_attention_score(x, x, x, 4, drop_mask=BYTES, keep_prob=0.5)


def test_arguments_that_a_mode_does_not_read_say_so(monkeypatch):
    said = []
    monkeypatch.setattr(log, "once", said.append)
    ops.flash_attention_score(X, X, X, 4, next_tokens=3, sparse_mode=2, attn_mask=ops.ones((2048, 2048), ms.uint8))
    ops.flash_attention_score(X, X, X, 4, pre_tokens=3, inner_precise=1)
    assert [text.split("'")[1] for text in said] == ["next_tokens", "inner_precise", "pre_tokens"]
