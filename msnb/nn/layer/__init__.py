"""Re-export module: layers of neural networks."""

from msnb.nn.layer import (
    _mint_layers,
    _transformer_blocks,
    activation,
    basic,
    channel_dropout,
    channel_shuffle,
    combined,
    container,
    conv,
    dense,
    embedding,
    image,
    lstm,
    math,
    normalization,
    padding,
    pooling,
    quant,
    recurrent,
    timedistributed,
    transformer,
    upsample,
)
from msnb.nn.layer._mint_layers import *  # noqa: F403
from msnb.nn.layer._pool import mint_pool
from msnb.nn.layer._pool.mint_pool import *  # noqa: F403
from msnb.nn.layer._recurrent import lstm_v2
from msnb.nn.layer._transformer_blocks import *  # noqa: F403
from msnb.nn.layer.activation import *  # noqa: F403
from msnb.nn.layer.basic import *  # noqa: F403
from msnb.nn.layer.channel_dropout import *  # noqa: F403
from msnb.nn.layer.channel_shuffle import *  # noqa: F403
from msnb.nn.layer.combined import *  # noqa: F403
from msnb.nn.layer.container import *  # noqa: F403
from msnb.nn.layer.conv import *  # noqa: F403
from msnb.nn.layer.dense import *  # noqa: F403
from msnb.nn.layer.embedding import *  # noqa: F403
from msnb.nn.layer.image import *  # noqa: F403
from msnb.nn.layer.lstm import *  # noqa: F403
from msnb.nn.layer.math import *  # noqa: F403
from msnb.nn.layer.normalization import *  # noqa: F403
from msnb.nn.layer.padding import *  # noqa: F403
from msnb.nn.layer.pooling import *  # noqa: F403
from msnb.nn.layer.quant import *  # noqa: F403
from msnb.nn.layer.recurrent import *  # noqa: F403
from msnb.nn.layer.timedistributed import *  # noqa: F403
from msnb.nn.layer.transformer import *  # noqa: F403
from msnb.nn.layer.upsample import *  # noqa: F403

__all__ = []
__all__ += activation.__all__
__all__ += normalization.__all__
__all__ += container.__all__
__all__ += conv.__all__
__all__ += dense.__all__
__all__ += lstm.__all__
__all__ += basic.__all__
__all__ += embedding.__all__
__all__ += padding.__all__
__all__ += pooling.__all__
__all__ += image.__all__
__all__ += quant.__all__
__all__ += recurrent.__all__
__all__ += timedistributed.__all__
__all__ += transformer.__all__
__all__ += _transformer_blocks.__all__
__all__ += math.__all__
__all__ += combined.__all__
__all__ += channel_dropout.__all__
__all__ += channel_shuffle.__all__
__all__ += upsample.__all__
__all__ += _mint_layers.__all__
__all__ += mint_pool.__all__
