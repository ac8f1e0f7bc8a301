"""Sharding rules of all operators other than lookups, grouped by the kind of operation."""

from msnb.ops import operations as P
from msnb.parallel.rules import Call, Rule, rules

_LETTERS = "abcdefghijklmnopqrstuvw"


def _assign_axis_letters(shape, start=0):
    return _LETTERS[start : start + len(shape)]


# ------------------------------------------------------------------ element by element
@rules.register(
    *(P.ReLU, P.ReLU6, P.Tanh, P.Sigmoid, P.GeLU, P.Elu, P.HSigmoid, P.HSwish, P.Softplus, P.Softsign, P.Erf, P.Erfc),
    *(P.Exp, P.Expm1, P.Log, P.Log1p, P.Sqrt, P.Rsqrt, P.Square, P.Reciprocal, P.Neg, P.Abs, P.Sign, P.Floor, P.Ceil),
    *(P.Round, P.Rint, P.Sin, P.Cos, P.Tan, P.Asin, P.ACos, P.Atan, P.Sinh, P.Cosh, P.Asinh, P.Acosh, P.Atanh),
    *(P.Inv, P.Cast, P.LogicalNot, P.ZerosLike, P.OnesLike, P.BesselI0e, P.BesselI1e, P.FastGeLU),
    *(P.Add, P.Sub, P.Mul, P.Div, P.RealDiv, P.DivNoNan, P.FloorDiv, P.FloorMod, P.Mod, P.Pow, P.Minimum, P.Maximum),
    *(P.Equal, P.NotEqual, P.ApproximateEqual, P.Greater, P.GreaterEqual, P.Less, P.LessEqual, P.LogicalAnd),
    *(P.LogicalOr, P.SquaredDifference, P.Xdivy, P.Xlogy, P.Atan2, P.BitwiseAnd, P.BitwiseOr, P.BitwiseXor),
    *(P.AssignAdd, P.AssignSub, P.Assign, P.Select, P.SigmoidCrossEntropyWithLogits, P.KLDivLoss, P.Dropout),
)
def _elementwise_rule(call: Call) -> Rule:
    """Return a rule that aligns axes from the right where their sizes are equal. Axes of size 1 are broadcast."""
    rank = max(map(len, call.shapes))
    broadcast_shape = [max(s[len(s) - rank + i] for s in call.shapes if len(s) - rank + i >= 0) for i in range(rank)]
    letters = _LETTERS[:rank]
    inputs = [
        "".join(
            "." if size == 1 != broadcast_shape[rank - len(s) + i] else letters[rank - len(s) + i]
            for i, size in enumerate(s)
        )
        for s in call.shapes
    ]
    return Rule(inputs, [letters] * 2 if call.operator == "Dropout" else [letters])


@rules.register(P.PReLU)
def _prelu_rule(call: Call) -> Rule:
    """Return the rule of PReLU, with one weight for all channels or one per channel, along the second axis."""
    letters = _assign_axis_letters(call.shapes[0])
    return Rule([letters, letters[1] if call.shapes[1] != (1,) else "."], [letters])


@rules.register(P.ReLUV2)
def _relu_v2_rule(call: Call) -> Rule:
    letters = _assign_axis_letters(call.shapes[0])
    # Channels are not sharded, because the mask stores them in blocks.
    return Rule([letters], [letters, None], unsharded=letters[1])


@rules.register(P.DropoutDoMask)
def _dropout_do_mask_rule(call: Call) -> Rule:
    letters = _assign_axis_letters(call.shapes[0])
    # The strategy describes the masked input. The mask consists of bits and is replicated.
    return Rule([letters, *("." * len(shape) for shape in call.shapes[1:])], [letters], num_inputs=1)


@rules.register(P.DropoutGenMask)
def _dropout_gen_mask_rule(call: Call) -> Rule:
    shape = call.settings["shape"]
    # The strategy describes the tensor to be masked. The sharding of the mask follows from its reader.
    return Rule(["" for _ in call.shapes], [None], strategy_axes={0: (_assign_axis_letters(shape), shape)})


@rules.register(P.UniformCandidateSampler)
def _candidate_sampler_rule(call: Call) -> Rule:
    letters = _assign_axis_letters(call.shapes[0])
    # All devices sample the same candidates. To remove hits, each device needs all classes.
    return Rule([letters], [".", letters, "."], unsharded=letters if call.settings["remove_accidental_hits"] else "")


@rules.register(P.Range)
def _range_rule(call: Call) -> Rule:
    return Rule(["a"], ["a"])


