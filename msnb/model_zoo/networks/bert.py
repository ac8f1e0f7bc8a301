"""BERT (Devlin et al., 2018: Pre-training of deep bidirectional transformers for language understanding)."""

import math

from msnb import nn, ops
from msnb.common.initializer import Normal, initializer
from msnb.core import Parameter
from msnb.model_zoo.networks.attention import Layers, MultiHeadAttention
from msnb.model_zoo.networks.layers import make_dense
from msnb.model_zoo.networks.variant import choose

__all__ = ["Bert", "bert_base", "bert_large"]


class ErfGelu(nn.Cell):
    """x Φ(x), with the distribution function Φ of the normal distribution."""

    def __init__(self) -> None:
        super().__init__()
        self.erf = ops.Erf()

    def construct(self, x):
        return 0.5 * x * (1.0 + self.erf(x / math.sqrt(2.0)))


class Embeddings(nn.Cell):
    """Add vectors of the positions and of the segments to those of the tokens, and normalize."""

    def __init__(self, size, max_length, segments, keep_prob, epsilon) -> None:
        super().__init__()
        self.embedding_table = Parameter(initializer(Normal(0.02), (segments, size)))
        self.full_position_embeddings = Parameter(initializer(Normal(0.02), (max_length, size)))
        self.layernorm = nn.LayerNorm((size,), epsilon=epsilon)
        self.dropout = nn.Dropout(keep_prob)
        self.gather = ops.Gather()

    def construct(self, words, segment_ids):
        segments = self.gather(self.embedding_table, segment_ids, 0)
        positions = self.full_position_embeddings[: words.shape[1]]
        return self.dropout(self.layernorm(words + segments + positions))


class Output(nn.Cell):
    """norm(x + W y)."""

    def __init__(self, inner, size, keep_prob, epsilon) -> None:
        super().__init__()
        self.dense = make_dense(inner, size)
        self.layernorm, self.dropout = nn.LayerNorm((size,), epsilon=epsilon), nn.Dropout(keep_prob)

    def construct(self, y, x):
        return self.layernorm(x + self.dropout(self.dense(y)))


class SelfAttention(nn.Cell):
    """norm(x + attention(x))."""

    def __init__(self, size, heads, keep_prob, epsilon) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(size, heads, keep_prob, has_output=False)
        self.output = Output(size, size, keep_prob, epsilon)

    def construct(self, x, mask):
        return self.output(self.attention(x, x, mask), x)


class Layer(nn.Cell):
    """Attention and a feed-forward network, each normalized after its shortcut."""

    def __init__(self, size, heads, inner, keep_prob, epsilon, make_gelu) -> None:
        super().__init__()
        self.attention = SelfAttention(size, heads, keep_prob, epsilon)
        self.intermediate = make_dense(size, inner)
        self.gelu = make_gelu()
        self.output = Output(inner, size, keep_prob, epsilon)

    def construct(self, x, mask):
        x = self.attention(x, mask)
        return self.output(self.gelu(self.intermediate(x)), x)


class Bert(nn.Cell):
    """BERT without a task.

    Args:
        vocab_size (int): Number of tokens. Default: 30522.
        size (int): Features of the positions. Default: 768.
        layers (int): Number of layers. Default: 12.
        heads (int): Heads of the attention. Default: 12.
        max_length (int): Largest number of positions. Default: 512.
        segments (int): Number of segments that `token_type_ids` tells apart. Default: 2.
        dropout (float): Probability to drop a value in training. Default: 0.1.
        variant (str): GELU of Hugging Face with "torch", of MindSpore's zoo with "mindspore". Default: "torch".

    Inputs:
        - **input_ids** (Tensor) - Tokens of shape :math:`(N, S)`, int32.
        - **token_type_ids** (Tensor) - Segments of the tokens, :math:`(N, S)`, int32.
        - **input_mask** (Tensor) - 1 at tokens, 0 at padding, :math:`(N, S)`, float32.

    Outputs:
        tuple[Tensor], the features :math:`(N, S, size)`, and the pooled ones :math:`(N, size)`.
    """

    weight_rules = [
        (r"^bert\.", ""),
        (r"^cls\.|^classifier\.|position_ids$", None),
        (r"^embeddings\.word_embeddings\.weight$", "bert_embedding_lookup.embedding_table"),
        (r"^embeddings\.position_embeddings\.weight$", "bert_embedding_postprocessor.full_position_embeddings"),
        (r"^embeddings\.token_type_embeddings\.weight$", "bert_embedding_postprocessor.embedding_table"),
        (r"^embeddings\.LayerNorm\.", "bert_embedding_postprocessor.LayerNorm."),
        (r"^encoder\.layer\.", "bert_encoder.layers."),
        (r"\.attention\.self\.(query|key|value)\.", r".attention.attention.\1_layer."),
        (r"\.intermediate\.dense\.", ".intermediate."),
        (r"\.LayerNorm\.", ".layernorm."),
        (r"^pooler\.dense\.", "dense."),
    ]

    def __init__(
        self,
        vocab_size: int = 30522,
        size: int = 768,
        layers: int = 12,
        heads: int = 12,
        max_length: int = 512,
        segments: int = 2,
        dropout: float = 0.1,
        variant: str = "torch",
    ) -> None:
        super().__init__()
        make_gelu, epsilon = choose(variant, (ErfGelu, 1e-12), (nn.GELU, 1e-7))
        self.bert_embedding_lookup = nn.Embedding(vocab_size, size)
        self.bert_embedding_postprocessor = Embeddings(size, max_length, segments, 1 - dropout, epsilon)
        options = size, heads, 4 * size, 1 - dropout, epsilon, make_gelu
        self.bert_encoder = Layers([Layer(*options) for _ in range(layers)])
        self.dense = make_dense(size, size, activation="tanh")

    def construct(self, input_ids, token_type_ids, input_mask):
        x = self.bert_embedding_postprocessor(self.bert_embedding_lookup(input_ids), token_type_ids)
        x = self.bert_encoder(x, input_mask[:, None, None])
        return x, self.dense(x[:, 0])


def bert_base(variant: str = "torch", **options: int) -> Bert:
    """Return a BERT with 12 layers. The options are arguments of `Bert`, such as ``vocab_size=21128``."""
    return Bert(variant=variant, **options)


def bert_large(variant: str = "torch", **options: int) -> Bert:
    """Return a BERT with 24 layers of 1024 features. The options are arguments of `Bert`."""
    return Bert(size=1024, layers=24, heads=16, variant=variant, **options)
