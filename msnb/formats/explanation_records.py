"""MindInsight's explanation files (``..._explain``): predictions, saliency maps and their scores.

A folder of MindSpore's explainer has an event file and the pictures that its events name:

- ``events.out.events.summary.T.HOST_explain``: events with an `Explain` message each, the labels first;
- ``_explain_T/origin_images/0/7.jpg``: the picture of sample 7, at most 1,000 in a folder;
- ``_explain_T/heatmap/GradCAM/0/7_2.jpg``: the grey saliency map of sample 7 for label 2.

A folder can have several such files. The newest one is read, as by MindInsight. A file may be read while it is written.
"""

import os
import platform
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from msnb._util.atomic_file import writing
from msnb.formats import protobuf
from msnb.formats.event_records import frame
from msnb.formats.summary_events import Event, EventDecoder, events, explain_event
from msnb.formats.text_files import BadFileError

_SCHEMA = {
    "Explain": {
        "sample_id": (1, "int", False),
        "image_path": (2, "str", False),
        "ground_truth_label": (3, "int", True),
        "inference": (4, "Inference", False),
        "explanation": (5, "Explanation", True),
        "benchmark": (6, "Benchmark", True),
        "metadata": (7, "Metadata", False),
        "status": (8, "str", False),
    },
    "Inference": {
        "ground_truth_prob": (1, "float", True),
        "predicted_label": (2, "int", True),
        "predicted_prob": (3, "float", True),
        "ground_truth_prob_sd": (4, "float", True),
        "ground_truth_prob_itl95_low": (5, "float", True),
        "ground_truth_prob_itl95_hi": (6, "float", True),
        "predicted_prob_sd": (7, "float", True),
        "predicted_prob_itl95_low": (8, "float", True),
        "predicted_prob_itl95_hi": (9, "float", True),
    },
    "Explanation": {
        "explain_method": (1, "str", False),
        "label": (2, "int", False),
        "heatmap_path": (3, "str", False),
    },
    "Benchmark": {
        "benchmark_method": (1, "str", False),
        "explain_method": (2, "str", False),
        "total_score": (3, "float", False),
        "label_score": (4, "float", True),
    },
    "Metadata": {
        "label": (1, "str", True),
        "explain_method": (2, "str", True),
        "benchmark_method": (3, "str", True),
    },
}
_FILE = re.compile(r"summary\.(\d+).*_explain$")
_SAMPLES_PER_FOLDER = 1000
_FOLDER_MODE, _FILE_MODE = 0o750, 0o600


