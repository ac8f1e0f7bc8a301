"""CLUE, the Chinese language understanding benchmark: a JSON object a line."""

import json

import numpy as np

from msnb.dataset.engine.sources.base import RowStream, Shuffle, StreamDataset

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


def _array(value, key):
    if isinstance(value, str):
        return np.array(value.encode("utf-8"))
    if isinstance(value, bool | float):
        return np.array(value, np.float32)
    if isinstance(value, int):
        return np.array(value, np.uint32 if value >= 0 else np.int32)
    if isinstance(value, list):
        return np.array([str(v).encode("utf-8") for v in value])
    raise RuntimeError(f"Invalid data, key {key!r} holds {value!r}; a string, number or list is expected.")


class CLUEDataset(StreamDataset):
    """The samples of a task of CLUE; a column per key.

    Args:
        dataset_files (Union[str, list[str]]): Files, or patterns of file names.
        task (str, optional): 'AFQMC', 'TNEWS', 'IFLYTEK', 'CMNLI', 'WSC' or 'CSL'. Default: 'AFQMC'.
        usage (str, optional): 'train', 'test' or 'eval'. Default: 'train'.
        num_samples (int, optional): At most so many rows. Default: None, all.
        num_parallel_workers (int, optional): Workers. Default: None, that of ``dataset.config``.
        shuffle (Union[bool, Shuffle], optional): False for the files' own order, ``Shuffle.FILES`` for the files in
            random order,
            True or ``Shuffle.GLOBAL`` for rows in random order too. Default: ``Shuffle.GLOBAL``.
        num_shards (int, optional): Number of shares to divide the rows into. Default: None.
        shard_id (int, optional): Number of this share. Default: None.
        cache (DatasetCache, optional): Where to keep the rows. Default: None.

    Raises:
        ValueError: If `task` or `usage` is another, or no file matches.
        RuntimeError: If arguments exclude each other, or a line is no JSON object with the task's keys.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.CLUEDataset("afqmc/train.json", task="AFQMC", usage="train")
    """

    def __init__(
        self,
        dataset_files,
        task="AFQMC",
        usage="train",
        num_samples=None,
        num_parallel_workers=None,
        shuffle=Shuffle.GLOBAL,
        num_shards=None,
        shard_id=None,
        cache=None,
    ):
        if task not in _KEYS:
            raise ValueError(f"task should be 'AFQMC', 'TNEWS', 'IFLYTEK', 'CMNLI', 'WSC' or 'CSL', but got {task!r}.")
        if usage not in ("train", "test", "eval"):
            raise ValueError(f"usage should be 'train', 'test' or 'eval', but got {usage!r}.")
        super().__init__(dataset_files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache)
        self.task = task
        self.usage = usage
        self._keys = _KEYS[task][usage]

    def _names(self):
        return sorted(k.split("/")[-1] for k in self._keys)

    def _stream(self):
        keys = sorted(self._keys, key=lambda k: k.split("/")[-1])

        def read(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    if not line.strip("\n"):
                        continue
                    try:
                        content = json.loads(line)
                    except ValueError:
                        raise RuntimeError(f"Invalid file, failed to parse json file: {path}: {line[:80]!r}.") from None
                    row = []
                    for key in keys:
                        value = content
                        for part in key.split("/"):
                            if not isinstance(value, dict) or part not in value:
                                raise RuntimeError(f"Invalid data, failed to find key: {part} in {path}.")
                            value = value[part]
                        row.append(_array(value, key))
                    yield tuple(row)

        def count(path):
            with open(path, "rb") as file:
                return sum(1 for line in file if line.strip(b"\n"))

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
