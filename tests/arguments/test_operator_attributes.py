"""Attributes of operators that had no effect and did not say so: each says so once or is compared with shapes."""

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, ops
from msnb.core.operator.operator_types import REGISTRY
from msnb.ops.operations import _grad_ops as G

REQUIRED = {  # attributes without a default
    "Broadcast": {"root_rank": 0},
    "IndexAdd": {"axis": 0},
    "FlashAttentionScore": {"head_num": 2},
    "FusedSparseFtrl": {"lr": 0.1, "l1": 0.0, "l2": 0.0, "lr_power": -0.5},
    "SparseApplyFtrl": {"lr": 0.1, "l1": 0.0, "l2": 0.0, "lr_power": -0.5},
    "SparseApplyFtrlV2": {"lr": 0.1, "l1": 0.0, "l2": 0.0, "l2_shrinkage": 0.0, "lr_power": -0.5},
    "SparseApplyAdagrad": {"lr": 0.1},
    "SparseApplyAdagradV2": {"lr": 0.1, "epsilon": 1e-6},
    "SparseApplyAdadelta": {"epsilon": 1e-6},
    "SparseApplyRMSProp": {"rho": 0.9, "momentum": 0.5, "epsilon": 1e-6},
}
NO_EFFECT = """
    IndexAdd.check_index_bound IndexAdd.use_lock
    Adam.use_locking AdamNoUpdateParam.use_locking AdamWeightDecay.use_locking ApplyCenteredRMSProp.use_locking
    ApplyFtrl.use_locking ApplyMomentum.use_locking ApplyProximalAdagrad.use_locking ApplyRMSProp.use_locking
    FusedSparseAdam.use_locking FusedSparseFtrl.use_locking FusedSparseLazyAdam.use_locking
    FusedSparseProximalAdagrad.use_locking SparseApplyAdagrad.use_locking SparseApplyAdagradV2.use_locking
    SparseApplyFtrl.use_locking SparseApplyFtrlV2.use_locking SparseApplyProximalAdagrad.use_locking
    BNTrainingUpdate.isRef DynamicGRUV2.is_training DynamicRNN.is_training FusedBatchNorm.mode FusedBatchNormEx.mode
    FusedBatchNormGrad.epsilon FusedBatchNormGrad.momentum FusedBatchNormGradCPU.epsilon FusedBatchNormGradCPU.momentum
    FusedBatchNormGradEx.epsilon FusedBatchNormGradEx.momentum InstanceNormGrad.epsilon InstanceNormGrad.momentum
    MaximumGrad.grad_x MaximumGrad.grad_y MinimumGrad.grad_x MinimumGrad.grad_y
""".split()


def other_than(meant):
    if isinstance(meant, bool):
        return not meant
    if isinstance(meant, str):
        return "max" if meant == "sum" else "another"
    return type(meant)(1) if isinstance(meant, int) else 0.5


def declared():
    return {
        f"{op.name}.{name}"
        for op in REGISTRY.values()
        for name, (kind, _) in op.attributes.items()
        if hasattr(kind, "otherwise")
    }


@pytest.mark.parametrize("name", sorted(declared() | set(NO_EFFECT)))
def test_an_attribute_without_effect_is_stored_and_said_once(name, capsys):
    op, _, attribute = name.partition(".")
    value = other_than(REGISTRY[op].attributes[attribute][0].meant)
    required = REQUIRED.get(op, {})
    REGISTRY[op].primitive(**required)
    assert not capsys.readouterr().err
    results = [REGISTRY[op].primitive(**required, **{attribute: value}) for _ in range(2)]
    said = capsys.readouterr().err
    assert said.count(f"{op}: '{attribute}' has no effect here: ") == 1
    assert getattr(results[0], attribute) == results[0].attrs[attribute] == value


def test_a_wrong_value_of_an_attribute_without_effect_raises():
    with pytest.raises(TypeError, match="'use_locking' should be bool"):
        ops.Adam(use_locking=1)
    with pytest.raises(ValueError, match="'op' should be one of 'sum', 'max'"):
        ops.AllReduce("mean")
    with pytest.raises(TypeError, match="'group' should be a string"):
        ops.AllReduce(group=1)


def test_an_attribute_without_effect_is_said_of_a_functional_form_too(capsys):
    table = ms.Parameter(Tensor(np.zeros((3, 2), np.float32)))
    for _ in range(2):
        ops.scatter_add(table, Tensor([0], ms.int32), Tensor(np.ones((1, 2), np.float32)), True)
    assert capsys.readouterr().err.count("ScatterAdd: 'use_locking' has no effect") == 1


MODES = {
    "Conv2D": (1, (3, 3)),
    "Conv2DBackpropFilter": (1, (3, 3)),
    "Conv2DBackpropInput": (1, (3, 3)),
    "Conv3D": (1, (3, 3)),
    "Conv3DBackpropFilter": (1, (3, 3)),
    "Conv3DBackpropInput": (1, (3, 3)),
    "Conv3DTranspose": (1, (3, 3, 3)),
    "DepthwiseConv2dNative": (3, (3, 3)),
    "DepthwiseConv2dNativeBackpropFilter": (3, (3, 3)),
    "DepthwiseConv2dNativeBackpropInput": (3, (3, 3)),
}


@pytest.mark.parametrize("op", MODES)
def test_a_convolution_has_one_mode(op):
    mode, required = MODES[op]
    make = REGISTRY[op].primitive
    assert make(*required, mode=mode).mode == mode
    with pytest.raises(ValueError, match=f"For '{op}', 'mode' should be {mode}, but got 7"):
        make(*required, mode=7)
    with pytest.raises(TypeError, match=f"'mode' should be {mode}, but got True"):
        make(*required, mode=True)


