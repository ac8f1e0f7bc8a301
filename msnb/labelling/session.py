"""`Session`: which item is asked next, the answers and their file, suggestions, faults and exports."""

import dataclasses
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from msnb import log
from msnb.labelling.acquisition import find_strategy
from msnb.labelling.answer_log import AnswerLog, Record
from msnb.labelling.exports import export, to_dataset
from msnb.labelling.features import describe_features
from msnb.labelling.kinds import LabelKind
from msnb.labelling.label_faults import find_label_faults, split_folds
from msnb.labelling.learner import Answers, Learner
from msnb.labelling.learning_curve import LearningCurve
from msnb.labelling.logistic_head import LogisticHead
from msnb.labelling.net_training import train_network
from msnb.labelling.pool import Pool, open_pool
from msnb.nn.cell import Cell

_MOST_HELD_OUT = 500
_FOLDS = 5
_FEWEST_FOR_FAULTS = 10


@dataclasses.dataclass(frozen=True)
class Item:
    """One item of a session.

    Attributes:
        index (int): position in the pool.
        name (str): name in the file of answers: the path of a file, or the position.
        drawn (str): "held-out", "random", or the strategy that has chosen it.
        suggestion (Any): the label that the classifier predicts. None before the first result, for boxes, and for
            held-out items, whose answers must not depend on the classifier.
        probability (float): probability of the suggestion. None without a suggestion.
    """

    index: int
    name: str
    drawn: str
    suggestion: Any = None
    probability: float | None = None


@dataclasses.dataclass(frozen=True)
class Fault:
    """A suspected label fault.

    Attributes:
        index (int): position in the pool.
        name (str): name of the item.
        label (Any): the present label.
        suggestion (Any): the label that the classifier is confident of.
        probability (float): out-of-fold probability of the present label; small is suspicious.
    """

    index: int
    name: str
    label: Any
    suggestion: Any
    probability: float


