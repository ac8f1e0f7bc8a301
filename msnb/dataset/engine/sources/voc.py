"""PASCAL VOC: images with segmentations or boxes."""

import os
import xml.etree.ElementTree as ElementTree
from typing import Annotated

import numpy as np

from msnb.common.kinds import Worded, check, checked
from msnb.dataset.core.kinds import File, Flag, Folder, Int, NumSamples, Text, Workers, of_type
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution.chunk import stack_if_uniform
from msnb.dataset.engine.execution.errors import NoDataError
from msnb.dataset.engine.sources.mappable import MappableDataset, Sampling, Shuffled
from msnb.dataset.engine.sources.samples import (
    FILE_NAME,
    Decrypt,
    FileSamples,
    decode_image,
    file_names,
    resolve_inside,
)
from msnb.formats import text_files


class _Pairs(FileSamples):
    """Samples for segmentation, each with an image file and a target file."""

    def __init__(self, paths, targets, others, decode, decrypt):
        super().__init__("VOCDataset", paths, others, decode, decrypt=decrypt)
        self.targets = targets

    def fetch(self, numbers):
        """Return the columns of the samples with the indices `numbers`."""
        images, *others = super().fetch(numbers)
        targets = [self.read(self.targets[i]) for i in numbers.tolist()]
        if self.decode:
            targets = stack_if_uniform(
                [decode_image(t, self.targets[i]) for t, i in zip(targets, numbers.tolist(), strict=True)]
            )
        return [images, targets, *others]


def _check_task(task, name):
    if of_type(str)(task, name) in ("Segmentation", "Detection"):
        return task
    raise ValueError(f"Invalid task : {task}. It should be 'Segmentation' or 'Detection'.")


Task = Annotated[str, Worded("the name of a task", _check_task)]


