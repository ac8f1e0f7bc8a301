"""Private names of MindSpore that libraries import from its modules do what MindSpore's do, or say why they cannot."""

import pickle

import numpy as np
import pytest

import msnb
import msnb.dataset as ds
import msnb.experimental
from msnb import Parameter, Tensor, _c_expression, mint, nn, ops
from msnb import _c_dataengine as cde
from msnb._c_expression import amp as levels
from msnb._checkparam import check_and_canonicalize_axes
from msnb.common import dtype, np_dtype, parameter
from msnb.common.api import _function_forbid_reuse, _pynative_executor
from msnb.common.initializer import Initializer, _register, initializer
from msnb.dataset.core.datatypes import mstype_to_detype
from msnb.dataset.text import transforms
from msnb.nn.layer.conv import _Conv, _deconv_output_length
from msnb.ops.function import nn_func
from msnb.ops.operations import _tensor_array
from msnb.ops.primitive import _run_op
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


def test_names_of_kernels_and_compilers_can_be_imported_and_say_what_to_use():
    class OfLibrary(msnb.common.api._MindsporeFunctionExecutor):
        pass

    with pytest.raises(NotImplementedError, match="jit"):
        OfLibrary()
    with pytest.raises(NotImplementedError, match=r"ops\.stack"):
        _tensor_array.TensorArrayRead(msnb.float32, ())
    assert "TensorArrayRead" not in dir(_tensor_array)


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


def test_a_context_without_ascend_chips_answers():
    c = _c_expression.MSContext.get_instance()
    assert c is msnb.context.K_CONTEXT and c.get_ascend_soc_version() == "" and not c.is_ascend_plugin_loaded()
    assert c.get_backend_policy() == "ms" and c.set_backend_policy("ms") and not c.set_backend_policy("none")
    assert msnb.context._get_mode() == msnb.get_context("mode")


@pytest.mark.parametrize("kind, size", [("bool_", 1), ("bfloat16", 2), ("int64", 8), ("complex128", 16)])
def test_bytes_of_an_element(kind, size):
    assert dtype.type_size_in_bytes(getattr(msnb, kind)) == size
    with pytest.raises(TypeError, match="type of elements"):
        dtype.type_size_in_bytes("float32")


