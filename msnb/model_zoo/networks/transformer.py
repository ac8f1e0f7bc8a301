"""Transformer with encoder and decoder (Vaswani et al., 2017: Attention is all you need), normalized before layers."""

import numpy as np

from msnb import nn, ops
from msnb.core import Tensor
from msnb.model_zoo.networks.attention import Attention, FeedForward, Norm
from msnb.model_zoo.networks.variant import choose

__all__ = ["Transformer", "transformer"]


class EncoderLayer(nn.Cell):
    """Attention and a feed-forward network."""

    def __init__(self, size, heads, inner, keep_prob, has_bias) -> None:
        super().__init__()
        self.attention = Attention(size, heads, keep_prob, has_bias)
        self.feedforward = FeedForward(size, inner, keep_prob)

    def construct(self, x, mask, memory, memory_mask):
        return self.feedforward(self.attention(x, mask))


class DecoderLayer(nn.Cell):
    """Attention to earlier positions, attention to the encoder's output, and a feed-forward network."""

    def __init__(self, size, heads, inner, keep_prob, has_bias) -> None:
        super().__init__()
        self.self_attention = Attention(size, heads, keep_prob, has_bias)
        self.cross_attention = Attention(size, heads, keep_prob, has_bias)
        self.feedforward = FeedForward(size, inner, keep_prob)

    def construct(self, x, mask, memory, memory_mask):
        return self.feedforward(self.cross_attention(self.self_attention(x, mask), memory_mask, memory))


class Stack(nn.Cell):
    """Layers, and a LayerNorm of their result."""

    def __init__(self, layers, size) -> None:
        super().__init__()
        self.layers, self.layer_preprocess = nn.CellList(layers), Norm(size)

    def construct(self, x, mask, memory=None, memory_mask=None):
        for layer in self.layers:
            x = layer(x, mask, memory, memory_mask)
        return self.layer_preprocess(x)


def _encode_positions(length, size):
    """Return sines and cosines of the positions, with wavelengths from 2π to 20000π."""
    rates = 1e4 ** -(np.arange(size // 2) / (size // 2 - 1))
    angles = np.arange(length)[:, None] * rates
    return np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)


class Transformer(nn.Cell):
    """Transformer. Source and target share one embedding table, which also gives the logits.

    Args:
        vocab_size (int): Number of tokens.
        size (int): Features of the positions. Default: 512.
        layers (int): Layers of the encoder, and of the decoder. Default: 6.
        heads (int): Heads of the attention. Default: 8.
        inner (int): Features inside the feed-forward networks. Default: 2048.
        max_length (int): Largest number of positions. Default: 512.
        dropout (float): Probability to drop a value in training. Default: 0.1.
        variant (str): The attention has biases with "torch", as `torch.nn.Transformer` has, and none with "mindspore".
            Default: "torch".

    Inputs:
        - **source_ids** (Tensor) - Tokens of shape :math:`(N, S)`, int32.
        - **source_mask** (Tensor) - 1 at tokens, 0 at padding, :math:`(N, S)`, float32.
        - **target_ids** (Tensor) - Tokens of shape :math:`(N, T)`, int32. A position sees those before it.
        - **target_mask** (Tensor) - 1 at tokens, 0 at padding, :math:`(N, T)`, float32.

    Outputs:
        Tensor, logits of shape :math:`(N, T, vocab\\_size)`.
    """

    weight_rules = [
        (r"^embedding\.weight", "tfm_embedding_lookup.embedding_table"),
        (r"\.in_proj_(weight|bias)$", (r".query_layer.\1", r".key_layer.\1", r".value_layer.\1")),
        (r"\.out_proj\.", ".out_layer."),
        (r"^encoder\.layers\.(\d+)\.self_attn\.", r"tfm_encoder.layers.\1.attention.attention."),
        (r"^encoder\.layers\.(\d+)\.norm1\.", r"tfm_encoder.layers.\1.attention.preprocess.layernorm."),
        (r"^encoder\.layers\.(\d+)\.norm2\.", r"tfm_encoder.layers.\1.feedforward.preprocess.layernorm."),
        (r"^decoder\.layers\.(\d+)\.self_attn\.", r"tfm_decoder.layers.\1.self_attention.attention."),
        (r"^decoder\.layers\.(\d+)\.multihead_attn\.", r"tfm_decoder.layers.\1.cross_attention.attention."),
        (r"^decoder\.layers\.(\d+)\.norm1\.", r"tfm_decoder.layers.\1.self_attention.preprocess.layernorm."),
        (r"^decoder\.layers\.(\d+)\.norm2\.", r"tfm_decoder.layers.\1.cross_attention.preprocess.layernorm."),
        (r"^decoder\.layers\.(\d+)\.norm3\.", r"tfm_decoder.layers.\1.feedforward.preprocess.layernorm."),
        (r"^(encoder|decoder)\.norm\.", r"tfm_\1.layer_preprocess.layernorm."),
        (r"^(encoder|decoder)\.layers\.(\d+)\.linear(\d)\.", r"tfm_\1.layers.\2.feedforward.conv\3."),
    ]

    def __init__(
        self,
        vocab_size: int,
        size: int = 512,
        layers: int = 6,
        heads: int = 8,
        inner: int = 2048,
        max_length: int = 512,
        dropout: float = 0.1,
        variant: str = "torch",
    ) -> None:
        super().__init__()
        options = (size, heads, inner, 1 - dropout, choose(variant, torch=True, mindspore=False))
        self.tfm_embedding_lookup = nn.Embedding(vocab_size, size)
        self.tfm_encoder = Stack([EncoderLayer(*options) for _ in range(layers)], size)
        self.tfm_decoder = Stack([DecoderLayer(*options) for _ in range(layers)], size)
        self.positions = Tensor(_encode_positions(max_length, size))
        self.earlier = Tensor(np.tril(np.ones((max_length, max_length), np.float32)))
        self.dropout = nn.Dropout(1 - dropout)
        self.scale = size**0.5
        self.expand, self.matmul = ops.ExpandDims(), ops.MatMul(transpose_b=True)

    def construct(self, source_ids, source_mask, target_ids, target_mask):
        length = target_ids.shape[1]
        source_mask = self.expand(self.expand(source_mask, 1), 1)
        target_mask = self.expand(self.expand(target_mask, 1), 1) * self.earlier[:length, :length]
        memory = self.tfm_encoder(self._embed(source_ids), source_mask)
        y = self.tfm_decoder(self._embed(target_ids), target_mask, memory, source_mask)
        logits = self.matmul(y.reshape((-1, y.shape[2])), self.tfm_embedding_lookup.embedding_table)
        return logits.reshape((*target_ids.shape, -1))

    def _embed(self, ids):
        return self.dropout(self.tfm_embedding_lookup(ids) * self.scale + self.positions[: ids.shape[1]])


def transformer(vocab_size: int, variant: str = "torch", **options: int) -> Transformer:
    """Return a Transformer. The options are arguments of `Transformer`, such as ``layers=2``."""
    return Transformer(vocab_size, variant=variant, **options)
