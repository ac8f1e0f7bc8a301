"""Names of MindSpore's private modules that libraries import: operators by generated names, and records of C++."""

import copy
import importlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import msnb
from msnb import GRAPH_MODE, PYNATIVE_MODE, Parameter, Tensor, context, nn, ops
from msnb.common import dtype as mstype
from msnb.core.operator import api_generations
from msnb.mindspore2 import face
from msnb.ops.auto_generate import gen_ops_prim, pyboost_inner_prim
from msnb.ops.operations import _grad_ops, _inner_ops

GENERATED = json.loads((Path(__file__).parent / "golden" / "names" / "2.7.1.json").read_text(encoding="utf-8"))[
    "mindspore.ops.auto_generate"
]
X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


@pytest.fixture(params=[PYNATIVE_MODE, GRAPH_MODE], ids=["PYNATIVE", "GRAPH"])
def mode(request):
    before = context.get_context("mode")
    context.set_context(mode=request.param)
    yield request.param
    context.set_context(mode=before)


def star(module):
    """The names that `from module import *` binds under `--api 2`."""
    return set(face(module).__all__)


def same(result, expected):
    np.testing.assert_allclose(result.asnumpy(), np.asarray(expected), rtol=1e-6)


def test_every_operator_that_2_7_1_generates_is_there():
    """Its modules import others for themselves, and have classes of C++, whose names end in an underscore."""
    imported = {"COOTensor", "CSRTensor", "OpDtype", "Parameter", "Primitive", "PrimitiveWithInfer", "Tensor", "Zero"}
    names = {name for name in GENERATED if (name[0].isupper() and name[-1] != "_") or name.endswith("_op")} - imported
    assert len(names) > 1300
    assert [n for n in sorted(names) if not n.startswith("DT_") and not hasattr(gen_ops_prim, n)] == []


# 2.7.1's spellings of instances: words of a class are divided in several ways.
@pytest.mark.parametrize(
    "name, class_name",
    [
        *(
            ("less_equal_op", "LessEqual"),
            ("acos_op", "ACos"),
            ("a_cos_grad_op", "ACosGrad"),
            ("bmm_ext_op", "BatchMatMulExt"),
        ),
        *(("matmul_ext_op", "MatMulExt"), ("reflection_pad_1d_op", "ReflectionPad1D"), ("add_ext_op", "AddExt")),
        *(
            ("mm_ext_op", "Mm"),
            ("xlogy_scalar_self_op", "XLogYScalarSelf"),
            ("sub_ext_op", "SubExt"),
            ("any_op", "Any"),
        ),
        *(("topprouter_op", "TopPRouter"), ("npu_get_float_status_v2_op", "NPUGetFloatStatusV2")),
    ],
)
def test_an_instance_has_the_name_of_its_class(name, class_name):
    assert getattr(gen_ops_prim, name).name == class_name


def test_the_instances_of_a_listing_can_be_constructed_again():
    names = [name for name in dir(gen_ops_prim) if name.endswith("_op")]
    assert len(names) > 900
    for name in names:
        assert type(getattr(gen_ops_prim, name))().name


def test_a_star_brings_what_constructors_at_the_top_of_modules_need():
    assert {"AcosExt", "AddExt", "acos_ext_op", "RmsNormGrad", "Softmax"} <= star(gen_ops_prim)
    for module in (_grad_ops, _inner_ops):
        assert {"LerpScalar", "AdaptiveAvgPool2DGrad", "CopyWithSlice", "ReLU"} <= star(module)


def test_a_listing_shows_no_operator_that_only_raises():
    assert "PagedAttention" not in dir(gen_ops_prim) and "PagedAttention" not in dir(ops.operations)


