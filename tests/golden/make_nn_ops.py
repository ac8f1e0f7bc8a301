"""Writes nn_ops.npz: what MindSpore 2.7.1 (CPU) gives for the operators of neural networks.

    python tests/golden/make_nn_ops.py            # with an interpreter that has MindSpore

A case names a class, its attributes and how to draw its inputs; the same seeds draw them again in the test. Stored are
the outputs, the gradients of `wrt` under a drawn cotangent of output `of`, and what was written in place.
"""

import pathlib
import zlib

import numpy as np

FILE = pathlib.Path(__file__).parent / "nn_ops.npz"


class Case:
    """One call of an operator."""

    def __init__(self, key, cls, attrs=None, inputs=(), wrt=None, of=0, writes=(), tol=1e-5, outputs=None):
        self.key, self.cls, self.attrs, self.writes, self.of, self.tol = key, cls, attrs or {}, writes, of, tol
        self.outputs = outputs  # numbers of the outputs that are compared; None: all
        self.draw = inputs
        self.wrt = wrt

    def inputs(self):
        """The inputs: arrays, or static values as they are."""
        r = np.random.RandomState(zlib.crc32(self.key.encode()) & 0x7FFFFFFF)
        return [d(r) if callable(d) else d for d in self.draw]

    def cotangent(self, shape, dtype):
        """The drawn cotangent of the differentiated output."""
        r = np.random.RandomState(zlib.crc32(self.key.encode()) % 1000003)
        return r.uniform(-1, 1, shape).astype(dtype)


def F(*shape, scale=1.0, dtype=np.float32):
    """Normal numbers."""
    return lambda r: (r.randn(*shape) * scale).astype(dtype)


def U(*shape, low=0.0, high=1.0, dtype=np.float32):
    """Uniform numbers."""
    return lambda r: r.uniform(low, high, shape).astype(dtype)


def I(*shape, high, low=0, dtype=np.int32):  # noqa: E743
    """Integers in [low, high)."""
    return lambda r: r.randint(low, high, shape).astype(dtype)


def T(*shape, dtype=np.float32):
    """Few different values, so that maxima are tied."""
    return lambda r: r.randint(-2, 3, shape).astype(dtype)


def S(value):
    """A scalar Tensor."""
    return lambda r: np.array(value, np.float32)


KINKS = np.array([-4.0, -3.0, -1.5, -0.5, 0.0, 0.5, 1.0, 3.0, 5.0, 6.0, 7.0, -7.0], np.float32)


def K(r):
    """Where activations have kinks."""
    return KINKS.copy()


CASES = []


def add(key, cls, attrs=None, inputs=(), **options):
    CASES.append(Case(key, cls, attrs, inputs, **options))


for _name in (
    "ReLU",
    "ReLU6",
    "Elu",
    "HSwish",
    "HSigmoid",
    "Sigmoid",
    "Tanh",
    "Softplus",
    "Softsign",
    "GeLU",
    "FastGeLU",
    "Mish",
    "SeLU",
    "HShrink",
    "SoftShrink",
):
    # MindSpore's tanh on CPU is an approximation; its gradient of SeLU is not that of its SeLU
    _tol, _wrt = {"Tanh": 2e-4, "Mish": 1e-3}.get(_name, 1e-5), None if _name == "SeLU" else (0,)
    add(_name, _name, {}, (F(3, 5, scale=3.0),), wrt=_wrt, tol=_tol)
    if _name in ("ReLU", "ReLU6", "Elu", "HSigmoid", "HShrink", "SoftShrink"):
        add(_name + "_kinks", _name, {}, (K,), wrt=_wrt, tol=_tol)
    if _name in ("ReLU", "Sigmoid", "Softplus", "GeLU"):
        add(_name + "_f16", _name, {}, (F(3, 5, dtype=np.float16),), wrt=_wrt, tol=2e-3)
