"""The learning between answers: features, classifier, ranking and learning curve, computed on a thread."""

import dataclasses
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from msnb.labelling.acquisition import Candidates, Strategy
from msnb.labelling.features import (
    BATCH,
    measure_picture,
    measure_text,
    reduce_features,
    remove_last_dense,
    run_in_batches,
)
from msnb.labelling.kinds import LabelKind
from msnb.labelling.learning_curve import CurveMeasurement, LearningCurve
from msnb.labelling.logistic_head import LogisticHead
from msnb.labelling.pool import Pool

EMPTY_CURVE = LearningCurve([], [], [], [], 0, 1.0, "No advice: no answer is held out yet.")


@dataclasses.dataclass(frozen=True)
class Answers:
    """The answers at one moment.

    Attributes:
        train (dict): index of the item -> label, the answers that are learned from, in their order.
        held_out (dict): index of the item -> label, the answers that measure the accuracy.
        random (list[int]): indices of `train` that were drawn at random.
        unlabelled (numpy.ndarray): indices of the items that the strategy ranks.
    """

    train: dict[int, Any]
    held_out: dict[int, Any]
    random: list[int]
    unlabelled: np.ndarray


@dataclasses.dataclass(frozen=True)
class Ranking:
    """A result of learning.

    Attributes:
        order (numpy.ndarray): indices of items in the order of the questions.
        scores (numpy.ndarray): (items,), NaN for items that are not ranked.
        probabilities (numpy.ndarray): (items, classes).
        learned (int): number of answers that the classifier has learned from.
    """

    order: np.ndarray
    scores: np.ndarray
    probabilities: np.ndarray
    learned: int


