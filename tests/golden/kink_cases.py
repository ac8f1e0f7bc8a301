"""Points at which functions have no derivative, or an infinite one: kinks, ends, ties, zeros.

make_kinks.py and the tests share them. A case is an expression over Tensors `x` (and `y`) in names that MindSpore and
msnb share, and the points. The golden file has the gradient of the sum of the result. No framework is imported here.
"""

import numpy as np

STEPS = (-6.0, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 6.0)
SIDES = (-1.0, 0.0, 1.0)
CORNERS = ((0.0, 0.0, 1.0, -1.0, 0.0, 2.0), (0.0, 1.0, 0.0, 0.0, -1.0, 2.0))
WHOLE = ((-2.0, 0.0, 2.0, 3.0), (1.0, 1.0, 2.0, -2.0))
EQUAL = ((1.0, -2.0, 0.5, 0.0), (1.0, -2.0, 0.0, 0.5))
BETAS = ((1.0, 0.0, -1.0, 0.0, 2.0), (0.0, 1.0, 0.0, 0.0, 0.0))  # one beta apart, and equal

CASES = {}


def case(expression, *inputs, key=None):
    """Add a case; the expression itself is its name."""
    CASES[key or expression] = expression, tuple(np.array(x, np.float32) for x in inputs)


for _name in (
    "Abs",
    "Sign",
    "Floor",
    "Ceil",
    "Round",
    "Trunc",
    "Square",
    "Neg",
    "ReLU",
    "ReLU6",
    "Elu",
    "HSwish",
    "HSigmoid",
    "HShrink",
    "SoftShrink",
    "Softsign",
    "Softplus",
    "Sigmoid",
    "Tanh",
    "GeLU",
    "Mish",
):
    case(f"P.{_name}()(x)", STEPS)
for _name in ("Sqrt", "Rsqrt", "Reciprocal", "Inv", "Log"):
    case(f"P.{_name}()(x)", (0.0, 1.0))
case("P.Log1p()(x)", (-1.0, 0.0))
for _name in ("Asin", "ACos", "Atanh", "Erfinv"):
    case(f"P.{_name}()(x)", SIDES)
case("P.Acosh()(x)", (1.0, 2.0))
case("P.PReLU()(x, y)", (STEPS,), (0.25,))
for _name in ("Maximum", "Minimum", "Atan2", "DivNoNan", "Xdivy", "Xlogy", "SquaredDifference", "Mod", "FloorMod"):
    case(f"P.{_name}()(x, y)", *(WHOLE if "Mod" in _name else CORNERS))
case("P.Pow()(x, y)", (0.0, 0.0, 0.0, 1.0, -1.0), (1.0, 2.0, 0.5, 0.0, 2.0))
for _name in ("ReduceMax", "ReduceMin"):
    case(f"P.{_name}()(x, 1)", ((1.0, 1.0, 0.0), (0.0, 0.0, 0.0)))
case("P.ReduceProd()(x, 1)", ((0.0, 2.0, 3.0), (0.0, 0.0, 3.0)))
case("P.CumProd()(x, 1)", ((0.0, 2.0, 3.0),))
case("P.L2Normalize(1)(x)", ((0.0, 0.0), (3.0, 4.0)))
case("P.L2Loss()(x)", SIDES)
case("P.SmoothL1Loss(1.0)(x, y)", *BETAS)
case("P.SigmoidCrossEntropyWithLogits()(x, y)", (0.0, 0.0), (0.0, 1.0))
case("P.MaxPool(2, 2)(x)", np.ones((1, 1, 2, 2)))
case("P.AddN()((x.abs(), x.abs()))", SIDES)

