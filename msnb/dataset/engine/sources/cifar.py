"""CIFAR-10 and CIFAR-100 in their binary format: for each image its label bytes, then 3 x 32 x 32 bytes."""

import os
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Folder, Int, NumSamples, Workers, one_of
from msnb.dataset.core.optional import cv2
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution.errors import NoDataError
from msnb.dataset.engine.sources.mappable import MappableDataset, Sampling, Shuffled
from msnb.dataset.engine.sources.samples import ArraySamples


class _CifarDataset(MappableDataset):
    """Base of `Cifar10Dataset` and `Cifar100Dataset`."""

    labels = 1
    file_patterns: dict[Any, Any] = {}

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Annotated[str, one_of("train", "test", "all")] | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ):
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.dataset_dir = dataset_dir
        self.usage: str = usage or "all"

    def _load_samples(self):
        name = type(self).__name__
        files = sorted(f for f in os.listdir(self.dataset_dir) if f.endswith(".bin"))
        if not files:
            raise RuntimeError(
                f"Invalid file, no .bin files found under {self.dataset_dir}. {name} reads CIFAR's binary version."
            )
        paths, images, labels = [], [], []
        width = self.labels + 3072
        for file in files:
            if not any(pattern in file for pattern in self.file_patterns[self.usage]):
                continue
            path = os.path.join(self.dataset_dir, file)
            data = np.fromfile(path, np.uint8)
            if not len(data) or len(data) % width:
                raise RuntimeError(
                    f"Invalid file, {path!r} is no {name} file: its size should be a multiple of {width} bytes, but is "
                    f"{len(data)}."
                )
            data = data.reshape(-1, width)
            paths.append(path)
            labels.append(data[:, : self.labels])
            images.append(data[:, self.labels :])
        if not images:
            raise NoDataError(name, f"{self.dataset_dir!r} has nothing for usage {self.usage!r}.")
        labels = np.concatenate(labels).astype(np.uint32)
        columns = [np.ascontiguousarray(labels[:, i]) for i in range(self.labels)]
        samples = ArraySamples(name, [_planes_to_images(images), *columns], class_ids=columns[0])
        samples.origin = paths
        return samples


def _planes_to_images(planes):
    """Concatenate arrays of images (n, 3072), stored one colour plane after the other, as one array (N, 32, 32, 3)."""
    out = np.empty((sum(map(len, planes)), 1024, 3), np.uint8)
    start = 0
    for array in planes:
        cv2().merge([array[:, i : i + 1024] for i in (0, 1024, 2048)], out[start : start + len(array)])
        start += len(array)
    return out.reshape(-1, 32, 32, 3)


class Cifar10Dataset(_CifarDataset):
    """Small colour images of 10 classes: columns ``image`` (uint8, (32, 32, 3)) and ``label`` (uint32 scalar).

    Args:
        dataset_dir (str): Folder with ``data_batch_1.bin`` to ``data_batch_5.bin`` and ``test_batch.bin``.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, which means 'all'.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (bool, optional): True for a random order. Default: None, which means True.
        sampler (Sampler, optional): Selects and orders the samples; cannot be combined with `shuffle` or shards.
            Default: None.
        num_shards (int, optional): Number of shards that the samples are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        cache (DatasetCache, optional): Cache of the samples. Default: None.

    Raises:
        RuntimeError: If the folder has no such files, they are damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.Cifar10Dataset("cifar-10-batches-bin", usage="train", shuffle=True)
    """

    columns: tuple[str, ...] = ("image", "label")
    labels = 1
    file_patterns: dict[str, list[str]] = {"train": ["data_batch"], "test": ["test_batch"], "all": ["batch"]}

    def _count_classes(self):
        return 10


class Cifar100Dataset(_CifarDataset):
    """Small colour images of 100 classes in 20 superclasses: columns ``image`` (uint8, (32, 32, 3)), ``coarse_label``,
    ``fine_label``.

    Args:
        dataset_dir (str): Folder with ``train.bin`` and ``test.bin``.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, which means 'all'.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (bool, optional): True for a random order. Default: None, which means True.
        sampler (Sampler, optional): Selects and orders the samples; cannot be combined with `shuffle` or shards.
            Default: None.
        num_shards (int, optional): Number of shards that the samples are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        cache (DatasetCache, optional): Cache of the samples. Default: None.

    Raises:
        RuntimeError: If the folder has no such files, they are damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.Cifar100Dataset("cifar-100-binary", usage="test")
    """

    columns: tuple[str, ...] = ("image", "coarse_label", "fine_label")
    labels = 2
    file_patterns: dict[str, list[str]] = {"train": ["train"], "test": ["test"], "all": ["train", "test"]}

    def _count_classes(self):
        return 100