add("ReLU_int", "ReLU", {}, (T(3, 4, dtype=np.int32),))
add("PReLU", "PReLU", {}, (F(2, 3, 4, 4), F(3)), wrt=(0, 1))
add("PReLU_1", "PReLU", {}, (F(2, 3, 4), F(1)), wrt=(0, 1))
add("Softmax", "Softmax", {}, (F(3, 5),), wrt=(0,))
add("Softmax_axis", "Softmax", {"axis": 1}, (F(2, 3, 4),), wrt=(0,))
add("LogSoftmax", "LogSoftmax", {}, (F(3, 5, scale=10),), wrt=(0,), tol=1e-4)
add("LogSoftmax_0", "LogSoftmax", {"axis": 0}, (F(3, 5),), wrt=(0,))

for _key, _x, _w, _a in (
    ("3x3", (2, 3, 8, 8), (4, 3, 3, 3), {}),
    ("same", (2, 3, 8, 7), (4, 3, 3, 3), {"pad_mode": "same"}),
    ("same_s2", (2, 3, 9, 8), (4, 3, 3, 3), {"pad_mode": "same", "stride": 2}),
    ("same_4", (1, 3, 9, 8), (4, 3, 4, 4), {"pad_mode": "same", "stride": 2}),
    ("pad", (2, 3, 8, 8), (4, 3, 5, 3), {"pad_mode": "pad", "pad": (2, 1, 0, 1)}),
    ("dilated", (1, 2, 10, 10), (3, 2, 3, 3), {"dilation": 2, "pad_mode": "pad", "pad": 2}),
    ("group", (2, 4, 6, 6), (6, 2, 3, 3), {"group": 2}),
    ("depthwise", (2, 4, 6, 6), (4, 1, 3, 3), {"group": 4}),
    ("1x1", (2, 5, 4, 4), (7, 5, 1, 1), {}),
    ("1x1_s2", (2, 5, 5, 5), (7, 5, 1, 1), {"stride": 2}),
    ("one_channel", (2, 1, 9, 9), (4, 1, 5, 5), {}),
    ("deep", (1, 40, 2, 2), (8, 40, 3, 3), {"pad_mode": "same"}),
):
    add(
        "Conv2D_" + _key,
        "Conv2D",
        {"out_channel": _w[0], "kernel_size": _w[2:], **_a},
        (F(*_x), F(*_w)),
        wrt=(0, 1),
        tol=3e-5,
    )
add(
    "Conv2DBackpropInput",
    "Conv2DBackpropInput",
    {"out_channel": 4, "kernel_size": 3, "pad_mode": "same", "stride": 2},
    (F(2, 4, 4, 4), F(4, 3, 3, 3), (2, 3, 8, 8)),
    wrt=(0, 1),
    tol=3e-5,
)
add("Conv3D", "Conv3D", {"out_channel": 4, "kernel_size": 2}, (F(1, 3, 4, 5, 4), F(4, 3, 2, 2, 2)), tol=3e-5)
add(
    "Conv3DTranspose",
    "Conv3DTranspose",
    {"in_channel": 4, "out_channel": 3, "kernel_size": 2, "stride": 2},
    (F(1, 4, 3, 3, 2), F(4, 3, 2, 2, 2)),
    tol=3e-5,
)

for _name in ("MaxPool", "AvgPool"):
    for _key, _a in (
        ("2", {"kernel_size": 2, "strides": 2}),
        ("3s2same", {"kernel_size": 3, "strides": 2, "pad_mode": "same"}),
        ("3s1", {"kernel_size": (3, 2), "strides": (1, 2)}),
        ("4s2same", {"kernel_size": 4, "strides": 2, "pad_mode": "SAME"}),
        ("5s3", {"kernel_size": 5, "strides": 3}),
    ):
        add(f"{_name}_{_key}", _name, _a, (T(2, 3, 8, 9),), wrt=(0,))
