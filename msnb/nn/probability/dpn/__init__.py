"""Re-export module: deep probabilistic networks."""

from msnb.nn.probability.dpn.vae.cvae import ConditionalVAE
from msnb.nn.probability.dpn.vae.vae import VAE

__all__ = ["VAE", "ConditionalVAE"]
