"""Images whose labels, contours or pixels are in MATLAB files."""

import os
from importlib import import_module
from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag, Folder, Int, NumSamples, Text, Workers, one_of
from msnb.dataset.engine.sources.mappable import Sampling, Shuffled
from msnb.dataset.engine.sources.public import Files, PublicSet, folders, listing, pictures
from msnb.formats import text_files


def _load_matlab(path):
    """Read a MATLAB file. Return {name: array}."""
    try:
        return import_module("scipy.io").loadmat(path)
    except OSError as error:
        raise RuntimeError(f"Invalid file, failed to open {path}: {error}.") from None
    except (ValueError, TypeError) as error:
        raise RuntimeError(f"Invalid file, {path!r} is no file of MATLAB: {error}.") from None


class SVHNDataset(PublicSet):
    """SVHN, digits of house numbers: columns ``image`` (uint8, (32, 32, 3)) and ``label`` (uint32).

    Args:
        dataset_dir (str): Folder with ``train_32x32.mat``, ``test_32x32.mat`` and ``extra_32x32.mat``.
        usage (str, optional): 'train', 'test', 'extra' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")
    usages: tuple[str, ...] = ("train", "test", "extra", "all")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = 1,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id)
        self._set_folder_and_usage(dataset_dir, usage)

    def _read_columns(self):
        usages = ("train", "test", "extra") if self.usage == "all" else (self.usage,)
        files = [_load_matlab(self._join_path(f"{usage}_32x32.mat")) for usage in usages]
        images = np.concatenate([file["X"].transpose(3, 0, 1, 2) for file in files])
        labels = np.concatenate([file["y"].ravel() for file in files]).astype(np.uint32)
        return images, labels % 10  # the files store the digit 0 as 10


class Flowers102Dataset(PublicSet):
    """Flowers of 102 classes: columns ``image`` (uint8: the file's bytes, or RGB pixels), ``segmentation`` (like
    ``image``, only for the task 'Segmentation') and ``label`` (uint32).

    Args:
        dataset_dir (str): Folder with ``jpg``, ``segmim``, ``imagelabels.mat`` and ``setid.mat``.
        task (str, optional): 'Classification' or 'Segmentation'. Default: 'Classification'.
        usage (str, optional): 'train', 'valid', 'test' or 'all'. Default: 'all'.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("train", "valid", "test", "all")
    needed: tuple[str, ...] = ("jpg",)
    classes: int | None = 102

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        task: Annotated[str, one_of("Classification", "Segmentation")] = "Classification",
        usage: Text = "all",
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = 1,
        shuffle: Shuffled | None = None,
        decode: Flag = False,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id)
        self._set_folder_and_usage(dataset_dir, usage, decode)
        self.task: str = task
        segmented = task == "Segmentation"
        self.columns: tuple[str, ...] = ("image", "segmentation", "label") if segmented else ("image", "label")

    def _read_columns(self):
        labels = _load_matlab(self._join_path("imagelabels.mat"))["labels"][0].astype(np.int64) - 1
        ids = _load_matlab(self._join_path("setid.mat"))
        keys = {"train": ("trnid",), "valid": ("valid",), "test": ("tstid",), "all": ("trnid", "tstid", "valid")}
        numbers = np.concatenate([ids[key][0] for key in keys[self.usage]]).astype(np.int64)
        columns = [pictures([self._join_path("jpg", f"image_{n:05d}.jpg") for n in numbers], self.decode)]
        if self.task == "Segmentation":
            columns.append(pictures([self._join_path("segmim", f"segmim_{n:05d}.jpg") for n in numbers], self.decode))
        return *columns, labels[numbers - 1].astype(np.uint32)


class Caltech101Dataset(PublicSet):
    """Caltech-101, objects of 101 classes: columns ``image`` (uint8: the file's bytes, or RGB pixels), ``category``
    (int64) and ``annotation`` (the points of the contour, (2, n)), depending on `target_type`.

    Args:
        dataset_dir (str): Folder with ``101_ObjectCategories`` and ``Annotations``.
        target_type (str, optional): 'category', 'annotation' or 'all'. Default: None, which means 'category'.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    classes: int | None = 101
    # {folder of images: folder of annotations}, where the two have different names.
    _annotation_folders = {
        "Faces": "Faces_2",
        "Faces_easy": "Faces_3",
        "Motorbikes": "Motorbikes_16",
        "airplanes": "Airplanes_Side_2",
    }

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        target_type: Annotated[str, one_of("category", "annotation", "all")] | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = 1,
        shuffle: Shuffled | None = None,
        decode: Flag = False,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id)
        self._set_folder_and_usage(dataset_dir, None, decode)
        self.target_type: str = target_type or "category"
        targets = ("category", "annotation") if self.target_type == "all" else (self.target_type,)
        self.columns: tuple[str, ...] = ("image", *targets)

    def get_class_indexing(self) -> dict[str, int]:
        """Return {folder name: class index}."""
        image_root = self._join_path("101_ObjectCategories")
        return {name: n for n, name in enumerate(n for n in folders(image_root) if n != "BACKGROUND_Google")}

    def _read_columns(self):
        rows = []
        for name, number in self.get_class_indexing().items():
            for path in listing(self._join_path("101_ObjectCategories", name), ".jpg"):
                stem = os.path.basename(path).replace("image_", "annotation_").removesuffix(".jpg")
                rows.append(
                    (
                        path,
                        number,
                        self._join_path("Annotations", self._annotation_folders.get(name, name), f"{stem}.mat"),
                    )
                )
        images, numbers, contours = zip(*rows, strict=True) if rows else ((), (), ())
        columns = [pictures(images, self.decode)]
        if self.target_type != "annotation":
            columns.append(np.array(numbers, np.int64))
        if self.target_type != "category":
            columns.append(Files(contours, lambda path: _load_matlab(path)["obj_contour"]))
        return columns


class SBDataset(PublicSet):
    """SBD, photos with the borders or the areas of objects: columns ``image`` and ``task`` (uint8: the file's bytes,
    or RGB pixels). In ``task``, 'Boundaries' gives 20 planes of borders, 'Segmentation' one plane of classes.

    Args:
        dataset_dir (str): Folder with ``img``, ``cls``, ``train.txt``, ``val.txt`` and ``train_noval.txt``.
        task (str, optional): 'Boundaries' or 'Segmentation'. Default: 'Boundaries'.
        usage (str, optional): 'train', 'val', 'train_noval' or 'all'. Default: 'all'.
        decode (bool, optional): True to decode images. Default: None, which means False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "task")
    usages: tuple[str, ...] = ("train", "val", "train_noval", "all")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        task: Annotated[str, one_of("Boundaries", "Segmentation")] = "Boundaries",
        usage: Text = "all",
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = 1,
        shuffle: Shuffled | None = None,
        decode: Flag | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id)
        self._set_folder_and_usage(dataset_dir, usage, decode)
        self.task: str = task

    def _read_label(self, path):
        classes = _load_matlab(path)["GTcls"][0]
        if self.task == "Segmentation":
            return classes["Segmentation"][0].astype(np.uint8)
        planes = classes["Boundaries"][0]  # sparse matrices, one for each class of VOC
        return np.stack([plane[0].toarray() for plane in planes])

    def _read_columns(self):
        usages = ("train", "val") if self.usage == "all" else (self.usage,)
        names = [n for usage in usages for n in text_files.text(self._join_path(f"{usage}.txt")).split()]
        labels = Files([self._join_path("cls", f"{name}.mat") for name in names], self._read_label)
        return pictures([self._join_path("img", f"{name}.jpg") for name in names], self.decode), labels
