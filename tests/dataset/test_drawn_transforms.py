"""Random transforms draw what MindSpore 2.7.1 draws under the same seed, and transforms take what it takes."""

import itertools
import random

import numpy as np
import pytest
from PIL import Image

import msnb.dataset as ds
import msnb.dataset.text as text
import msnb.dataset.transforms as transforms
import msnb.dataset.vision as vision
from msnb.common import dtype as mstype
from msnb.core.operator import api_generations
from msnb.dataset.engine import samplers

IMAGE = np.random.RandomState(0).randint(0, 256, (20, 24, 3)).astype(np.uint8)


@pytest.fixture(autouse=True)
def seeded():
    before = ds.config.get_seed()
    ds.config.set_seed(11)
    yield
    ds.config.set_seed(before)


def _sums(transform, count=6):
    images = np.random.RandomState(0).randint(0, 256, (8, 9, 3)).astype(np.uint8)
    data = ds.NumpySlicesDataset([images] * count, ["image"], shuffle=False).map(transform, "image")
    return [int(row[0].astype(int).sum()) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


# 0 is an image that 2.7.1 moves out of sight (it takes pixels for fractions of the image); msnb moves it by pixels
@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (vision.RandAugment(), [25692, 25448, 24970, 25071, 0, 18650]),
        (vision.AutoAugment(), [13714, 25555, 27665, 14543, 27665, 27665]),
        (vision.AutoAugment(vision.AutoAugmentPolicy.SVHN), [26035, 25555, 0, 0, 0, 29525]),
        (vision.TrivialAugmentWide(), [25574, 22794, 15696, 34853, 25549, 22578]),
    ],
)
def test_policies_draw_operations_as_mindspore(transform, expected):
    assert [a for a, b in zip(_sums(transform), expected, strict=True) if b] == [b for b in expected if b]


def _batches(transform):
    images = (np.arange(6 * 5 * 5 * 3) % 251).astype(np.uint8).reshape(6, 5, 5, 3)
    labels = np.eye(4, dtype=np.float32)[[0, 1, 2, 3, 0, 1]]
    data = ds.NumpySlicesDataset({"a": images, "b": labels}, shuffle=False).batch(3).map(transform, ["a", "b"])
    return list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_mixed_batches_have_mindspores_weights():
    first, second = _batches(vision.MixUpBatch(0.5))
    np.testing.assert_allclose(first[1][0], [0.8953916, 0, 0.1046084, 0], atol=1e-6)
    np.testing.assert_allclose(second[1][0], [0, 0.017885, 0, 0.982115], atol=1e-6)


def test_cut_boxes_have_mindspores_area():
    first, second = _batches(vision.CutMixBatch(vision.ImageBatchFormat.NHWC, 1.0, 1.0))
    assert (int(first[0].astype(int).sum()), int(second[0].astype(int).sum())) == (24975, 24508)
    np.testing.assert_allclose(first[1], [[0.76, 0.24, 0, 0], [0, 0.96, 0.04, 0], [0.16, 0, 0.84, 0]], atol=1e-6)


def test_a_random_transform_called_by_hand_starts_from_the_seed():
    lighting = vision.RandomLighting(0.5)
    assert np.array_equal(lighting(IMAGE), lighting(IMAGE))


def test_random_order_shuffles_the_last_order_again():
    random.seed(0)
    types = [mstype.float32, mstype.int8, mstype.int32, mstype.float64]
    order = transforms.RandomOrder([transforms.TypeCast(t) for t in types])
    assert [str(order(5).dtype) for _ in range(6)] == ["float64", "int8", "int8", "float32", "int32", "int8"]


def test_random_transforms_of_pil_images():
    image = Image.fromarray(np.random.RandomState(0).randint(0, 256, (9, 12, 3)).astype(np.uint8))
    random.seed(1)
    affine = vision.RandomAffine(30, (0.1, 0.1), (0.5, 1.5), 10)
    assert [int(np.array(affine(image)).astype(int).sum()) for _ in range(3)] == [22083, 10639, 37390]
    np.random.seed(1)
    assert np.array(vision.RandomLighting(0.5)(image))[0, :2].tolist() == [[145, 21, 91], [165, 41, 225]]


def test_transforms_take_what_mindspore_takes():
    values, inverse, counts = transforms.Unique()(np.array([[1, 1], [2, 1]]))
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 2], [0, 0, 1, 0], [3, 1])
    assert vision.ResizedCrop(1, 2, 3, 2, 5)(IMAGE).shape == (5, 5, 3)
    for shape in ((4, 4), (4, 4, 1)):
        gray = (np.arange(16).reshape(shape) * 5).astype(np.uint8)
        assert vision.AdjustBrightness(1.7)(gray).sum() == 1020