class Session:
    """A labelling session. `msnb.label` returns one with a page.

    Args:
        images (Any): the pictures or texts, as for `msnb.label`.
        classes (Sequence[str]): names of the classes.
        net (Cell): network whose features the classifier uses. Default: None.
        strategy (Union[str, Callable]): the query strategy. Default: "margin".
        keep (Union[str, Path]): the file of answers. Default: "labels.csv".
        kind (str): "class", "classes", "boxes" or "text". Default: "class".
        features (Union[numpy.ndarray, Callable]): features, or a function of an item. Default: None.
        transform (Callable): function of a picture that returns the network's input. Default: None.
        held_out (float): share of the answers that measure the accuracy. Default: 0.2.
        seed (int): seed of the random draws. Default: 0.
    """

    def __init__(
        self,
        images: Any,
        classes: Sequence[str],
        net: Cell | None = None,
        strategy: str | Callable[..., Any] = "margin",
        keep: str | Path = "labels.csv",
        kind: str = "class",
        features: Any = None,
        transform: Callable[..., Any] | None = None,
        held_out: float = 0.2,
        seed: int = 0,
    ) -> None:
        self.kind = LabelKind(kind, classes)
        self.strategy = find_strategy(strategy)
        _check_options(net, features, transform, held_out, seed, kind)
        self.pool: Pool = open_pool(images, kind == "text", transform)
        if isinstance(features, np.ndarray) and len(features) != len(self.pool):
            raise ValueError(
                f"For 'label', 'features' should have {len(self.pool)} rows, one per item, but has {len(features)}."
            )
        self.net, self.held_out = net, held_out
        self.features_description: str = (
            "the features that were passed" if features is not None else describe_features(net, kind == "text")
        )
        self._lock = threading.RLock()
        self._labels: dict[int, Any] = {}
        self._skipped: dict[int, None] = {}
        self._drawn: dict[int, str] = {}
        self._answered_again: set[int] = set()
        self._history: list[tuple[int, Any]] = []  # (index, state before the action)
        self._current: Item | None = None
        self._training: threading.Thread | None = None
        order = np.random.default_rng(seed).permutation(len(self.pool))
        count = min(_MOST_HELD_OUT, round(held_out * len(self.pool)))
        self._held_out_order, self._random_order = order[:count], order[count:]
        self._is_candidate = np.ones(len(self.pool), bool)
        self._is_candidate[self._held_out_order] = False
        self._log = AnswerLog(keep)
        try:
            for record in self._log.records:
                self._replay(record)
        except BaseException:
            self._log.close()
            raise
        self._learner = Learner(
            self.pool, self.kind, net, features, self.strategy, self._held_out_order, seed, self._read_answers,
            self._report,
        )  # fmt: skip
        self._learner.request()

    # ------------------------------------------------------------------ state
    @property
    def keep(self) -> Path:
        """The file of answers."""
        return self._log.path

    @property
    def answers(self) -> dict[int, Any]:
        """The answers: {index of the item: label}, in the order in which they came."""
        with self._lock:
            return dict(self._labels)

    @property
    def scores(self) -> np.ndarray:
        """The strategy's score of each item; NaN for answered, skipped and held-out items, and before the first result.

        The result belongs to the last learning; call `wait` first for the scores after the last answer.
        """
        ranking = self._learner.ranking
        return np.full(len(self.pool), np.nan) if ranking is None else ranking.scores.copy()

    @property
    def probabilities(self) -> np.ndarray | None:
        """The predictions for all items, (items, classes). None before the first result."""
        ranking = self._learner.ranking
        return None if ranking is None else ranking.probabilities

    @property
    def features_read(self) -> int:
        """The number of items whose features are computed."""
        return self._learner.features_read

    @property
    def is_training(self) -> bool:
        """True while `train_net` trains the network."""
        return self._training is not None and self._training.is_alive()

    @property
    def error(self) -> BaseException | None:
        """The error of the last learning, None if there was none."""
        return self._learner.error

    def item(self, index: int) -> Item:
        """Return an item of the pool.

        Raises:
            IndexError: If there is no such item.
        """
        if isinstance(index, bool) or not 0 <= index < len(self.pool):
            raise IndexError(f"There is no item {index!r}; the {len(self.pool)} items are numbered from 0.")
        return self._describe_item(int(index), self._drawn.get(int(index), "user"))

    # ------------------------------------------------------------------ questions
    def next(self) -> Item | None:
        """Return the item to label next, None if every item is answered or skipped.

        The same item is returned until it is answered or skipped. Learning goes on in the background; the item comes
        from its last result.
        """
        with self._lock:
            if self._current is None or self._is_done(self._current.index):
                self._current = self._choose()
            elif self._current.suggestion is None and self._learner.ranking is not None:
                self._current = self._describe_item(self._current.index, self._current.drawn)
            return self._current

    def _choose(self):
        held_out = sum(drawn == "held-out" for index, drawn in self._drawn.items() if index in self._labels)
        if self.held_out and held_out + 1 <= self.held_out * (len(self._labels) + 1):
            index = self._first_open(self._held_out_order)
            if index is not None:
                return self._describe_item(index, "held-out")
        ranking, learned = self._learner.ranking, len(self._labels) - held_out
        if ranking is not None and learned >= len(self.kind.classes):
            index = self._first_open(ranking.order)
            if index is not None:
                return self._describe_item(index, self.strategy.name)
        for order, drawn in ((self._random_order, "random"), (self._held_out_order, "held-out")):
            index = self._first_open(order)
            if index is not None:
                return self._describe_item(index, drawn)
        return None

    def _first_open(self, order):
        return next((int(index) for index in order if not self._is_done(int(index))), None)

    def _is_done(self, index):
        return index in self._labels or index in self._skipped

    def _describe_item(self, index, drawn):
        suggestion = probability = None
        ranking = self._learner.ranking if hasattr(self, "_learner") else None
        if ranking is not None and drawn != "held-out" and self.kind.kind != "boxes":
            row = ranking.probabilities[index]
            suggestion = self._predict_label(row)
            probability = float(np.where(row >= 0.5, row, 1 - row).prod() if self.kind.is_multilabel else row.max())
        return Item(index, self.pool.names[index], drawn, suggestion, probability)

    def _predict_label(self, row):
        if self.kind.is_multilabel:
            return [name for name, p in zip(self.kind.classes, row, strict=True) if p >= 0.5]
        return self.kind.classes[int(row.argmax())]

    def batch(self, label: str, count: int = 12) -> list[Item]:
        """Return unanswered items that are predicted as one class, the most likely first, to label them together.

        Args:
            label (str): the class.
            count (int): number of items. Default: 12.

        Returns:
            list[Item], fewer if there are fewer; empty before the first result.

        Raises:
            ValueError: If the class is unknown, or items have boxes.
        """
        if self.kind.kind == "boxes":
            raise ValueError("For 'batch', the kind should not be 'boxes': each picture has boxes of its own.")
        [column] = np.flatnonzero(self.kind.to_targets([self._as_label(label)])[0])
        with self._lock:
            ranking = self._learner.ranking
            if ranking is None:
                return []
            is_open = self._is_candidate.copy()
            is_open[[*self._labels, *self._skipped]] = False
            likely = ranking.probabilities[:, column]
            is_open &= likely >= 0.5 if self.kind.is_multilabel else ranking.probabilities.argmax(1) == column
            chosen = [int(index) for index in np.argsort(-likely, kind="stable") if is_open[index]][:count]
            return [self._describe_item(index, "batch") for index in chosen]

    def _as_label(self, name):
        return self.kind.check([name] if self.kind.is_multilabel else name)

    # ------------------------------------------------------------------ answers
    def answer(self, item: Item | int, label: Any) -> None:
        """Record an answer. It is on the disk when this returns. A second answer replaces the first.

        Args:
            item (Union[Item, int]): the item, or its index.
            label (Any): a class (name or index); a list of classes; or a list of boxes
                ``[class, left, top, width, height]`` in pixels.

        Raises:
            IndexError: If there is no such item.
            TypeError: If `label` has another form.
            ValueError: If a class is unknown, a box leaves its picture, or the session is closed.
        """
        self.answer_all([item], label)

    def answer_all(self, items: Sequence[Item | int], label: Any) -> None:
        """Record one label for several items, as in "all these are cats"."""
        label = self.kind.check(label)
        with self._lock:
            chosen = [self._resolve(item) for item in items]
            for index, drawn in chosen:
                self._check_boxes(index, label)
                self._record(index, drawn, "answer", label)
        self._learner.request()

    def skip(self, item: Item | int) -> None:
        """Skip an item: it is not asked again. `answer` can still label it."""
        with self._lock:
            self._record(*self._resolve(item), "skip", None)
        self._learner.request()

    def undo(self) -> Item | None:
        """Take back the last answer or skip, and return its item, which `next` then returns. None if there is none."""
        with self._lock:
            if not self._history:
                return None
            index = self._history[-1][0]
            self._log.append(Record(self.pool.names[index], "undo"))
            drawn = self._drawn[index]
            self._take_back()
            item = self._describe_item(index, drawn)
            if not self._is_done(index):
                self._current = item
        self._learner.request()
        return item

    def _resolve(self, item):
        if isinstance(item, Item):
            return self.item(item.index).index, item.drawn
        index = self.item(item).index
        if self._current is not None and self._current.index == index:
            return index, self._current.drawn
        return index, self._drawn.get(index) or ("user" if self._is_candidate[index] else "held-out")

    def _check_boxes(self, index, label):
        if self.kind.kind != "boxes":
            return
        height, width = self.pool.picture(index).shape[:2]
        for name, left, top, box_width, box_height in label:
            if left + box_width > width + 0.5 or top + box_height > height + 0.5:
                raise ValueError(
                    f"For 'answer', the box of '{name}' should lie in the picture of {width} x {height} pixels, but "
                    f"is {[left, top, box_width, box_height]}."
                )

    def _record(self, index, drawn, action, label):
        text = self.kind.to_text(label) if action == "answer" else ""
        self._log.append(Record(self.pool.names[index], action, text, drawn, self.pool.digest(index)))
        self._apply(index, drawn, action, label)

    def _apply(self, index, drawn, action, label):
        is_again = index in self._answered_again
        before = (self._labels.get(index), index in self._skipped, self._drawn.get(index), is_again)
        self._history.append((index, before))
        if action == "answer":
            if self._labels.pop(index, None) is not None:
                self._answered_again.add(index)
                drawn = self._drawn[index]
            self._skipped.pop(index, None)
            self._labels[index] = label
        else:
            self._labels.pop(index, None)
            self._skipped[index] = None
        self._drawn[index] = drawn

    def _take_back(self):
        index, (label, is_skipped, drawn, is_again) = self._history.pop()
        self._labels.pop(index, None)
        self._skipped.pop(index, None)
        self._drawn.pop(index, None)
        if not is_again:
            self._answered_again.discard(index)
        if label is not None:
            self._labels[index] = label
        if is_skipped:
            self._skipped[index] = None
        if drawn is not None:
            self._drawn[index] = drawn

    def _replay(self, record):
        index = self.pool.index_by_name.get(record.name)
        if index is None or record.digest not in ("", self.pool.digest(index)):
            if index is None and self.pool.kind == "files":
                log.warning(f"'{self.keep}' has an answer for '{record.name}', which is not among the pictures.")
                return
            problem = "is not among the items" if index is None else "has another content now"
            raise ValueError(
                f"For 'label', item {record.name} of '{self.keep}' {problem}. Pass the items of the first session, or "
                "another file as 'keep'."
            )
        if record.action == "undo":
            if self._history:
                self._take_back()
            return
        try:
            label = self.kind.of_text(record.label) if record.action == "answer" else None
        except ValueError as error:
            raise ValueError(
                f"For 'label', the answer for '{record.name}' in '{self.keep}' does not fit kind '{self.kind.kind}' "
                f"and classes {', '.join(self.kind.classes)}: {error}"
            ) from None
        self._apply(index, record.drawn, record.action, label)

    # ------------------------------------------------------------------ learning
    def _read_answers(self):
        with self._lock:
            held_out = {i: label for i, label in self._labels.items() if not self._is_candidate[i]}
            train = {i: label for i, label in self._labels.items() if self._is_candidate[i]}
            is_open = self._is_candidate.copy()
            is_open[[*self._labels, *self._skipped]] = False
            random = [i for i in train if self._drawn[i] == "random"]
            return Answers(train, held_out, random, np.flatnonzero(is_open))

    def _report(self):
        """Called on the learning thread after each result. A page overrides it."""

    def wait(self, timeout: float | None = None) -> Self:
        """Wait until learning and training have caught up with the answers, and return the session.

        Raises:
            TimeoutError: If that takes longer than `timeout` seconds.
            Exception: The error of the learning, such as one of the network or of the strategy.
        """
        training, start = self._training, time.monotonic()
        if training is not None:
            training.join(timeout)
        left = None if timeout is None else max(0.0, timeout - (time.monotonic() - start))
        self._learner.wait(left)
        return self

    def train_net(self, epochs: int = 5, learning_rate: float = 1e-3, batch_size: int = 32) -> None:
        """Train the network with the answers on a thread; then copy the weights to `net` and compute its features anew.

        Adam trains a copy, so `net` can be used meanwhile. Labelling goes on.

        Args:
            epochs (int): number of epochs. Default: 5.
            learning_rate (float): learning rate. Default: 1e-3.
            batch_size (int): examples per step. Default: 32.

        Raises:
            ValueError: If the session has no network, or there is no answer to learn from.
            RuntimeError: If a training is running.
        """
        net, answers = self.net, self._read_answers()
        if net is None:
            raise ValueError("For 'train_net', the session should have a network: msnb.label(images, classes, net).")
        if not answers.train:
            raise ValueError("For 'train_net', there should be at least one answer that is not held out.")
        if self.is_training:
            raise RuntimeError("A training of this session is running; session.wait() waits for it.")
        items, targets = list(answers.train), self.kind.to_targets(list(answers.train.values()))

        def run():
            try:
                inputs = np.stack([self.pool.net_input(index) for index in items])
                train_network(net, inputs, targets, self.kind.is_multilabel, epochs, learning_rate, batch_size)
                self._learner.replace_network(net)
            except Exception as error:  # `wait` raises it
                self._learner.error = error
            self._report()

        self._training = threading.Thread(target=run, name="msnb-label-training", daemon=True)
        self._training.start()

    def curve(self) -> LearningCurve:
        """Return the accuracy on the held-out answers against the number of labels, beside that of random labels.

        Its `advice` says whether more labels are worth it. It waits until learning has caught up.
        """
        self.wait()
        self._learner.wait(with_curve=True)
        return self._learner.curve

    @property
    def last_curve(self) -> LearningCurve:
        """The last learning curve, without waiting."""
        return self._learner.curve

    def faults(self) -> list[Fault]:
        """Return suspected label faults, most suspicious first; empty with fewer than 10 answers.

        A classifier that was not trained on the item is confident of another label. `answer` corrects or confirms
        it: an item that was answered again is not suspected again.

        Raises:
            ValueError: If the kind is "boxes".
        """
        if self.kind.kind == "boxes":
            raise ValueError("For 'faults', the kind should not be 'boxes': positions of boxes are not predicted.")
        self.wait()
        features = self._learner.features
        with self._lock:
            items, labels = list(self._labels), list(self._labels.values())
            confirmed = set(self._answered_again)
        if len(items) < _FEWEST_FOR_FAULTS or features is None:
            return []
        targets = self.kind.to_targets(labels)
        probabilities = self._predict_out_of_fold(features[items], targets)
        if self.kind.is_multilabel:
            suspects = self._find_faults_of_classes(targets, probabilities)
        else:
            rows = zip(*find_label_faults(targets.argmax(1), probabilities), strict=True)
            suspects = [(int(k), self.kind.classes[c], float(p)) for k, c, p in rows]
        return [
            Fault(items[k], self.pool.names[items[k]], labels[k], suggestion, probability)
            for k, suggestion, probability in suspects
            if items[k] not in confirmed
        ]

    def _predict_out_of_fold(self, features, targets):
        probabilities = np.zeros(targets.shape)
        rng = np.random.default_rng(0)
        for fold in split_folds(len(targets), _FOLDS, rng):
            rest = np.setdiff1d(np.arange(len(targets)), fold)
            head = LogisticHead(targets.shape[1], self.kind.is_multilabel).fit(features[rest], targets[rest])
            probabilities[fold] = head.predict(features[fold])
        return probabilities

    def _find_faults_of_classes(self, targets, probabilities):
        """Return (row, suggestion, probability) of items with several classes, tested class by class."""
        suspects = {}
        for k in range(targets.shape[1]):
            pair = np.stack([1 - probabilities[:, k], probabilities[:, k]], 1)
            for row, _, own in zip(*find_label_faults(targets[:, k].astype(int), pair), strict=True):
                suspects[int(row)] = min(float(own), suspects.get(int(row), 1.0))
        ordered = sorted(suspects.items(), key=lambda pair: pair[1])
        return [(row, self._predict_label(probabilities[row]), own) for row, own in ordered]

    # ------------------------------------------------------------------ results
    def dataset(self, part: str = "all") -> Any:
        """Return the answered items as a Dataset for `Model.train`; `batch` comes next.

        Columns: "image" (float32, as the network gets it) and "label": int32 for "class", float32 of 0 and 1 per class
        for "classes". For "boxes", "image", "boxes" (left, top, width, height) and "label" per box. For "text", "text"
        and "label".

        Args:
            part (str): "all", "train" (without held-out answers) or "held-out". Default: "all".

        Raises:
            ValueError: If `part` is another str, or has no answer.
        """
        return to_dataset(self.pool, self.kind, self._select(part))

    def _select(self, part):
        answers = self._read_answers()
        labels = {"all": self.answers, "train": answers.train, "held-out": answers.held_out}
        if part not in labels:
            raise ValueError(f"For 'dataset', 'part' should be 'all', 'train' or 'held-out', but got {part!r}.")
        if not labels[part]:
            raise ValueError(f"The session has no answer yet in part '{part}'.")
        return labels[part]

    def export(self, path: str | Path, format: str | None = None) -> Path:
        """Write the answered items.

        Args:
            path (Union[str, Path]): a file or folder. Without `format` its suffix selects it: .csv, .json (COCO),
                .mindrecord; no suffix: a folder with one folder per class.
            format (str): "csv", "coco", "mindrecord" or "imagefolder". Default: None.

        Returns:
            Path.

        Raises:
            ValueError: If there is no answer, or the format does not fit the kind.
            FileExistsError: If `path` is a folder with content.
        """
        return export(self.pool, self.kind, self._select("all"), Path(path), format)

    # ------------------------------------------------------------------ end
    def close(self) -> None:
        """End the session: its file can be opened by another. A second call has no effect."""
        self._learner.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        with self._lock:
            done, skipped = len(self._labels), len(self._skipped)
        text = f"{done} of {len(self.pool)} items labelled, {skipped} skipped, in '{self.keep}'"
        curve = self._learner.curve
        return f"{text}; {100 * curve.accuracy[-1]:.1f} % of {curve.held_out} held-out" if curve.accuracy else text


