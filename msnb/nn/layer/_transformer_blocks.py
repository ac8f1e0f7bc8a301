"""Transformer encoders and decoders (Vaswani et al., 2017), with MindSpore 2's signatures. r1.1 has no such layers."""

import copy
from collections.abc import Callable
from typing import Annotated, Any

from msnb.common import dtype as mstype
from msnb.common.initializer import XavierUniform, initializer
from msnb.common.kinds import Between, Bool, DType, Float, Kind, PositiveInt, checked
from msnb.core.tensor.tensor import Tensor
from msnb.nn._kinds import Epsilon
from msnb.nn.cell import Cell
from msnb.nn.layer._norm.layer_norm import LayerNorm
from msnb.nn.layer.basic import Dense, Dropout
from msnb.nn.layer.container import CellList
from msnb.nn.layer.transformer import MultiheadAttention
from msnb.ops import functional as F

__all__ = [
    "TransformerEncoderLayer",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerDecoder",
    "Transformer",
]

_BY_NAME = {"relu": F.relu, "gelu": F.gelu}


def _check_activation(value):
    if isinstance(value, str) and value not in _BY_NAME or not isinstance(value, str) and not callable(value):
        raise ValueError
    return value


Activation = Annotated[str | Cell | Callable[..., Any], Kind('"relu", "gelu", a Cell or a function', _check_activation)]
Dropped = Annotated[float, Between(Float, 0, 1, high_in=False)]


class _Layer(Cell):
    """Base of Transformer layers: attention and two dense layers, with residual connections and normalisation before
    or after."""

    d_model: int
    norm_first: bool
    activation: Any

    def _create_layers(
        self, d_model, nhead, dim_feedforward, dropout, activation, epsilon, batch_first, norm_first, dtype
    ):
        attentions, norms = self._parts
        for name in attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, dtype=dtype))
        self.dense1: Dense = Dense(d_model, dim_feedforward, None, None, dtype=dtype)
        self.dropout: Dropout = Dropout(p=float(dropout))
        self.dense2: Dense = Dense(dim_feedforward, d_model, None, None, dtype=dtype)
        self.norm_first = norm_first
        for number in range(1, norms + 1):
            setattr(self, f"norm{number}", LayerNorm((d_model,), epsilon=epsilon, dtype=dtype))
            setattr(self, f"dropout{number}", Dropout(p=float(dropout)))
        self.activation = _BY_NAME[activation] if isinstance(activation, str) else activation
        self.d_model, self.nhead, self.dim_feedforward = d_model, nhead, dim_feedforward
        self.batch_first = batch_first

    _parts: tuple[tuple[str, ...], int] = ((), 0)

    def _apply_attention(self, attention, x, memory, mask, padding):
        return attention(x, memory, memory, padding, False, mask)[0]

    def _apply_feed_forward(self, x):
        return self.dense2(self.dropout(self.activation(self.dense1(x))))


