"""COCO: images with boxes, segmentations, keypoints or panoptic segments."""

import json
import os

import numpy as np

from msnb.dataset.core.validator_helpers import check_dir, check_file, check_optional, type_check
from msnb.dataset.engine import samplers
from msnb.dataset.engine.errors import NoDataError
from msnb.dataset.engine.sources.base import FileSamples, MappableDataset

_COLUMNS = {
    "Detection": ("image", "bbox", "category_id", "iscrowd"),
    "Stuff": ("image", "segmentation", "iscrowd"),
    "Keypoint": ("image", "keypoints", "num_keypoints"),
    "Panoptic": ("image", "bbox", "category_id", "iscrowd", "area"),
}


def _get(node, key):
    if key not in node:
        raise RuntimeError(f"Invalid data, invalid node found in json: {key}")
    return node[key]


class CocoDataset(MappableDataset):
    """COCO. The columns depend on the task: Detection ``image``, ``bbox``, ``category_id``, ``iscrowd``; Stuff
    ``image``,
    ``segmentation``, ``iscrowd``; Keypoint ``image``, ``keypoints``, ``num_keypoints``; Panoptic ``image``, ``bbox``,
    ``category_id``,
    ``iscrowd``, ``area``. Rows of different length are filled up with -1.

    Args:
        dataset_dir (str): Folder with the images.
        annotation_file (str): JSON file with the annotations.
        task (str, optional): 'Detection', 'Stuff', 'Panoptic' or 'Keypoint'. Default: 'Detection'.
        num_samples (int, optional): At most so many samples. Default: None, all.
        num_parallel_workers (int, optional): Workers. Default: None, that of ``dataset.config``.
        shuffle (bool, optional): Whether the order is random. Default: None, True.
        decode (bool, optional): Whether images are decoded. Default: False.
        sampler (Sampler, optional): Which samples, in which order; excludes `shuffle` and shards. Default: None.
        num_shards (int, optional): Number of shares to divide the samples into. Default: None.
        shard_id (int, optional): Number of this share. Default: None.
        cache (DatasetCache, optional): Where to keep the samples. Default: None.

    Raises:
        RuntimeError: If the annotations are wrong, or arguments exclude each other.
        ValueError: If the folder or file does not exist or an argument is out of range.
    """

    def __init__(
        self,
        dataset_dir,
        annotation_file,
        task="Detection",
        num_samples=None,
        num_parallel_workers=None,
        shuffle=None,
        decode=False,
        sampler=None,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        check_dir(dataset_dir)
        check_file(annotation_file)
        type_check(task, (str,), "task")
        if task not in _COLUMNS:
            raise ValueError(f"Invalid task type: {task}. It should be 'Detection', 'Stuff', 'Panoptic' or 'Keypoint'.")
        check_optional((bool,), decode=decode)
        if isinstance(sampler, samplers.PKSampler):
            raise ValueError("CocoDataset doesn't support PKSampler.")
        self._check(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.dataset_dir = dataset_dir
        self.annotation_file = annotation_file
        self.task = task
        self.decode = decode or False
        self.columns = _COLUMNS[task]

    def _content(self):
        if "content" not in self._shared:
            try:
                with open(self.annotation_file, encoding="utf-8") as file:
                    self._shared["content"] = json.load(file)
            except ValueError as error:
                raise RuntimeError(
                    f"Invalid file, {self.annotation_file} is not JSON (json.exception.parse_error): {error}."
                ) from None
        return self._shared["content"]

    def _samples(self):
        content = self._content()
        images = _get(content, "images")
        if not images:
            raise RuntimeError(f'Invalid data, no "image" node found in json file: {self.annotation_file}')
        names = {_get(i, "id"): _get(i, "file_name") for i in images}
        categories = None
        if self.task in ("Detection", "Panoptic"):
            categories = {_get(c, "id") for c in _get(content, "categories")}
        lines, items = {}, {}
        for annotation in _get(content, "annotations"):
            image_id = _get(annotation, "image_id")
            if image_id not in names:
                raise RuntimeError(
                    f"Invalid data, image_id: {image_id} in annotation node is not found in image node in json file."
                )
            name = names[image_id]
            getattr(self, f"_{self.task.lower()}")(
                annotation, categories, lines.setdefault(name, []), items.setdefault(name, [])
            )
        files = [i["file_name"] for i in images if lines.get(i["file_name"])]
        if not files:
            raise NoDataError("CocoDataset")
        columns = [[_padded(lines[f]) for f in files]]
        for place in range(len(self.columns) - 2):
            columns.append([np.array([[row[place]] for row in items[f]], np.uint32) for f in files])
        return FileSamples("CocoDataset", [os.path.join(self.dataset_dir, f) for f in files], columns, self.decode)

    @staticmethod
    def _category(node, categories):
        category = _get(node, "category_id")
        if category not in categories:
            raise RuntimeError(f"Invalid data, category_id can't find in categories where category_id: {category}")
        return category

    def _detection(self, annotation, categories, lines, items):
        lines.append(_get(annotation, "bbox"))
        items.append((self._category(annotation, categories), annotation.get("iscrowd", 0)))

    def _stuff(self, annotation, categories, lines, items):
        crowd = _get(annotation, "iscrowd")
        segmentation = _get(annotation, "segmentation")
        items.append((crowd,))
        if crowd == 0:
            lines.extend(segmentation)
        else:
            lines.append(_get(segmentation, "counts"))

    def _keypoint(self, annotation, categories, lines, items):
        lines.append(_get(annotation, "keypoints"))
        items.append((_get(annotation, "num_keypoints"),))

    def _panoptic(self, annotation, categories, lines, items):
        for segment in _get(annotation, "segments_info"):
            lines.append(_get(segment, "bbox"))
            items.append((self._category(segment, categories), segment.get("iscrowd", 0), _get(segment, "area")))

    def get_class_indexing(self):
        """Number of each category, by name: [id], and for 'Panoptic' [id, isthing].

        Raises:
            NotImplementedError: If the task is another than 'Detection' or 'Panoptic'.
        """
        if self.task not in ("Detection", "Panoptic"):
            raise NotImplementedError("Only 'Detection' and 'Panoptic' support get_class_indexing.")
        found = {}
        for category in _get(self._content(), "categories"):
            number = [_get(category, "id")]
            if self.task == "Panoptic":
                number.append(_get(category, "isthing"))
            found[_get(category, "name")] = number
        return found


def _padded(rows):
    width = max(map(len, rows))
    return np.array([list(r) + [-1] * (width - len(r)) for r in rows], np.float32)
