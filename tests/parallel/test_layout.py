"""Slices of a Tensor on devices, and the full Tensor from its slices."""

import numpy as np
import pytest

from msnb import Tensor, context
from msnb.parallel import _tensor as layout
from msnb.parallel._utils import _check_full_batch, _parallel_predict_check, _to_full_shapes, _to_full_tensor

FULL = np.arange(32, dtype=np.float32).reshape(4, 8)


def test_strategy_of_tensor_map():
    assert layout._get_tensor_strategy([2, 4], [1, -1]) == [2, 1]
    assert layout._get_tensor_strategy([2, 4], [0, 1]) == [4, 2]


@pytest.mark.parametrize(
    ("dev_mat", "tensor_map"), [([2, 4], [1, 0]), ([2, 4], [0, 1]), ([2, 2], [-1, 0]), ([2, 2], [-1, -1])]
)
def test_slices_of_all_devices_join_to_full_tensor(dev_mat, tensor_map):
    strategy = layout._get_tensor_strategy(dev_mat, tensor_map)
    slices = layout._chunk_tensor_by_strategy(FULL, strategy)
    ranks = range(int(np.prod(dev_mat)))
    device_slices = [slices[layout._get_tensor_slice_index(dev_mat, strategy, tensor_map, rank)] for rank in ranks]
    full = layout._reshape_param_data(Tensor(np.concatenate(device_slices)), dev_mat, tensor_map)
    np.testing.assert_array_equal(full.asnumpy(), FULL)


def test_first_process_has_first_slice():
    np.testing.assert_array_equal(layout._load_tensor(Tensor(FULL), [2, 4], [1, 0]), FULL[:2, :2])
    by_layout = layout._load_tensor_by_layout(Tensor(FULL), ([2, 4], [1, -1], [2, 8], 0, True, ""))
    np.testing.assert_array_equal(by_layout.asnumpy(), FULL[:2])


@pytest.mark.parametrize(
    ("wrong", "error"),
    [(["a", "list"], TypeError), (([2], [0]), ValueError), (([2], [0], [2], 0, False, ""), RuntimeError)],
)
def test_wrong_layout_raises(wrong, error):
    with pytest.raises(error):
        layout._load_tensor_by_layout(Tensor(FULL), wrong)


def test_local_batch_is_placed_in_full_batch():
    full, scale = _to_full_tensor(Tensor(FULL), 2, 1, scaling_sens=1024)
    assert full.shape == (8, 8) and not full.asnumpy()[:4].any()
    np.testing.assert_array_equal(full.asnumpy()[4:], FULL)
    assert scale.asnumpy() == 1024 and scale.asnumpy().dtype == np.float32
    assert _to_full_shapes([(4, 8), (4,), ()], 2) == [(8, 8), (8,), ()]
    with pytest.raises(ValueError):
        _to_full_tensor(Tensor(FULL), 2, 2)
    with pytest.raises(ValueError):
        _to_full_tensor([1], 2, 0)


def test_contradictory_settings_raise():
    context.set_auto_parallel_context(full_batch=True)
    with pytest.raises(RuntimeError):
        _check_full_batch()
    context.set_auto_parallel_context(parallel_mode="auto_parallel", full_batch=False)
    with pytest.raises(RuntimeError):
        _parallel_predict_check()