@pytest.mark.parametrize(
    "name, arguments, expected",
    [
        ("OneHotExt", (Tensor([0, 2]), 3, Tensor(1), Tensor(0)), [[1, 0, 0], [0, 0, 1]]),
        ("Muls", (X, 2.0), X.asnumpy() * 2),
        ("FmodScalar", (X, 2.0), np.fmod(X.asnumpy(), 2)),
        ("IndexSelect", (X, 1, Tensor([2, 0])), X.asnumpy()[:, [2, 0]]),
        ("ClampScalar", (X, 1.0, 3.0), X.asnumpy().clip(1, 3)),
        ("DivMod", (Tensor([7.0, -7.0]), Tensor([2.0, 2.0]), "floor"), [3, -4]),  # 2.7.1's values
        ("DivMod", (Tensor([7.0, -7.0]), Tensor([2.0, 2.0]), "trunc"), [3, -3]),
        ("DivMod", (Tensor([7.0, -7.0]), Tensor([2.0, 2.0]), None), [3.5, -3.5]),
        ("ReflectionPad1D", (X, (1, 1)), np.pad(X.asnumpy(), ((0, 0), (1, 1)), "reflect")),
        ("ConstantPadND", (X, (1, 0), 9.0), np.pad(X.asnumpy(), ((0, 0), (1, 0)), constant_values=9)),
        ("XLogYScalarSelf", (2.0, Tensor([1.0, np.e])), [0, 2]),
        ("SoftmaxBackward", (X, ops.Softmax()(X), -1), None),
        ("LinalgVectorNorm", (X, 2, (1,), False, None), np.linalg.norm(X.asnumpy(), axis=1)),
        ("Empty", ((2, 3), mstype.float32), None),
        ("FillScalar", ((2,), 4, mstype.int32), [4, 4]),
        ("AvgPool1D", (Tensor(np.float32([[[1, 3, 5, 7]]])), 2), [[[2, 6]]]),
        ("SplitTensor", (X, 1, 0), None),
        ("Scatter", (X, 0, Tensor([[0, 1, 0]]), Tensor(np.float32([[9, 9, 9]])), "none"), [[9, 1, 9], [3, 9, 5]]),
        ("Scatter", (X, 0, Tensor([[0, 1, 0]]), Tensor(np.float32([[9, 9, 9]])), "add"), [[9, 1, 11], [3, 13, 5]]),
    ],
)
def test_a_generated_class_computes_its_formula(name, arguments, expected):
    before = X.asnumpy().copy()
    result = getattr(gen_ops_prim, name)()(*arguments)
    if expected is not None:
        same(result, expected)
    same(X, before)


def test_the_gradient_of_softmax_is_that_of_its_formula():
    out = ops.Softmax()(X)
    result = gen_ops_prim.SoftmaxBackward()(X, out, -1)
    same(result, ops.GradOperation(sens_param=True)(ops.Softmax())(X, X).asnumpy())


@pytest.mark.parametrize(
    "name, arguments, expected",
    [
        ("InplaceAddExt", (Tensor([1.0, 1.0]), 2), [3, 4]),
        ("InplaceCopy", (Tensor([5.0, 6.0]),), [5, 6]),
        ("InplaceDivMod", (Tensor([2.0, 2.0]), "floor"), [0, 1]),
        ("InplaceSiLU", (), [0.73105858, 1.76159416]),
        ("InplaceReLU", (), [1, 2]),
        ("InplaceScatterSrc", (0, Tensor([1]), Tensor([7.0])), [1, 7]),
    ],
)
def test_an_operator_in_place_writes_its_first_input(name, arguments, expected):
    x = Tensor([1.0, 2.0])
    getattr(gen_ops_prim, name)()(x, *arguments)
    same(x, expected)


def test_an_inner_operator_takes_the_arguments_of_its_constructor_behind_its_inputs():
    same(pyboost_inner_prim.softmax_impl(X, 0), ops.Softmax(0)(X).asnumpy())
    same(pyboost_inner_prim.concat_impl((X, X), 1), np.concatenate([X.asnumpy()] * 2, 1))
    same(pyboost_inner_prim.stack_ext_impl((X, X), 1), np.stack([X.asnumpy()] * 2, 1))
    assert bool(pyboost_inner_prim.reduce_any_impl(X > 4, (), False))
    with pytest.raises(AttributeError, match="no_such_impl"):
        pyboost_inner_prim.no_such_impl  # noqa: B018


@pytest.mark.parametrize(
    "name, advice",
    [
        *(("PagedAttention", "flash_attention_score"), ("AdaptiveAvgPool2DGrad", "mindspore.grad")),
        *(("InnerCommIrecv", "mint.distributed"), ("QuantV2", "few bits"), ("GroupedMatmul", "ops.matmul")),
        *(("RandExt", "mint.rand"), ("MapCacheIdx", "compiler"), ("NPUGetFloatStatusV2", "all_finite")),
    ],
)
def test_a_kernel_that_is_not_there_is_constructed_and_says_what_to_do_when_called(name, advice):
    kernel = getattr(gen_ops_prim, name)(1, some_attribute=2)
    assert isinstance(kernel, ops.Primitive) and kernel.add_prim_attr("stage", 1) is kernel
    with pytest.raises(NotImplementedError, match=f"{name} is not available in msnb yet; .*{advice}"):
        kernel(X)


