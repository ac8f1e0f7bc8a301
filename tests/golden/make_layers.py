"""Golden values of layers and losses, computed by MindSpore 2.7.1 (CPU): run it with an interpreter that has that one.

    python tests/golden/make_layers.py          writes tests/golden/layers.npz

Each case is an expression that builds a Cell, in names that both frameworks have, with r1.1's defaults spelled out, and
its inputs. Parameters are set to a function of their name and shape. Kept: outputs, the gradient of their sum for every
input and trainable Parameter, the names of Parameters, and the moving statistics after one call.
"""

import math
import zlib
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("layers.npz")
IMAGE, ROWS, VOLUME = "f(2,4,6,6)", "f(3,4)", "f(2,2,4,5,3)"

# name: (Cell, inputs, remarks); remarks: "train", "first" (only the first input has a gradient, in r1.1 or here),
# "sparse" (MindSpore's gradient of the Parameter is sparse), "values" (MindSpore's gradient is that of what made the
# input: of log_softmax before CTC)
CASES = {
    "softmax": ("nn.Softmax()", ROWS),
    "softmax_axis": ("nn.Softmax(0)", ROWS),
    "log_softmax": ("nn.LogSoftmax(axis=-1)", ROWS),
    "relu": ("nn.ReLU()", ROWS),
    "relu6": ("nn.ReLU6()", "f(3,4)*6"),
    "tanh": ("nn.Tanh()", ROWS),
    "gelu": ("nn.GELU()", ROWS),
    "gelu_exact": ("nn.GELU(approximate=False)", ROWS),
    "fast_gelu": ("nn.FastGelu()", ROWS),
    "sigmoid": ("nn.Sigmoid()", ROWS),
    "prelu": ("nn.PReLU(channel=4, w=0.25)", IMAGE),
    "leaky_relu": ("nn.LeakyReLU(alpha=0.2)", ROWS),
    "hsigmoid": ("nn.HSigmoid()", "f(3,4)*4"),
    "hswish": ("nn.HSwish()", "f(3,4)*4"),
    "elu": ("nn.ELU(alpha=1.0)", ROWS),
    "log_sigmoid": ("nn.LogSigmoid()", ROWS),
    "silu": ("nn.SiLU()", ROWS),
    "mish": ("nn.Mish()", ROWS),
    "softsign": ("nn.Softsign()", ROWS),
    "softmin": ("nn.Softmin()", ROWS),
    "celu": ("nn.CELU(1.5)", ROWS),
    "hardtanh": ("nn.Hardtanh(-0.5, 0.5)", ROWS),
    "tanhshrink": ("nn.Tanhshrink()", ROWS),
    "hshrink": ("nn.HShrink()", ROWS),
    "soft_shrink": ("nn.SoftShrink(0.25)", ROWS),
    "softmax2d": ("nn.Softmax2d()", IMAGE),
    "glu": ("nn.GLU(1)", IMAGE),
    "threshold": ("nn.Threshold(0.1, -2.0)", ROWS),
    "lrn": ("nn.LRN(2, 1.5, 0.7, 0.75)", "f(2,6,3,3)"),
    "pixel_shuffle": ("nn.PixelShuffle(2)", "f(2,8,3,4)"),
    "pixel_unshuffle": ("nn.PixelUnshuffle(2)", "f(2,2,6,4)"),
    "channel_shuffle": ("nn.ChannelShuffle(2)", IMAGE),
    "unflatten": ("nn.Unflatten(1, (2, -1))", IMAGE),
    "unflatten_last": ("nn.Unflatten(-1, [3, 2])", IMAGE),
    "dense": ("nn.Dense(4, 5)", ROWS),
    "dense_3d_no_bias": ("nn.Dense(4, 5, has_bias=False)", "f(2,3,4)"),
    "dense_activation": ("nn.Dense(4, 5, activation='sigmoid')", ROWS),
    "linear": ("nn.Linear(4, 5)", "f(2,3,4)"),
    "linear_no_bias": ("nn.Linear(4, 5, bias=False)", ROWS),
    "bi_dense": ("nn.BiDense(4, 3, 5)", "f(2,3,4), f(2,3,3)"),
    "bi_dense_no_bias": ("nn.BiDense(4, 3, 5, has_bias=False)", "f(2,4), f(2,3)"),
    "flatten": ("nn.Flatten()", IMAGE),
    "flatten_some": ("nn.Flatten(2, -1)", IMAGE),
    "flatten_all": ("nn.Flatten(start_dim=0, end_dim=2)", IMAGE),
    "time_distributed": ("nn.TimeDistributed(nn.Dense(4, 5), 1)", "f(2,3,4)"),
    "time_distributed_joined": ("nn.TimeDistributed(nn.Dense(4, 5), 1, reshape_with_axis=0)", "f(2,3,4)"),
    "norm": ("nn.Norm(axis=1)", ROWS),
    "onehot": ("nn.OneHot(axis=1, depth=5, on_value=2.0, off_value=-1.0)", "i(3,2,n=5)"),
    "pad": ("nn.Pad(((1, 2), (0, 3)))", ROWS),
    "pad_reflect": ("nn.Pad(((1, 2), (0, 3)), mode='REFLECT')", ROWS),
    "pad_symmetric": ("nn.Pad(((1, 2), (2, 1)), mode='SYMMETRIC')", ROWS),
    "clip_by_norm": ("nn.ClipByNorm()", "f(3,4), const(0.5)"),
    "conv2d_same": ("nn.Conv2d(4, 6, 3, stride=2, pad_mode='same')", IMAGE),
    "conv2d_pad": ("nn.Conv2d(4, 6, (3, 2), pad_mode='pad', padding=(1, 0, 2, 1), has_bias=True)", IMAGE),
    "conv2d_dilated": ("nn.Conv2d(4, 6, 2, pad_mode='valid', dilation=2)", IMAGE),
    "conv2d_group": ("nn.Conv2d(4, 8, 3, group=2, has_bias=True)", IMAGE),
    "conv2d_depthwise": ("nn.Conv2d(4, 4, 3, stride=2, pad_mode='pad', padding=1, group=4)", IMAGE),
    "conv1d": ("nn.Conv1d(4, 6, 3, stride=2, has_bias=True)", "f(2,4,7)"),
    "conv1d_pad": ("nn.Conv1d(4, 6, 3, pad_mode='pad', padding=2)", "f(2,4,7)"),
    "conv2d_transpose_same": ("nn.Conv2dTranspose(4, 3, 3, stride=2, has_bias=True)", IMAGE),
    "conv2d_transpose_pad": ("nn.Conv2dTranspose(4, 3, 4, stride=2, pad_mode='pad', padding=1)", IMAGE),
    "conv2d_transpose_valid": ("nn.Conv2dTranspose(4, 3, 3, stride=2, pad_mode='valid')", IMAGE),
    "conv2d_transpose_wider": (
        "nn.Conv2dTranspose(4, 3, 3, stride=(2, 3), pad_mode='pad', padding=1, output_padding=(1, 2), has_bias=True)",
        IMAGE,
    ),
    "conv1d_transpose": ("nn.Conv1dTranspose(4, 3, 3, stride=2, pad_mode='pad', padding=1)", "f(2,4,7)"),
    "conv3d_same": ("nn.Conv3d(2, 4, 3, stride=2, has_bias=True)", VOLUME),
    "conv3d_valid": ("nn.Conv3d(2, 4, (1, 2, 3), pad_mode='valid', dilation=(1, 2, 1))", VOLUME),
    "conv3d_pad": ("nn.Conv3d(2, 4, (3, 2, 2), pad_mode='pad', padding=(1, 0, 2, 1, 0, 1), group=2)", VOLUME),
    "conv3d_transpose_same": ("nn.Conv3dTranspose(2, 3, 3, stride=2, has_bias=True)", VOLUME),
    "conv3d_transpose_valid": ("nn.Conv3dTranspose(2, 4, 2, stride=3, pad_mode='valid', group=2)", VOLUME),
    "conv3d_transpose_pad": (
        "nn.Conv3dTranspose(2, 3, 3, stride=2, pad_mode='pad', padding=1, output_padding=(1, 0, 1))",
        VOLUME,
    ),
    "max_pool2d": ("nn.MaxPool2d(3, 2)", IMAGE),
    "max_pool2d_same": ("nn.MaxPool2d(kernel_size=2, stride=(2, 1), pad_mode='SAME')", IMAGE),
    "avg_pool2d": ("nn.AvgPool2d((2, 3), 2)", IMAGE),
    "avg_pool2d_same": ("nn.AvgPool2d(3, 2, 'same')", IMAGE),
    "max_pool1d": ("nn.MaxPool1d(3, 2)", "f(2,4,7)"),
    "avg_pool1d": ("nn.AvgPool1d(3, 2)", "f(2,4,7)"),
    "max_pool2d_pad": ("nn.MaxPool2d(3, 2, pad_mode='pad', padding=(1, 0), ceil_mode=True)", "f(2,4,7,6)"),
    "max_pool2d_dilated": ("nn.MaxPool2d((3, 2), 1, pad_mode='pad', padding=1, dilation=2)", IMAGE),
    "avg_pool2d_pad": ("nn.AvgPool2d(3, 2, pad_mode='pad', padding=1, count_include_pad=False)", IMAGE),
    "avg_pool2d_divisor": ("nn.AvgPool2d((2, 3), 2, pad_mode='pad', ceil_mode=True, divisor_override=3)", IMAGE),
    "max_pool1d_pad": ("nn.MaxPool1d(3, 2, pad_mode='pad', padding=1, dilation=2)", "f(2,4,7)"),
    "avg_pool1d_pad": ("nn.AvgPool1d(4, 2, pad_mode='pad', padding=2, ceil_mode=True)", "f(2,4,7)"),
    "avg_pool3d": ("nn.AvgPool3d((2, 3, 1), 2)", VOLUME),
    "avg_pool3d_same": ("nn.AvgPool3d(2, (1, 2, 2), pad_mode='same')", VOLUME),
    "avg_pool3d_pad": ("nn.AvgPool3d(3, 2, 'pad', 1, True, False)", VOLUME),
    "avg_pool3d_divisor": ("nn.AvgPool3d(2, 1, 'pad', (1, 0, 1), divisor_override=3)", "f(2,4,5,3)"),
    "max_pool3d": ("nn.MaxPool3d((2, 3, 1), 2)", VOLUME),
    "max_pool3d_same": ("nn.MaxPool3d(2, (1, 2, 2), pad_mode='same')", VOLUME),
    "max_pool3d_pad": ("nn.MaxPool3d(3, 2, 'pad', 1, ceil_mode=True)", VOLUME),
    "max_pool3d_places": ("nn.MaxPool3d(2, 1, 'pad', (1, 0, 1), 2, True)", "f(2,4,5,3)"),
    "lp_pool1d": ("nn.LPPool1d(3, 3, 2)", "u(2,4,7)"),
    "lp_pool1d_alone": ("nn.LPPool1d(2, 2, ceil_mode=True)", "u(4,7)"),
    "lp_pool2d": ("nn.LPPool2d(2, (2, 3), 2, True)", "u(2,4,6,6)"),
    "max_unpool1d": ("nn.MaxUnpool1d(2)", "f(2,3,2), places(2,3,2)", "first"),
    "max_unpool2d": ("nn.MaxUnpool2d(2, (1, 2), (0, 1))", "f(2,3,2,2), places(2,3,2,2)", "first"),
    "max_unpool3d": ("nn.MaxUnpool3d((1, 2, 2), 2)", "f(1,2,2,2,2), places(1,2,2,2,2)", "first"),
    "adaptive_avg_pool2d": ("nn.AdaptiveAvgPool2d((4, 3))", "f(2,4,6,7)"),
    "adaptive_max_pool2d": ("nn.AdaptiveMaxPool2d((None, 3))", "f(2,4,6,7)"),
    "adaptive_max_pool2d_places": ("nn.AdaptiveMaxPool2d((2, 3), return_indices=True)", "f(2,4,6,7)"),
    "adaptive_max_pool3d_places": ("nn.AdaptiveMaxPool3d((2, 3, 1), return_indices=True)", VOLUME),
    "constant_pad1d": ("nn.ConstantPad1d((1, -2), 0.5)", ROWS),
    "constant_pad2d": ("nn.ConstantPad2d((1, 2), 3)", IMAGE),
    "constant_pad3d": ("nn.ConstantPad3d((1, 0, -1, 2), -1.5)", VOLUME),
    "zero_pad2d": ("nn.ZeroPad2d((1, 0, 2, -1))", IMAGE),
    "reflection_pad1d": ("nn.ReflectionPad1d((2, 3))", ROWS),
    "reflection_pad2d": ("nn.ReflectionPad2d((2, 1, 0, 3))", IMAGE),
    "reflection_pad3d": ("nn.ReflectionPad3d(1)", VOLUME),
    "replication_pad1d": ("nn.ReplicationPad1d((2, -1))", "f(2,3,4)"),
    "replication_pad2d": ("nn.ReplicationPad2d((2, 1, 0, 3))", IMAGE),
    "replication_pad3d": ("nn.ReplicationPad3d((1, 0, 2, 1, 0, 1))", VOLUME),
    "attention": ("nn.MultiheadAttention(8, 2)", "f(3,2,8), f(4,2,8), f(4,2,8)"),
    "attention_of_other_lengths": (
        "nn.MultiheadAttention(8, 4, kdim=6, vdim=5, batch_first=True, add_bias_kv=True, add_zero_attn=True)",
        "f(2,3,8), f(2,4,6), f(2,4,5)",
    ),
    "attention_without_bias": ("nn.MultiheadAttention(8, 1, has_bias=False)", "f(3,8), f(4,8), f(4,8)"),
    "encoder_layer": ("nn.TransformerEncoderLayer(8, 2, 6)", "f(3,2,8)"),
    "encoder": (
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 6, activation='gelu', norm_first=True), 2)",
        "f(3,2,8), tri(3), padded(2,3)",
        "first",
    ),
    "decoder_layer": ("nn.TransformerDecoderLayer(8, 2, 6, batch_first=True, norm_first=True)", "f(2,3,8), f(2,4,8)"),
    "decoder": (
        "nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 6), 1, nn.LayerNorm((8,)))",
        "f(3,2,8), f(4,2,8), tri(3), f(3,4)",
        "first",
    ),
    "transformer": ("nn.Transformer(8, 2, 1, 2, 6, activation='gelu')", "f(3,2,8), f(4,2,8)"),
    "batch_norm1d": ("nn.BatchNorm1d(4)", ROWS, "train"),
    "batch_norm1d_eval": ("nn.BatchNorm1d(4)", ROWS),
    "batch_norm1d_rows": ("nn.BatchNorm1d(4)", "f(3,4,5)", "train"),
    "batch_norm2d": ("nn.BatchNorm2d(4, eps=1e-3, momentum=0.7)", IMAGE, "train"),
    "batch_norm2d_eval": ("nn.BatchNorm2d(4)", IMAGE),
    "batch_norm2d_always": ("nn.BatchNorm2d(4, use_batch_statistics=True)", IMAGE),
    "batch_norm2d_never": ("nn.BatchNorm2d(4, use_batch_statistics=False)", IMAGE, "train"),
    "batch_norm2d_not_affine": ("nn.BatchNorm2d(4, affine=False)", IMAGE, "train"),
    "batch_norm3d": ("nn.BatchNorm3d(4)", "f(2,4,2,3,3)", "train"),
    "layer_norm": ("nn.LayerNorm((4,), epsilon=1e-7)", "f(2,3,4)"),
    "layer_norm_axes": ("nn.LayerNorm((3, 4), begin_norm_axis=1, begin_params_axis=1, epsilon=1e-5)", "f(2,3,4)"),
    "group_norm": ("nn.GroupNorm(2, 4)", IMAGE),
    "group_norm_rows": ("nn.GroupNorm(2, 4)", "f(3,4,5)"),
    "embedding": ("nn.Embedding(7, 4)", "i(2,3,n=7)"),
    "embedding_one_hot": ("nn.Embedding(7, 4, use_one_hot=True)", "i(2,3,n=7)"),
    "embedding_lookup": ("nn.EmbeddingLookup(7, 4)", "i(2,3,n=7)", "sparse"),
    "multi_field_sum": ("nn.MultiFieldEmbeddingLookup(7, 4, 2)", "FIELDS", "sparse"),
    "multi_field_mean": ("nn.MultiFieldEmbeddingLookup(7, 4, 2, operator='MEAN')", "FIELDS", "sparse"),
    "multi_field_max": ("nn.MultiFieldEmbeddingLookup(7, 4, 2, operator='MAX')", "FIELDS", "sparse"),
    "sequential": ("nn.SequentialCell([nn.Dense(4, 5), nn.ReLU(), nn.Dense(5, 2)])", ROWS),
    "conv2d_bn_act": ("nn.Conv2dBnAct(4, 6, 3, has_bn=True, activation='relu', momentum=0.997)", IMAGE, "train"),
    "dense_bn_act": ("nn.DenseBnAct(4, 5, has_bn=True, activation='leakyrelu')", ROWS, "train"),
    "image_gradients": ("nn.ImageGradients()", IMAGE),
    "central_crop": ("nn.CentralCrop(0.5)", IMAGE),
    "multi_margin": ("nn.MultiMarginLoss(2, 0.5)", "f(3,4), classes(3,n=4)", "first"),
    "multi_margin_weight": (
        "nn.MultiMarginLoss(weight=Tensor(W[0]), reduction='none')",
        "f(3,4), classes(3,n=4)",
        "first",
    ),
    "multilabel_soft_margin": ("nn.MultiLabelSoftMarginLoss(Tensor(W[0]), 'sum')", "f(3,4), u(3,4)", "first"),
    "margin_ranking": ("nn.MarginRankingLoss(0.3)", "f(3,4), f(3,4), fsign(3,4)", "first"),
    "triplet_distance": ("nn.TripletMarginWithDistanceLoss(swap=True, margin=0.5)", "f(3,4), f(3,4), f(3,4)"),
    "poisson_nll": ("nn.PoissonNLLLoss(full=True)", "f(3,4), i(3,4,n=5)", "first"),
    "poisson_nll_rate": ("nn.PoissonNLLLoss(log_input=False, eps=1e-3, reduction='none')", "u(3,4), u(3,4)"),
    "gaussian_nll": ("nn.GaussianNLLLoss(full=True)", "f(3,4), f(3,4), u(3,4)"),
    "gaussian_nll_rows": ("nn.GaussianNLLLoss(reduction='sum')", "f(3,4), f(3,4), u(3,1)"),
    "ctc_loss": ("nn.CTCLoss()", "logp(6,2,4), i(2,3,n=3)+1, lengths(6,4), lengths(3,2)", "values"),
    "ctc_loss_none": ("nn.CTCLoss(3, 'none', True)", "logp(6,2,4), i(2,3,n=3), lengths(6,4), lengths(3,3)", "values"),
    "multi_class_dice": ("nn.MultiClassDiceLoss(ignore_indiex=1)", "f(3,4,2), u(3,4,2)"),
    "multi_class_dice_weights": ("nn.MultiClassDiceLoss(Tensor(W.T), activation=None)", "u(3,4), u(3,4)"),
    "l1_loss": ("nn.L1Loss()", "f(3,4), f(3,4)"),
    "l1_loss_sum": ("nn.L1Loss(reduction='sum')", "f(3,4), f(3,4)"),
    "mse_loss": ("nn.MSELoss()", "f(3,4), f(3,4)"),
    "mse_loss_none": ("nn.MSELoss('none')", "f(3,4), f(3,4)"),
    "smooth_l1_loss": ("nn.SmoothL1Loss(0.5)", "f(3,4), f(3,4)"),
    "smooth_l1_loss_mean": ("nn.SmoothL1Loss(reduction='mean')", "f(3,4), f(3,4)"),
    "softmax_ce": ("nn.SoftmaxCrossEntropyWithLogits()", "f(3,4), p(3,4)"),
    "softmax_ce_sum": ("nn.SoftmaxCrossEntropyWithLogits(reduction='sum')", "f(3,4), p(3,4)"),
    "softmax_ce_sparse": ("nn.SoftmaxCrossEntropyWithLogits(sparse=True)", "f(3,4), i(3,n=4)"),
    "softmax_ce_sparse_mean": ("nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')", "f(3,4), i(3,n=4)"),
    "bce_loss": ("nn.BCELoss(reduction='none')", "u(3,4), u(3,4)", "first"),
    "bce_loss_mean": ("nn.BCELoss(weight=Tensor(W), reduction='mean')", "u(3,4), u(3,4)", "first"),
    "cosine_embedding_loss": ("nn.CosineEmbeddingLoss(margin=0.1)", "f(3,4), f(3,4), sign(3)"),
    "cross_entropy_loss": ("nn.CrossEntropyLoss()", "f(3,4), i(3,n=4)"),
    "cross_entropy_smooth": ("nn.CrossEntropyLoss(weight=Tensor(W[0]), label_smoothing=0.1)", "f(3,4), i(3,n=4)"),
    "cross_entropy_ignore": ("nn.CrossEntropyLoss(ignore_index=1)", "f(3,4,5), i(3,5,n=4)"),
    "cross_entropy_prob": ("nn.CrossEntropyLoss()", "f(3,4), p(3,4)"),
    "bce_with_logits": ("nn.BCEWithLogitsLoss(weight=Tensor(W), pos_weight=Tensor(W))", "f(3,4), u(3,4)"),
    "nll_loss": ("nn.NLLLoss(reduction='sum')", "f(3,4), i(3,n=4)"),
    "huber_loss": ("nn.HuberLoss(delta=0.5)", "f(3,4), f(3,4)"),
    "kl_div_loss": ("nn.KLDivLoss(reduction='batchmean')", "f(3,4), p(3,4)", "first"),
    "rmse_loss": ("nn.RMSELoss()", "f(3,4), f(3,4)"),
    "dice_loss": ("nn.DiceLoss()", "u(3,4), u(3,4)"),
    "dice_loss_smooth": ("nn.DiceLoss(smooth=0.5)", "u(3,4), u(3,4)"),
}


