"""Errors in users' functions: at once, with column, sample and line."""

import numpy as np
import pytest

import msnb.dataset as ds
from msnb.dataset.engine.execution.processes import WorkerError


def fails_at_three(x):
    if x == 3:
        raise ZeroDivisionError("no threes")  # the line that the message has to show
    return x


@pytest.mark.parametrize(
    "options", [{}, {"num_parallel_workers": 4}, {"num_parallel_workers": 2, "python_multiprocessing": True}]
)
def test_an_error_in_map_names_column_sample_and_line(options):
    d = ds.NumpySlicesDataset(np.arange(6), ["x"], shuffle=False).map(fails_at_three, ["x"], **options)
    it = d.create_tuple_iterator(num_epochs=1, output_numpy=True)
    with pytest.raises(RuntimeError) as error:
        list(it)
    text = str(error.value)
    assert "ZeroDivisionError: no threes" in text and "'x'" in text and "sample 3 " in text
    assert "test_errors.py" in text and 'raise ZeroDivisionError("no threes")' in text
    assert isinstance(error.value.__cause__, ZeroDivisionError | WorkerError)


def test_the_line_shown_is_the_users_when_a_library_raises():
    def wrong(x):
        return np.concatenate([x, np.ones((2, 2))])  # numpy raises inside

    d = ds.NumpySlicesDataset({"x": np.ones((3, 1))}, shuffle=False).map(wrong, ["x"])
    with pytest.raises(RuntimeError, match=r"test_errors.py:\d+, in wrong: return np.concatenate"):
        list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))


class Items:
    """Its fourth item cannot be read."""

    def __len__(self):
        return 6

    def __getitem__(self, number):
        if number == 3:
            raise OSError("no fourth item")
        return (np.array(number),)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_parallel_workers": 2, "python_multiprocessing": True},
        {"num_parallel_workers": 2, "python_multiprocessing": False},
    ],
)
def test_an_item_that_cannot_be_read_is_named(options):
    d = ds.GeneratorDataset(Items(), ["x"], shuffle=False, **options)
    with pytest.raises(RuntimeError, match=r"OSError: no fourth item \[Items\[3\]") as error:
        list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert 'raise OSError("no fourth item")' in str(error.value)


def test_an_error_in_a_generator_comes_back():
    def source():
        yield (1,)
        raise KeyError("gone")

    it = ds.GeneratorDataset(source, ["x"]).create_tuple_iterator(num_epochs=1, output_numpy=True)
    with pytest.raises(RuntimeError, match="KeyError.*gone"):
        list(it)


def test_an_error_in_a_batch_function_comes_back():
    def size(info):
        raise ValueError("no size")

    with pytest.raises(RuntimeError, match="no size"):
        list(
            ds.NumpySlicesDataset([1, 2], shuffle=False)
            .batch(size)
            .create_tuple_iterator(num_epochs=1, output_numpy=True)
        )


def test_a_function_that_returns_too_few_columns_is_named():
    d = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False).map(lambda x: x, ["x"], ["a", "b"], column_order=["a", "b"])
    with pytest.raises(RuntimeError, match="output column"):
        list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_rows_of_different_shape_cannot_be_batched():
    d = ds.GeneratorDataset(lambda: iter([(np.ones(1),), (np.ones(2),)]), ["x"]).batch(2)
    with pytest.raises(RuntimeError, match="shape"):
        list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_a_file_that_does_not_decode_is_named(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "broken.jpg").write_bytes(b"\xff\xd8 no image")
    d = ds.ImageFolderDataset(str(tmp_path), decode=True)
    with pytest.raises(RuntimeError, match="broken.jpg"):
        list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))


def fails_at_two(x):
    if x[0] == 2:
        raise ValueError("no twos")
    return x


@pytest.mark.parametrize(
    "arranged",
    [
        lambda d: d,
        lambda d: d.skip(1).take(3),
        lambda d: d.shuffle(3).repeat(2),
        lambda d: d.filter(lambda x, label: x[0] != 1).project(["label", "image"]),
        lambda d: d.concat(d).map(lambda x: x, ["label"]),
        lambda d: d.map(lambda x: x, ["image"], callbacks=None).rename(["label"], ["class"]),
    ],
)
def test_an_error_in_map_names_the_file_of_its_row(arranged, tmp_path):
    (tmp_path / "class").mkdir()
    for number in range(5):
        (tmp_path / "class" / f"{number}.png").write_bytes(bytes([number]))
    d = arranged(ds.ImageFolderDataset(str(tmp_path))).map(fails_at_two, ["image"])
    pattern = r"map operation: \[PyFunc\] failed. The corresponding data files: .*class.2.png\.$"
    with pytest.raises(RuntimeError, match=pattern):
        list(d.create_tuple_iterator(num_epochs=1))


def test_an_error_in_map_names_the_files_that_rows_are_read_from(tmp_path):
    paths = [str(tmp_path / f"{number}.txt") for number in range(4)]
    for path in paths:
        with open(path, "w") as file:
            file.write("text\n")
    d = ds.TextFileDataset(paths).map(fails_at_three, ["text"]).map(lambda x: x[9], ["text"])
    with pytest.raises(RuntimeError) as error:
        list(d.create_tuple_iterator(num_epochs=1))
    assert str(error.value).endswith(f"The corresponding data files: {', '.join(paths[:3])} and 1 more.")
