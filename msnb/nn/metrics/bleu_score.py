"""`BleuScore`: the BLEU score of translations."""

from collections import Counter
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Between, Bool, Int, checked
from msnb.nn.metrics.metric import Metric, rearrange_inputs

__all__ = ["BleuScore"]


class BleuScore(Metric):
    """
    BLEU (Papineni et al., BLEU: a Method for Automatic Evaluation of Machine Translation, 2002): the fraction of
    n-grams of a translation that occur in the references, times a penalty for short translations.

    Args:
        n_gram (int): Largest length of the n-grams, from 1 to 4. Default: 4.
        smooth (bool): Whether 1 is added to all counts. Default: False.

    Raises:
        TypeError: If `n_gram` is no int, or `smooth` is no bool.
        ValueError: If `n_gram` is out of range.

    Examples:
        >>> candidates = [["i", "have", "a", "pen", "on", "my", "desk"]]
        >>> references = [[["i", "have", "a", "pen", "in", "my", "desk"],
        ...                ["there", "is", "a", "pen", "on", "the", "desk"]]]
        >>> print(round(nn.BleuScore()(candidates, references), 4))
        0.5946
    """

    @checked
    def __init__(self, n_gram: Annotated[int, Between(Int, 1, 4)] = 4, smooth: Bool = False) -> None:
        super().__init__()
        self.n_gram, self.smooth = n_gram, smooth
        self.clear()

    def clear(self) -> None:
        """Clear the accumulated values."""
        self._right, self._all = np.zeros(self.n_gram), np.zeros(self.n_gram)
        self._length = self._reference_length = self._accumulated = 0

    def _count_ngrams(self, words):
        starts = ((n, i) for n in range(1, self.n_gram + 1) for i in range(len(words) - n + 1))
        return Counter(tuple(words[i : i + n]) for n, i in starts)

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """
        Accumulate translations.

        Args:
            inputs: `candidate_corpus`, a list of lists of words, and `reference_corpus`, a list with a list of
            references for
                each candidate.

        Raises:
            ValueError: If there are not 2 inputs of equal length.
        """
        if len(inputs) != 2 or len(inputs[0]) != len(inputs[1]):
            raise ValueError(
                "For 'BleuScore', there should be 2 inputs of one length (candidate_corpus, reference_corpus), but got "
                f"{' and '.join(str(len(i)) for i in inputs)}."
            )
        for candidate, references in zip(*inputs, strict=True):
            self._length += len(candidate)
            self._reference_length += min((len(r) for r in references), key=lambda length: abs(len(candidate) - length))
            reference_counts: Counter[Any] = Counter()
            for reference in references:
                reference_counts |= self._count_ngrams(reference)
            candidate_counts = self._count_ngrams(candidate)
            for counts, runs in ((self._right, candidate_counts & reference_counts), (self._all, candidate_counts)):
                for run, times in runs.items():
                    counts[len(run) - 1] += times
            self._accumulated += 1

    def eval(self) -> float:
        """
        Return the score over all batches since `clear`.

        Returns:
            float.

        Raises:
            RuntimeError: If there was no update since `clear`.
        """
        self._check_has_updates(self._accumulated, "translations")
        if not self._right.all():
            return 0.0
        precision = (self._right + self.smooth) / (self._all + self.smooth)
        penalty = 1.0 if self._length > self._reference_length else np.exp(1 - self._reference_length / self._length)
        return float(penalty * np.exp(np.log(precision).mean()))
