"""`ImageClassificationRunner`: explains a data set, scores the explainers, and writes both to files."""

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from msnb import log
from msnb._checkparam import check_value_type
from msnb.common.progress import Work
from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.dataset.engine.dataset import Dataset
from msnb.explainer._arguments import check_cell
from msnb.explainer._compiled import predict
from msnb.explainer._data_order import fixed_order
from msnb.explainer._progress import share_line
from msnb.explainer.benchmark._localization import Localization
from msnb.explainer.benchmark._metric import AttributionMetric, LabelAgnosticMetric, LabelSensitiveMetric
from msnb.explainer.explanation._attribution import Attribution
from msnb.explainer.explanation._rise import RISE
from msnb.formats.explanation_records import BenchmarkScore, ExplanationWriter, Inference
from msnb.nn.cell import Cell

_OWNER = "ImageClassificationRunner"
_THRESHOLD = 0.5  # a label with a larger probability is predicted


class _Batch(NamedTuple):
    """One batch of the data set.

    Attributes:
        images (numpy.ndarray): float32, (N, C, H, W).
        labels (list[list[int]]): True labels of each image.
        boxes (numpy.ndarray): (N, number of boxes, 4); `box_labels` (N, number of boxes) are their labels.
    """

    images: np.ndarray
    labels: list[list[int]]
    boxes: np.ndarray
    box_labels: np.ndarray

    def make_mask(self, index: int, label: int) -> np.ndarray:
        """Return the mask (1, 1, H, W) of the boxes of a label in an image."""
        mask = np.zeros((1, 1, *self.images.shape[2:]))
        for box, of_label in zip(self.boxes[index], self.box_labels[index], strict=True):
            if of_label == label:
                left, top, width, height = (max(int(number), 0) for number in box)
                mask[..., top : top + height, left : left + width] = 1
        return mask


