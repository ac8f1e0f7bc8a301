"""Operators of neural networks behave as in r1.1 beyond numbers: defaults, updates in place, masks, errors."""

import numpy as np
import pytest

import msnb
from msnb import ops
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.ops import operations as P


def tensor(*shape, seed=0):
    return Tensor(np.random.RandomState(seed).randn(*shape).astype(np.float32))


# ---------------------------------------------------------------------- dropout
def test_dropout_keeps_with_keep_prob_and_scales():
    msnb.common.set_seed(1)
    x = Tensor(np.ones((100, 100), np.float32))
    y, mask = P.Dropout(keep_prob=0.8)(x)
    assert abs(mask.asnumpy().mean() - 0.8) < 0.02
    np.testing.assert_allclose(y.asnumpy(), mask.asnumpy() / 0.8, rtol=1e-6)
    assert mask.dtype == msnb.float32


def test_dropout_repeats_after_the_same_seed_and_differs_between_calls():
    x, drop = Tensor(np.ones((20, 20), np.float32)), P.Dropout(0.5)
    msnb.common.set_seed(3)
    first, second = drop(x)[0].asnumpy(), drop(x)[0].asnumpy()
    msnb.common.set_seed(3)
    assert (drop(x)[0].asnumpy() == first).all()
    assert (first != second).any()


def test_dropout_mask_goes_through_genmask_and_domask():
    x = tensor(3, 50)
    mask = P.DropoutGenMask()((3, 50), Tensor(0.5, msnb.float32))
    assert mask.shape == (32,) and mask.dtype == msnb.uint8
    y = P.DropoutDoMask()(x, mask, Tensor(0.5, msnb.float32)).asnumpy()
    is_nonzero = y != 0
    assert 0 < is_nonzero.sum() < is_nonzero.size
    np.testing.assert_allclose(y[is_nonzero], 2 * x.asnumpy()[is_nonzero], rtol=1e-6)


def test_the_gradient_of_dropout_uses_the_mask_of_the_forward_pass():
    x = Tensor(np.ones((8, 8), np.float32))
    drop = P.Dropout(0.5)
    seen = []

    def f(x):
        y, mask = drop(x)
        seen.append(mask)
        return y

    dx = ops.GradOperation()(f)(x)
    np.testing.assert_allclose(dx.asnumpy(), seen[-1].asnumpy() * 2)


