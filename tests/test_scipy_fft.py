"""`mindspore.scipy.fft` beside scipy itself, in both modes."""

import numpy as np
import pytest
from scipy import fft as by_scipy

import msnb as ms
from msnb import Tensor, context, ops
from msnb.scipy import fft

X = np.random.default_rng(4).normal(size=(3, 4, 5))


@pytest.fixture(params=[context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["graph", "pynative"], autouse=True)
def mode(request):
    context.set_context(mode=request.param)


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"n": 3}, {"n": 7, "axis": 1, "norm": "ortho"}])
@pytest.mark.parametrize("name", ["dct", "idct"])
def test_a_transform_along_one_axis_is_scipys_orthonormal_one(name, options):
    expected = getattr(by_scipy, name)(X, **options | {"norm": "ortho"})
    np.testing.assert_allclose(getattr(fft, name)(Tensor(X), **options).asnumpy(), expected, atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"axes": (0, -1)}, {"s": (2, 6)}, {"s": (4,), "axes": (1,)}])
@pytest.mark.parametrize("name", ["dctn", "idctn"])
def test_a_transform_along_axes_is_scipys_orthonormal_one(name, options):
    expected = getattr(by_scipy, name)(X, **options | {"norm": "ortho"})
    np.testing.assert_allclose(getattr(fft, name)(Tensor(X), **options).asnumpy(), expected, atol=1e-10)


def test_the_gradient_of_a_transform_is_its_inverse():
    cotangent = Tensor(X[0], ms.float32)
    gradient = ops.GradOperation(sens_param=True)(fft.dct)(Tensor(X[1], ms.float32), cotangent)
    np.testing.assert_allclose(gradient.asnumpy(), fft.idct(cotangent).asnumpy(), atol=1e-6)


@pytest.mark.parametrize("dtype", [ms.float16, ms.int64])
def test_narrow_and_integer_numbers_become_float32(dtype):
    assert fft.dct(Tensor([1, 2, 3], dtype)).dtype == ms.float32


def test_complex_numbers_are_transformed_by_their_components():
    z = X + 1j * X[::-1]
    expected = by_scipy.dct(z, norm="ortho")
    np.testing.assert_allclose(fft.dct(Tensor(z)).asnumpy(), expected, atol=1e-10)


@pytest.mark.parametrize(
    "options", [{"norm": "forward"}, {"norm": "backward"}, {"type": 1}, {"n": 0}, {"axis": 3}], ids=str
)
def test_what_mindspore_does_not_have_is_refused(options):
    with pytest.raises(ValueError, match="For 'dct'"):
        fft.dct(Tensor(X), **options)


def test_lengths_that_do_not_fit_the_axes_are_refused():
    with pytest.raises(ValueError, match="'s' should have a positive length for each of the axes"):
        fft.dctn(Tensor(X), s=(2, 0))
