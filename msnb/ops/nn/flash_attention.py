"""Attention with the arguments of Ascend's kernel FlashAttentionScore, composed of operators that graphs show."""

import functools
from typing import Any

import numpy as np

from msnb import log
from msnb.common import dtype as mstype
from msnb.common.kinds import Float, Int, Kind, OneOf, PositiveInt, checked, is_constant
from msnb.core.errors.messages import describe
from msnb.core.operator.cases import F, I, case, refused
from msnb.core.operator.declare import spelling
from msnb.core.tensor.tensor import Tensor
from msnb.ops._check import tensor_argument
from msnb.ops._host import HostPrimitive, host_operator
from msnb.ops.array.broadcast import BroadcastTo
from msnb.ops.array.cast import Cast
from msnb.ops.array.create import Ones, Zeros
from msnb.ops.array.mask import MaskedFill
from msnb.ops.array.transpose import Transpose
from msnb.ops.array.triangle import Tril, Triu
from msnb.ops.math.exponential import Exp
from msnb.ops.math.extremes import ReduceMax
from msnb.ops.math.logic import LogicalOr
from msnb.ops.math.matmul import BatchMatMul
from msnb.ops.math.sum import ReduceSum
from msnb.ops.nn._kinds import KeepProb
from msnb.ops.nn.activation.softmax import Softmax
from msnb.ops.nn.dropout import Dropout, DropoutDoMask

_OP = "FlashAttentionScore"
_FLOATS = (mstype.float16, mstype.bfloat16, mstype.float32)
_ALL = 2147483647  # pre_tokens and next_tokens that exclude no key
_TRIANGLE = (2048, 2048)  # Ascend reads the masks of sparse_mode 2 to 4 from a triangle of this shape
_EXCLUDED = float(np.finfo(np.float32).min)  # finite: with -inf, a query without keys would be NaN
_PAD = "pad the sequences to one length and exclude the padding with 'attn_mask'"


def _make_choice(choices, refused_choices, advice):
    """Return the Kind of one of `choices`. The error message for `refused_choices` ends in `advice`."""
    kind = OneOf(*choices)

    def accept(value):
        if any(type(value) is type(choice) and value == choice for choice in refused_choices):
            raise ValueError(advice)
        return kind.accept(value)

    return Kind(kind.expects, accept, python=kind.python, examples=choices)


_Layout = _make_choice(
    ("BSH", "BNSD", "SBH", "BSND"),
    ("TND", "TH"),
    _PAD,
)
_SparseMode = _make_choice(range(5), range(5, 9), "pass the full mask as 'attn_mask' with sparse_mode=1")
_Precision = OneOf(0, otherwise="scores and softmax are computed in float32", among=Int)


def _check_shape(name, x, shapes, hint=""):
    if tuple(x.shape) not in shapes:
        expected = " or ".join(map(str, dict.fromkeys(shapes)))
        raise RuntimeError(f"For '{_OP}', '{name}' should have shape {expected}, but got {tuple(x.shape)}.{hint}")


def _check_dtype(name, x, dtypes):
    tensor_argument(_OP, name, x)
    if x.dtype not in dtypes:
        raise TypeError(f"For '{_OP}', '{name}' should be of {' or '.join(map(str, dtypes))}, but got {x.dtype}.")


def _widen(x):
    return x if x.dtype == mstype.float32 else Cast.functional(x, mstype.float32)


def _permute(x, source, target):
    """Transpose a Tensor with axes `source`, such as "BSND", to the axes `target`."""
    return x if source == target else Transpose.functional(x, tuple(source.index(axis) for axis in target))


