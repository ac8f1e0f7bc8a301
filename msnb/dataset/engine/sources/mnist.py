"""MNIST and data sets in its format."""

import os
from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Folder, Int, NumSamples, Workers, one_of
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution.errors import NoDataError
from msnb.dataset.engine.sources.mappable import MappableDataset, Sampling, Shuffled
from msnb.dataset.engine.sources.samples import ArraySamples
from msnb.formats import idx

_PREFIX = {"train": "train", "test": "t10k", "all": ""}


class MnistFormat(MappableDataset):
    """Images and labels in four files of MNIST's format.

    Other readers of the format derive from this class and not from `MnistDataset`, because a program may have
    replaced that by its own function.
    """

    columns: tuple[str, ...] = ("image", "label")

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

    def _find_paths(self, kind, axes):
        prefix = _PREFIX[self.usage] + f"-{kind}"
        return sorted(
            os.path.join(self.dataset_dir, f) for f in os.listdir(self.dataset_dir) if prefix in f and axes in f
        )

    def _load_samples(self):
        pictures, classes = self._find_paths("images", "idx3-ubyte"), self._find_paths("labels", "idx1-ubyte")
        if len(pictures) != len(classes):
            raise RuntimeError(
                f"Invalid data, num of images does not equal to num of labels: {self.dataset_dir} has {len(pictures)} "
                f"image "
                f"file(s), but {len(classes)} label file(s)."
            )
        images, labels = [], []
        for picture, label in zip(pictures, classes, strict=True):
            try:
                x, y = idx.read(picture), idx.read(label)
            except ValueError as error:
                raise RuntimeError(f"Invalid file, not an MNIST file: {error}") from None
            if x.ndim != 3 or x.dtype != np.uint8:
                raise RuntimeError(
                    f"Invalid file, {picture!r} should hold uint8 images in 3 dimensions, but holds {x.dtype} of shape "
                    f"{x.shape}."
                )
            if y.shape != x.shape[:1]:
                raise RuntimeError(
                    f"Invalid data, num of images is not equal to num of labels: {len(x)} in {picture!r}, but "
                    f"{y.shape} in {label!r}."
                )
            images.append(x[..., None])
            labels.append(y.astype(np.uint32))
        if not images:
            pattern = f"{_PREFIX[self.usage]}*-images-idx3-ubyte"
            raise NoDataError(type(self).__name__, f"{self.dataset_dir!r} has no {pattern} for usage {self.usage!r}.")
        images = images[0] if len(images) == 1 else np.concatenate(images)
        labels = np.concatenate(labels)
        samples = ArraySamples(type(self).__name__, [images, labels], class_ids=labels)
        samples.origin = [*pictures, *classes]
        return samples

    def _count_classes(self):
        return 10


class MnistDataset(MnistFormat):
    """Images of handwritten digits: columns ``image`` (uint8, (28, 28, 1)) and ``label`` (uint32 scalar).

    Args:
        dataset_dir (str): Folder with the files ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``,
            ``t10k-images-idx3-ubyte`` and ``t10k-labels-idx1-ubyte`` (compressed with gzip or not).
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
        >>> dataset = ds.MnistDataset("MNIST_Data/train", num_samples=3)
    """
