"""Attention and feed-forward networks (Vaswani et al., 2017), for BERT, GPT and Transformer."""

from msnb import nn, ops
from msnb.model_zoo.networks.layers import make_dense


class Attend(nn.Cell):
    """softmax(Q Kᵀ / √d) V for several heads. The mask is 1 where a position is visible, and 0 elsewhere."""

    def __init__(self, heads, keep_prob) -> None:
        super().__init__()
        self.heads = heads
        self.reshape, self.transpose, self.softmax = ops.Reshape(), ops.Transpose(), ops.Softmax(-1)
        self.scores, self.matmul = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul()
        self.dropout = nn.Dropout(keep_prob)

    def construct(self, query, key, value, mask):
        scores = self.scores(self._split(query), self._split(key)) * (self.heads / query.shape[2]) ** 0.5
        weights = self.dropout(self.softmax(scores + (mask - 1.0) * 10000.0))
        return self.reshape(self.transpose(self.matmul(weights, self._split(value)), (0, 2, 1, 3)), query.shape)

    def _split(self, x):
        x = self.reshape(x, (x.shape[0], x.shape[1], self.heads, x.shape[2] // self.heads))
        return self.transpose(x, (0, 2, 1, 3))


class MultiHeadAttention(nn.Cell):
    """Projections of queries, keys and values, attention, and a projection of the result unless `has_output` is False.

    Args:
        size (int): Features of the positions.
        heads (int): Number of heads.
        keep_prob (float): Probability to keep a weight of the attention.
        has_bias (bool): Add a bias in each projection. Default: True.
        has_output (bool): Project the result. Default: True.
    """

    def __init__(self, size: int, heads: int, keep_prob: float, has_bias: bool = True, has_output: bool = True) -> None:
        super().__init__()
        self.query_layer = make_dense(size, size, has_bias=has_bias)
        self.key_layer = make_dense(size, size, has_bias=has_bias)
        self.value_layer = make_dense(size, size, has_bias=has_bias)
        self.out_layer = make_dense(size, size, has_bias=has_bias) if has_output else None
        self.attend = Attend(heads, keep_prob)

    def construct(self, x, memory, mask):
        y = self.attend(self.query_layer(x), self.key_layer(memory), self.value_layer(memory), mask)
        return y if self.out_layer is None else self.out_layer(y)


class Norm(nn.Cell):
    """LayerNorm before a layer."""

    def __init__(self, size) -> None:
        super().__init__()
        self.layernorm = nn.LayerNorm((size,), epsilon=1e-5)

    def construct(self, x):
        return self.layernorm(x)


class Attention(nn.Cell):
    """x + attention(norm(x), memory). Without memory the positions of x see each other."""

    def __init__(self, size, heads, keep_prob, has_bias) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(size, heads, keep_prob, has_bias)
        self.preprocess, self.dropout = Norm(size), nn.Dropout(keep_prob)

    def construct(self, x, mask, memory=None):
        y = self.preprocess(x)
        return x + self.dropout(self.attention(y, y if memory is None else memory, mask))


class FeedForward(nn.Cell):
    """x + W₂ relu(W₁ norm(x))."""

    def __init__(self, size, inner, keep_prob) -> None:
        super().__init__()
        self.conv1, self.conv2 = make_dense(size, inner, activation="relu"), make_dense(inner, size)
        self.preprocess, self.dropout = Norm(size), nn.Dropout(keep_prob)

    def construct(self, x):
        return x + self.dropout(self.conv2(self.dropout(self.conv1(self.preprocess(x)))))


class Layers(nn.Cell):
    """The layers, one after the other."""

    def __init__(self, layers) -> None:
        super().__init__()
        self.layers = nn.CellList(layers)

    def construct(self, x, mask):
        for layer in self.layers:
            x = layer(x, mask)
        return x