add("MaxPoolWithArgmax", "MaxPoolWithArgmax", {"kernel_size": 2, "strides": 2}, (T(2, 3, 6, 6),), wrt=(0,))
add("MaxPool3D", "MaxPool3D", {"kernel_size": 2, "strides": 2}, (T(1, 2, 4, 4, 6),), wrt=(0,))
add("AvgPool3D", "AvgPool3D", {"kernel_size": 2, "strides": 2, "pad_mode": "same"}, (F(1, 2, 4, 5, 6),))

_bn = (F(4, 3, 5, 5), U(3, low=0.5, high=2.0), F(3), F(3), U(3, low=0.5, high=2.0))
add("BatchNorm_infer", "BatchNorm", {"is_training": False}, _bn, wrt=(0, 1, 2), outputs=(0,), tol=3e-5)
add(
    "BatchNorm_train",
    "BatchNorm",
    {"is_training": True, "momentum": 0.3},
    _bn,
    wrt=(0, 1, 2),
    outputs=(0,),
    writes=(3, 4),
    tol=3e-5,
)
add(
    "BatchNorm_2d",
    "BatchNorm",
    {"is_training": True, "epsilon": 1e-3},
    (F(6, 3), *_bn[1:]),
    outputs=(0,),
    wrt=(0,),
    writes=(3, 4),
    tol=3e-5,
)
add("LayerNorm", "LayerNorm", {"epsilon": 1e-5}, (F(3, 7), F(7), F(7)), wrt=(0, 1, 2), tol=3e-5)
add(
    "LayerNorm_3d",
    "LayerNorm",
    {"begin_norm_axis": -1, "begin_params_axis": -1},
    (F(2, 3, 6), F(6), F(6)),
    wrt=(0, 1, 2),
    tol=3e-5,
)
add(
    "LayerNorm_2axes",
    "LayerNorm",
    {"begin_norm_axis": 1, "begin_params_axis": 1, "epsilon": 1e-5},
    (F(2, 3, 4), F(3, 4), F(3, 4)),
    wrt=(0, 1, 2),
    tol=3e-5,
)
add("L2Normalize", "L2Normalize", {"axis": 1}, (F(3, 5),), wrt=(0,))
add("LRN", "LRN", {"depth_radius": 2, "bias": 1.0, "alpha": 0.1, "beta": 0.5}, (F(2, 7, 3, 3),), wrt=(0,))

add("SoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits", {}, (F(4, 5), U(4, 5)), wrt=(0, 1))
add("SparseSoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits", {}, (F(4, 5), I(4, high=5)), wrt=(0,))
add(
    "SparseSoftmaxCrossEntropyWithLogits_grad",
    "SparseSoftmaxCrossEntropyWithLogits",
    {"is_grad": True},
    (F(4, 5), I(4, high=5)),
)
add("SigmoidCrossEntropyWithLogits", "SigmoidCrossEntropyWithLogits", {}, (F(4, 5, scale=4), U(4, 5)), wrt=(0,))
for _red in ("none", "mean"):
    add(
        "BinaryCrossEntropy_" + _red,
        "BinaryCrossEntropy",
        {"reduction": _red},
        (U(4, 5, low=0.05, high=0.95), U(4, 5), U(4, 5)),
        wrt=(0,),
    )
    add("KLDivLoss_" + _red, "KLDivLoss", {"reduction": _red}, (F(4, 5), U(4, 5)), wrt=(0,))
    add("NLLLoss_" + _red, "NLLLoss", {"reduction": _red}, (F(4, 5), I(4, high=5), U(5)), wrt=(0,))
    add(
        "BCEWithLogitsLoss_" + _red,
        "BCEWithLogitsLoss",
        {"reduction": _red},
        (F(4, 5), U(4, 5), U(4, 5), U(4, 5)),
        wrt=(0,),
    )
add("SmoothL1Loss", "SmoothL1Loss", {"beta": 0.7}, (F(4, 5), F(4, 5)), wrt=(0, 1))
add("L2Loss", "L2Loss", {}, (F(4, 5),), wrt=(0,))

