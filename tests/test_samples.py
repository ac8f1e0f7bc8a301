"""The digits that come with msnb."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from msnb import samples
from msnb.formats import idx


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return samples.digits(tmp_path_factory.mktemp("data") / "digits")


def test_the_files_are_mnists(folder):
    images = idx.read(os.path.join(folder, "train", "train-images-idx3-ubyte"))
    labels = idx.read(os.path.join(folder, "train", "train-labels-idx1-ubyte"))
    test_images = idx.read(os.path.join(folder, "test", "t10k-images-idx3-ubyte"))
    test_labels = idx.read(os.path.join(folder, "test", "t10k-labels-idx1-ubyte"))
    assert (images.shape, labels.shape) == ((1500, 28, 28), (1500,))
    assert (test_images.shape, test_labels.shape) == ((297, 28, 28), (297,))
    assert images.dtype == labels.dtype == np.uint8
    assert set(labels) == set(test_labels) == set(range(10))
    assert images.max() == 255 and not images[:, :4].any() and not images[:, :, -4:].any()


def test_no_digit_is_in_both_subsets(folder):
    subsets = [
        idx.read(os.path.join(folder, *name))
        for name in (("train", "train-images-idx3-ubyte"), ("test", "t10k-images-idx3-ubyte"))
    ]
    train, test = ({image.tobytes() for image in part} for part in subsets)
    assert not train & test


def test_a_simple_classifier_can_tell_the_digits_apart(folder):
    images = idx.read(os.path.join(folder, "train", "train-images-idx3-ubyte")).reshape(1500, -1).astype(np.float32)
    labels = idx.read(os.path.join(folder, "train", "train-labels-idx1-ubyte"))
    test = idx.read(os.path.join(folder, "test", "t10k-images-idx3-ubyte")).reshape(297, -1).astype(np.float32)
    truth = idx.read(os.path.join(folder, "test", "t10k-labels-idx1-ubyte"))
    distance = (images**2).sum(1) - 2 * test @ images.T
    assert (labels[distance.argmin(axis=1)] == truth).mean() > 0.95


def test_a_folder_that_has_digits_is_left_alone(folder):
    before = {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in samples._FILES}
    assert samples.digits(folder) == folder
    assert before == {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in samples._FILES}


def test_a_missing_file_is_written_again(tmp_path):
    folder = samples.digits(tmp_path / "d")
    os.remove(os.path.join(folder, "train", "train-labels-idx1-ubyte"))
    samples.digits(folder)
    assert len(idx.read(os.path.join(folder, "train", "train-labels-idx1-ubyte"))) == 1500


def test_several_may_ask_at_once(tmp_path):
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: samples.digits(tmp_path / "d"), range(4)))) == 1
    assert os.listdir(tmp_path) == ["d"]


def test_the_cache_folder_can_be_chosen(tmp_path, monkeypatch):
    monkeypatch.setenv("MSNB_CACHE", str(tmp_path / "cache"))
    assert samples.digits() == str(tmp_path / "cache" / "digits")
