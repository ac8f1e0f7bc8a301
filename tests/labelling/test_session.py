"""Labelling sessions without a page: questions, answers and their file, learning, exports, errors."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import msnb.dataset as ds
from msnb import nn
from msnb.labelling import Session
from msnb.labelling.pool import open_pool

CLASSES = ["left", "right", "both"]


def pictures(count=60, seed=0):
    """Return pictures with a bright field on the left, on the right, or on both sides, and their classes."""
    rng = np.random.default_rng(seed)
    images, classes = rng.integers(0, 60, (count, 16, 16), dtype=np.uint8), rng.integers(0, 3, count)
    for image, kind in zip(images, classes, strict=True):
        if kind != 1:
            image[4:12, 1:6] += 150
        if kind != 0:
            image[4:12, 10:15] += 150
    return images, [CLASSES[kind] for kind in classes]


@pytest.fixture
def images():
    return pictures()[0]


@pytest.fixture
def truth():
    return pictures()[1]


@pytest.fixture
def keep(tmp_path):
    return tmp_path / "labels.csv"


@pytest.fixture
def opened(keep):
    """Open a session that is closed after the test."""
    sessions = []

    def open_session(images, classes=CLASSES, **options):
        sessions.append(Session(images, classes, **{"keep": keep, **options}))
        return sessions[-1]

    yield open_session
    for session in sessions:
        session.close()


def answer(session, truth, count):
    """Answer as a perfect annotator."""
    for _ in range(count):
        item = session.next()
        session.answer(item, truth[item.index])


def test_learning_leads_to_suggestions_scores_and_a_curve(opened, images, truth):
    session = opened(images)
    answer(session, truth, 30)
    session.wait()
    curve = session.curve()
    assert curve.held_out == 6 and curve.labels[-1] == 24 and len(curve.accuracy) == len(curve.labels)
    assert curve.accuracy[-1] >= 0.8 and "Go on: 6 held-out answers are too few" in curve.advice
    assert np.isfinite(session.scores).sum() == 60 - 12 - 24
    item = session.next()
    while item.drawn == "held-out":
        assert item.suggestion is None
        session.answer(item, truth[item.index])
        item = session.next()
    assert item.suggestion in CLASSES and item.probability > 1 / 3 and item.drawn == "margin"
    right = [session.probabilities[k].argmax() == CLASSES.index(truth[k]) for k in range(60)]
    assert np.mean(right) > 0.9


def test_every_answer_is_in_the_file_at_once_and_a_new_session_goes_on(opened, images, truth, keep):
    session = opened(images)
    for count in range(1, 4):
        answer(session, truth, 1)
        assert len(keep.read_text().splitlines()) == 1 + count
    session.skip(session.next())
    session.close()
    with pytest.raises(ValueError, match="is closed"):
        session.answer(5, "left")
    again = opened(images)
    assert again.answers == session.answers and again.next() == session.next()


def test_undo_takes_back_answers_and_skips_also_after_reopening(opened, images, truth):
    session = opened(images)
    answer(session, truth, 2)
    before = session.answers
    asked = session.next()
    session.answer(asked, "left")
    assert session.undo() == asked and session.next() == asked and session.answers == before
    session.skip(asked)
    assert session.next().index != asked.index
    session.close()
    session = opened(images)
    assert session.undo().index == asked.index and session.answers == before
    session.answer(asked, "left")
    session.answer(asked, "right")
    assert session.undo().index == asked.index and session.answers[asked.index] == "left"
    for _ in range(3):
        session.undo()
    assert session.undo() is None and not session.answers


def test_a_torn_last_line_is_dropped(opened, images, truth, keep, capfd):
    session = opened(images)
    answer(session, truth, 3)
    session.close()
    content = keep.read_bytes()
    keep.write_bytes(content[:-4])
    session = opened(images)
    assert len(session.answers) == 2
    answer(session, truth, 1)
    session.close()
    assert len(opened(images).answers) == 3


def test_answers_survive_a_killed_process(keep, tmp_path, opened):
    program = (
        "import numpy as np, os, signal\nfrom msnb.labelling import Session\n"
        f"s = Session(np.zeros((9, 8, 8), np.uint8), ['a', 'b'], keep={str(keep)!r})\n"
        "for k in range(4): s.answer(s.next(), 'a')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path)
    assert len(opened(np.zeros((9, 8, 8), np.uint8), ["a", "b"]).answers) == 4


def test_two_sessions_on_one_file_are_an_error(opened, images, keep, tmp_path):
    session = opened(images)
    with pytest.raises(RuntimeError, match="is open in another session of this process"):
        opened(images)
    program = (
        "import numpy as np\nfrom msnb.labelling import Session\n"
        f"Session(np.zeros((9, 8, 8), np.uint8), ['a', 'b'], keep={str(keep)!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert "is open in another session of another process" in done.stderr
    session.close()
    opened(images)


def test_what_cannot_be_labelled_is_an_error(opened, images, keep, tmp_path):
    for wrong, error, message in (
        (np.zeros((0, 8, 8)), ValueError, "it is empty"),
        ([], ValueError, "it is empty"),
        (tmp_path, ValueError, "has no pictures"),
        (tmp_path / "none", FileNotFoundError, "no folder"),
        ([tmp_path / "none.png"], FileNotFoundError, "no picture"),
        (np.zeros((4, 3)), TypeError, "each item should be a picture"),
        ([np.zeros((8, 8)), None], TypeError, "item 1 has NoneType"),
        (7, TypeError, "should be a folder"),
        (ds.NumpySlicesDataset({"x": np.zeros((4, 3))}), TypeError, "should have a column with one picture"),
    ):
        with pytest.raises(error, match=message):
            opened(wrong)
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(TypeError, match="has no picture"):
        opened([tmp_path / "text.png"])
    for options, error, message in (
        ({"classes": ["a", "a"]}, ValueError, "different names"),
        ({"classes": "ab"}, TypeError, "a list of names"),
        ({"kind": "circle"}, ValueError, "'kind' should be 'class'"),
        ({"held_out": 0.9}, ValueError, "a share from 0 to 0.5"),
        ({"net": 3}, TypeError, "should be a Cell"),
        ({"features": np.zeros((3, 2))}, ValueError, "should have 60 rows"),
        ({"net": nn.Flatten(), "features": np.zeros((60, 2))}, ValueError, "either 'net' or 'features'"),
    ):
        with pytest.raises(error, match=message):
            opened(images, **options)
    session = opened(images)
    with pytest.raises(ValueError, match="one of left, right, both, but got 'up'"):
        session.answer(session.next(), "up")
    with pytest.raises(IndexError, match="no item 60"):
        session.answer(60, "left")
    assert not session.answers and not keep.read_text().splitlines()[1:]


def test_a_file_of_other_items_or_classes_is_an_error(opened, images, truth, keep):
    session = opened(images)
    answer(session, truth, 3)
    session.close()
    with pytest.raises(ValueError, match="has another content now"):
        opened(images[::-1])
    with pytest.raises(ValueError, match="does not fit kind 'class' and classes x, y"):
        opened(images, ["x", "y"])
    keep.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a file of answers"):
        opened(images)


def test_a_wrong_answer_is_suspected_and_can_be_corrected_or_confirmed(opened, images, truth):
    session = opened(images, held_out=0)
    answer(session, truth, 50)
    wrong = list(session.answers)[20]
    session.answer(wrong, CLASSES[(CLASSES.index(truth[wrong]) + 1) % 3])
    session._answered_again.clear()  # as if it had been the first answer
    [fault, *_] = session.faults()
    assert fault.index == wrong and fault.suggestion == truth[wrong] and fault.probability < 0.3
    session.answer(fault.index, fault.label)
    assert wrong not in [fault.index for fault in session.faults()]


def test_a_batch_has_the_items_that_are_most_likely_of_a_class(opened, images, truth):
    session = opened(images)
    assert session.batch("left") == []
    answer(session, truth, 24)
    session.wait()
    batch = session.batch("left", 5)
    assert len(batch) == 5 and all(truth[item.index] == "left" for item in batch)
    session.answer_all(batch, "left")
    assert all(session.answers[item.index] == "left" for item in batch)
    with pytest.raises(ValueError, match="the class should be one of"):
        session.batch("up")


def test_all_items_can_be_answered(opened, images, truth):
    session = opened(images[:9], strategy="random")
    answer(session, truth, 9)
    session.wait()
    assert session.next() is None and np.isnan(session.scores).all()


@pytest.mark.parametrize("strategy", ["least_confident", "entropy", "bald", "coreset", "diversity", "random"])
def test_each_strategy_asks_for_every_item_once(opened, images, truth, strategy):
    session = opened(images, strategy=strategy)
    for _ in range(20):
        answer(session, truth, 1)
        session.wait()
    assert len(session.answers) == 20


def test_the_error_of_a_strategy_reaches_the_user_and_spares_the_answers(opened, images, truth):
    session = opened(images, strategy=lambda seen: [1])
    answer(session, truth, 3)
    with pytest.raises(ValueError, match="should return"):
        session.wait()
    assert len(session.answers) == 3 and session.next() is not None


# ------------------------------------------------------------------ features
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flatten, self.body, self.relu = nn.Flatten(), nn.Dense(256, 12), nn.ReLU()
        self.head = nn.Dense(12, 3)

    def construct(self, x):
        return self.head(self.relu(self.body(self.flatten(x))))


def test_a_network_gives_the_features_and_can_be_trained(opened, images, truth):
    net = Net()
    session = opened(images, net=net)
    answer(session, truth, 30)
    session.wait()
    assert session._learner.features.shape == (60, 12)
    before, features = net.head.weight.asnumpy().copy(), session._learner.features
    session.train_net(epochs=2)
    session.wait(120)
    assert np.abs(net.head.weight.asnumpy() - before).max() > 0
    assert np.abs(session._learner.features - features).max() > 0
    with pytest.raises(ValueError, match="should have a network"):
        opened(images, keep=session.keep.with_name("other.csv")).train_net()


def test_texts_and_own_features(opened, keep):
    texts = [f"the {word} number {k}" for k in range(20) for word in ("good", "bad")]
    session = opened(texts, ["plus", "minus"], kind="text")
    for _ in range(16):
        item = session.next()
        session.answer(item, "plus" if "good" in texts[item.index] else "minus")
    assert session.wait().probabilities[0].argmax() == 0
    row = next(session.dataset().create_dict_iterator(num_epochs=1, output_numpy=True))
    assert row["text"].item().decode() in texts and row["label"] in (0, 1)
    assert open_pool(session.dataset(), is_text=True).items == [texts[index] for index in session.answers]
    assert session.export(keep.with_suffix(".out"), "csv").read_text().startswith("text,label")
    lengths = opened(texts, ["plus", "minus"], kind="text", features=lambda text: [len(text)], keep=keep.with_name("b"))
    lengths.answer(0, "plus")
    assert lengths.wait()._learner.features.shape == (40, 1)


# ------------------------------------------------------------------ kinds and exports
def test_several_classes(opened, images, truth, tmp_path):
    session = opened(images, ["l", "r"], kind="classes")
    names = {"left": ["l"], "right": ["r"], "both": ["r", "l"]}
    for _ in range(30):
        item = session.next()
        session.answer(item, names[truth[item.index]])
    session.wait()
    right = [session._predict_label(session.probabilities[k]) == sorted(names[truth[k]]) for k in range(60)]
    assert np.mean(right) > 0.85
    assert session.curve().held_out == 6 and isinstance(session.faults(), list)
    row = next(session.dataset("train").create_dict_iterator(num_epochs=1, output_numpy=True))
    assert row["label"].shape == (2,) and row["label"].dtype == np.float32
    with pytest.raises(ValueError, match="'imagefolder' has one class per picture"):
        session.export(tmp_path / "folder")
    rows = list(csv.reader(session.export(tmp_path / "out.csv").open()))
    assert rows[0] == ["name", "label"] and len(rows) == 31 and {row[1] for row in rows[1:]} == {"l", "r", "l;r"}


def test_boxes(opened, images, tmp_path):
    session = opened(images, ["thing"], kind="boxes")
    for _ in range(3):
        session.answer(session.next(), [["thing", 1, 2, 5, 6.5], ("thing", 3, 3, 13, 13)])
    session.answer(session.next(), [])
    for wrong, error, message in (
        ([["thing", 1, 2, 0, 5]], ValueError, "have an area"),
        ([["thing", 10, 2, 9, 5]], ValueError, "in the picture of 16 x 16"),
        ([["thing", 1, 2]], TypeError, "a box should be"),
        ("thing", TypeError, "a list of boxes"),
    ):
        with pytest.raises(error, match=message):
            session.answer(session.next(), wrong)
    coco = json.loads(session.export(tmp_path / "boxes.json").read_text())
    assert len(coco["images"]) == 4 and len(coco["annotations"]) == 6
    assert coco["annotations"][0]["bbox"] == [1, 2, 5, 6.5] and coco["annotations"][0]["area"] == 32.5
    row = next(session.dataset().create_dict_iterator(num_epochs=1, output_numpy=True))
    assert row["boxes"].tolist() == [[1, 2, 5, 6.5], [3, 3, 13, 13]] and row["label"].tolist() == [0, 0]
    session.export(tmp_path / "boxes.mindrecord")
    assert len(list(ds.MindDataset(str(tmp_path / "boxes.mindrecord")).create_dict_iterator())) == 4
    with pytest.raises(ValueError, match="positions of boxes"):
        session.faults()


def test_exports_of_files(opened, images, truth, tmp_path):
    for index, image in enumerate(images[:12]):
        (tmp_path / "in" / "sub").mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(tmp_path / "in" / "sub" / f"{index:02d}.png")
    session = opened(tmp_path / "in")
    assert session.next().name.startswith("sub/")
    with pytest.raises(ValueError, match="no answer yet"):
        session.export(tmp_path / "none.csv")
    answer(session, truth, 10)
    folder = session.export(tmp_path / "folder")
    loaded = ds.ImageFolderDataset(str(folder), decode=True).create_dict_iterator(output_numpy=True)
    assert len(list(loaded)) == 10
    with pytest.raises(FileExistsError, match="a new or an empty folder"):
        session.export(folder)
    session.export(tmp_path / "rows.mindrecord")
    rows = list(ds.MindDataset(str(tmp_path / "rows.mindrecord")).create_dict_iterator(output_numpy=True))
    assert len(rows) == 10 and {int(row["label"]) for row in rows} <= {0, 1, 2}
    with pytest.raises(ValueError, match="should end in .csv"):
        session.export(tmp_path / "a.xyz")
    (tmp_path / "in" / "sub" / "00.png").unlink()
    session.close()
    answered_first = 0 in session.answers
    assert len(opened(tmp_path / "in").answers) == 10 - answered_first