_p3 = (F(3, 4), F(3, 4), U(3, 4, low=0.1, high=1.0))
add("ApplyMomentum", "ApplyMomentum", {}, (F(3, 4), F(3, 4), 0.1, F(3, 4), 0.9), writes=(0, 1), outputs=())
add(
    "ApplyMomentum_tensors", "ApplyMomentum", {}, (F(3, 4), F(3, 4), S(0.1), F(3, 4), S(0.9)), writes=(0, 1), outputs=()
)
add("Adam", "Adam", {}, (*_p3, 0.9, 0.999, 0.01, 0.9, 0.999, 1e-8, F(3, 4)), writes=(0, 1, 2), outputs=())
add(
    "Adam_nesterov",
    "Adam",
    {"use_nesterov": True},
    (*_p3, 0.81, 0.99, 0.01, 0.9, 0.999, 1e-8, F(3, 4)),
    writes=(0, 1, 2),
    outputs=(),
)
add(
    "AdamWeightDecay", "AdamWeightDecay", {}, (*_p3, 0.01, 0.9, 0.999, 1e-6, 0.1, F(3, 4)), writes=(0, 1, 2), outputs=()
)
add(
    "SGD",
    "SGD",
    {"dampening": 0.1, "weight_decay": 0.2},
    (F(3, 4), F(3, 4), S(0.1), F(3, 4), S(0.9), lambda r: np.zeros((3, 4), np.float32)),
    writes=(0, 3),
    outputs=(),
)
add(
    "SGD_first",
    "SGD",
    {"weight_decay": 0.2, "nesterov": True},
    (F(3, 4), F(3, 4), S(0.1), F(3, 4), S(0.9), lambda r: np.ones((3, 4), np.float32)),
    writes=(0, 3, 5),
    outputs=(),
)
add(
    "ApplyRMSProp",
    "ApplyRMSProp",
    {},
    (F(3, 4), U(3, 4), F(3, 4), 0.1, F(3, 4), 0.9, 0.5, 1e-3),
    writes=(0, 1, 2),
    outputs=(),
    tol=3e-4,
)
add(
    "ApplyCenteredRMSProp",
    "ApplyCenteredRMSProp",
    {},
    (F(3, 4), U(3, 4, high=0.1), U(3, 4, low=0.5), F(3, 4), F(3, 4), 0.1, 0.9, 0.5, 1e-3),
    writes=(0, 1, 2, 3),
    outputs=(),
)
add("ApplyAdagrad", "ApplyAdagrad", {}, (F(3, 4), U(3, 4), 0.1, F(3, 4)), writes=(0, 1), outputs=())
add("ApplyAdagradV2", "ApplyAdagradV2", {"epsilon": 1e-3}, (F(3, 4), U(3, 4), 0.1, F(3, 4)), writes=(0, 1), outputs=())
add(
    "ApplyAdagradV2_frozen",
    "ApplyAdagradV2",
    {"epsilon": 1e-3, "update_slots": False},
    (F(3, 4), U(3, 4), 0.1, F(3, 4)),
    writes=(0, 1),
    outputs=(),
)
add(
    "ApplyProximalAdagrad",
    "ApplyProximalAdagrad",
    {},
    (F(3, 4), U(3, 4), 0.1, 0.3, 0.2, F(3, 4)),
    writes=(0, 1),
    outputs=(),
)
add("ApplyAdaMax", "ApplyAdaMax", {}, (*_p3, 0.9, 0.01, 0.9, 0.99, 1e-8, F(3, 4)), writes=(0, 1, 2), outputs=())
add(
    "ApplyAdadelta",
    "ApplyAdadelta",
    {},
    (F(3, 4), U(3, 4), U(3, 4), 0.1, 0.9, 1e-3, F(3, 4)),
    writes=(0, 1, 2),
    outputs=(),
)
add("ApplyAddSign", "ApplyAddSign", {}, (F(3, 4), F(3, 4), 0.1, 1.0, 0.9, 0.8, F(3, 4)), writes=(0, 1), outputs=())
add("ApplyPowerSign", "ApplyPowerSign", {}, (F(3, 4), F(3, 4), 0.1, 2.0, 0.9, 0.8, F(3, 4)), writes=(0, 1), outputs=())
add("ApplyGradientDescent", "ApplyGradientDescent", {}, (F(3, 4), 0.1, F(3, 4)), writes=(0,), outputs=())
add(
    "ApplyProximalGradientDescent",
    "ApplyProximalGradientDescent",
    {},
    (F(3, 4), 0.1, 0.3, 0.2, F(3, 4)),
    writes=(0,),
    outputs=(),
)
add("LARSUpdate", "LARSUpdate", {}, (F(3, 4), F(3, 4), S(4.0), S(2.0), S(0.1), S(0.5)))
_rows = (F(3, 4), lambda r: np.array([4, 1, 4], np.int32))
add(
    "FusedSparseAdam",
    "FusedSparseAdam",
    {},
    (F(6, 4), F(6, 4), U(6, 4, low=0.1), S(0.9), S(0.999), S(0.01), S(0.9), S(0.999), S(1e-8), *_rows),
    writes=(0, 1, 2),
    outputs=(),
)
add(
    "FusedSparseLazyAdam",
    "FusedSparseLazyAdam",
    {},
    (F(6, 4), F(6, 4), U(6, 4, low=0.1), S(0.9), S(0.999), S(0.01), S(0.9), S(0.999), S(1e-8), *_rows),
    writes=(0, 1, 2),
    outputs=(),
)
_ftrl = {"lr": 0.1, "l1": 0.2, "l2": 0.1, "lr_power": -0.5}
add(
    "FusedSparseFtrl",
    "FusedSparseFtrl",
    _ftrl,
    (F(6, 4), U(6, 4, low=0.1), F(6, 4), *_rows),
    writes=(0, 1, 2),
    outputs=(),
    tol=1e-4,
)
add(
    "SparseApplyFtrl",
    "SparseApplyFtrl",
    _ftrl,
    (F(6, 4), U(6, 4, low=0.1), F(6, 4), F(2, 4), lambda r: np.array([4, 1], np.int32)),
    writes=(0, 1, 2),
    outputs=(),
    tol=1e-4,
)
add(
    "FusedSparseProximalAdagrad",
    "FusedSparseProximalAdagrad",
    {},
    (F(6, 4), U(6, 4), S(0.1), S(0.3), S(0.2), *_rows),
    writes=(0, 1),
    outputs=(),
)
add(
    "SparseApplyProximalAdagrad",
    "SparseApplyProximalAdagrad",
    {},
    (F(6, 4), U(6, 4), S(0.1), S(0.3), S(0.2), F(2, 4), lambda r: np.array([4, 1], np.int32)),
    writes=(0, 1),
    outputs=(),
)
add(
    "SparseApplyAdagrad",
    "SparseApplyAdagrad",
    {"lr": 0.1},
    (F(6, 4), U(6, 4), F(2, 4), lambda r: np.array([4, 1], np.int32)),
    writes=(0, 1),
    outputs=(),
)
add(
    "SparseApplyAdagradV2",
    "SparseApplyAdagradV2",
    {"lr": 0.1, "epsilon": 1e-3},
    (F(6, 4), U(6, 4), F(2, 4), lambda r: np.array([4, 1], np.int32)),
    writes=(0, 1),
    outputs=(),
    tol=3e-4,
)