def test_replacements_are_in_icu_syntax():
    def replace(pattern, replacement):
        return text.RegexReplace(pattern, replacement)("ab cd").item()

    results = [
        replace(r"(\w)(\w)", r"\$2\\1\n\t\q"),
        replace(r"(\w)(\w)", "$0$1x$11"),
        replace(r"(?<n>\w)(\w)", "${n}-"),
        replace("a", "x\\"),
    ]
    expected = ["$2\\1ntq $2\\1ntq", "abaxa1 cdcxc1", "a- c-", "xb cd"]
    assert [r.decode() if isinstance(r, bytes) else r for r in results] == expected
    with pytest.raises(RuntimeError, match="no group"):
        replace("a", "$3")


def test_one_word_or_id_of_a_vocabulary_is_no_list():
    vocab = text.Vocab.from_list(["a", "b", "c"])
    assert (vocab.ids_to_tokens([0]), vocab.ids_to_tokens([0, 9])) == ("a", ["a", ""])
    assert (vocab.tokens_to_ids(["b"]), vocab.tokens_to_ids(["b", "z"])) == (1, [1, -1])
    for wrong, error in ((-1, ValueError), ([1.0], TypeError)):
        with pytest.raises(error):
            vocab.ids_to_tokens(wrong)


class _Rows:
    def __getitem__(self, i):
        return (np.array([i]),)

    def __len__(self):
        return 7


class _Picks(ds.Sampler):
    def __iter__(self):
        yield from (0, 0, 3)


def test_sizes_follow_the_samplers_of_users():
    assert ds.GeneratorDataset(_Rows(), ["a"], sampler=_Picks()).get_dataset_size() == 3
    assert ds.GeneratorDataset(_Rows(), ["a"], sampler=_Picks()).skip(4).get_dataset_size() == 0
    batches = ds.GeneratorDataset(_Rows(), ["a"], batch_sampler=[[0, 1, 2], [6]])
    assert (batches.get_batch_size(), batches.get_dataset_size()) == (-1, 2)


def test_texts_without_tokens_stay_texts():
    data = ds.NumpySlicesDataset([""], ["t"]).map([text.PythonTokenizer(str.split), text.CaseFold()], "t")
    (row,) = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert row[0].shape == (0,) and row[0].dtype.kind in "SU"


def test_adjustments_of_pil_images_are_pillows():
    image = Image.fromarray((np.arange(20 * 31 * 3).reshape(20, 31, 3) * 37 % 101 * 2).astype(np.uint8))
    expected = {
        vision.AdjustHue(0.3): 204885,
        vision.AdjustBrightness(0.7): 129412,
        vision.AdjustContrast(0.7): 185212,
        vision.AdjustSaturation(0.7): 184968,
    }
    for transform, total in expected.items():
        result = transform(image)
        assert isinstance(result, Image.Image) and int(np.array(result).astype(int).sum()) == total


