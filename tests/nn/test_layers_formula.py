"""Layers that MindSpore 2.7.1 lacks, or has wrong on CPU, against their formula in numpy."""

import math

import jax
import numpy as np
import pytest
from scipy import special

import msnb as ms
from msnb import context, nn, ops

RANDOM = np.random.RandomState(0)


def _f(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


def _t(x):
    return ms.Tensor(np.asarray(x))


@pytest.fixture(autouse=True)
def _graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


def _close(got, expected, tolerance=1e-5):
    np.testing.assert_allclose(got.asnumpy(), expected, rtol=tolerance, atol=tolerance)


def test_clip_by_norm_scales_rows_that_are_too_long():
    x = _f(3, 4)
    norm = np.sqrt((x**2).sum(1, keepdims=True))
    _close(nn.ClipByNorm(axis=1)(_t(x), ms.Tensor(1.5, ms.float32)), x * 1.5 / np.maximum(norm, 1.5))


def test_the_gradient_of_clip_by_norm_is_finite_at_zero():
    gradient = ops.GradOperation()(nn.ClipByNorm())(_t(np.zeros((2, 2), np.float32)), ms.Tensor(1.0, ms.float32))
    assert np.isfinite(gradient.asnumpy()).all()


def test_embedding_lookup_cuts_vectors_to_max_norm():
    net = nn.EmbeddingLookup(7, 4, max_norm=0.3)
    net.embedding_table.set_data(_t(_f(7, 4)))
    rows = net.embedding_table.asnumpy()[[[1, 2], [6, 0]]]
    norm = np.sqrt((rows**2).sum(-1, keepdims=True))
    _close(net(_t(np.array([[1, 2], [6, 0]], np.int32))), rows * 0.3 / np.maximum(norm, 0.3))


@pytest.mark.parametrize("mode", [np.tril, np.triu])
@pytest.mark.parametrize("k", [-1, 0, 2])
def test_triangles_are_those_of_numpy(mode, k):
    x = RANDOM.randint(0, 9, (2, 3, 4))
    layer = nn.Tril() if mode is np.tril else nn.Triu()
    np.testing.assert_array_equal(layer(_t(x), k).asnumpy(), mode(x, k))


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (2, 4, 3)])
def test_diagonals_go_in_and_out_of_matrices(shape):
    x, least = _f(*shape), min(shape[-2:])
    diagonal = _f(*shape[:-2], least)
    part = np.diagonal(x, axis1=-2, axis2=-1)
    _close(nn.MatrixDiagPart()(_t(x)), part)
    matrix = nn.MatrixSetDiag()(_t(x), _t(diagonal))
    _close(nn.MatrixDiagPart()(matrix), diagonal)
    rows = np.arange(least)
    rest = matrix.asnumpy().copy()
    rest[..., rows, rows] = part
    np.testing.assert_allclose(rest, x)
    _close(nn.MatrixDiagPart()(nn.MatrixDiag()(_t(diagonal))), diagonal)


def test_unfold_puts_the_values_of_a_patch_on_the_channel_axis():
    x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    got = nn.Unfold([1, 2, 3, 1], [1, 2, 1, 1], [1, 1, 1, 1])(_t(x)).asnumpy()
    assert got.shape == (2, 18, 2, 3)
    np.testing.assert_array_equal(got[1, :, 1, 2], x[1, :, 2:4, 2:5].transpose(1, 2, 0).ravel())
    dilated = nn.Unfold([1, 2, 2, 1], [1, 1, 1, 1], [1, 2, 3, 1])(_t(x)).asnumpy()
    np.testing.assert_array_equal(dilated[0, :, 1, 1], x[0, :, 1:4:2, 1:5:3].transpose(1, 2, 0).ravel())
    same = nn.Unfold([1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], padding="same")(_t(x)).asnumpy()
    assert same.shape == (2, 27, 2, 3)


def test_resize_bilinear_keeps_corners_when_they_are_aligned():
    x = _f(1, 2, 3, 4)
    got = nn.ResizeBilinear()(_t(x), size=(5, 7), align_corners=True).asnumpy()
    np.testing.assert_allclose(got[..., ::2, ::2], x, rtol=1e-5)
    assert nn.ResizeBilinear()(_t(x), scale_factor=2).shape == (1, 2, 6, 8)