for _al in (False, True):
    for _size in ((3, 9), (1, 2)):
        add(
            f"ResizeBilinear_{_al}_{_size[0]}",
            "ResizeBilinear",
            {"size": _size, "align_corners": _al},
            (F(2, 3, 4, 6),),
            wrt=(0,),
        )
add(
    "CropAndResize",
    "CropAndResize",
    {},
    (
        F(2, 6, 7, 3),
        lambda r: np.array([[0.1, 0.2, 0.8, 0.9], [0.6, -0.2, 0.2, 1.1], [0, 0, 1, 1]], np.float32),
        I(3, high=2),
        (3, 4),
    ),
    tol=2e-5,
)
add(
    "CropAndResize_nearest",
    "CropAndResize",
    {"method": "nearest", "extrapolation_value": 2.0},
    (
        F(2, 6, 7, 3),
        lambda r: np.array([[0.1, 0.2, 0.8, 0.9], [0.6, -0.2, 0.2, 1.1], [0, 0, 1, 1]], np.float32),
        I(3, high=2),
        (3, 4),
    ),
)
add(
    "ROIAlign",
    "ROIAlign",
    {"pooled_height": 2, "pooled_width": 3, "spatial_scale": 0.5, "sample_num": 2},
    (F(2, 3, 6, 7), lambda r: np.array([[0, 1, 2, 9, 10], [1, -3, 0, 14, 5]], np.float32)),
    wrt=(0,),
    tol=2e-5,
)

