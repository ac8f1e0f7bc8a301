"""Private names of MindSpore that libraries import from its modules do what MindSpore's do, or say why they cannot."""

import numpy as np
import pytest

import msnb
import msnb.experimental
from msnb import Parameter, Tensor, _c_expression, mint, nn
from msnb._c_expression import amp as levels
from msnb.common import dtype, parameter
from msnb.common.api import _function_forbid_reuse
from msnb.ops.function import nn_func
from msnb.parallel import _ps_context
from msnb.train import amp, serialization


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_parameters_behind_a_common_prefix_are_loaded_and_leave_the_list():
    net = nn.Dense(2, 1)
    values = {"old.weight": Parameter(Tensor(np.full((1, 2), 3, np.float32)), "old.weight")}
    absent = ["weight", "bias"]
    serialization._load_dismatch_prefix_params(net, values, absent, False)
    assert absent == ["bias"] and (net.weight.asnumpy() == 3).all()


def test_lists_of_mixed_precision_choose_the_cells():
    assert amp.AMP_WHITE_LIST == amp.get_white_list() and amp.AMP_BLACK_LIST == amp.get_black_list()
    x = Tensor(np.ones((2, 3), np.float32))
    white = amp._auto_mixed_precision_rewrite(nn.SequentialCell(nn.Dense(3, 4)), msnb.float16, white_list=[nn.Dense])
    assert white(x).dtype == msnb.float32
    black = amp._auto_black_list(nn.SequentialCell(nn.Dense(3, 4), nn.LayerNorm((4,))), [nn.LayerNorm], msnb.float16)
    assert black(x).dtype == msnb.float16


def test_a_strategy_of_mixed_precision_says_what_to_use():
    assert levels.AmpLevel.AmpO3 == 3
    with pytest.raises(NotImplementedError, match="custom_mixed_precision"):
        levels.create_amp_strategy(levels.AmpLevel.AmpO3, msnb.float16, [], [])


def test_functions_are_marked_and_other_values_refused():
    assert _function_forbid_reuse(len_of := lambda x: len(x)) is len_of
    with pytest.raises(TypeError, match="decorates functions"):
        _function_forbid_reuse(1)


def test_sizes_of_interpolation():
    x = Tensor(np.zeros((1, 2, 5, 7), np.float32))
    assert nn_func._interploate_ext_make_tuple(x, 2) == (2, 2)
    assert nn_func._interpolate_ext_scale_factor_convert_size(x, (0.5, 2)) == (2, 14)


def test_mint_has_names_by_paths_that_completion_leaves_out():
    assert mint.functional is mint.nn.functional and mint.nn.Cell is nn.Cell and mint.Tensor is Tensor
    assert not {"functional", "Tensor"} & {*dir(mint)} and "Cell" not in dir(mint.nn)


def test_a_function_with_a_gradient_of_its_own_says_what_to_use():
    class Double(msnb.common._Function):
        pass

    with pytest.raises(NotImplementedError, match="bprop"):
        Double.apply(1)


@pytest.mark.parametrize("masked", [False, True])
def test_attention_as_a_function_is_the_layer(rng, masked):
    layer = nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True).set_train(False)
    q, k = (Tensor(rng.normal(size=(n, 2, 8)).astype(np.float32)) for n in (3, 5))
    masks = {"key_padding_mask": Tensor(rng.random((2, 5)) > 0.6), "attn_mask": Tensor(rng.random((3, 5)) > 0.7)}
    masks = masks if masked else {}
    out, weights = nn_func.multi_head_attention_forward(
        *(q, k, k, 8, 2, layer.in_proj_weight, layer.in_proj_bias, layer.bias_k, layer.bias_v, True, 0.0),
        *(layer.out_proj.weight, layer.out_proj.bias, False),
        **masks,
    )
    expected, expected_weights = layer(q, k, k, **masks)
    np.testing.assert_allclose(out.asnumpy(), expected.asnumpy(), atol=1e-5)
    np.testing.assert_allclose(weights.asnumpy(), expected_weights.asnumpy(), atol=1e-6)


def test_attention_hides_later_keys_and_takes_one_row_without_a_batch(rng):
    x, w = (Tensor(rng.normal(size=shape).astype(np.float32)) for shape in ((3, 8), (24, 8)))
    rest = (8, 2, w, None, None, None, False, 0.0, w[:8], None, False)
    out, weights = nn_func.multi_head_attention_forward(x, x, x, *rest, is_causal=True)
    assert out.shape == (3, 8) and np.triu(weights.asnumpy(), 1).sum() == 0
    with pytest.raises(ValueError, match="2 dims, or 3"):
        nn_func.multi_head_attention_forward(x, x, x[0], *rest)


def test_keys_of_parameters_differ():
    assert len({parameter._get_unique_parameter_key() for _ in range(3)}) == 3


def test_tables_that_grow_say_what_to_use():
    with pytest.raises(NotImplementedError, match=r"nn\.Embedding"):
        msnb.experimental.MapParameter(key_dtype=msnb.int32)
    with pytest.raises(NotImplementedError, match="vocab_cache_size=0"):
        _ps_context._set_cache_size(3)
    with pytest.raises(NotImplementedError, match="vocab_cache_size=0"):
        _ps_context._insert_hash_table_size("w", 3, 4, 5)
    with pytest.raises(NotImplementedError, match="sparse=False"):
        _ps_context._set_sparse_format(True)


def test_numbers_of_the_c_module_depend_on_the_seed_alone():
    a, b = np.empty(10000, np.float32), np.empty(10000, np.float32)
    for data in (a, b):
        _c_expression._random_normal(5, data, 1.0, 2.0)
    assert (a == b).all() and abs(a.mean() - 1) < 0.1 and abs(a.std() - 2) < 0.1
    with pytest.raises(NotImplementedError, match="get_context"):
        _c_expression.MSContext.get_instance()


@pytest.mark.parametrize("kind, size", [("bool_", 1), ("bfloat16", 2), ("int64", 8), ("complex128", 16)])
def test_bytes_of_an_element(kind, size):
    assert dtype.type_size_in_bytes(getattr(msnb, kind)) == size
    with pytest.raises(TypeError, match="type of elements"):
        dtype.type_size_in_bytes("float32")
