"""Re-export module: bijectors, which transform distributions."""

from msnb.nn.probability.bijector.bijector import Bijector
from msnb.nn.probability.bijector.exp import Exp
from msnb.nn.probability.bijector.gumbel_cdf import GumbelCDF
from msnb.nn.probability.bijector.invert import Invert
from msnb.nn.probability.bijector.power_transform import PowerTransform
from msnb.nn.probability.bijector.scalar_affine import ScalarAffine
from msnb.nn.probability.bijector.softplus import Softplus

__all__ = ["Bijector", "Exp", "GumbelCDF", "Invert", "PowerTransform", "ScalarAffine", "Softplus"]
