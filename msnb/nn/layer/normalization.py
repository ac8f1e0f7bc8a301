"""A face: normalisation layers, with the statistics of a batch, of each sample, or of neighbouring channels."""

from msnb.nn.layer import _batch_norm, _response_norm, _sample_norm
from msnb.nn.layer._batch_norm import *  # noqa: F403
from msnb.nn.layer._response_norm import *  # noqa: F403
from msnb.nn.layer._sample_norm import *  # noqa: F403

__all__ = []
__all__ += _batch_norm.__all__
__all__ += _response_norm.__all__
__all__ += _sample_norm.__all__
