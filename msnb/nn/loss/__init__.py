"""Re-export module: loss functions."""

from msnb.nn.loss import classification, likelihood, margin, regression, similarity
from msnb.nn.loss._base import LossBase
from msnb.nn.loss.classification import *  # noqa: F403
from msnb.nn.loss.likelihood import *  # noqa: F403
from msnb.nn.loss.margin import *  # noqa: F403
from msnb.nn.loss.regression import *  # noqa: F403
from msnb.nn.loss.sampled import SampledSoftmaxLoss
from msnb.nn.loss.similarity import *  # noqa: F403

__all__ = ["LossBase", "SampledSoftmaxLoss"]
__all__ += classification.__all__
__all__ += likelihood.__all__
__all__ += margin.__all__
__all__ += regression.__all__
__all__ += similarity.__all__
