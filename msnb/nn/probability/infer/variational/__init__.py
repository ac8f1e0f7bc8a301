"""Re-export module: variational inference."""

from msnb.nn.probability.infer.variational.elbo import ELBO
from msnb.nn.probability.infer.variational.svi import SVI

__all__ = ["ELBO", "SVI"]
