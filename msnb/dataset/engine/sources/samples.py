"""Samples that are fetched by index, from arrays or from one file per sample."""

import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Worded
from msnb.dataset.engine.execution.chunk import stack_if_uniform
from msnb.dataset.vision.kernels import decode
from msnb.formats.text_files import BadFileError


def _check_decrypt_function(function, name):
    if not callable(function):
        raise TypeError(f"Argument {name} is not a callable object, but got {type(function)}.")
    return function


# Kind of a function that reads an encrypted file: it takes a path and returns bytes.
Decrypt = Annotated[Callable[[str], bytes], Worded("a function from a path to bytes", _check_decrypt_function)]
FILE_NAME = "_meta-filename"  # MindSpore 2's column of file names without extension


class Samples:
    """Base of the samples that can be fetched by index.

    Attributes:
        rows: Number of samples.
        random_access: Samples may be fetched in any order, because no user code runs.
        is_cacheable: Results may be cached in memory across epochs.
        costly: Fetched samples are worth caching.
        ahead: Number of samples that are best fetched together, even if fewer are requested.
        origin: The files, or the folder, that all samples come from.
    """

    random_access = True
    is_cacheable = True
    costly = False
    ahead = 1
    class_ids = None
    origin: Sequence[str] = ()

    def __init__(self, name: str, rows: Any) -> None:
        self.name: str = name
        self.rows = rows
        self.stores: dict[Any, Any] = {}

    def fetch(self, numbers: np.ndarray) -> list[Any]:
        """Return the columns of the samples with these numbers, an int64 array."""
        raise NotImplementedError

    def files(self, number: int) -> Sequence[str]:
        """Return the paths of the files of a sample, if they are known."""
        return self.origin

    def describe(self) -> str:
        """Return the line that describes this source in a printed plan."""
        return f"{self.name} ({self.rows} samples)"


class ArraySamples(Samples):
    """Samples in one array per column, or in a list of arrays if their shapes differ."""

    def __init__(self, name: str, arrays: Sequence[np.ndarray | list[np.ndarray]], class_ids: Any = None) -> None:
        super().__init__(name, len(arrays[0]))
        self.arrays = arrays
        self.class_ids = class_ids

    def fetch(self, numbers: np.ndarray) -> Any:
        """Return the columns of the samples with the indices `numbers`."""
        return [a[numbers] if isinstance(a, np.ndarray) else [a[n] for n in numbers] for a in self.arrays]


class FileSamples(Samples):
    """Samples with one file each, and further columns in memory.

    Args:
        name (str): Name of the data set.
        paths (list[str]): The files.
        others (list[np.ndarray]): Further columns, one entry per file.
        decode (bool): True to decode files to RGB images.
        decrypt (Callable): Takes the path of an encrypted file, returns its decrypted bytes.
    """

    def __init__(
        self,
        name: str,
        paths: list[str],
        others: Sequence[Any] = (),
        decode: bool = False,
        class_ids: Any = None,
        decrypt: Callable[[str], bytes] | None = None,
    ) -> None:
        super().__init__(name, len(paths))
        self.paths = paths
        self.others = list(others)
        self.decode: bool = decode
        self.class_ids = class_ids
        self.decrypt = decrypt

    def read(self, path: str) -> np.ndarray:
        """Return the bytes of a file, read by the user's function if it is encrypted."""
        if self.decrypt is None:
            return read_file(path)
        data = self.decrypt(path)
        if not isinstance(data, bytes):
            raise RuntimeError(f"decrypt should return bytes, but returned {type(data).__name__} for {path!r}.")
        return np.frombuffer(data, np.uint8)

    def files(self, number: int) -> Sequence[str]:
        """Return the file of a sample."""
        return (self.paths[number],)

    def fetch(self, numbers: np.ndarray) -> Any:
        """Return the columns of the samples with the indices `numbers`."""
        images = [self.read(self.paths[i]) for i in numbers.tolist()]
        if self.decode:
            images = [decode_image(image, self.paths[i]) for image, i in zip(images, numbers.tolist(), strict=True)]
        return [
            stack_if_uniform(images) if self.decode else images,
            *[o[numbers] if isinstance(o, np.ndarray) else [o[i] for i in numbers.tolist()] for o in self.others],
        ]


def file_names(paths: Sequence[str]) -> np.ndarray:
    """Return a column of the file names in `paths`, without folders and extensions."""
    return np.array([os.path.splitext(os.path.basename(path))[0].encode("utf-8") for path in paths])


def read_file(path: str) -> np.ndarray:
    """Return the bytes of a file as a uint8 array."""
    try:
        with open(path, "rb") as file:
            return np.frombuffer(file.read(), np.uint8)
    except OSError as error:
        raise RuntimeError(f"Invalid file, failed to open file: {path} ({error.strerror}).") from None
    except ValueError as error:  # a name with a NUL or an unpaired surrogate, which no file can have
        raise RuntimeError(f"Invalid file, failed to open file: {path!r} ({error}).") from None


def resolve_inside(folder: str, name: str, where: str) -> Any:
    """Return the path of a file that a list in a data set names. The path must be inside `folder`.

    Args:
        folder (str): Folder of the data set.
        name (str): Name of the file, relative to the folder.
        where (str): Location of the name, for messages.

    Raises:
        BadFileError: If the file is outside of the folder.
    """
    path = os.path.join(folder, name)
    if os.path.isabs(name) or ".." in name:
        root = os.path.abspath(folder)
        if os.path.commonpath([root, os.path.abspath(path)]) != root:
            raise BadFileError(
                f"Invalid data, {where} names the file {name!r}, which is outside of the data set's folder {folder!r}."
            )
    return path


def decode_image(data: Any, path: str) -> np.ndarray:
    """Decode an image to RGB pixels."""
    try:
        return decode(data)
    except (RuntimeError, ValueError) as error:
        raise RuntimeError(f"Invalid data, failed to decode image: {path} ({error}).") from None
