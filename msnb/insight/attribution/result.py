"""The result of an attribution: an array of contributions and its summary as text."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.insight.debugger.table import TextTable

_CONTRIBUTIONS = ("integrated_gradients", "lrp")  # methods whose values add up to a score
_ROWS = 10  # examples in the text
_TOKENS = 64  # tokens of an example in the text
_LARGEST = 3  # elements of an example in the text


@dataclasses.dataclass(repr=False, eq=False)
class Attribution:
    """The contribution of each element of an input, or of the value of a node, to the score of the target.

    Attributes:
        values (numpy.ndarray): the contributions, of the shape of the input or of the node's value. Grad-CAM has one
            map per example, of shape (N, 1, H, W).
        target (numpy.ndarray): the class of each example; for an output of more axes, rows of indices.
        method (str): the method.
        node (Union[str, None]): the node, None for the input.
        inputs (numpy.ndarray): the input that was explained.
        scores (numpy.ndarray): the score of the target of each example.
        baseline_scores (Union[numpy.ndarray, None]): the same for the baseline of integrated gradients.
        tokens (Union[list[list[str]], None]): the tokens of each example.
    """

    values: np.ndarray
    target: np.ndarray
    method: str
    node: str | None
    inputs: np.ndarray
    scores: np.ndarray
    baseline_scores: np.ndarray | None = None
    tokens: Any = None

    def __post_init__(self) -> None:
        if self.tokens is not None:
            self.tokens = self._read_tokens(self.tokens)
        elif self._is_text():
            self.tokens = [[str(number) for number in row] for row in self.inputs.tolist()]

    def _is_text(self):
        return self.inputs.ndim == 2 and self.inputs.dtype.kind in "iu" and self.values.shape[:2] == self.inputs.shape

    def _read_tokens(self, tokens):
        """Return the tokens as a list of str for each example."""
        rows = [tokens] if tokens and all(isinstance(token, str) for token in tokens) else list(tokens)
        if not all(isinstance(row, Sequence) and all(isinstance(token, str) for token in row) for row in rows):
            raise TypeError(f"'tokens' should be a list of str for each example, but got {describe(tokens)}.")
        if self.values.ndim not in (2, 3):
            raise ValueError(
                f"'tokens' belong to values of shape (N, tokens, ...), but the values have {list(self.values.shape)}."
            )
        shape = self.values.shape[:2]
        if len(rows) != shape[0] or any(len(row) > shape[1] for row in rows):
            lengths = [len(row) for row in rows]
            raise ValueError(
                f"'tokens' should have at most {shape[1]} tokens for each of the {shape[0]} examples, but it has "
                f"{lengths}."
            )
        return [list(row) for row in rows]  # padding at the end has no token

    @property
    def is_sum_of_score(self) -> bool:
        """True for methods whose values add up to the score, or to its difference from that of the baseline."""
        return self.method in _CONTRIBUTIONS

    @property
    def map(self) -> np.ndarray:
        """One number per pixel or token: the sum over channels for methods whose values add up to the score; for
        others, the value of the largest magnitude, with its sign. It has the shape (N, H, W), (N, tokens) or (N, ...).
        """
        axis = {3: 2, 4: 1}.get(self.values.ndim)
        if axis is None:
            return self.values
        if self.is_sum_of_score or self.values.shape[axis] == 1:
            return self.values.sum(axis=axis)
        at = np.abs(self.values).argmax(axis=axis)
        return np.take_along_axis(self.values, np.expand_dims(at, axis), axis).squeeze(axis)

    @property
    def completeness_error(self) -> np.ndarray | None:
        """For integrated gradients, the sum of the values of each example minus the difference of the scores between
        input and baseline; None for other methods. More steps make it smaller.
        """
        if self.baseline_scores is None:
            return None
        return self.values.reshape(len(self.values), -1).sum(axis=1) - (self.scores - self.baseline_scores)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype, copy=copy)

    def to_tensor(self) -> Tensor:
        """Return the values as a Tensor."""
        return Tensor(self.values)

    def describe_title(self) -> str:
        """Return a sentence with the method, the node and the number of examples."""
        count = len(self.values)
        at = "of the input" if self.node is None else f"of {self.node}"
        return f"{self.method} {at}, {count} example{'s' if count != 1 else ''}, values {list(self.values.shape)}"

    def describe_target(self, index: int) -> str:
        """Return the target of an example as text."""
        return ", ".join(map(str, np.atleast_1d(self.target[index]))) if self.target.size else "output"

    def __repr__(self) -> str:
        shown = range(min(len(self.values), _ROWS))
        rows = [
            [str(index), self.describe_target(index), f"{self.scores[index]:.4g}", self._describe_values(index)]
            for index in shown
        ]
        heading = "tokens" if self.tokens is not None else "largest values"
        title = self.describe_title()
        if len(self.values) > _ROWS:
            title += f"; the first {_ROWS}"
        return str(TextTable(["example", "target", "score", heading], rows, title=title))

    def _describe_values(self, index):
        numbers = self.map[index]
        if self.tokens is not None:
            pairs = list(zip(self.tokens[index], numbers.tolist(), strict=False))
            text = " ".join(f"{token} {number:+.2g}" for token, number in pairs[:_TOKENS])
            return text + (" ..." if len(pairs) > _TOKENS else "")
        flat = numbers.reshape(-1)
        order = np.argsort(-np.abs(flat), kind="stable")[:_LARGEST]
        positions = [", ".join(map(str, np.unravel_index(at, numbers.shape))) for at in order]
        return "  ".join(f"[{position}] {flat[at]:+.3g}" for position, at in zip(positions, order, strict=True))
