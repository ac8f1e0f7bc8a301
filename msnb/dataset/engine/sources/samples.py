"""Samples that are fetched by number: from arrays, or from one file each."""

import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Worded
from msnb.dataset.engine.chunk import stack_if_uniform
from msnb.dataset.vision.kernels import decode
from msnb.formats.text_files import BadFileError


def _deciphering(function, name):
    if not callable(function):
        raise TypeError(f"Argument {name} is not a callable object, but got {type(function)}.")
    return function


# A function that reads an encrypted file: its path to the bytes.
Decrypt = Annotated[Callable[[str], bytes], Worded("a function from a path to bytes", _deciphering)]
FILE_NAME = "_meta-filename"  # the column of a file's name without its ending, in MindSpore 2


class Samples:
    """Samples that can be fetched by number.

    Attributes:
        rows: how many there are.
        random_access: whether the order of fetching is free (no user's code sees it).
        keepable: whether results may be kept in memory between epochs.
        costly: whether the samples as they are fetched are worth being kept.
        ahead: how many are best fetched together, though fewer are asked for.
        origin: the files, or the folder, that all samples come from.
    """

    random_access = True
    keepable = True
    costly = False
    ahead = 1
    class_ids = None
    origin: Sequence[str] = ()

    def __init__(self, name: str, rows: Any) -> None:
        self.name: str = name
        self.rows = rows
        self.stores: dict[Any, Any] = {}

    def fetch(self, numbers: np.ndarray) -> list[Any]:
        """The columns of the samples with these numbers (an int64 array)."""
        raise NotImplementedError

    def files(self, number: int) -> Sequence[str]:
        """The paths of the files that a sample comes from, as far as they are known."""
        return self.origin

    def describe(self) -> str:
        """One line for plans."""
        return f"{self.name} ({self.rows} samples)"


class ArraySamples(Samples):
    """Samples held in one array per column, or in a list of arrays where their shapes differ."""

    def __init__(self, name: str, arrays: Sequence[np.ndarray | list[np.ndarray]], class_ids: Any = None) -> None:
        super().__init__(name, len(arrays[0]))
        self.arrays = arrays
        self.class_ids = class_ids

    def fetch(self, numbers: np.ndarray) -> Any:
        """The columns of these samples."""
        return [a[numbers] if isinstance(a, np.ndarray) else [a[n] for n in numbers] for a in self.arrays]


class FileSamples(Samples):
    """One file per sample and further columns from memory.

    Args:
        name (str): Of the data set.
        paths (list[str]): The files.
        others (list[np.ndarray]): Further columns, one entry per file.
        decode (bool): Whether files are decoded to RGB images.
        decrypt (Callable): Reads an encrypted file.
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
        """The bytes of a file, which the user's function reads where it is encrypted."""
        if self.decrypt is None:
            return read_file(path)
        data = self.decrypt(path)
        if not isinstance(data, bytes):
            raise RuntimeError(f"decrypt should return bytes, but returned {type(data).__name__} for {path!r}.")
        return np.frombuffer(data, np.uint8)

    def files(self, number: int) -> Sequence[str]:
        """The file of a sample."""
        return (self.paths[number],)

    def fetch(self, numbers: np.ndarray) -> Any:
        """The columns of these samples."""
        images = [self.read(self.paths[i]) for i in numbers.tolist()]
        if self.decode:
            images = [decode_image(image, self.paths[i]) for image, i in zip(images, numbers.tolist(), strict=True)]
        return [
            stack_if_uniform(images) if self.decode else images,
            *[o[numbers] if isinstance(o, np.ndarray) else [o[i] for i in numbers.tolist()] for o in self.others],
        ]


def file_names(paths: Sequence[str]) -> np.ndarray:
    """The names of files without their endings, as a column."""
    return np.array([os.path.splitext(os.path.basename(path))[0].encode("utf-8") for path in paths])


def read_file(path: str) -> np.ndarray:
    """The bytes of a file as a uint8 array."""
    try:
        with open(path, "rb") as file:
            return np.frombuffer(file.read(), np.uint8)
    except OSError as error:
        raise RuntimeError(f"Invalid file, failed to open file: {path} ({error.strerror}).") from None
    except ValueError as error:  # a name with a NUL or half a character, which no file can have
        raise RuntimeError(f"Invalid file, failed to open file: {path!r} ({error}).") from None


def below(folder: str, name: str, where: str) -> Any:
    """Path of the file `name` that a list inside a data set names, which must not lead out of `folder`.

    Args:
        folder (str): Folder of the data set.
        name (str): Name of the file, relative to the folder.
        where (str): What names it, for messages.

    Raises:
        BadFileError: If the file would lie outside.
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
    """RGB image in encoded bytes."""
    try:
        return decode(data)
    except (RuntimeError, ValueError) as error:
        raise RuntimeError(f"Invalid data, failed to decode image: {path} ({error}).") from None
