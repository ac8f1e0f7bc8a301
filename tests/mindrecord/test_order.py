"""Order of MindDataset's rows for a seed, compared with results of MindSpore 2.7.1."""

import numpy as np
import pytest

import msnb.dataset as ds
from msnb.core.operator import api_generations
from msnb.dataset.core.streams import Mt32, first_draws
from msnb.mindrecord import FileWriter


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """13 rows, numbered."""
    name = str(tmp_path_factory.mktemp("order") / "rows.mindrecord")
    writer = FileWriter(name)
    writer.add_schema({"x": {"type": "int32"}})
    writer.write_raw_data([{"x": i} for i in range(13)])
    writer.commit()
    return name


@pytest.mark.parametrize(
    "arguments, expected",
    [
        (dict, [[9, 3, 1, 12, 2, 11, 4, 10, 5, 6, 7, 0, 8], [5, 11, 2, 10, 4, 6, 3, 0, 1, 12, 7, 8, 9]]),
        (lambda: dict(num_samples=5), [[5, 7, 12, 2, 11], [12, 11, 7, 11, 5]]),
        (lambda: dict(sampler=ds.RandomSampler(num_samples=5)), [[9, 3, 1, 12, 2], [1, 12, 2, 9, 3]]),
        (lambda: dict(num_shards=2, shard_id=0), [[9, 1, 2, 4, 5, 7, 8], [8, 4, 6, 1, 2, 10, 0]]),
        (lambda: dict(num_shards=2, shard_id=1), [[3, 12, 11, 10, 6, 0, 9], [5, 7, 9, 11, 3, 12, 8]]),
        (lambda: dict(num_shards=2, shard_id=1, num_samples=3), [[3, 12, 11], [5, 7, 9]]),
        (lambda: dict(sampler=ds.SubsetRandomSampler([1, 3, 5, 7, 9])), [[9, 7, 3, 1, 5]] * 2),
    ],
)
def test_order_of_rows_equals_mindspore(path, arguments, expected):
    ds.config.set_seed(1)
    it = ds.MindDataset(path, **arguments()).create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [[int(row[0]) for row in it] for _ in range(2)] == expected


def above(top, below):
    top.add_child(below)
    return top


@pytest.mark.parametrize(
    "make, expected",
    [
        (
            lambda: above(ds.DistributedSampler(2, 0), ds.RandomSampler()),
            [
                [6, 3, 1, 2, 11, 10, 5],
                [5, 2, 4, 3, 1, 7, 9],
                [4, 12, 1, 8, 10, 0, 5],
            ],
        ),
        (
            lambda: above(ds.RandomSampler(), ds.SequentialSampler(2, 6)),
            [
                [4, 2, 6, 7, 3, 5],
                [7, 3, 5, 2, 6, 4],
                [4, 5, 2, 7, 3, 6],
            ],
        ),
        (
            lambda: above(ds.SequentialSampler(1, 5), ds.RandomSampler()),
            [
                [3, 1, 12, 2, 11],
                [12, 2, 11, 3, 1],
                [1, 12, 3, 2, 11],
            ],
        ),
    ],
)
def test_order_of_nested_samplers_equals_mindspore(path, make, expected):
    ds.config.set_seed(1)
    it = ds.MindDataset(path, sampler=make()).create_tuple_iterator(num_epochs=3, output_numpy=True)
    assert [[int(row[0]) for row in it] for _ in range(3)] == expected


@pytest.mark.parametrize(
    "shuffle, sampler, expected",
    [
        (False, None, [[3, 0, 11, 10, 5, 9, 8, 6], [11, 6, 0, 8, 9, 3, 5, 10], [0, 10, 6, 5, 3, 11, 9, 8]]),
        (True, None, [[12, 9, 0, 7, 11, 6, 5, 4], [5, 12, 11, 6, 4, 7, 0, 9], [6, 4, 11, 9, 0, 7, 12, 5]]),
        (
            False,
            lambda: ds.RandomSampler(),
            [
                [11, 3, 5, 6, 0, 10, 8, 9],
                [8, 10, 0, 9, 3, 6, 11, 5],
                [8, 10, 11, 0, 5, 3, 9, 6],
            ],
        ),
        (False, lambda: ds.DistributedSampler(2, 1), [[3, 6, 10, 9], [5, 0, 6, 3], [11, 3, 8, 5]]),
    ],
)
def test_order_of_splits_equals_mindspore(path, shuffle, sampler, expected):
    ds.config.set_seed(1)
    split = ds.MindDataset(path, shuffle=shuffle).split([0.6, 0.4])[0]
    if sampler is not None:
        split.use_sampler(sampler())
    it = split.create_tuple_iterator(num_epochs=3, output_numpy=True)
    assert [[int(row[0]) for row in it] for _ in range(3)] == expected


