"""Which samples a data set gives out, and in which order: the descriptions.

``open(rows, class_ids)`` makes the thing at work (``sampling.py``), whose ``next_epoch()`` is an array of sample
numbers.
"""

import copy
import numbers
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Self

import numpy as np

from msnb.common.arguments import answered
from msnb.dataset.engine import sampling
from msnb.dataset.engine.record_sampling import RECORDS, RecordOrder

__all__ = [
    "Sampler",
    "BuiltinSampler",
    "DistributedSampler",
    "PKSampler",
    "RandomSampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "SubsetSampler",
    "WeightedRandomSampler",
    "IterSampler",
]


def _whole(name, value):
    """`value`, if it is an int."""
    if type(value) is not int:
        raise TypeError(f"{name} should be an integer, but got {name}: {value!r}.")
    return value


def _positive(name, value):
    """`value`, if it is an int greater than 0."""
    if _whole(name, value) <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}: {value}.")
    return value


def _boolean(name, value):
    """`value`, if it is a bool."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} should be a boolean value, but got {name}: {value}.")
    return value


def _limit(num_samples):
    """`num_samples`, if it is None or greater than 0."""
    return num_samples if num_samples is None else _positive("num_samples", num_samples)


def _check_elements(name, elements, kind):
    """TypeError unless all elements are numbers of this kind."""
    for i, x in enumerate(elements):
        if not isinstance(x, kind):
            raise TypeError(f"type of {name} element should be number, but got w[{i}]: {x}, type: {type(x)}.")


def open_for_records(sampler: Any, rows: Any, class_ids: Any = None) -> Any:
    """A sampler, and those below it, at work on a MindDataset of `rows` rows."""

    def prepared(one):
        new = copy.copy(one)
        new.of_records = True
        if new.child_sampler is not None:
            new.child_sampler = prepared(new.child_sampler)
        return new

    return RecordOrder(prepared(sampler).open(rows, class_ids))


class _Chain:
    """What samplers of the library and of users have in common: one may choose among the samples of another."""

    child_sampler: Any = None
    num_samples: Any = None

    def create(self) -> Any:
        """This sampler; MindSpore makes its C++ counterpart here."""
        return self

    def add_child(self, sampler: Any) -> None:
        """Choose among the samples that `sampler` gives out, instead of among all."""
        self.child_sampler = sampler

    def get_child(self) -> Any:
        """The sampler below this one, None when there is none."""
        return self.child_sampler

    def create_child(self) -> Any:
        """The child's counterpart."""
        below = self.get_child()
        return below and below.create()

    def is_shuffled(self) -> bool:
        """Whether the order is random: the child's, where there is one."""
        return self._below("is_shuffled", False)

    def is_sharded(self) -> bool:
        """Whether only a share of the samples is given out: by the child, where there is one."""
        return self._below("is_sharded", False)

    def _below(self, question, otherwise):
        below = self.get_child()
        return otherwise if below is None else getattr(below, question)()

    def set_num_rows(self, num_rows: int) -> None:
        """Say how many samples there are, for :meth:`get_indices`."""
        self._rows = num_rows

    def set_num_samples(self, num_samples: int) -> None:
        """Limit the number of samples."""
        self.num_samples = num_samples

    def initialize(self) -> Any:
        """Begin; :meth:`get_indices` gives the first epoch then."""
        self._at_work = self.open(self._rows)

    def get_indices(self) -> Any:
        """Sample numbers of the next epoch."""
        return self._at_work.next_epoch()


class BuiltinSampler(_Chain):
    """Base of the samplers of the library.

    Args:
        num_samples (int, optional): At most so many samples per epoch. Default: None, all.
    """

    _running = None
    of_records = False  # whether it is MindDataset's: its order is MindRecord's, and past the last row it begins anew

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        new = super().__new__(cls)
        new._made_with = (args, kwargs)
        return new

    def __init__(self, num_samples: int | None = None) -> None:
        self.num_samples: Any = _limit(num_samples)

    def open(self, rows: Any, class_ids: Any = None) -> Any:
        """The sampler at work on a data set of `rows` samples."""
        return (RECORDS.get(self._running, self._running) if self.of_records else self._running)(self, rows, class_ids)

    def create_for_minddataset(self) -> Any:
        """This sampler."""
        return self.create()

    def create_child_for_minddataset(self) -> Any:
        """The child's counterpart."""
        return self.create_child()

    def get_num_samples(self) -> int | None:
        """The smaller of this sampler's and its child's `num_samples`; None when neither has one."""
        limits = self.num_samples, self._below("get_num_samples", None)
        return min((n for n in limits if n is not None), default=None)


