"""Transforms of PIL images and of (C, H, W) arrays, compared with digests of MindSpore 2.7.1 for the same seeds."""

import hashlib
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import msnb.dataset.transforms.py_transforms as transforms
import msnb.dataset.vision.py_transforms as vision
from msnb.dataset.vision import py_transforms_util as util
from msnb.dataset.vision.utils import Border, Inter

PICTURE = Image.fromarray((np.arange(40 * 50 * 3).reshape(40, 50, 3) * 7 % 251).astype(np.uint8))
PLANES = (np.arange(3 * 12 * 14).reshape(3, 12, 14) % 17 / 17).astype(np.float32)


@pytest.mark.parametrize(
    "op, image, md5",
    [
        (lambda: vision.RandomResizedCrop(20), PICTURE, "22da4b1e2fdb"),
        (lambda: vision.RandomResizedCrop((9, 30), (0.9, 1.0), (4.0, 5.0)), PICTURE, "18c06e610e4b"),
        (lambda: vision.RandomCrop((48, 60), 2, True, 0, Border.REFLECT), PICTURE, "2985bcdfb873"),
        (lambda: vision.RandomRotation(30, Inter.BILINEAR, True, None, 5), PICTURE, "4a58c491bfb1"),
        (
            lambda: vision.RandomAffine(20, (0.1, 0.2), (0.8, 1.2), (-5, 5, -3, 3), Inter.BILINEAR),
            PICTURE,
            "32ed3e1889e4",
        ),
        (lambda: vision.RandomPerspective(0.4, 1.0), PICTURE, "9f1bb0f497e5"),
        (lambda: vision.RandomColorAdjust(0.4, 0.3, (0.5, 1.5), 0.2), PICTURE, "9c2a21572428"),
        (lambda: vision.RandomColor((0.2, 1.7)), PICTURE, "97d10e30f6cc"),
        (lambda: vision.TenCrop(16), PICTURE, "8f814d21102c"),
        (lambda: vision.Pad((1, 2, 3, 4), 9, Border.EDGE), PICTURE, "a0d2fc099ed9"),
        (lambda: vision.Grayscale(3), PICTURE, "dfe301ed0ed1"),
        (lambda: vision.RandomErasing(1.0, value="random"), PLANES, "d4ecea25cb2e"),
        (lambda: vision.RandomErasing(1.0, value=(1, 2, 3)), PLANES, "7e1b16bb7a70"),
    ],
)
def test_pixels_of_pil_images_equal_mindspore(op, image, md5):
    random.seed(11)
    np.random.seed(11)
    result = op()(image)
    digest = hashlib.md5()
    for part in result if isinstance(result, tuple) else (result,):
        array = np.ascontiguousarray([part] if not isinstance(result, tuple) else part)
        digest.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
    assert digest.hexdigest()[:12] == md5


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0.05, 20), st.floats(1, 3), st.integers(0, 99))
def test_random_crop_box_is_inside_the_image_and_not_empty(width, height, ratio, wider, seed):
    random.seed(seed)
    image = Image.new("L", (width, height))
    top, left, high, wide = util._sample_crop_box(image, (0.01, 1.0), (ratio, ratio * wider), 3)
    assert 0 <= top <= top + high <= height and 0 <= left <= left + wide <= width and max(high, wide) > 0


def test_identity_and_translation_of_random_affine():
    image = Image.fromarray(np.arange(30, dtype=np.uint8).reshape(5, 6))
    assert np.array_equal(vision.RandomAffine(0)(image), image)
    moved = image.transform(
        image.size, Image.Transform.AFFINE, util._compute_inverse_affine((6, 5), 0, (2, 1), 1.0, (0, 0))
    )
    assert np.array_equal(np.asarray(moved)[1:, 2:], np.asarray(image)[:-1, :-2])


def test_mix_up_accepts_labels_without_class_axis():
    image, label = np.arange(4.0).reshape(4, 1, 1, 1), np.arange(4.0)
    mixed, labels = vision.MixUp(4, 0.5)(image, label)
    assert np.array_equal(mixed.reshape(4), labels)


def test_mix_up_with_the_batch_before_takes_one_image_for_the_batch():
    image, label = np.arange(48, dtype=np.uint8).reshape(4, 4, 3), np.array([[0, 1]])
    mixed, labels = vision.MixUp(2, 0.2, is_single=False)(image, label)
    assert mixed.shape == (2, 4, 4, 3) and labels.shape == (2, 2)
    np.testing.assert_array_equal(mixed, np.stack([image, image]))  # there is no batch before the first


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint8])
@pytest.mark.parametrize("operation", [vision.RgbToHsv, vision.HsvToRgb])
def test_colors_are_converted_in_float64(operation, dtype):
    image = np.array([[[0.5, 0.25, 0.75], [1, 0, 0.5]]]).astype(dtype)
    converted = operation(is_hwc=True)(image)
    assert converted.dtype == np.float64
    np.testing.assert_array_equal(converted, operation(is_hwc=True)(image.astype(np.float64)))


@pytest.mark.parametrize("padding, sides", [(3, (3,) * 4), ((1, 2), (1, 2, 1, 2)), ([1, 2, 3, 4], (1, 2, 3, 4))])
def test_pad_accepts_one_two_or_four_numbers(padding, sides):
    left, top, right, bottom = sides
    assert vision.Pad(padding)(PICTURE).size == (50 + left + right, 40 + top + bottom)


def test_one_hot_encoding_with_smoothing():
    rows = transforms.OneHotOp(4, 0.2)(np.array([2, 0]))
    np.testing.assert_allclose(rows, [[0.05, 0.05, 0.85, 0.05], [0.85, 0.05, 0.05, 0.05]])
    with pytest.raises(ValueError, match="smaller than the category number"):
        transforms.OneHotOp(4)(np.array([5]))


@pytest.mark.parametrize("make", [vision.RandomResizedCrop, vision.RandomErasing])
def test_wrong_scale_and_ratio_raise(make):
    arguments = {"size": 5} if make is vision.RandomResizedCrop else {}
    with pytest.raises(TypeError, match="ratio should be a tuple"):
        make(**arguments, ratio=(1.0,))
    with pytest.raises(ValueError, match="scale should be in"):
        make(**arguments, scale=(0.9, 0.1))