@host_operator()
class FlashAttentionScore(HostPrimitive):
    """Dropout(softmax(mask(scale_value * (query @ key^T + real_shift)))) @ value, for each head. Scores and softmax are
    computed in float32. A query whose keys are all excluded weighs them equally.

    B is the batch, S1 and S2 are the lengths of queries and keys, N1 and N2 their numbers of heads, D is the size of a
    head, H1 = N1 * D and H2 = N2 * D. N2 is a divisor of N1: N1 / N2 heads of the queries share a head of the keys.

    Args:
        head_num (int): N1.
        keep_prob (float): Probability that dropout leaves a weight, in (0, 1]. Default: 1.0.
        scale_value (float): Factor of the scores, usually 1 / sqrt(D). Default: 1.0.
        pre_tokens (int): Number of keys before a query that it attends to, for `sparse_mode` 0 with an `attn_mask`, and
            for 4. Default: 2147483647, all.
        next_tokens (int): Number of keys after a query that it attends to, for the same modes. Default: 2147483647.
        inner_precise (int): No effect. Default: 0.
        input_layout (str): Axes of query, key and value: "BSH", "BNSD", "SBH" or "BSND". Default: "BSH".
        sparse_mode (int): Default: 0.

            - 0: `attn_mask`, if there is one, and only keys from `pre_tokens` before to `next_tokens` after a query.
            - 1: `attn_mask`.
            - 2: key j for query i if j <= i.
            - 3: key j for query i if j <= i + S2 - S1.
            - 4: as 0 without a mask, with query i at position i + S2 - S1.

    Inputs:
        - **query** (Tensor) - float16, bfloat16 or float32 (Ascend takes no float32), with the axes of `input_layout`.
        - **key** (Tensor) - As the query, of length S2 and N2 heads.
        - **value** (Tensor) - As the key.
        - **real_shift** (Tensor) - Added to the products of queries and keys: (B, N1, S1, S2) or (1, N1, S1, S2), of
          the query's dtype. Default: None.
        - **drop_mask** (Tensor) - uint8 of shape (B, N1, S1, S2 / 8), a mask of DropoutGenMask: a bit is 1 where a
          weight is kept. Default: None, a random mask if `keep_prob` is below 1; Ascend then needs one.
        - **padding_mask** (None) - Not supported, as in MindSpore.
        - **attn_mask** (Tensor) - bool or uint8, True or 1 where a key is excluded: (S1, S2), (B, 1, S1, S2),
          (1, 1, S1, S2) or (B, N1, S1, S2). For `sparse_mode` 2 to 4, which say by themselves what is excluded, None or
          the triangle above the diagonal of shape (2048, 2048): Ascend needs it, here no values of it are read.
          Default: None.
        - **prefix** (None) - Not supported.
        - **actual_seq_qlen** (None) - Not supported.
        - **actual_seq_kvlen** (None) - Not supported.

    Outputs:
        Tuple of the largest score of each query, float32 of shape (B, N1, S1, 8) with 8 equal columns; the sum of the
        exponentials of the scores less the largest, likewise; 0; and the attention, of shape and dtype of the query.

    Raises:
        TypeError: If the inputs have other dtypes.
        RuntimeError: If shapes do not fit, or an unsupported input is not None.
        ValueError: If an argument is out of range, or `input_layout` or `sparse_mode` is not supported.

    Examples:
        >>> x = Tensor(np.ones((2, 4, 64)), mindspore.float16)
        >>> largest, total, _, attention = ops.FlashAttentionScore(4)(x, x, x)
        >>> print(largest.shape, attention.shape)
        (2, 4, 4, 8) (2, 4, 64)
    """

    @checked
    def __init__(
        self,
        head_num: PositiveInt,
        keep_prob: KeepProb = 1.0,
        scale_value: Float = 1.0,
        pre_tokens: Int = _ALL,
        next_tokens: Int = _ALL,
        inner_precise: _Precision = 0,
        input_layout: _Layout = "BSH",
        sparse_mode: _SparseMode = 0,
    ) -> None:
        super().__init__()
        self.head_num, self.keep_prob, self.scale_value = head_num, keep_prob, scale_value
        self.pre_tokens, self.next_tokens = pre_tokens, next_tokens
        self.input_layout, self.sparse_mode = input_layout, sparse_mode
        self.add_prim_attr("inner_precise", inner_precise)

    def __call__(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        real_shift: Tensor | None = None,
        drop_mask: Tensor | None = None,
        padding_mask: Tensor | None = None,
        attn_mask: Tensor | None = None,
        prefix: Any = None,
        actual_seq_qlen: Any = None,
        actual_seq_kvlen: Any = None,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        _refuse_unsupported(padding_mask, prefix, actual_seq_qlen, actual_seq_kvlen)
        scores, attention = self.attend(query, key, value, real_shift, drop_mask, attn_mask)
        largest = ReduceMax(keep_dims=True)(scores, -1)
        total = ReduceSum(keep_dims=True)(Exp()(scores - largest), -1)
        columns = (*scores.shape[:3], 8)
        largest, total = (BroadcastTo.functional(x, columns) for x in (largest, total))
        return largest, total, Zeros()((), query.dtype), attention

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        real_shift: Tensor | None,
        drop_mask: Tensor | None,
        attn_mask: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """Return the masked scores, (B, N1, S1, S2), and the attention."""
        axes = self.input_layout.replace("H", "ND")
        q, k, v = self._split_heads(query, key, value, axes)
        (batch, heads, length, size), shared, keys = q.shape, k.shape[1], k.shape[2]
        pairs = batch, heads, length, keys
        # Heads that share keys are rows of one product, so that keys and values need no copies.
        rows = batch, shared, heads // shared * length
        scores = BatchMatMul(transpose_b=True)(q if shared == heads else q.reshape(*rows, size), k)
        scores = scores if shared == heads else scores.reshape(pairs)
        if real_shift is not None:
            _check_dtype("real_shift", real_shift, (query.dtype,))
            hint = " Shifts of the last 1024 rows alone are not supported: pass those of all rows."
            _check_shape("real_shift", real_shift, (pairs, (1, *pairs[1:])), hint)
            scores = scores + _widen(real_shift)
        scores = scores * self.scale_value
        mask = self._exclude(attn_mask, pairs)
        if mask is not None:
            scores = MaskedFill.functional(scores, mask, _EXCLUDED)
        weights = self._drop(Softmax()(scores), drop_mask)
        attention = BatchMatMul()(weights if shared == heads else weights.reshape(*rows, keys), v)
        attention = attention if shared == heads else attention.reshape(batch, heads, length, size)
        attention = _permute(attention, "BNSD", axes)
        attention = attention if attention.shape == query.shape else attention.reshape(query.shape)
        return scores, attention if query.dtype == mstype.float32 else Cast.functional(attention, query.dtype)

    def _split_heads(self, query, key, value, axes):
        """Check query, key and value. Return them as float32 of shape (batch, heads, length, size of a head)."""
        layout = self.input_layout
        for name, x in (("query", query), ("key", key), ("value", value)):
            _check_dtype(name, x, _FLOATS if name == "query" else (query.dtype,))
            if x.ndim != len(layout):
                raise RuntimeError(
                    f"For '{_OP}', '{name}' should have {len(layout)} dimensions for the layout {layout!r}, but got "
                    f"shape {x.shape}."
                )
        _check_shape("value", value, (key.shape,))
        width = query.shape[-1]
        if "H" in layout:
            size, rest = divmod(width, self.head_num)
            if rest or not size or key.shape[-1] % size:
                raise RuntimeError(
                    f"For '{_OP}', 'head_num' should divide the last axis of 'query', and heads of that size that of "
                    f"'key', but got {self.head_num} heads and shapes {query.shape} and {key.shape}."
                )
            query, key, value = (x.reshape(*x.shape[:2], -1, size) for x in (query, key, value))
        query, key, value = (_permute(_widen(x), axes, "BNSD") for x in (query, key, value))
        (batch, heads, _, size), shared = query.shape, key.shape[1]
        if heads != self.head_num or not shared or heads % shared:
            raise RuntimeError(
                f"For '{_OP}', 'query' should have {self.head_num} heads, 'head_num', and those of 'key' should divide "
                f"them, but got {heads} and {shared}."
            )
        if (key.shape[0], key.shape[3]) != (batch, size):
            raise RuntimeError(
                f"For '{_OP}', 'query' and 'key' should have one batch and one size of a head, but got {batch} and "
                f"{key.shape[0]}, {size} and {key.shape[3]}."
            )
        return query, key, value

    def _exclude(self, attn_mask, pairs):
        """Return the mask of the excluded pairs of query and key, or None if there are none."""
        mode, (batch, _, length, keys) = self.sparse_mode, pairs
        if attn_mask is not None:
            _check_dtype("attn_mask", attn_mask, (mstype.bool_, mstype.uint8))
            full = (pairs, (batch, 1, length, keys), (1, 1, length, keys), (length, keys))
            hint = " With sparse_mode 2 to 4 the mode is the mask; sparse_mode=1 takes a mask of your own."
            _check_shape("attn_mask", attn_mask, (_TRIANGLE,) if mode > 1 else full, hint if mode > 1 else "")
        elif mode == 1:
            raise RuntimeError(f"For '{_OP}', sparse_mode=1 needs an 'attn_mask', but got None.")
        masks = [] if attn_mask is None or mode > 1 else [attn_mask]
        if mode == 4 or mode == 0 and masks:
            before, after = self.pre_tokens, self.next_tokens
        else:
            before, after = _ALL, 0 if mode in (2, 3) else _ALL
            log.unused(
                _OP,
                f"sparse_mode={mode} {'without an attn_mask ' if mode == 0 else ''}does not read it",
                pre_tokens=self.pre_tokens != _ALL,
                next_tokens=self.next_tokens != _ALL,
            )
        masks = [m if m.dtype == mstype.bool_ else Cast.functional(m, mstype.bool_) for m in masks]
        shift = keys - length if mode in (3, 4) else 0
        lowest, highest = shift - before, shift + after  # diagonals: key minus query
        if lowest > highest or lowest >= keys or highest <= -length:
            raise RuntimeError(
                f"For '{_OP}', 'pre_tokens' and 'next_tokens' should leave keys of {length} queries and {keys} keys, "
                f"but got {before} and {after}."
            )
        if highest < keys - 1:
            masks.append(Triu(highest + 1)(Ones()((length, keys), mstype.bool_)))
        if lowest > 1 - length:
            masks.append(Tril(lowest - 1)(Ones()((length, keys), mstype.bool_)))
        return functools.reduce(LogicalOr.functional, masks) if masks else None

    def _drop(self, weights, drop_mask):
        """Return the weights after dropout."""
        if drop_mask is None:
            return weights if is_constant(self.keep_prob, 1.0) else Dropout(self.keep_prob)(weights)[0]
        if is_constant(self.keep_prob, 1.0):
            raise RuntimeError(f"For '{_OP}', 'drop_mask' should be None if 'keep_prob' is 1.0.")
        _check_dtype("drop_mask", drop_mask, (mstype.uint8,))
        if weights.shape[-1] % 8:
            raise RuntimeError(
                f"For '{_OP}', a 'drop_mask' needs a number of keys that 8 divides, but got {weights.shape[-1]}; "
                "leave it out for a random mask."
            )
        _check_shape("drop_mask", drop_mask, ((*weights.shape[:3], weights.shape[-1] // 8),))
        return DropoutDoMask()(weights, drop_mask, self.keep_prob)


def _refuse(name, value, advice):
    if value is not None:
        raise RuntimeError(f"For '{_OP}', '{name}' should be None, but got {describe(value)}; {advice}.")


def _refuse_unsupported(padding_mask, prefix, actual_seq_qlen, actual_seq_kvlen):
    """Raise RuntimeError if an input that only Ascend reads is not None."""
    _refuse("padding_mask", padding_mask, "exclude padding with 'attn_mask'")
    _refuse("prefix", prefix, "pass the full mask as 'attn_mask' with sparse_mode=1")
    _refuse("actual_seq_qlen", actual_seq_qlen, _PAD)
    _refuse("actual_seq_kvlen", actual_seq_kvlen, _PAD)


@spelling(FlashAttentionScore)
def flash_attention_score(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    head_num: int,
    real_shift: Tensor | None = None,
    drop_mask: Tensor | None = None,
    padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None,
    prefix: Any = None,
    actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None,
    keep_prob: float = 1.0,
    scalar_value: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 2147483647,
    inner_precise: int = 0,
    input_layout: str = "BSH",
    sparse_mode: int = 0,
) -> Tensor:
    """Dropout(softmax(mask(scalar_value * (query @ key^T + real_shift)))) @ value, for each head.

    A graph shows each step, and a view the weights of the softmax by head. `FlashAttentionScore` says more of shapes.

    Args:
        query (Tensor): float16, bfloat16 or float32 (Ascend takes no float32), with the axes of `input_layout`.
        key (Tensor): As the query; its number of heads is a divisor of `head_num`.
        value (Tensor): As the key.
        head_num (int): Number of heads of the query.
        real_shift (Tensor): Added to the products of queries and keys: (B, N1, S1, S2) or (1, N1, S1, S2), of the
            query's dtype. Default: None.
        drop_mask (Tensor): uint8 of shape (B, N1, S1, S2 / 8), a mask of DropoutGenMask. Default: None, a random mask
            if `keep_prob` is below 1; Ascend then needs one.
        padding_mask (None): Not supported, as in MindSpore.
        attn_mask (Tensor): bool or uint8, True or 1 where a key is excluded: (S1, S2), (B, 1, S1, S2), (1, 1, S1, S2)
            or (B, N1, S1, S2); for `sparse_mode` 2 to 4 None or (2048, 2048), of which no values are read. Default:
            None.
        prefix (None): Not supported.
        actual_seq_qlen (None): Not supported.
        actual_seq_kvlen (None): Not supported.
        keep_prob (float): Probability that dropout leaves a weight, in (0, 1]. Default: 1.0.
        scalar_value (float): Factor of the scores, usually 1 / sqrt(D). Default: 1.0.
        pre_tokens (int): Number of keys before a query that it attends to, for `sparse_mode` 0 with an `attn_mask`, and
            for 4. Default: 2147483647, all.
        next_tokens (int): Number of keys after a query that it attends to, for the same modes. Default: 2147483647.
        inner_precise (int): No effect. Default: 0.
        input_layout (str): Axes of query, key and value: "BSH", "BNSD", "SBH" or "BSND". Default: "BSH".
        sparse_mode (int): 0 for `attn_mask`, `pre_tokens` and `next_tokens`; 1 for `attn_mask` alone; 2 for the keys up
            to that of the query's index; 3 for the same, counted from the last query and key; 4 for `pre_tokens` and
            `next_tokens`, counted from the last. Default: 0.

    Returns:
        Tensor, shape and dtype of `query`.

    Raises:
        TypeError: If a Tensor has another dtype.
        RuntimeError: If shapes do not fit, or an unsupported argument is not None.
        ValueError: If an argument is out of range, or `input_layout` or `sparse_mode` is not supported.

    Examples:
        >>> x = Tensor(np.ones((2, 4, 64)), mindspore.float16)
        >>> ops.flash_attention_score(x, x, x, 4, scalar_value=0.25, sparse_mode=2).shape
        (2, 4, 64)
    """
    _refuse_unsupported(padding_mask, prefix, actual_seq_qlen, actual_seq_kvlen)
    kernel = FlashAttentionScore(
        head_num, keep_prob, scalar_value, pre_tokens, next_tokens, inner_precise, input_layout, sparse_mode
    )
    return kernel.attend(query, key, value, real_shift, drop_mask, attn_mask)[1]


_ASCEND = "it is a kernel of Ascend's"
_X = F(2, 4, 8)
CASES = [
    case(flash_attention_score, _X, _X, _X, 2).without("mindspore", _ASCEND),
    case(flash_attention_score, _X, F(2, 6, 4), F(2, 6, 4), 2, scalar_value=0.5, sparse_mode=3).without(
        "mindspore", _ASCEND
    ),
    case(FlashAttentionScore, _X, _X, _X, head_num=4).without("mindspore", _ASCEND),
    refused(ValueError, FlashAttentionScore, head_num=0),
    refused(ValueError, FlashAttentionScore, head_num=2, input_layout="TND", says="pad the sequences"),
    refused(ValueError, FlashAttentionScore, head_num=2, sparse_mode=5, says="sparse_mode=1"),
    refused(TypeError, FlashAttentionScore, I(2, 4, 8), I(2, 4, 8), I(2, 4, 8), head_num=2),
    refused(RuntimeError, FlashAttentionScore, _X, _X, _X, head_num=3),
]
