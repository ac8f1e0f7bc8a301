"""CIFAR-10 in its Python version: pickled batches."""

import os

import numpy as np

from msnb.formats.text_files import BadFileError
from msnb.mindrecord.shardutils import check_filename
from msnb.mindrecord.tools._pickle import load

__all__ = ["Cifar10"]
_PIXELS = 3 * 32 * 32


def read_batch(path: str, **classes: int) -> list[np.ndarray]:
    """Return the content of a batch file.

    Args:
        path (str): The file.
        classes (int): Number of classes for each key of labels in the file.

    Returns:
        list of numpy.ndarray: the images (n, 32, 32, 3), and the labels (n, 1) of each name.

    Raises:
        BadFileError: If the file is not such a batch.
    """

    def need(condition, message):
        if not condition:
            raise BadFileError(f"Invalid file, {path!r} is no batch of CIFAR: {message}.")

    content = load(path)
    need(isinstance(content, dict), "it holds no dict")
    images = content.get(b"data")
    fits = isinstance(images, np.ndarray) and images.size % _PIXELS == 0
    need(fits, f"b'data' is no array of {_PIXELS} numbers a row")
    images = np.asarray(images).reshape(-1, 3, 32, 32)
    out = [images.transpose(0, 2, 3, 1)]
    for name, count in classes.items():
        labels = content.get(name.encode())
        is_int_list = isinstance(labels, np.ndarray) and labels.dtype.kind in "iu"
        is_int_list = is_int_list or isinstance(labels, list) and all(type(label) is int for label in labels)
        need(is_int_list and len(labels) == len(images), f"b{name!r} is no list of {len(images)} whole numbers")
        inside = len(labels) == 0 or 0 <= min(labels) <= max(labels) < count
        need(inside, f"b{name!r} has labels outside of 0 to {count - 1}")
        out.append(np.array(labels).reshape(-1, 1))
    return out


def one_hot(labels: np.ndarray, num: int) -> np.ndarray:
    """Return one-hot rows for labels."""
    return np.eye(num)[np.asarray(labels).ravel()]


class Cifar10:
    """CIFAR-10 in memory.

    Args:
        path (str): Folder with ``data_batch_1`` to ``data_batch_5`` and ``test_batch``.
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
        self.images: np.ndarray | None = None
        self.labels: np.ndarray | None = None

    def load_data(self) -> list[np.ndarray]:
        """Read the files: [train images, train labels, test images, test labels]."""
        names = sorted(os.listdir(self.path))
        train, test = ([n for n in names if n.startswith(prefix)] for prefix in ("data_batch_", "test_batch"))
        if not train or not test:
            raise BadFileError(f"The folder {self.path!r} should hold data_batch_1 to data_batch_5 and test_batch.")
        read = [read_batch(os.path.join(self.path, name), labels=10) for name in (*train, test[-1])]
        (*images, self.Test.images), (*labels, self.Test.labels) = zip(*read, strict=True)
        self.images, self.labels = np.concatenate(images), np.concatenate(labels)
        if self.one_hot:
            self.labels, self.Test.labels = one_hot(self.labels, 10), one_hot(self.Test.labels, 10)
        return [self.images, self.labels, self.Test.images, self.Test.labels]
