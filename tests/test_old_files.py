"""Pickles, pipelines and lineage files that commit 52e9820a wrote still load (`tests/golden/make_pickles.py`)."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from golden import make_pickles

import msnb as ms
from msnb import Tensor
from msnb import dataset as ds
from msnb.formats import lineage_events

FOLDER = Path(__file__).parent / "golden" / "pickles"
IMAGE = np.linspace(-1, 1, 64, dtype=np.float32).reshape(1, 1, 8, 8)


def load(name):
    return pickle.loads((FOLDER / f"{name}.pkl").read_bytes())


def comparable(value):
    """Return a form of `value` that == compares: arrays as lists, objects by their printed form."""
    if isinstance(value, (list, tuple)):
        return [comparable(v) for v in value]
    if isinstance(value, Tensor):
        return str(value.dtype), value.shape, np.asarray(value.asnumpy(), np.float64).tolist()
    return repr(value) if isinstance(value, (ms.nn.Cell, ms.ops.Primitive)) else str(value)


@pytest.mark.parametrize("name", sorted(set(make_pickles.OBJECTS) - {"row_tensor", "vision_operators"}))
def test_an_old_pickle_equals_the_object_built_today(name):
    assert comparable(load(name)) == comparable(make_pickles.OBJECTS[name]())


@pytest.mark.parametrize("name", ["cell", "cell_that_ran"])
def test_an_old_network_computes_what_it_computed(name):
    net, fresh = load(name), make_pickles.network()
    assert [p.name for p in net.get_parameters()] == [p.name for p in fresh.get_parameters()]
    np.testing.assert_allclose(net(Tensor(IMAGE)).asnumpy(), fresh(Tensor(IMAGE)).asnumpy(), rtol=1e-5, atol=1e-6)


def test_an_old_train_step_goes_on_training():
    step = load("train_step")
    before = {p.name: p.asnumpy().copy() for p in step.trainable_params()}
    loss = step(Tensor(IMAGE), Tensor(np.ones((1, 4), np.float32)))
    assert np.isfinite(loss.asnumpy())
    assert [p.name for p in step.trainable_params() if not np.array_equal(p.asnumpy(), before[p.name])]


def test_an_old_lstm_runs():
    output, (hidden, _) = load("lstm")(
        Tensor(np.ones((4, 1, 2), np.float32)),
        (Tensor(np.zeros((1, 1, 3), np.float32)), Tensor(np.zeros((1, 1, 3), np.float32))),
    )
    assert output.shape == (4, 1, 3) and hidden.shape == (1, 1, 3)


def test_an_old_row_tensor_has_its_columns():
    rows = load("row_tensor")
    assert (rows.dense_shape, rows.indices.asnumpy().tolist(), rows.values.asnumpy().tolist()) == (
        (3, 2),
        [0],
        [[1.0, 2.0]],
    )


def test_old_vision_operators_resize_crop_and_transpose():
    resize, crop, transpose = load("vision_operators")
    assert transpose(crop(resize(np.zeros((8, 8, 3), np.uint8)))).shape == (3, 2, 2)


def test_an_old_pipeline_gives_its_rows():
    description = (FOLDER / "pipeline.json").read_text(encoding="utf-8").replace("FOLDER", FOLDER.as_posix())
    data = ds.deserialize(json.loads(description))
    rows = [row["line"][0].decode() for row in data.create_dict_iterator(output_numpy=True)]
    assert rows == ["second", "third"] * 2


def test_an_old_lineage_file_is_read():
    (path,) = FOLDER.glob("*_lineage")
    content = {event.kind: event.content for event, _ in lineage_events.lineage_events(path)}
    assert content["train_lineage"]["optimizer"] == "Momentum"
    assert "Rescale" in json.dumps(content, default=str)
