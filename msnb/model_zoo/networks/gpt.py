"""GPT-2 (Radford et al., 2019: Language models are unsupervised multitask learners)."""

import numpy as np

from msnb import nn, ops
from msnb.common.initializer import Normal, initializer
from msnb.core import Parameter, Tensor
from msnb.model_zoo.networks.attention import Attend
from msnb.model_zoo.networks.layers import make_dense

__all__ = ["Gpt", "gpt2"]


class Mapping(nn.Cell):
    """x W + b. The matrix is stored as (inputs, outputs)."""

    def __init__(self, inputs, outputs) -> None:
        super().__init__()
        self.weight = Parameter(initializer(Normal(0.02), (inputs, outputs)), "weight")
        self.bias = Parameter(initializer("zeros", (outputs,)), "bias")
        self.matmul = ops.MatMul()

    def construct(self, x):
        y = self.matmul(x.reshape((-1, x.shape[-1])), self.weight) + self.bias
        return y.reshape((*x.shape[:-1], -1))


class Attention(nn.Cell):
    """Attention to earlier positions."""

    def __init__(self, size, heads, keep_prob) -> None:
        super().__init__()
        self.dense1, self.dense2, self.dense3 = (make_dense(size, size) for _ in range(3))
        self.attend = Attend(heads, keep_prob)
        self.projection = Mapping(size, size)

    def construct(self, x, mask):
        return self.projection(self.attend(self.dense1(x), self.dense2(x), self.dense3(x), mask))


class Output(nn.Cell):
    """The feed-forward network, with GELU."""

    def __init__(self, size, inner) -> None:
        super().__init__()
        self.mapping, self.gelu, self.projection = Mapping(size, inner), nn.GELU(), Mapping(inner, size)

    def construct(self, x):
        return self.projection(self.gelu(self.mapping(x)))


class Block(nn.Cell):
    """Attention and a feed-forward network, each normalized before it."""

    def __init__(self, size, heads, keep_prob) -> None:
        super().__init__()
        self.layernorm1, self.layernorm2 = nn.LayerNorm((size,), epsilon=1e-5), nn.LayerNorm((size,), epsilon=1e-5)
        self.attention, self.output = Attention(size, heads, keep_prob), Output(size, 4 * size)
        self.dropout = nn.Dropout(keep_prob)

    def construct(self, x, mask):
        x = x + self.dropout(self.attention(self.layernorm1(x), mask))
        return x + self.dropout(self.output(self.layernorm2(x)))


class Backbone(nn.Cell):
    """Embeddings, blocks and the last LayerNorm."""

    def __init__(self, vocab_size, size, layers, heads, max_length, keep_prob) -> None:
        super().__init__()
        self.word_embedding = nn.Embedding(vocab_size, size, embedding_table=Normal(0.02))
        self.position_embedding = nn.Embedding(max_length, size, embedding_table=Normal(0.02))
        self.blocks = nn.CellList([Block(size, heads, keep_prob) for _ in range(layers)])
        self.layernorm = nn.LayerNorm((size,), epsilon=1e-5)
        self.earlier = Tensor(np.tril(np.ones((max_length, max_length), np.float32)))
        self.dropout, self.expand = nn.Dropout(keep_prob), ops.ExpandDims()

    def construct(self, input_ids, input_mask):
        length = input_ids.shape[1]
        x = self.dropout(self.word_embedding(input_ids) + self.position_embedding.embedding_table[:length])
        mask = self.expand(self.expand(input_mask, 1), 1) * self.earlier[:length, :length]
        for block in self.blocks:
            x = block(x, mask)
        return self.layernorm(x)


class Gpt(nn.Cell):
    """GPT-2. Its embedding table also gives the logits.

    Args:
        vocab_size (int): Number of tokens. Default: 50257.
        size (int): Features of the positions. Default: 768.
        layers (int): Number of blocks. Default: 12.
        heads (int): Heads of the attention. Default: 12.
        max_length (int): Largest number of positions. Default: 1024.
        dropout (float): Probability to drop a value in training. Default: 0.1.

    Inputs:
        - **input_ids** (Tensor) - Tokens of shape :math:`(N, S)`, int32. A position sees those before it.
        - **input_mask** (Tensor) - 1 at tokens, 0 at padding, :math:`(N, S)`, float32.

    Outputs:
        Tensor, logits of shape :math:`(N, S, vocab\\_size)`.
    """

    weight_rules = [
        (r"^transformer\.", ""),
        (r"^lm_head\.|\.attn\.(masked_)?bias$", None),
        (r"^wte\.weight$", "backbone.word_embedding.embedding_table"),
        (r"^wpe\.weight$", "backbone.position_embedding.embedding_table"),
        (r"^(h\.\d+)\.attn\.c_attn\.", (r"\1.attention.dense1.", r"\1.attention.dense2.", r"\1.attention.dense3.")),
        (r"^h\.", "backbone.blocks."),
        (r"\.ln_([12])\.", r".layernorm\1."),
        (r"\.attn\.c_proj\.", ".attention.projection."),
        (r"\.mlp\.c_fc\.", ".output.mapping."),
        (r"\.mlp\.c_proj\.", ".output.projection."),
        (r"^ln_f\.", "backbone.layernorm."),
    ]

    def __init__(
        self,
        vocab_size: int = 50257,
        size: int = 768,
        layers: int = 12,
        heads: int = 12,
        max_length: int = 1024,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.backbone = Backbone(vocab_size, size, layers, heads, max_length, 1 - dropout)
        self.matmul = ops.MatMul(transpose_b=True)

    def construct(self, input_ids, input_mask):
        x = self.backbone(input_ids, input_mask)
        logits = self.matmul(x.reshape((-1, x.shape[2])), self.backbone.word_embedding.embedding_table)
        return logits.reshape((*input_ids.shape, -1))


def gpt2(**options: int) -> Gpt:
    """Return a GPT-2 with 12 blocks. The options are arguments of `Gpt`, such as ``layers=24``."""
    return Gpt(**options)
