"""Samplers of a running pipeline. They draw the same sample indices as MindSpore's (see ``core/streams.py``)."""

from typing import Any

import numpy as np

from msnb.core.operator import api_generations
from msnb.dataset.core.config import fresh_seed, settings
from msnb.dataset.core.streams import Mt32


class Running:
    """Sampler of a running pipeline. It selects among the indices that its child draws, or among all `rows` samples."""

    def __init__(self, sampler: Any, rows: Any, class_ids: Any) -> None:
        self.sampler = sampler
        self.child: Any = sampler.child_sampler.open(rows, class_ids) if sampler.child_sampler is not None else None
        self.rows: Any = self.child.count if self.child is not None else rows
        self.count: Any = self.rows  # number of rows of a parent sampler, at least `size()`
        self.epoch: int = 0
        self.begin(sampler, class_ids)

    def begin(self, sampler: Any, class_ids: Any) -> None:
        """Prepare the first epoch. Each subclass sets its state here."""

    def limit(self, n: int) -> int:
        """Return the sampler's `num_samples`, or `n` if that is smaller or no limit is set."""
        num_samples = self.sampler.num_samples or 0
        return num_samples if 0 < num_samples < n else n

    def next_epoch(self) -> np.ndarray:
        """Return the sample indices of the next epoch as an int64 array."""
        inner = self.child.next_epoch() if self.child is not None else None
        numbers_ = self.draw()
        self.epoch += 1
        return numbers_ if inner is None else inner[numbers_]

    def draw(self) -> np.ndarray:
        raise NotImplementedError

    def draw_of(self, rows: Any) -> np.ndarray:
        """Draw positions from 0 to `rows` - 1. `RecordRandom` accepts any `rows`; others ignore it."""
        return self.draw()

    def size(self) -> int | None:
        """Return the number of samples per epoch."""
        return self.count

    def describe(self) -> str:
        """Return the name of the sampler in a printed plan."""
        name = type(self.sampler).__name__
        return name if self.child is None else f"{name} of {self.child.describe()}"


class Sequential(Running):
    def begin(self, sampler: Any, class_ids: Any) -> None:
        self.start = sampler.start_index or 0
        if sampler.of_records:
            self.count: Any = self.limit(self.rows)
            return
        if self.rows and self.start >= self.rows:
            raise RuntimeError(
                f"Invalid parameter, start_index must be less than num_rows, but got start_index: {self.start}, "
                f"num_rows: {self.rows}."
            )
        self.count: Any = self.limit(self.rows - self.start)

    def draw(self) -> np.ndarray:
        return np.arange(self.start, self.start + self.count, dtype=np.int64) % max(self.rows, 1)


class Random(Running):
    def begin(self, sampler: Any, class_ids: Any) -> None:
        self.count: Any = self.limit(self.rows)
        self.seed = fresh_seed() if sampler.own_seed is None else sampler.own_seed
        self.order: list[int] = list(range(self.rows))

    def draw(self) -> np.ndarray:
        reshuffle = self.sampler.reshuffle_each_epoch
        if self.epoch and reshuffle:
            self.seed += 1
        if self.sampler.replacement:
            return Mt32(self.seed).uniform_ints(self.count, 0, self.rows - 1)
        if self.epoch == 0 or reshuffle:
            Mt32(self.seed).shuffle(self.order)
        return np.array(self.order[: self.count], np.int64)


