"""The data of the view of explanations, as the page reads it: gzipped JSON with small pictures.

Pictures and maps are reduced to thumbnails, as small as the budget of a saved notebook requires. A live view asks for
the files of the sample that the user looks at.
"""

import base64
import gzip
import io
import json
import math
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

from msnb.formats.explanation_records import Explanations, Sample
from msnb.formats.text_files import BadFileError

THRESHOLD = 0.5  # a label with at least this probability is predicted
_BUDGET = 2_400_000  # bytes of all thumbnails; base64 and the code of the view come on top
_SIZES = (224, 160, 112, 80, 56)  # longest side of a thumbnail in pixels
_MAP_SHARE = 0.5  # a map is smooth: its thumbnail has this share of the size of a picture's
_BYTES_PER_PIXEL = 0.3  # of a JPEG with _QUALITY, from photographs
_QUALITY = 78
_CHUNK = 32  # pictures that one task encodes


def predict_kind(probability: float, label: int, truth: tuple[int, ...]) -> str | None:
    """Return "TP", "FP", "FN" or "TN" of a label; None for a sample without true labels or a NaN."""
    if not truth or math.isnan(probability):
        return None
    if label in truth:
        return "TP" if probability >= THRESHOLD else "FN"
    return "FP" if probability >= THRESHOLD else "TN"


def list_images(sample: Sample) -> list[str]:
    """Return the paths of the picture and of the maps of a sample."""
    return [path for path in (sample.image_path, *sample.heatmap_paths.values()) if path]


class Thumbnails:
    """Reduced pictures of a folder of explanations, each encoded once.

    Args:
        explanations (Explanations): the explanations.

    Attributes:
        encoded (dict[str, bytes]): JPEG by path.
        problems (dict[str, str]): the reason why a picture is missing, by path.
    """

    def __init__(self, explanations: Explanations) -> None:
        self._explanations = explanations
        self._size = _SIZES[0]
        self._total = 0
        self.encoded: dict[str, bytes] = {}
        self.problems: dict[str, str] = {}

    def read(self, path: str) -> bytes:
        """Return the bytes of a picture's file.

        Raises:
            OSError: If it cannot be read.
            BadFileError: If its path is outside the folder.
        """
        return self._explanations.resolve(path).read_bytes()

    def update(self) -> list[str]:
        """Encode the pictures that are new. Return their paths, or all paths if the size has changed."""
        self.problems.clear()  # a file that was missing may be there now
        samples = list(self._explanations.samples.values())
        originals = [sample.image_path for sample in samples if sample.image_path]
        maps = [path for sample in samples for path in sample.heatmap_paths.values()]
        size = self._choose_size(len(originals) + len(maps) * _MAP_SHARE**2)
        if size != self._size:
            self._size = size
            self.encoded.clear()
        new = self._encode_all(originals, size) + self._encode_maps(maps)
        while sum(map(len, self.encoded.values())) > _BUDGET and size != _SIZES[-1]:
            size = self._size = _SIZES[_SIZES.index(size) + 1]
            larger, self.encoded = self.encoded, {}  # thumbnails are read sooner than files
            new = self._encode_all(originals, size, sources=larger) + self._encode_maps(maps, larger)
        return new

    def _choose_size(self, count):
        """Return the largest size that the budget probably allows, at most the present one."""
        fits = [size for size in _SIZES if size**2 * count * _BYTES_PER_PIXEL <= _BUDGET]
        return min(self._size, fits[0] if fits else _SIZES[-1])

    def _encode_maps(self, paths, sources=None):
        return self._encode_all(paths, round(self._size * _MAP_SHARE), True, sources)

    def _encode_all(
        self, paths: Iterable[str], size: int, is_map: bool = False, sources: dict[str, bytes] | None = None
    ) -> list[str]:
        new = [path for path in dict.fromkeys(paths) if path not in self.encoded and path not in self.problems]

        def encode(path):
            try:
                return reduce_picture((sources or {}).get(path) or self.read(path), size, is_map)
            except Exception as error:  # Pillow raises errors of many types for damaged pictures
                return describe_problem(error)

        # Pillow releases the interpreter while it decodes. A task of many pictures costs less than one of each.
        chunks = [new[start : start + _CHUNK] for start in range(0, len(new), _CHUNK)]
        with ThreadPoolExecutor() as pool:
            results = pool.map(lambda chunk: [encode(path) for path in chunk], chunks)
            for path, result in zip(new, chain.from_iterable(results), strict=True):
                if isinstance(result, str):
                    self.problems[path] = result
                else:
                    self.encoded[path] = result
        return new