class Sampler(_Chain):
    """Base of samplers written by users: define ``__iter__`` to yield sample numbers.

    Inside, ``self.dataset_size`` is the number of samples there are and ``self.num_samples`` how many are wanted.

    Args:
        num_samples (int, optional): At most so many samples per epoch. Default: None, all.

    Examples:
        >>> import mindspore.dataset as ds
        >>> class Reversed(ds.Sampler):
        ...     def __iter__(self):
        ...         yield from range(self.dataset_size - 1, -1, -1)
    """

    dataset_size: int = 0

    @answered
    def __init__(self, num_samples: int | None = None) -> None:
        self.num_samples: Any = num_samples

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has to define __iter__, which yields sample numbers.")

    def reset(self) -> None:
        """Called before every epoch but the first."""

    def _handshake(self, ds_size, num_samples):
        """Called when iterating begins."""
        self.dataset_size, self.num_samples = ds_size, num_samples

    def _get_indices(self):
        return np.array(list(islice(self, self.num_samples or None)))

    def open(self, rows: Any, class_ids: Any = None) -> Any:
        """The sampler at work on a data set of `rows` samples."""
        return sampling.FromPython(self, rows, class_ids)

    def get_num_samples(self) -> int | None:
        """How many numbers it gives; None when that is not limited."""
        return self.num_samples if self.num_samples is None else len(self._get_indices())


class IterSampler(BuiltinSampler):
    """Any iterable over sample numbers as a sampler.

    Args:
        sampler (iterable): Sample numbers, iterated anew in each epoch.
        num_samples (int, optional): At most so many. Default: None, all.
    """

    _running = sampling.FromIterable

    def __init__(self, sampler: Iterable[Any], num_samples: int | None = None) -> None:
        self.num_samples: int | None = num_samples
        self.sampler: Iterable[Any] = sampler

    def is_shuffled(self) -> bool:
        """Not known, so False."""
        return False

    def is_sharded(self) -> bool:
        """False."""
        return False


class BatchesSampler(IterSampler):
    """An iterable over lists of sample numbers, each of which makes a batch.

    Args:
        batches (iterable): Lists of sample numbers, iterated anew in each epoch.
    """

    _running = sampling.FromBatches

    def __init__(self, batches: Iterable[Any]) -> None:
        super().__init__(batches)
        self.batches: Iterable[Any] = batches


class SequentialSampler(BuiltinSampler):
    """Samples in their own order.

    Args:
        start_index (int, optional): Number of the first one. Default: None, 0.
        num_samples (int, optional): How many. Default: None, all.

    Raises:
        ValueError: If `start_index` is negative or `num_samples` not positive.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.MnistDataset("mnist", sampler=ds.SequentialSampler(start_index=100, num_samples=10))
    """

    _running = sampling.Sequential

    @answered
    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        if start_index is not None and _whole("start_index", start_index) < 0:
            raise ValueError(
                f"start_index should be a positive integer value or 0, but got start_index: {start_index}."
            )
        super().__init__(num_samples)
        self.start_index = start_index


class RandomSampler(BuiltinSampler):
    """Samples in random order, another one in each epoch.

    Args:
        replacement (bool, optional): Whether a sample may come twice. Default: False.
        num_samples (int, optional): How many. Default: None, all.

    Raises:
        ValueError: If `replacement` is no bool or `num_samples` not positive.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.MnistDataset("mnist", sampler=ds.RandomSampler())
    """

    _running = sampling.Random

    own_seed = None
    reshuffle_each_epoch = True

    @answered
    def __init__(self, replacement: bool = False, num_samples: int | None = None) -> None:
        self.replacement: bool = _boolean("replacement", replacement)
        super().__init__(num_samples)

    def is_shuffled(self) -> bool:
        """True."""
        return True


class DistributedSampler(BuiltinSampler):
    """One of `num_shards` equal shares of the samples; the first ones are used again where the shares would not be
    equal.

    Args:
        num_shards (int): Number of shares.
        shard_id (int): Number of this share.
        shuffle (bool, optional): Whether all samples are shuffled before they are dealt out. Default: True.
        num_samples (int, optional): At most so many. Default: None, all.
        offset (int, optional): Number of the share that the first sample goes to; -1 deals with equal shares. Default:
            -1.

    Raises:
        ValueError: If an argument is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.ImageFolderDataset("images", sampler=ds.DistributedSampler(10, 2))
    """

    _running = sampling.Distributed
    seed = 0

    @answered
    def __init__(
        self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: int | None = None, offset: int = -1
    ) -> None:
        self.num_shards: int = _positive("num_shards", num_shards)
        self.shard_id: int = _whole("shard_id", shard_id)
        self.offset: int = _whole("offset", offset)
        self.shuffle: bool = _boolean("shuffle", shuffle)
        if shard_id not in range(num_shards):
            raise ValueError(f"shard_id should in range [0, {num_shards - 1}], but got shard_id: {shard_id}.")
        if offset > num_shards:
            raise ValueError(f"offset should be no more than num_shards: {num_shards}, but got offset: {offset}")
        super().__init__(num_samples)

    def is_shuffled(self) -> bool:
        """Whether the order is random."""
        return self._below("is_shuffled", self.shuffle)

    def is_sharded(self) -> bool:
        """Whether there is more than one share."""
        return self._below("is_sharded", self.num_shards > 1)

    def set_offset(self, offset: int) -> Self:
        """Let the first sample go to share `offset`."""
        self.offset = offset
        return self


