"""CIFAR-100 in its Python version: pickled files."""

import os

import numpy as np

from msnb.mindrecord.shardutils import check_filename
from msnb.mindrecord.tools.cifar10 import one_hot, read_batch

__all__ = ["Cifar100"]


class Cifar100:
    """CIFAR-100 in memory.

    Args:
        path (str): Folder with ``train`` and ``test``.
        one_hot (bool, optional): Whether labels are one-hot codes. Default: True.
    """

    class Test:
        """Images and labels of the test set."""

    def __init__(self, path: str, one_hot: bool = True) -> None:
        check_filename(path)
        if not isinstance(one_hot, bool):
            raise ValueError("The parameter one_hot must be bool")
        self.path = path
        self.one_hot = one_hot
        self.images = self.fine_labels = self.coarse_labels = None

    def _load_subset(self, name):
        path = os.path.join(self.path, name)
        images, fine, coarse = read_batch(path, fine_labels=100, coarse_labels=20)
        return (images, one_hot(fine, 100), one_hot(coarse, 20)) if self.one_hot else (images, fine, coarse)

    def load_data(self) -> list[np.ndarray]:
        """Read the files: images, fine and coarse labels of the train part, then of the test part."""
        train, test = self._load_subset("train"), self._load_subset("test")
        self.images, self.fine_labels, self.coarse_labels = train
        self.Test.images, self.Test.fine_labels, self.Test.coarse_labels = test
        return [*train, *test]
