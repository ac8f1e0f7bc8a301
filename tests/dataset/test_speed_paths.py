"""The fast ways through the engine give what the plain ways give."""

import io
import threading
import time

import numpy as np
import pytest
from PIL import Image

import msnb
import msnb.dataset as ds
import msnb.dataset.transforms.c_transforms as C
import msnb.dataset.vision.c_transforms as CV
from msnb.dataset.engine.execution import store
from msnb.dataset.engine.execution.chunk import Hint
from msnb.dataset.engine.execution.memory import keep_freed_memory
from msnb.dataset.engine.execution.store import Store
from msnb.dataset.engine.execution.workers import Prefetcher, parallel_map
from msnb.dataset.vision import _jpeg, kernels

RNG = np.random.default_rng(5)


def out_of(images, operations, optimise=True, batch=8, seed=3):
    """Return the column after `operations`, from a plan that is optimised or not."""
    ds.config.set_seed(seed)
    data = ds.NumpySlicesDataset({"image": images}, shuffle=False).map(operations, "image").batch(batch)
    plan = data.make_plan(optimise)
    try:
        return np.concatenate([chunk.columns[0][0] for chunk in plan.chunks(Hint(1))])
    finally:
        plan.close()


@pytest.mark.parametrize("shape", [(19, 12, 10, 3), (19, 12, 10, 1), (3, 300, 280, 3), (5, 7, 9, 4)])
@pytest.mark.parametrize("same", [True, False])
def test_table_and_channels_first_in_one_go_are_the_operators_one_by_one(shape, same):
    images = RNG.integers(0, 256, shape, np.uint8)
    channels = shape[-1]
    operations = [CV.Rescale(1 / 255, 0.1), CV.HWC2CHW()]
    if not same:
        normal = CV.Normalize([0.1 * (i + 1) for i in range(channels)], [0.3 + 0.1 * i for i in range(channels)])
        operations.insert(1, normal)
    got = out_of(images, operations)
    expected = []
    for image in images:
        for operation in operations:
            image = operation(image)
        expected.append(image)
    assert got.dtype == np.float32 and got.shape == (shape[0], channels, *shape[1:3])
    assert np.array_equal(got, np.stack(expected))


def test_tables_of_types_without_opencv_support():
    images = RNG.integers(0, 256, (5, 4, 6, 3), np.uint8)
    got = out_of(images, [CV.Rescale(2.0, 0), C.TypeCast(msnb.int64), CV.HWC2CHW()])
    assert got.dtype == np.int64
    assert np.array_equal(got, images.transpose(0, 3, 1, 2).astype(np.int64) * 2)


@pytest.mark.parametrize("kind,axis", [(CV.RandomHorizontalFlip, 2), (CV.RandomVerticalFlip, 1)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int16, np.float64])
def test_flips_mirror_without_changing_their_input(kind, axis, dtype):
    images = (RNG.integers(0, 200, (9, 6, 7, 3))).astype(dtype)
    before = images.copy()
    assert np.array_equal(out_of(images, [kind(1.0)]), np.flip(images, axis))
    some = out_of(images, [kind(0.5)])
    for i, image in enumerate(some):
        assert np.array_equal(image, images[i]) or np.array_equal(image, np.flip(images[i], axis - 1))
    assert np.array_equal(images, before)


@pytest.mark.parametrize("size,padding", [((6, 6), 4), ((3, 20), 9), ((2, 2), (11, 0, 12, 7)), ((8, 8), 0)])
def test_random_crops_of_a_chunk_are_those_of_single_images(size, padding):
    images = RNG.integers(0, 256, (40, 8, 8, 3), np.uint8)
    operations = [CV.RandomCrop(size, padding, fill_value=7), CV.RandomHorizontalFlip(0.5)]
    together = out_of(images, operations, batch=20)
    ds.config.set_seed(3)
    single = ds.NumpySlicesDataset({"image": images}, shuffle=False).map(operations, "image")
    plan = single.make_plan(False)
    alone = [chunk.columns[0][0] for chunk in plan.chunks(Hint(1))]
    assert np.array_equal(together, np.stack(alone))