def test_the_regularizer_is_the_scaled_sum_of_absolute_values():
    x = _f(3, 4)
    _close(nn.L1Regularizer(0.5)(_t(x)), 0.5 * np.abs(x).sum())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((5,), [0, 1, 2, 3, 4]), ((1, 8, 2), [1, 3, 5, 7]), ((0.5, 2.0, 0.5), [0.5, 1.0, 1.5]), ((3, 0, -1), [3, 2, 1])],
)
def test_range_counts_up_to_its_limit(arguments, expected):
    got = nn.Range(*arguments)()
    np.testing.assert_array_equal(got.asnumpy(), expected)
    assert got.dtype == (ms.float32 if isinstance(expected[0], float) else ms.int32)


def test_special_functions_are_those_of_scipy():
    x, y = RANDOM.uniform(0.1, 12, (2, 20)).astype(np.float32)
    _close(nn.LGamma()(_t(x)), special.gammaln(x), 1e-4)
    _close(nn.LGamma()(_t(-x)), special.gammaln(-x), 1e-3)
    _close(nn.DiGamma()(_t(x)), special.digamma(x), 1e-4)
    _close(nn.IGamma()(_t(x), _t(y)), special.gammainc(x, y), 1e-4)
    _close(nn.LBeta()(_t(x), _t(y)), special.betaln(x, y), 1e-4)
    assert np.isinf(nn.LGamma()(_t(np.array([0, -1, -2], np.float32))).asnumpy()).all()
    assert np.isnan(nn.DiGamma()(_t(np.array([-1, -2], np.float32))).asnumpy()).all()
    _close(ops.GradOperation()(nn.LGamma())(_t(x)), special.digamma(x), 1e-4)


@pytest.mark.parametrize("axis", [0, (0, 1), [1], ()])
@pytest.mark.parametrize("keep_dims", [False, True])
def test_log_sum_exp_does_not_overflow(axis, keep_dims):
    x = _f(3, 4) * 5 + 200
    expected = special.logsumexp(x, axis=tuple(axis) or None if not isinstance(axis, int) else axis, keepdims=keep_dims)
    _close(nn.ReduceLogSumExp(axis, keep_dims)(_t(x)), expected)


def test_the_gradient_of_log_sum_exp_is_softmax():
    x = _f(3, 4)
    _close(ops.GradOperation()(nn.ReduceLogSumExp(1))(_t(x)), special.softmax(x, 1))


@pytest.mark.parametrize("axis", [None, 1, (0, 2)])
@pytest.mark.parametrize("keep_dims", [None, True])
def test_moments_are_mean_and_variance(axis, keep_dims):
    x = _f(3, 4, 2)
    mean, variance = nn.Moments(axis, keep_dims)(_t(x))
    _close(mean, x.mean(axis, keepdims=bool(keep_dims)))
    _close(variance, x.var(axis, keepdims=bool(keep_dims)))


def test_inverse_and_determinant_of_a_positive_definite_matrix():
    a = np.array([[4, 12, -16], [12, 37, -43], [-16, -43, 98]], np.float32)
    _close(nn.MatInverse()(_t(a)), np.linalg.inv(a), 1e-2)
    _close(nn.MatDet()(_t(a)), 36.0, 1e-3)


@pytest.mark.parametrize(
    ("shape1", "shape2", "transpose1", "transpose2"),
    [
        ((3,), (3,), False, False),
        ((2, 3), (3,), False, False),
        ((3,), (5, 3, 2), False, False),
        ((3, 2), (4, 3), True, True),
        ((5, 1, 2, 3), (4, 3, 2), False, False),
        ((4, 3, 2), (3, 5), True, False),
    ],
)
def test_matmul_is_that_of_numpy(shape1, shape2, transpose1, transpose2):
    x1, x2 = _f(*shape1), _f(*shape2)
    swapped = [np.swapaxes(x, -1, -2) if t else x for x, t in ((x1, transpose1), (x2, transpose2))]
    _close(nn.MatMul(transpose1, transpose2)(_t(x1), _t(x2)), np.matmul(*swapped))


