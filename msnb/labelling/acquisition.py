"""Query strategies of active learning: scores of unlabelled items, and the order in which to ask for their labels.

A strategy gets a `Candidates` and returns one score per item. The item with the highest score is asked first.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, cast

import numpy as np

BALD_DRAWS = 20  # dropout draws
_QUEUE = 64  # items that coreset and diversity choose one after the other; later items follow by score


@dataclasses.dataclass(frozen=True)
class Candidates:
    """The state that a strategy reads.

    Attributes:
        probabilities (numpy.ndarray): (items, classes), predictions for the unlabelled items. If `is_multilabel`, each
            class has a probability of its own; otherwise rows sum to 1.
        features (numpy.ndarray): (items, size), features of the unlabelled items.
        labelled_features (numpy.ndarray): (labelled items, size).
        draw (Callable): function of a count that returns predictions with dropout, (count, items, classes).
        rng (numpy.random.Generator): random numbers.
        is_multilabel (bool): True if an item can have several classes. Default: False.
    """

    probabilities: np.ndarray
    features: np.ndarray
    labelled_features: np.ndarray
    draw: Callable[[int], np.ndarray]
    rng: np.random.Generator
    is_multilabel: bool = False


# ------------------------------------------------------------------ formulas
def score_least_confident(probabilities: np.ndarray) -> np.ndarray:
    """Return 1 - max p of each row."""
    return 1 - probabilities.max(1)


def score_margin(probabilities: np.ndarray) -> np.ndarray:
    """Return 1 - (p1 - p2) of each row, for its two largest probabilities p1 and p2."""
    if probabilities.shape[1] < 2:
        return np.ones(len(probabilities))
    largest = np.partition(probabilities, -2, axis=1)[:, -2:]
    return 1 - (largest[:, 1] - largest[:, 0])


def score_entropy(probabilities: np.ndarray) -> np.ndarray:
    """Return the entropy of each row, in nats. The classes are the last axis."""
    logs = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    return -(probabilities * logs).sum(-1)


def score_bald(draws: np.ndarray) -> np.ndarray:
    """Return the mutual information of prediction and weights: entropy of the mean minus mean entropy, in nats.

    Args:
        draws (numpy.ndarray): (draws, items, classes), the predictions of several models.
    """
    return score_entropy(draws.mean(0)) - score_entropy(draws).mean(0)


def measure_distances(features: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the Euclidean distance of each row of `features` to the nearest row of `centres`; infinity if there is
    no centre."""
    nearest = np.full(len(features), np.inf)
    for first in range(0, len(centres), 256):  # blocks limit the memory
        block = centres[first : first + 256]
        squares = (features**2).sum(1)[:, None] + (block**2).sum(1) - 2 * features @ block.T
        nearest = np.minimum(nearest, squares.min(1))
    return np.sqrt(np.maximum(nearest, 0))


def embed_gradients(probabilities: np.ndarray) -> np.ndarray:
    """Return the gradient of the loss of the predicted class with respect to the logits: p minus one-hot of argmax p.

    Its outer product with the features is the gradient of the last layer's weights.
    """
    gradients = probabilities.copy()
    gradients[np.arange(len(gradients)), probabilities.argmax(1)] -= 1
    return gradients


def measure_gradient_distances(
    gradients: np.ndarray, features: np.ndarray, centre: int, squared_norms: np.ndarray
) -> np.ndarray:
    """Return the squared distance of each gradient embedding to that of item `centre`.

    The embedding is the outer product of a row of `gradients` and a row of `features`. It is never formed, because the
    inner product of two outer products is the product of two inner products.
    """
    inner = (gradients @ gradients[centre]) * (features @ features[centre])
    return np.maximum(squared_norms + squared_norms[centre] - 2 * inner, 0)


# ------------------------------------------------------------------ orders
def order_by_score(scores: np.ndarray) -> np.ndarray:
    """Return the indices of the items, highest score first; equal scores in the order of the pool."""
    return np.argsort(-scores, kind="stable")


def order_core_set(candidates: Candidates) -> np.ndarray:
    """Return the indices in the order of the greedy k-centre algorithm (Sener and Savarese 2018).

    Each item is the one farthest from all labelled and all earlier items.
    """
    features = candidates.features
    nearest = measure_distances(features, candidates.labelled_features)
    if not len(candidates.labelled_features):  # start in the middle of the pool
        nearest = -measure_distances(features, features.mean(0, keepdims=True))
    chosen, remaining = [], nearest.copy()
    for _ in range(min(_QUEUE, len(features))):
        chosen.append(int(remaining.argmax()))
        to_chosen = measure_distances(features, features[chosen[-1:]])
        nearest = to_chosen if len(chosen) == 1 and not len(candidates.labelled_features) else nearest
        nearest = np.minimum(nearest, to_chosen)
        remaining = nearest.copy()
        remaining[chosen] = -np.inf
    return _append_rest(chosen, nearest)


