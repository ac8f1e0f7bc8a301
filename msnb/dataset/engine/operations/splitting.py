"""``split``: divide a data set into parts that do not overlap."""

import copy
from collections.abc import Sequence
from typing import Annotated

from msnb import log
from msnb.common.kinds import Worded, checked
from msnb.dataset.core.config import fresh_seed
from msnb.dataset.core.kinds import Flag, of_type
from msnb.dataset.engine.dataset import Dataset, fluent


def _check_split_sizes(sizes, name):
    if not of_type(list)(sizes, name):
        raise ValueError(f"{name} cannot be empty.")
    if all(isinstance(s, int) and not isinstance(s, bool) for s in sizes):
        if not all(s > 0 for s in sizes):
            raise ValueError("split sizes should be positive: there should be no negative or zero numbers.")
        return sizes
    if not all(isinstance(s, float) for s in sizes):
        raise ValueError(f"{name} should be list of int or list of float.")
    if not all(0 < s <= 1 for s in sizes):
        raise ValueError(f"{name} is a list of float: there should be no numbers outside the range (0, 1].")
    if abs(sum(sizes) - 1) > 1e-9:
        raise ValueError(f"{name} is a list of float, but the percentages do not sum up to 1.")
    return sizes


Shares = Annotated[list[int] | list[float], Worded("numbers of rows, or shares that add up to 1", _check_split_sizes)]


@fluent
@checked
def split(self: Dataset, sizes: Shares, randomize: Flag = True) -> tuple[Dataset, ...]:
    """Split the data set into parts that do not overlap.

    Args:
        sizes (Union[list[int], list[float]]): Rows of each part, or fractions that add up to 1.
        randomize (bool, optional): True to shuffle rows first, in the same way in every epoch. Default: True.

    Returns:
        tuple(Dataset), the parts.

    Raises:
        RuntimeError: If the size is unknown, the data set sharded, or the sizes do not add up.
        ValueError: If `sizes` is empty or has numbers out of range.

    Examples:
        >>> train, test = dataset.split([0.9, 0.1])
    """

    subsets, start, seed = [], 0, fresh_seed()
    for count in part_sizes(self, sizes):
        subset = copy.deepcopy(self)
        subset.dataset_size = None
        if randomize:
            subset = subset.shuffle(10000)
            subset.reshuffle_each_epoch, subset.own_seed = False, seed
        if start:
            subset = subset.skip(start)
        subsets.append(subset.take(count))
        start += count
    return tuple(subsets)


def part_sizes(dataset: Dataset, sizes: Sequence[float]) -> list[int]:
    """Convert `sizes` (rows or fractions) to numbers of rows that add up to the size of the data set."""
    if dataset.is_shuffled():
        log.warning("Dataset is shuffled before split.")
    if dataset.is_sharded():
        raise RuntimeError("Dataset should not be sharded before split.")
    total = dataset.get_dataset_size()
    if not total:
        raise RuntimeError("dataset_size is unknown, unable to split.")
    if isinstance(sizes[0], int):
        if sum(sizes) != total:
            raise RuntimeError(f"Sum of split sizes {sum(sizes)} is not equal to dataset size {total}.")
        return sizes
    counts = [int(round(s * total)) for s in sizes]
    for share, count in zip(sizes, counts, strict=True):
        if count == 0:
            raise RuntimeError(f"Split percentage {share} is too small.")
    missing = total - sum(counts)
    if missing > 0:
        counts[0] += missing
    elif missing < 0:
        index = next((i for i, c in enumerate(counts) if c + missing > 0), None)
        if index is None:
            raise RuntimeError(f"Sum of calculated split sizes {sum(counts)} is not equal to dataset size {total}.")
        counts[index] += missing
    return counts
