"""``Vocab``: words and their numbers."""

from collections import Counter

import numpy as np

from msnb.dataset.core.validator_helpers import INT32_MAX, check_positive, check_value, type_check, type_check_list


def _unique(words, name):
    type_check(words, (list,), name)
    seen = set()
    for word in words:
        type_check(word, (str,), name)
        if word in seen:
            raise ValueError(f"{name} contains duplicate word: {word}.")
        seen.add(word)
    return seen


def _numbered(words, special_tokens, special_first):
    special_tokens = special_tokens or []
    order = [*special_tokens, *words] if special_first else [*words, *special_tokens]
    return {word: i for i, word in enumerate(order)}


class Vocab:
    """Words and their numbers; made with one of the ``from_`` methods.

    Examples:
        >>> import mindspore.dataset.text as text
        >>> vocab = text.Vocab.from_list(["deep", "learning"], special_tokens=["<unk>"])
    """

    def __init__(self):
        self._ids = {}
        self._bytes = {}

    @classmethod
    def _of(cls, ids):
        vocab = cls()
        vocab._ids = ids
        vocab._bytes = {word.encode("utf-8"): i for word, i in ids.items()}
        return vocab

    @classmethod
    def from_dataset(cls, dataset, columns=None, freq_range=None, top_k=None, special_tokens=None, special_first=True):
        """The words of a data set's string columns, the most frequent first.

        Args:
            dataset (Dataset): Where the words come from.
            columns (Union[str, list[str]], optional): Its columns. Default: None, all.
            freq_range (tuple, optional): Least and greatest count of a word; None in it is no bound. Default: None.
            top_k (int, optional): At most so many words. Default: None, all.
            special_tokens (list[str], optional): Further words, which must not occur in the data. Default: None.
            special_first (bool, optional): Whether they come first. Default: True.

        Returns:
            Vocab.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If a bound is wrong or words are given twice.
        """
        return vocab_from_dataset(dataset, columns, freq_range, top_k, special_tokens, special_first)

    @classmethod
    def from_list(cls, word_list, special_tokens=None, special_first=True):
        """The words of a list, in its order.

        Args:
            word_list (list[str]): The words.
            special_tokens (list[str], optional): Further words. Default: None.
            special_first (bool, optional): Whether they come first. Default: True.

        Returns:
            Vocab.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If a word is given twice.
        """
        words = _unique(word_list, "word_list")
        if special_tokens is not None:
            both = words & _unique(special_tokens, "special_tokens")
            if both:
                raise ValueError(f"special_tokens and word_list contain duplicate word: {both}.")
        type_check(special_first, (bool,), "special_first")
        return cls._of(_numbered(word_list, special_tokens, special_first))

    @classmethod
    def from_file(cls, file_path, delimiter="", vocab_size=None, special_tokens=None, special_first=True):
        """The words of a file, one a line.

        Args:
            file_path (str): The file.
            delimiter (str, optional): The word ends there; what follows is not used. Default: ''.
            vocab_size (int, optional): At most so many words. Default: None, all.
            special_tokens (list[str], optional): Further words. Default: None.
            special_first (bool, optional): Whether they come first. Default: True.

        Returns:
            Vocab.

        Raises:
            TypeError: If an argument has the wrong type.
            ValueError: If words are given twice or `vocab_size` is not positive.
            RuntimeError: If the file cannot be read.
        """
        specials = _unique(special_tokens, "special_tokens") if special_tokens is not None else set()
        type_check_list([file_path, delimiter], (str,), ["file_path", "delimiter"])
        if vocab_size is not None:
            check_positive(vocab_size, "vocab_size")
        type_check(special_first, (bool,), "special_first")
        words, seen = [], set()
        try:
            with open(file_path, encoding="utf-8", newline="\n") as file:
                for line in file:
                    word = line[:-1] if line.endswith("\n") else line
                    if delimiter:
                        word = word.split(delimiter, 1)[0]
                    if word in seen:
                        raise ValueError(f"word_list contains duplicate word: {word}.")
                    if word in specials:
                        raise ValueError(f"special_tokens and word_list contain duplicate word: {word}.")
                    seen.add(word)
                    words.append(word)
                    if len(words) == vocab_size:
                        break
        except OSError as error:
            raise RuntimeError(f"fail to open: {file_path} ({error.strerror}).") from None
        return cls._of(_numbered(words, special_tokens, special_first))

    @classmethod
    def from_dict(cls, word_dict):
        """The words and numbers of a dict.

        Args:
            word_dict (dict): Word to number; numbers should be different and not negative.

        Returns:
            Vocab.

        Raises:
            TypeError: If a word is no str or a number no int.
            ValueError: If a number is negative.
        """
        type_check(word_dict, (dict,), "word_dict")
        for word, number in word_dict.items():
            type_check(word, (str,), "word")
            type_check(number, (int,), "word_id")
            check_value(number, (0, INT32_MAX), "word_id")
        return cls._of(dict(word_dict))

    def vocab(self):
        """Words to numbers, as a dict."""
        return dict(self._ids)

    def tokens_to_ids(self, tokens):
        """The number of a word, or of each word of a list; -1 for words that are not there."""
        if isinstance(tokens, np.ndarray):
            tokens = tokens.tolist()
        if isinstance(tokens, list | tuple):
            return [self._ids.get(t, -1) for t in tokens]
        type_check(tokens, (str,), "tokens")
        return self._ids.get(tokens, -1)

    def ids_to_tokens(self, ids):
        """The word of a number, or of each number of a list; '' for numbers that are not there."""
        words = {number: word for word, number in self._ids.items()}
        if isinstance(ids, np.ndarray):
            ids = ids.tolist()
        if isinstance(ids, list | tuple):
            return [words.get(i, "") for i in ids]
        type_check(ids, (int,), "ids")
        return words.get(ids, "")

    def __len__(self):
        return len(self._ids)

    def __contains__(self, word):
        return word in self._ids