def describe_problem(error: Exception) -> str:
    """Return the reason why a picture is not shown."""
    if isinstance(error, FileNotFoundError):
        return "the file is missing"
    if isinstance(error, BadFileError):
        return "the file is outside the folder"
    return "the file can't be read" if isinstance(error, PermissionError) else "the file is damaged"


def reduce_picture(data: bytes, size: int, is_map: bool = False) -> bytes:
    """Return a picture as JPEG whose longer side has at most `size` pixels. A small JPEG is returned as it is.

    The values of a map are scaled to their range again, because means of pixels are less than their maximum.
    """
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(data)) as picture:
        if picture.format == "JPEG" and max(picture.size) <= size:
            picture.load()  # it may be damaged
            return data
        picture.draft(None, (size, size))
        picture = picture if picture.mode in ("L", "RGB") else picture.convert("RGB")
        picture.thumbnail((size, size), Image.Resampling.BOX if size >= 32 else Image.Resampling.BILINEAR)
        picture = ImageOps.autocontrast(picture) if is_map else picture
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=_QUALITY, optimize=True)
        return out.getvalue()


def build_content(explanations: Explanations, title: str) -> dict[str, Any]:
    """Return the labels, methods, samples and scores, without pictures."""
    metadata = explanations.metadata
    methods = list(dict.fromkeys([*metadata.explain_method, *(one for one, _ in explanations.scores)]))
    used = {method for sample in explanations.samples.values() for method, _ in sample.heatmap_paths}
    methods += sorted(used - set(methods))
    benchmarks = list(dict.fromkeys([*metadata.benchmark_method, *(bench for _, bench in explanations.scores)]))
    return {
        "title": title,
        "labels": list(metadata.label),
        "methods": methods,
        "benchmarks": benchmarks,
        "threshold": THRESHOLD,
        "status": explanations.status,
        "samples": [_describe_sample(sample) for sample in explanations.samples.values()],
        "scores": [
            {
                "method": score.explain_method,
                "benchmark": score.benchmark_method,
                "total": _drop_nan(score.total_score),
                "labels": [_drop_nan(one) for one in score.label_score],
            }
            for score in explanations.scores.values()
        ],
    }


def _describe_sample(sample):
    inference = sample.inference
    low = *inference.ground_truth_prob_itl95_low, *inference.predicted_prob_itl95_low
    high = *inference.ground_truth_prob_itl95_hi, *inference.predicted_prob_itl95_hi
    named = *sample.ground_truth_label, *inference.predicted_label
    intervals = {label: pair for label, *pair in zip(named, low, high, strict=False)} if len(low) == len(named) else {}
    labels = []
    for label, probability in sample.probabilities.items():
        row = {
            "label": label,
            "probability": _drop_nan(probability),
            "kind": predict_kind(probability, label, sample.ground_truth_label),
        }
        labels.append({**row, "interval": intervals[label]} if label in intervals else row)
    labels.sort(key=lambda row: -(row["probability"] if row["probability"] is not None else -1))
    maps: dict[str, dict[str, str]] = {}
    for (method, label), path in sample.heatmap_paths.items():
        maps.setdefault(method, {})[str(label)] = path
    return {
        "id": sample.sample_id,
        "image": sample.image_path,
        "truth": list(sample.ground_truth_label),
        "labels": labels,
        "maps": maps,
    }


def _drop_nan(number):
    """Return a float32 with six digits, as MindInsight shows it; None for NaN and infinity, which JSON lacks."""
    return round(number, 6) if math.isfinite(number) else None


def pack(content: dict[str, Any], thumbnails: Thumbnails, paths: Iterable[str] | None = None) -> bytes:
    """Return the content with the pictures of `paths`, by default all."""
    chosen = thumbnails.encoded if paths is None else paths
    images = {
        path: base64.b64encode(thumbnails.encoded[path]).decode() for path in chosen if path in thumbnails.encoded
    }
    text = json.dumps(
        {**content, "images": images, "problems": thumbnails.problems}, separators=(",", ":"), allow_nan=False
    )
    return gzip.compress(text.encode(), 6, mtime=0)
