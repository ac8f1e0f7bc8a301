"""Layers of MindSpore 2 that stand for a function: the same numbers, in both modes, and refusals by name."""

import numpy as np
import pytest

from msnb import Tensor, context, nn, ops

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
VOLUME = np.arange(64, dtype=np.float32).reshape(1, 2, 2, 4, 4)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize(
    ("net", "x", "wanted"),
    [
        (nn.AdaptiveAvgPool1d(2), X, X.reshape(2, 3, 2, 2).mean(-1)),
        (nn.AdaptiveMaxPool1d(2), X, X.reshape(2, 3, 2, 2).max(-1)),
        (nn.AdaptiveAvgPool3d((1, None, 2)), VOLUME, VOLUME.reshape(1, 2, 2, 4, 2, 2).mean((2, 5))[:, :, None]),
        (nn.AdaptiveMaxPool3d(1), VOLUME, VOLUME.max((2, 3, 4), keepdims=True)),
        (nn.Upsample(scale_factor=2.0, recompute_scale_factor=True), X, X.repeat(2, -1)),
        (nn.Upsample(7, mode="linear", align_corners=True), X, X[..., :1] + np.arange(7) / 2),
        (nn.Dropout1d(0.9), X, X),
        (nn.Dropout3d(0.9), VOLUME, VOLUME),
    ],
)
def test_what_it_computes(net, x, wanted, mode):
    context.set_context(mode=mode)
    np.testing.assert_allclose(net(Tensor(x)).asnumpy(), wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE])
@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (nn.Dropout1d, (40, 50, 3)),
        (nn.Dropout1d, (2000, 3)),
        (nn.Dropout2d, (40, 50, 2, 2)),
        (nn.Dropout3d, (40, 50, 2, 1, 2)),
    ],
)
def test_whole_channels_go(make, shape, mode):
    context.set_context(mode=mode)
    found = make(0.25).set_train()(Tensor(np.ones(shape, np.float32))).asnumpy()
    channels = found.reshape(2000, -1)
    assert set(np.unique(found)) == {np.float32(0), np.float32(1 / 0.75)}
    assert (channels == channels[:, :1]).all() and 0.2 < (channels == 0).mean() < 0.3
    assert not make(1.0).set_train()(Tensor(np.ones(shape, np.float32))).asnumpy().any()


@pytest.mark.parametrize(
    ("error", "call", "said"),
    [
        (ValueError, lambda: nn.Dropout2d(1.5), "'p'"),
        (ValueError, lambda: nn.Dropout1d().set_train()(ops.ones((2, 3, 4, 5))), "2 or 3 dimensions"),
        (ValueError, lambda: nn.AdaptiveAvgPool3d((1, 2)), "tuple of three"),
        (ValueError, lambda: nn.AdaptiveMaxPool1d(0), "output_size"),
        (ValueError, lambda: nn.Upsample()(Tensor(X)), "scale_factor"),
    ],
)
def test_what_does_not_fit_is_named(error, call, said):
    with pytest.raises(error, match=said):
        call()