class VOCDataset(MappableDataset):
    """PASCAL VOC. Columns for segmentation: ``image``, ``target``. Columns for detection: ``image``, ``bbox`` (float32
    (n, 4): x, y, width, height), ``label``, ``difficult``, ``truncate`` (uint32 (n, 1)).

    Args:
        dataset_dir (str): Folder of the data set (with ``JPEGImages``, ``ImageSets``, ``Annotations``,
            ``SegmentationClass``).
        task (str, optional): 'Segmentation' or 'Detection'. Default: 'Segmentation'.
        usage (str, optional): Name of the list of images, 'train', 'val', ... Default: 'train'.
        class_indexing (dict, optional): Maps class names to class indices, for 'Detection'. Default: None, indices in
            the order of the names.
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
        RuntimeError: If an annotation is missing or wrong, or arguments exclude each other.
        ValueError: If the folder or list does not exist or an argument is out of range.
    """

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        task: Task = "Segmentation",
        usage: Text = "train",
        class_indexing: Annotated[dict[str, int], of_type(dict)] | None = None,
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
        if task == "Segmentation" and class_indexing is not None:
            raise ValueError("class_indexing is not supported in Segmentation task.")
        self._list = os.path.join(
            dataset_dir, "ImageSets", "Segmentation" if task == "Segmentation" else "Main", f"{usage}.txt"
        )
        check(File, self._list, "usage", "VOCDataset")
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.decrypt = decrypt
        self.extra_metadata: bool = extra_metadata
        self.dataset_dir = dataset_dir
        self.task = task
        self.usage = usage
        self.class_indexing = class_indexing
        self.decode: bool = decode or False
        self.columns: tuple[str, ...] = (
            ("image", "target") if task == "Segmentation" else ("image", "bbox", "label", "difficult", "truncate")
        )
        if extra_metadata:
            self.columns = (*self.columns, FILE_NAME)

    def _resolve_path(self, folder, name):
        return resolve_inside(os.path.join(self.dataset_dir, folder), name, repr(self._list))

    def _read_image_ids(self):
        return [line for line in text_files.text(self._list).splitlines() if line]

    def _load_samples(self):
        ids = self._read_image_ids()
        if self.task == "Segmentation":
            if not ids:
                self._raise_no_data()
            paths = [self._resolve_path("JPEGImages", f"{i}.jpg") for i in ids]
            targets = [self._resolve_path("SegmentationClass", f"{i}.png") for i in ids]
            return _Pairs(paths, targets, self._make_metadata_columns(paths), self.decode, self.decrypt)
        annotations = self._load_annotations(ids)
        if not annotations:
            self._raise_no_data()
        numbers = self._assign_class_numbers(annotations)
        columns = [[], [], [], []]
        for _, objects in annotations:
            columns[0].append(np.array([o[1] for o in objects], np.float32))
            columns[1].append(np.array([[numbers[o[0]]] for o in objects], np.uint32))
            columns[2].append(np.array([[o[2]] for o in objects], np.uint32))
            columns[3].append(np.array([[o[3]] for o in objects], np.uint32))
        paths = [self._resolve_path("JPEGImages", f"{i}.jpg") for i, _ in annotations]
        return FileSamples(
            "VOCDataset", paths, [*columns, *self._make_metadata_columns(paths)], self.decode, decrypt=self.decrypt
        )

    def _make_metadata_columns(self, paths):
        return [file_names(paths)] if self.extra_metadata else []

    def _raise_no_data(self):
        raise NoDataError("VOCDataset", f"no image of {self._list!r} has what was asked for.")

    def _load_annotations(self, ids):
        if "annotations" not in self._shared:
            annotations = [(i, self._read_objects(self._resolve_path("Annotations", f"{i}.xml"))) for i in ids]
            self._shared["annotations"] = [(i, objects) for i, objects in annotations if objects]
        return self._shared["annotations"]

    def _read_objects(self, path):
        """Return (class, (x, y, width, height), difficult, truncated) of each object of an annotation."""
        if not os.path.exists(path):
            raise RuntimeError(f"Invalid file, failed to open file: {path}")
        try:
            root = ElementTree.parse(path).getroot()
        # LookupError, ValueError: encodings that expat does not support
        except (ElementTree.ParseError, LookupError, ValueError) as error:
            raise text_files.BadFileError(f"Invalid file, failed to load xml file: {path} ({error}).") from None
        nodes = root.findall("object")
        if not nodes:
            raise RuntimeError(f"Invalid data, no object found in {path}")
        objects = []
        for index, node in enumerate(nodes):
            where = f"object {index} of {path!r}"
            box = node.find("bndbox")
            if box is None:
                raise RuntimeError(f"Invalid data, bndbox dismatch in {path}")
            name = node.findtext("name", "")
            x0, y0, x1, y1 = (_parse_number(box, tag, where) for tag in ("xmin", "ymin", "xmax", "ymax"))
            is_selected = not self.class_indexing or name in self.class_indexing
            if name and is_selected and x0 > 0 and y0 > 0 and x1 > x0 and y1 > y0:
                marks = [_parse_number(node, tag, where, 1 << 32) for tag in ("difficult", "truncated")]
                objects.append((name, (x0, y0, x1 - x0, y1 - y0), *marks))
        return objects

    def _assign_class_numbers(self, annotations):
        if self.class_indexing:
            return self.class_indexing
        return {name: i for i, name in enumerate(sorted({o[0] for _, objects in annotations for o in objects}))}

    def get_class_indexing(self) -> dict[str, int]:
        """Return {class name: class index}. Only for 'Detection'."""
        if self.task != "Detection":
            raise NotImplementedError("Only 'Detection' support get_class_indexing.")
        return dict(self._assign_class_numbers(self._load_annotations(self._read_image_ids())))


def _parse_number(node, tag, where, end=None):
    """Return the number in the XML element `tag`, or 0 if it is missing. With `end` it must be from 0 to `end` - 1."""
    text = node.findtext(tag, "0") or "0"
    try:
        value = float(text)
    except ValueError:
        value = None
    if value is None or end is not None and not 0 <= value < end:
        raise text_files.BadFileError(f"Invalid data, {where}: {tag} should be a number, but is {text[:80]!r}.")
    return value
