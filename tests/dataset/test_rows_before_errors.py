"""An error in the middle of an epoch comes after all rows that were made before it, wherever it happens."""

import threading

import numpy as np
import pytest

import msnb.dataset as ds
import msnb.dataset.transforms.c_transforms as C
import msnb.dataset.vision.c_transforms as CV

ROWS = 40


class Items:
    """Samples of which one cannot be had; each is asked for once."""

    def __init__(self, wrong, answer=None):
        self.wrong, self.answer, self.asked = wrong, answer, []

    def __len__(self):
        return ROWS

    def __getitem__(self, number):
        self.asked.append(number)
        if number == self.wrong:
            if self.answer is not None:
                return self.answer
            raise ValueError("planted")
        return (np.array(number),)


def source(wrong):
    return ds.GeneratorDataset(Items(wrong), ["x"], shuffle=False)


def generator(wrong, answer=None):
    return ds.GeneratorDataset(lambda: map(Items(wrong, answer).__getitem__, range(ROWS)), ["x"])


def numbers():
    return ds.NumpySlicesDataset({"x": np.arange(ROWS)}, shuffle=False)


def fails_at(wrong):
    def function(x):
        if x == wrong:
            raise ValueError("planted")
        return x

    return function


def is_none_at(wrong):
    return lambda x: None if x == wrong else int(x)


def pictures(wrong, shape=(3, 3, 3)):
    """Pictures, one of which is too small to be cropped, or is none."""
    images = [np.full((8, 8, 3), i, np.uint8) for i in range(ROWS)]
    images[wrong] = np.full(shape, wrong, np.uint8)
    return ds.GeneratorDataset([(i,) for i in images], ["x"], shuffle=False)


def files(wrong, folder):
    from PIL import Image

    (folder / "class").mkdir()
    for i in range(ROWS):
        Image.fromarray(np.full((4, 4, 3), i, np.uint8)).save(folder / "class" / f"{i:02}.png")
    (folder / "class" / f"{wrong:02}.png").write_bytes(b"no picture")
    return ds.ImageFolderDataset(str(folder), shuffle=False)


PIPELINES = {
    "source": source,
    "threads": lambda k: ds.GeneratorDataset(
        Items(k), ["x"], shuffle=False, num_parallel_workers=3, python_multiprocessing=False
    ),
    "processes": lambda k: ds.GeneratorDataset(
        Items(k), ["x"], shuffle=False, num_parallel_workers=3, python_multiprocessing=True
    ),
    "wrong answer": lambda k: ds.GeneratorDataset(Items(k, (1, 2)), ["x"], shuffle=False),
    "generator": generator,
    "wrong answer of a generator": lambda k: generator(k, {"x": 1}),
    "map": lambda k: numbers().map(fails_at(k)),
    "map in threads": lambda k: numbers().map(fails_at(k), num_parallel_workers=3),
    "map in processes": lambda k: numbers().map(fails_at(k), num_parallel_workers=3, python_multiprocessing=True),
    "map to None": lambda k: numbers().map(is_none_at(k)),
    "map, two functions": lambda k: numbers().map([lambda x: x, fails_at(k)]),
    "map, then map": lambda k: numbers().map(fails_at(k)).map(lambda x: x + 0),
    "map, then a later error": lambda k: numbers().map(fails_at(k)).map(fails_at(k + 1)),
    "map after a later error": lambda k: numbers().map(fails_at(k + 1)).map(fails_at(k)),
    "map, then the library": lambda k: numbers().map([fails_at(k), C.TypeCast(np.float32)]),
    "library": lambda k: pictures(k, (3,)).map(CV.HWC2CHW()),
    "library, random": lambda k: pictures(k).map(CV.RandomCrop((5, 5))),
    "filter": lambda k: numbers().filter(lambda x: bool(fails_at(k)(x) >= 0)),
    "zip": lambda k: source(k).zip(numbers().rename("x", "y")),
    "zip, on the right": lambda k: numbers().zip(generator(k).rename("x", "y")),
    "zip with more": lambda k: source(k).zip(numbers().repeat(2).rename("x", "y")),
    "take": lambda k: source(k).take(ROWS - 1),
    "repeat": lambda k: source(k).repeat(2),
    "rename": lambda k: source(k).rename("x", "y"),
    "batches of one": lambda k: source(k).batch(1),
}


def read(data):
    """Return (first value of each row, the error)."""
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    got = []
    try:
        for row in rows:
            got.append(int(np.ravel(row[0])[0]))
    except RuntimeError as error:
        return got, error
    finally:
        rows.stop()
    return got, None


@pytest.mark.parametrize("wrong", [0, 1, 5, 30])
@pytest.mark.parametrize("name", PIPELINES)
def test_all_rows_before_an_error_come_before_it(name, wrong):
    got, error = read(PIPELINES[name](wrong))
    assert got == list(range(wrong)) and error is not None


@pytest.mark.parametrize("wrong", [0, 5, 30])
def test_all_pictures_before_one_that_cannot_be_decoded_come_before_the_error(tmp_path, wrong):
    got, error = read(files(wrong, tmp_path).map(CV.Decode(), ["image"]).map(CV.Resize((2, 2)), ["image"]))
    assert got == list(range(wrong)) and error is not None


def test_complete_batches_come_before_the_error_and_the_rest_of_one_does_not():
    got, error = read(source(7).batch(3))
    assert got == [0, 3] and "planted" in str(error)


def test_a_zip_that_ends_before_an_error_has_none():
    assert read(source(5).zip(numbers().take(3).rename("x", "y"))) == ([0, 1, 2], None)


def test_no_sample_is_fetched_twice():
    items = Items(5)
    read(ds.GeneratorDataset(items, ["x"], shuffle=False))
    assert len(items.asked) == len(set(items.asked))


def test_results_that_cannot_be_pickled_are_named():
    data = numbers().map(lambda x: threading.Lock(), num_parallel_workers=2, python_multiprocessing=True)
    with pytest.raises(RuntimeError, match="numbers or strings|pickle"):
        list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