def value_of(name, shape):
    """Return the value that a Parameter gets: a function of its name and shape alone."""
    random = np.random.RandomState(zlib.crc32(f"{name}{tuple(shape)}".encode()))
    low, high = (0.5, 1.5) if name.endswith(("gamma", "variance")) or name == "w" else (-0.5, 0.5)
    return random.uniform(low, high, shape).astype(np.float32)


def _shares(random, shape):
    raw = random.uniform(0.1, 1, shape)
    return (raw / raw.sum(-1, keepdims=True)).astype(np.float32)


def inputs_of(name, text):
    """Return the inputs of a case, as arrays."""
    if text == "FIELDS":
        indices = np.array([[2, 4, 6, 0, 0], [1, 3, 5, 0, 0]], np.int32)
        weights = np.array([[1, 0.5, 2, 0, 0], [1, 1, 0.25, 0, 0]], np.float32)
        fields = np.array([[0, 1, 1, 0, 0], [0, 0, 1, 0, 0]], np.int32)
        return indices, weights, fields
    random = np.random.RandomState(zlib.crc32(name.encode()))

    def p(*shape):
        raw = random.uniform(0.1, 1, shape)
        return (raw / raw.sum(1, keepdims=True)).astype(np.float32)

    names = {
        "f": lambda *shape: (random.randn(*shape) * 0.8).astype(np.float32),
        "u": lambda *shape: random.uniform(0.05, 0.95, shape).astype(np.float32),
        "i": lambda *shape, n: random.randint(0, n, shape).astype(np.int32),
        "p": p,
        "fsign": lambda *shape: np.where(random.rand(*shape) < 0.5, -1, 1).astype(np.float32),
        "logp": lambda *shape: np.log(_shares(random, shape)),
        "lengths": lambda *lengths: np.array(lengths, np.int32),
        "classes": lambda *shape, n: random.randint(0, n, shape).astype(np.int64),
        "places": lambda *shape: np.argsort(random.rand(*shape[:2], math.prod(shape[2:]))).reshape(shape),
        "tri": lambda length: np.triu(np.ones((length, length), bool), 1),
        "padded": lambda count, length: np.arange(length) >= np.arange(length, length - count, -1)[:, None],
        "sign": lambda *shape: np.where(random.rand(*shape) < 0.5, -1, 1).astype(np.int32),
        "const": lambda value: np.array(value, np.float32),
    }
    result = eval(text, names)
    result = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(x, x.dtype) for x in result)