case("x.abs()", STEPS)
case("ops.clip_by_value(x, Tensor(-1.0), Tensor(1.0))", STEPS)
case("ops.clamp(x, -1.0, 1.0)", STEPS)
case("ops.clamp(x, 1.0, 1.0)", SIDES, key="clamp to one value")
case("ops.hardtanh(x)", STEPS)
case("ops.relu6(x)", STEPS)
case("ops.leaky_relu(x, 0.2)", STEPS)
case("ops.celu(x, 1.5)", STEPS)
case("ops.elu(x)", STEPS)
case("ops.threshold(x, 0.5, 2.0)", STEPS)
case("ops.hardshrink(x, 0.5)", STEPS)
case("ops.softshrink(x, 0.5)", STEPS)
case("ops.hardswish(x)", STEPS)
case("ops.hardsigmoid(x)", STEPS)
case("ops.logsigmoid(x)", STEPS)
case("ops.fmod(x, y)", *WHOLE)
case("ops.remainder(x, y)", *WHOLE)
case("ops.hypot(x, y)", *CORNERS)
case("ops.logaddexp(x, y)", *CORNERS)
case("ops.amax(x, 1)", ((1.0, 1.0, 0.0), (0.0, 0.0, 0.0)))
case("ops.max(x, 1)[0]", ((1.0, 1.0, 0.0), (0.0, 0.0, 0.0)))
case("ops.norm(x)", (0.0, 0.0))
case("ops.norm(x, dim=1)", ((0.0, 0.0), (3.0, 4.0)))
case("ops.norm(x, ord=1, dim=1)", ((0.0, 2.0), (0.0, 0.0)))
case("ops.norm(x, ord=float('inf'), dim=1)", ((2.0, -2.0, 0.0), (0.0, 0.0, 0.0)))
case("ops.std(x, 1)", ((1.0, 1.0), (1.0, 3.0)))
case("ops.var(x, 1)", ((1.0, 1.0), (1.0, 3.0)))
case("ops.l1_loss(x, y)", *EQUAL)
case("ops.smooth_l1_loss(x, y)", *BETAS)
case("ops.huber_loss(x, y)", *BETAS)
case("ops.margin_ranking_loss(x, y, Tensor([1.0, 1.0, -1.0, 1.0]))", *EQUAL)
case("ops.binary_cross_entropy_with_logits(x, y, Tensor([1.0, 1.0]), Tensor([1.0, 1.0]))", (0.0, 0.0), (0.0, 1.0))
for _name in ("L1Loss", "MAELoss", "SmoothL1Loss", "HuberLoss", "MSELoss", "RMSELoss"):
    case(f"nn.{_name}()(x, y)", *(BETAS if _name in ("SmoothL1Loss", "HuberLoss") else EQUAL))
case("nn.RMSELoss()(x, y)", (1.0, 2.0), (1.0, 2.0), key="RMSELoss of equal Tensors")
case("nn.Norm(axis=1)(x)", ((0.0, 0.0), (3.0, 4.0)))
case("nn.ReduceLogSumExp(1)(x)", ((0.0, 0.0), (3.0, 3.0)))
case("nn.ClipByNorm()(x, Tensor(1.0))", (0.0, 0.0), key="ClipByNorm of zeros")
case("nn.ClipByNorm()(x, Tensor(5.0))", (3.0, 4.0), key="ClipByNorm at its bound")
case("nn.Moments(axis=1)(x)[1]", ((1.0, 1.0), (1.0, 3.0)))
case("nn.ImageGradients()(x)[0]", np.ones((1, 1, 2, 2)))
case("ops.aminmax(x, axis=1)[0]", ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
case("ops.fmax(x, y)", (1.0, 1.0, 2.0), (1.0, np.nan, 2.0))
case("ops.acosh(x)", (-2.0, 0.5, 2.0))
case("ops.logit(x, 0.1)", (0.05, 0.1, 0.5))
case("ops.cdist(x, y, 1.0)", ((1.0, 1.0), (1.0, 3.0)), ((1.0, 2.0), (2.0, 2.0)))
case("ops.cdist(x, y, float('inf'))", ((1.0, 1.0), (1.0, 3.0)), ((1.0, 2.0), (2.0, 2.0)))
case("ops.pdist(x, 0.5)", ((1.0, 1.0), (1.0, 3.0), (1.0, 1.0)))
case("ops.cosine_similarity(x, y, eps=0.5)", ((0.3, 0.4), (0.1, 0.2), (3.0, 4.0)), ((1.0, 0.0), (0.2, 0.1), (0.1, 0.1)))
case("ops.multi_margin_loss(x, Tensor([0]))", ((1.0, 0.0, 0.5),))
case("ops.clip_by_norm(x, 1.0)", (0.0, 0.0))
case("ops.adaptive_max_pool1d(x, 2)", np.ones((1, 1, 4)))
case("ops.adaptive_max_pool2d(x, 1)", np.float32([[[[0, 1], [1, 0]]]]))
case("ops.adaptive_max_pool3d(x, 1)", np.ones((1, 1, 2, 1, 2)))