def test_images_are_similar_to_themselves_only():
    x, y = (RANDOM.uniform(0, 1, (2, 3, 16, 16)).astype(np.float32) for _ in range(2))
    for net in (nn.SSIM(filter_size=5), nn.MSSSIM(power_factors=(0.5, 0.5), filter_size=5)):
        assert net(_t(x), _t(x)).shape == (2,)
        _close(net(_t(x), _t(x)), 1.0)
        assert (net(_t(x), _t(y)).asnumpy() < 0.5).all()


def test_similarity_is_that_of_its_definition():
    x, y = (RANDOM.uniform(0, 255, (1, 1, 5, 5)).astype(np.float32) for _ in range(2))
    positions = np.arange(-2, 3) ** 2
    window = np.exp(-(positions[:, None] + positions) / (2 * 1.5**2))
    window /= window.sum()
    mean = [(window * a[0, 0]).sum() for a in (x, y)]
    xx, yy, xy = ((window * a[0, 0] * b[0, 0]).sum() for a, b in ((x, x), (y, y), (x, y)))
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    expected = (2 * mean[0] * mean[1] + c1) / (mean[0] ** 2 + mean[1] ** 2 + c1)
    expected *= (2 * (xy - mean[0] * mean[1]) + c2) / (xx - mean[0] ** 2 + yy - mean[1] ** 2 + c2)
    _close(nn.SSIM(max_val=255.0, filter_size=5)(_t(x), _t(y)), [expected], 1e-3)


def test_the_window_is_not_a_trainable_parameter():
    assert [(p.name, p.requires_grad) for p in nn.SSIM().get_parameters()] == [("conv.weight", False)]


def test_the_signal_to_noise_ratio_is_in_decibels():
    x = np.zeros((2, 1, 4, 4), np.uint8)
    _close(nn.PSNR(max_val=255)(_t(x), _t(x + 51)), 20 * math.log10(5), 1e-4)
    y = x.astype(np.float32)
    _close(nn.PSNR()(_t(y), _t(y + 0.1)), 20.0, 1e-4)


def test_instance_norm_normalises_each_channel_of_each_image():
    net, x = nn.InstanceNorm2d(3), _f(2, 3, 4, 4)
    mean, variance = x.mean((2, 3), keepdims=True), x.var((2, 3), keepdims=True)
    _close(net(_t(x)), (x - mean) / np.sqrt(variance + 1e-5), 1e-4)


def _lstm(x, h, c, weight, layers, bidirectional, has_bias):
    """nn.LSTM in numpy; weights as in its docstring."""
    size, directions, taken = h.shape[-1], 1 + bidirectional, 0

    def take(*shape):
        nonlocal taken
        taken += math.prod(shape)
        return weight[taken - math.prod(shape) : taken].reshape(shape)

    taken_in = [x.shape[-1] if layer == 0 else size * directions for layer in range(layers) for _ in range(directions)]
    if has_bias or jax.default_backend() != "cpu":
        matrices = [(take(4 * size, n), take(4 * size, size)) for n in taken_in]
    else:  # a CPU's packing
        matrices = list(zip([take(4 * size, n) for n in taken_in], [take(4 * size, size) for _ in taken_in]))
    biases = [take(2, 4 * size).sum(0) if has_bias else np.zeros(4 * size) for _ in matrices]
    last_h, last_c = [], []
    for layer in range(layers):
        outputs = []
        for direction in range(directions):
            index = layer * directions + direction
            (w, v), b = matrices[index], biases[index]
            ht, ct, out = h[index], c[index], [None] * len(x)
            for t in range(len(x))[:: -1 if direction else 1]:
                i, f, g, o = np.split(x[t] @ w.T + ht @ v.T + b, 4, -1)
                ct = special.expit(f) * ct + special.expit(i) * np.tanh(g)
                ht = special.expit(o) * np.tanh(ct)
                out[t] = ht
            outputs.append(np.stack(out))
            last_h.append(ht)
            last_c.append(ct)
        x = np.concatenate(outputs, -1)
    return x, np.stack(last_h), np.stack(last_c)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_lstm_is_that_of_its_formula(bidirectional, has_bias):
    net = nn.LSTM(3, 4, 2, has_bias=has_bias, bidirectional=bidirectional)
    x, h, c = _f(5, 2, 3), *(_f(2 * (1 + bidirectional), 2, 4) for _ in range(2))
    output, (hn, cn) = net(_t(x), (_t(h), _t(c)))
    expected = _lstm(x, h, c, net.weight.asnumpy().ravel(), 2, bidirectional, has_bias)
    for got, value in zip((output, hn, cn), expected, strict=True):
        _close(got, value, 1e-5)


