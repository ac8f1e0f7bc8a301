"""A face: `DatasetHelper`, where programs for the optimizer THOR look for it."""

from msnb.train.dataset_helper import DatasetHelper

__all__ = ["DatasetHelper"]