def test_shards_are_disjoint_without_a_seed(path):
    shares = [ds.MindDataset(path, num_shards=13, shard_id=i) for i in range(13)]
    rows = [int(next(share.create_tuple_iterator(num_epochs=1, output_numpy=True))[0]) for share in shares]
    assert sorted(rows) == list(range(13))


def test_shuffling_only_files_raises(path):
    with pytest.raises(ValueError, match="'shuffle' should be bool"):
        ds.MindDataset(path, shuffle=ds.Shuffle.FILES)


@pytest.mark.parametrize("n", (1, 7, 1000, 3 * 10**9))  # of the last one, many a first draw is refused
def test_first_draws_equal_one_engine_per_seed(n):
    seeds = np.array([0, 1, 5489, 2**31, 2**32 - 1, 2**32 + 5, *range(100, 140)])
    assert first_draws(seeds, n).tolist() == [Mt32(int(seed)).uniform_int(0, n - 1) for seed in seeds]


def test_user_defined_sampler_over_mindrecord(path):
    class Backwards(ds.Sampler):
        def __iter__(self):
            yield from range(self.dataset_size - 1, -1, -1)

    dataset = ds.MindDataset(path, shuffle=False)
    dataset.use_sampler(Backwards())
    it = dataset.create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert [[int(row[0]) for row in it] for _ in range(2)] == [list(range(12, -1, -1))] * 2


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """12 rows, numbered, in three files."""
    name = str(tmp_path_factory.mktemp("files") / "rows.mindrecord")
    writer = FileWriter(name, 3)
    writer.add_schema({"x": {"type": "int32"}})
    writer.write_raw_data([{"x": i} for i in range(12)])
    writer.commit()
    return [name + str(i) for i in range(3)]


@pytest.mark.parametrize(
    "shuffle, expected",
    [
        (
            ds.Shuffle.FILES,
            [
                [8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7],
                [4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3],
                [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
            ],
        ),
        (
            ds.Shuffle.INFILE,
            [
                [1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8],
                [2, 3, 1, 0, 6, 7, 5, 4, 10, 11, 9, 8],
                [3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10],
            ],
        ),
    ],
)
def test_order_of_shuffled_files_equals_mindspore_2(files, shuffle, expected, monkeypatch):
    monkeypatch.setattr(api_generations, "shared", 2)
    ds.config.set_seed(3)
    dataset = ds.MindDataset(files, shuffle=shuffle)
    it = dataset.create_tuple_iterator(num_epochs=3, output_numpy=True)
    assert [[int(row[0]) for row in it] for _ in range(3)] == expected
    ds.config.set_seed(3)
    share = ds.MindDataset(files[0], shuffle=shuffle, num_shards=2, shard_id=0)
    rows = [int(row[0]) for row in share.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert rows == expected[0][::2]


def test_shuffled_files_exclude_num_samples(files, monkeypatch):
    monkeypatch.setattr(api_generations, "shared", 2)
    with pytest.raises(ValueError, match="'num_samples' cannot be specified"):
        ds.MindDataset(files, shuffle=ds.Shuffle.INFILE, num_samples=5)


def test_levels_of_shuffling_are_for_mindrecord_alone():
    with pytest.raises(TypeError, match="shuffle"):
        ds.NumpySlicesDataset([1, 2], shuffle=ds.Shuffle.FILES)


def test_text_files_refuse_the_levels_of_mindrecord(tmp_path):
    (tmp_path / "lines.txt").write_text("a")
    with pytest.raises(ValueError, match="Shuffle.GLOBAL or Shuffle.FILES"):
        ds.TextFileDataset(str(tmp_path / "lines.txt"), shuffle=ds.Shuffle.INFILE)
