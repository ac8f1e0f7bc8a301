"""Data sets are divided among the processes of a program unless the user says how."""

import json
import os
import socket
import subprocess
import sys

import numpy as np
import pytest

import msnb.dataset as ds
from msnb.dataset.core.shares import set_share_provider
from msnb.mindrecord import FileWriter


@pytest.fixture
def process():
    """Yield a function that makes this process one of several."""
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


def test_explicit_shards_take_precedence(process):
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


def test_a_sampler_of_a_concatenation_divides_it_once(process):
    process(0, 2)
    dataset = ds.NumpySlicesDataset({"x": np.arange(5)}, shuffle=False)
    padded = ds.PaddedDataset([{"x": np.array(-1)}])
    both = dataset + padded
    both.use_sampler(ds.DistributedSampler(num_shards=2, shard_id=1, shuffle=False))
    assert numbers(both) == [1, 3, -1]


def test_a_program_of_one_process_asks_jax():
    from msnb.dataset.core import shares

    assert shares._get_jax_process_shard() is None
    assert shares.resolve_shard(None, None) == (None, None)


PROCESS = """
import sys
import jax
jax.distributed.initialize("127.0.0.1:" + sys.argv[1], num_processes=2, process_id=int(sys.argv[2]))
import numpy as np
import msnb.dataset as ds
data = ds.NumpySlicesDataset({"x": np.arange(11)}).batch(2)
records = ds.MindDataset(sys.argv[3])
for dataset in (data, records):
    rows = dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)
    print([x for row in rows for x in row[0].ravel().tolist()])
"""


def test_two_processes_of_jax_distributed_divide_the_rows(tmp_path):
    """They shuffle without a seed, and read every row nonetheless; the first rows fill up what cannot be divided."""
    writer = FileWriter(str(tmp_path / "rows.mindrecord"))
    writer.add_schema({"x": {"type": "int32"}})
    writer.write_raw_data([{"x": i} for i in range(8)])
    writer.commit()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PROCESS, port]
    running = [
        subprocess.Popen(
            [*command, str(number), str(tmp_path / "rows.mindrecord")],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(2)
    ]
    try:
        outputs = [process.communicate(timeout=300) for process in running]
    finally:
        for process in running:
            process.kill()
    assert [process.returncode for process in running] == [0, 0], outputs
    rows_of_processes = [[json.loads(line) for line in out.splitlines()] for out, _ in outputs]
    arrays, rows = zip(*rows_of_processes)
    assert [len(share) for share in arrays] == [6, 6] and set(arrays[0] + arrays[1]) == set(range(11))
    assert sorted(rows[0] + rows[1]) == list(range(8))
