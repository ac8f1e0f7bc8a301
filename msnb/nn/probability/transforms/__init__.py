"""Re-export module: transforms of networks into probabilistic networks."""

from msnb.nn.probability.transforms.transform_bnn import TransformToBNN

__all__ = ["TransformToBNN"]
