"""The sharding rules of operators, by what their axes do."""

from msnb.ops import operations as P
from msnb.parallel.rules import Call, Rule, rules

_LETTERS = "abcdefghijklmnopqrstuvw"


def _letters(shape, start=0):
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
def _elementwise(call: Call) -> Rule:
    """Axes of one place from the right, where their sizes are equal; one of size 1 is repeated."""
    rank = max(map(len, call.shapes))
    out = [max(s[len(s) - rank + i] for s in call.shapes if len(s) - rank + i >= 0) for i in range(rank)]
    letters = _LETTERS[:rank]
    inputs = [
        "".join("." if size == 1 != out[rank - len(s) + i] else letters[rank - len(s) + i] for i, size in enumerate(s))
        for s in call.shapes
    ]
    return Rule(inputs, [letters] * 2 if call.operator == "Dropout" else [letters])


@rules.register(P.PReLU)
def _prelu(call: Call) -> Rule:
    """One weight for all channels, or one for each, along the second axis."""
    letters = _letters(call.shapes[0])
    return Rule([letters, letters[1] if call.shapes[1] != (1,) else "."], [letters])


@rules.register(P.ReLUV2)
def _relu_v2(call: Call) -> Rule:
    """The mask has the channels in blocks."""
    letters = _letters(call.shapes[0])
    return Rule([letters], [letters, None], unsharded=letters[1])


@rules.register(P.DropoutDoMask)
def _do_mask(call: Call) -> Rule:
    """The strategy speaks of what is masked; of the mask, which is one of bits, each device has all."""
    letters = _letters(call.shapes[0])
    return Rule([letters, *("." * len(shape) for shape in call.shapes[1:])], [letters], num_inputs=1)


@rules.register(P.DropoutGenMask)
def _gen_mask(call: Call) -> Rule:
    """The strategy speaks of what is to be masked; the mask lies as who reads it wants."""
    shape = call.settings["shape"]
    return Rule(["" for _ in call.shapes], [None], strategy_axes={0: (_letters(shape), shape)})


@rules.register(P.UniformCandidateSampler)
def _candidates(call: Call) -> Rule:
    """All devices draw the same candidates; where hits are removed, they see all classes."""
    letters = _letters(call.shapes[0])
    return Rule([letters], [".", letters, "."], unsharded=letters if call.settings["remove_accidental_hits"] else "")


@rules.register(P.Range)
def _range(call: Call) -> Rule:
    """Each number is computed by itself."""
    return Rule(["a"], ["a"])


# ------------------------------------------------------------------ products
@rules.register(P.MatMul)
def _matmul(call: Call) -> Rule:
    """(i, k) by (k, j)."""
    x = "ki" if call.settings["transpose_a"] else "ik"
    y = "jk" if call.settings["transpose_b"] else "kj"
    return Rule([x, y], ["ij"])


@rules.register(P.BatchMatMul)
def _batch_matmul(call: Call) -> Rule:
    """The same behind axes of a batch, from the right."""
    batch = max(map(len, call.shapes)) - 2
    found = _matmul(call)
    heads = ["abcdefgh"[batch - (len(s) - 2) : batch] for s in call.shapes]
    return Rule([h + i for h, i in zip(heads, found.inputs)], ["abcdefgh"[:batch] + "ij"])


@rules.register(P.BiasAdd)
def _bias_add(call: Call) -> Rule:
    """The bias lies along the second axis, or the last one of NHWC."""
    letters = _letters(call.shapes[0])
    last = call.settings.get("data_format") == "NHWC"
    return Rule([letters, letters[-1 if last else 1]], [letters])


@rules.register(P.Conv2D)
def _conv2d(call: Call) -> Rule:
    """Batch and channels; what a kernel slides over stays whole."""
    grouped = call.settings["group"] != 1
    return Rule(["nc..", "oc.." if not grouped else "o..."], ["no.."], unsharded="c" if grouped else "")


@rules.register(P.BatchNorm, P.FusedBatchNorm, P.FusedBatchNormEx)
def _batch_norm(call: Call) -> Rule:
    """Rows and channels; r1.1's training speaks of the input and the weights alone, and not of the moving averages."""
    rank = len(call.shapes[0])
    last = call.settings.get("data_format") == "NHWC"
    x = "n" + "." * (rank - 2) + "c" if last else "nc" + "." * (rank - 2)
    return Rule([x, *("c" for _ in call.shapes[1:])], [], min_inputs=3)


# ------------------------------------------------------------------ along axes
def _axes(axis, rank):
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return {a % rank for a in axes} if rank and axes not in ((), (None,)) else set(range(rank))


@rules.register(
    *(P.ReduceSum, P.ReduceMean, P.ReduceMax, P.ReduceMin, P.ReduceProd, P.ReduceAll, P.ReduceAny),
    *(P.Argmax, P.Argmin, P.ArgMaxWithValue, P.ArgMinWithValue),
)
def _reduce(call: Call) -> Rule:
    """What is reduced is computed together; the place of an extreme without its value is found on one device."""
    shape, settings = call.shapes[0], call.settings
    letters, axes = _letters(shape), _axes(settings.get("axis", ()), len(shape))
    kept = "." if settings.get("keep_dims") else ""
    out = "".join(kept if i in axes else c for i, c in enumerate(letters))
    valued = call.operator.endswith("WithValue")
    whole = "".join(letters[i] for i in axes) if call.operator.startswith("Arg") and not valued else ""
    return Rule([letters], [out] * (2 if valued else 1), whole)


