"""Re-export module: normalisation layers."""

from msnb.nn.layer._norm import batch_norm, layer_norm, local_response_norm
from msnb.nn.layer._norm.batch_norm import *  # noqa: F403
from msnb.nn.layer._norm.layer_norm import *  # noqa: F403
from msnb.nn.layer._norm.local_response_norm import *  # noqa: F403

__all__ = []
__all__ += batch_norm.__all__
__all__ += local_response_norm.__all__
__all__ += layer_norm.__all__