class TransformerEncoderLayer(_Layer):
    """
    A Transformer encoder layer: self-attention, then two dense layers.

    Args:
        d_model (int): Number of features of each position.
        nhead (int): Number of attention heads; a divisor of `d_model`.
        dim_feedforward (int): Number of features between the two dense layers. Default: 2048.
        dropout (float): Probability that an element becomes 0 in training. Default: 0.1.
        activation (Union[str, Cell, Callable]): Activation between the two dense layers: "relu", "gelu" or a function.
            Default: "relu".
        layer_norm_eps (float): Added to the variance under the square root in each normalisation. Default: 1e-5.
        batch_first (bool): Whether N comes before S. Default: False.
        norm_first (bool): Whether to normalise before attention and dense layers instead of after. Default: False.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **src** (Tensor) - (S, N, E), (N, S, E) with `batch_first`, or (S, E) for one sequence.
        - **src_mask** (Tensor, optional) - (S, S) or (N * nhead, S, S): for each pair of positions, True to ignore the
            pair, or a number that is added to its score. Default: None.
        - **src_key_padding_mask** (Tensor, optional) - (N, S) or (S,): the same for each position. Default: None.

    Outputs:
        Tensor of the shape of `src`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or `activation` is unknown.

    Examples:
        >>> net = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
        >>> print(net(Tensor(np.ones((10, 3, 8)), mindspore.float32)).shape)
        (10, 3, 8)
    """

    _parts = (("self_attn",), 2)

    @checked
    def __init__(
        self,
        d_model: PositiveInt,
        nhead: PositiveInt,
        dim_feedforward: PositiveInt = 2048,
        dropout: Dropped = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: Epsilon = 1e-5,
        batch_first: Bool = False,
        norm_first: Bool = False,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self._create_layers(
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype
        )

    def construct(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None
    ) -> Tensor:
        """Return the encoded sequence."""

        def attended(x):
            return self.dropout1(self._apply_attention(self.self_attn, x, x, src_mask, src_key_padding_mask))

        def fed_forward(x):
            return self.dropout2(self._apply_feed_forward(x))

        if self.norm_first:
            x = src + attended(self.norm1(src))
            return x + fed_forward(self.norm2(x))
        x = self.norm1(src + attended(src))
        return self.norm2(x + fed_forward(x))


class TransformerDecoderLayer(_Layer):
    """
    A Transformer decoder layer: self-attention, attention to the encoder output, then two dense layers.

    Args:
        d_model (int): Number of features of each position.
        nhead (int): Number of attention heads; a divisor of `d_model`.
        dim_feedforward (int): Number of features between the two dense layers. Default: 2048.
        dropout (float): Probability that an element becomes 0 in training. Default: 0.1.
        activation (Union[str, Cell, Callable]): Activation between the two dense layers: "relu", "gelu" or a function.
            Default: "relu".
        layer_norm_eps (float): Added to the variance under the square root in each normalisation. Default: 1e-5.
        batch_first (bool): Whether N comes before T. Default: False.
        norm_first (bool): Whether to normalise before attention and dense layers instead of after. Default: False.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **tgt** (Tensor) - (T, N, E), (N, T, E) with `batch_first`, or (T, E) for one sequence.
        - **memory** (Tensor) - the encoder output, of length S instead of T.
        - **tgt_mask** (Tensor, optional) - (T, T) or (N * nhead, T, T): for each pair of positions of `tgt`, True to
            ignore the pair, or a number that is added to its score. Default: None.
        - **memory_mask** (Tensor, optional) - (T, S): the same for each pair of positions of `tgt` and `memory`.
            Default: None.
        - **tgt_key_padding_mask** (Tensor, optional) - (N, T) or (T,): the same for each position of `tgt`. Default:
            None.
        - **memory_key_padding_mask** (Tensor, optional) - (N, S) or (S,): the same for each position of `memory`.
            Default: None.

    Outputs:
        Tensor of the shape of `tgt`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or `activation` is unknown.

    Examples:
        >>> net = nn.TransformerDecoderLayer(8, 2, dim_feedforward=16)
        >>> memory = Tensor(np.ones((10, 3, 8)), mindspore.float32)
        >>> print(net(Tensor(np.ones((5, 3, 8)), mindspore.float32), memory).shape)
        (5, 3, 8)
    """

    _parts = (("self_attn", "multihead_attn"), 3)

    @checked
    def __init__(
        self,
        d_model: PositiveInt,
        nhead: PositiveInt,
        dim_feedforward: PositiveInt = 2048,
        dropout: Dropped = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: Epsilon = 1e-5,
        batch_first: Bool = False,
        norm_first: Bool = False,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        self._create_layers(
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype
        )

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the decoded sequence."""

        def attended(x):
            return self.dropout1(self._apply_attention(self.self_attn, x, x, tgt_mask, tgt_key_padding_mask))

        def remembered(x):
            attention_output = self._apply_attention(
                self.multihead_attn, x, memory, memory_mask, memory_key_padding_mask
            )
            return self.dropout2(attention_output)

        def fed_forward(x):
            return self.dropout3(self._apply_feed_forward(x))

        if self.norm_first:
            x = tgt + attended(self.norm1(tgt))
            x = x + remembered(self.norm2(x))
            return x + fed_forward(self.norm3(x))
        x = self.norm1(tgt + attended(tgt))
        x = self.norm2(x + remembered(x))
        return self.norm3(x + fed_forward(x))


class TransformerEncoder(Cell):
    """
    A stack of Transformer encoder layers.

    Args:
        encoder_layer (TransformerEncoderLayer): The layer that is copied `num_layers` times.
        num_layers (int): Number of layers.
        norm (Cell): Layer applied after the last one. Default: None, no further layer.

    Inputs:
        - **src** (Tensor) - as in TransformerEncoderLayer.
        - **src_mask** (Tensor, optional) - as in TransformerEncoderLayer. Default: None.
        - **src_key_padding_mask** (Tensor, optional) - as in TransformerEncoderLayer. Default: None.

    Outputs:
        Tensor of the shape of `src`.

    Raises:
        TypeError: If `num_layers` is no int.

    Examples:
        >>> net = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, dim_feedforward=16), num_layers=3)
        >>> print(net(Tensor(np.ones((10, 3, 8)), mindspore.float32)).shape)
        (10, 3, 8)
    """

    @checked
    def __init__(self, encoder_layer: Cell, num_layers: PositiveInt, norm: Cell | None = None) -> None:
        super().__init__()
        self.layers: CellList = CellList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers: int = num_layers
        self.norm = norm

    def construct(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None
    ) -> Tensor:
        """Return the encoded sequence."""
        for layer in self.layers:
            src = layer(src, src_mask, src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Cell):
    """
    A stack of Transformer decoder layers.

    Args:
        decoder_layer (TransformerDecoderLayer): The layer that is copied `num_layers` times.
        num_layers (int): Number of layers.
        norm (Cell): Layer applied after the last one. Default: None, no further layer.

    Inputs:
        - **tgt** (Tensor) - as in TransformerDecoderLayer.
        - **memory** (Tensor) - as in TransformerDecoderLayer.
        - **tgt_mask** (Tensor, optional) - as in TransformerDecoderLayer. Default: None.
        - **memory_mask** (Tensor, optional) - as in TransformerDecoderLayer. Default: None.
        - **tgt_key_padding_mask** (Tensor, optional) - as in TransformerDecoderLayer. Default: None.
        - **memory_key_padding_mask** (Tensor, optional) - as in TransformerDecoderLayer. Default: None.

    Outputs:
        Tensor of the shape of `tgt`.

    Raises:
        TypeError: If `num_layers` is no int.

    Examples:
        >>> net = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, dim_feedforward=16), num_layers=3)
        >>> memory = Tensor(np.ones((10, 3, 8)), mindspore.float32)
        >>> print(net(Tensor(np.ones((5, 3, 8)), mindspore.float32), memory).shape)
        (5, 3, 8)
    """

    @checked
    def __init__(self, decoder_layer: Cell, num_layers: PositiveInt, norm: Cell | None = None) -> None:
        super().__init__()
        self.layers: CellList = CellList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers: int = num_layers
        self.norm = norm

    def construct(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the decoded sequence."""
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Cell):
    """
    A Transformer: an encoder, and a decoder that reads its output.

    Args:
        d_model (int): Number of features of each position. Default: 512.
        nhead (int): Number of attention heads; a divisor of `d_model`. Default: 8.
        num_encoder_layers (int): Number of encoder layers. Default: 6.
        num_decoder_layers (int): Number of decoder layers. Default: 6.
        dim_feedforward (int): Number of features between the two dense layers of each layer. Default: 2048.
        dropout (float): Probability that an element becomes 0 in training. Default: 0.1.
        activation (Union[str, Cell, Callable]): Activation between the two dense layers: "relu", "gelu" or a function.
            Default: "relu".
        custom_encoder (Cell): The encoder. Default: None, a TransformerEncoder followed by LayerNorm.
        custom_decoder (Cell): The decoder. Default: None, a TransformerDecoder followed by LayerNorm.
        layer_norm_eps (float): Added to the variance under the square root in each normalisation. Default: 1e-5.
        batch_first (bool): Whether N comes before S and T. Default: False.
        norm_first (bool): Whether to normalise before attention and dense layers instead of after. Default: False.
        dtype (mindspore.dtype): Element type of the Parameters. Default: mstype.float32.

    Inputs:
        - **src** (Tensor) - (S, N, E), (N, S, E) with `batch_first`, or (S, E) for one sequence.
        - **tgt** (Tensor) - as `src`, of length T instead of S.
        - **src_mask**, **tgt_mask**, **memory_mask** (Tensor, optional) - masks of pairs of positions, of
            shapes (S, S), (T, T) and (T, S): True to ignore a pair, or a number that is added to its score. Default:
                None.
        - **src_key_padding_mask**, **tgt_key_padding_mask**, **memory_key_padding_mask** (Tensor, optional) - masks of
            positions, of shapes (N, S), (N, T) and (N, S). Default: None.

    Outputs:
        Tensor of the shape of `tgt`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number is out of range, or the inputs do not fit together.

    Examples:
        >>> net = nn.Transformer(8, 2, num_encoder_layers=1, num_decoder_layers=2, dim_feedforward=16)
        >>> src, tgt = (Tensor(np.ones((length, 3, 8)), mindspore.float32) for length in (10, 5))
        >>> print(net(src, tgt).shape)
        (5, 3, 8)
    """

    @checked
    def __init__(
        self,
        d_model: PositiveInt = 512,
        nhead: PositiveInt = 8,
        num_encoder_layers: PositiveInt = 6,
        num_decoder_layers: PositiveInt = 6,
        dim_feedforward: PositiveInt = 2048,
        dropout: Dropped = 0.1,
        activation: Activation = "relu",
        custom_encoder: Cell | None = None,
        custom_decoder: Cell | None = None,
        layer_norm_eps: Epsilon = 1e-5,
        batch_first: Bool = False,
        norm_first: Bool = False,
        dtype: DType = mstype.float32,
    ) -> None:
        super().__init__()
        like = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, dtype)

        def norm():
            return LayerNorm((d_model,), epsilon=layer_norm_eps, dtype=dtype)

        self.encoder: Cell = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*like), num_encoder_layers, norm()
        )
        self.decoder: Cell = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*like), num_decoder_layers, norm()
        )
        for param in self.get_parameters():
            if param.ndim > 1:
                param.set_data(initializer(XavierUniform(), param.shape, param.dtype))
        self.d_model: int = d_model
        self.nhead: int = nhead
        self.batch_first: bool = batch_first

    def construct(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the decoded sequence."""
        for name, x in (("src", src), ("tgt", tgt)):
            if x.ndim not in (2, 3) or x.shape[-1] != self.d_model:
                raise ValueError(
                    f"For '{self.cls_name}', '{name}' should have 2 or 3 dims, the last of length {self.d_model} "
                    f"(d_model), but got shape {tuple(x.shape)}."
                )
        batch = 0 if self.batch_first else 1
        if src.ndim == tgt.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise ValueError(
                f"For '{self.cls_name}', 'src' and 'tgt' should have one batch size, but got shapes "
                f"{tuple(src.shape)} and {tuple(tgt.shape)}."
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
