"""Tensor and Parameter: creation, printing, interop, ownership."""

import copy
import pickle

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, ParameterTuple, Tensor
from msnb.core.compat.jax_private import from_numpy


@pytest.mark.parametrize(
    "value, dtype",
    [
        (1, ms.int64),
        (1.5, ms.float32),
        (True, ms.bool_),
        ([1, 2], ms.int64),
        ([1.0, 2], ms.float32),
        (np.float64(0.5), ms.float64),
        (np.ones(2, np.float16), ms.float16),
        (np.array([1, 2], np.uint8), ms.uint8),
        (((1, 2), (3, 4)), ms.int64),
    ],
)
def test_python_and_numpy_values_get_mindspores_dtype(value, dtype):
    assert Tensor(value).dtype == dtype


def test_a_dtype_argument_converts():
    assert Tensor([1, 2], ms.float16).dtype == ms.float16
    assert Tensor(2, ms.float32).asnumpy() == np.float32(2)


@pytest.mark.parametrize("value", ["text", None, object(), {1: 2}, ["a"]])
def test_what_is_no_array_is_refused_with_a_type_error(value):
    with pytest.raises(TypeError):
        Tensor(value)


def test_uneven_lists_are_refused():
    with pytest.raises(TypeError, match="unevenly"):
        Tensor([[1, 2], [3]])


def test_a_numpy_array_changed_afterwards_leaves_the_tensor_alone():
    array = np.ones(1 << 16, np.float32)  # a size that JAX would share
    tensor = Tensor(array)
    array[:] = 7
    assert (tensor.asnumpy() == 1).all()


def test_printing_is_mindspores():
    assert str(Tensor([1.0, 2.0])) == "[1. 2.]"
    assert repr(Tensor([1.0, 2.0])) == "Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])"
    assert repr(Tensor([[1, 2], [3, 4]])) == "Tensor(shape=[2, 2], dtype=Int64, value=\n[[1, 2],\n [3, 4]])"
    assert repr(Tensor(3)) == "Tensor(shape=[], dtype=Int64, value= 3)"
    assert str(ms.float32) == "Float32" and repr(ms.float32) == "mindspore.float32"
    assert f"{Tensor(2.5):.2f}" == "2.50"


def test_properties_describe_the_array():
    x = Tensor(np.zeros((2, 3), np.float32))
    assert (x.shape, x.size, x.ndim, x.dim(), x.itemsize, x.nbytes, x.strides) == ((2, 3), 6, 2, 2, 4, 24, (12, 4))


def test_only_one_element_has_a_truth_value():
    assert bool(Tensor([True])) and not Tensor(0)
    with pytest.raises(ValueError, match="one element"):
        bool(Tensor([1, 2]))


def test_hash_is_identity_and_comparison_with_other_things_is_false():
    x = Tensor([1, 2])
    assert hash(x) == hash(x) and {x: 1}[x] == 1
    assert (x == "text") is False and (x != "text") is True


def test_set_dtype_and_assign_value_change_in_place():
    x = Tensor([1, 2])
    assert x.set_dtype(ms.float32) is x and x.dtype == ms.float32
    assert x.assign_value(Tensor([5, 6])) is x and x.asnumpy().tolist() == [5, 6]


def test_numpy_jax_and_dlpack_read_a_tensor():
    x = Tensor([1.0, 2.0])
    assert np.asarray(x).tolist() == [1, 2] and np.sqrt(x).shape == (2,)
    assert isinstance(jnp.asarray(x), jax.Array) and jnp.sum(jnp.asarray(x)) == 3
    assert np.from_dlpack(x).tolist() == [1, 2]


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_tensors_and_parameters_are_copied_and_pickled(make):
    x, p = Tensor([1.0, 2.0]), Parameter(Tensor([1.0, 2.0]), name="w", requires_grad=False)
    assert make(x).asnumpy().tolist() == [1, 2]
    twin = make(p)
    assert isinstance(twin, Parameter) and (twin.name, twin.requires_grad) == ("w", False)
    twin.set_data(Tensor([9.0, 9.0]))
    assert p.asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, Tensor.copy, lambda t: pickle.loads(pickle.dumps(t))])
def test_attributes_of_a_tensor_are_copied_and_pickled_as_in_mindspore(make):
    x = Tensor([1.0, 2.0])
    x.note, x.items = 3, [1]
    twin = make(x)
    copied = make not in (copy.deepcopy, Tensor.copy)
    assert getattr(twin, "note", None) == (3 if copied else None)
    assert getattr(twin, "items", None) == ([1] if copied else None)
    assert (getattr(twin, "items", None) is x.items) == (make is copy.copy)
    twin[0] = 9.0
    assert x.asnumpy().tolist() == [1, 2]


def test_a_parameter_has_no_other_parameter_with_its_data():
    p = Parameter(ms.common.initializer.initializer("ones", (2,), ms.float32), name="w")
    assert p.inited_param is None and p.init_data() is p and p.inited_param is None


