"""``Vocab``: words and their ids."""

import sys
from collections import Counter
from itertools import chain, count, islice
from typing import Annotated, Any, Self

import numpy as np

from msnb.common.arguments import answered
from msnb.common.kinds import checked
from msnb.common.progress import Work
from msnb.dataset.core.kinds import INT32_MAX, Flag, Text, above_zero, list_of, of_type, positive, within
from msnb.dataset.engine.dataset import Dataset, fluent
from msnb.dataset.engine.execution.chunk import Hint
from msnb.formats import text_files
from msnb.formats.text_files import check_encoding


def _check_unique_words(words, name):
    """Return the words of a list as keys of a dict, in their order. Raise ValueError if a word is repeated."""
    of_type(list)(words, name)
    for other in (w for w in words if not isinstance(w, str)):
        of_type(str)(other, name)
    unique = dict.fromkeys(words)
    if len(unique) < len(words):
        (repeated, _), *_ = Counter(words).most_common(1)
        raise ValueError(f"{name} contains duplicate word: {repeated}.")
    return unique


def _assign_ids(words, specials, special_first):
    """Return {word: id} of words and special tokens, numbered in their order."""
    order = chain(specials, words) if special_first else chain(words, specials)
    return dict(zip(order, count()))


def _read_words(path, delimiter, encoding):
    """Yield (line number, word) for each line of the file."""
    for number, line in enumerate(text_files.lines(path, encoding, newline="\n", choosable=True), 1):
        word = line.removesuffix("\n")
        yield number, word.partition(delimiter)[0] if delimiter else word