@dataclass(frozen=True)
class Inference:
    """Probabilities of a sample: of its true labels, and of the labels that the network predicts.

    The fields with `sd` and `itl95` are the standard deviation and the limits of the 95 % interval of a probability.
    They are empty if the explainer did not estimate them. r1.1 writes none.
    """

    ground_truth_prob: tuple[float, ...] = ()
    predicted_label: tuple[int, ...] = ()
    predicted_prob: tuple[float, ...] = ()
    ground_truth_prob_sd: tuple[float, ...] = ()
    ground_truth_prob_itl95_low: tuple[float, ...] = ()
    ground_truth_prob_itl95_hi: tuple[float, ...] = ()
    predicted_prob_sd: tuple[float, ...] = ()
    predicted_prob_itl95_low: tuple[float, ...] = ()
    predicted_prob_itl95_hi: tuple[float, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """Saliency map of one method for one label; `heatmap_path` is relative to the folder."""

    explain_method: str
    label: int
    heatmap_path: str


@dataclass(frozen=True)
class BenchmarkScore:
    """Score of one explainer by one benchmark. `label_score` has a score for each label, or is empty."""

    benchmark_method: str
    explain_method: str
    total_score: float
    label_score: tuple[float, ...] = ()


@dataclass(frozen=True)
class Metadata:
    """Labels in the order of the network's outputs, names of the explainers and of the benchmarks."""

    label: tuple[str, ...] = ()
    explain_method: tuple[str, ...] = ()
    benchmark_method: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explain:
    """The message of one event. Most events have some of the fields only. `status` is that of `write_status`."""

    sample_id: int | None = None
    image_path: str | None = None
    ground_truth_label: tuple[int, ...] = ()
    inference: Inference | None = None
    explanation: tuple[Explanation, ...] = ()
    benchmark: tuple[BenchmarkScore, ...] = ()
    metadata: Metadata | None = None
    status: str | None = None


_CLASSES = {
    "inference": Inference,
    "explanation": Explanation,
    "benchmark": BenchmarkScore,
    "metadata": Metadata,
}
_DEFAULTS: dict[str, dict[str, Any]] = {
    "explanation": {"explain_method": "", "label": 0, "heatmap_path": ""},
    "benchmark": {"benchmark_method": "", "explain_method": "", "total_score": 0.0},
}


def encode_explain(explain: Explain) -> bytes:
    """Encode the message of an event."""
    return protobuf.encode(_SCHEMA, "Explain", _drop_empty(asdict(explain)))


def _drop_empty(value):
    """Remove unset fields: None, and repeated fields without elements."""
    if isinstance(value, dict):
        return {name: _drop_empty(item) for name, item in value.items() if item is not None and item != ()}
    return [_drop_empty(item) for item in value] if isinstance(value, tuple) else value


def decode_explain(body: bytes, place: str = "an event") -> Explain:
    """Decode the message of an event.

    Args:
        body (bytes): The field `explain` of an Event.
        place (str): The file, for error messages. Default: "an event".

    Raises:
        BadFileError: If the bytes are damaged.
    """
    try:
        fields: dict[str, Any] = protobuf.decode(_SCHEMA, "Explain", body)
    except ValueError as error:
        raise BadFileError(f"An explanation in {place!r} is damaged: {error}.") from None
    for name, kind in _CLASSES.items():
        if name in fields:
            is_repeated = _SCHEMA["Explain"][name][2]
            defaults = _DEFAULTS.get(name, {})
            items: list[Any] = [kind(**_make_tuples({**defaults, **item})) for item in _as_list(fields[name])]
            fields[name] = tuple(items) if is_repeated else items[0]
    return Explain(**_make_tuples(fields))


def _as_list(value):
    return value if isinstance(value, list) else [value]


def _make_tuples(fields) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


# ---------------------------------------------------------------------------------------------------------- writing
class ExplanationWriter:
    """Writes the explanations of a data set to a folder that MindInsight and `%ms_explain` read.

    Each method writes its event at once, so that a reader can follow. The labels come first, as MindInsight requires.

    Args:
        summary_dir (str): The folder. It is created if it is missing.

    Attributes:
        path (Path): The event file.
        timestamp (int): UNIX seconds in the names of the file and of the folder of pictures.

    Raises:
        OSError: If the folder or a file cannot be written.

    Examples:
        >>> with ExplanationWriter("explained") as writer:  # doctest: +SKIP
        ...     writer.write_metadata(["cat", "dog"], ["GradCAM"])
        ...     writer.write_image(0, image)  # (C, H, W)
        ...     writer.write_inference(0, [1], Inference((0.9,), (1,), (0.9,)))
        ...     writer.write_explanations(0, {("GradCAM", 1): saliency})  # (H, W)
    """

    def __init__(self, summary_dir: str | Path) -> None:
        self.folder = Path(summary_dir)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.timestamp = int(time.time())
        while any(self.folder.glob(f"*.summary.{self.timestamp}.*_explain")):  # two runs within one second
            self.timestamp += 1
        self.path = self.folder / f"events.out.events.summary.{self.timestamp}.0.{platform.node()}_explain"
        self._file: Any = open(self.path, "xb", buffering=0)  # noqa: SIM115 (closed by `close`)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def write(self, explain: Explain) -> None:
        """Write one event."""
        self._file.write(frame(explain_event(time.time(), encode_explain(explain))))

    def write_metadata(
        self, labels: Sequence[str], explain_methods: Sequence[str] = (), benchmark_methods: Sequence[str] = ()
    ) -> None:
        """Write the labels and the names of methods. This is the first event."""
        self.write(Explain(metadata=Metadata(tuple(labels), tuple(explain_methods), tuple(benchmark_methods))))

    def write_image(self, sample_id: int, image: np.ndarray) -> str:
        """Write the picture of a sample as JPEG. Return its path, relative to the folder.

        Args:
            sample_id (int): Number of the sample.
            image (numpy.ndarray): Shape (C, H, W), C 1, 3 or 4 (the fourth channel is not drawn). The values are
                scaled from their range to 0 to 255. A picture of one channel is a grey JPEG.
        """
        image = np.asarray(image)
        if image.ndim != 3 or image.shape[0] not in (1, 3, 4):
            raise ValueError(f"An image should have the shape (C, H, W) with C 1, 3 or 4, but has {image.shape}.")
        pixels = image[0] if len(image) == 1 else np.moveaxis(image[:3], 0, -1)
        path = self._write_picture(pixels, "origin_images", _name_folder(sample_id), f"{sample_id}.jpg")
        self.write(Explain(sample_id, path))
        return path

    def write_inference(self, sample_id: int, ground_truth_label: Iterable[int], inference: Inference) -> None:
        """Write the true labels of a sample and its probabilities."""
        labels = tuple(map(int, ground_truth_label))
        self.write(Explain(sample_id, ground_truth_label=labels, inference=inference))

    def write_explanations(self, sample_id: int, saliency_maps: Mapping[tuple[str, int], np.ndarray]) -> None:
        """Write saliency maps of a sample as grey JPEG files.

        Args:
            sample_id (int): Number of the sample.
            saliency_maps (Mapping): Map of shape (H, W) for each (name of the explainer, label). Each map is scaled
                from its range to 0 to 255.
        """
        rows = []
        for (method, label), saliency in saliency_maps.items():
            saliency = np.asarray(saliency)
            if saliency.ndim != 2:
                raise ValueError(f"A saliency map should have the shape (H, W), but has {saliency.shape}.")
            name = f"{sample_id}_{int(label)}.jpg"
            path = self._write_picture(saliency, "heatmap", method, _name_folder(sample_id), name)
            rows.append(Explanation(method, int(label), path))
        self.write(Explain(sample_id, explanation=tuple(rows)))

    def write_scores(self, scores: Iterable[BenchmarkScore]) -> None:
        """Write scores of explainers."""
        self.write(Explain(benchmark=tuple(scores)))

    def write_status(self, status: str) -> None:
        """Write how a run has ended before its time: "interrupted" or "failed"."""
        self.write(Explain(status=status))

    def _write_picture(self, pixels, *names):
        from PIL import Image

        relative = Path(f"_explain_{self.timestamp}", *names)
        folder = self.folder
        for name in relative.parent.parts:  # one by one: `parents=True` ignores the mode
            folder /= name
            folder.mkdir(_FOLDER_MODE, exist_ok=True)
        with writing(self.folder / relative, permissions=_FILE_MODE, durable=False) as file:
            Image.fromarray(_scale_to_bytes(pixels)).save(file, "JPEG", optimize=True)
        return relative.as_posix()


def _name_folder(sample_id):
    return str(sample_id // _SAMPLES_PER_FOLDER * _SAMPLES_PER_FOLDER)


def _scale_to_bytes(values):
    """Scale the range of `values` to 0 to 255, uint8. NaN is 0. A constant array is 0."""
    values = np.nan_to_num(np.asarray(values, np.float32), posinf=0, neginf=0)
    low, high = values.min(initial=np.inf), values.max(initial=-np.inf)
    return np.uint8((values - low) / max(high - low, 1e-10) * 255) if values.size else np.uint8(values)


# ---------------------------------------------------------------------------------------------------------- reading
@dataclass
class Sample:
    """One sample of the data set.

    Attributes:
        sample_id (int): Its number.
        image_path (str): Path of its picture, relative to the folder, "" if there is none yet.
        ground_truth_label (tuple[int]): Its true labels.
        inference (Inference): The probabilities.
        heatmap_paths (dict): Path of the saliency map, relative to the folder, by (name of the explainer, label).
    """

    sample_id: int
    image_path: str = ""
    ground_truth_label: tuple[int, ...] = ()
    inference: Inference = field(default_factory=Inference)
    heatmap_paths: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def probabilities(self) -> dict[int, float]:
        """Probability by label: of the true labels, then of the predicted ones."""
        pairs = zip(self.ground_truth_label, self.inference.ground_truth_prob, strict=False)
        predicted = zip(self.inference.predicted_label, self.inference.predicted_prob, strict=False)
        return {**dict(pairs), **dict(predicted)}


class Explanations:
    """The explanations in a folder.

    Args:
        summary_dir (str): The folder.

    Attributes:
        folder (Path): The folder.
        path (Path): The newest event file, None if there is none yet.
        metadata (Metadata): Labels and names of methods.
        samples (dict[int, Sample]): The samples by number, in the order of the file.
        scores (dict): The BenchmarkScore by (name of the explainer, name of the benchmark).
        status (str): "interrupted" or "failed" if the run has ended before its time, else "".

    Raises:
        FileNotFoundError: If there is no such folder.
    """

    def __init__(self, summary_dir: str | Path) -> None:
        self.folder = Path(summary_dir)
        if not self.folder.is_dir():
            raise FileNotFoundError(f"There is no folder {os.fspath(summary_dir)!r}.")
        self._root = os.path.realpath(summary_dir)
        self._open(None)

    def _open(self, path):
        self.path: Path | None = path
        self.metadata = Metadata()
        self.samples: dict[int, Sample] = {}
        self.scores: dict[tuple[str, str], BenchmarkScore] = {}
        self.status = ""
        self._position, self._decoder = 0, EventDecoder(path or self.folder)

    def refresh(self) -> bool:
        """Read new events. A newer file replaces the older one.

        Returns:
            bool, True if there were new events.

        Raises:
            BadFileError: If the file is damaged. The events before the damage are read.
        """
        newest = max(self.folder.glob("*_explain"), key=_read_timestamp, default=None)
        if newest is None or not _FILE.search(newest.name):
            return False
        has_changed = newest != self.path
        if has_changed:
            self._open(newest)
        for event, behind in events(newest, self._position, self._decoder):
            self._add(event)
            self._position, has_changed = behind, True
        return has_changed

    def _add(self, event: Event) -> None:
        if event.explain is None:
            return
        explain = decode_explain(event.explain, event.place)
        if explain.metadata is not None:
            self.metadata = explain.metadata
        self.status = explain.status or self.status
        for score in explain.benchmark:
            self.scores[score.explain_method, score.benchmark_method] = score
        if explain.sample_id is not None:
            sample = self.samples.setdefault(explain.sample_id, Sample(explain.sample_id))
            sample.image_path = explain.image_path or sample.image_path
            sample.ground_truth_label = explain.ground_truth_label or sample.ground_truth_label
            sample.inference = explain.inference or sample.inference
            for row in explain.explanation:
                sample.heatmap_paths[row.explain_method, row.label] = row.heatmap_path

    def resolve(self, relative: str) -> Path:
        """Return the path of a picture.

        Raises:
            BadFileError: If it is outside the folder.
        """
        path = os.path.realpath(os.path.join(self._root, relative))
        if not path.startswith(self._root + os.sep):
            raise BadFileError(f"The picture {relative!r} is outside the folder {os.fspath(self.folder)!r}.")
        return Path(path)


def _read_timestamp(path):
    match = _FILE.search(path.name)
    return (int(match[1]), path.name) if match else (-1, path.name)


def read_explanations(summary_dir: str | Path) -> Explanations:
    """Read the newest explanations in a folder.

    Args:
        summary_dir (str): The folder.

    Returns:
        Explanations. It is empty if the folder has no event file of an explainer.

    Raises:
        FileNotFoundError: If there is no such folder.
        BadFileError: If the event file is damaged.
    """
    explanations = Explanations(summary_dir)
    explanations.refresh()
    return explanations