def vocab_from_dataset(dataset, columns=None, freq_range=None, top_k=None, special_tokens=None, special_first=True):
    """See :meth:`Vocab.from_dataset`."""
    if columns is not None:
        columns = columns if isinstance(columns, list) else [columns]
        type_check_list(columns, (str,), "col")
    low, high = 0, None
    if freq_range is not None:
        type_check(freq_range, (tuple,), "freq_range")
        if len(freq_range) != 2 or any(n is not None and not isinstance(n, int) for n in freq_range):
            raise ValueError("freq_range needs to be a tuple of 2 integers or an int and a None.")
        low, high = freq_range[0] or 0, freq_range[1]
        if low < 0 or high is not None and low > high:
            raise ValueError("frequency range [a,b] should be 0 <= a <= b (a,b are inclusive).")
    type_check(top_k, (int, type(None)), "top_k")
    if top_k is not None:
        check_positive(top_k, "top_k")
    type_check(special_first, (bool,), "special_first")
    if special_tokens is not None:
        _unique(special_tokens, "special_tokens")
    counts = _count(dataset, columns)
    if not counts:
        raise RuntimeError("Invalid data, no words in the dataset.")
    words = {w: n for w, n in counts.items() if n >= low and (high is None or n <= high)}
    clash = [t for t in special_tokens or () if t.encode("utf-8") in words]
    if clash:
        raise RuntimeError(f"Invalid data, these special words are already in the dataset: {', '.join(clash)}.")
    order = sorted(words, key=lambda w: (-words[w], w))[:top_k]
    return Vocab._of(_numbered([w.decode("utf-8") for w in order], special_tokens, special_first))


def _count(dataset, columns):
    from msnb.dataset.engine.chunk import Hint

    plan = dataset.make_plan()
    names = columns or plan.columns
    for name in names:
        if name not in plan.columns:
            raise RuntimeError(
                f"Invalid parameter, column name: {name} does not exist. The columns are {plan.columns}."
            )
    places = [plan.columns.index(name) for name in names]
    counts = Counter()
    for chunk in plan.chunks(Hint(256)):
        for place in places:
            column = chunk.columns[place]
            for array in [column] if isinstance(column, np.ndarray) else column:
                if array.dtype.kind not in "SU":
                    raise RuntimeError(
                        f"Invalid data type: vocab is made of strings, but column {plan.columns[place]!r} holds "
                        f"{array.dtype}."
                    )
                counts.update(array.ravel().tolist())
    plan.close()
    return counts
