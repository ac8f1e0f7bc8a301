"""Re-export module: layers of `mindspore.mint.nn` that differ from those of `mindspore.nn`."""

from msnb.mint.nn.layer import activation, conv, loss, normalization, spatial
from msnb.mint.nn.layer.activation import *  # noqa: F403
from msnb.mint.nn.layer.conv import *  # noqa: F403
from msnb.mint.nn.layer.loss import *  # noqa: F403
from msnb.mint.nn.layer.normalization import *  # noqa: F403
from msnb.mint.nn.layer.spatial import *  # noqa: F403

__all__ = [
    *activation.__all__,
    *conv.__all__,
    *loss.__all__,
    *normalization.__all__,
    *spatial.__all__,
]