class Learner:
    """Learns from the answers on a thread, and ranks the unlabelled items.

    Args:
        pool (Pool): the items.
        kind (LabelKind): the labels.
        net (Cell): network for the features. Default: None.
        features (Union[Callable, numpy.ndarray]): features, or a function of an item. Default: None.
        strategy (Strategy): the query strategy.
        held_out (numpy.ndarray): indices of the items that can be held out.
        seed (int): seed of the strategy.
        read_answers (Callable): function that returns the present `Answers`.
        report (Callable): function that is called after each result, on the thread.
    """

    def __init__(
        self,
        pool: Pool,
        kind: LabelKind,
        net: Any,
        features: Any,
        strategy: Strategy,
        held_out: np.ndarray,
        seed: int,
        read_answers: Callable[[], Answers],
        report: Callable[[], None],
    ) -> None:
        self.pool, self.kind, self.strategy, self.seed = pool, kind, strategy, seed
        self.ranking: Ranking | None = None
        self.curve = EMPTY_CURVE
        self.error: BaseException | None = None
        self.features: np.ndarray | None = None
        self.features_read = 0  # items whose features are computed
        self._net = remove_last_dense(net) if net is not None else None
        self._own_features = features
        self._head = LogisticHead(len(kind.classes), kind.is_multilabel)
        self._measurement = CurveMeasurement(len(kind.classes), kind.is_multilabel, held_out)
        self._read_answers, self._report = read_answers, report
        self._condition = threading.Condition()
        self._requested, self._done, self._measured, self._is_closed = 0, 0, 0, False
        self._thread = threading.Thread(target=self._run, name="msnb-label", daemon=True)
        self._thread.start()

    # ------------------------------------------------------------------ called by the session
    def request(self) -> None:
        """Ask for a new result. Requests that come while the thread learns are answered by one result."""
        with self._condition:
            self._requested += 1
            self._condition.notify_all()

    def wait(self, timeout: float | None = None, with_curve: bool = False) -> None:
        """Wait for the ranking after all requests, and with `with_curve` for the learning curve, too.

        Raises:
            TimeoutError: If that takes longer than `timeout` seconds.
            Exception: The error that has ended the learning.
        """
        with self._condition:
            target = self._requested
            is_done = self._condition.wait_for(
                lambda: (
                    (self._measured if with_curve else self._done) >= target
                    or self.error is not None
                    or self._is_closed
                ),
                timeout,
            )
        if self.error is not None:
            raise self.error
        if not is_done:
            raise TimeoutError(f"The learning has not ended within {timeout} s.")

    def replace_network(self, net: Any) -> None:
        """Compute the features again, with another network."""
        with self._condition:
            self._net = remove_last_dense(net)
            self.features = None
        self.request()

    def close(self) -> None:
        """End the thread after its present computation."""
        with self._condition:
            self._is_closed = True
            self._condition.notify_all()

    # ------------------------------------------------------------------ on the thread
    def _run(self):
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._requested > self._done or self._is_closed)
                if self._is_closed:
                    return
                target = self._requested
            measure_curve = None
            try:
                measure_curve = self._learn()
            except Exception as error:  # reported by `wait` and by the page; the answers are not affected
                self.error = error
            with self._condition:
                self._done = target
                self._condition.notify_all()
                is_latest = self._requested == target
            self._report()
            if is_latest:  # the curve can wait until the user does
                if measure_curve is not None:
                    measure_curve()
                with self._condition:
                    self._measured = target
                    self._condition.notify_all()
                self._report()

    def _learn(self):
        """Update the ranking. Return a function that measures the curve, None if there is nothing to measure."""
        net = self._net
        features = self.features
        if features is None:
            features = self._compute_features(net)
            self._measurement.clear()
            if net is self._net:
                self.features = features
        answers = self._read_answers()
        if not answers.train:
            self.ranking, self.curve = None, EMPTY_CURVE
            return None
        items = list(answers.train)
        targets = self.kind.to_targets(list(answers.train.values()))
        self._head.fit(features[items], targets)
        self.ranking = self._rank(features, answers, items)
        self.error = None
        return lambda: self._measure_curve(features, answers, targets)

    def _rank(self, features, answers, items):
        probabilities = self._head.predict(features)
        left = answers.unlabelled
        rng = np.random.default_rng([self.seed, len(items)])
        scores = np.full(len(features), np.nan)
        order = left
        if len(left):
            chosen = features[left]
            candidates = Candidates(
                probabilities[left],
                chosen,
                features[[*items, *answers.held_out]],
                lambda count: self._head.draw(chosen, count, rng),
                rng,
                self.kind.is_multilabel,
            )
            scores[left], ranked = self.strategy.rank(candidates)
            order = left[ranked]
        return Ranking(order, scores, probabilities, len(items))

    def _measure_curve(self, features, answers, targets):
        held_out = self.kind.to_targets(list(answers.held_out.values()))
        self.curve = self._measurement.measure(
            features,
            dict(zip(answers.train, targets, strict=True)),
            dict(zip(answers.held_out, held_out, strict=True)),
            answers.random,
        )

    def _compute_features(self, net):
        self.features_read = 0
        count, rows = len(self.pool), []
        if self._own_features is not None and not callable(self._own_features):
            rows = [np.asarray(self._own_features, np.float32)]
        elif self._own_features is not None:
            rows = self._measure_each(self._own_features)
        elif net is not None:
            read = lambda indices: np.stack([self.pool.net_input(index) for index in indices])  # noqa: E731
            for batch in run_in_batches(net, read, count):
                rows.append(batch)
                self._count_features(len(batch))
        elif self.pool.kind == "texts":
            rows = self._measure_each(measure_text, self.pool.raw)
        else:
            rows = self._measure_each(measure_picture, self.pool.picture)
        features = np.concatenate([np.reshape(row, (len(row), -1)) for row in rows])
        self.features_read = count
        return reduce_features(features)

    def _measure_each(self, measure, read=None):
        rows = []
        for first in range(0, len(self.pool), BATCH):
            indices = range(first, min(first + BATCH, len(self.pool)))
            values = [np.asarray(measure((read or self.pool.raw)(index)), np.float32).ravel() for index in indices]
            rows.append(np.stack(values))
            self._count_features(len(values))
        return rows

    def _count_features(self, count):
        if self._is_closed:
            raise InterruptedError("The session was closed.")
        self.features_read += count
        self._report()