class Distributed(Running):
    def begin(self, sampler: Any, class_ids: Any) -> None:
        self.count: Any = self.limit(self.rows)
        # all shards must use the same order, so there is a fixed seed even if the user has set none
        self.seed: int = settings.seed + 1
        self.order: list[int] = list(range(self.rows))
        shards, shard = sampler.num_shards, sampler.shard_id
        offset = sampler.offset
        if offset != -1:
            self.share: int = (
                (self.rows + offset) // shards + (shard < (self.rows + offset) % shards) - (shard < offset)
            )
        else:
            offset = 0
            self.share: int = -(-self.rows // shards)
        self.offset = offset
        self.share = min(self.count, self.share)

    def draw(self) -> np.ndarray:
        sampler = self.sampler
        if sampler.shuffle:
            self._shuffle_order()
        steps = np.arange(self.share + 1, dtype=np.int64)
        positions = sampler.num_shards * steps + sampler.shard_id - self.offset
        positions = positions[positions >= 0][: self.share] % max(self.rows, 1)
        return np.array(self.order, np.int64)[positions] if sampler.shuffle else positions

    def _shuffle_order(self):
        Mt32(self.seed + self.epoch).shuffle(self.order)

    def size(self) -> int | None:
        return self.share


class PK(Running):
    def begin(self, sampler: Any, class_ids: Any) -> None:
        if class_ids is None:
            raise RuntimeError(
                "PKSampler needs a data set with classes; this one does not tell the classes of its samples."
            )
        self.seed = fresh_seed()
        ids = np.asarray(class_ids() if callable(class_ids) else class_ids)
        self.by_class: dict[int, np.ndarray] = {int(c): np.flatnonzero(ids == c) for c in np.unique(ids)}
        self.labels: list[int] = sorted(self.by_class)
        self.count: Any = self.limit(sampler.num_val * len(self.labels))
        self.stream = Mt32(self.seed)
        if sampler.shuffle:
            self.stream.shuffle(self.labels)

    def draw(self) -> np.ndarray:
        if self.epoch:
            self.stream = Mt32(self.seed + self.epoch)
        out = []
        for number in range(self.count):
            members = self.by_class[self.labels[number // self.sampler.num_val]]
            out.append(members[self.stream.uniform_int(0, len(members) - 1)])
        return np.array(out, np.int64)


class Subset(Running):
    def begin(self, sampler: Any, class_ids: Any) -> None:
        self.order: list[int] = [int(i) for i in sampler.indices]
        self.count: Any = self.limit(len(self.order))

    def draw(self) -> np.ndarray:
        if self.sampler.is_random:
            self._shuffle_order()
        chosen = np.array(self.order[: self.count], np.int64)
        if len(chosen) and chosen.max() >= self.rows and not self.sampler.of_records:
            raise RuntimeError(
                f"Generated indice is out of bound, expect range [0, num_data-1], got indice: {chosen.max()}, "
                f"num_data: {self.rows - 1}."
            )
        return chosen % max(self.rows, 1)

    def _shuffle_order(self):
        chosen = self.order[: self.count]
        self.order[: self.count] = Mt32(fresh_seed()).shuffle(chosen)


class Weighted(Running):
    def begin(self, sampler: Any, class_ids: Any) -> None:
        self.count: Any = self.limit(self.rows)
        self.weights: np.ndarray = np.array(sampler.weights, np.float64)
        if len(self.weights) > self.rows:
            raise RuntimeError(
                "Invalid parameter, size of sample weights must be less than or equal to num of data, otherwise might "
                f"cause generated id out of bound or other errors, but got weight size: {len(self.weights)}, "
                f"num of data: {self.rows}."
            )
        if not sampler.replacement and len(self.weights) < self.count:
            raise RuntimeError(
                "Invalid parameter, without replacement, weight size must be greater than or equal to num_samples, but "
                f"got weight size: {len(self.weights)}, num_samples: {self.count}."
            )

    def draw(self) -> np.ndarray:
        stream = Mt32(fresh_seed())
        if self.sampler.replacement:
            cumulative = np.cumsum(self.weights / self.weights.sum())
            cumulative[-1] = 1.0
            return np.searchsorted(cumulative, stream.canonicals(self.count), side="left").astype(np.int64)
        with np.errstate(divide="ignore"):
            keys = -np.log(1.0 - stream.canonicals(len(self.weights))) / self.weights
        return np.argsort(keys, kind="stable")[: self.count].astype(np.int64)


class FromPython(Running):
    """Runs a sampler that the user wrote, an iterable over sample indices."""

    def begin(self, sampler: Any, class_ids: Any) -> None:
        self.count: Any = self.limit(self.rows)
        # r1.1 reads at most one number per sample of the data set. MindSpore 2 reads all, or `num_samples` of them.
        sampler._handshake(self.rows, self.count if api_generations.shared == 1 else sampler.num_samples)

    def size(self) -> int | None:
        """Return the number of indices that the sampler yields."""
        return len(self.sampler._get_indices())

    def draw(self) -> np.ndarray:
        if self.epoch:
            self.sampler.reset()
        # A sampler may yield arrays of numbers. The user's object is then indexed with these arrays.
        return np.asarray(self.sampler._get_indices(), np.int64)


class FromBatches(Running):
    def begin(self, sampler: Any, class_ids: Any) -> None:
        self.count: Any = None

    def draw(self) -> np.ndarray:
        lists = [[int(number) for number in batch] for batch in self.sampler.batches]
        batches = np.empty(len(lists), object)
        batches[:] = lists
        return batches

    def size(self) -> int | None:
        batches = self.sampler.batches
        return len(batches) if hasattr(batches, "__len__") else None


class FromIterable(Running):
    def begin(self, sampler: Any, class_ids: Any) -> None:
        self.count: Any = None

    def draw(self) -> np.ndarray:
        numbers_ = [int(i) for i in self.sampler.sampler]
        return np.array(numbers_[: self.sampler.num_samples or None], np.int64)

    def size(self) -> int | None:
        try:
            n = len(self.sampler.sampler)
        except TypeError:
            return None
        return min(n, self.sampler.num_samples or n)