def test_matplotlib_plots_a_tensor():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    (line,) = plt.plot(Tensor([1.0, 4.0, 9.0]))
    assert line.get_ydata().tolist() == [1, 4, 9]
    plt.close("all")


# ---------------------------------------------------------------------- Parameter
def test_parameter_of_a_number_is_32_bit_and_of_a_bool_refused():
    assert Parameter(1).dtype == ms.int32 and Parameter(1.0).dtype == ms.float32
    with pytest.raises(ValueError):
        Parameter(True)
    with pytest.raises(ValueError):
        Parameter(1.0, name=3)
    with pytest.raises(TypeError):
        Parameter(1.0, requires_grad=1)


def test_set_data_checks_shape_and_never_narrows():
    p = Parameter(np.zeros(2, np.float32), name="w")
    assert p.set_data(Tensor([1.0, 2.0])) is p
    with pytest.raises(ValueError, match="w"):
        p.set_data(Tensor([1.0]))
    with pytest.raises(TypeError, match="cast"):
        p.set_data(Tensor(np.zeros(2, np.float64)))
    p.set_data(Tensor([1, 2], ms.int32))
    assert p.dtype == ms.float32 and p.asnumpy().tolist() == [1, 2]


def test_nothing_outside_holds_the_array_of_a_parameter():
    source = Tensor([1.0, 2.0])
    p, q = Parameter(source, name="p"), Parameter(source, name="q")
    aliases = [
        p._get_stored_array(),
        q._get_stored_array(),
        source._array,
        jnp.asarray(p),
        Tensor(p)._array,
        p.value()._array,
    ]
    assert len({a.unsafe_buffer_pointer() for a in aliases}) == len(aliases)
    view = p.asnumpy()
    view[:] = 7
    assert p.asnumpy().tolist() == [1, 2]


def test_parameter_tuple_holds_parameters_and_clones_them():
    p = Parameter(1.0, name="w")
    with pytest.raises(TypeError):
        ParameterTuple([p, Tensor(1.0)])
    (twin,) = ParameterTuple([p]).clone("moment", init="zeros")
    assert twin.name == "moment.w" and twin.asnumpy() == 0


@pytest.mark.parametrize(
    "array",
    (
        np.arange(6).reshape(2, 3).T,
        np.zeros((0, 3)),
        np.arange(10)[::-2],
        np.array(True),
        np.arange(4, dtype="c8"),
        np.asfortranarray(np.arange(20.0).reshape(4, 5)),
        np.broadcast_to(np.float32(2), (3, 4)),
        np.arange(3, dtype=">i4"),
        np.arange(3, dtype=ml_dtypes.bfloat16),
        np.array(7),
    ),
    ids=lambda a: f"{a.dtype}{a.shape}{a.strides}",
)
def test_arrays_of_every_layout_become_what_jax_makes_of_them(array):
    result, expected = from_numpy(array), jnp.array(array, array.dtype.newbyteorder("="))
    np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))
    assert (result.aval, result.committed, result.sharding) == (expected.aval, expected.committed, expected.sharding)


@pytest.mark.parametrize("make", [np.array, list], ids=["array", "list"])
def test_numbers_that_do_not_fit_an_integer_type_wrap_as_in_numpy(make):
    data = make([-3.2, 300.7, 2.5])
    assert Tensor(data, ms.uint8).asnumpy().tolist() == [253, 44, 2]
    assert Tensor(data, ms.int8).asnumpy().tolist() == [-3, 44, 2]
    assert Tensor(make([float("nan"), float("-inf")]), ms.int64).asnumpy().tolist() == [-(2**63)] * 2


@pytest.mark.parametrize("data", [0.1, [0.1], [[0.1]]], ids=["number", "list", "lists"])
def test_python_floats_keep_their_digits_in_a_float64_tensor(data):
    assert Tensor(data, ms.float64).asnumpy().item() == 0.1
    assert Tensor(data).dtype == ms.float32


def test_bytes_of_a_tensor_make_it_again():
    x = Tensor([[1, 2, 3]], ms.int16)
    same = Tensor.convert_bytes_to_tensor(x.get_bytes(), x.shape, x.dtype)
    assert same.dtype == x.dtype and same.asnumpy().tolist() == [[1, 2, 3]]
    with pytest.raises(ValueError, match="reshape"):
        Tensor.convert_bytes_to_tensor(x.get_bytes(), (2,), x.dtype)


def test_the_mark_of_a_slice_is_stored_and_checked():
    parameter = Parameter(Tensor([1.0, 2.0]))
    assert parameter.sliced is False
    parameter.sliced = True
    assert parameter.sliced is True
    assert parameter.is_init is False
    parameter.is_init = True
    assert parameter.is_init is True
    with pytest.raises(TypeError, match="is_init"):
        parameter.is_init = 1
    with pytest.raises(TypeError, match="sliced"):
        parameter.sliced = 1