class PKSampler(BuiltinSampler):
    """`num_val` random samples of each class.

    Args:
        num_val (int): Samples per class.
        num_class (int, optional): Must be None: all classes take part. Default: None.
        shuffle (bool, optional): Whether the classes come in random order. Default: False.
        class_column (str, optional): Column with the class, for MindDataset. Default: 'label'.
        num_samples (int, optional): At most so many in all. Default: None, all.

    Raises:
        NotImplementedError: If `num_class` is given.
        ValueError: If an argument is out of range.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.ImageFolderDataset("images", sampler=ds.PKSampler(3))
    """

    _running = sampling.PK

    @answered
    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ) -> None:
        super().__init__(num_samples)
        self.num_val: int = _positive("num_val", num_val)
        self.class_column: str = class_column
        self.shuffle: bool = _boolean("shuffle", shuffle)
        if num_class is not None:
            raise NotImplementedError("Not supported to specify num_class for PKSampler.")

    def is_shuffled(self) -> bool:
        """Whether the order is random."""
        return self._below("is_shuffled", self.shuffle)


class SubsetSampler(BuiltinSampler):
    """The samples with given numbers, in that order.

    Args:
        indices (Union[int, list[int]]): The numbers; negative ones count from the end.
        num_samples (int, optional): At most so many. Default: None, all.
    """

    _running = sampling.Subset
    is_random = False

    @answered
    def __init__(self, indices: int | list[int], num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.indices: list[int] = list(indices) if isinstance(indices, list | np.ndarray | tuple | range) else [indices]
        _check_elements("indices", self.indices, numbers.Integral)

    def is_shuffled(self) -> bool:
        """Whether the order is random."""
        return self.is_random

    def get_num_samples(self) -> int | None:
        """How many samples it gives."""
        limit = super().get_num_samples()
        return len(self.indices) if limit is None else min(len(self.indices), limit)


class SubsetRandomSampler(SubsetSampler):
    """The samples with given numbers, in random order.

    Args:
        indices (Union[int, list[int]]): The numbers.
        num_samples (int, optional): At most so many. Default: None, all.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.MnistDataset("mnist", sampler=ds.SubsetRandomSampler([0, 1, 2, 3, 7, 88]))
    """

    is_random = True


class WeightedRandomSampler(BuiltinSampler):
    """Random samples, each drawn with a probability proportional to its weight.

    Args:
        weights (list[float, int]): Weight of each sample, not negative, not all zero.
        num_samples (int, optional): How many. Default: None, as many as there are samples.
        replacement (bool, optional): Whether a sample may come twice. Default: True.

    Raises:
        TypeError: If a weight is no number.
        ValueError: If the weights are empty, negative or all zero.

    Examples:
        >>> import mindspore.dataset as ds
        >>> dataset = ds.MnistDataset("mnist", sampler=ds.WeightedRandomSampler([0.9, 0.01, 0.4], 2))
    """

    _running = sampling.Weighted

    @answered
    def __init__(self, weights: list[float | int], num_samples: int | None = None, replacement: bool = True) -> None:
        super().__init__(num_samples)
        self.replacement: bool = _boolean("replacement", replacement)
        self.weights: list[Any] = weights.tolist() if isinstance(weights, np.ndarray) else weights
        if not isinstance(self.weights, list):
            self.weights: list[Any] = [self.weights]
        _check_elements("weights", self.weights, numbers.Number)
        if not self.weights:
            raise ValueError("weights size should not be 0")
        if min(self.weights) < 0:
            raise ValueError("weights should not contain negative numbers.")
        if not any(self.weights):
            raise ValueError("elements of weights should not be all zeros.")

    def is_shuffled(self) -> bool:
        """True."""
        return True


def select_sampler(
    num_samples: int | None, sampler: Any, shuffle: Any, num_shards: int | None, shard_id: int | None
) -> Any:
    """The sampler that a source's arguments ask for."""
    if sampler is not None:
        if any(a is not None for a in (num_shards, shard_id, shuffle, num_samples)):
            raise ValueError(
                f"Conflicting arguments during sampler assignments. num_samples: {num_samples}, num_shards: "
                f"{num_shards}, "
                f"shard_id: {shard_id}, shuffle: {shuffle}. Give these to the sampler, or leave the sampler out."
            )
        return sampler
    num_samples = num_samples or None
    if num_shards is not None:
        return DistributedSampler(num_shards, shard_id, shuffle=shuffle is not False, num_samples=num_samples)
    if shuffle is False:
        return SequentialSampler(num_samples=num_samples)
    return RandomSampler(replacement=num_samples is not None, num_samples=num_samples)
