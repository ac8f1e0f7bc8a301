"""Image transforms, compared with results of MindSpore 2.7.1 in vision.json."""

import base64
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import msnb.dataset as ds
import msnb.dataset.vision as vision
import msnb.dataset.vision.c_transforms as c_vision

GOLDEN = Path(__file__).parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
from vision_cases import cases, digest  # noqa: E402

STORED = json.loads((GOLDEN / "vision.json").read_text())
CASES = cases(vision, np.frombuffer(base64.b64decode(STORED["jpeg"]), np.uint8))
# Off by at most 1 in some pixels (hue, sharpness) and by 4 in one of a thousand (affine): other order of roundings.
ROUNDED = {"affine", "hue", "sharpness"}


@pytest.mark.parametrize("name", sorted(set(STORED["results"]) - ROUNDED))
def test_pixels_equal_mindspore(name):
    assert digest(CASES[name]()) == STORED["results"][name]


@pytest.mark.parametrize("name", sorted(ROUNDED))
def test_dtype_and_shape_equal_mindspore(name):
    assert digest(CASES[name]()).split()[:-1] == STORED["results"][name].split()[:-1]


@pytest.mark.parametrize(
    "shape, size, expected",
    [((120, 170, 3), 64, (64, 91)), ((170, 120, 3), 64, (91, 64)), ((10, 15, 3), 3, (3, 5)), ((9, 9, 1), 4, (4, 4))],
)
def test_longer_side_is_rounded_half_up_in_r1_1(shape, size, expected):
    image = np.zeros(shape, np.uint8)
    assert c_vision.Resize(size)(image).shape[:2] == expected


def test_contrast_rounds_a_half_as_mindspore_does():
    image = np.full((16, 16, 3), 136, np.uint8)
    image[0, 0] = 11
    assert vision.AdjustContrast(0.7)(image)[0, 0].tolist() == [48, 48, 48]  # 0.7 * 11 + 0.3 * 136 is 48.5


def test_a_grid_of_one_patch_is_the_image():
    image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    (patch,) = next(ds.NumpySlicesDataset({"a": image[None]}).map(vision.SlicePatches(1, 1)).create_tuple_iterator())
    for one in (vision.SlicePatches(1, 1)(image), patch.asnumpy()):
        assert isinstance(one, np.ndarray) and np.array_equal(one, image)


@pytest.mark.parametrize("is_hwc", [True, False])
@pytest.mark.parametrize("shape", [(28, 28), (28, 28, 1), (28, 28, 3), (8, 8, 5), (8, 8, 28)])
def test_one_mean_is_the_mean_of_every_channel(shape, is_hwc):
    # the usual lines for MNIST: ToTensor() gives (1, 28, 28), and Normalize counts the last axis as channels
    out = vision.Normalize([0.5], [0.25], is_hwc)(np.ones(shape, np.float32))
    assert out.shape == shape and np.array_equal(out, np.full(shape, 2, np.float32))


@pytest.mark.parametrize("channels", [1, 3, 5])
def test_one_mean_of_normalize_pad_is_the_mean_of_every_channel(channels):
    out = vision.NormalizePad([0.5], [0.25])(np.ones((4, 4, channels), np.float32))
    assert out.shape == (4, 4, channels + 1)
    assert (out[..., :-1] == 2).all() and (out[..., -1] == 0).all()