class Vocab:
    """Words and their ids. Create it with one of the ``from_`` methods.

    Examples:
        >>> import mindspore.dataset.text as text
        >>> vocab = text.Vocab.from_list(["deep", "learning"], special_tokens=["<unk>"])
    """

    @answered
    def __init__(self):
        self._ids = {}
        self._bytes = {}
        self._is_built = False

    @classmethod
    def _from_ids(cls, ids):
        vocab = cls()
        vocab._is_built = True
        vocab._ids = ids
        vocab._bytes = {word.encode("utf-8"): i for word, i in ids.items()}
        return vocab

    def _check_is_built(self):
        if not self._is_built:
            raise RuntimeError("The Vocab has no words yet: build it with Vocab.from_list or another from_ method.")

    @property
    def c_vocab(self) -> "Vocab":
        """This vocabulary, which libraries hand to transforms of `mindspore._c_dataengine`."""
        return self

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        columns: str | list[str] | None = None,
        freq_range: tuple[Any, ...] | None = None,
        top_k: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Self:
        """Build a vocabulary of the words in string columns, the most frequent first.

        Args:
            dataset (Dataset): Source of the words.
            columns (Union[str, list[str]], optional): Columns to read. Default: None, which means all.
            freq_range (tuple, optional): Minimum and maximum count of a word; None is not a bound. Default: None.
            top_k (int, optional): Maximum number of words, the most frequent ones. Default: None, which means all.
            special_tokens (list[str], optional): Additional words, which must not occur in the data. Default: None.
            special_first (bool, optional): True to give the special tokens the first ids. Default: True.

        Returns:
            Vocab.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If a bound is wrong or a word is repeated.
        """
        return vocab_from_dataset(dataset, columns, freq_range, top_k, special_tokens, special_first)

    @classmethod
    @checked
    def from_list(
        cls, word_list: list[str], special_tokens: list[str] | None = None, special_first: Flag = True
    ) -> Self:
        """Build a vocabulary of the words of a list, in its order.

        Args:
            word_list (list[str]): The words.
            special_tokens (list[str], optional): Additional words. Default: None.
            special_first (bool, optional): True to give the special tokens the first ids. Default: True.

        Returns:
            Vocab.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If a word is repeated.
        """
        words = _check_unique_words(word_list, "word_list")
        specials = _check_unique_words([] if special_tokens is None else special_tokens, "special_tokens")
        common = words.keys() & specials.keys()
        if common:
            raise ValueError(f"special_tokens and word_list contain duplicate word: {common}.")
        return cls._from_ids(_assign_ids(words, specials, special_first))

    @classmethod
    @checked
    def from_file(
        cls,
        file_path: Text,
        delimiter: Text = "",
        vocab_size: Annotated[float, positive] | None = None,
        special_tokens: list[str] | None = None,
        special_first: Flag = True,
        *,
        encoding: str = "utf-8",
    ) -> Self:
        """Build a vocabulary of the words of a file, one per line.

        Args:
            file_path (str): The file.
            delimiter (str, optional): Text that ends the word in a line. Default: ''.
            vocab_size (int, optional): Maximum number of words. Default: None, which means all.
            special_tokens (list[str], optional): Additional words. Default: None.
            special_first (bool, optional): True to give the special tokens the first ids. Default: True.
            encoding (str, optional): Encoding of the file, such as 'gbk'. Default: 'utf-8'.

        Returns:
            Vocab.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If a word is repeated, `vocab_size` is not positive or the file is not in this encoding.
            RuntimeError: If the file cannot be read.
        """
        specials = _check_unique_words([] if special_tokens is None else special_tokens, "special_tokens")
        words = {}
        try:
            for number, word in islice(_read_words(file_path, delimiter, check_encoding(encoding)), vocab_size):
                if word in words or word in specials:
                    lists = "word_list contains" if word in words else "special_tokens and word_list contain"
                    raise text_files.BadFileError(
                        f"{lists} duplicate word: {word[:80]} ({file_path!r}, line {number})."
                    )
                words[word] = None
        except OSError as error:
            raise RuntimeError(f"fail to open: {file_path} ({error.strerror}).") from None
        return cls._from_ids(_assign_ids(words, specials, special_first))

    @classmethod
    @checked
    def from_dict(cls, word_dict: Annotated[dict[str, int], of_type(dict)]) -> Self:
        """Build a vocabulary from a dict.

        Args:
            word_dict (dict): Word to id. The ids should be distinct and not negative.

        Returns:
            Vocab.

        Raises:
            TypeError: If a word is not a str or an id no int.
            ValueError: If an id is negative.
        """
        for name, kind, values in (("word", str, word_dict), ("word_id", int, word_dict.values())):
            for value in values:
                of_type(kind)(value, name)
        if word_dict:
            for bound in (min, max):
                within(0, INT32_MAX)(bound(word_dict.values()), "word_id")
        return cls._from_ids(dict(word_dict))

    def vocab(self) -> dict[str, int]:
        """Return a dict of word to id."""
        self._check_is_built()
        return dict(self._ids)

    def tokens_to_ids(self, tokens: str | list[str]) -> int | list[int]:
        """Return the id of a word, or a list of the ids of several words. The id of an unknown word is -1."""
        self._check_is_built()
        ids = [self._ids.get(t, -1) for t in _as_items(tokens, "tokens", str)]
        return ids[0] if len(ids) == 1 else ids

    def ids_to_tokens(self, ids: int | list[int]) -> str | list[str]:
        """Return the word of an id, or a list of the words of several ids. The word of an unknown id is ''."""
        self._check_is_built()
        words = {number: word for word, number in self._ids.items()}
        numbers = _as_items(ids, "ids", int)
        for i in numbers:
            within(0, INT32_MAX)(i, "ids")
        tokens = [words.get(i, "") for i in numbers]
        return tokens[0] if len(tokens) == 1 else tokens

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, word: object) -> bool:
        return word in self._ids