add("OneHot", "OneHot", {}, (I(3, 2, high=5), 4, S(1.0), S(0.5)))
add("OneHot_0", "OneHot", {"axis": 0}, (I(3, 2, high=4), 4, S(2.0), S(0.0)))
add("TopK", "TopK", {"sorted": True}, (F(3, 7), 4), wrt=(0,))
add("InTopK", "InTopK", {"k": 2}, (F(4, 5), I(4, high=5)))
add("BiasAdd", "BiasAdd", {}, (F(2, 3, 4, 4), F(3)), wrt=(0, 1))
add("BiasAdd_2d", "BiasAdd", {}, (F(2, 3), F(3)), wrt=(0, 1))
add("Flatten", "Flatten", {}, (F(2, 3, 4),), wrt=(0,))
add("Pad", "Pad", {"paddings": ((1, 2), (0, 3))}, (F(2, 3),), wrt=(0,))
for _m in ("REFLECT", "SYMMETRIC"):
    add(
        "MirrorPad_" + _m,
        "MirrorPad",
        {"mode": _m},
        (F(3, 4), lambda r: np.array([[1, 2], [2, 1]], np.int64)),
        wrt=(0,),
    )
add(
    "CTCLoss",
    "CTCLoss",
    {},
    (
        F(6, 2, 5),
        lambda r: np.array([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], np.int64),
        lambda r: np.array([1, 2, 3, 3, 0], np.int32),
        lambda r: np.array([6, 6], np.int32),
    ),
    wrt=(0,),
    tol=3e-5,
)
add("CTCGreedyDecoder", "CTCGreedyDecoder", {}, (F(6, 2, 4), lambda r: np.array([6, 4], np.int32)))


# ---------------------------------------------------------------------- functional forms of 2.x
def add_form(name, inputs, attrs=None, suffix="", wrt=(0,), **options):
    CASES.append(Case(f"ops.{name}{suffix}", "ops." + name, attrs, inputs, wrt=wrt, **options))


_img = (F(2, 4, 6, 7),)
for _name, _attrs in (
    ("leaky_relu", {"alpha": 0.1}),
    ("silu", {}),
    ("logsigmoid", {}),
    ("hardtanh", {"max_val": 0.5}),
    ("threshold", {"thr": 0.2, "value": 3.0}),
    ("glu", {}),
    ("gelu", {}),
    ("softmax", {"axis": 0}),
    ("softmin", {}),
    ("celu", {"alpha": 0.7}),
    ("softshrink", {"lambd": 0.3}),
):
    add_form(_name, (F(3, 6, scale=2),), _attrs, tol=1e-4 if _name in ("glu", "gelu") else 2e-5)
