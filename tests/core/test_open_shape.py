"""A Tensor with a shape and no values says how inputs look: None is an axis of any length, or any number of axes."""

import numpy as np
import pytest

import msnb
from msnb import Tensor, nn, ops

ROWS = Tensor(shape=(None, 3), dtype=msnb.float32)
ANY = Tensor(shape=None, dtype=msnb.float32)


def ones(*shape, dtype=np.float32):
    return Tensor(np.ones(shape, dtype))


def test_a_signature_with_open_axes_takes_what_fits():
    twice = msnb.jit(lambda x: x * 2, input_signature=(ROWS,))
    assert twice(ones(2, 3)).shape == (2, 3) and twice(ones(5, 3)).shape == (5, 3)
    for wrong in (ones(2, 4), ones(3), ones(1, 2, 3), ones(2, 3, dtype=np.float16)):
        with pytest.raises(ValueError, match=r"should be Tensor\[Float32\]\(None, 3\) by its input_signature"):
            twice(wrong)


def test_a_signature_without_a_number_of_axes_takes_any():
    twice = msnb.jit(lambda x: x * 2, input_signature=ANY)
    assert [twice(ones(*shape)).shape for shape in ((), (2,), (2, 3))] == [(), (2,), (2, 3)]
    with pytest.raises(ValueError, match="by its input_signature"):
        twice(ones(2, dtype=np.int32))


def test_a_signature_with_values_asks_for_their_shape():
    twice = msnb.jit(lambda x: x * 2, input_signature=(ones(2, 3),))
    assert twice(ones(2, 3)).shape == (2, 3)
    with pytest.raises(ValueError, match=r"\(2, 3\) by its input_signature"):
        twice(ones(5, 3))


def test_a_cell_learns_of_inputs_with_any_number_of_axes():
    net = nn.ReLU()
    net.set_inputs(ANY)
    assert net.get_inputs()[0].shape == (-2,) and net(ones(2)).shape == (2,) and net(ones(1, 2)).shape == (1, 2)


@pytest.mark.parametrize("use", [lambda x: x + 1, lambda x: ops.relu(x), lambda x: nn.ReLU()(x), Tensor.asnumpy, str])
def test_what_has_no_values_says_so(use):
    with pytest.raises(TypeError, match="any number of axes, has no values: it says how inputs"):
        use(ANY)


def test_an_export_needs_the_number_of_axes(tmp_path):
    with pytest.raises(TypeError, match="any number of axes, has no values"):
        msnb.export(nn.ReLU(), ANY, file_name=str(tmp_path / "net"), file_format="MINDIR")


def test_what_is_given_neither_shape_nor_type_is_no_tensor():
    for settings in ({}, {"shape": (2, 3)}, {"shape": (None, 3)}):
        with pytest.raises(TypeError, match="give 'input_data', or 'shape', 'dtype' and 'init' together"):
            Tensor(**settings)