def test_a_generator_operator_keeps_seed_and_offset_in_tensors():
    generator, seed, offset = _inner_ops.Generator(), Tensor(0), Tensor(0)
    generator(4, (seed, offset, Tensor(7)))
    assert (int(seed), int(offset)) == (7, 0)
    outs = generator(0, (seed, offset, Tensor(12)))
    assert [int(x) for x in outs[:2]] == [7, 0] and (int(seed), int(offset)) == (7, 12)
    state = generator(2, (seed, offset))[2]
    generator(1, (seed, offset))
    assert int(offset) == 0
    generator(3, (seed, offset, state))
    assert (int(seed), int(offset)) == (7, 12) and int(generator(5, (seed, offset))[0]) == 7
    with pytest.raises(ValueError, match="one of 0 to 5"):
        generator(6, (seed, offset))


def test_a_tensor_becomes_a_number(mode):
    to_scalar = ops.operations._sequence_ops.TensorToScalar()
    assert to_scalar(Tensor([3])) == 3 and type(to_scalar(Tensor(1.5))) is float
    same(msnb.jit(lambda x: x * to_scalar(x.sum()))(Tensor([1.0, 2.0])), [3, 6])
    with pytest.raises(ValueError, match="one element"):
        to_scalar(X)
    with pytest.raises(TypeError):
        to_scalar(1)


def test_morph_applies_its_function_with_its_gradient(mode):
    double = ops.Morph(lambda x: x * x, lambda shape: shape, lambda dtype: dtype).add_prim_attr("group", 1)
    same(msnb.jit(double)(X) if mode == GRAPH_MODE else double(X), X.asnumpy() ** 2)
    same(ops.GradOperation()(double)(X), X.asnumpy() * 2)
    with pytest.raises(NotImplementedError, match="bprop"):
        ops.Morph(lambda x: x, lambda x: x, lambda x: x, bprop_fn=lambda x: x)
    with pytest.raises(TypeError, match="infer_dtype"):
        ops.Morph(lambda x: x, lambda x: x, None)


def test_move_to_is_an_operator():
    same(ops.MoveTo()(X, "CPU"), X.asnumpy())


