"""CIFAR-100 in its Python version: pickled files."""

import os

import numpy as np

from msnb.mindrecord.shardutils import check_filename
from msnb.mindrecord.tools.cifar10 import load, one_hot

__all__ = ["Cifar100"]


class Cifar100:
    """CIFAR-100 in memory.

    Args:
        path (str): Folder with ``train`` and ``test``.
        one_hot (bool, optional): Whether labels are one-hot codes. Default: True.
    """

    class Test:
        """The test part."""

    def __init__(self, path, one_hot=True):
        check_filename(path)
        if not isinstance(one_hot, bool):
            raise ValueError("The parameter one_hot must be bool")
        self.path = path
        self.one_hot = one_hot
        self.images = self.fine_labels = self.coarse_labels = None

    def _part(self, name):
        content = load(os.path.join(self.path, name))
        images = content[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        fine, coarse = (np.array(content[key]).reshape(-1, 1) for key in (b"fine_labels", b"coarse_labels"))
        return (images, one_hot(fine, 100), one_hot(coarse, 20)) if self.one_hot else (images, fine, coarse)

    def load_data(self):
        """Read the files: images, fine and coarse labels of the train part, then of the test part."""
        train, test = self._part("train"), self._part("test")
        self.images, self.fine_labels, self.coarse_labels = train
        self.Test.images, self.Test.fine_labels, self.Test.coarse_labels = test
        return [*train, *test]