class ImageClassificationRunner:
    """Explains the images of a data set and writes the results for MindInsight and `%ms_explain`.

    For each image the true labels, and those with a probability above 0.5, are explained by each explainer. Benchmarks
    score the explainers. The data set is read several times with the same seed, so its order may be random.

    Args:
        summary_dir (str): Folder to write to.
        data (tuple[Dataset, list[str]]): A data set with the columns [image], [image, label] or [image, label, bbox],
            and the names of all labels in the order of the network's outputs. An image is (C, H, W), or (N, C, H, W)
            in a batch. A label is an int, or several ints of one image, padded with -1. A box is (left, top, width,
            height) in pixels, one for each label.
        network (Cell): Network that returns logits (N, number of labels).
        activation_fn (Cell): Layer that turns logits into probabilities, such as nn.Softmax() or nn.Sigmoid().

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If the columns, the labels and the network do not fit together.

    Examples:
        >>> from mindspore.explainer import ImageClassificationRunner
        >>> from mindspore.explainer.benchmark import Faithfulness
        >>> from mindspore.explainer.explanation import Gradient
        >>> images = np.random.default_rng(1).random((4, 3, 8, 8), np.float32)
        >>> dataset = ds.NumpySlicesDataset((images, [0, 1, 0, 1]), ["image", "label"], shuffle=False).batch(2)
        >>> network = nn.SequentialCell([nn.Flatten(), nn.Dense(3 * 8 * 8, 2)])
        >>> runner = ImageClassificationRunner("explained", (dataset, ["cat", "dog"]), network, nn.Softmax())
        >>> runner.register_saliency([Gradient(network)], [Faithfulness(2, nn.Softmax())])
        >>> runner.run()  # doctest: +SKIP
    """

    def __init__(self, summary_dir: str, data: tuple[Dataset, list[str]], network: Cell, activation_fn: Cell):
        check_value_type("data", data, tuple, _OWNER)
        if len(data) != 2:
            raise ValueError(f"For '{_OWNER}', 'data' should be (data set, labels), but has {len(data)} elements.")
        self._dataset, self._labels = data
        check_value_type("data[0]", self._dataset, Dataset, _OWNER)
        check_value_type("data[1]", self._labels, list, _OWNER)
        check_value_type("summary_dir", summary_dir, str, _OWNER)
        check_cell("network", network, _OWNER)
        check_cell("activation_fn", activation_fn, _OWNER)
        self._summary_dir, self._network, self._activation_fn = summary_dir, network, activation_fn
        self._explainers: list[Attribution] = []
        self._benchmarkers: list[AttributionMetric] = []
        self._check_labels()
        self._check_data_and_network()

    def register_saliency(
        self, explainers: list[Attribution], benchmarkers: list[AttributionMetric] | None = None
    ) -> None:
        """Set the explainers and the benchmarks. This is possible once.

        Args:
            explainers (list[Attribution]): Explainers of different classes; their network is that of the runner.
            benchmarkers (list[AttributionMetric]): Benchmarks of different classes. Default: None.

        Raises:
            TypeError: If an argument is of another type.
            ValueError: If a class is repeated, a network or the number of labels differs, or Localization has no boxes.
            RuntimeError: If explainers are registered already.
        """
        benchmarkers = [] if benchmarkers is None else benchmarkers
        for name, values, kind in (
            ("explainers", explainers, Attribution),
            ("benchmarkers", benchmarkers, AttributionMetric),
        ):
            check_value_type(name, values, list, "register_saliency")
            for value in values:
                check_value_type(f"an element of {name}", value, kind, "register_saliency")
            classes = [type(value).__name__ for value in values]
            repeated = next((one for one in classes if classes.count(one) > 1), None)
            if repeated:
                raise ValueError(
                    f"For 'register_saliency', '{name}' should be of different classes, but {repeated} is repeated: "
                    "files and pages name them by class."
                )
        if not explainers:
            raise ValueError("For 'register_saliency', 'explainers' should have at least one explainer, but is empty.")
        if self._explainers:
            raise RuntimeError(
                "register_saliency was called before. Make another ImageClassificationRunner for other explainers."
            )
        for explainer in explainers:
            if explainer.network is not self._network:
                raise ValueError(
                    f"For 'register_saliency', the network of {type(explainer).__name__} should be the same object as "
                    "the network of the runner."
                )
        for benchmarker in benchmarkers:
            self._check_benchmarker(benchmarker)
        self._explainers, self._benchmarkers = explainers, benchmarkers

    def run(self) -> None:
        """Explain all images and write the results.

        Predictions are written first, then the maps of one explainer after the other with its scores. `%ms_explain`
        shows them while they are written. Ctrl-C stops; the results so far stay in the folder.

        Raises:
            ValueError: If no explainer is registered, or a row of the data set does not fit.
            OSError: If a file cannot be written.
            KeyboardInterrupt: At a Ctrl-C.
        """
        if not self._explainers:
            raise ValueError("For 'run', there is no explainer. Call register_saliency([...]) first.")
        with ExplanationWriter(self._summary_dir) as writer:
            names = [[type(each).__name__ for each in group] for group in (self._explainers, self._benchmarkers)]
            writer.write_metadata(self._labels, *names)
            try:
                labels_of_batches = self._write_predictions(writer)
                for explainer in self._explainers:
                    self._write_explanations(writer, explainer, labels_of_batches)
            except BaseException as error:
                with contextlib.suppress(OSError):  # of a full disk, for example, which is the error itself
                    writer.write_status("interrupted" if isinstance(error, KeyboardInterrupt) else "failed")
                raise
        print(f"{sum(map(len, labels_of_batches)):,} images are explained in {self._summary_dir}.")

    # ------------------------------------------------------------------ steps of a run
    def _write_predictions(self, writer):
        """Write images and probabilities. Return the labels that are explained, for each image of each batch."""
        labels_of_batches, sample_id, size = [], 0, 0
        with Work("predictions", unit="images") as work:
            for batch in self._read_batches():
                self._check_range(batch)
                size = size or len(batch.images)
                probabilities = predict(self._network, self._activation_fn, batch.images, size)
                explained = []
                for image, labels, row in zip(batch.images, batch.labels, probabilities, strict=True):
                    predicted = np.flatnonzero(row > _THRESHOLD).tolist()
                    writer.write_image(sample_id, image)
                    inference = Inference(_select(row, labels), tuple(predicted), _select(row, predicted))
                    writer.write_inference(sample_id, labels, inference)
                    explained.append(sorted({*labels, *predicted}))
                    sample_id += 1
                labels_of_batches.append(explained)
                work.step(len(explained))
        n_without = sum(not labels for explained in labels_of_batches for labels in explained)
        if n_without:
            log.warning(
                "%d of %d images have neither a true label nor a probability above %s, so they have no map.",
                n_without,
                sample_id,
                _THRESHOLD,
            )
        return labels_of_batches

    def _write_explanations(self, writer, explainer, labels_of_batches):
        """Write the maps of one explainer, and its scores."""
        name, sample_id = type(explainer).__name__, 0
        for benchmarker in self._benchmarkers:
            benchmarker.reset()
        size = max(map(len, labels_of_batches))
        work, counts_steps = self._make_line(explainer, labels_of_batches, size)
        with work:
            for batch, labels in zip(self._read_batches(), labels_of_batches, strict=True):
                with share_line(work if counts_steps else None):
                    maps = _explain(explainer, batch.images, labels, size)
                for index, of_image in enumerate(maps):
                    if of_image:
                        writer.write_explanations(sample_id, {(name, label): m[0, 0] for label, m in of_image.items()})
                    with share_line(None):
                        self._score(explainer, batch, index, of_image)
                    sample_id += 1
                    if not counts_steps:
                        work.step()
        if self._benchmarkers:
            writer.write_scores([_make_score(benchmarker, name) for benchmarker in self._benchmarkers])

    def _make_line(self, explainer, labels_of_batches, size):
        """Return the progress line of an explainer, and True if it counts the steps of the explainer, not images."""
        name = type(explainer).__name__
        steps_of_call = explainer._count_steps(size, *self._image_size)
        if not steps_of_call:
            return Work(name, sum(map(len, labels_of_batches)), "images"), False
        if isinstance(explainer, RISE):
            n_calls = sum(map(any, labels_of_batches))
        else:
            n_calls = sum(-(-sum(map(len, labels)) // size) for labels in labels_of_batches)
        return Work(name, n_calls * steps_of_call, explainer._unit), True

    def _score(self, explainer, batch, index, maps):
        """Let each benchmark score the maps of one image."""
        image = Tensor(batch.images[index : index + 1])
        for benchmarker in self._benchmarkers:
            if isinstance(benchmarker, LabelAgnosticMetric):
                benchmarker.aggregate(benchmarker.evaluate(explainer, image))
                continue
            for label, saliency in maps.items():
                options: dict[str, Any] = {"saliency": Tensor(saliency)}
                if isinstance(benchmarker, Localization):
                    if label not in batch.labels[index]:
                        continue
                    options["mask"] = batch.make_mask(index, label)
                benchmarker.aggregate(benchmarker.evaluate(explainer, image, targets=label, **options), label)

    # ------------------------------------------------------------------ data
    def _read_batches(self) -> Iterator[_Batch]:
        """Yield the batches of the data set, in the same order in each pass."""
        with fixed_order():
            for row in self._dataset.create_tuple_iterator(num_epochs=1, output_numpy=True):
                yield self._read_batch(row)

    def _read_batch(self, row):
        if not 1 <= len(row) <= 3:
            raise ValueError(
                f"For '{_OWNER}', the data set should have the columns [image], [image, label] or [image, label, "
                f"bbox], but it has {len(row)} columns. dataset.project(columns) selects some."
            )
        images, *others = row
        if images.ndim not in (3, 4) or images.shape[-3] not in (1, 3, 4):
            raise ValueError(
                f"For '{_OWNER}', an image should be (C, H, W) or (N, C, H, W) with C 1, 3 or 4, but its shape is "
                f"{images.shape}."
            )
        if images.ndim == 3:
            images, *others = (column[None] for column in row)
        n_images = len(images)
        labels = self._read_labels(others[0], n_images) if others else np.zeros((n_images, 0), np.int64)
        boxes = self._read_boxes(others[1], labels) if len(others) > 1 else np.zeros((n_images, 0, 4))
        true_labels = [sorted({int(label) for label in of_image if label >= 0}) for of_image in labels]
        return _Batch(images.astype(np.float32), true_labels, boxes, labels)

    def _read_labels(self, labels, n_images):
        """Return the labels as integers (N, number of labels); -1 is no label."""
        if not np.issubdtype(labels.dtype, np.integer) or labels.size % n_images:
            raise ValueError(
                f"For '{_OWNER}', the second column should be integers (N,) or (N, number of labels), but it is "
                f"{labels.dtype} {labels.shape}."
            )
        return np.maximum(labels.reshape(n_images, -1).astype(np.int64), -1)

    def _read_boxes(self, boxes, labels):
        """Return the boxes as (N, number of boxes, 4)."""
        if boxes.shape[-1:] != (4,):
            raise ValueError(
                f"For '{_OWNER}', the third column should be boxes (N, number of boxes, 4), but its shape is "
                f"{boxes.shape}."
            )
        boxes = boxes.reshape(len(labels), -1, 4)
        if boxes.shape[:2] != labels.shape:
            raise ValueError(
                f"For '{_OWNER}', an image should have a label for each box, but it has {labels.shape[1]} labels and "
                f"{boxes.shape[1]} boxes."
            )
        return boxes

    # ------------------------------------------------------------------ checks
    def _check_range(self, batch):
        largest = max((label for of_image in batch.labels for label in of_image), default=-1)
        if largest >= len(self._labels):
            raise ValueError(
                f"For '{_OWNER}', the labels of the data set should be from 0 to {len(self._labels) - 1}, but one is "
                f"{largest}."
            )

    def _check_labels(self):
        for index, label in enumerate(self._labels):
            if not isinstance(label, str):
                raise ValueError(f"For '{_OWNER}', each label should be a str, but label {index} is {describe(label)}.")
            if not label.strip():
                raise ValueError(f"For '{_OWNER}', label {index} should be a name, but is {label!r}.")
        repeated = next((label for label in self._labels if self._labels.count(label) > 1), None)
        if repeated is not None:
            raise ValueError(f"For '{_OWNER}', the labels should be unique, but {repeated!r} is repeated.")

    def _check_data_and_network(self):
        first = next(self._read_batches(), None)
        if first is None:
            raise ValueError(f"For '{_OWNER}', the data set should have images, but it is empty.")
        self._has_boxes, self._image_size = first.boxes.size > 0, first.images.shape[2:]
        n_outputs = predict(self._network, self._activation_fn, first.images[:1]).shape[1]
        if n_outputs != len(self._labels):
            raise ValueError(
                f"For '{_OWNER}', there should be a label for each of the {n_outputs} outputs of the network, but "
                f"there are {len(self._labels)} labels."
            )
        self._check_range(first)

    def _check_benchmarker(self, benchmarker):
        name = type(benchmarker).__name__
        if isinstance(benchmarker, LabelSensitiveMetric) and benchmarker.num_labels != len(self._labels):
            raise ValueError(
                f"For 'register_saliency', 'num_labels' of {name} should be {len(self._labels)} as in the runner, but "
                f"it is {benchmarker.num_labels}."
            )
        if isinstance(benchmarker, Localization) and not self._has_boxes:
            raise ValueError(
                "For 'register_saliency', Localization needs boxes: the data set should have the columns "
                "[image, label, bbox]."
            )


def _explain(explainer, images, labels, size):
    """Return {label: map (1, 1, H, W)} for each image. All calls have `size` images, so one program computes them."""
    maps: list[dict[int, np.ndarray]] = [{} for _ in images]
    if isinstance(explainer, RISE):
        width = max(map(len, labels), default=0)
        if not width:
            return maps
        padded = [[*of_image, *[0] * (width - len(of_image))] for of_image in labels]
        results = explainer(Tensor(images), Tensor(np.array(padded, np.int32))).asnumpy()
        for index, of_image in enumerate(labels):
            maps[index] = {label: results[index : index + 1, k : k + 1] for k, label in enumerate(of_image)}
        return maps
    pairs = [(index, label) for index, of_image in enumerate(labels) for label in of_image]
    for start in range(0, len(pairs), size):
        chunk = pairs[start : start + size]
        indices, targets = np.array((chunk + chunk[:1] * size)[:size]).T
        results = explainer(Tensor(images[indices]), Tensor(targets.astype(np.int32))).asnumpy()
        for (index, label), result in zip(chunk, results, strict=False):
            maps[index][label] = result[None]
    return maps


def _select(probabilities, labels):
    return tuple(float(probabilities[label]) for label in labels)


def _make_score(benchmarker, explainer_name):
    scores = benchmarker.class_performances if isinstance(benchmarker, LabelSensitiveMetric) else ()
    return BenchmarkScore(type(benchmarker).__name__, explainer_name, benchmarker.performance, tuple(scores))