class Scaled(msnb._Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * factor

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x * ctx.factor * 10, None  # not the true gradient, so that it is seen


def test_a_function_has_the_gradient_of_its_backward(mode):
    class Net(nn.Cell):
        def construct(self, x):
            return Scaled.apply(x, 3.0).sum()

    net = Net()
    same(net(X), (X.asnumpy() ** 2 * 3).sum())
    same(ops.GradOperation()(net)(X), X.asnumpy() * 30)


def test_a_function_refuses_what_has_no_counterpart():
    function = msnb._Function()
    with pytest.raises(NotImplementedError, match="return a new Tensor"):
        function.mark_dirty(X)
    with pytest.raises(NotImplementedError, match="stop_gradient"):
        function.mark_non_differentiable(X)
    function.set_materialize_grads(True)
    with pytest.raises(NotImplementedError, match="zeros"):
        function.set_materialize_grads(False)
    for method in (function.forward, function.backward):
        with pytest.raises(NotImplementedError, match="should define"):
            method(None)


def test_the_record_of_a_parameter_is_live():  # as in 2.7.1
    from msnb._c_expression import ParamInfo

    w = Parameter(Tensor([1.0, 2.0]), name="w", requires_grad=False)
    w.param_info.cloned_obj = [1]
    assert (w.param_info.name, w.param_info.requires_grad, w.param_info.parameter_shape) == ("w", False, [2])
    copy = w.param_info.clone()
    assert w.param_info.cloned_obj == [1] and not hasattr(copy, "cloned_obj") and copy.name == "w"
    w.param_info.requires_grad = True
    w.param_info.name = "v"
    assert w.requires_grad and w.name == "v" and not copy.requires_grad
    other = Parameter(Tensor([0.0]), name="other")
    copy.comm_fusion = 3
    other.param_info = copy
    assert (other.name, other.requires_grad, other.param_info.comm_fusion) == ("w", False, 3)
    assert (ParamInfo().name, ParamInfo().key, ParamInfo().requires_aggr) == ("Parameter", -1, True)
    assert X.param_info is None
    with pytest.raises(AttributeError, match="no 'cloned_obj'"):
        ParamInfo().cloned_obj  # noqa: B018


def test_a_tensor_takes_attributes_as_mindspores_does():
    x = Tensor([1.0])
    x.source = "here"
    assert x.source == "here" and not hasattr(Tensor([1.0]), "source")


def test_a_class_of_tensors_may_have_a_class_of_its_own():
    from msnb.common.tensor import _TensorMeta

    class Kinds(_TensorMeta):
        def __instancecheck__(cls, value):
            return isinstance(value, Tensor) and value.dtype == cls.kind

    class Doubles(Tensor, metaclass=Kinds):
        kind = mstype.float64

    assert isinstance(Tensor(np.zeros(2)), Doubles) and not isinstance(Tensor(1), Doubles)


def test_shape_and_type_alone_make_a_tensor_in_mindspore_2():
    with pytest.raises(TypeError, match="give 'input_data', or"):
        Tensor(shape=(0, 3), dtype=mstype.int64)
    api_generations.share(2)
    try:
        x = Tensor(shape=(0, 3), dtype=mstype.int64)
    finally:
        api_generations.share(1)
    assert (x.shape, x.dtype) == ((0, 3), mstype.int64)


@pytest.mark.parametrize(
    "module, name",
    [
        *(("_c_expression", "Cell_"), ("_c_expression", "swap_cache"), ("_c_expression", "_ms_memory_recycle")),
        *(("common.api", "flops_collection"), ("common.file_system", "mindio_preload"), ("utils", "stress_detect")),
        *(("communication.comm_func", "isend"), ("ops", "Send"), ("ops.communication", "set_comm_ops_inplace")),
        *(("graph", "register_custom_pass"), ("parallel.strategy", "get_strategy_metadata")),
        ("train.node_strategy_pb2", "ParallelStrategyMap"),
        ("ops._grad_experimental.grad_comm_ops", "get_squared_device_local_norm_param"),
    ],
)
def test_a_name_of_clusters_and_chips_is_imported_and_refused_on_use(module, name):
    value = getattr(importlib.import_module(f"msnb.{module}"), name)
    with pytest.raises(NotImplementedError, match=f"{name} "):
        value()


def test_strategies_of_precision_are_refused():
    from msnb._c_expression import amp

    for call in (amp.pop_amp_strategy, lambda: amp.push_amp_strategy(amp.AmpLevel.AmpO1, mstype.float16, [], [])):
        with pytest.raises(NotImplementedError, match="auto_mixed_precision"):
            call()


def test_lists_of_operators_that_a_strategy_casts():
    from msnb.train import amp

    assert ops.MatMul in amp.AMP_AUTO_WHITE_LIST and ops.Softmax in amp.AMP_AUTO_BLACK_LIST
    assert amp.AMP_PRIM_ARG_TABLE[ops.MatMul] == []


def test_an_empty_instance_has_a_shape_and_a_type():
    from msnb._c_expression import TensorPy, _empty_instance

    x = _empty_instance((2, 3), dtype=mstype.float16, device="CPU")
    assert isinstance(x, TensorPy) and (x.shape, x.dtype) == ((2, 3), mstype.float16)


def test_settings_of_a_pipeline_are_read_by_their_names():
    assert context.get_auto_parallel_context("pipeline_scheduler") == "1f1b"
    context.set_auto_parallel_context(pipeline_config={"pipeline_interleave": True, "pipeline_scheduler": "gpipe"})
    assert context.get_auto_parallel_context("pipeline_scheduler") == "gpipe"
    assert context.get_auto_parallel_context("pipeline_interleave") is True
    context.reset_auto_parallel_context()


def test_groups_and_the_cost_model_by_their_private_names():
    from msnb.communication._comm_helper import GlobalComm, _get_group_map
    from msnb.parallel import _cost_model_context as costs

    assert _get_group_map()[GlobalComm.WORLD_COMM_GROUP] == [0]
    costs._set_rp_matmul_mem_coef(0.5)
    assert costs._get_rp_matmul_mem_coef() == 0.5
    costs.reset_cost_model_context()


def test_the_sharding_of_a_tensor_as_a_record():
    from msnb.parallel.shard import Layout, _DistributedTensorInfo

    layout = Layout((2, 2), ("dp", "mp"))("dp", "mp")
    assert _DistributedTensorInfo(layout).sharding_strategy == [2, 2]  # 2.10's example
    with pytest.raises(TypeError, match="called Layout"):
        _DistributedTensorInfo((2, 2))


def test_a_micro_batch_is_a_part_of_each_input():
    from msnb.nn.wrap.cell_wrapper import _MicroBatch

    same(_MicroBatch(2)(1, X)[0], X.asnumpy()[1:])


def test_options_of_an_ascends_profile_are_taken():
    from msnb.profiler import _ExperimentalConfig
    from msnb.profiler.common.constant import ProfilerLevel

    _ExperimentalConfig(profiler_level=ProfilerLevel.Level1)


def test_modules_of_other_paths():
    from msnb.common import initializer
    from msnb.common.sparse_tensor import RowTensor, RowTensorInner
    from msnb.experimental.optim.adamw import AdamW, SpeedAdamW
    from msnb.graph import api

    assert initializer.Tensor is Tensor and RowTensorInner is RowTensor
    assert SpeedAdamW is AdamW and api._no_grad is msnb.common.api._no_grad
    assert msnb.experimental.optim.AdamW is AdamW
    optimizer = nn.Momentum([Parameter(Tensor([1.0]), name="w")], 0.1, 0.9)
    assert optimizer._parameters is optimizer.parameters


def test_the_alias_has_the_version_of_its_interface_and_loads_pillow():
    code = (
        "import msnb.alias\nmsnb.alias.install(api=2)\nimport mindspore, PIL\nfrom mindspore import version\n"
        "assert version.__version__ == mindspore.__version__, version.__version__\nimport mindspore.dataset\n"
        "assert PIL.Image"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda info: pickle.loads(pickle.dumps(info))],
    ids=["copy", "deep", "pickle"],
)
def test_a_record_of_a_parameter_can_be_copied(duplicate):
    info = Parameter(X, name="w", requires_grad=False).param_info
    info.mark = 3
    again = duplicate(info)
    assert (again.name, again.requires_grad, again.comm_fusion) == ("w", False, 1)
    with pytest.raises(AttributeError, match="has no 'nothing'"):
        _ = again.nothing


