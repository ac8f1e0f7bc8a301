"""Images of data sets with many images per file, and images that are generated."""

import math
from collections.abc import Sequence
from typing import Annotated

import numpy as np

from msnb.common.kinds import Worded, check, checked
from msnb.dataset.core.kinds import (
    Folder,
    Int,
    NonNegInt32,
    NumSamples,
    PositiveInt32,
    Text,
    Workers,
    of_type,
    one_of,
)
from msnb.dataset.core.streams import Mt32
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.sources.mappable import Sampling, Shuffled
from msnb.dataset.engine.sources.public import Files, PublicSet, UsageSet, listing
from msnb.dataset.engine.sources.samples import decode_image, read_file
from msnb.formats import text_files


class STL10Dataset(UsageSet):
    """STL-10, images of ten classes and many unlabelled images: columns ``image`` (uint8, (96, 96, 3)) and ``label``
    (int32, -1 for an unlabelled image).

    Args:
        dataset_dir (str): Folder with ``train_X.bin``, ``train_y.bin``, ``test_X.bin``, ``test_y.bin`` and
            ``unlabeled_X.bin``.
        usage (str, optional): 'train', 'test', 'unlabeled', 'train+unlabeled' or 'all'. Default: None, 'all'.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("train", "test", "unlabeled", "train+unlabeled", "all")
    columns: tuple[str, ...] = ("image", "label")

    def _read_bytes(self, name):
        return read_file(self._join_path(name))

    def _read_columns(self):
        usages = ("test", "train", "unlabeled") if self.usage == "all" else self.usage.split("+")
        images, labels = [], []
        for usage in usages:
            pixels = self._read_bytes(f"{usage}_X.bin")
            if len(pixels) % 27648:
                path = self._join_path(f"{usage}_X.bin")
                raise RuntimeError(f"Invalid file, {path!r} holds {len(pixels)} bytes, no multiple of 27648.")
            pixels = pixels.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1)  # each channel is stored column by column
            if usage == "unlabeled":
                classes = np.full(len(pixels), -1, np.int32)
            else:
                classes = self._read_bytes(f"{usage}_y.bin").astype(np.int32) - 1
            if len(classes) != len(pixels):
                raise RuntimeError(
                    f"Invalid data, {self.dataset_dir!r} has {len(pixels)} images, but {len(classes)} labels of "
                    f"{usage}."
                )
            images.append(pixels)
            labels.append(classes)
        return np.concatenate(images), np.concatenate(labels)


_PATCH_COUNTS = {
    "notredame": 468159,
    "yosemite": 633587,
    "liberty": 450092,
    "notredame_harris": 325295,
    "yosemite_harris": 450912,
    "liberty_harris": 379587,
}


class PhotoTourDataset(PublicSet):
    """PhotoTour, patches of photos of the same places: column ``image`` (uint8, (64, 64, 1)). With usage 'test', the
    columns are ``image1``, ``image2`` and ``matches`` (uint32, 1 for the same point).

    Args:
        dataset_dir (str): Folder with ``liberty`` and the like: ``patches0000.bmp``, ``info.txt``,
            ``m50_100000_100000_0.txt``.
        name (str): 'notredame', 'yosemite', 'liberty', 'notredame_harris', 'yosemite_harris' or 'liberty_harris'.
        usage (str, optional): 'train' or 'test'. Default: None, which means 'train'.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("train", "test")
    usual = "train"
    class_column = "matches"

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        name: Annotated[str, one_of(*_PATCH_COUNTS)],
        usage: Text | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage(dataset_dir, usage)
        self.name: str = name
        self.columns: tuple[str, ...] = ("image",) if self.usage == "train" else ("image1", "image2", "matches")

    def _read_patch(self, number):
        path = self._bitmaps[number // 256]
        if path not in self._shared:
            self._shared[path] = decode_image(read_file(path), path)[..., :1]
        row, column = divmod(number % 256, 16)
        return self._shared[path][64 * row : 64 * row + 64, 64 * column : 64 * column + 64]

    def _read_columns(self):
        self._bitmaps = listing(self._join_path(self.name), ".bmp")
        if self.usage == "train":
            return (Files(range(_PATCH_COUNTS[self.name]), self._read_patch),)
        rows = text_files.text(self._join_path(self.name, "m50_100000_100000_0.txt")).splitlines()
        rows = np.array([row.split()[:5] for row in rows if row.strip()], np.int64)
        matches = (rows[:, 1] == rows[:, 4]).astype(np.uint32)
        return Files(rows[:, 0].tolist(), self._read_patch), Files(rows[:, 3].tolist(), self._read_patch), matches


def _check_image_size(size, name):
    if len(of_type(tuple, list)(size, name)) != 3:
        raise ValueError(f"{name} should be a list or tuple of length 3, but got {len(size)}.")
    for number, length in enumerate(size):
        check(PositiveInt32, length, f"{name}[{number}]", "FakeImageDataset")
    return tuple(size)


class FakeImageDataset(PublicSet):
    """Images of random points: columns ``image`` (uint8) and ``label`` (uint32). An image depends only on its index.

    Args:
        num_images (int, optional): Number of images. Default: 1000.
        image_size (tuple, optional): Height, width and channels. Default: (224, 224, 3).
        num_classes (int, optional): Exclusive upper bound of the labels. Default: 10.
        base_seed (int, optional): The seed of the first image. Default: 0.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If arguments exclude each other.
        ValueError: If an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")

    @checked
    def __init__(
        self,
        num_images: PositiveInt32 = 1000,
        image_size: Annotated[Sequence[int], Worded("three positive ints", _check_image_size)] = (224, 224, 3),
        num_classes: PositiveInt32 = 10,
        base_seed: NonNegInt32 = 0,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._set_folder_and_usage("")
        self.num_images: int = num_images
        self.image_size: tuple[int, ...] = tuple(image_size)
        self.classes = num_classes
        self.base_seed: int = base_seed

    def _make_image(self, number):
        """Return an image of the bytes of random normal numbers, with negative numbers set to 0.

        MindSpore fills its images in the same way.
        """
        size = math.prod(self.image_size)
        stream = Mt32(self.base_seed + number)
        numbers = np.array([max(stream.normal(), 0.0) for _ in range(-(-size // 8))], "<f8")
        return numbers.view(np.uint8)[:size].reshape(self.image_size)

    def _read_columns(self):
        labels = [Mt32(self.base_seed + n).uniform_int(0, self.classes - 1) for n in range(self.num_images)]
        return Files(range(self.num_images), self._make_image), np.array(labels, np.uint32)
