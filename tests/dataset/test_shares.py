"""Data sets are divided among the processes of a program unless the user says how."""

import numpy as np
import pytest

import msnb.dataset as ds
from msnb.dataset.core.shares import set_share_provider


@pytest.fixture
def process():
    """A function that makes this process one of several."""
    yield lambda number, of: set_share_provider(lambda: (of, number))
    set_share_provider(None)


def numbers(dataset):
    return [int(row["x"]) for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True)]


def test_the_processes_together_read_everything_once(process):
    seen = []
    for number in range(4):
        process(number, 4)
        dataset = ds.NumpySlicesDataset({"x": np.arange(20)})
        assert dataset.get_dataset_size() == 5 and dataset.is_sharded()
        seen += numbers(dataset)
    assert sorted(seen) == list(range(20))


def test_rows_of_files_are_divided_too(process, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n".join(map(str, range(10))))
    seen = []
    for number in range(2):
        process(number, 2)
        seen += numbers(ds.CSVDataset(str(path), column_defaults=[0], column_names=["x"]))
    assert sorted(seen) == list(range(10))


def test_what_the_user_says_wins(process):
    process(1, 4)
    data = {"x": np.arange(8)}
    assert len(numbers(ds.NumpySlicesDataset(data, num_shards=1, shard_id=0))) == 8
    assert numbers(ds.NumpySlicesDataset(data, num_shards=2, shard_id=0, shuffle=False)) == [0, 2, 4, 6]
    assert numbers(ds.NumpySlicesDataset(data, sampler=ds.SequentialSampler())) == list(range(8))


def test_one_process_reads_everything(process):
    process(0, 1)
    assert numbers(ds.NumpySlicesDataset({"x": np.arange(4)}, shuffle=False)) == [0, 1, 2, 3]


def test_an_iterable_is_not_divided(process):
    process(1, 2)
    dataset = ds.GeneratorDataset(lambda: ((np.array(i),) for i in range(4)), ["x"])
    assert numbers(dataset) == [0, 1, 2, 3]


def test_a_sampler_of_a_concatenation_divides_the_whole_once(process):
    process(0, 2)
    whole = ds.NumpySlicesDataset({"x": np.arange(5)}, shuffle=False)
    padded = ds.PaddedDataset([{"x": np.array(-1)}])
    both = whole + padded
    both.use_sampler(ds.DistributedSampler(num_shards=2, shard_id=1, shuffle=False))
    assert numbers(both) == [1, 3, -1]


def test_a_program_of_one_process_asks_jax():
    from msnb.dataset.core import shares

    assert shares._processes_of_jax() is None
    assert shares.share(None, None) == (None, None)