def _check_options(net, features, transform, held_out, seed, kind):
    if net is not None and not isinstance(net, Cell):
        raise TypeError(f"For 'label', 'net' should be a Cell, but got {type(net).__name__}.")
    if net is not None and features is not None:
        raise ValueError("For 'label', pass either 'net' or 'features': both give the classifier its features.")
    if net is not None and kind == "text":
        raise ValueError(
            "For 'label', 'net' takes pictures. For texts, pass 'features': an array (items, size), or a function of a "
            "text that runs the network."
        )
    if features is not None and not callable(features) and not isinstance(features, np.ndarray):
        raise TypeError(
            f"For 'label', 'features' should be a numpy array or a function of an item, but got "
            f"{type(features).__name__}."
        )
    if transform is not None and not callable(transform):
        raise TypeError(f"For 'label', 'transform' should be a function, but got {type(transform).__name__}.")
    if transform is not None and kind == "text":
        raise ValueError("For 'label', 'transform' changes pictures and has no effect on texts; omit it.")
    if isinstance(held_out, bool) or not isinstance(held_out, (int, float)) or not 0 <= held_out <= 0.5:
        raise ValueError(f"For 'label', 'held_out' should be a share from 0 to 0.5, but got {held_out!r}.")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"For 'label', 'seed' should be an int of at least 0, but got {seed!r}.")
