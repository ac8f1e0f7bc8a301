"""Initial values: their distribution, shape and type, and how they repeat."""

import math

import numpy as np
import pytest

import msnb as ms
from msnb.common import initializer as init
from msnb.common.initializer import initializer


@pytest.mark.parametrize(
    ("name", "value"),
    [("zeros", 0), ("zero", 0), ("ones", 1), ("One", 1), (init.Zero(), 0), (init.Constant(7), 7), (3, 3), (0.5, 0.5)],
)
def test_a_constant_fills_the_tensor(name, value):
    tensor = initializer(name, [2, 3], ms.float32)
    assert tensor.shape == (2, 3)
    assert tensor.dtype == ms.float32
    assert (tensor.asnumpy() == value).all()


def test_the_type_can_be_chosen():
    assert initializer("ones", (2,), ms.int32).dtype == ms.int32
    assert initializer("normal", (2,), ms.float16).dtype == ms.float16


@pytest.mark.parametrize(
    ("given", "std", "bound"),
    [
        ("normal", 0.01, None),
        (init.Normal(2.0), 2.0, None),
        ("uniform", 0.07 / math.sqrt(3), 0.07),
        (init.Uniform(2), 2 / math.sqrt(3), 2),
        ("TruncatedNormal", 0.01 * 0.8796, 0.02),
        ("xavier_uniform", math.sqrt(2 / 5000), math.sqrt(6 / 5000)),
        (init.XavierUniform(gain=2), 2 * math.sqrt(2 / 5000), 2 * math.sqrt(6 / 5000)),
        ("XavierNormal", math.sqrt(2 / 5000), None),
        ("he_uniform", math.sqrt(2 / 2000), math.sqrt(6 / 2000)),
        (init.HeUniform(negative_slope=math.sqrt(5)), math.sqrt(1 / 6000), math.sqrt(1 / 2000)),
        (init.HeUniform(mode="fan_out", nonlinearity="relu"), math.sqrt(2 / 3000), math.sqrt(6 / 3000)),
        ("HeNormal", math.sqrt(2 / 2000), None),
        (init.HeNormal(nonlinearity="tanh"), 5 / 3 / math.sqrt(2000), None),
        (init.VarianceScaling(2.0), math.sqrt(2 / 2000), None),
    ],
)
def test_random_values_have_the_deviation_and_bound_of_their_formula(given, std, bound):
    # fan_in is 500 * 2 * 2 = 2000, fan_out 750 * 2 * 2 = 3000.
    values = initializer(given, [750, 500, 2, 2], ms.float32).asnumpy()
    assert abs(values.mean()) < 5 * std / math.sqrt(values.size)
    assert values.std() == pytest.approx(std, rel=0.01)
    if bound is not None:
        assert 0.99 * bound < np.abs(values).max() <= bound * 1.000001


def test_orthogonal_rows_are_orthonormal():
    rows = initializer(init.Orthogonal(), [4, 3, 3]).asnumpy().reshape(4, 9)
    np.testing.assert_allclose(rows @ rows.T, np.eye(4), atol=1e-6)


@pytest.mark.parametrize("name", ["normal", "uniform", "truncatednormal", "he_normal", "xavier_uniform"])
def test_set_seed_repeats_the_values_and_they_differ_from_call_to_call(name):
    ms.set_seed(3)
    first, second = (initializer(name, [4, 5]).asnumpy() for _ in range(2))
    assert (first != second).all()
    ms.set_seed(3)
    np.testing.assert_array_equal(initializer(name, [4, 5]).asnumpy(), first)
    np.testing.assert_array_equal(initializer(name, [4, 5]).asnumpy(), second)


def test_a_seed_of_its_own_repeats_normal():
    values = []
    for _ in range(2):
        normal = init.Normal()
        normal.seed = 5
        values.append(initializer(normal, [3]).asnumpy())
    np.testing.assert_array_equal(*values)


def test_an_initializer_of_ones_own_works():
    class Two(init.Initializer):
        def _initialize(self, arr):
            init._assignment(arr, 2)

    assert (initializer(Two(), [2, 2], ms.int32).asnumpy() == 2).all()


def test_a_tensor_is_taken_as_it_is_when_its_shape_fits():
    tensor = ms.Tensor(np.ones((2, 3), np.float32))
    assert initializer(tensor, [2, 3]) is tensor
    with pytest.raises(ValueError, match=r"\[2, 3\].*\[3, 2\]"):
        initializer(tensor, [3, 2])


def test_to_tensor_and_init_data_give_the_tensor():
    tensor = initializer("ones", [2])
    assert (tensor.to_tensor().asnumpy() == 1).all()
    assert (tensor.init_data().asnumpy() == 1).all()


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (TypeError, ([""], [2, 2])),
        (TypeError, (None, [2, 2])),
        (ValueError, ("no_such_name", [2, 2])),
        (ValueError, ("ones", [2, 0])),
        (ValueError, ("ones", [2, 1.5])),
        (ValueError, ("ones", [-1])),
        (ValueError, ("ones", None)),
        (ValueError, ("xavier_uniform", [6])),
        (ValueError, (init.HeUniform(), [6])),
        (ValueError, (init.HeUniform(mode="fan"), [6, 6])),
        (ValueError, (init.HeUniform(nonlinearity="none"), [6, 6])),
    ],
)
def test_a_wrong_argument_is_refused(error, arguments):
    with pytest.raises(error):
        initializer(*arguments)


def test_the_drawing_functions_that_libraries_import_return_arrays_and_follow_the_seed():
    def draw():
        return (
            init._init_random_uniform(3.0, 5.0, (1000,)),
            init._init_random_normal(10, 0.1, (1000,)),
            init._init_truncated_normal(-2, 2, 1.0, 0.5, (1000,)),
        )

    ms.set_seed(4)
    uniform, normal, truncated = first = draw()
    assert all(isinstance(values, np.ndarray) and values.dtype == np.float32 for values in first)
    assert 3 <= uniform.min() < 3.1 and 4.9 < uniform.max() <= 5
    assert abs(normal.mean() - 10) < 0.02 and abs(normal.std() - 0.1) < 0.02
    assert 0 <= truncated.min() < 0.1 and 1.9 < truncated.max() <= 2
    ms.set_seed(4)
    assert all(map(np.array_equal, first, draw()))
