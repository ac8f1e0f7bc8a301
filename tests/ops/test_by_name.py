"""A Primitive made by a name alone computes what is called by that name."""

import pytest

import msnb as ms
from msnb import Tensor, ops
from msnb.ops import _constants
from msnb.ops.operations import _inner_ops as inner

NUMBERS = {"Add": 7, "Sub": 3, "Mul": 10, "Div": 2.5, "Floordiv": 2, "Mod": 1, "Pow": 25}


@pytest.mark.parametrize("name", NUMBERS)
def test_an_operator_of_numbers(name):
    assert ops.Primitive(getattr(_constants, f"kScalar{name}"))(5, 2) == NUMBERS[name]


def test_every_name_of_constants_is_called():
    one = {"kScalarTrunc": 2, "kScalarFloor": 2, "kScalarUadd": 2.5, "kScalarUsub": -2.5}
    assert {name: ops.Primitive(getattr(_constants, name))(2.5) for name in one} == one
    assert ops.Primitive(_constants.kMakeTuple)(1, 2) == (1, 2)
    assert ops.Primitive(_constants.kTupleGetItem)((1, 2), 1) == 2


def test_an_operator_of_tensors_with_its_attributes():
    x = Tensor([[1.0, -2.0], [3.0, 4.0]])
    assert ops.Primitive("ReLU")(x).asnumpy().tolist() == [[1.0, 0.0], [3.0, 4.0]]
    total = ops.Primitive("ReduceSum").add_prim_attr("keep_dims", True)(x, 1)
    assert ms.ms_function(lambda x: ops.Primitive("ReLU")(x))(x).shape == (2, 2) and total.shape == (2, 1)


def test_an_attribute_of_other_years_that_is_an_input_now_is_given_as_such():
    x = Tensor(ms.numpy.ones((1, 1, 2, 2, 2)))
    larger = ops.Primitive("UpsampleTrilinear3D").add_prim_attr("output_size", [4, 3, 2]).add_prim_attr("scales", [])
    assert larger(x).shape == (1, 1, 4, 3, 2)


def test_an_unknown_name_is_refused():
    with pytest.raises(TypeError, match="no operator 'Nothing'"):
        ops.Primitive("Nothing")(1)


def test_a_known_shape_is_no_error_and_an_unknown_one_is():
    x = Tensor([1.0])
    check = inner.ErrorOnDynamicShapeInput()
    assert check(x) is x and check([2, 3]) == [2, 3]
    with pytest.raises(ValueError, match="dynamically shaped"):
        check.infer_shape([1, -1])