def _as_items(values, name, kind):
    """Return one value, or a list or array of them, as a list. Raise TypeError for a value that is no `kind`."""
    of_type(kind, list, np.ndarray)(values, name)
    items = (
        np.ravel(values).tolist()
        if isinstance(values, np.ndarray)
        else [values]
        if isinstance(values, kind)
        else values
    )
    for i, item in enumerate(items):
        of_type(kind)(item, f"{name}[{i}]")
    return items


@checked
def vocab_from_dataset(
    dataset: Dataset,
    columns: str | list[str] | None = None,
    freq_range: tuple[Any, ...] | None = None,
    top_k: Annotated[int, above_zero(int, type(None))] | None = None,
    special_tokens: list[str] | None = None,
    special_first: Flag = True,
) -> Vocab:
    """Build a vocabulary. See :meth:`Vocab.from_dataset`."""
    if columns is not None:
        columns = [columns] if not isinstance(columns, list) else columns
        list_of(str)(columns, "col")
    allowed = _parse_frequency_range(freq_range)
    specials = _check_unique_words([] if special_tokens is None else special_tokens, "special_tokens")
    counts = _count_words(dataset, columns)
    if not counts:
        raise RuntimeError("Invalid data, no words in the dataset.")
    words = {word: n for word, n in counts.items() if n in allowed}
    clash = [t for t in specials if t.encode("utf-8") in words]
    if clash:
        raise RuntimeError(f"Invalid data, these special words are already in the dataset: {', '.join(clash)}.")
    order = sorted(words, key=lambda w: (-words[w], w))[:top_k]
    return Vocab._from_ids(_assign_ids(map(_decode_word, order), specials, special_first))


def _decode_word(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise RuntimeError(
            f"Invalid data, the dataset has the word {data[:80]!r}, which is not UTF-8; say what encoding it "
            "has where the text is read."
        ) from None


def _parse_frequency_range(freq_range):
    """Return the range of counts that a word may have, from the (minimum, maximum) `freq_range`."""
    if freq_range is None:
        return range(sys.maxsize)
    of_type(tuple)(freq_range, "freq_range")
    if len(freq_range) != 2 or not all(isinstance(bound, int | None) for bound in freq_range):
        raise ValueError("freq_range needs to be a tuple of 2 integers or an int and a None.")
    low, high = (n if bound is None else bound for bound, n in zip(freq_range, (0, sys.maxsize - 1), strict=True))
    if not 0 <= low <= high:
        raise ValueError("frequency range [a,b] should be 0 <= a <= b (a,b are inclusive).")
    return range(low, high + 1)


def _count_words(dataset, columns):
    plan = dataset.make_plan()
    names = columns or plan.columns
    for name in names:
        if name not in plan.columns:
            raise RuntimeError(
                f"Invalid parameter, column name: {name} does not exist. The columns are {plan.columns}."
            )
    indices = [plan.columns.index(name) for name in names]
    counts = Counter()
    with Work("counting words", unit="rows") as work:
        for chunk in plan.chunks(Hint(256)):
            for index in indices:
                column = chunk.columns[index]
                for array in [column] if isinstance(column, np.ndarray) else column:
                    if array.dtype.kind not in "SU":
                        raise RuntimeError(
                            f"Invalid data type: vocab is made of strings, but column {plan.columns[index]!r} holds "
                            f"{array.dtype}."
                        )
                    text = np.char.encode(array, "utf-8") if array.dtype.kind == "U" else array
                    counts.update(text.ravel().tolist())
            work.step(chunk.n)
    plan.close()
    return counts


@fluent
@fluent("_build_vocab")  # libraries call MindSpore 2's private name
def build_vocab(
    self: Dataset,
    columns: str | list[str] | None,
    freq_range: tuple[int | None, int | None] | None,
    top_k: int | None,
    special_tokens: list[str] | None,
    special_first: bool,
) -> Vocab:
    """Build a vocabulary of the words in string columns. See :meth:`text.Vocab.from_dataset`."""
    return vocab_from_dataset(self, columns, freq_range, top_k, special_tokens, special_first)
