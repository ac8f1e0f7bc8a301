"""CIFAR-10 in its Python version: pickled batches."""

import io
import os
import pickle

import numpy as np

from msnb.mindrecord.shardutils import check_filename

__all__ = ["Cifar10"]
_SAFE = {"range", "complex", "set", "frozenset", "slice"}


class _Unpickler(pickle.Unpickler):
    """Loads numbers and arrays only: a pickle may otherwise run any code."""

    def find_class(self, module, name):
        if module in ("builtins", "__builtin__") and name in _SAFE:
            import builtins

            return getattr(builtins, name)
        if module in ("numpy.core.multiarray", "numpy._core.multiarray") and name == "_reconstruct":
            from numpy._core.multiarray import _reconstruct

            return _reconstruct
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        if module == "_codecs" and name == "encode":
            import _codecs

            return _codecs.encode
        raise pickle.UnpicklingError(f"global '{module}.{name}' is forbidden")


def load(path):
    """The dict in a batch file."""
    with open(path, "rb") as file:
        return _Unpickler(io.BytesIO(file.read()), encoding="bytes").load()


def one_hot(labels, num):
    """Rows with a 1 at the label's place."""
    return np.eye(num)[np.asarray(labels).ravel()]


class Cifar10:
    """CIFAR-10 in memory.

    Args:
        path (str): Folder with ``data_batch_1`` to ``data_batch_5`` and ``test_batch``.
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
        self.images = None
        self.labels = None

    def load_data(self):
        """Read the files: [train images, train labels, test images, test labels]."""
        images, labels, test = [], [], None
        for name in sorted(os.listdir(self.path)):
            if name.startswith("data_batch_"):
                batch = load(os.path.join(self.path, name))
                images.append(batch[b"data"].reshape(-1, 3, 32, 32))
                labels.append(batch[b"labels"])
            elif name.startswith("test_batch"):
                test = load(os.path.join(self.path, name))
        self.images = np.concatenate(images).transpose(0, 2, 3, 1)
        self.labels = np.concatenate(labels).reshape(-1, 1)
        self.Test.images = test[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.Test.labels = np.array(test[b"labels"]).reshape(-1, 1)
        if self.one_hot:
            self.labels, self.Test.labels = one_hot(self.labels, 10), one_hot(self.Test.labels, 10)
        return [self.images, self.labels, self.Test.images, self.Test.labels]