def ones(*shape):
    return Tensor(np.ones(shape, np.float32))


# operator, its attributes, its inputs; then attributes that the shapes contradict
IMPLIED = [
    (
        G.Conv2DBackpropFilter,
        dict(out_channel=4, kernel_size=3),
        (ones(1, 4, 3, 3), ones(1, 2, 5, 5), (4, 2, 3, 3)),
        [dict(pad_list=1), dict(pad_list=(0, 0, 1, 0))],
    ),
    (
        ops.Conv3D,
        dict(out_channel=4, kernel_size=3),
        (ones(1, 2, 5, 5, 5), ones(4, 2, 3, 3, 3)),
        [dict(out_channel=5), dict(kernel_size=2)],
    ),
    (
        G.Conv3DBackpropFilter,
        dict(out_channel=4, kernel_size=3),
        (ones(1, 2, 5, 5, 5), ones(1, 4, 3, 3, 3), (4, 2, 3, 3, 3)),
        [dict(out_channel=5), dict(kernel_size=2)],
    ),
    (
        ops.Conv3DBackpropInput,
        dict(out_channel=4, kernel_size=3),
        (ones(4, 2, 3, 3, 3), ones(1, 4, 3, 3, 3), (1, 2, 5, 5, 5)),
        [dict(out_channel=5), dict(kernel_size=2)],
    ),
    (
        ops.Conv3DTranspose,
        dict(in_channel=4, out_channel=2, kernel_size=3),
        (ones(1, 4, 3, 3, 3), ones(4, 2, 3, 3, 3)),
        [dict(in_channel=3), dict(kernel_size=2)],
    ),
    (
        ops.DepthwiseConv2dNative,
        dict(channel_multiplier=1, kernel_size=3),
        (ones(1, 2, 5, 5), ones(1, 2, 3, 3)),
        [dict(channel_multiplier=2), dict(kernel_size=2), dict(group=3)],
    ),
    (
        G.DepthwiseConv2dNativeBackpropFilter,
        dict(channel_multiplier=1, kernel_size=3),
        (ones(1, 2, 5, 5), (1, 2, 3, 3), ones(1, 2, 3, 3)),
        [dict(channel_multiplier=2), dict(kernel_size=2), dict(group=3), dict(pad_list=1)],
    ),
    (
        G.DepthwiseConv2dNativeBackpropInput,
        dict(channel_multiplier=1, kernel_size=3),
        ((1, 2, 5, 5), ones(1, 2, 3, 3), ones(1, 2, 3, 3)),
        [dict(channel_multiplier=2), dict(kernel_size=2), dict(group=3), dict(pad_list=1)],
    ),
    (
        G.MaxPoolGradWithArgmax,
        dict(kernel_size=2, strides=2),
        (ones(1, 1, 5, 5), ones(1, 1, 2, 2), Tensor(np.zeros((1, 1, 2, 2), np.int32))),
        [dict(kernel_size=4), dict(strides=1), dict(pad_mode="same")],
    ),
    (
        G.MaxPoolGradGradWithArgmax,
        dict(kernel_size=2, strides=2),
        (ones(1, 1, 5, 5), ones(1, 1, 5, 5), Tensor(np.zeros((1, 1, 2, 2), np.int32))),
        [dict(kernel_size=4), dict(strides=1), dict(pad_mode="same")],
    ),
]


@pytest.mark.parametrize(("make", "right", "inputs", "wrong"), IMPLIED, ids=[case[0].__name__ for case in IMPLIED])
def test_an_attribute_that_the_shapes_imply_is_compared_with_them(make, right, inputs, wrong):
    make(**right)(*inputs)
    for change in wrong:
        with pytest.raises(ValueError, match=f"For '{make.__name__}', '.*' should "):
            make(**{**right, **change})(*inputs)


@pytest.mark.parametrize("wrong", [dict(out_channel=5), dict(kernel_size=2)], ids=lambda wrong: next(iter(wrong)))
def test_an_attribute_that_the_weights_overrule_is_said(capsys, wrong):
    dy, x, w = ones(1, 4, 3, 3), ones(1, 2, 5, 5), ones(4, 2, 3, 3)
    right = dict(out_channel=4, kernel_size=3)
    for make, inputs in ((ops.Conv2DBackpropInput, (dy, w, x.shape)), (G.Conv2DBackpropFilter, (dy, x, w.shape))):
        expected = make(**right)(*inputs)
        assert make.__name__ not in capsys.readouterr().err
        assert np.array_equal(make(**{**right, **wrong})(*inputs).asnumpy(), expected.asnumpy())
        assert f"{make.__name__}: '{next(iter(wrong))}' has no effect here" in capsys.readouterr().err


def test_right_values_of_what_the_shapes_imply_are_taken():
    dy, x = ones(1, 4, 5, 5), ones(1, 2, 5, 5)
    plain = G.Conv2DBackpropFilter(4, 3, pad_mode="same")(dy, x, (4, 2, 3, 3))
    result = G.Conv2DBackpropFilter(4, 3, pad_mode="same", pad_list=(1, 1, 1, 1))(dy, x, (4, 2, 3, 3))
    assert np.array_equal(plain.asnumpy(), result.asnumpy())
    assert ops.DepthwiseConv2dNative(1, 3, group=2)(x, ones(1, 2, 3, 3)).shape == (1, 2, 3, 3)
