"""Images in one folder per class."""

import os
from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Flag, Folder, Int, NumSamples, Texts, Workers, of_type
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution.errors import NoDataError
from msnb.dataset.engine.sources.mappable import MappableDataset, Sampling, Shuffled
from msnb.dataset.engine.sources.samples import Decrypt, FileSamples


class ImageFolderDataset(MappableDataset):
    """Images in one folder per class: columns ``image`` (uint8: the file's bytes, or the RGB image) and ``label``
    (int32 scalar).

    Classes are numbered in the order of the folders' names.

    Args:
        dataset_dir (str): Folder with the folders of the classes.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (bool, optional): True for a random order. Default: None, which means True.
        sampler (Sampler, optional): Selects and orders the samples; cannot be combined with `shuffle` or shards.
            Default: None.
        extensions (list[str], optional): Extensions of the files to use, such as '.jpg'. Default: None, all files.
        class_indexing (dict, optional): Maps folder names to class indices; other folders are skipped. Default: None.
        decode (bool, optional): True to decode images. Default: False.
        num_shards (int, optional): Number of shards that the samples are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        cache (DatasetCache, optional): Cache of the samples. Default: None.
        decrypt (Callable, optional): Takes the path of an encrypted image, returns its decrypted bytes. Default: None.

    Raises:
        RuntimeError: If there is no image, or arguments exclude each other.
        ValueError: If the folder does not exist or an argument is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.ImageFolderDataset("images", class_indexing={"cat": 0, "dog": 1}, decode=True)
    """

    columns: tuple[str, ...] = ("image", "label")

    @checked
    def __init__(
        self,
        dataset_dir: Folder,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        extensions: Texts | None = None,
        class_indexing: Annotated[dict[str, int], of_type(dict)] | None = None,
        decode: Flag | None = False,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
        decrypt: Decrypt | None = None,
    ) -> None:
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.decrypt = decrypt
        self.dataset_dir = dataset_dir
        self.extensions: Texts = extensions or []
        self.class_indexing = class_indexing
        self.decode: bool = decode or False

    def _list_class_folders(self):
        """Return a list of (folder, class index)."""
        names = sorted(e.name for e in os.scandir(self.dataset_dir) if e.is_dir())
        if not self.class_indexing:
            return list(zip(names, range(len(names)), strict=True))
        return [(n, self.class_indexing[n]) for n in names if n in self.class_indexing]

    def _load_samples(self):
        paths, labels = [], []
        for folder, number in self._list_class_folders():
            path = os.path.join(self.dataset_dir, folder)
            files = sorted(
                f for f in os.listdir(path) if not self.extensions or os.path.splitext(f)[1] in self.extensions
            )
            paths += [os.path.join(path, f) for f in files]
            labels += [number] * len(files)
        if not paths:
            raise NoDataError("ImageFolderDataset", f"no image in any folder of {self.dataset_dir!r}.")
        labels = np.array(labels, np.int32)
        return FileSamples("ImageFolderDataset", paths, [labels], self.decode, class_ids=labels, decrypt=self.decrypt)

    def _count_classes(self):
        folders = self._list_class_folders()
        for name in self.class_indexing or ():
            if name not in dict(folders):
                raise RuntimeError(
                    f"Invalid data, {name} doesn't exist in {self.dataset_dir}; there are {[n for n, _ in folders]}."
                )
        return len(folders)

    def get_class_indexing(self) -> dict[str, int]:
        """Return {folder name: class index}."""
        return dict(self._list_class_folders())
