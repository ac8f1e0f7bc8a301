"""Segmentation of Chinese: the most probable path through a dictionary, and a hidden Markov model for words it does
not have.
"""

import math
import os
import re
from typing import Any

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import UInt32
from msnb.dataset.text._tokens import _Tokenizer, decoded
from msnb.dataset.text.choices import JiebaMode
from msnb.formats import text_files

_BEGIN, _END, _MIDDLE, _SINGLE = range(4)
_MIN = -3.14e100
_ALONE = re.compile(r"[a-zA-Z]+|[0-9]+(?:\.[0-9]+)?|.", re.DOTALL)


def _number(text, path, line):
    try:
        return float(text)
    except ValueError:
        raise text_files.BadFileError(f"{path!r}, line {line}: {text[:80]!r} should be a number.") from None


class _Dictionary:
    """Words with the logarithm of their probability, as cppjieba's dictionary file has them."""

    def __init__(self, path):
        counts = {}
        for number, line in enumerate(text_files.lines(path), 1):
            parts = line.split()
            if len(parts) >= 2:
                counts[parts[0]] = _number(parts[1], path, number)
        if not counts:
            raise RuntimeError(f"The dictionary {path!r} holds no word: lines of 'word count tag' are expected.")
        self.total = sum(counts.values())
        self.weights = {w: math.log(n / self.total) for w, n in counts.items() if n > 0}
        if not self.weights or not math.isfinite(self.total):
            raise text_files.BadFileError(f"The dictionary {path!r} should count its words with numbers above 0.")
        self.least = min(self.weights.values())
        middle = sorted(self.weights.values())[len(self.weights) // 2]
        self.usual = middle
        self.longest = max(map(len, self.weights))

    def add(self, word, count=None):
        """Add a word; without a count it gets the median weight."""
        self.weights[word] = math.log(count / self.total) if count else self.usual
        self.longest = max(self.longest, len(word))

    def cut(self, text):
        """The most probable split of `text`."""
        n = len(text)
        best = [(0.0, 0)] * (n + 1)
        weights, least = self.weights, self.least
        for start in range(n - 1, -1, -1):
            choice = (weights.get(text[start], least) + best[start + 1][0], start + 1)
            for end in range(start + 2, min(n, start + self.longest) + 1):
                weight = weights.get(text[start:end])
                if weight is not None and weight + best[end][0] > choice[0]:
                    choice = (weight + best[end][0], end)
            best[start] = choice
        words, at = [], 0
        while at < n:
            words.append(text[at : best[at][1]])
            at = best[at][1]
        return words


class _Hmm:
    """The model of cppjieba's file: for each character, whether it begins, ends, continues or is a word."""

    def __init__(self, path):
        lines = [
            (number, line.strip())
            for number, line in enumerate(text_files.lines(path), 1)
            if line.strip() and not line.startswith("#")
        ]
        if len(lines) < 9:
            raise RuntimeError(
                f"{path!r} is no hidden Markov model of cppjieba's: 9 lines of numbers are expected, but there are "
                f"{len(lines)}."
            )
        self.start, *self.moves = [[_number(v, path, number) for v in line.split()] for number, line in lines[:5]]
        for (number, _), row in zip(lines, (self.start, *self.moves), strict=False):
            if len(row) < 4:
                raise text_files.BadFileError(f"{path!r}, line {number}: 4 numbers are expected, but got {len(row)}.")
        self.seen = []
        for number, line in lines[5:9]:
            items = (item.rpartition(":") for item in line.split(","))
            self.seen.append({char: _number(value, path, number) for char, _, value in items if char})

    def cut(self, text):
        """The most probable split of `text`; letters and digits stay together."""
        words, run = [], ""
        for piece in _ALONE.findall(text):
            if piece.isascii() and piece[0].isalnum():
                words += self._viterbi(run)
                words.append(piece)
                run = ""
            else:
                run += piece
        return words + self._viterbi(run)

    def _viterbi(self, text):
        if not text:
            return []
        scores = [self.start[s] + self.seen[s].get(text[0], _MIN) for s in range(4)]
        back = []
        for char in text[1:]:
            came, now = [], []
            for s in range(4):
                before = max(range(4), key=lambda p, s=s: scores[p] + self.moves[p][s])
                came.append(before)
                now.append(scores[before] + self.moves[before][s] + self.seen[s].get(char, _MIN))
            back.append(came)
            scores = now
        state = _END if scores[_END] >= scores[_SINGLE] else _SINGLE
        states = [state]
        for came in reversed(back):
            state = came[state]
            states.append(state)
        states.reverse()
        words, start = [], 0
        for i, s in enumerate(states):
            if s in (_END, _SINGLE):
                words.append(text[start : i + 1])
                start = i + 1
        if start < len(text):
            words.append(text[start:])
        return words


class JiebaTokenizer(_Tokenizer):
    """Words of a Chinese sentence.

    Args:
        hmm_path (str): File of the hidden Markov model (``hmm_model.utf8`` of cppjieba).
        mp_path (str): File of the dictionary (``jieba.dict.utf8`` of cppjieba).
        mode (JiebaMode, optional): Which of them are used. Default: JiebaMode.MIX.
        with_offsets (bool, optional): Whether offsets come as two further columns. Default: False.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a path is missing or there is no such file.

    Examples:
        >>> from mindspore.dataset import text
        >>> tokenizer = text.JiebaTokenizer("hmm_model.utf8", "jieba.dict.utf8", mode=text.JiebaMode.MP)
    """

    def __init__(
        self, hmm_path: str, mp_path: str, mode: JiebaMode = JiebaMode.MIX, with_offsets: bool = False
    ) -> None:
        for name, path, kind in (("hmm_path", hmm_path, "HMMSegment"), ("mp_path", mp_path, "MPSegment")):
            if path is None:
                raise ValueError(f"The dict of {kind} in cppjieba is not provided.")
            if not isinstance(path, str):
                raise TypeError(f"Wrong input type for {name}, should be string: got {path!r}.")
        if not isinstance(with_offsets, bool):
            raise TypeError("Wrong input type for with_offsets, should be boolean.")
        if not isinstance(mode, JiebaMode):
            raise TypeError("Wrong input type for mode, should be JiebaMode.")
        for path in (hmm_path, mp_path):
            if not os.path.exists(path):
                raise ValueError(f" jieba mode file {path} is not exist.")
        self.mode: JiebaMode = mode
        self.with_offsets: bool = with_offsets
        self._hmm = _Hmm(hmm_path)
        self._words = _Dictionary(mp_path)

    @checked
    def add_word(self, word: str, freq: UInt32 | None = None) -> None:
        """Add a word to the dictionary.

        Args:
            word (str): The word.
            freq (int, optional): How often it occurs; 0 or None for as often as the median word. Default: None.

        Raises:
            ValueError: If `word` is None or `freq` out of range.
        """
        if word is None:
            raise ValueError("word is not provided.")
        self._words.add(word, freq)

    def add_dict(self, user_dict: str | dict[Any, Any]) -> None:
        """Add the words of a dict (word to count) or of a file (lines of a word and maybe a count).

        Args:
            user_dict (Union[str, dict]): The words.

        Raises:
            TypeError: If it is neither.
            ValueError: If the file does not exist or has a wrong line.
        """
        if isinstance(user_dict, dict):
            for word, freq in user_dict.items():
                self.add_word(word, freq)
        elif not isinstance(user_dict, str):
            raise TypeError(f"The type of user_dict must str or dict, but got {type(user_dict).__name__}.")
        elif os.path.exists(user_dict):
            self._add_file(user_dict)
        else:
            raise ValueError(f"user dict file {user_dict} is not exist.")

    def _add_file(self, user_dict):
        for number, line in enumerate(text_files.lines(user_dict, "utf-8-sig"), 1):
            found = re.match(r"^(.+?)( [0-9]{1,18})?$", line.strip())
            if found is None:
                raise ValueError(f"user dict file {user_dict} format error: line {number}: {line[:80]!r}.")
            self.add_word(found[1], int(found[2] or 0))

    def words(self, text: str) -> Any:
        """The words of a str."""
        out = []
        for part in re.split(r"([，。 \t\n])", text):
            if part:
                out += [part] if len(part) == 1 else self._cut(part)
        return out

    def _cut(self, text):
        if self.mode == JiebaMode.MP:
            return self._words.cut(text)
        if self.mode == JiebaMode.HMM:
            return self._hmm.cut(text)
        out, singles = [], ""
        for word in [*self._words.cut(text), None]:
            if word is not None and len(word) == 1:
                singles += word
                continue
            if singles:
                out += [singles] if len(singles) == 1 else self._hmm.cut(singles)
                singles = ""
            if word is not None:
                out.append(word)
        return out

    def _tokens(self, data):
        return [w.encode("utf-8") for w in self.words(decoded(data))]

    def _spans(self, data):
        tokens, starts, ends, at = [], [], [], 0
        for token in self._tokens(data):
            tokens.append(token)
            starts.append(at)
            at += len(token)
            ends.append(at)
        return tokens, starts, ends
