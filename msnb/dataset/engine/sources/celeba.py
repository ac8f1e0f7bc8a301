"""CelebA: faces and their attributes."""

import os
from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag, Folder, Int, NumSamples, Workers, choice, of_type
from msnb.dataset.engine import samplers
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution.errors import NoDataError
from msnb.dataset.engine.sources.mappable import MappableDataset, Sampling, Shuffled
from msnb.dataset.engine.sources.samples import Decrypt, FileSamples, resolve_inside
from msnb.formats import text_files

_ATTRIBUTES = "list_attr_celeba.txt"
_PARTITION = {"train": "0", "valid": "1", "test": "2"}


class CelebADataset(MappableDataset):
    """Faces: columns ``image`` (uint8: the file's bytes, or the RGB image) and ``attr`` (uint32, 40 attributes).

    Args:
        dataset_dir (str): Folder with the images, ``list_attr_celeba.txt`` and ``list_eval_partition.txt``.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (bool, optional): True for a random order. Default: None, which means True.
        usage (str, optional): 'all', 'train', 'valid' or 'test'. Default: 'all'.
        sampler (Sampler, optional): Selects and orders the samples; cannot be combined with `shuffle` or shards.
            Default: None.
        decode (bool, optional): True to decode images. Default: False.
        extensions (list[str], optional): Extensions of the files to use. Default: None, which means all.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.
        num_shards (int, optional): Number of shards that the samples are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        cache (DatasetCache, optional): Cache of the samples. Default: None.
        decrypt (Callable, optional): Takes the path of an encrypted image, returns its decrypted bytes. Default: None.

    Raises:
        RuntimeError: If the attribute file is missing or wrong, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.
    """

    columns: tuple[str, ...] = ("image", "attr")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        usage: Annotated[str, choice("all", "train", "valid", "test")] | None = "all",
        sampler: Sampling | None = None,
        decode: Flag | None = False,
        extensions: Annotated[list[str], of_type(list)] | None = None,
        num_samples: NumSamples | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
        decrypt: Decrypt | None = None,
    ) -> None:
        if isinstance(sampler, samplers.PKSampler):
            raise ValueError("CelebADataset doesn't support PKSampler.")
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.decrypt = decrypt
        self.dataset_dir = dataset_dir
        self.usage: str = usage or "all"
        self.decode: bool = decode or False
        self.extensions: list[str] = extensions or []

    def _read_list_file(self, name):
        path = os.path.join(self.dataset_dir, name)
        try:
            return text_files.text(path).splitlines()
        except OSError:
            raise RuntimeError(f"Invalid file, failed to open Celeba attr file: {path}") from None

    def _load_samples(self):
        lines = self._read_list_file(_ATTRIBUTES)
        if not lines or not lines[0].strip().isdigit():
            raise text_files.BadFileError(
                f"Invalid data, the first line of {_ATTRIBUTES} in {self.dataset_dir!r} should be the number of rows, "
                f"but is {(lines[0] if lines else '')[:80]!r}."
            )
        partition_lines = self._read_list_file("list_eval_partition.txt") if self.usage != "all" else None
        paths, attributes = [], []
        for number, line in enumerate(lines[2:]):
            words = line.split()
            if not words:
                continue
            if partition_lines is not None:
                entry = partition_lines[number].split() if number < len(partition_lines) else []
                if len(entry) != 2 or entry[1] != _PARTITION[self.usage]:
                    continue
            if self.extensions and os.path.splitext(words[0])[1] not in self.extensions:
                continue
            where = f"line {number + 3} of {_ATTRIBUTES}"
            paths.append(resolve_inside(self.dataset_dir, words[0], where))
            try:
                attributes.append([1 if int(w) == 1 else 0 for w in words[1:]])
            except ValueError:
                raise text_files.BadFileError(
                    f"Invalid data, {where}: an attribute is no number: {line[:200]!r}."
                ) from None
            if len(attributes[-1]) != len(attributes[0]):
                raise text_files.BadFileError(
                    f"Invalid data, {where} has {len(attributes[-1])} attributes, but the first row has "
                    f"{len(attributes[0])}."
                )
        if not paths:
            raise NoDataError("CelebADataset", f"{self.dataset_dir!r} has no row for usage {self.usage!r}.")
        return FileSamples("CelebADataset", paths, [np.array(attributes, np.uint32)], self.decode, decrypt=self.decrypt)