def test_a_random_subset_shuffles_the_first_samples():
    data = ds.NumpySlicesDataset(list(range(7)), ["a"], sampler=ds.SubsetRandomSampler([1, 2, 3, 4, 5], 3))
    rows = [int(row[0]) for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert rows == [2, 3, 1]


def test_tables_of_words_are_changed_row_by_row():
    words = np.array([["a", "bb"], ["the", "d"]])
    longer, shorter = text.AddToken("B")(words), text.Truncate(1)(words)
    assert longer.shape == (2, 3) and shorter.shape == (2, 1)
    assert [w.decode() if isinstance(w, bytes) else w for w in longer[1].tolist()] == ["B", "the", "d"]


def test_slices_are_padded_in_every_channel():
    slices = vision.SlicePatches(2, 2, vision.SliceMode.PAD, 7)(np.zeros((3, 3, 4), np.uint8))
    assert slices[3][:, :, 3].tolist() == [[0, 7], [7, 7]]


def test_a_random_affine_of_pil_images_draws_for_missing_arguments_too():
    image = Image.fromarray(np.random.RandomState(0).randint(0, 256, (9, 12, 3)).astype(np.uint8))
    random.seed(1)
    expected = {
        "scale": ((0.5, 1.5), [23080, 10778, 38486]),
        "shear": ((1, 9, 3, 20), [30484, 34924, 36131]),
        "translate": ((0.2, 0.3), [33179, 31772, 31125]),
    }
    for name, (value, sums) in expected.items():
        affine = vision.RandomAffine((0, 30), **{name: value})
        assert [int(np.array(affine(image)).astype(int).sum()) for _ in range(3)] == sums


_Flip = vision.RandomVerticalFlip


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ([vision.RandomSelectSubpolicy([[(_Flip(), 0.8)]])], "1010110001"),
        ([vision.RandomSelectSubpolicy([[(_Flip(), 0.8)]]), vision.ToPIL(), _Flip()], "0011111001"),
        ([transforms.RandomApply([_Flip()], 0.5)], "0000000100"),
        ([transforms.RandomApply([_Flip(), vision.HorizontalFlip()], 0.5)], "1000100010"),
        ([transforms.RandomChoice([_Flip(1.0), _Flip(0.0)])], "0010101011"),
        ([vision.UniformAugment([_Flip(1.0), vision.RandomHorizontalFlip()], 1)], "0100001010"),
    ],
)
def test_nested_transforms_use_pillow_if_each_of_them_can(monkeypatch, operations, expected):
    monkeypatch.setattr(api_generations, "shared", 2)
    images = np.array([[[[1, 2, 3]], [[7, 8, 9]]]] * 10, np.uint8)
    workers = ds.config.get_num_parallel_workers()
    ds.config.set_num_parallel_workers(1)
    try:
        data = ds.NumpySlicesDataset({"a": images}, shuffle=False).map([vision.ToPIL(), *operations], "a")
        rows = [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    finally:
        ds.config.set_num_parallel_workers(workers)
    assert "".join(str(int(row[0, 0, 0] == 7)) for row in rows) == expected


@pytest.mark.parametrize(
    ("transform", "dtype", "expected"),
    [
        (vision.RandomColor((1.9, 1.9)), "uint8", [[2, 0, 0], [1, 1, 0], [0, 0, 2]]),
        (vision.RandomSharpness((0.5, 0.5)), "uint8", [[1, 0, 0], [1, 1, 0], [0, 0, 1]]),
        (vision.Posterize(8), "uint8", [[1, 0, 0], [1, 1, 0], [0, 0, 1]]),
        (vision.AutoContrast(), "uint8", [[255, 0, 0], [255, 255, 0], [0, 0, 255]]),
        (vision.Equalize(), "uint8", [[255, 0, 0], [255, 255, 0], [0, 0, 255]]),
        (vision.Pad(0), "uint8", [[1, 0, 0], [1, 1, 0], [0, 0, 1]]),
        (vision.AdjustBrightness(0.5), "bool", [[0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        (vision.ConvertColor(vision.ConvertMode.COLOR_RGB2BGR), "bool", [[0, 0, 1], [0, 1, 1], [1, 0, 0]]),
    ],
)
def test_bool_images_are_processed_as_uint8(transform, dtype, expected):
    result = transform(np.array([[[1, 0, 0], [1, 1, 0], [0, 0, 1]]] * 3, bool))
    assert (str(result.dtype), result[0].astype(int).tolist()) == (dtype, expected)


@pytest.mark.parametrize(
    ("transform", "dtype", "expected"),
    [
        (vision.Posterize(4), "uint8", [128, 240, 0, 32]),
        (vision.Solarize((0, 100)), "int8", [-128, -1, 127, 127]),
        (vision.AdjustGamma(0.7), "int8", [-98, -1, 0, 66]),
    ],
)
def test_int8_images_are_processed_as_mindspore_does(transform, dtype, expected):
    result = transform(np.array([[-128, -1, 0, 37]], np.int8))
    assert (str(result.dtype), result[0].tolist()) == (dtype, expected)


def test_gamma_of_a_pil_image_is_a_pil_image():
    image = Image.fromarray(np.array([[[172, 47, 117], [192, 67, 251]]], np.uint8))
    result = vision.AdjustGamma(0.7)(image)
    assert result.mode == "RGB" and np.array(result).tolist() == [[[194, 78, 148], [209, 100, 253]]]
    transparent = image.convert("RGBA")
    assert vision.AdjustGamma(0.7)(transparent) == transparent


def test_an_iterator_without_end_needs_num_samples(monkeypatch):
    monkeypatch.setattr("msnb.dataset.engine.samplers._MAX_READ", 1000)
    with pytest.raises(ValueError, match="more than 1,000 sample numbers: give 'num_samples'"):
        samplers.IterSampler(itertools.count())
    assert samplers.IterSampler(itertools.count(), 3).sampler == [0, 1, 2]