add_form("gelu", (F(3, 6),), {"approximate": "tanh"}, "_tanh", tol=2e-4)
add_form("softplus", (F(3, 6, scale=5),), {"beta": 2, "threshold": 4}, tol=2e-4)
for _red in ("none", "mean"):
    _r = {"reduction": _red}
    add_form("mse_loss", (F(4, 5), F(4, 5)), _r, "_" + _red)
    add_form("l1_loss", (F(4, 5), F(4, 5)), _r, "_" + _red)
    add_form("smooth_l1_loss", (F(4, 5), F(4, 5)), {"beta": 0.5, **_r}, "_" + _red)
    add_form("huber_loss", (F(4, 5), F(4, 5)), {"delta": 0.5, **_r}, "_" + _red)
    add_form("cross_entropy", (F(4, 5), I(4, high=5)), _r, "_" + _red)
    add_form("nll_loss", (F(4, 5), I(4, high=5), U(5)), _r, "_" + _red)
_signs = lambda r: np.array([1, -1, 1, -1], np.float32)  # noqa: E731
add_form("margin_ranking_loss", (F(4), F(4), _signs))
add_form("hinge_embedding_loss", (F(4), _signs))
add_form("gaussian_nll_loss", (F(4, 3), F(4, 3), U(4, 3, low=0.1)))
add_form("cosine_embedding_loss", (F(4, 3), F(4, 3), lambda r: np.array([1, -1, 1, -1], np.int32)), tol=1e-4)
add_form("cross_entropy", (F(2, 5, 3), I(2, 3, high=5), U(5)), {"ignore_index": 2, "label_smoothing": 0.1}, "_smooth")
add_form("cross_entropy", (F(4, 5), U(4, 5)), {}, "_shares")
add_form("binary_cross_entropy_with_logits", (F(4, 5), U(4, 5), U(4, 5), U(4, 5)))
add_form("conv1d", (F(2, 4, 9), F(6, 2, 3), F(6)), {"groups": 2, "stride": 2, "pad_mode": "same"}, tol=3e-5)
add_form("conv2d", (*_img, F(5, 4, 3, 3), F(5)), {"pad_mode": "pad", "padding": (1, 2)}, wrt=(0, 1), tol=3e-5)
add_form("conv3d", (F(1, 2, 4, 4, 5), F(3, 2, 2, 2, 2)), {}, wrt=None, tol=3e-5)
for _key, _attrs in (
    ("", {"kernel_size": 2, "stride": 2}),
    ("_pad", {"kernel_size": 3, "stride": 2, "padding": 1}),
    ("_ceil", {"kernel_size": 2, "stride": 2, "ceil_mode": True}),
):
    add_form("max_pool2d", (T(2, 3, 7, 7),), _attrs, _key)
    add_form("avg_pool2d", _img, _attrs, _key)
add_form("avg_pool1d", (F(2, 3, 9),), {"kernel_size": 3, "stride": 2})
for _kind in ("avg", "max"):
    add_form(f"adaptive_{_kind}_pool2d", _img, {"output_size": (3, 4)})
    add_form(f"adaptive_{_kind}_pool1d", (F(2, 3, 10),), {"output_size": 5})
add_form("layer_norm", (F(2, 3, 4), (3, 4), F(3, 4), F(3, 4)), tol=3e-5)
add_form("group_norm", (*_img, 2, F(4), F(4)), tol=3e-5)
add_form("rms_norm", (F(2, 3, 4), F(4)), tol=3e-5)
add_form("dense", (F(2, 3, 4), F(5, 4), F(5)), wrt=(0, 1))
add_form("embedding", (I(2, 3, high=5), F(5, 4)), {"padding_idx": 2}, wrt=None)
add_form("one_hot", (I(2, 3, high=5), 5), wrt=None)
add_form("topk", (F(3, 6), 2), {"dim": 0, "largest": False})
add_form("flatten", (F(2, 3, 4, 2),), {"start_dim": 1, "end_dim": 2})
for _mode in ("constant", "reflect", "replicate"):
    add_form("pad", _img, {"padding": (1, 2, 2, 1), "mode": _mode}, "_" + _mode)
