"""Accuracy against the number of labels, beside that of random labels, and advice when to stop."""

import dataclasses

import numpy as np

from msnb.labelling.label_faults import split_folds
from msnb.labelling.logistic_head import LogisticHead

_POINTS = 16  # of a curve
_FOLDS = 4
_RANDOM_POINTS = 8  # of the random curve
_FEWEST = 20  # held-out answers that advice needs


@dataclasses.dataclass(frozen=True)
class LearningCurve:
    """Accuracies on the held-out answers.

    Attributes:
        labels (list[int]): numbers of answers that the classifier has learned from.
        accuracy (list[float]): accuracy on the held-out answers with each number.
        random_labels (list[int]): numbers of randomly drawn answers.
        random_accuracy (list[float]): accuracy with each of these numbers.
        held_out (int): number of held-out answers.
        changed (float): share of the held-out candidates whose prediction differs between the last number of labels and
            three quarters of it.
        advice (str): a sentence that says whether more labels are worth it.

    The random curve learns from items that were drawn at random only: the first ones and the held-out ones, which are
    predicted in folds. It is therefore shorter.
    """

    labels: list[int]
    accuracy: list[float]
    random_labels: list[int]
    random_accuracy: list[float]
    held_out: int
    changed: float
    advice: str


def measure_accuracy(probabilities: np.ndarray, targets: np.ndarray, is_multilabel: bool) -> float:
    """Return the share of correct predictions; for several classes per item, the share of correct (item, class)."""
    if is_multilabel:
        return float(((probabilities >= 0.5) == (targets >= 0.5)).mean())
    return float((probabilities.argmax(1) == targets.argmax(1)).mean())


class CurveMeasurement:
    """Measures learning curves. Classifiers of earlier calls are reused while their answers are the same.

    Args:
        classes (int): number of classes.
        is_multilabel (bool): True if an item can have several classes.
        candidates (numpy.ndarray): indices of the items that can be held out.
    """

    def __init__(self, classes: int, is_multilabel: bool, candidates: np.ndarray) -> None:
        self.classes, self.is_multilabel, self.candidates = classes, is_multilabel, candidates
        self._predictions = {}  # number of labels -> (hash of the answers, probabilities of the candidates)

    def clear(self) -> None:
        """Drop the classifiers. Called when the features change."""
        self._predictions.clear()

    def measure(
        self, features: np.ndarray, train: dict[int, np.ndarray], held_out: dict[int, np.ndarray], random: list[int]
    ) -> LearningCurve:
        """Return the learning curve.

        Args:
            features (numpy.ndarray): (items, size).
            train (dict): index of the item -> target, the answers that are learned from, in their order.
            held_out (dict): index of the item -> target, the held-out answers.
            random (list[int]): indices of `train` that were drawn at random.
        """
        counts = _choose_counts(len(train)) if held_out else []
        items, targets = list(train), list(train.values())
        position = {int(index): row for row, index in enumerate(self.candidates)}
        rows, truth = [position[index] for index in held_out], np.array(list(held_out.values()))
        accuracy, head = [], LogisticHead(self.classes, self.is_multilabel)
        for count in counts:
            predictions = self._predict(features, items[:count], targets[:count], head)
            accuracy.append(measure_accuracy(predictions[rows], truth, self.is_multilabel))
        random_labels, random_accuracy = self._measure_random(features, train, held_out, random)
        changed = self._measure_change(features, items, targets, head) if counts else 1.0
        advice = describe_advice(counts, accuracy, len(held_out), len(self.candidates), changed)
        return LearningCurve(counts, accuracy, random_labels, random_accuracy, len(held_out), changed, advice)

    def _predict(self, features, items, targets, head):
        """Return the predictions for all held-out candidates after the first answers."""
        count, key = len(items), hash((tuple(items), np.array(targets).tobytes()))
        if self._predictions.get(count, (None,))[0] != key:
            head.fit(features[items], np.array(targets))
            self._predictions[count] = key, head.predict(features[self.candidates])
        return self._predictions[count][1]

    def _measure_change(self, features, items, targets, head):
        earlier = max(1, len(items) * 3 // 4)
        first = self._predict(features, items[:earlier], targets[:earlier], head)
        last = self._predict(features, items, targets, head)
        if self.is_multilabel:
            return float(((first >= 0.5) != (last >= 0.5)).mean())
        return float((first.argmax(1) != last.argmax(1)).mean())

    def _measure_random(self, features, train, held_out, random):
        if len(held_out) < 2 * _FOLDS:
            return [], []
        rng = np.random.default_rng(0)
        items, targets = np.array(list(held_out)), np.array(list(held_out.values()))
        start, start_targets = np.array(random, dtype=int), np.array([train[index] for index in random])
        folds = split_folds(len(items), _FOLDS, rng)
        most = len(start) + len(items) - max(map(len, folds))
        counts, accuracy = _choose_counts(most, _RANDOM_POINTS), []
        for count in counts:
            correct = []
            for fold in folds:
                rest = np.setdiff1d(np.arange(len(items)), fold)
                pool = np.concatenate([start, items[rest]])
                pool_targets = np.concatenate([start_targets.reshape(-1, self.classes), targets[rest]])
                chosen = rng.permutation(len(pool))[:count]
                head = LogisticHead(self.classes, self.is_multilabel).fit(features[pool[chosen]], pool_targets[chosen])
                predictions = head.predict(features[items[fold]])
                correct.append(measure_accuracy(predictions, targets[fold], self.is_multilabel))
            accuracy.append(float(np.mean(correct)))
        return counts, accuracy


def _choose_counts(most, points=_POINTS):
    """Return up to `points` numbers of labels and `most`. They stay the same while `most` grows a little."""
    step = 1
    while most // step > points:
        step *= 2
    return sorted({*range(step, most + 1, step), most} - {0})


def describe_advice(labels: list[int], accuracy: list[float], held_out: int, candidates: int, changed: float) -> str:
    """Return the advice: whether more labels are worth it, in one sentence with its numbers.

    `candidates` is the number of items that can be held out.

    To stop is advised if the last third of the labels has raised the held-out accuracy by less than one standard error
    of it, and less than 2 % of the predictions have changed over the last quarter.
    """
    if not candidates:
        return "No advice: no item is held out; see the argument 'held_out'."
    if held_out < _FEWEST:
        limit = f"; {candidates} items can be held out" if candidates < _FEWEST else ""
        return f"Go on: {held_out} held-out answers are too few to judge ({_FEWEST} are needed{limit})."
    if not labels or labels[-1] < 10:
        return f"Go on: the classifier has learned from {labels[-1] if labels else 0} answers only."
    earlier = max((k for k in range(len(labels)) if labels[k] <= labels[-1] * 2 / 3), default=0)
    gain, now = accuracy[-1] - accuracy[earlier], accuracy[-1]
    error = max(np.sqrt(now * (1 - now) / held_out), 1 / (held_out + 2))
    numbers = (
        f"the last {labels[-1] - labels[earlier]} labels changed the held-out accuracy by {100 * gain:+.1f} points to "
        f"{100 * now:.1f} % (standard error {100 * error:.1f}, {held_out} held-out answers), and {100 * changed:.1f} % "
        "of the predictions changed over the last quarter"
    )
    return f"You can stop: {numbers}." if gain < error and changed < 0.02 else f"Go on: {numbers}."