def jpeg(height, width, **options):
    y, x = np.mgrid[:height, :width]
    image = np.stack([x * 255 // width, y * 255 // height, (x * y) % 256], -1).astype(np.uint8)
    image = Image.fromarray(image)
    if options.pop("gray", False):
        image = image.convert("L")
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    return np.frombuffer(file.getvalue(), np.uint8)


KINDS = {
    "4:2:0": {"quality": 90},
    "4:4:4": {"quality": 95, "subsampling": 0},
    "4:2:2": {"quality": 80, "subsampling": 1},
    "progressive": {"quality": 85, "progressive": True},
    "gray": {"gray": True},
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_upper_rows_of_a_jpeg_are_those_of_the_picture(kind):
    pytest.importorskip("simplejpeg")
    data = jpeg(143, 211, **KINDS[kind])
    full_image = kernels.decode(data)
    taken = 0
    for rows in (1, 15, 16, 17, 64, 100, 142, 143):
        part = _jpeg.decode_upper_rows(data, rows)
        if part is not None:
            taken += 1
            assert len(part) >= rows and np.array_equal(part[:rows], full_image[:rows])
    assert (taken > 0) == kind.startswith("4:")


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_of_a_jpeg_is_in_its_header(kind):
    assert _jpeg.read_size(jpeg(143, 211, **KINDS[kind])) == (143, 211)
    assert _jpeg.read_size(np.frombuffer(b"\xff\xd8\xff\xd9", np.uint8)) is None


def test_cropped_decoding_gives_the_same_pictures_alone_and_together(tmp_path):
    for number, kind in enumerate(["4:2:0", "4:4:4", "progressive", "gray", "4:2:2"]):
        (tmp_path / "a").mkdir(exist_ok=True)
        (tmp_path / "a" / f"{number}.jpg").write_bytes(jpeg(150 + number, 200, **KINDS[kind]).tobytes())
    results = []
    for batch in (1, 5):
        ds.config.set_seed(9)
        data = ds.ImageFolderDataset(str(tmp_path), shuffle=False)
        data = data.map([CV.RandomCropDecodeResize((40, 50))], "image").batch(batch)
        results.append(np.concatenate([row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]))
    ds.config.set_seed(9)
    data = ds.ImageFolderDataset(str(tmp_path), shuffle=False, decode=True)
    data = data.map([CV.RandomResizedCrop((40, 50))], "image")
    results.append(np.stack([row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]))
    assert np.array_equal(results[0], results[1]) and np.array_equal(results[0], results[2])


def test_one_damaged_picture_is_named_when_many_are_decoded_together(tmp_path):
    (tmp_path / "a").mkdir()
    for number in range(12):
        data = jpeg(150, 200, quality=90).tobytes()
        (tmp_path / "a" / f"{number:02}.jpg").write_bytes(data if number != 7 else data[:2] + b"\0" * 9000)
    data = ds.ImageFolderDataset(str(tmp_path), shuffle=False)
    data = data.map(CV.RandomCropDecodeResize(40), "image", num_parallel_workers=2).batch(12)
    with pytest.raises(RuntimeError, match="sample 7 "):
        list(data.create_tuple_iterator(num_epochs=1))


def test_an_error_on_a_thread_tells_its_item():
    def half(x):
        if x == 13:
            raise ValueError("unlucky")
        return x / 2

    with pytest.raises(ValueError) as caught:
        parallel_map(half, [(i,) for i in range(20)], 3)
    assert caught.value.msnb_results == [i / 2 for i in range(13)]


VALUES = {
    "numbers": lambda i: (np.int32(i), 2.5 * i),
    "python": lambda i: (i, i % 2 == 0),
    "arrays": lambda i: (np.full((2, 3), i, np.float32), np.arange(4)),
    "ragged": lambda i: (np.zeros(i % 3 + 1, np.int8), i),
    "mixed types": lambda i: (np.int32(i) if i % 2 else np.int64(i), i),
    "strings": lambda i: (f"line {i}", b"x" * (i + 1)),
    "lists": lambda i: ([i, i + 1], i),
    "large": lambda i: (2**63 + i, i),
}


@pytest.mark.parametrize("kind", VALUES)
def test_samples_of_a_generator_are_the_same_in_chunks_and_alone(kind):
    def rows():
        for i in range(70):
            yield VALUES[kind](i)

    alone = list(ds.GeneratorDataset(rows, ["a", "b"], shuffle=False).take(1).create_tuple_iterator(output_numpy=True))
    data = ds.GeneratorDataset(rows, ["a", "b"], shuffle=False)
    got = list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))
    assert len(got) == 70
    for i, row in enumerate(got):
        for value, expected in zip(row, VALUES[kind](i), strict=True):
            expected = np.asarray(expected)
            expected = np.char.encode(expected) if expected.dtype.kind == "U" else expected
            assert value.dtype.kind == expected.dtype.kind and value.shape == expected.shape
            assert value.dtype == expected.dtype or value.dtype.kind == "S"
            assert np.array_equal(value, expected)
    assert [a.dtype.kind for a in alone[0]] == [a.dtype.kind for a in got[0]]


def test_a_bad_sample_of_a_generator_is_named_by_its_number():
    def rows():
        for i in range(50):
            yield (i, i) if i != 33 else (i, object())

    with pytest.raises(RuntimeError, match="sample 33 "):
        list(ds.GeneratorDataset(rows, ["a", "b"], shuffle=False).create_tuple_iterator(num_epochs=1))


ANSWERS = [lambda x: x + 1, lambda x: (x + 1,), lambda x: float(x[0]) + 1, lambda x: list(x + 1)]


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_a_function_returns_becomes_an_array_in_every_form(answer):
    data = ds.NumpySlicesDataset({"x": np.arange(40.0).reshape(40, 1)}, shuffle=False).map(answer, "x")
    got = [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert [float(np.ravel(a)[0]) for a in got] == [i + 1 for i in range(40)]


def test_stores_share_one_budget_and_release_it():
    before = store.stored_bytes()
    budget = before + 3000

    def fill(keeper):
        return keeper.fetch(np.arange(10), lambda numbers: [np.zeros((len(numbers), 25), np.float64)])

    first, second = Store(10, budget), Store(10, budget)
    fill(first)
    assert first.open and store.stored_bytes() - before == 2000
    fill(second)
    assert not second.open and "do not fit" in second.describe()
    del first
    assert store.stored_bytes() == before


def test_explain_describes_the_cache(capsys):
    images = RNG.integers(0, 256, (30, 8, 8, 3), np.uint8)
    data = ds.NumpySlicesDataset({"image": images}).map(CV.Resize((4, 4)), "image").batch(6)
    list(data.create_tuple_iterator(num_epochs=1))
    data.explain()
    assert "30 of 30 samples are kept" in capsys.readouterr().out


def test_a_prefetcher_that_always_runs_ahead_keeps_order_and_errors():
    def items():
        yield from range(5)
        raise KeyError("end")

    ahead = Prefetcher(items(), 2, always=True)
    assert [next(ahead) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert ahead.fill()[1] == 2
    with pytest.raises(KeyError):
        next(ahead)


def test_batches_for_a_device_are_sent_ahead_of_the_consumer(monkeypatch):
    from msnb.dataset.engine import iterators

    monkeypatch.setattr(iterators, "get_context", lambda key: "GPU")
    results = []
    data = ds.NumpySlicesDataset({"x": np.arange(40)}, shuffle=False).batch(4)
    iterator = data.create_tuple_iterator(num_epochs=1)
    boxed = iterator._convert_rows_to_tensors
    iterator._convert_rows_to_tensors = lambda rows: results.append(threading.current_thread().name) or boxed(rows)
    first = next(iterator)
    for _ in range(6000):
        if len(results) >= 4:
            break
        time.sleep(0.01)
    assert first[0].asnumpy().tolist() == [0, 1, 2, 3]
    assert results[:2] == [threading.current_thread().name, "msnb-prefetch"] and 3 <= len(results) <= 5
    assert [row[0].asnumpy()[0] for row in iterator] == list(range(4, 40, 4))


def test_keep_freed_memory_runs_once():
    assert keep_freed_memory() is None
    assert keep_freed_memory.cache_info().currsize == 1
