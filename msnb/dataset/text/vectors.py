"""Pretrained word vectors, and the transform that looks words up."""

import os
import re
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, Self

import numpy as np

from msnb.common.arguments import answered
from msnb.common.kinds import checked
from msnb.dataset.core.kinds import INT32_MAX, Flag, list_of, of_type, within
from msnb.dataset.core.tensor_op import TensorOp
from msnb.dataset.text.strings import to_str
from msnb.formats import text_files

_NGRAM_SIZES = (2, 3, 4)  # lengths of the character runs that have vectors in CharNGram


def _read_vectors(path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield (word, numbers) for each line. A first line of two numbers (rows and columns) is skipped."""
    for number, line in enumerate(text_files.lines(path)):
        word, _, numbers = line.rstrip("\n").partition(" ")
        if number or " " in numbers.rstrip():
            yield word, numbers.split()


class Vectors:
    """Words and their vectors. Create it with :meth:`from_file`.

    Examples:
        >>> import mindspore.dataset.text as text
        >>> with open("vectors.txt", "w") as file:
        ...     _ = file.write("deep 1.0 2.0\\nlearning 3.0 4.5\\n")
        >>> vectors = text.Vectors.from_file("vectors.txt")
        >>> text.ToVectors(vectors)("learning").tolist()
        [3.0, 4.5]
    """

    _files: Any = (re.compile(""), "")  # pattern of file names, and the wildcard for error messages

    @answered
    def __init__(self):
        self._numbers = {}
        self._table = np.zeros((0, 0), np.float32)

    @classmethod
    @checked
    def from_file(cls, file_path: Annotated[str, of_type(str)], max_vectors: Any = None) -> Self:
        """Read a file with a word and its numbers, separated by spaces, on each line.

        If a word is repeated, the first line is used.

        Args:
            file_path (str): The file. A first line of two numbers is skipped.
            max_vectors (int, optional): Maximum number of words to read. Default: None, all. 0 also means all.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If `max_vectors` is negative.
            RuntimeError: If there is no such file, it is empty, or its vectors are of different lengths.
        """
        if max_vectors is not None:
            within(0, INT32_MAX, int)(max_vectors, "max_vectors")
        pattern, wildcard = cls._files
        if not os.path.isfile(file_path):
            raise RuntimeError(f"{cls.__name__}: get real path failed, there is no file {file_path!r}.")
        if not pattern.search(os.path.basename(file_path)):
            raise RuntimeError(f"{cls.__name__}: invalid file, can not find file '{wildcard}', but got: {file_path}")
        words, table = {}, []
        for word, numbers in islice(_read_vectors(file_path), max_vectors or None):
            if len(numbers) < 2:
                raise RuntimeError(f"{cls.__name__}: token with 1-dimensional vector.")
            if table and len(numbers) != len(table[0]):
                raise RuntimeError(
                    f"{cls.__name__}: all vectors must have the same number of dimensions, but got dim {len(numbers)} "
                    f"while expecting {len(table[0])}"
                )
            if word not in words:
                words[word] = len(table)
                table.append(np.array(numbers, np.float32))
        if not table:
            raise RuntimeError(f"{cls.__name__}: invalid file, file is empty.")
        vectors = cls()
        vectors._numbers, vectors._table = words, np.stack(table)
        return vectors

    def _look_up_vector(self, word, unknown):
        number = self._numbers.get(word)
        return unknown if number is None else self._table[number]


class FastText(Vectors):
    """Vectors of fastText, from a file ``*.vec``. See :class:`Vectors`."""

    _files = (re.compile(r"\.vec$"), "*.vec")


class GloVe(Vectors):
    """Vectors of GloVe, from a file ``glove.6B.*.txt``. See :class:`Vectors`."""

    _files = (re.compile(r"^glove\.6B\.[^.]*\.txt$"), "glove.6B.*.txt")


class CharNGram(Vectors):
    """Vectors of character n-grams of length 2, 3 and 4. The vector of a word is the mean over its n-grams.

    See :class:`Vectors`.
    """

    def _look_up_vector(self, word, unknown):
        characters = ["#BEGIN#", *word, "#END#"]
        runs = (
            f"{n}gram-{''.join(characters[start : start + n])}"
            for n in _NGRAM_SIZES
            for start in range(len(characters) - n + 1)
        )
        rows = [number for number in map(self._numbers.get, runs) if number is not None]
        return self._table[rows].mean(0) if rows else unknown


class ToVectors(TensorOp):
    """Look up the vectors of words.

    Args:
        vectors (Vectors): Words and their vectors.
        unk_init (sequence, optional): The vector of unknown words. Default: None, zeros.
        lower_case_backup (bool, optional): True to look words up in lower case. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
        RuntimeError: If `unk_init` is of another length, or the column holds no strings.
    """

    @checked
    def __init__(
        self,
        vectors: Annotated[Vectors, of_type(Vectors)],
        unk_init: Any = None,
        lower_case_backup: Flag = False,
    ):
        if unk_init is not None:
            list_of(int, float, containers=(list, tuple, np.ndarray))(unk_init, "unk_init")
        self.vectors, self.unk_init, self.lower_case_backup = vectors, unk_init, lower_case_backup

    def _transform_row(self, array):
        if array.dtype.kind not in "SU":
            raise RuntimeError(f"ToVectors: input tensor type should be string, but the column holds {array.dtype}.")
        width = self.vectors._table.shape[1]
        unknown = np.zeros(width, np.float32) if self.unk_init is None else np.array(self.unk_init, np.float32)
        if len(unknown) not in (0, width):
            raise RuntimeError(
                "Unexpected error. ToVectors: unk_init must be the same length as vectors, but got unk_init: "
                f"{len(unknown)} and vectors: {width}"
            )
        words = to_str(array).ravel().tolist()
        if self.lower_case_backup:
            words = [word.lower() for word in words]
        rows = np.array([self.vectors._look_up_vector(word, unknown) for word in words], np.float32)
        return rows[0] if len(rows) == 1 else rows
