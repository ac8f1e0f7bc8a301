"""Images listed in a manifest file: one JSON object per line."""

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import File, Flag, Int, NumSamples, Text, Workers
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.execution.errors import NoDataError
from msnb.dataset.engine.sources.mappable import MappableDataset, Sampling, Shuffled
from msnb.dataset.engine.sources.samples import FileSamples
from msnb.formats import text_files

_MAGIC = (b"\xff\xd8\xff", b"\x89PNG", b"BM", b"GIF87a", b"GIF89a")


def _is_image_file(path, where):
    try:
        with open(path, "rb") as file:
            return file.read(8).startswith(_MAGIC)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL or an unpaired surrogate
        raise RuntimeError(
            f"Invalid file, failed to open image file: {path[:200]!r}, which {where} names ({error})."
        ) from None


def _require(is_valid, where, problem):
    if not is_valid:
        raise text_files.BadFileError(f"Invalid file, failed to parse manifest file: {where}: {problem}.")


class ManifestDataset(MappableDataset):
    """Images listed in a manifest file: columns ``image`` (uint8: the file's bytes, or the RGB image) and ``label``
    (int32).

    Args:
        dataset_file (str): The manifest.
        usage (str, optional): Usage of the lines to read: 'train', 'eval' or 'inference'. Default: 'train'.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (bool, optional): True for a random order. Default: None, which means True.
        sampler (Sampler, optional): Selects and orders the samples; cannot be combined with `shuffle` or shards.
            Default: None.
        class_indexing (dict, optional): Maps class names to class indices; other classes are skipped. Default: None.
        decode (bool, optional): True to decode images. Default: False.
        num_shards (int, optional): Number of shards that the samples are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        cache (DatasetCache, optional): Cache of the samples. Default: None.

    Raises:
        RuntimeError: If the file is not a manifest, has no such line, or arguments exclude each other.
        ValueError: If there is no such file or an argument is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.ManifestDataset("images.manifest", usage="train")
    """

    columns: tuple[str, ...] = ("image", "label")

    @checked
    def __init__(
        self,
        dataset_file: File,
        usage: Text = "train",
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: Shuffled | None = None,
        sampler: Sampling | None = None,
        class_indexing: dict[str, int] | None = None,
        decode: Flag | None = False,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
    ):
        if class_indexing is not None and not isinstance(class_indexing, dict):
            raise RuntimeError(f"class_indexing must be a dictionary, but got {type(class_indexing).__name__}.")
        super().__init__(num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self.dataset_file = dataset_file
        self.usage = usage
        self.class_indexing = class_indexing
        self.decode: bool = decode or False

    def _read_entries(self):
        """Read the manifest. Return (pairs (path, class names of the image), all class names)."""
        entries, classes = [], set()
        for number, line in enumerate(text_files.lines(self.dataset_file), 1):
            if not line.strip():
                continue
            where = f"line {number} of {self.dataset_file!r}"
            content = text_files.parse_json(line, self.dataset_file, number)
            _require(isinstance(content, dict), where, "an object is expected")
            path, usage = content.get("source"), content.get("usage", "")
            _require(isinstance(path, str), where, "its source should be the name of a file")
            _require(isinstance(usage, str), where, "its usage should be text")
            if usage.lower() != self.usage or not _is_image_file(path, where):
                continue
            names_in_line = self._extract_class_names(content.get("annotation", []), where)
            classes.update(names_in_line)
            names = [name for name in names_in_line if not self.class_indexing or name in self.class_indexing]
            if names:
                entries.append((path, names))
        return entries, classes

    @staticmethod
    def _extract_class_names(annotations, where):
        _require(isinstance(annotations, list), where, "its annotation should be a list")
        names = [a.get("name") if isinstance(a, dict) else None for a in annotations]
        _require(all(isinstance(n, str) and n for n in names), where, "label name is not found in an annotation")
        return names

    def _load_samples(self):
        entries, _ = self._read_entries()
        if not entries:
            raise NoDataError("ManifestDataset", f"{self.dataset_file!r} has nothing for usage {self.usage!r}.")
        numbers = self._assign_class_numbers(entries)
        labels = [np.array([numbers[n] for n in names], np.int32) for _, names in entries]
        labels = [a.reshape(()) if len(a) == 1 else a for a in labels]
        ids = np.array([a.ravel()[0] for a in labels])
        return FileSamples("ManifestDataset", [p for p, _ in entries], [labels], self.decode, class_ids=ids)

    def _assign_class_numbers(self, entries):
        if self.class_indexing:
            return self.class_indexing
        return {name: i for i, name in enumerate(sorted({n for _, names in entries for n in names}))}

    def _count_classes(self):
        return len(self._read_entries()[1])

    def get_class_indexing(self) -> dict[str, int]:
        """Return {class name: class index}."""
        return dict(self._assign_class_numbers(self._read_entries()[0]))
