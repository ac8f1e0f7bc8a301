"""Orders of later epochs where `take` or `zip` cuts an epoch short, as MindSpore 2.7.1 gives them with seed 11."""

import numpy as np
import pytest

import msnb.dataset as ds


def numbers():
    return ds.NumpySlicesDataset({"a": np.arange(6)})


def lines(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text("".join(f"{name}{i}\n" for i in range(4)))
    return ds.TextFileDataset([str(tmp_path / "a.txt"), str(tmp_path / "b.txt")])


def short(size):
    return ds.NumpySlicesDataset({"z": np.arange(size)}, shuffle=False)


@pytest.fixture(autouse=True)
def seed():
    before = ds.config.get_seed()
    ds.config.set_seed(11)
    yield
    ds.config.set_seed(before)


def epochs(dataset, count=3):
    column = dataset.get_col_names().index("a" if "a" in dataset.get_col_names() else "text")
    iterator = dataset.create_tuple_iterator(num_epochs=count, output_numpy=True)
    return [[as_text(row[column].tolist()) for row in iterator] for _ in range(count)]


def as_text(value):
    return value.decode() if isinstance(value, bytes) else value


CUTS = {
    "take of repeat": (lambda d: d.repeat(3).take(2), [[5, 0], [0, 1], [0, 2]]),
    "zip of repeat": (lambda d: ds.zip((d.repeat(3), short(2))), [[5, 0], [0, 1], [0, 2]]),
    "zip": (lambda d: ds.zip((d, short(2))), [[5, 0], [0, 2], [0, 1]]),
    "zip of shuffle": (lambda d: ds.zip((short(3), d.shuffle(4))), [[2, 0, 3], [5, 2, 4], [1, 0, 5]]),
    "take of shuffle of repeat": (lambda d: d.repeat(2).shuffle(3).take(2), [[5, 0], [2, 0], [5, 3]]),
    "take of repeat of repeat": (
        lambda d: d.repeat(2).repeat(2).take(5),
        [[5, 0, 1, 2, 3], [3, 5, 2, 1, 0], [2, 3, 1, 0, 5]],
    ),
    "zip of repeat of take": (lambda d: ds.zip((d.take(3).repeat(3), short(2))), [[5, 0], [0, 1], [0, 2]]),
    "repeat of zip of repeat": (
        lambda d: ds.zip((d.repeat(2), short(2))).repeat(2),
        [[5, 0, 0, 1], [3, 5, 0, 2], [2, 3, 3, 5]],
    ),
    "repeat of take of repeat": (
        lambda d: d.repeat(2).take(3).repeat(2),
        [[5, 0, 1, 0, 1, 2], [3, 5, 2, 0, 2, 5], [2, 3, 1, 3, 5, 0]],
    ),
    "take of repeat of shuffle of filter": (
        lambda d: d.filter(lambda x: str(x)[-1] != "2", ["a"]).shuffle(3).repeat(3).take(3),
        [[5, 0, 4], [5, 0, 3], [5, 0, 3]],
    ),
}


@pytest.mark.parametrize("case", CUTS)
def test_the_next_epoch_has_the_order_of_mindspore(case):
    build, expected = CUTS[case]
    assert epochs(build(numbers())) == expected


FILE_CUTS = {
    "take of repeat": (lambda d: d.repeat(3).take(2), [["a1", "b1"], ["a1", "b3"], ["a1", "b0"]]),
    "zip of repeat": (lambda d: ds.zip((d.repeat(3), short(2))), [["a1", "b1"], ["a1", "b3"], ["a1", "b0"]]),
    "zip of shuffle": (
        lambda d: ds.zip((short(3), d.shuffle(4))),
        [["a0", "b1", "b0"], ["a3", "b3", "a2"], ["b0", "a0", "b3"]],
    ),
    "take of repeat of repeat": (
        lambda d: d.repeat(2).repeat(2).take(5),
        [["a1", "b1", "a2", "a0", "b0"], ["a3", "a1", "b0", "b3", "a2"], ["a0", "b0", "a2", "b3", "b2"]],
    ),
    "repeat of zip of repeat": (
        lambda d: ds.zip((d.repeat(2), short(2))).repeat(2),
        [["a1", "b1", "a2", "b0"], ["a3", "a1", "a1", "b0"], ["a0", "b0", "a2", "b2"]],
    ),
    "take of repeat of shuffle of filter": (
        lambda d: d.filter(lambda x: x.item()[-1:] != b"2", ["text"]).shuffle(3).repeat(3).take(3),
        [["a1", "b1", "b3"], ["b1", "a1", "a3"], ["b3", "a3", "a0"]],
    ),
}


@pytest.mark.parametrize("case", FILE_CUTS)
def test_the_next_epoch_of_text_files_has_the_order_of_mindspore(case, tmp_path):
    build, expected = FILE_CUTS[case]
    assert epochs(build(lines(tmp_path))) == expected


def test_passes_that_are_left_are_not_read():
    rows = []

    class Source:
        def __getitem__(self, index):
            rows.append(index)
            return (np.array(index),)

        def __len__(self):
            return 6

    dataset = ds.GeneratorDataset(Source(), ["a"], shuffle=True, python_multiprocessing=False).repeat(1000).take(2)
    list(dataset.create_tuple_iterator(num_epochs=1))
    assert len(rows) <= 12


def test_an_endless_repeat_beside_a_short_dataset_ends():
    assert [len(epoch) for epoch in epochs(ds.zip((numbers().repeat(), short(4))))] == [4, 4, 4]
