"""Images in folders whose names are the classes."""

import os
from typing import Annotated

import numpy as np

from msnb.common.kinds import Worded, checked
from msnb.dataset.core.kinds import Flag, Folder, Int, NumSamples, Text, Workers, list_of, of_type
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.sources.mappable import Sampling, Shuffled
from msnb.dataset.engine.sources.public import ImageSet, PublicSet, UndividedImageSet, folders, listing, pictures, texts
from msnb.formats import text_files

_IMAGES = (".jpg", ".JPEG", ".png", ".jpeg")


def _make_image_columns(paths, labels, decode, dtype=np.uint32):
    return pictures(paths, decode), np.array(labels, dtype)


class Caltech256Dataset(UndividedImageSet):
    """Caltech-256, objects of 257 classes: columns ``image`` (uint8: the file's bytes, or RGB pixels) and ``label``
    (int32).

    Args:
        dataset_dir (str): Folder with ``001.ak47`` and the like.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If there is no image, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")

    def _read_columns(self):
        names = folders(self.dataset_dir)
        labelled = [(path, number) for number, name in enumerate(names) for path in listing(self._join_path(name))]
        paths, labels = zip(*labelled, strict=True) if labelled else ((), ())
        return _make_image_columns(paths, labels, self.decode, np.int32)

    def _count_classes(self):
        return len(folders(self.dataset_dir))


class SUN397Dataset(UndividedImageSet):
    """SUN397, scenes of 397 classes: columns ``image`` (uint8: the file's bytes, or RGB pixels) and ``label`` (uint32).

    Args:
        dataset_dir (str): Folder with ``ClassName.txt``, which lists the folders of the classes.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file or a folder is missing, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")

    def _read_class_folders(self):
        return [line.strip().strip("/") for line in text_files.lines(self._join_path("ClassName.txt")) if line.strip()]

    def _read_columns(self):
        labelled = [
            (path, n)
            for n, name in enumerate(self._read_class_folders())
            for path in listing(self._join_path(name), *_IMAGES)
        ]
        paths, labels = zip(*labelled, strict=True) if labelled else ((), ())
        return _make_image_columns(paths, labels, self.decode)

    def _count_classes(self):
        return len(self._read_class_folders())


class Food101Dataset(ImageSet):
    """Food-101, dishes of 101 classes: columns ``image`` (uint8: the file's bytes, or RGB pixels) and ``label``
    (string).

    Args:
        dataset_dir (str): Folder with ``images`` and the lists ``meta/train.txt`` and ``meta/test.txt``.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, which means 'all'.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a list is missing, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")

    def _read_columns(self):
        usages = ("train", "test") if self.usage == "all" else (self.usage,)
        names = [
            n for usage in usages for n in text_files.text(self._join_path("meta", f"{usage}.txt")).split("\n") if n
        ]
        paths = [self._join_path("images", f"{name}.jpg") for name in names]
        return pictures(paths, self.decode), texts([name.partition("/")[0] for name in names])


class RenderedSST2Dataset(ImageSet):
    """Sentences of SST-2 as images: columns ``image`` (uint8: the file's bytes, or RGB pixels) and ``label`` (uint32,
    0 for negative, 1 for positive).

    Args:
        dataset_dir (str): Folder with ``train/negative`` and ``train/positive``, and the like for ``valid``, ``test``.
        usage (str, optional): 'train', 'val', 'test' or 'all'. Default: None, which means 'all'.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If there is no image, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")
    usages: tuple[str, ...] = ("train", "val", "test", "all")
    classes: int | None = 2

    def _read_columns(self):
        usages = (
            ("test", "train", "valid") if self.usage == "all" else ("valid" if self.usage == "val" else self.usage,)
        )
        paths, labels = [], []
        for usage in usages:
            for label, kind in enumerate(("negative", "positive")):
                files = listing(self._join_path(usage, kind))
                paths += files
                labels += [label] * len(files)
        return _make_image_columns(paths, labels, self.decode)


class OmniglotDataset(PublicSet):
    """Omniglot, handwritten characters of 50 alphabets: columns ``image`` (uint8: the file's bytes, or RGB pixels) and
    ``label`` (int32, the number of the character).

    Args:
        dataset_dir (str): Folder with ``images_background`` and ``images_evaluation``.
        background (bool, optional): True to read ``images_background``, False to read ``images_evaluation``. Default:
            None, True.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If there is no image, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        background: Flag | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        decode: Flag | None = False,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir, decode=decode)
        self.background: bool = True if background is None else background

    def _list_character_folders(self):
        root = self._join_path("images_background" if self.background else "images_evaluation")
        return [os.path.join(root, a, c) for a in folders(root) for c in folders(os.path.join(root, a))]

    def _read_columns(self):
        labelled = [
            (path, number) for number, folder in enumerate(self._list_character_folders()) for path in listing(folder)
        ]
        paths, labels = zip(*labelled, strict=True) if labelled else ((), ())
        return _make_image_columns(paths, labels, self.decode, np.int32)

    def _count_classes(self):
        return len(self._list_character_folders())


def _check_scenes(value, name):
    if isinstance(of_type(str, list)(value, name), list):
        list_of(str, containers=(list,))(value, name)
    return value


class LSUNDataset(PublicSet):
    """LSUN, scenes: columns ``image`` (uint8: the file's bytes, or RGB pixels) and ``label`` (uint32).

    Args:
        dataset_dir (str): Folder with ``bedroom_train``, ``bedroom_val`` and the like, and ``test``.
        usage (str, optional): 'train', 'valid', 'test' or 'all', which is 'train' and 'valid'. Default: None, 'all'.
        classes (Union[str, list[str]], optional): The classes to read. Default: None, which means all.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If there is no image, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")
    usages: tuple[str, ...] = ("train", "test", "valid", "all")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        classes: Annotated[str | list[str], Worded("a class or a list of them", _check_scenes)] | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        decode: Flag | None = False,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir, usage, decode)
        self.class_names: list[str] = [classes] if isinstance(classes, str) else list(classes or ())

    def _read_columns(self):
        if self.usage == "test":
            paths = listing(self._join_path("test"))
            return pictures(paths, self.decode), np.zeros(len(paths), np.uint32)
        ends = {"train": ("_train",), "valid": ("_val",), "all": ("_train", "_val")}[self.usage]
        folder_names = [name for name in folders(self.dataset_dir) if name.endswith(ends)]
        if self.class_names:
            folder_names = [name for name in folder_names if name.rpartition("_")[0] in self.class_names]
        paths, labels = [], []
        # MindSpore numbers the folders: a class of both usages has two numbers
        for label, folder in enumerate(folder_names):
            files = listing(self._join_path(folder))
            paths += files
            labels += [label] * len(files)
        return _make_image_columns(paths, labels, self.decode)

    def _count_classes(self):
        if self.class_names or self.usage == "test":
            return len(self.class_names)
        return len({name.rpartition("_")[0] for name in folders(self.dataset_dir) if name != "test"})


class Places365Dataset(PublicSet):
    """Places365, scenes of 365 classes: columns ``image`` (uint8: the file's bytes, or RGB pixels) and ``label``
    (uint32).

    Args:
        dataset_dir (str): Folder with ``categories_places365.txt``, the lists ``places365_train_standard.txt``,
            ``places365_train_challenge.txt``, ``places365_val.txt`` and the folders of images.
        usage (str, optional): 'train-standard', 'train-challenge' or 'val'. Default: None, 'train-standard'.
        small (bool, optional): True to read the images of 256 by 256 pixels. Default: True.
        decode (bool, optional): True to decode images. Default: False.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a list is missing or wrong, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")
    usages: tuple[str, ...] = ("train-standard", "train-challenge", "val")
    usual = "train-standard"

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        small: Flag | None = True,
        decode: Flag | None = False,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir, usage, decode)
        self.small: bool = bool(small)

    def _read_columns(self):
        size = "256" if self.small else "large"
        kind = self.usage.removeprefix("train-")
        folder = f"val_{size}" if kind == "val" else f"data_{size}_{kind}"
        rows = text_files.text(self._join_path(f"places365_{self.usage.replace('-', '_')}.txt")).split("\n")
        rows = [row.rsplit(" ", 1) for row in rows if row]
        paths = [self._join_path(folder, name.lstrip("/")) for name, _ in rows]
        return _make_image_columns(paths, [int(label) for _, label in rows], self.decode)

    def _count_classes(self):
        return sum(1 for line in text_files.lines(self._join_path("categories_places365.txt")) if line.strip())
