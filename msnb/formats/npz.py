"""Reader of numpy's .npz files."""

import os
import zipfile
import zlib

import numpy as np

from msnb.formats.text_files import BadFileError


def read(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Return the arrays of a file that ``numpy.savez`` wrote, by name. Pickled objects are refused.

    Raises:
        FileNotFoundError: If there is no such file.
        BadFileError: If the file is no such file, is damaged, or contains Python objects.
    """
    path = os.fspath(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, AttributeError, TypeError, NotImplementedError) as e:
        raise BadFileError(f"{path!r} is no .npz file of arrays, or a damaged one: {e}.") from None
