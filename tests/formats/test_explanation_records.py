"""The explainer's event files and pictures are read and written as MindSpore does."""

import math
import os
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from msnb.formats import event_records, summary_events
from msnb.formats.explanation_records import (
    BenchmarkScore,
    Explanation,
    ExplanationWriter,
    Inference,
    Metadata,
    decode_explain,
    encode_explain,
    read_explanations,
)
from msnb.formats.text_files import BadFileError

GOLDEN = Path(__file__).parent.parent / "golden" / "summaries" / "events.out.events.summary.1.0.golden_explain"


@pytest.fixture
def golden(tmp_path):
    """A folder with the golden file."""
    shutil.copy(GOLDEN, tmp_path)
    return tmp_path


def test_a_file_of_mindspore_is_read(golden):
    explained = read_explanations(golden)
    assert explained.metadata == Metadata(
        ("cat", "dog", "bird"), ("Gradient", "GradCAM"), ("Faithfulness", "ClassSensitivity")
    )
    first, second = explained.samples.values()
    assert first.image_path == "_explain_1/origin_images/0/0.jpg"
    assert first.ground_truth_label == (1,)
    assert first.inference == Inference((0.75,), (1,), (0.75,), (0.125,), (0.5,), (1.0,), (0.125,), (0.5,), (1.0,))
    assert first.heatmap_paths == {("Gradient", 1): "_explain_1/heatmap/Gradient/0/0_1.jpg"}
    assert second.probabilities == {0: 0.75, 2: 0.25}
    assert second.heatmap_paths == {("GradCAM", 0): "_explain_1/heatmap/GradCAM/0/1_0.jpg"}
    score = explained.scores["Gradient", "Faithfulness"]
    assert score.total_score == 0.375
    assert score.label_score[0] == 0.5
    assert math.isnan(score.label_score[1])
    assert explained.scores["Gradient", "ClassSensitivity"].label_score == ()


def test_the_messages_are_written_with_the_bytes_of_mindspore():
    count = 0
    for payload, _ in event_records.records(GOLDEN):
        event = summary_events.EventDecoder()(payload)
        explain = decode_explain(event.explain)
        written = summary_events.explain_event(event.wall_time, encode_explain(explain))
        assert written == payload
        count += 1
    assert count == 9


def test_what_is_written_is_read(tmp_path):
    folder = tmp_path / "new" / "folder"
    picture = np.zeros((3, 4, 6), np.float32)
    picture[0, :, 3:] = 2.0
    saliency = np.linspace(-1, 3, 24).reshape(4, 6)
    with ExplanationWriter(folder) as writer:
        writer.write_metadata(["cat", "dog"], ["GradCAM"], ["Robustness"])
        assert writer.write_image(1003, picture) == f"_explain_{writer.timestamp}/origin_images/1000/1003.jpg"
        writer.write_inference(1003, [1], Inference((0.25,), (0,), (0.75,)))
        writer.write_explanations(1003, {("GradCAM", 0): saliency, ("GradCAM", 1): saliency * 0})
        writer.write_scores([BenchmarkScore("Robustness", "GradCAM", 0.5, (0.5, 0.25))])
    explained = read_explanations(folder)
    assert explained.path == writer.path
    assert explained.metadata == Metadata(("cat", "dog"), ("GradCAM",), ("Robustness",))
    (sample,) = explained.samples.values()
    assert sample.probabilities == {1: 0.25, 0: 0.75}
    assert explained.scores["GradCAM", "Robustness"].label_score == (0.5, 0.25)
    assert sample.heatmap_paths["GradCAM", 0] == f"_explain_{writer.timestamp}/heatmap/GradCAM/1000/1003_0.jpg"
    read = np.asarray(Image.open(explained.resolve(sample.heatmap_paths["GradCAM", 0])), int)
    np.testing.assert_allclose(read, (saliency + 1) / 4 * 255, atol=6)
    original = Image.open(explained.resolve(sample.image_path))
    assert (original.mode, original.size, original.format) == ("RGB", (6, 4), "JPEG")


def test_the_maps_of_a_constant_and_of_nan_are_black(tmp_path):
    with ExplanationWriter(tmp_path) as writer:
        writer.write_explanations(0, {("RISE", 0): np.full((8, 8), 7.0), ("RISE", 1): np.full((8, 8), np.nan)})
    (sample,) = read_explanations(tmp_path).samples.values()
    for path in sample.heatmap_paths.values():
        assert not np.asarray(Image.open(tmp_path / path)).any()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_pictures_have_the_permissions_of_r1_1(tmp_path):
    with ExplanationWriter(tmp_path) as writer:
        path = tmp_path / writer.write_image(0, np.zeros((1, 8, 8)))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in list(path.parents)[:3]} == {0o750}


def test_new_events_are_read_while_the_file_grows(tmp_path):
    explained = read_explanations(tmp_path)
    assert explained.path is None
    with ExplanationWriter(tmp_path) as writer:
        assert explained.refresh()  # the file is new
        assert not explained.refresh()
        writer.write_metadata(["cat"])
        assert explained.refresh()
        assert explained.metadata.label == ("cat",)
        writer.write_image(0, np.zeros((1, 8, 8)))
        assert explained.refresh()
        with open(writer.path, "ab") as file:  # the beginning of a record
            file.write(b"\x05\0\0")
        assert not explained.refresh()
        assert list(explained.samples) == [0]
    with ExplanationWriter(tmp_path) as newer:
        assert newer.timestamp > writer.timestamp
        newer.write_metadata(["dog"])
    assert explained.refresh()
    assert (explained.metadata.label, explained.samples) == (("dog",), {})


def test_bad_input_says_what_is_wrong(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        read_explanations(tmp_path / "absent")
    with ExplanationWriter(tmp_path) as writer:
        with pytest.raises(ValueError, match=r"shape \(C, H, W\).*\(2, 8, 8\)"):
            writer.write_image(0, np.zeros((2, 8, 8)))
        with pytest.raises(ValueError, match=r"shape \(H, W\).*\(1, 8, 8\)"):
            writer.write_explanations(0, {("RISE", 0): np.zeros((1, 8, 8))})
    with pytest.raises(BadFileError, match="outside the folder"):
        read_explanations(tmp_path).resolve("../../etc/hosts")
    with pytest.raises(BadFileError, match="is damaged"):
        decode_explain(b"\x32\x7f", "file")


def test_damage_keeps_the_events_before_it(golden):
    path = golden / GOLDEN.name
    data = bytearray(path.read_bytes())
    data[-8] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadFileError, match="damaged"):
        read_explanations(golden)


def test_an_unset_method_is_read_as_empty():
    assert decode_explain(b"\x2a\x02\x10\x03").explanation == (Explanation("", 3, ""),)