# ------------------------------------------------------------------ products
@rules.register(P.MatMul)
def _matmul_rule(call: Call) -> Rule:
    """Return the rule of a matrix product, (i, k) by (k, j)."""
    x = "ki" if call.settings["transpose_a"] else "ik"
    y = "jk" if call.settings["transpose_b"] else "kj"
    return Rule([x, y], ["ij"])


@rules.register(P.BatchMatMul)
def _batch_matmul_rule(call: Call) -> Rule:
    """Return the rule of a matrix product with leading batch axes, which are aligned from the right."""
    batch = max(map(len, call.shapes)) - 2
    product = _matmul_rule(call)
    batch_letters = ["abcdefgh"[batch - (len(s) - 2) : batch] for s in call.shapes]
    return Rule([h + i for h, i in zip(batch_letters, product.inputs)], ["abcdefgh"[:batch] + "ij"])


@rules.register(P.BiasAdd)
def _bias_add_rule(call: Call) -> Rule:
    """Return the rule of BiasAdd; the bias is along the second axis, or along the last one for NHWC."""
    letters = _assign_axis_letters(call.shapes[0])
    last = call.settings.get("data_format") == "NHWC"
    return Rule([letters, letters[-1 if last else 1]], [letters])


@rules.register(P.Conv2D)
def _conv2d_rule(call: Call) -> Rule:
    """Return the rule of Conv2D: batch and channels may be sharded, spatial axes may not."""
    grouped = call.settings["group"] != 1
    return Rule(["nc..", "oc.." if not grouped else "o..."], ["no.."], unsharded="c" if grouped else "")


@rules.register(P.BatchNorm, P.FusedBatchNorm, P.FusedBatchNormEx)
def _batch_norm_rule(call: Call) -> Rule:
    """Return the rule of BatchNorm: batch and channels may be sharded."""
    rank = len(call.shapes[0])
    last = call.settings.get("data_format") == "NHWC"
    x = "n" + "." * (rank - 2) + "c" if last else "nc" + "." * (rank - 2)
    # A strategy of r1.1 may have entries for the input and the weights only, and none for the moving averages.
    return Rule([x, *("c" for _ in call.shapes[1:])], [], min_inputs=3)


# ------------------------------------------------------------------ along axes
def _normalize_axes(axis, rank):
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return {a % rank for a in axes} if rank and axes not in ((), (None,)) else set(range(rank))


@rules.register(
    *(P.ReduceSum, P.ReduceMean, P.ReduceMax, P.ReduceMin, P.ReduceProd, P.ReduceAll, P.ReduceAny),
    *(P.Argmax, P.Argmin, P.ArgMaxWithValue, P.ArgMinWithValue),
)
def _reduction_rule(call: Call) -> Rule:
    """Return the rule of a reduction. Reduced axes may be sharded, except for Argmax and Argmin without the value."""
    shape, settings = call.shapes[0], call.settings
    letters, axes = _assign_axis_letters(shape), _normalize_axes(settings.get("axis", ()), len(shape))
    reduced_letter = "." if settings.get("keep_dims") else ""
    out = "".join(reduced_letter if i in axes else c for i, c in enumerate(letters))
    has_value = call.operator.endswith("WithValue")
    unsharded = "".join(letters[i] for i in axes) if call.operator.startswith("Arg") and not has_value else ""
    return Rule([letters], [out] * (2 if has_value else 1), unsharded)


@rules.register(P.Softmax, P.LogSoftmax, P.L2Normalize, P.CumSum, P.CumProd, P.TopK)
def _along_axis_rule(call: Call) -> Rule:
    """Return the rule of an operation along axes that must not be sharded."""
    shape = call.shapes[0]
    letters = _assign_axis_letters(shape)
    axes = {len(shape) - 1} if call.operator == "TopK" else _normalize_axes(call.settings.get("axis", -1), len(shape))
    unsharded = "".join(letters[i] for i in axes)
    return Rule([letters], [letters] * (2 if call.operator == "TopK" else 1), unsharded)


@rules.register(P.LayerNorm)
def _layer_norm_rule(call: Call) -> Rule:
    """Return the rule of LayerNorm: normalized axes must not be sharded."""
    shape = call.shapes[0]
    letters, first = _assign_axis_letters(shape), call.settings["begin_norm_axis"] % len(shape)
    weights = [letters[len(shape) - len(s) :] for s in call.shapes[1:]]
    means = letters[:first] + "." * (len(shape) - first)
    return Rule([letters, *weights], [letters, means, means], unsharded=letters[first:])


@rules.register(P.SoftmaxCrossEntropyWithLogits)
def _cross_entropy_rule(call: Call) -> Rule:
    return Rule(["ab", "ab"], ["a", "ab"], unsharded="b")


@rules.register(P.SparseSoftmaxCrossEntropyWithLogits)
def _sparse_cross_entropy_rule(call: Call) -> Rule:
    return Rule(["ab", "a"], [""], unsharded="b")


