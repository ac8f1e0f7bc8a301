"""Random samples with the columns of a schema, and ranges."""

import math
from typing import Annotated, Any

import numpy as np

from msnb.common.kinds import checked
from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.kinds import Int, NumSamples, Workers, of_type
from msnb.dataset.core.streams import Mt32
from msnb.dataset.engine.cache_client import Cache
from msnb.dataset.engine.schema import Schema
from msnb.dataset.engine.sources.mappable import MappableDataset, Shuffled
from msnb.dataset.engine.sources.samples import ArraySamples, Samples


class _RandomSamples(Samples):
    """Random samples that depend only on their index, so that they are the same in every epoch."""

    def __init__(self, rows, details, seed):
        super().__init__("RandomDataset", rows)
        self.details = details
        self.seed = seed

    def fetch(self, numbers):
        """Return the columns of the samples with the indices `numbers`."""
        rows = []
        for number in numbers.tolist():
            stream = Mt32(self.seed + number)
            row = []
            for _, dtype, shape in self.details:
                size = [stream.uniform_int(1, 32) if d == -1 else d for d in (shape or [])]
                byte = stream.uniform_int(0, 255)
                if dtype.kind == "S":
                    row.append(np.full(size, b"%d" % byte))
                elif dtype.kind == "b":
                    row.append(np.full(size, bool(byte & 1)))
                else:
                    count = max(1, math.prod(size))
                    row.append(
                        np.frombuffer(bytes([byte]) * (count * dtype.itemsize), dtype)[: math.prod(size)]
                        .reshape(size)
                        .copy()
                    )
            rows.append(row)
        return [list(c) for c in zip(*rows, strict=True)]


class RandomDataset(MappableDataset):
    """Data set of random samples.

    Args:
        total_rows (int, optional): Number of samples. Default: None, the schema's ``numRows``, or a random number.
        schema (Union[str, Schema], optional): The columns: a JSON file or a Schema. Default: None, random columns.
        columns_list (list[str], optional): Columns to use. Default: None, which means all.
        num_samples (int, optional): Maximal number of samples. Default: None, which means all.
        num_parallel_workers (int, optional): Number of workers. Default: None.
        cache (DatasetCache, optional): Cache of the samples. Default: None.
        shuffle (bool, optional): True for a random order. Default: None, which means False.
        num_shards (int, optional): Number of shards that the samples are divided into. Default: None.
        shard_id (int, optional): Index of this shard. Default: None.
    """

    @checked
    def __init__(
        self,
        total_rows: Int | None = None,
        schema: str | Schema | None = None,
        columns_list: Annotated[list[str], of_type(list)] | None = None,
        num_samples: NumSamples | None = None,
        num_parallel_workers: Workers | None = None,
        cache: Cache | None = None,
        shuffle: Shuffled | None = None,
        num_shards: Int | None = None,
        shard_id: Int | None = None,
    ):
        super().__init__(num_samples, num_parallel_workers, bool(shuffle), None, num_shards, shard_id, cache)
        self.schema = Schema(schema) if isinstance(schema, str) else schema
        self.total_rows: Any = total_rows or (self.schema.num_rows if self.schema is not None else 0)
        self.columns_list = columns_list
        seed = fresh_seed()
        if self.schema is None:
            stream = Mt32(seed)
            self.schema = Schema()
            for i in range(stream.uniform_int(1, 4)):
                kind = ("int32", "float32", "uint8", "float64", "int64")[stream.uniform_int(0, 4)]
                self.schema.add_column(
                    f"c{i}", kind, [stream.uniform_int(1, 8) for _ in range(stream.uniform_int(1, 3))]
                )
        if not self.total_rows:
            self.total_rows: Any = Mt32(seed + 1).uniform_int(1, 1024)
        details = self.schema.details()
        if columns_list:
            by_name = {d[0]: d for d in details}
            missing = [n for n in columns_list if n not in by_name]
            if missing:
                raise RuntimeError(
                    f"Invalid data, failed to find column name: {missing[0]}. The schema has {list(by_name)}."
                )
            details = [by_name[n] for n in columns_list]
        self.columns: tuple[Any, ...] = tuple(d[0] for d in details)
        self._details = details
        self._seed = seed

    def _load_samples(self):
        return _RandomSamples(self.total_rows, self._details, self._seed)


class RangeDataset(MappableDataset):
    """Data set of the integers of a range: one column, ``id`` (int64 scalar).

    Args:
        start (int): First number.
        stop (int): Exclusive upper bound.
        step (int): Difference between numbers.
    """

    columns: tuple[str, ...] = ("id",)

    def __init__(self, start: int, stop: int, step: int):
        super().__init__(shuffle=False)
        self.start: int = start
        self.stop: int = stop
        self.step: int = step

    def _load_samples(self):
        return ArraySamples("RangeDataset", [np.arange(self.start, self.stop, self.step)])
