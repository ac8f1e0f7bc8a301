"""Small datasets included in msnb, for quick starts and tests. Nothing is downloaded."""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from msnb._util.cache_dir import cache_folder
from msnb.formats import idx

_TEST_SIZE = 297
_FILES = (
    "train/train-images-idx3-ubyte",
    "train/train-labels-idx1-ubyte",
    "test/t10k-images-idx3-ubyte",
    "test/t10k-labels-idx1-ubyte",
)


def digits(path: str | None = None) -> str:
    """Write handwritten digits in MNIST's file format, 1,500 in ``train``, 297 in ``test``; return the folder.

    The images are 28 x 28 uint8 like those of MNIST. They come from the UCI dataset "Optical Recognition of Handwritten
    Digits" (E. Alpaydin and C. Kaynak, 1998; CC BY 4.0), 8 x 8 pixels of 17 levels, enlarged. The files are written in
    the first call and are the same on every machine. A folder that already has files with these names, such as a real
    MNIST, is not changed.

    Args:
        path (str): Folder to write. Default: None, ``digits`` in the user's cache folder, or in ``MSNB_CACHE``.

    Returns:
        str, the folder.

    Raises:
        OSError: If the folder cannot be written.

    Examples:
        >>> import mindspore.dataset as ds
        >>> train = ds.MnistDataset(msnb.samples.digits() + "/train")
    """
    folder = Path(path) if path is not None else cache_folder() / "digits"
    if all((folder / name).is_file() for name in _FILES):
        return str(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Written to a temporary folder and renamed, so that other processes see either all files or none.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".digits-") as work:
        ready = Path(work) / "digits"
        _write_mnist_files(ready)
        try:
            os.rename(ready, folder)
        except OSError:  # the folder exists: another process was faster, or files are missing
            shutil.copytree(ready, folder, dirs_exist_ok=True)
    return str(folder)


def _write_mnist_files(folder):
    with np.load(Path(__file__).parent / "_data" / "digits.npz") as stored:
        images, labels = _enlarge_images(stored["images"]), stored["labels"]
    order = np.random.RandomState(0).permutation(len(labels))
    test, train = order[:_TEST_SIZE], order[_TEST_SIZE:]
    arrays = (images[train], labels[train], images[test], labels[test])
    for name, array in zip(_FILES, arrays, strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        idx.write(folder / name, array)


def _enlarge_images(images):
    """Enlarge 8 x 8 pixels of 0..16 to 20 x 20 of 0..255 inside 28 x 28, by cubic convolution (Keys 1981, a = -0.5)."""
    at = (np.arange(20) + 0.5) * 8 / 20 - 0.5
    distance = np.abs(at[:, None] - np.arange(-2, 10))
    weights = np.where(
        distance < 1,
        (1.5 * distance - 2.5) * distance**2 + 1,
        np.where(distance < 2, ((-0.5 * distance + 2.5) * distance - 4) * distance + 2, 0),
    )
    padded = np.pad(images.astype(np.float64), ((0, 0), (2, 2), (2, 2)))
    large = weights @ padded @ weights.T * (255 / 16)
    # Rounded twice, so that differences between machines in the last bit of a sum have no effect.
    pixels = np.clip(np.round(np.round(large, 6)), 0, 255).astype(np.uint8)
    return np.pad(pixels, ((0, 0), (4, 4), (4, 4)))