# ---------------------------------------------------------------------- batch normalisation
def test_training_batch_norm_moves_the_running_statistics_with_the_unbiased_variance():
    x = tensor(4, 3, 2, 2)
    mean, variance = Parameter(Tensor(np.zeros(3, np.float32))), Parameter(Tensor(np.ones(3, np.float32)))
    ones, zeros = Tensor(np.ones(3, np.float32)), Tensor(np.zeros(3, np.float32))
    P.BatchNorm(is_training=True, momentum=0.1)(x, ones, zeros, mean, variance)
    values = x.asnumpy().swapaxes(0, 1).reshape(3, -1)
    np.testing.assert_allclose(mean.asnumpy(), 0.1 * values.mean(1), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(variance.asnumpy(), 0.9 + 0.1 * values.var(1, ddof=1), rtol=1e-4)


def test_inference_batch_norm_writes_nothing():
    x = tensor(4, 3, 2, 2)
    mean, variance = Parameter(Tensor(np.zeros(3, np.float32))), Parameter(Tensor(np.ones(3, np.float32)))
    before = mean._array
    P.BatchNorm()(x, variance, mean, mean, variance)
    assert mean._array is before


@pytest.mark.parametrize("name", ["FusedBatchNorm", "FusedBatchNormEx"])
def test_fused_batch_norm_returns_the_normalised_input_first(name):
    x = tensor(6, 3, 4, 4)
    p = [
        Parameter(Tensor(v))
        for v in (np.ones(3, np.float32), np.zeros(3, np.float32), np.zeros(3, np.float32), np.ones(3, np.float32))
    ]
    y = getattr(P, name)(mode=1, epsilon=1e-5, momentum=0.1)(x, *p)[0].asnumpy()
    assert abs(y.mean((0, 2, 3))).max() < 1e-5 and abs(y.var((0, 2, 3)) - 1).max() < 1e-3
    assert abs(p[2].asnumpy()).max() > 0


# ---------------------------------------------------------------------- optimizers
def test_nesterov_momentum_follows_the_documented_formula():
    v, a = Parameter(Tensor([1.0])), Parameter(Tensor([0.0]))
    P.ApplyMomentum(use_nesterov=True)(v, a, 0.1, Tensor([1.0]), 0.9)
    np.testing.assert_allclose(v.asnumpy(), [0.81], rtol=1e-6)


def test_ftrl_follows_its_formula():
    var, accum, linear, g = 0.5, 0.2, -0.3, 0.7
    p = [Parameter(Tensor([v])) for v in (var, accum, linear)]
    P.ApplyFtrl()(*p, Tensor([g]), 0.1, 0.2, 0.3, -0.5)
    new = accum + g * g
    lin = linear + g - (new**0.5 - accum**0.5) / 0.1 * var
    want = (np.sign(lin) * 0.2 - lin) / (new**0.5 / 0.1 + 0.6) if abs(lin) > 0.2 else 0.0
    np.testing.assert_allclose([q.asnumpy()[0] for q in p], [want, new, lin], rtol=1e-5)


def test_lars_scales_the_decayed_gradient_by_the_trust_ratio():
    w, g = np.array([3.0, 4.0], np.float32), np.array([0.6, 0.8], np.float32)
    out = P.LARSUpdate(epsilon=1e-5, hyperpara=0.01)(Tensor(w), Tensor(g), Tensor(25.0), Tensor(1.0), 0.1, 0.5)
    ratio = 0.01 * 5 / (1 + 0.1 * 5 + 1e-5)
    np.testing.assert_allclose(out.asnumpy(), ratio * (g + 0.1 * w), rtol=1e-5)


def test_sparse_rows_named_twice_are_summed_before_the_update():
    table = np.arange(8, dtype=np.float32).reshape(4, 2)
    rows = Tensor(np.array([1, 1], np.int32))
    grad = Tensor(np.ones((2, 2), np.float32))
    twice, once = [[Parameter(Tensor(table)), Parameter(Tensor(np.ones((4, 2), np.float32)))] for _ in range(2)]
    P.SparseApplyAdagrad(lr=0.1)(*twice, grad, rows)
    P.SparseApplyAdagrad(lr=0.1)(*once, Tensor(np.full((1, 2), 2, np.float32)), Tensor(np.array([1], np.int32)))
    np.testing.assert_allclose(twice[0].asnumpy(), once[0].asnumpy())
    assert (twice[0].asnumpy()[[0, 2, 3]] == table[[0, 2, 3]]).all()


def test_an_update_keeps_the_type_of_the_variable():
    v, a = Parameter(Tensor(np.ones(3, np.float16))), Parameter(Tensor(np.zeros(3, np.float16)))
    P.ApplyMomentum()(v, a, Tensor(0.1, msnb.float32), Tensor(np.ones(3, np.float16)), Tensor(0.9, msnb.float32))
    assert v.dtype == msnb.float16


# ---------------------------------------------------------------------- pooling, classes, recurrent
def test_the_first_of_equal_maxima_takes_the_gradient():
    x = Tensor(np.ones((1, 1, 4, 4), np.float32))
    for kernel in (2, 4):
        dx = ops.GradOperation()(P.MaxPool(kernel, kernel))(x).asnumpy()[0, 0]
        expected = np.zeros((4, 4))
        expected[::kernel, ::kernel] = 1
        assert (dx == expected).all()


def test_max_pooling_keeps_nan():
    x = np.zeros((1, 1, 2, 2), np.float32)
    x[0, 0, 1, 0] = np.nan
    assert np.isnan(P.MaxPool(2, 2)(Tensor(x)).asnumpy()).all()


def test_an_index_outside_of_the_depth_gives_a_row_of_off_values():
    out = P.OneHot()(Tensor([1, 5, -1]), 3, Tensor(1.0), Tensor(0.0)).asnumpy()
    assert out.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]


