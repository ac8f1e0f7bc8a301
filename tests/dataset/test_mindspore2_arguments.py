"""Arguments and settings of MindSpore 2's data sets, compared with results of MindSpore 2.7.1."""

import gzip
import json
import pickle
import zlib

import numpy as np
import pytest
from source_cases import image
from test_bad_input import example, framed

import msnb as ms
import msnb.dataset as ds
from msnb.core.operator import api_generations
from msnb.dataset import text
from msnb.mindrecord import FileWriter


class Numbers:
    def __getitem__(self, i):
        return np.array([i, 2 * i]), np.array(i)

    def __len__(self):
        return 10


BATCHES = [[0, 1, 2], [3, 4]]


def values(dataset):
    return [[v.tolist() for v in row] for row in dataset.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.mark.parametrize("workers", [1, 2])
def test_batch_sampler_selects_the_samples_of_each_batch(workers):
    d = ds.GeneratorDataset(
        Numbers(), ["x", "y"], batch_sampler=BATCHES, num_parallel_workers=workers, python_multiprocessing=False
    )
    assert values(d) == [[[[0, 0], [1, 2], [2, 4]], [0, 1, 2]], [[[3, 6], [4, 8]], [3, 4]]]
    assert (d.get_dataset_size(), len(d)) == (2, 2)
    assert values(d.map(lambda y: y + 1, "y").repeat(2))[2:] == [
        [[[0, 0], [1, 2], [2, 4]], [1, 2, 3]],
        [[[3, 6], [4, 8]], [4, 5]],
    ]


def test_batch_sampler_is_iterated_again_in_each_epoch():
    class Growing:
        epochs = 0

        def __iter__(self):
            self.epochs += 1
            yield [self.epochs]

    d = ds.GeneratorDataset(Numbers(), ["x", "y"], batch_sampler=Growing())
    first, second = values(d), values(d)
    assert second[0][1][0] == first[0][1][0] + 1


@pytest.mark.parametrize(
    ("collate", "expected"),
    [
        (lambda x, y: (np.stack(x).sum(0), np.array(len(y))), [[[3, 6], 3], [[7, 14], 2]]),
        (lambda x, y: (x, [v + 1 for v in y]), [[[[0, 0], [1, 2], [2, 4]], [1, 2, 3]], [[[3, 6], [4, 8]], [4, 5]]]),
    ],
)
def test_collate_fn_gets_lists_of_columns(collate, expected):
    assert values(ds.GeneratorDataset(Numbers(), ["x", "y"], batch_sampler=BATCHES, collate_fn=collate)) == expected


@pytest.mark.parametrize(
    ("collate", "sentence"),
    [
        (lambda x, y: [np.stack(x), np.stack(y)], "should return a tuple of 2 columns, but returned list"),
        (lambda x, y: (x,), "should return a tuple of 2 columns, but returned 1 of them"),
        (lambda x, y: (x, [1]), "column 'y' expects 3 rows in its list, but gets 1"),
        (lambda x, y: (x, [np.zeros(v) for v in y]), "column 'y' of the batch has"),
    ],
)
def test_collate_fn_with_a_wrong_result_raises(collate, sentence):
    with pytest.raises(RuntimeError, match=sentence):
        values(ds.GeneratorDataset(Numbers(), ["x", "y"], batch_sampler=BATCHES, collate_fn=collate))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        *(({"batch_sampler": BATCHES, **more}, ValueError) for more in ({"num_samples": 2}, {"shuffle": False})),
        ({"batch_sampler": BATCHES, "num_shards": 2, "shard_id": 0}, ValueError),
        ({"batch_sampler": BATCHES, "sampler": [1]}, ValueError),
        ({"collate_fn": list}, ValueError),
        ({"batch_sampler": 3}, TypeError),
        ({"batch_sampler": ds.SequentialSampler()}, TypeError),
        ({"batch_sampler": BATCHES, "collate_fn": 3}, TypeError),
    ],
)
def test_batch_sampler_excludes_other_arguments_that_select_samples(arguments, error):
    with pytest.raises(error):
        ds.GeneratorDataset(Numbers(), ["x", "y"], **arguments)
    with pytest.raises(ValueError, match="__getitem__"):
        ds.GeneratorDataset(lambda: iter(()), ["x"], batch_sampler=BATCHES)


FAILING = {0, 3, 7}