def test_lstm_takes_the_batch_first_when_asked():
    net = nn.LSTM(3, 4, batch_first=True)
    twin = nn.LSTM(3, 4)
    twin.weight.set_data(net.weight)
    x, h = _f(2, 5, 3), _f(1, 2, 4)
    output, _ = net(_t(x), (_t(h), _t(h)))
    expected, _ = twin(_t(x.transpose(1, 0, 2)), (_t(h), _t(h)))
    _close(output, expected.asnumpy().transpose(1, 0, 2))


def test_the_cell_takes_one_bias_per_gate():
    net = nn.LSTMCell(3, 4)
    x, h, weight, bias = _f(5, 2, 3), _f(1, 2, 4), _f(16 * 7), _f(16)
    got = net(_t(x), _t(h), _t(h), _t(np.concatenate([weight, bias]).reshape(-1, 1, 1)))
    expected = _lstm(x, h, h, np.concatenate([weight, bias, 0 * bias]), 1, False, True)
    for i in range(3):
        _close(got[i], expected[i], 1e-5)


def test_sampled_softmax_over_all_classes_is_softmax_cross_entropy():
    weights, biases, inputs = _f(5, 3), _f(5), _f(4, 3)
    labels = np.array([[0], [1], [2], [3]], np.int32)
    ones = ms.Tensor(np.ones((4, 1), np.float32)), ms.Tensor(np.ones(2, np.float32))
    net = nn.SampledSoftmaxLoss(2, 5, sampled_values=(ms.Tensor(np.array([4, 4], np.int32)), *ones))
    logits = inputs @ weights.T + biases
    chosen = np.stack([logits[np.arange(4), labels[:, 0]], logits[:, 4], logits[:, 4]], 1)
    _close(net(_t(weights), _t(biases), _t(labels), _t(inputs)), special.logsumexp(chosen, 1) - chosen[:, 0])


def test_sampled_softmax_samples_and_has_a_gradient():
    net = nn.SampledSoftmaxLoss(3, 7)
    arguments = _t(_f(7, 3)), _t(_f(7)), _t(np.array([[0], [1]], np.int32)), _t(_f(2, 3))
    gradient = ops.GradOperation()(net)(*arguments).asnumpy()
    assert gradient.shape == (7, 3)
    assert np.abs(gradient).sum() > 0


@pytest.mark.parametrize(
    ("net", "shapes"),
    [
        (nn.ClipByNorm(axis=1), [(3, 4), ()]),
        (nn.MatrixSetDiag(), [(2, 3), (2,)]),
        (nn.Unfold([1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "same"), [(1, 2, 4, 4)]),
        (nn.ReduceLogSumExp(1), [(3, 4)]),
        (nn.Moments(axis=1), [(3, 4)]),
        (nn.MatMul(transpose_x2=True), [(2, 3, 4), (5, 4)]),
        (nn.SSIM(filter_size=3), [(1, 2, 6, 6), (1, 2, 6, 6)]),
        (nn.InstanceNorm2d(2), [(2, 2, 3, 3)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_pynative_mode_gives_the_same(net, shapes):
    inputs = [_t(np.abs(_f(*shape)) if shape else np.float32(0.7)) for shape in shapes]
    results = []
    for mode in (context.GRAPH_MODE, context.PYNATIVE_MODE):
        context.set_context(mode=mode)
        output = net(*inputs)
        results.append([x.asnumpy() for x in (output if isinstance(output, tuple) else (output,))])
    for graph, pynative in zip(*results, strict=True):
        np.testing.assert_allclose(graph, pynative, rtol=1e-6, atol=1e-6)