def test_layers_derive_from_the_base_of_convolutions(rng):
    class Conv1dBy(_Conv):
        def __init__(self):
            super().__init__(4, 6, (3,), (1, 2), "pad", (0, 0, 1, 1), (1, 1), 2, True, "normal", "ones")
            self.conv2d = ops.Conv2D(6, (1, 3), pad_mode="pad", pad=self.padding, stride=self.stride, group=self.group)

        def construct(self, x):
            image = self.conv2d(x.expand_dims(2), self.weight.expand_dims(2))
            return self.bias_add(image, self.bias).squeeze(2)

    x, net = Tensor(rng.normal(size=(2, 4, 9)).astype(np.float32)), Conv1dBy()
    same = nn.Conv1d(4, 6, 3, 2, "pad", 1, 1, 2, True, Tensor(net.weight.asnumpy()), "ones")
    assert net.weight.shape == (6, 2, 3) and isinstance(same, _Conv) and isinstance(nn.Conv3d(1, 1, 1), _Conv)
    np.testing.assert_allclose(net(x).asnumpy(), same(x).asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("mode, length", [("valid", 17), ("same", 14), ("pad", 14)])
def test_length_of_a_transposed_convolution(mode, length):
    modes = [mode == m for m in ("valid", "same", "pad")]
    assert _deconv_output_length(*modes, 7, 3, 2, 2, 3) == length


def test_axes_become_a_tuple_of_non_negative_numbers():
    assert check_and_canonicalize_axes(-1, 3) == (2,) and check_and_canonicalize_axes((0, -2), 3) == (0, 1)
    for axes, error in ((3, ValueError), ((0, -3), ValueError), (1.5, TypeError), (None, TypeError)):
        with pytest.raises(error):
            check_and_canonicalize_axes(axes, 3)


def test_recording_of_gradients_is_switched_off_and_on():
    def partly(x):
        y = x * x
        _pynative_executor.set_enable_grad(False)
        z = y * x
        _pynative_executor.set_enable_grad(True)
        return y + z

    def never_on_again(x):
        _pynative_executor.set_enable_grad(False)
        return x * x

    x = Tensor(2.0)
    assert msnb.grad(partly)(x) == 4 and _pynative_executor.enable_grad()
    assert msnb.grad(never_on_again)(x) == 0 and _pynative_executor.enable_grad()
    with msnb.common.api._no_grad():
        assert not _pynative_executor.enable_grad()
        assert msnb.grad(lambda x: x * x)(x) == 4 and not _pynative_executor.enable_grad()
    with pytest.raises(RuntimeError, match="stop_gradient"):
        msnb.jit(never_on_again)(x)


def test_initializers_of_libraries_have_names(rng):
    @_register("by_library")
    class OfLibrary(Initializer):
        def _initialize(self, arr):
            arr[...] = 7

    assert (initializer("by_library", (2,)).asnumpy() == 7).all()
    assert (initializer("oflibrary", (2,)).asnumpy() == 7).all()


def test_types_of_lists_and_tuples_are_instances_of_classes():
    assert isinstance(ops.typeof((1,)), dtype.Tuple) and isinstance(ops.typeof([1]), dtype.List)
    assert not isinstance(ops.typeof([1]), dtype.Tuple) and pickle.loads(pickle.dumps(dtype.tuple_)) == dtype.tuple_


def test_element_types_are_instances_of_the_classes_of_the_c_module():
    typing = _c_expression.typing
    assert isinstance(msnb.bfloat16, typing.BFloat) and not isinstance(msnb.bfloat16, typing.Float)
    assert isinstance(msnb.complex64, typing.Complex) and isinstance(msnb.bool_, typing.Bool)
    assert typing.Complex(64) == msnb.complex64 and str(typing.BFloat(16)) == "BFloat16" and typing.Bool() == msnb.bool_
    for kind in dtype.all_types:
        assert pickle.loads(pickle.dumps(kind)) == kind and isinstance(kind, typing.Number)
    assert Tensor([1.5], msnb.bfloat16).asnumpy().dtype == np_dtype.bfloat16


def test_an_operator_shows_the_device_that_it_asks_for(monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.once", lambda text, *args: said.append(text))
    op = ops.Abs()
    assert op.set_device("CPU") is op and op.primitive_target == "CPU" and op(Tensor(-2.0)) == 2 and not said
    assert op.set_device("Ascend")(Tensor(-2.0)) == 2 and "all operators run on the CPU" in said[0]
    with pytest.raises(RuntimeError, match="CPU, GPU or Ascend"):
        op.set_device("XPU")


def test_an_operator_of_a_library_runs_the_operator_that_it_derives_from():
    class Twice(ops.Abs):
        def __call__(self, x):
            return _run_op(self, self.name, (x,)) * 2

    assert Twice()(Tensor(-3.0)) == 6


def test_transforms_of_libraries_return_transforms_of_the_engine():
    class ToIds(transforms.TextTensorOperation):
        def __init__(self, words):
            super().__init__()
            self.vocab = cde.Vocab.from_list(words)

        def parse(self):
            return cde.LookupOperation(self.vocab.c_vocab, "<unk>", str(mstype_to_detype(msnb.int32)))

    class Words(transforms.TextTensorOperation):
        def __init__(self, implementation):
            super().__init__()
            self.implementation = implementation

        def parse(self):
            return cde.BasicTokenizerOperation(True, False, ds.text.NormalizeForm.NONE, False, False)

        def _execute_py(self, text):
            return np.array(str(text).lower().split())

    to_ids, ways = ToIds(["<unk>", "deep", "sea"]), transforms.Implementation
    assert to_ids("sea") == 2 and to_ids(np.array(["deep", "blue"])).tolist() == [1, 0]
    for way in ways:
        data = ds.NumpySlicesDataset(["Deep blue sea"], ["text"]).map([Words(way), to_ids], "text")
        assert [row["text"].tolist() for row in data.create_dict_iterator(output_numpy=True)] == [[1, 0, 2]]
    assert isinstance(data, ds.TextBaseDataset) and data._build_vocab.__name__ == "build_vocab"
    with pytest.raises(AttributeError, match="_c_dataengine"):
        cde.ResizeOperation  # noqa: B018


@pytest.mark.parametrize("name", msnb.common._OF_THE_ROOT)
def test_names_that_mindspore_2_also_has_in_mindspore_common(name):
    assert getattr(msnb.common, name) is getattr(msnb, name)