@pytest.mark.parametrize(
    ("mode", "good", "size"), [("REPLACE", [10, 20, 40, 50, 60, 10, 20, 40], 8), ("SKIP", [10, 20, 40, 50, 60], 5)]
)
@pytest.mark.parametrize("batch", [1, 3])
def test_map_continues_after_samples_that_fail(mode, good, size, batch):
    def times_ten(x):
        if int(x) in FAILING:
            raise ValueError("no")
        return x * 10

    before = ds.config.get_error_samples_mode()
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode[mode])
    try:
        d = ds.NumpySlicesDataset(list(range(8)), ["x"], shuffle=False).map(times_ten, "x").batch(batch)
        assert np.concatenate([row[0] for row in values(d)]).tolist() == good
        assert d.get_dataset_size() == -(-size // batch)
    finally:
        ds.config.set_error_samples_mode(before)
    with pytest.raises(RuntimeError, match="no"):
        values(ds.NumpySlicesDataset(list(range(8)), ["x"], shuffle=False).map(times_ten, "x"))


def test_mind_dataset_accepts_dataset_files(tmp_path):
    path = str(tmp_path / "rows.mindrecord")
    for last in (3, 5):  # the second time over the first
        writer = FileWriter(path, overwrite=True)
        writer.add_schema({"n": {"type": "int32"}})
        writer.write_raw_data([{"n": i} for i in range(last)])
        writer.commit()
    assert values(ds.MindDataset(dataset_files=path, shuffle=False)) == [[0], [1], [2], [3], [4]]
    with pytest.raises(TypeError, match="'dataset_files', and not both"):
        ds.MindDataset(path, dataset_files=path)


@pytest.mark.parametrize(("kind", "pack"), [("GZIP", gzip.compress), ("ZLIB", zlib.compress), ("", bytes)])
def test_tfrecord_files_may_be_compressed(kind, pack, tmp_path):
    path = tmp_path / "rows.tfrecord"
    path.write_bytes(pack(b"".join(framed(example(i)) for i in range(3))))
    d = ds.TFRecordDataset([str(path)], shuffle=False, compression_type=kind)
    assert [row[2] for row in values(d)] == [[0, 1], [1, 2], [2, 3]] and d.get_dataset_size() == 3
    wrong = "ZLIB" if kind == "GZIP" else "GZIP"
    with pytest.raises(RuntimeError, match="not valid tfrecord files"):
        values(ds.TFRecordDataset([str(path)], shuffle=False, compression_type=wrong))


OBJECT = "<object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>3</xmax><ymax>3</ymax></bndbox></object>"


@pytest.fixture
def photos(tmp_path):
    """Return {name: function that creates a data set of one photo with additional arguments}."""
    annotations = [{"id": n, "image_id": 1, "caption": f"text {n}", "bbox": [1, 2, 3, 4]} for n in (1, 2)]
    described = {"images": [{"id": 1, "file_name": "1.jpg"}], "annotations": annotations}
    files = {
        "images/JPEGImages/1.jpg": image(1),
        "images/SegmentationClass/1.png": image(2),
        "images/Annotations/1.xml": f"<annotation>{OBJECT}</annotation>".encode(),
        "images/ImageSets/Segmentation/train.txt": b"1\n",
        "images/ImageSets/Main/train.txt": b"1\n",
        "images/JPEGImages/list_attr_celeba.txt": b"1\na\n1.jpg 1\n",
        "captions.json": json.dumps(described).encode(),
    }
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    folder, below = str(tmp_path / "images"), str(tmp_path / "images/JPEGImages")
    return {
        "VOC": lambda **more: ds.VOCDataset(folder, **more),
        "VOC Detection": lambda **more: ds.VOCDataset(folder, "Detection", **more),
        "COCO": lambda **more: ds.CocoDataset(below, str(tmp_path / "captions.json"), "Captioning", **more),
        "CelebA": lambda **more: ds.CelebADataset(below, **more),
        "folders": lambda **more: ds.ImageFolderDataset(
            folder, extensions=[".jpg"], class_indexing={"JPEGImages": 0}, **more
        ),
    }


@pytest.mark.parametrize("name", ["VOC", "VOC Detection", "COCO", "CelebA", "folders"])
def test_encrypted_images_are_read_with_the_decrypt_function(name, photos):
    (row,) = values(photos[name](decrypt=lambda path: image(9), decode=True))
    assert np.shape(row[0]) == (3, 11, 3)
    with pytest.raises(RuntimeError, match="decrypt should return bytes, but returned str"):
        values(photos[name](decrypt=lambda path: "no bytes"))
    with pytest.raises(TypeError, match="decrypt is not a callable object"):
        photos[name](decrypt=3)


@pytest.mark.parametrize("name", ["VOC", "VOC Detection", "COCO"])
def test_renamed_column_of_file_names_stays(name, photos):
    plain, named = photos[name](), photos[name](extra_metadata=True)
    assert values(named) == values(plain)
    (row,) = values(named.rename("_meta-filename", "name"))
    assert row[:-1] == values(plain)[0] and row[-1] == b"1"
    with pytest.raises(RuntimeError, match="rename it to keep it"):
        values(named.project("_meta-filename"))


def test_captions_are_a_column_of_strings(photos):
    assert values(photos["COCO"](decode=True))[0][1] == [[b"text 1"], [b"text 2"]]


@pytest.fixture
def second_generation():
    before = api_generations.shared
    api_generations.share(2)
    yield
    api_generations.share(before)


def test_strings_are_str_in_mindspore_2(second_generation):
    given = []
    d = ds.NumpySlicesDataset(["ä", "bc"], ["text"], shuffle=False)
    functions = [lambda word: given.append(word) or word, lambda word: np.array(str(word) + "!")]
    for used in (functions[:1], functions):
        rows = [row[0] for row in d.map(used, "text").create_tuple_iterator(num_epochs=1, output_numpy=True)]
        assert [(row.dtype.kind, row.tolist()[:2]) for row in rows] == [("U", ("ä", "ä!")[len(used) - 1]), ("U", "bc")]
    assert {word.dtype.kind for word in given} == {"U"} and {word.tolist() for word in given} == {"ä", "bc"}
    assert next(d.batch(2).create_dict_iterator(output_numpy=True))["text"].tolist() == ["ä", "bc"]
    batched = d.batch(2, per_batch_map=lambda words, _: ([f"{word}?" for word in words],), input_columns="text")
    assert next(batched.create_tuple_iterator(output_numpy=True))[0].tolist() == ["ä?", "bc?"]
    filtered = d.filter(lambda word: word == "bc", "text").create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [row[0].tolist() for row in filtered] == ["bc"]


@pytest.mark.parametrize(
    ("generation", "sentences"),
    [
        (1, ["of type (<class 'str'>,).", "of (1 to 2147483647).", "does not exist or permission denied"]),
        (2, ["of type [<class 'str'>], but got <class 'int'>.", "of [1, 2147483647].", "is not a directory or perm"]),
    ],
)
def test_errors_have_the_text_of_the_api_generation(monkeypatch, generation, sentences):
    monkeypatch.setattr(api_generations, "shared", generation)
    wrong = (lambda: ds.SBDataset(".", usage=3), lambda: ds.FakeImageDataset(-1), lambda: ds.SBUDataset("no/such"))
    for call, sentence in zip(wrong, sentences, strict=True):
        with pytest.raises((TypeError, ValueError)) as refused:
            call()
        assert sentence in str(refused.value)


def test_lfw_lists_may_separate_words_by_spaces(tmp_path):
    (tmp_path / "people.txt").write_text("1\n1\nAnn_Lee 2\n")
    (tmp_path / "peopleDevTrain.txt").write_text("1\nAnn_Lee 2\n")
    (tmp_path / "lfw-names.txt").write_text("Ann_Bo 1\nAnn_Lee 2\n")
    (tmp_path / "lfw_funneled" / "Ann_Lee").mkdir(parents=True)
    for number in (1, 2):
        (tmp_path / "lfw_funneled" / "Ann_Lee" / f"Ann_Lee_000{number}.jpg").write_bytes(b"12")
    assert values(ds.LFWDataset(str(tmp_path), usage="train", shuffle=False)) == [[[49, 50], 1]] * 2


@pytest.mark.parametrize(
    ("made", "columns"),
    [
        (ds.FashionMnistDataset, ["image", "label"]),
        (ds.IWSLT2016Dataset, ["text", "translation"]),
        (ds.CelebADataset, ["image", "attr"]),
    ],
)
def test_column_names_need_no_files(made, columns, tmp_path):
    assert made(str(tmp_path)).get_col_names() == columns


@pytest.mark.parametrize(
    ("error", "sentence", "made"),
    [
        (ValueError, "num_samples exceeds the boundary between 0", lambda d: ds.MnistDataset(d, num_samples=-1)),
        (ValueError, r"not within the valid set of \[2, 3, 4, 8\]\.$", lambda d: ds.DIV2KDataset(d, scale=5)),
        (
            ValueError,
            r"not within the valid set of \[2, 3, 4\] of",
            lambda d: ds.DIV2KDataset(d, "train", "unknown", 8),
        ),
        (ValueError, "a list or tuple of length 3, but got 2", lambda d: ds.FakeImageDataset(10, (2, 2))),
        (ValueError, "jpg does not exist or is not a directory", lambda d: ds.Flowers102Dataset(d)),
        (ValueError, "urls.txt does not exist", lambda d: ds.SBUDataset(d)),
        (RuntimeError, "usps does not exist or is a directory", lambda d: list(ds.USPSDataset(d, "train"))),
    ],
)
def test_errors_of_datasets_have_the_text_of_mindspore_2(error, sentence, made, tmp_path, second_generation):
    with pytest.raises(error, match=sentence):
        made(str(tmp_path))


def test_random_sampler_interleaves_a_concatenation_and_keeps_the_order_of_each():
    ds.config.set_seed(3)
    first, second, third = (ds.NumpySlicesDataset(np.arange(n) + n, ["x"], shuffle=False) for n in (9, 20, 40))
    d = first.concat(second).concat(third)
    d.use_sampler(ds.RandomSampler())
    it = d.create_tuple_iterator(num_epochs=2, output_numpy=True)
    epochs = [[int(row[0]) for row in it] for _ in range(2)]
    for rows in epochs:
        assert sorted(rows) == [*range(9, 18), *range(20, 80)] != rows
        for low, high in ((9, 18), (20, 40), (40, 80)):
            assert [x for x in rows if low <= x < high] == [*range(low, high)]
    assert epochs[0] != epochs[1] and d.get_dataset_size() == 69
    for wrong in (ds.RandomSampler(replacement=True), ds.RandomSampler(num_samples=3)):
        with pytest.raises(ValueError, match="of RandomSampler"):
            d.use_sampler(wrong)


def test_eager_transforms_return_str_in_mindspore_2(second_generation):
    words = text.WhitespaceTokenizer()("ä bc")
    assert words.dtype.kind == "U" and words.tolist() == ["ä", "bc"]
    cut = text.TruncateSequencePair(3)(np.array(["a", "b"]), np.array(["c", "d"]))
    assert [part.tolist() for part in cut] == [["a", "b"], ["c"]]
    assert text.ToNumber(ms.int32)(words[:0]).dtype == np.int32


def test_map_of_mindspore_2_changes_the_number_of_columns_without_column_order(second_generation):
    d = ds.NumpySlicesDataset(([1, 2], [3, 4]), ["a", "b"], shuffle=False)
    more = d.map(lambda a: (a, a * 10, a * 100), "a", ["x", "y", "z"])
    assert more.get_col_names() == ["x", "y", "z", "b"] and values(more)[1] == [2, 20, 200, 4]
    fewer = d.map(lambda a, b: a + b, ["a", "b"], ["sum"])
    assert fewer.get_col_names() == ["sum"] and values(fewer) == [[4], [6]]
    assert [str(kind) for kind in fewer.output_types()] == ["int64"]


def test_map_of_r1_1_requires_column_order():
    d = ds.NumpySlicesDataset([1, 2], ["a"], shuffle=False)
    with pytest.raises(ValueError, match="column_order must be specified"):
        d.map(lambda a: (a, a), "a", ["x", "y"])


def test_rows_hold_strings_as_tensors_in_mindspore_2(second_generation):
    data = ds.NumpySlicesDataset([["a", "bb"]], ["t"], shuffle=False)
    (row,) = data.create_dict_iterator(num_epochs=1)
    assert repr(row["t"]) == "Tensor(shape=[2], dtype=String, value= ['a', 'bb'])" and str(row["t"]) == "['a' 'bb']"
    assert row["t"].asnumpy().tolist() == ["a", "bb"] and type(row["t"].asnumpy()) is np.ndarray
    assert pickle.loads(pickle.dumps(row["t"])).asnumpy().tolist() == ["a", "bb"]
    with pytest.raises(TypeError, match="For 'Add', a Tensor of strings is not supported: use asnumpy"):
        row["t"] + 1
