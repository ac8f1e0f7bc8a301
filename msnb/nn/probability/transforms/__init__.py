"""A face: transforms of networks into probabilistic ones."""

from msnb.nn.probability.transforms.transform_bnn import TransformToBNN

__all__ = ["TransformToBNN"]
