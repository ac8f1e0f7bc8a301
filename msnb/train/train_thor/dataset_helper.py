"""Re-export module: `DatasetHelper`, at the path that programs for the optimizer THOR import."""

from msnb.train.dataset_helper import DatasetHelper

__all__ = ["DatasetHelper"]