def test_generated_functions_take_arguments_by_position(mode):
    x = Tensor([1.0, 2.0, 3.0])
    calls = {
        "add_ext": ((x, x, 2), [3, 6, 9]),
        "sub_ext": ((x, x, 2), [-1, -2, -3]),
        "add_scalar": ((x, 2, 2), [5, 6, 7]),
        "sub_scalar": ((x, 2, 2), [-3, -2, -1]),
        "clamp_scalar": ((x, 1.5, 2.5), [1.5, 2, 2.5]),
        "clamp_tensor": ((x, Tensor([1.5]), Tensor([2.5])), [1.5, 2, 2.5]),
        "divs": ((x, 2), [0.5, 1, 1.5]),
        "muls": ((x, 2), [2, 4, 6]),
        "floor_div_scalar": ((x, 2), [0, 1, 1]),
        "lerp_scalar": ((x, x * 3, 0.5), [2, 4, 6]),
        "index_fill_scalar": ((x, 0, Tensor([1]), 7.0), [1, 7, 3]),
        "select_v2": ((x > 1, x, x * 0), [0, 2, 3]),
        "narrow_view": ((x, 0, 1, 2), [2, 3]),
        "expand_dims_view": ((x, 0), [[1, 2, 3]]),
        "broadcast_to_view": ((x, (2, 3)), [[1, 2, 3]] * 2),
        "clone": ((x,), [1, 2, 3]),
        "inplace_clamp_scalar": ((x * 1, 1.5, 2.5), [1.5, 2, 2.5]),
        "inplace_add_ext": ((x * 1, x, 2), [3, 6, 9]),
    }
    for name, (args, expected) in calls.items():  # values of 2.7.1, where its CPU build has a kernel
        function = getattr(ops.auto_generate, name)
        assert function.__name__ in (name, name.removesuffix("_ext")) and function.__doc__
        same(function(*args), expected)
    same(ops.auto_generate.add_ext(x, x, alpha=3), [4, 8, 12])
    for name in ("add_layer_norm_grad", "no_such_function", "clampscalar"):
        assert not hasattr(ops.auto_generate, name)


def test_overloads_of_2_7_1_are_functions_of_mint_or_ops():
    overloads = importlib.import_module("msnb.ops.functional_overload")
    names = """add addcdiv any bernoulli_ bitwise_not clamp clip conv1d conv2d conv3d div divide einsum empty
    empty_like floor_divide fmod ge gelu greater_equal imag index_add kthvalue lerp max min nansum pixel_shuffle real
    remainder repeat_interleave sub where xlogy"""
    assert all(callable(getattr(overloads, name)) for name in names.split())
    same(overloads.add(X, X, alpha=2), X.asnumpy() * 3)
    same(overloads.imag(Tensor([1 + 2j])), [2])
    assert overloads.any(X).asnumpy() and overloads.max(X, 1)[1].asnumpy().tolist() == [2, 2]
    with pytest.raises(AttributeError, match="functional_overload"):
        overloads.no_such_function