add_form("interpolate", _img, {"size": (12, 14)}, "_nearest")
add_form("interpolate", _img, {"size": (9, 5), "mode": "bilinear"}, "_bilinear", tol=3e-5)
add_form("interpolate", _img, {"size": (9, 5), "mode": "bilinear", "align_corners": True}, "_corners", tol=3e-5)
add_form("interpolate", (F(2, 3, 7),), {"size": 5, "mode": "linear"}, "_linear", tol=3e-5)
add_form("pixel_shuffle", _img, {"upscale_factor": 2})
add_form("pixel_unshuffle", (F(2, 3, 4, 6),), {"downscale_factor": 2})
add_form("channel_shuffle", _img, {"groups": 2})
for _mode in ("bilinear", "nearest"):
    add_form("grid_sample", (*_img, U(2, 3, 4, 2, low=-1.2, high=1.2)), {"mode": _mode}, "_" + _mode, tol=3e-5)
add_form("unfold", _img, {"kernel_size": 2, "stride": 2})
add_form(
    "ctc_loss",
    (
        F(6, 2, 5, scale=0.1),
        I(2, 3, low=1, high=5),
        lambda r: np.array([6, 6], np.int32),
        lambda r: np.array([3, 2], np.int32),
    ),
    {"reduction": "none"},
    wrt=None,
    outputs=(0,),
    tol=1e-4,
)


def _operator(case, ms):
    if case.cls.startswith("ops."):
        form = getattr(ms.ops, case.cls[4:])
        return lambda *args: form(*args, **case.attrs)
    if case.cls == "ResizeBilinear":  # 2.x has it under another name, with the size as an input
        attrs = dict(case.attrs)
        size = attrs.pop("size")
        resize = ms.ops.operations.image_ops.ResizeBilinearV2(**attrs)
        return lambda x: resize(x, size)
    return getattr(ms.ops, case.cls)(**case.attrs)


def run_mindspore(case, ms):
    """Outputs, gradients and written values of one case under MindSpore."""
    found = {}
    op = _operator(case, ms)
    boxes = [ms.Tensor(v) if isinstance(v, np.ndarray) else v for v in case.inputs()]
    for i in case.writes:
        boxes[i] = ms.Parameter(boxes[i], name=f"p{i}")
    out = op(*boxes)
    outs = out if isinstance(out, (tuple, list)) else (out,)
    ms.runtime.synchronize()
    for i in range(len(outs)) if case.outputs is None else case.outputs:
        found[f"out{i}"] = outs[i].asnumpy()
    for i in case.writes:
        found[f"written{i}"] = boxes[i].asnumpy()
    if case.wrt is not None:
        base = [ms.Tensor(v) if isinstance(v, np.ndarray) else v for v in case.inputs()]
        for i in case.writes:
            base[i] = ms.Parameter(base[i], name=f"q{i}")
        single = not isinstance(out, (tuple, list))

        def fn(*args):
            full = list(base)
            for i, a in zip(case.wrt, args, strict=True):
                full[i] = a
            result = op(*full)
            return result if single else result[case.of]

        sens = ms.Tensor(case.cotangent(outs[case.of].shape, outs[case.of].asnumpy().dtype))
        grads = ms.ops.GradOperation(get_all=True, sens_param=True)(fn)(*[base[i] for i in case.wrt], sens)
        for i, g in zip(case.wrt, grads, strict=True):
            found[f"grad{i}"] = g.asnumpy()
    return found


def main():
    """Run every case that this MindSpore has on CPU; say which it has not."""
    import mindspore as ms

    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", pynative_synchronize=True)
    store = {}
    for case in CASES:
        try:
            for name, value in run_mindspore(case, ms).items():
                store[f"{case.key}/{name}"] = value
        except Exception as problem:  # not every operator has a CPU kernel
            print("left out", case.key, type(problem).__name__, str(problem).strip().splitlines()[:1])
    np.savez_compressed(FILE, **store)
    print(len({k.split("/")[0] for k in store}), "of", len(CASES), "cases,", FILE.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