# ------------------------------------------------------------------ arrangement
@rules.register(P.Transpose)
def _transpose_rule(call: Call) -> Rule:
    letters = _assign_axis_letters(call.shapes[0])
    return Rule([letters], ["".join(letters[i] for i in call.settings["perm"])])


@rules.register(P.ExpandDims)
def _expand_dims_rule(call: Call) -> Rule:
    letters = _assign_axis_letters(call.shapes[0])
    axis = call.settings["axis"] % (len(letters) + 1)
    return Rule([letters], [letters[:axis] + "." + letters[axis:]])


@rules.register(P.Squeeze)
def _squeeze_rule(call: Call) -> Rule:
    shape = call.shapes[0]
    letters, axis = _assign_axis_letters(shape), call.settings["axis"]
    removed = {i for i, n in enumerate(shape) if n == 1} if axis == () else _normalize_axes(axis, len(shape))
    return Rule([letters], ["".join(c for i, c in enumerate(letters) if i not in removed)])


@rules.register(P.Concat)
def _concat_rule(call: Call) -> Rule:
    letters = _assign_axis_letters(call.shapes[0])
    return Rule([letters] * len(call.shapes), [letters], unsharded=letters[call.settings["axis"] % len(letters)])


@rules.register(P.Stack)
def _stack_rule(call: Call) -> Rule:
    letters = _assign_axis_letters(call.shapes[0])
    axis = call.settings["axis"] % (len(letters) + 1)
    return Rule([letters] * len(call.shapes), [letters[:axis] + "." + letters[axis:]])


@rules.register(P.Split)
def _split_rule(call: Call) -> Rule:
    letters = _assign_axis_letters(call.shapes[0])
    axis = call.settings["axis"] % len(letters)
    return Rule([letters], [letters] * call.settings["output_num"], unsharded=letters[axis])


@rules.register(P.Reshape, P.Flatten)
def _reshape_rule(call: Call) -> Rule:
    """Return the rule of a reshape: the strategy describes the input, the output's sharding follows from its reader."""
    return Rule([_assign_axis_letters(call.shapes[0])], [None])


@rules.register(P.Tile)
def _tile_rule(call: Call) -> Rule:
    shape, times = call.shapes[0], tuple(call.settings["multiples"])
    letters = _assign_axis_letters(times)
    # The strategy divides the repetitions: each device makes some of them from the full input.
    return Rule(["." * len(shape)], [letters], strategy_axes={0: (letters, times)})


@rules.register(P.BroadcastTo)
def _broadcast_to_rule(call: Call) -> Rule:
    """Return the rule of a broadcast: axes of the input may be sharded, repeated axes may not."""
    shape, target = call.shapes[0], call.settings["shape"]
    letters = "".join("." if n == 1 else c for n, c in zip(shape, _assign_axis_letters(shape)))
    return Rule([letters], ["." * (len(target) - len(shape)) + letters])


@rules.register(P.Slice)
def _slice_rule(call: Call) -> Rule:
    """Return the rule of a slice: axes that are taken in full may be sharded."""
    shape, settings = call.shapes[0], call.settings
    letters = _assign_axis_letters(shape)
    is_full = [begin == 0 and size in (-1, n) for n, begin, size in zip(shape, settings["begin"], settings["size"])]
    return Rule([letters], [letters], unsharded="".join(c for c, full in zip(letters, is_full) if not full))


@rules.register(P.StridedSlice)
def _strided_slice_rule(call: Call) -> Rule:
    """Return the rule of a strided slice: axes taken in full with stride 1 may be sharded; with masks none may."""
    shape, settings = call.shapes[0], call.settings
    letters = _assign_axis_letters(shape)
    if any(settings.get(f"{kind}_mask") for kind in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")):
        return Rule([letters], [None], unsharded=letters)
    is_full = [
        begin == 0 and end >= n and step == 1
        for n, begin, end, step in zip(shape, settings["begin"], settings["end"], settings["strides"])
    ]
    return Rule([letters], [letters], unsharded="".join(c for c, full in zip(letters, is_full) if not full))


@rules.register(P.OneHot)
def _one_hot_rule(call: Call) -> Rule:
    shape, depth = call.shapes[0], call.settings["depth"]
    letters = _assign_axis_letters(shape)
    axis = call.settings["axis"] % (len(letters) + 1)
    out = letters[:axis] + "z" + letters[axis:]
    # MindSpore's strategy describes the result, so that the classes may be sharded too.
    strategy_axes = {0: (out, (*shape[:axis], depth, *shape[axis:]))}
    return Rule([letters, *("" for _ in call.shapes[1:])], [out], strategy_axes=strategy_axes)
