"""CLUE, the Chinese language understanding benchmark: one JSON object per line."""

from typing import Annotated

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.kinds import Int, NumSamples, Workers, choice
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.sources.base import Shuffle
from msnb.dataset.engine.sources.streamed import Files, RowStream, StreamDataset, StreamShuffled
from msnb.formats import text_files

_PAIR = {
    "train": ["label", "sentence1", "sentence2"],
    "test": ["id", "sentence1", "sentence2"],
    "eval": ["label", "sentence1", "sentence2"],
}
_WSC = ["idx", "label", "target/span1_index", "target/span1_text", "target/span2_index", "target/span2_text", "text"]
_KEYS = {
    "AFQMC": _PAIR,
    "CMNLI": _PAIR,
    "CSL": {
        "train": ["abst", "id", "keyword", "label"],
        "test": ["abst", "id", "keyword"],
        "eval": ["abst", "id", "keyword", "label"],
    },
    "IFLYTEK": {
        "train": ["label", "label_des", "sentence"],
        "test": ["id", "sentence"],
        "eval": ["label", "label_des", "sentence"],
    },
    "TNEWS": {
        "train": ["keywords", "label", "label_desc", "sentence"],
        "test": ["id", "keywords", "sentence"],
        "eval": ["keywords", "label", "label_desc", "sentence"],
    },
    "WSC": {"train": _WSC, "test": [k for k in _WSC if k != "label"], "eval": _WSC},
}


def _to_array(value):
    """Convert a JSON value to an array. Return None if it is of a type that CLUE does not use."""
    if isinstance(value, str):
        return np.array(value.encode("utf-8"))
    if isinstance(value, bool | float):
        return np.array(value, np.float32)
    if isinstance(value, int):
        dtype = np.uint32 if value >= 0 else np.int32
        return np.array(value, dtype) if np.iinfo(dtype).min <= value <= np.iinfo(dtype).max else None
    if isinstance(value, list) and not any(isinstance(v, list | dict) for v in value):
        return np.array([str(v).encode("utf-8") for v in value])
    return None


class CLUEDataset(StreamDataset):
    """Samples of one task of CLUE, with a column for each key of the JSON objects.

    Args:
        dataset_files (Union[str, list[str]]): Files, or patterns of file names.
        task (str, optional): 'AFQMC', 'TNEWS', 'IFLYTEK', 'CMNLI', 'WSC' or 'CSL'. Default: 'AFQMC'.
        usage (str, optional): 'train', 'test' or 'eval'. Default: 'train'.
        num_samples (int, optional): Maximal number of rows. Default: None, which means all.
        num_parallel_workers (int, optional): Number of workers. Default: None, the number in ``dataset.config``.
        shuffle (Union[bool, Shuffle], optional): False for the order of the files, ``Shuffle.FILES`` for the files in
            random order, True or ``Shuffle.GLOBAL`` for rows in random order too. Default: ``Shuffle.GLOBAL``.
        num_shards (int, optional): Number of shards that the rows are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
        cache (DatasetCache, optional): Cache of the rows. Default: None.
        encoding (str, optional): Encoding of the files, such as 'gbk'; rows are UTF-8 in any case. Default: 'utf-8'.

    Raises:
        ValueError: If `task` or `usage` is not supported, or no file matches.
        RuntimeError: If arguments exclude each other, or a line is not a JSON object with the task's keys.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.CLUEDataset("afqmc/train.json", task="AFQMC", usage="train")
    """

    @checked
    def __init__(
        self,
        dataset_files: Files,
        task: Annotated[str, choice("AFQMC", "TNEWS", "IFLYTEK", "CMNLI", "WSC", "CSL")] = "AFQMC",
        usage: Annotated[str, choice("train", "test", "eval")] = "train",
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        shuffle: StreamShuffled = Shuffle.GLOBAL,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
        cache: Cache | None = None,
        *,
        encoding: str = "utf-8",
    ) -> None:
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self.encoding: str = text_files.check_encoding(encoding)
        self.task: str = task
        self.usage: str = usage
        self._keys = _KEYS[task][usage]

    def _get_column_names(self):
        return sorted(k.split("/")[-1] for k in self._keys)

    def _make_stream(self):
        keys = sorted(self._keys, key=lambda k: k.split("/")[-1])

        def read(path):
            for number, line in enumerate(text_files.lines(path, self.encoding, choosable=True), 1):
                if line.strip("\n"):
                    content = text_files.parse_json(line, path, number)
                    yield tuple([_look_up_nested_key(content, key, path, number) for key in keys])

        def count(path):
            if self.encoding.lower() in ("utf-8", "utf8"):
                with open(path, "rb") as file:
                    return sum(1 for line in file if line.strip(b"\r\n"))
            return sum(1 for line in text_files.lines(path, self.encoding, choosable=True) if line.strip("\n"))

        return RowStream(
            "CLUEDataset",
            self.dataset_files,
            read,
            count,
            self.shuffle_files,
            self.num_shards,
            self.shard_id,
            self.num_samples,
        )


def _look_up_nested_key(content, key, path, number):
    """Return the array of the value of `key`, whose levels are separated by slashes, in the object of a line."""
    value = content
    for key_part in key.split("/"):
        if not isinstance(value, dict) or key_part not in value:
            raise text_files.BadFileError(f"Invalid data, failed to find key: {key_part} in {path!r}, line {number}.")
        value = value[key_part]
    try:
        array = _to_array(value)
    except UnicodeEncodeError:
        array = None
    if array is None:
        raise text_files.BadFileError(
            f"Invalid data, {path!r}, line {number}: key {key!r} holds {_format_value(value)}; text, a 32-bit "
            "number or a list of these is expected."
        )
    return array


def _format_value(value):
    return type(value).__name__ if isinstance(value, list | dict) else repr(value)[:80]
