"""Integers divided by 0, floats that are no integers, batches without rows: as MindSpore 2.7.1 has them on a CPU."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, mint, nn, ops
from msnb.ops import operations as P
from msnb.ops.operations import _inner_ops

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_an_integer_divided_by_zero_is_the_nearest_to_infinity(dtype):
    x, y = Tensor(np.array([5, 0, 7]).astype(dtype)), Tensor(np.zeros(3, dtype))
    info = np.iinfo(dtype)
    if dtype in SIGNED:
        x = x * Tensor(np.array([1, 1, -1], dtype))
    want = np.array([info.max, 0, info.min if dtype in SIGNED else info.max], dtype)
    for quotient in (x // y, P.FloorDiv()(x, y), P.Div()(x, y), P.RealDiv()(x, y), P.TruncateDiv()(x, y)):
        assert quotient.asnumpy().dtype == dtype
        np.testing.assert_array_equal(quotient.asnumpy(), want)


@pytest.mark.parametrize("dtype", SIGNED + ("uint8",))
def test_a_remainder_of_zero_is_no_number(dtype):
    x, y = Tensor(np.array([5, 0, 7], dtype)), Tensor(np.zeros(3, dtype))
    none = np.iinfo(dtype).min if dtype in ("int32", "int64") else 0
    np.testing.assert_array_equal((x % y).asnumpy(), [none] * 3)
    np.testing.assert_array_equal(P.Mod()(x, y).asnumpy(), [none, 0, none])
    np.testing.assert_array_equal(P.TruncateMod()(x, y).asnumpy(), [0, 0, 0])


ODD = np.array([np.nan, np.inf, -np.inf, 3e9, -3e9, 1e20, -1e20, 300.0, -300.0, -1.5], np.float32)
LEAST = {"int32": -(2**31), "int64": -(2**63)}
CASTS = {
    "int8": [0, 0, 0, 0, 0, 0, 0, 44, -44, -1],
    "int16": [0, 0, 0, 0, 0, 0, 0, 300, -300, -1],
    "int32": [LEAST["int32"]] * 7 + [300, -300, -1],
    "int64": [LEAST["int64"]] * 3 + [3000000000, -3000000000] + [LEAST["int64"]] * 2 + [300, -300, -1],
    "uint8": [0, 0, 0, 0, 0, 0, 0, 44, 212, 255],
    "uint16": [0, 0, 0, 0, 0, 0, 0, 300, 65236, 65535],
    "uint32": [0, 0, 0, 3000000000, 1294967296, 0, 0, 300, 4294966996, 4294967295],
    "uint64": [2**63, 0, 2**63, 3000000000, 2**64 - 3000000000, 0, 2**63, 300, 2**64 - 300, 2**64 - 1],
}


@pytest.mark.parametrize("dtype", CASTS)
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_what_is_no_integer_is_converted_as_mindspore_does(source, dtype):
    mask = np.isin(np.arange(10), (3, 4, 5, 6), invert=True) if source == "float16" else np.full(10, True)
    got = ops.cast(Tensor(ODD[mask].astype(source)), getattr(ms, dtype)).asnumpy()
    np.testing.assert_array_equal(got, np.array(CASTS[dtype], dtype)[mask])


@pytest.mark.parametrize("batch", [np.ones((0, 3)), np.full((2, 3), np.inf), np.full((2, 3), np.nan)])
def test_a_batch_without_a_mean_leaves_the_statistics_as_they_were(batch):
    net = nn.BatchNorm1d(3).set_train()
    net(Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)))
    before = net.moving_mean.asnumpy().copy(), net.moving_variance.asnumpy().copy()
    net(Tensor(batch.astype(np.float32)))
    np.testing.assert_array_equal((net.moving_mean.asnumpy(), net.moving_variance.asnumpy()), before)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: Tensor([[1, 2], [3]]), TypeError),
        (lambda: nn.Flatten()(3), TypeError),
        (lambda: ms.Model(nn.Dense(1, 1)).train(-1, None), ValueError),
    ],
)
def test_an_error_is_of_mindspores_class(call, error):
    with pytest.raises(error):
        call()


def test_decoded_boxes_end_at_the_edge_of_the_image():
    decode = P.BoundingBoxDecode(max_shape=(30, 20))
    boxes = Tensor(np.array([[0, 0, 90, 90]], np.float32))
    np.testing.assert_array_equal(decode(boxes, Tensor(np.zeros((1, 4), np.float32))).asnumpy(), [[0, 0, 20, 30]])


def test_diagonals_by_a_tensor_of_matrices_are_those_of_r1_1():
    assist = Tensor(np.arange(-12, 0).reshape(3, 2, 2), ms.float32)
    x = Tensor([[[-1, 0], [0, 1]]] * 3, ms.float32)
    put = _inner_ops.MatrixDiag()(Tensor([1, -1], ms.float32), assist)
    assert put.asnumpy().tolist() == [[[-12, 11], [-10, 9]], [[-8, 7], [-6, 5]], [[-4, 3], [-2, 1]]]
    assert _inner_ops.MatrixDiagPart()(x, assist).asnumpy().tolist() == [[12, -9], [8, -5], [4, -1]]
    ones = Tensor([[[1, 0], [0, 1]]] * 3, ms.float32)
    changed = _inner_ops.MatrixSetDiag()(x, Tensor([[-1, 2], [-1, 1], [-1, 1]], ms.float32), ones)
    assert changed.asnumpy().tolist() == [[[-1, 0], [0, 2]], [[-1, 0], [0, 1]], [[-1, 0], [0, 1]]]


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_means_of_no_bins_are_empty(dtype):
    volume = Tensor(np.ones((1, 2, 3, 4), dtype))
    assert (
        ops.adaptive_avg_pool3d(volume, (None, 0, 2)).shape
        == nn.AdaptiveAvgPool3d((None, 0, 2))(volume).shape
        == (1, 2, 0, 2)
    )
    if dtype == "float32":
        assert (
            ops.adaptive_avg_pool2d(volume, (0, 2)).shape == nn.AdaptiveAvgPool2d((0, 2))(volume).shape == (1, 2, 0, 2)
        )
        assert ms.grad(lambda x: ops.adaptive_avg_pool2d(x, 0).sum())(volume).asnumpy().sum() == 0
    for pool in (ops.adaptive_max_pool2d, ops.adaptive_avg_pool1d):
        with pytest.raises(ValueError, match="positive"):
            pool(volume[0], 0)


@pytest.mark.parametrize("align_corners", [False, True])
def test_the_grid_of_an_image_without_pixels_is_empty(align_corners):
    maps = Tensor(np.ones((1, 2, 3), np.float32))
    assert ops.affine_grid(maps, (1, 3, 0, 3), align_corners).shape == (1, 0, 3, 2)


@pytest.mark.parametrize(("settings", "shape"), [({}, (4, 6)), ({"start_dim": 0, "end_dim": 1}, (12, 2))])
def test_flatten_in_column_major_order_reverses_the_axes_first(settings, shape):
    x = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(ops.flatten(Tensor(x), "F", **settings).asnumpy(), x.T.reshape(shape))


@pytest.mark.parametrize("compiled", [lambda function: function, ms.ms_function])
def test_clip_by_norm_refuses_an_infinite_norm_in_both_modes(compiled):
    clip = compiled(lambda x: ops.clip_by_norm(x, 0.5, error_if_nonfinite=True))
    np.testing.assert_allclose(clip(Tensor([3.0, 4.0])).asnumpy(), [0.3, 0.4], rtol=1e-5)
    with pytest.raises(RuntimeError, match="finite norm"):
        clip(Tensor([3.0, np.inf])).asnumpy()


def test_the_gradient_of_an_embedding_is_divided_by_the_frequency_of_its_index():
    table = Tensor(np.ones((3, 2), np.float32))
    gradient = ops.GradOperation()(lambda w: ops.embedding(Tensor([0, 1, 0]), w, scale_grad_by_freq=True))(table)
    assert gradient.asnumpy().tolist() == [[1, 1], [1, 1], [0, 0]]


def test_scalars_and_lengths_of_0_are_arguments_like_others():
    scalar, vector = Tensor(2.5), Tensor([3.0, 1.0])
    assert mint.eye(0, 3).shape == (0, 3) and ops.eye(2, 0).shape == (2, 0)
    assert ops.one_hot(Tensor([0, 1]), 0, 1.0, 0.0).shape == (2, 0)
    assert mint.gather(scalar, 0, Tensor(0)).asnumpy() == mint.transpose(scalar, 0, -1).asnumpy() == 2.5
    assert mint.masked_select(scalar, scalar > 0).asnumpy().tolist() == [2.5]
    assert [x.asnumpy().tolist() for x in mint.meshgrid(scalar, vector)] == [[[2.5, 2.5]], [[3.0, 1.0]]]