@rules.register(P.Softmax, P.LogSoftmax, P.L2Normalize, P.CumSum, P.CumProd, P.TopK)
def _along(call: Call) -> Rule:
    """An axis that has to be seen whole."""
    shape = call.shapes[0]
    letters = _letters(shape)
    axes = {len(shape) - 1} if call.operator == "TopK" else _axes(call.settings.get("axis", -1), len(shape))
    whole = "".join(letters[i] for i in axes)
    return Rule([letters], [letters] * (2 if call.operator == "TopK" else 1), whole)


@rules.register(P.LayerNorm)
def _layer_norm(call: Call) -> Rule:
    """What is normalised over stays whole."""
    shape = call.shapes[0]
    letters, first = _letters(shape), call.settings["begin_norm_axis"] % len(shape)
    weights = [letters[len(shape) - len(s) :] for s in call.shapes[1:]]
    means = letters[:first] + "." * (len(shape) - first)
    return Rule([letters, *weights], [letters, means, means], unsharded=letters[first:])


@rules.register(P.SoftmaxCrossEntropyWithLogits)
def _cross_entropy(call: Call) -> Rule:
    return Rule(["ab", "ab"], ["a", "ab"], unsharded="b")


@rules.register(P.SparseSoftmaxCrossEntropyWithLogits)
def _sparse_cross_entropy(call: Call) -> Rule:
    return Rule(["ab", "a"], [""], unsharded="b")


# ------------------------------------------------------------------ arrangement
@rules.register(P.Transpose)
def _transpose(call: Call) -> Rule:
    letters = _letters(call.shapes[0])
    return Rule([letters], ["".join(letters[i] for i in call.settings["perm"])])


@rules.register(P.ExpandDims)
def _expand_dims(call: Call) -> Rule:
    letters = _letters(call.shapes[0])
    at = call.settings["axis"] % (len(letters) + 1)
    return Rule([letters], [letters[:at] + "." + letters[at:]])


@rules.register(P.Squeeze)
def _squeeze(call: Call) -> Rule:
    shape = call.shapes[0]
    letters, axis = _letters(shape), call.settings["axis"]
    gone = {i for i, n in enumerate(shape) if n == 1} if axis == () else _axes(axis, len(shape))
    return Rule([letters], ["".join(c for i, c in enumerate(letters) if i not in gone)])


@rules.register(P.Concat)
def _concat(call: Call) -> Rule:
    letters = _letters(call.shapes[0])
    return Rule([letters] * len(call.shapes), [letters], unsharded=letters[call.settings["axis"] % len(letters)])


@rules.register(P.Stack)
def _stack(call: Call) -> Rule:
    letters = _letters(call.shapes[0])
    at = call.settings["axis"] % (len(letters) + 1)
    return Rule([letters] * len(call.shapes), [letters[:at] + "." + letters[at:]])


@rules.register(P.Split)
def _split(call: Call) -> Rule:
    letters = _letters(call.shapes[0])
    axis = call.settings["axis"] % len(letters)
    return Rule([letters], [letters] * call.settings["output_num"], unsharded=letters[axis])


@rules.register(P.Reshape, P.Flatten)
def _reshape(call: Call) -> Rule:
    """The input lies as the strategy says; the output as who reads it wants."""
    return Rule([_letters(call.shapes[0])], [None])


@rules.register(P.Tile)
def _tile(call: Call) -> Rule:
    """The strategy speaks of the repetitions: each device makes some of them of the whole input."""
    shape, times = call.shapes[0], tuple(call.settings["multiples"])
    letters = _letters(times)
    return Rule(["." * len(shape)], [letters], strategy_axes={0: (letters, times)})


@rules.register(P.BroadcastTo)
def _broadcast_to(call: Call) -> Rule:
    """Axes that are there are cut, those that are repeated are not."""
    shape, target = call.shapes[0], call.settings["shape"]
    letters = "".join("." if n == 1 else c for n, c in zip(shape, _letters(shape)))
    return Rule([letters], ["." * (len(target) - len(shape)) + letters])


@rules.register(P.Slice)
def _slice(call: Call) -> Rule:
    """An axis that is taken as a whole may be cut."""
    shape, settings = call.shapes[0], call.settings
    letters = _letters(shape)
    taken = [begin == 0 and size in (-1, n) for n, begin, size in zip(shape, settings["begin"], settings["size"])]
    return Rule([letters], [letters], unsharded="".join(c for c, all_ in zip(letters, taken) if not all_))


@rules.register(P.StridedSlice)
def _strided_slice(call: Call) -> Rule:
    """An axis that is taken as a whole, in steps of one, may be cut; with masks none may."""
    shape, settings = call.shapes[0], call.settings
    letters = _letters(shape)
    if any(settings.get(f"{kind}_mask") for kind in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")):
        return Rule([letters], [None], unsharded=letters)
    taken = [
        begin == 0 and end >= n and step == 1
        for n, begin, end, step in zip(shape, settings["begin"], settings["end"], settings["strides"])
    ]
    return Rule([letters], [letters], unsharded="".join(c for c, all_ in zip(letters, taken) if not all_))


@rules.register(P.OneHot)
def _one_hot(call: Call) -> Rule:
    """MindSpore's strategy speaks of the result: the classes may be cut, too."""
    shape, depth = call.shapes[0], call.settings["depth"]
    letters = _letters(shape)
    axis = call.settings["axis"] % (len(letters) + 1)
    out = letters[:axis] + "z" + letters[axis:]
    said = {0: (out, (*shape[:axis], depth, *shape[axis:]))}
    return Rule([letters, *("" for _ in call.shapes[1:])], [out], strategy_axes=said)