def order_diverse(candidates: Candidates) -> np.ndarray:
    """Return the indices in the order of k-means++ on gradient embeddings (BADGE, Ash et al. 2020).

    The first item has the longest gradient. Each later one is drawn with a probability that grows with the squared
    distance to the nearest earlier one. The origin counts as an earlier one, so a certain prediction is asked late.
    """
    gradients, features = embed_gradients(candidates.probabilities), candidates.features
    squared_norms = (gradients**2).sum(1) * (features**2).sum(1)
    chosen, nearest = [int(squared_norms.argmax())], squared_norms
    for _ in range(min(_QUEUE, len(features)) - 1):
        distances = measure_gradient_distances(gradients, features, chosen[-1], squared_norms)
        nearest = np.minimum(nearest, distances)
        weights = nearest.copy()
        weights[chosen] = 0
        if weights.sum() == 0:  # all remaining items equal earlier ones
            weights = np.ones(len(features))
            weights[chosen] = 0
        chosen.append(int(candidates.rng.choice(len(weights), p=weights / weights.sum())))
    return _append_rest(chosen, squared_norms)


def _append_rest(chosen, scores):
    remaining = scores.copy()
    remaining[chosen] = -np.inf
    rest = order_by_score(remaining)[: len(scores) - len(chosen)]
    return np.concatenate([np.asarray(chosen, dtype=int), rest])


# ------------------------------------------------------------------ strategies
@dataclasses.dataclass(frozen=True)
class Strategy:
    """A query strategy.

    Attributes:
        name (str): the name that `msnb.label` takes.
        score (Callable): function of Candidates that returns the scores (items,).
        order (Callable): function of Candidates that returns indices, first question first. Default: None, by score.
    """

    name: str
    score: Callable[[Candidates], np.ndarray]
    order: Callable[[Candidates], np.ndarray] | None = None

    def rank(self, candidates: Candidates) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores, indices of the items in the order of the questions).

        Raises:
            ValueError: If a user's function returns no finite number for each item.
        """
        scores = np.asarray(self.score(candidates), dtype=np.float64)
        if scores.shape != (len(candidates.features),) or np.isnan(scores).any():
            raise ValueError(
                f"For 'label', the strategy '{self.name}' should return {len(candidates.features)} scores, one number "
                f"per unlabelled item, but returned an array of shape {scores.shape}"
                f"{' with NaN' if scores.dtype == float and np.isnan(scores).any() else ''}."
            )
        return scores, self.order(candidates) if self.order else order_by_score(scores)


def _of_classes(score):
    """Return the strategy function of a formula. Over several independent classes it is the mean of the formula."""

    def run(candidates):
        p = candidates.probabilities
        if not candidates.is_multilabel:
            return score(p)
        return np.mean([score(np.stack([p[:, k], 1 - p[:, k]], 1)) for k in range(p.shape[1])], axis=0)

    return run


def _bald(candidates):
    draws = candidates.draw(BALD_DRAWS)
    if not candidates.is_multilabel:
        return score_bald(draws)
    classes = range(draws.shape[2])
    return np.mean([score_bald(np.stack([draws[..., k], 1 - draws[..., k]], 2)) for k in classes], axis=0)


def _diversity(candidates):
    gradients = embed_gradients(candidates.probabilities)
    return (gradients**2).sum(1) * (candidates.features**2).sum(1)


_ALL = (
    Strategy("least_confident", _of_classes(score_least_confident)),
    Strategy("margin", _of_classes(score_margin)),
    Strategy("entropy", _of_classes(score_entropy)),
    Strategy("bald", _bald),
    Strategy("coreset", lambda c: measure_distances(c.features, c.labelled_features), order_core_set),
    Strategy("diversity", _diversity, order_diverse),
    Strategy("random", lambda c: c.rng.random(len(c.features))),
)
STRATEGIES: dict[str, Strategy] = {strategy.name: strategy for strategy in _ALL}


def find_strategy(strategy: Any) -> Strategy:
    """Return a strategy by name, or a Strategy of a user's function of Candidates that returns scores.

    Raises:
        ValueError: If there is no strategy of this name.
        TypeError: If `strategy` is neither a name nor a function.
    """
    if isinstance(strategy, str):
        if strategy not in STRATEGIES:
            raise ValueError(
                f"For 'label', 'strategy' should be one of {', '.join(STRATEGIES)}, or a function, but got "
                f"{strategy!r}."
            )
        return STRATEGIES[strategy]
    if not callable(strategy):
        raise TypeError(
            f"For 'label', 'strategy' should be a name or a function of Candidates that returns scores, but got "
            f"{type(strategy).__name__}."
        )
    return Strategy(getattr(strategy, "__name__", "function"), cast("Callable[..., np.ndarray]", strategy))
