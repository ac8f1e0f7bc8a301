"""COCO: images with boxes, segmentations, keypoints or panoptic segments."""

from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import Worded, checked
from msnb.dataset.core.kinds import File, Flag, Folder, Int, NumSamples, Workers, of_type
from msnb.dataset.engine import samplers
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution.errors import NoDataError
from msnb.dataset.engine.sources.mappable import MappableDataset, Sampling, Shuffled
from msnb.dataset.engine.sources.samples import FILE_NAME, Decrypt, FileSamples, file_names, resolve_inside
from msnb.formats import text_files

_COLUMNS = {
    "Detection": ("image", "bbox", "category_id", "iscrowd"),
    "Stuff": ("image", "segmentation", "iscrowd"),
    "Keypoint": ("image", "keypoints", "num_keypoints"),
    "Panoptic": ("image", "bbox", "category_id", "iscrowd", "area"),
    "Captioning": ("image", "captions"),
}


_NUMBERS = {int, float}
_ID = (int, str)


class _Node:
    """A JSON object of the annotation file. Errors about it contain its location."""

    __slots__ = ("path", "kind", "number", "value")

    def __init__(self, path, kind, number, value):
        self.path, self.kind, self.number, self.value = path, kind, number, value
        if not isinstance(value, dict):
            raise self.error("should be an object")

    def error(self, problem):
        """Return an error about this object."""
        return text_files.BadFileError(f"Invalid data, {self.path!r}, {self.kind} {self.number}: {problem}.")

    def get(self, key, kind=None):
        """Return the value of `key`. It must be of the type (or types) `kind`."""
        try:
            value = self.value[key]
        except KeyError:
            raise self.error(f"invalid node found in json: it has no {key!r}") from None
        if kind is not None and not isinstance(value, kind):
            raise self.error(f"its {key!r} should not be of type {type(value).__name__}")
        return value

    def numbers(self, key, value=None):
        """Return a list of numbers: `value`, or the value of `key`."""
        value = self.get(key) if value is None else value
        if type(value) is not list or not _NUMBERS.issuperset(map(type, value)):
            raise self.error(f"its {key!r} should be a list of numbers")
        return value

    def uint32(self, key, default=None):
        """Return the value of `key`, which must be a number in the range of uint32."""
        value = self.value.get(key, default) if default is not None else self.get(key)
        if not isinstance(value, (int, float)) or not 0 <= value < 1 << 32:
            raise self.error(f"its {key!r} should be a number from 0 to {(1 << 32) - 1}")
        return value


def _check_task(task, name):
    if of_type(str)(task, name) in _COLUMNS:
        return task
    raise ValueError(
        f"Invalid task type: {task}. It should be 'Detection', 'Stuff', 'Panoptic', 'Keypoint' or 'Captioning'."
    )


Task = Annotated[str, Worded("the name of a task", _check_task)]


