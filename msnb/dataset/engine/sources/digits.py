"""Handwritten digits and letters, and images in the same formats: the formats of MNIST, USPS and Semeion."""

import os
from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag, Folder, Int, NumSamples, Text, Workers, one_of
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.sources.mappable import Sampling, Shuffled
from msnb.dataset.engine.sources.mnist import MnistFormat
from msnb.dataset.engine.sources.public import PublicSet, TextSet, UndividedSet
from msnb.formats import idx, text_files


class FashionMnistDataset(MnistFormat):
    """Fashion-MNIST, clothes of ten classes in the format of MNIST: columns ``image`` (uint8, (28, 28, 1)) and
    ``label`` (uint32). The arguments are those of :class:`MnistDataset`.
    """


class KMnistDataset(MnistFormat):
    """KMNIST, ten Japanese characters in the format of MNIST: columns ``image`` (uint8, (28, 28, 1)) and ``label``
    (uint32). The arguments are those of :class:`MnistDataset`.
    """


class _IdxSet(PublicSet):
    """Images in IDX files, with labels in other IDX files."""

    columns: tuple[str, ...] = ("image", "label")

    def _read_images_and_labels(self, images, labels):
        paths = self._join_path(images), self._join_path(labels)
        for path in paths:
            if not os.path.isfile(path):
                raise RuntimeError(f"Invalid file, {path!r} does not exist.")
        x, y = map(idx.read, paths)
        if x.ndim != 3 or x.dtype != np.uint8 or len(x) != len(y):
            raise RuntimeError(
                f"Invalid file, {paths[0]!r} should hold uint8 images in 3 dimensions, as many as {paths[1]!r} has "
                f"labels, but holds {x.dtype} of shape {x.shape} for {len(y)} labels."
            )
        return x[..., None], y


class EMnistDataset(_IdxSet):
    """EMNIST, letters and digits in the format of MNIST: columns ``image`` (uint8, (28, 28, 1)) and ``label`` (uint32).

    Args:
        dataset_dir (str): Folder with ``emnist-mnist-train-images-idx3-ubyte`` and the like.
        name (str): 'byclass', 'bymerge', 'balanced', 'letters', 'digits' or 'mnist'.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        name: Annotated[str, one_of("byclass", "bymerge", "balanced", "letters", "digits", "mnist")],
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

    def _read_columns(self):
        usages = ("test", "train") if self.usage == "all" else (self.usage,)
        stems = [f"emnist-{self.name}-{usage}" for usage in usages]
        pairs = [
            self._read_images_and_labels(f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte") for stem in stems
        ]
        images, labels = zip(*pairs, strict=True)
        return np.concatenate(images), np.concatenate(labels).astype(np.uint32)


class QMnistDataset(_IdxSet):
    """QMNIST, the digits of MNIST with their origin: columns ``image`` (uint8, (28, 28, 1)) and ``label``
    (uint32, the digit, or eight numbers about it).

    Args:
        dataset_dir (str): Folder with ``qmnist-train-images-idx3-ubyte``, ``qmnist-train-labels-idx2-int``, the same
            of ``qmnist-test`` and of ``xnist``.
        usage (str, optional): 'train', 'test', 'test10k', 'test50k', 'nist' or 'all'. Default: None, which means 'all'.
        compat (bool, optional): True for the digit as label, False for eight numbers about it. Default: True.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If a file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    usages: tuple[str, ...] = ("train", "test", "test10k", "test50k", "nist", "all")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        usage: Text | None = None,
        compat: Flag = True,
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
        self.compat: bool = compat

    def _read_columns(self):
        chosen = {"test10k": slice(10000), "test50k": slice(10000, None)}.get(self.usage, slice(None))
        stems = {"train": "qmnist-train", "nist": "xnist"}
        usages = ("train", "test", "nist") if self.usage == "all" else (self.usage,)
        pairs = []
        for usage in usages:
            stem = stems.get(usage, "qmnist-test")
            pairs.append(self._read_images_and_labels(f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx2-int"))
        images, labels = (np.concatenate(arrays)[chosen] for arrays in zip(*pairs, strict=True))
        labels = labels.astype(np.uint32)
        return images, labels[:, 0] if self.compat else labels


class SemeionDataset(UndividedSet):
    """Semeion, digits of 16 by 16 points: columns ``image`` (uint8, (16, 16), 0 or 1) and ``label`` (uint32).

    Args:
        dataset_dir (str): Folder with ``semeion.data``.

    The other arguments are those of :class:`MnistDataset`.

    Raises:
        RuntimeError: If the file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")
    classes: int | None = 10

    def _read_columns(self):
        path = self._join_path("semeion.data")
        try:
            rows = [list(map(float, line.split())) for line in text_files.lines(path) if line.strip()]
            values = np.array(rows).reshape(-1, 266)
        except (ValueError, OSError) as error:
            raise RuntimeError(f"Invalid file, {path!r} should have 266 numbers on each line: {error}.") from None
        return values[:, :256].astype(np.uint8).reshape(-1, 16, 16), values[:, 256:].argmax(1).astype(np.uint32)


class USPSDataset(TextSet):
    """USPS, digits of envelopes: columns ``image`` (uint8, (16, 16, 1)) and ``label`` (uint32).

    Args:
        dataset_dir (str): Folder with ``usps`` (for training) and ``usps.t``.
        usage (str, optional): 'train', 'test' or 'all'. Default: None, which means 'all'.

    The other arguments are those of :class:`TextFileDataset`.

    Raises:
        RuntimeError: If a file is missing or damaged, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "label")
    files: dict[str, tuple[str, ...]] = {"train": ("usps",), "test": ("usps.t",)}

    def _read_rows(self, path):
        for number, line in enumerate(text_files.lines(path), 1):
            label, *cells = line.split() or [""]
            if not label:
                continue
            try:
                values = np.array([float(cell.partition(":")[2]) for cell in cells]).reshape(16, 16, 1)
                digit = int(label) - 1
            except ValueError as error:
                raise RuntimeError(
                    f"Invalid file, {path!r}: line {number} is no digit with 256 points: {error}."
                ) from None
            yield ((values + 1) / 2 * 255).astype(np.uint8), np.array(digit, np.uint32)

    def _count_classes(self):
        return 10