def lstm_reference(x, h, c, w_ih, w_hh, b):
    sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    out = []
    for x_t in x:
        i, f, g, o = np.split(x_t @ w_ih.T + h @ w_hh.T + b, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.stack(out), h, c


def test_lstm_takes_both_packings_of_its_weights():
    r = np.random.RandomState(0)
    x, h, c = r.randn(4, 2, 3), r.randn(1, 2, 5), r.randn(1, 2, 5)
    w_ih, w_hh, b1, b2 = r.randn(20, 3), r.randn(20, 5), r.randn(20), r.randn(20)
    want = lstm_reference(x, h[0], c[0], w_ih, w_hh, b1 + b2)
    lstm = P.LSTM(3, 5, 1, True, False, 0.0)
    for biases in ((b1, b2), (b1 + b2,)):
        w = np.concatenate([v.reshape(-1) for v in (w_ih, w_hh, *biases)]).reshape(-1, 1, 1)
        y, hn, cn, _, _ = lstm(*[Tensor(v.astype(np.float32)) for v in (x, h, c, w)])
        np.testing.assert_allclose(y.asnumpy(), want[0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(cn.asnumpy()[0], want[2], rtol=1e-4, atol=1e-5)


def test_dynamic_rnn_equals_an_lstm_with_its_gates_reordered():
    r = np.random.RandomState(0)
    x, h, c = r.randn(4, 2, 3), r.randn(1, 2, 5), r.randn(1, 2, 5)
    w_ih, w_hh, b = r.randn(20, 3), r.randn(20, 5), r.randn(20)
    want = lstm_reference(x, h[0], c[0], w_ih, w_hh, b)
    order = np.concatenate([np.arange(0, 5), np.arange(10, 15), np.arange(5, 10), np.arange(15, 20)])  # i, g, f, o
    w = np.concatenate([w_ih, w_hh], 1).T[:, order]
    args = [Tensor(v.astype(np.float32)) for v in (x, w, b[order], h, c)]
    out = P.DynamicRNN()(args[0], args[1], args[2], None, args[3], args[4])
    np.testing.assert_allclose(out[0].asnumpy(), want[0], rtol=1e-4, atol=1e-5)
    assert len(out) == 8


def test_gru_with_zero_weights_halves_the_state():
    x, h = tensor(3, 2, 4), tensor(2, 5)
    zeros = lambda *s: Tensor(np.zeros(s, np.float32))  # noqa: E731
    y, *_ = P.DynamicGRUV2()(x, zeros(4, 15), zeros(5, 15), zeros(15), zeros(15), None, h)
    np.testing.assert_allclose(y.asnumpy()[-1], h.asnumpy() / 8, rtol=1e-5)


def test_transducer_loss_of_one_step_is_the_sum_over_its_only_path():
    acts = np.random.RandomState(0).randn(1, 1, 2, 4).astype(np.float32)
    loss, grad = P.RNNTLoss()(
        Tensor(acts),
        Tensor(np.array([[2]], np.int32)),
        Tensor(np.array([1], np.int32)),
        Tensor(np.array([1], np.int32)),
    )
    log_p = acts - np.log(np.exp(acts).sum(-1, keepdims=True))
    np.testing.assert_allclose(loss.asnumpy(), [-(log_p[0, 0, 0, 2] + log_p[0, 0, 1, 0])], rtol=1e-5)
    assert grad.shape == acts.shape


# ---------------------------------------------------------------------- operators of 2.x that are classes, too
@pytest.mark.parametrize(
    "n, kernel, stride, pad, size",
    [(5, 2, 2, 1, (3, 4, 3)), (5, 2, 3, 0, (2, 2, 2)), (6, 2, 3, 1, (3, 3, 3)), (6, 3, 2, 0, (3, 3, 3))],
)
def test_with_ceil_mode_a_window_counts_if_it_starts_inside_the_volume(n, kernel, stride, pad, size):
    x = Tensor(np.ones((1, 1, n, n + 1, n), np.float32))
    assert P.MaxPool3D(kernel, stride, "pad", pad, True)(x).shape == (1, 1, *size)  # as MindSpore 2.7.1 gives
    assert P.AvgPool3D(kernel, stride, "pad", pad, True)(x).shape == (1, 1, *size)


def test_what_ceil_mode_adds_beyond_the_padding_is_no_part_of_a_mean():
    x = Tensor(np.ones((1, 1, 5, 5, 5), np.float32))
    assert (P.AvgPool3D(2, 2, "pad", 0, True)(x).asnumpy() == 1).all()


def test_positions_of_a_maximum_are_counted_in_each_plane():
    x = Tensor(np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4))
    values, where = P.MaxPoolWithArgmaxV2(2, 2, argmax_type=msnb.int32)(x)
    assert where.dtype == msnb.int32 and where.asnumpy()[0, 1].tolist() == [[5, 7], [13, 15]]
    assert values.asnumpy()[0, 1].tolist() == [[21, 23], [29, 31]]
    with pytest.raises(TypeError, match="'argmax_type' should be int32 or int64"):
        P.MaxPoolWithArgmaxV2(2, argmax_type=msnb.float32)


def test_paddings_that_are_not_contiguous_are_all_those_before_first():
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    alternating = P.PadV3()(x, (1, 3, 2, 0), 9.0).asnumpy()
    assert (P.PadV3(paddings_contiguous=False)(x, (1, 2, 3, 0), 9.0).asnumpy() == alternating).all()
    assert alternating.tolist() == [[9] * 7, [9] * 7, [9, 0, 1, 2, 9, 9, 9], [9, 3, 4, 5, 9, 9, 9]]


def test_a_layer_norm_without_scale_and_shift_has_scale_one_and_shift_zero():
    x, ones, zeros = tensor(3, 4), Tensor(np.ones(4, np.float32)), Tensor(np.zeros(4, np.float32))
    norm = P.LayerNorm(-1, -1)
    np.testing.assert_array_equal(norm(x)[0].asnumpy(), norm(x, ones, zeros)[0].asnumpy())
    np.testing.assert_array_equal(norm(x, ones)[1].asnumpy(), norm(x)[1].asnumpy())


# ---------------------------------------------------------------------- exponential units
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0, -1.0])
def test_elu_of_any_alpha_is_its_formula_with_its_slope(alpha):
    x = np.linspace(-4, 4, 17, dtype=np.float32)
    x = x[x != 0]  # where the slope jumps but for alpha = 1
    low = np.exp(np.minimum(x, 0))
    np.testing.assert_allclose(
        P.Elu(alpha)(Tensor(x)).asnumpy(), np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))), rtol=2e-6
    )
    slope = ops.GradOperation()(P.Elu(alpha))(Tensor(x)).asnumpy()
    np.testing.assert_allclose(slope, np.where(x > 0, 1, alpha * low), rtol=2e-6)


# ---------------------------------------------------------------------- parameters
@pytest.mark.parametrize("held, given", [((), (1,)), ((1,), ()), ((), (1, 1)), ((1, 1), ())])
@pytest.mark.parametrize("graph", [True, False])
def test_a_scalar_and_one_element_are_assigned_to_each_other(held, given, graph):
    param = Parameter(Tensor(np.zeros(held, np.float32)), name="p")

    class Net(msnb.nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = param

        def construct(self, value):
            return P.Assign()(self.p, value)

    msnb.context.set_context(mode=msnb.context.GRAPH_MODE if graph else msnb.context.PYNATIVE_MODE)
    assert Net()(Tensor(np.ones(given, np.float32))).shape == held
    assert param.shape == held and param.asnumpy().item() == 1
    for wrong in ((2,), (1, 2)):
        with pytest.raises(ValueError, match="shape of the Parameter"):
            Net()(Tensor(np.ones(wrong, np.float32)))