class CocoDataset(MappableDataset):
    """COCO. The columns depend on the task: Detection ``image``, ``bbox``, ``category_id``, ``iscrowd``; Stuff
    ``image``, ``segmentation``, ``iscrowd``; Keypoint ``image``, ``keypoints``, ``num_keypoints``; Panoptic ``image``,
    ``bbox``, ``category_id``, ``iscrowd``, ``area``. Rows of different length are padded with -1.

    Args:
        dataset_dir (str): Folder with the images.
        annotation_file (str): JSON file with the annotations.
        task (str, optional): 'Detection', 'Stuff', 'Panoptic', 'Keypoint' or 'Captioning' (``image``, ``captions``).
            Default: 'Detection'.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (bool, optional): True for a random order. Default: None, which means True.
        decode (bool, optional): True to decode images. Default: False.
        sampler (Sampler, optional): Selects and orders the samples; cannot be combined with `shuffle` or shards.
            Default: None.
        num_shards (int, optional): Number of shards that the samples are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        cache (DatasetCache, optional): Cache of the samples. Default: None.
        extra_metadata (bool, optional): True to add a column ``_meta-filename`` with the names of the images without
            extensions. The operators of the pipeline can use it. Rows contain it only if it is renamed.
            Default: False.
        decrypt (Callable, optional): Takes the path of an encrypted image, returns its decrypted bytes. Default: None.

    Raises:
        RuntimeError: If the annotations are wrong, or arguments exclude each other.
        ValueError: If the folder or file does not exist or an argument is out of range.
    """

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        annotation_file: File,
        task: Task = "Detection",
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        decode: Flag | None = False,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
        extra_metadata: bool = False,
        decrypt: Decrypt | None = None,
    ) -> None:
        if isinstance(sampler, samplers.PKSampler):
            raise ValueError("CocoDataset doesn't support PKSampler.")
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.decrypt = decrypt
        self.extra_metadata: bool = extra_metadata
        self.dataset_dir = dataset_dir
        self.annotation_file = annotation_file
        self.task = task
        self.decode: bool = decode or False
        self.columns: tuple[str, ...] = (*_COLUMNS[task], FILE_NAME) if extra_metadata else _COLUMNS[task]

    def _load_annotation_json(self):
        if "content" not in self._shared:
            self._shared["content"] = _Node(
                self.annotation_file, "value", 0, text_files.json_file(self.annotation_file)
            )
        return self._shared["content"]

    def _iterate_objects(self, key):
        """Yield the objects of the list `key`."""
        path, kind = self.annotation_file, f"entry of {key!r}, number"
        for number, value in enumerate(self._load_annotation_json().get(key, list)):
            yield _Node(path, kind, number, value)

    def _load_samples(self):
        names = {}
        for image in self._iterate_objects("images"):
            names[image.get("id", _ID)] = image.get("file_name", str)
        if not names:
            raise RuntimeError(f'Invalid data, no "image" node found in json file: {self.annotation_file}')
        categories = None
        if self.task in ("Detection", "Panoptic"):
            categories = {category.get("id", _ID) for category in self._iterate_objects("categories")}
        lines, items = {}, {}
        add = getattr(self, f"_add_{self.task.lower()}")
        for annotation in self._iterate_objects("annotations"):
            image_id = annotation.get("image_id", _ID)
            if image_id not in names:
                raise annotation.error(
                    f"image_id: {image_id} in annotation node is not found in image node in json file"
                )
            name = names[image_id]
            add(annotation, categories, lines.setdefault(name, []), items.setdefault(name, []))
        files = [name for name in names.values() if lines.get(name)]
        if not files:
            raise NoDataError("CocoDataset", f"{self.annotation_file!r} has no annotation for task {self.task!r}.")
        if self.task == "Captioning":
            columns = [[np.array([[text.encode("utf-8")] for text in lines[f]]) for f in files]]
        else:
            columns = [[self._pad_rows(lines[f], f) for f in files]]
        for index in range(len(_COLUMNS[self.task]) - 2):
            columns.append([np.array([[row[index]] for row in items[f]], np.uint32) for f in files])
        paths = [resolve_inside(self.dataset_dir, f, repr(self.annotation_file)) for f in files]
        if self.extra_metadata:
            columns.append(file_names(paths))
        return FileSamples("CocoDataset", paths, columns, self.decode, decrypt=self.decrypt)

    def _pad_rows(self, rows, name):
        width = max(map(len, rows))
        try:
            return np.array([list(r) + [-1] * (width - len(r)) for r in rows], np.float32)
        except OverflowError:  # integers of hundreds of digits
            raise text_files.BadFileError(
                f"Invalid data, {self.annotation_file!r}: a number in an annotation of the image {name[:80]!r} is too "
                "large for float32."
            ) from None

    @staticmethod
    def _get_category_id(node, categories):
        category = node.get("category_id", _ID)
        if category not in categories:
            raise node.error(f"category_id can't find in categories where category_id: {category}")
        return node.uint32("category_id")

    def _add_detection(self, annotation, categories, lines, items):
        lines.append(annotation.numbers("bbox"))
        items.append((self._get_category_id(annotation, categories), annotation.uint32("iscrowd", 0)))

    def _add_stuff(self, annotation, categories, lines, items):
        crowd = annotation.uint32("iscrowd")
        items.append((crowd,))
        if crowd == 0:
            for polygon in annotation.get("segmentation", list):
                lines.append(annotation.numbers("segmentation", polygon))
        else:
            lines.append(annotation.numbers("counts", annotation.get("segmentation", dict).get("counts", "none")))

    def _add_keypoint(self, annotation, categories, lines, items):
        lines.append(annotation.numbers("keypoints"))
        items.append((annotation.uint32("num_keypoints"),))

    def _add_captioning(self, annotation, categories, lines, items):
        lines.append(annotation.get("caption", str))

    def _add_panoptic(self, annotation, categories, lines, items):
        for number, value in enumerate(annotation.get("segments_info", list)):
            segment = _Node(self.annotation_file, f"{annotation.kind} {annotation.number}, segment", number, value)
            lines.append(segment.numbers("bbox"))
            items.append(
                (self._get_category_id(segment, categories), segment.uint32("iscrowd", 0), segment.uint32("area"))
            )

    def get_class_indexing(self) -> dict[str, Any]:
        """Return {category name: [id]}, or {category name: [id, isthing]} for 'Panoptic'.

        Raises:
            NotImplementedError: If the task is another than 'Detection' or 'Panoptic'.
        """
        if self.task not in ("Detection", "Panoptic"):
            raise NotImplementedError("Only 'Detection' and 'Panoptic' support get_class_indexing.")
        indices = {}
        for category in self._iterate_objects("categories"):
            number = [category.get("id")]
            if self.task == "Panoptic":
                number.append(category.get("isthing"))
            indices[category.get("name", str)] = number
        return indices
