"""Multi-head attention, with signature and Parameter names of MindSpore 2. r1.1 has no such layer."""

import math
from typing import Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.initializer import XavierNormal, XavierUniform, initializer
from msnb.common.kinds import Bool, DType, Optional, PositiveInt, checked
from msnb.core.tensor.parameter import Parameter
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Share
from msnb.nn._upcast import round_to_inputs, widen
from msnb.nn.cell import Cell
from msnb.nn.layer.basic import Dense
from msnb.ops import functional as F
from msnb.ops import operations as P
from msnb.ops.function._attention import apply_mask

__all__ = ["MultiheadAttention"]

_Width = Annotated[int | None, Optional(PositiveInt)]


class MultiheadAttention(Cell):
    r"""
    Multi-head attention (Vaswani et al., 2017): each head projects queries, keys and values, and computes
    :math:`\text{softmax}(q k^T / \sqrt{d}) v`; the results of all heads are projected once more.

    Args:
        embed_dim (int): Number of features of queries and outputs.
        num_heads (int): Number of heads; a divisor of `embed_dim`.
        dropout (float): Probability that a weight is dropped in training. Default: 0.0.
        has_bias (bool): Whether projections add a bias. Default: True.
        add_bias_kv (bool): Whether to append one learned key and value to each sequence. Default: False.
        add_zero_attn (bool): Whether to append a key and value of zeros to each sequence. Default: False.
        kdim (int): Number of features of keys. Default: None, `embed_dim`.
        vdim (int): Number of features of values. Default: None, `embed_dim`.
        batch_first (bool): Whether N comes before L. Default: False.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **query** (Tensor) - (L, N, E), (N, L, E) with `batch_first`, or (L, E) for one sequence.
        - **key** (Tensor) - as the query, of length S instead of L, with `kdim` features.
        - **value** (Tensor) - as the key, with `vdim` features.
        - **key_padding_mask** (Tensor, optional) - (N, S) or (S,): True for keys to ignore, or numbers that are added
            to the scores. Default: None.
        - **need_weights** (bool, optional) - whether to return the attention weights too. Default: True.
        - **attn_mask** (Tensor, optional) - (L, S) or (N * num_heads, L, S): as `key_padding_mask`, for pairs of query
            and key. Default: None.
        - **average_attn_weights** (bool, optional) - whether to return the mean of the weights over the heads. Default:
            True.

    Outputs:
        Tuple of the outputs, in the shape of the queries, and with `need_weights` the weights, (N, L, S), or
        (N, num_heads, L, S) without `average_attn_weights`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If `num_heads` does not divide `embed_dim`, or queries have neither 2 nor 3 dimensions.

    Examples:
        >>> net = nn.MultiheadAttention(128, 8)
        >>> query = Tensor(np.ones((10, 4, 128)), mindspore.float32)
        >>> key = Tensor(np.ones((6, 4, 128)), mindspore.float32)
        >>> out, weights = net(query, key, key)
        >>> print(out.shape, weights.shape)
        (10, 4, 128) (4, 10, 6)
    """

    @checked
    def __init__(
        self,
        embed_dim: PositiveInt,
        num_heads: PositiveInt,
        dropout: Share = 0.0,
        has_bias: Bool = True,
        add_bias_kv: Bool = False,
        add_zero_attn: Bool = False,
        kdim: _Width = None,
        vdim: _Width = None,
        batch_first: Bool = False,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError(
                f"For '{self.cls_name}', 'num_heads' should divide 'embed_dim', but got {num_heads} and {embed_dim}."
            )
        self.embed_dim: int = embed_dim
        self.num_heads: int = num_heads
        self.head_dim: int = embed_dim // num_heads
        self.dropout = dropout
        self.has_bias: bool = has_bias
        self.add_zero_attn: bool = add_zero_attn
        self.batch_first: bool = batch_first
        self.kdim: int = kdim or embed_dim
        self.vdim: int = vdim or embed_dim

        def weight(name: str, *shape: int, init: Any = None) -> Parameter:
            return Parameter(initializer(XavierUniform() if init is None else init, shape, dtype), name)

        self._same_length = self.kdim == self.vdim == embed_dim
        if self._same_length:
            self.in_proj_weight: Parameter = weight("in_proj_weight", 3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight: Parameter = weight("q_proj_weight", embed_dim, embed_dim)
            self.k_proj_weight: Parameter = weight("k_proj_weight", embed_dim, self.kdim)
            self.v_proj_weight: Parameter = weight("v_proj_weight", embed_dim, self.vdim)
        if has_bias:
            self.in_proj_bias: Parameter = weight("in_proj_bias", 3 * embed_dim, init="zeros")
        self.add_bias_kv: bool = add_bias_kv
        if add_bias_kv:
            self.bias_k: Parameter = weight("bias_k", 1, 1, embed_dim, init=XavierNormal())
            self.bias_v: Parameter = weight("bias_v", 1, 1, embed_dim, init=XavierNormal())
        self.out_proj: Dense = Dense(embed_dim, embed_dim, None, None, has_bias)
        self.out_proj.weight.set_dtype(dtype)
        if has_bias:
            self.out_proj.bias.set_dtype(dtype)
        self.matmul: P.BatchMatMul = P.BatchMatMul()
        self.matmul_turned: P.BatchMatMul = P.BatchMatMul(transpose_b=True)
        self.softmax: P.Softmax = P.Softmax(-1)

    def construct(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
    ) -> tuple[Tensor, ...]:
        """Return the outputs and the attention weights."""
        if query.ndim not in (2, 3):
            raise ValueError(f"For '{self.cls_name}', 'query' should have 2 or 3 dims, but got shape {query.shape}.")
        single = query.ndim == 2
        query, key, value = (self._move_batch_axis_first(x, single) for x in (query, key, value))
        q, k, v = self._project_inputs(query, key, value)
        n, length, extra = q.shape[0], q.shape[1], int(self.add_bias_kv) + int(self.add_zero_attn)
        if self.add_bias_kv:
            k = P.Concat(1)((k, F.broadcast_to(self.bias_k, (n, 1, self.embed_dim))))
            v = P.Concat(1)((v, F.broadcast_to(self.bias_v, (n, 1, self.embed_dim))))
        if self.add_zero_attn:
            zero = F.zeros_like(k[:, :1])
            k, v = P.Concat(1)((k, zero)), P.Concat(1)((v, zero))

        q, k, v = (self._split_heads(x) for x in (q, k, v))
        # Products of queries and keys may overflow in half precision, and the softmax of infinity is NaN.
        scores = self.matmul_turned(widen(q) * (1 / math.sqrt(self.head_dim)), widen(k))
        scores = apply_mask(scores, attn_mask, extra, lambda m: m if m.ndim == 2 else m.reshape((n, -1, *m.shape[1:])))
        scores = apply_mask(scores, key_padding_mask, extra, lambda m: m.reshape((n, 1, 1, -1)))
        weights = F.dropout(round_to_inputs(self.softmax(scores), v), self.dropout, self.training)

        out = self.matmul(weights, v).transpose(0, 2, 1, 3).reshape((n, length, self.embed_dim))
        out = self.out_proj(out)
        out = out[0] if single else out if self.batch_first else out.transpose(1, 0, 2)
        if not need_weights:
            return (out,)
        weights = weights.mean(1) if average_attn_weights else weights
        return out, weights[0] if single else weights

    def _move_batch_axis_first(self, x, single):
        if single:
            return F.expand_dims(x, 0)
        return x if self.batch_first else x.transpose(1, 0, 2)

    def _project_inputs(self, query, key, value):
        e = self.embed_dim
        if self._same_length:
            matrices = [self.in_proj_weight[i * e : (i + 1) * e] for i in range(3)]
        else:
            matrices = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        projected = [F.matmul(x, m.transpose(1, 0)) for x, m in zip((query, key, value), matrices, strict=True)]
        if self.has_bias:
            projected = [x + self.in_proj_bias[i * e : (i + 1) * e] for i, x in enumerate(projected)]
        return projected

    def _split_heads(self, x):
        """Reshape (N, L, E) to (N, heads, L, E / heads)."""
        return x.reshape((x.shape[0], x.shape[1], self.num_heads, self.head_dim)).transpose(0, 2, 1, 3)
