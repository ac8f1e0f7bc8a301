"""The Fourier transforms of mindspore.numpy: scipy's values, their errors, a gradient."""

import numpy as np
import pytest
import scipy.fft

import msnb
from msnb import Tensor, ops
from msnb import numpy as mnp

X = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
C = (X + 1j * X[::-1]).astype(np.complex64)
REAL = ("rfft", "rfft2", "rfftn", "ihfft", "ihfft2", "ihfftn")
TRANSFORMS = [n for n in mnp.fft.__all__ if "freq" not in n and "shift" not in n]


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_is_scipys(name):
    x = X if name in REAL else C
    if name[-1] in "2n":
        keywords = {"s": (4, 6), "axes": (0, 1), "norm": "forward"}
    else:
        keywords = {"n": 6, "axis": 1, "norm": "ortho"}
    for settings in ({}, keywords):
        result, expected = getattr(mnp.fft, name)(Tensor(x), **settings), getattr(scipy.fft, name)(x, **settings)
        assert result.shape == expected.shape and result.asnumpy().dtype == expected.dtype
        np.testing.assert_allclose(result.asnumpy(), expected, 1e-4, 1e-4)


def test_shifts_and_frequencies_are_numpys():
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 1, (0, -1)):
            result = getattr(mnp.fft, name)(Tensor(X), axes)
            np.testing.assert_array_equal(result.asnumpy(), getattr(np.fft, name)(X, axes))
    for name in ("fftfreq", "rfftfreq"):
        result = getattr(mnp.fft, name)(5, 0.5)
        assert result.dtype == msnb.float32
        np.testing.assert_allclose(result.asnumpy(), getattr(np.fft, name)(5, 0.5), 1e-6)


def test_a_spectrum_has_a_gradient_and_stands_in_a_graph():
    def power(x):
        return ops.square(ops.abs(mnp.fft.fft(x))).sum()

    x = Tensor(X[0, 0])
    np.testing.assert_allclose(ops.grad(power)(x).asnumpy(), 2 * 5 * X[0, 0], 1e-4)  # Parseval
    np.testing.assert_allclose(msnb.ms_function(power)(x).asnumpy(), power(x).asnumpy(), 1e-5)


@pytest.mark.parametrize(
    "error, says, call",
    [
        (ValueError, "fft', 'axis'", lambda: mnp.fft.fft(Tensor(X), axis=5)),
        (ValueError, "fft', 'norm'", lambda: mnp.fft.fft(Tensor(X), norm="most")),
        (TypeError, "ifft', 'a'", lambda: mnp.fft.ifft(None)),
        (ValueError, "fftn', 's'", lambda: mnp.fft.fftn(Tensor(X), (1, 2), (0,))),
        (ValueError, "fft2', 'axes'", lambda: mnp.fft.fft2([1.0, 2.0])),
        (ValueError, "rfftfreq', 'n'", lambda: mnp.fft.rfftfreq(0)),
    ],
)
def test_an_error_names_the_function_and_the_argument(error, says, call):
    with pytest.raises(error, match=f"For '{says}"):
        call()
