"""Segmentation of Chinese text, with the algorithms of cppjieba.

A dictionary gives the most probable path. A hidden Markov model splits words that the dictionary does not contain.
"""

import math
import os
import re
from typing import Any

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import UInt32
from msnb.dataset.text._tokens import _Tokenizer, decode_utf8
from msnb.dataset.text.choices import JiebaMode
from msnb.formats import text_files

_BEGIN, _END, _MIDDLE, _SINGLE = range(4)
_LOG_ZERO = -3.14e100
_ATOM = re.compile(r"[a-zA-Z]+|[0-9]+(?:\.[0-9]+)?|.", re.DOTALL)


def _parse_number(text, path, line):
    try:
        return float(text)
    except ValueError:
        raise text_files.BadFileError(f"{path!r}, line {line}: {text[:80]!r} should be a number.") from None


class _Dictionary:
    """Words with the logarithm of their probability, read from a dictionary file of cppjieba."""

    def __init__(self, path):
        counts = {}
        for number, line in enumerate(text_files.lines(path), 1):
            fields = line.split()
            if len(fields) >= 2:
                counts[fields[0]] = _parse_number(fields[1], path, number)
        if not counts:
            raise RuntimeError(f"The dictionary {path!r} holds no word: lines of 'word count tag' are expected.")
        self.total = sum(counts.values())
        self.weights = {w: math.log(n / self.total) for w, n in counts.items() if n > 0}
        if not self.weights or not math.isfinite(self.total):
            raise text_files.BadFileError(f"The dictionary {path!r} should count its words with numbers above 0.")
        self.least = min(self.weights.values())
        median = sorted(self.weights.values())[len(self.weights) // 2]
        self.usual = median
        self.longest = max(map(len, self.weights))

    def add(self, word, count=None):
        """Add a word. Without a count it gets the median weight."""
        self.weights[word] = math.log(count / self.total) if count else self.usual
        self.longest = max(self.longest, len(word))

    def cut(self, text):
        """Return the most probable split of `text`."""
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
        words, position = [], 0
        while position < n:
            words.append(text[position : best[position][1]])
            position = best[position][1]
        return words


class _Hmm:
    """Hidden Markov model for segmentation, read from a file of cppjieba.

    Its states are: a character begins a word, ends it, continues it, or is a word.
    """

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
        self.start, *self.moves = [[_parse_number(v, path, number) for v in line.split()] for number, line in lines[:5]]
        for (number, _), row in zip(lines, (self.start, *self.moves), strict=False):
            if len(row) < 4:
                raise text_files.BadFileError(f"{path!r}, line {number}: 4 numbers are expected, but got {len(row)}.")
        self.seen = []  # emission log probabilities of each state; old pickles have this name
        for number, line in lines[5:9]:
            items = (item.rpartition(":") for item in line.split(","))
            self.seen.append({char: _parse_number(value, path, number) for char, _, value in items if char})

    def cut(self, text):
        """Return the most probable split of `text`. Runs of letters and numbers are not split."""
        words, run = [], ""
        for piece in _ATOM.findall(text):
            if piece.isascii() and piece[0].isalnum():
                words += self._decode_viterbi(run)
                words.append(piece)
                run = ""
            else:
                run += piece
        return words + self._decode_viterbi(run)

    def _decode_viterbi(self, text):
        if not text:
            return []
        scores = [self.start[s] + self.seen[s].get(text[0], _LOG_ZERO) for s in range(4)]
        backpointers = []
        for char in text[1:]:
            predecessors, new_scores = [], []
            for s in range(4):
                predecessor = max(range(4), key=lambda p, s=s: scores[p] + self.moves[p][s])
                predecessors.append(predecessor)
                new_scores.append(scores[predecessor] + self.moves[predecessor][s] + self.seen[s].get(char, _LOG_ZERO))
            backpointers.append(predecessors)
            scores = new_scores
        state = _END if scores[_END] >= scores[_SINGLE] else _SINGLE
        states = [state]
        for predecessors in reversed(backpointers):
            state = predecessors[state]
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
    """Split a Chinese sentence into words.

    Args:
        hmm_path (str): File of the hidden Markov model (``hmm_model.utf8`` of cppjieba).
        mp_path (str): File of the dictionary (``jieba.dict.utf8`` of cppjieba).
        mode (JiebaMode, optional): Segmentation method. Default: JiebaMode.MIX.
        with_offsets (bool, optional): True to output offsets as two further columns. Default: False.

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
            freq (int, optional): Frequency of the word; 0 or None is the median frequency. Default: None.

        Raises:
            ValueError: If `word` is None or `freq` out of range.
        """
        if word is None:
            raise ValueError("word is not provided.")
        self._words.add(word, freq)

    def add_dict(self, user_dict: str | dict[Any, Any]) -> None:
        """Add the words of a dict (word to count) or of a file (each line has a word and optionally a count).

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
            self._add_words_from_file(user_dict)
        else:
            raise ValueError(f"user dict file {user_dict} is not exist.")

    def _add_words_from_file(self, user_dict):
        for number, line in enumerate(text_files.lines(user_dict, "utf-8-sig"), 1):
            match = re.match(r"^(.+?)( [0-9]{1,18})?$", line.strip())
            if match is None:
                raise ValueError(f"user dict file {user_dict} format error: line {number}: {line[:80]!r}.")
            self.add_word(match[1], int(match[2] or 0))

    def words(self, text: str) -> Any:
        """Split a str into words. Return the list of words."""
        out = []
        for fragment in re.split(r"([，。 \t\n])", text):
            if fragment:
                out += [fragment] if len(fragment) == 1 else self._segment_text(fragment)
        return out

    def _segment_text(self, text):
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

    def _split_tokens(self, data):
        return [w.encode("utf-8") for w in self.words(decode_utf8(data))]

    def _split_with_offsets(self, data):
        tokens, starts, ends, position = [], [], [], 0
        for token in self._split_tokens(data):
            tokens.append(token)
            starts.append(position)
            position += len(token)
            ends.append(position)
        return tokens, starts, ends