def made(ms, name):
    """Return (the Cell of a case, its inputs, the case's remarks) under the framework `ms`."""
    expression, text, *kind = CASES[name]
    weights = np.linspace(0.5, 1.5, 12).astype(np.float32).reshape(3, 4)
    net = eval(expression, {"nn": ms.nn, "Tensor": ms.Tensor, "W": weights})
    for path, parameter in net.parameters_and_names():
        # By path: MindSpore's own names of single layers differ between versions.
        parameter.set_data(ms.Tensor(value_of(path, parameter.shape)))
    net.set_train("train" in kind)
    return net, [ms.Tensor(x) for x in inputs_of(name, text)], kind


def outputs(net, inputs):
    """Return {name: Tensor} of the results of a Cell."""
    output = net(*inputs)
    return {f"out{i}": x for i, x in enumerate(output if isinstance(output, tuple) else (output,))}


def gradients(ms, net, inputs, kind):
    """Return {name: Tensor} of the gradients of a Cell that a case has."""
    parameters = ms.ParameterTuple([] if "sparse" in kind else net.trainable_params())
    single = inputs[0].dtype == ms.float32
    results = {}
    if not len(parameters) and ("values" in kind or not single):
        return results
    gradient_operation = ms.ops.GradOperation(get_all=True, get_by_list=bool(len(parameters)))
    if len(parameters):
        gradient, parameter_gradient = gradient_operation(net, parameters)(*inputs)
        results.update({f"pgrad{i}": x for i, x in enumerate(parameter_gradient)})
    else:
        gradient = gradient_operation(net)(*inputs)
    if single:
        results.update({f"grad{i}": x for i, x in enumerate(gradient) if i == 0 or "first" not in kind})
    return results


def keeps_state(name):
    """Check that a call changes Parameters of a case's Cell. The golden file then has their values too."""
    return "train" in CASES[name] or "always" in name


def run(ms, name):
    """Return all values of a case under the framework `ms`, as a dict of arrays."""
    net, inputs, kind = made(ms, name)
    result = {"names": np.array([path for path, _ in net.parameters_and_names()])}
    result.update({key: x.asnumpy() for key, x in outputs(net, inputs).items()})
    if keeps_state(name):
        for path, parameter in net.parameters_and_names():
            if not parameter.requires_grad:
                # A copy: MindSpore's array is a view that the next call changes.
                result[f"state_{path}"] = parameter.asnumpy().copy()
    result.update({key: x.asnumpy() for key, x in gradients(ms, net, inputs, kind).items()})
    return result


def main():
    import mindspore as ms

    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    arrays = {}
    for name in CASES:
        try:
            arrays.update({f"{name}/{key}": value for key, value in run(ms, name).items()})
        except Exception as error:
            print("left out:", name, repr(error).splitlines()[0][:200])
    np.savez_compressed(FILE, **arrays)
    print(len(arrays), "arrays,", FILE.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
