"""Callbacks of map, sinks and serialised pipelines."""

import json
import threading

import numpy as np
import pytest

import msnb.dataset as ds
import msnb.dataset.transforms.c_transforms as C
import msnb.dataset.vision.c_transforms as CV
from msnb import Model, nn
from msnb.dataset.callback import DSCallback, WaitedDSCallback
from msnb.dataset.vision import Inter
from msnb.train.callback import Callback


class Recorder(DSCallback):
    def __init__(self, step_size=1):
        super().__init__(step_size)
        self.events = []

    def ds_begin(self, c):
        self.events.append("begin")

    def ds_epoch_begin(self, c):
        self.events.append(f"epoch {c.cur_epoch_num}")

    def ds_step_begin(self, c):
        self.events.append(f"step {c.cur_step_num_in_epoch}/{c.cur_step_num}")

    def ds_epoch_end(self, c):
        self.events.append(f"end {c.cur_epoch_num}")


def test_callbacks_get_epochs_and_steps_and_repeat_lengthens_the_epoch():
    recorder = Recorder()
    d = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False).map(lambda x: x, ["x"], callbacks=recorder).repeat(2)
    it = d.create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(2):
        assert len(list(it)) == 4
    assert recorder.events == [
        "begin",
        "epoch 1",
        "step 1/1",
        "step 2/2",
        "step 3/3",
        "step 4/4",
        "end 1",
        "epoch 2",
        "step 1/5",
        "step 2/6",
        "step 3/7",
        "step 4/8",
        "end 2",
    ]


def test_error_in_a_callback_ends_the_iteration():
    class Bad(DSCallback):
        def ds_step_begin(self, c):
            raise ValueError("bad step")

    d = ds.NumpySlicesDataset([1, 2], ["x"]).map(lambda x: x, ["x"], callbacks=Bad())
    with pytest.raises(RuntimeError, match="bad step"):
        list(d.create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_waited_callback_waits_for_the_training():
    class Waits(WaitedDSCallback):
        def sync_step_begin(self, train, data):
            order.append(f"map {data.cur_step_num}")

    order, callback = [], Waits()
    d = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False).map(lambda x: x, ["x"], callbacks=callback)
    for i, _ in enumerate(d.create_tuple_iterator(num_epochs=1, output_numpy=True), 1):
        order.append(f"train {i}")
        callback.step_end(None)
    assert order == ["train 1", "map 2", "train 2", "map 3", "train 3"]


class Passes(nn.Cell):
    def construct(self, x, y):
        return x


class Trained(Callback):
    """Records in `order` when a step or epoch of the training ends."""

    def __init__(self, order):
        self.order = order

    def step_end(self, run_context):
        self.order.append(f"trained {run_context.original_args().cur_step_num}")

    def epoch_end(self, run_context):
        self.order.append(f"trained epoch {run_context.original_args().cur_epoch_num}")


class Waiting(WaitedDSCallback):
    """Records in `order` when the map continues."""

    def __init__(self, order, step_size=1):
        super().__init__(step_size)
        self.order = order

    def sync_step_begin(self, train_run_context, ds_run_context):
        done = train_run_context.original_args().cur_step_num
        self.order.append(f"row {ds_run_context.cur_step_num} after {done}")

    def sync_epoch_begin(self, train_run_context, ds_run_context):
        self.order.append(f"epoch {ds_run_context.cur_epoch_num}")


def test_map_waits_for_model_train_with_a_waited_callback():
    order = []
    waiting = Waiting(order)
    assert isinstance(waiting, Callback)
    data = {"x": np.arange(3, dtype=np.float32), "y": np.arange(3, dtype=np.float32)}
    d = ds.NumpySlicesDataset(data, shuffle=False).map(lambda x: x, ["x"], callbacks=waiting)
    Model(Passes()).train(2, d, callbacks=[Trained(order), waiting], dataset_sink_mode=False)
    assert order[:6] == ["trained 1", "row 2 after 1", "trained 2", "row 3 after 2", "trained 3", "trained epoch 1"]
    assert order[6:8] == ["epoch 2", "row 4 after 3"] and order[-1] == "trained epoch 2"


def test_map_that_waits_in_vain_raises_after_the_timeout():
    before = ds.config.get_callback_timeout()
    ds.config.set_callback_timeout(1)
    try:
        waiting = Waiting([], step_size=2)  # but a step of the training takes three rows
        data = {"x": np.arange(6, dtype=np.float32), "y": np.arange(6, dtype=np.float32)}
        d = ds.NumpySlicesDataset(data, shuffle=False).map(lambda x: x, ["x"], callbacks=waiting).batch(3)
        with pytest.raises(RuntimeError, match=r"ds_step_begin timed out after 1 second\(s\)"):
            Model(Passes()).train(1, d, callbacks=[waiting], dataset_sink_mode=False)
    finally:
        ds.config.set_callback_timeout(before)


def test_sink_runs_the_pipeline_in_the_background_and_stops():
    done = threading.Event()
    sink = (
        ds.NumpySlicesDataset(np.arange(4), ["x"])
        .map(lambda x: (done.set(), x)[1], ["x"])
        .to_device(create_data_info_queue=True)
    )
    sink.send(num_epochs=1)
    assert done.wait(60)
    types, shapes = sink.get_data_info()
    assert [t.name for t in types] == ["int64"] and shapes == [[]]
    sink.release()
    with pytest.raises(RuntimeError, match="not iterable"):
        sink.create_dict_iterator()


def test_pipeline_survives_serialization_to_json(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    d = (
        ds.TextFileDataset(str(tmp_path / "a.txt"), shuffle=False)
        .rename("text", "line")
        .repeat(2)
        .batch(2, True)
        .take(2)
    )
    description = ds.serialize(d, str(tmp_path / "p.json"))
    again = ds.deserialize(json_filepath=str(tmp_path / "p.json"))
    assert json.loads((tmp_path / "p.json").read_text()) == json.loads(json.dumps(description))
    assert ds.compare(d, again) and ds.serialize(again) == description
    one, two = (
        [r["line"].tolist() for r in x.create_dict_iterator(num_epochs=1, output_numpy=True)] for x in (d, again)
    )
    assert one == two


def test_transforms_and_samplers_survive_serialization_to_json(tmp_path):
    from PIL import Image

    (tmp_path / "c").mkdir()
    for i in range(3):
        Image.fromarray(np.full((8, 8, 3), i, np.uint8)).save(tmp_path / "c" / f"{i}.png")
    d = ds.ImageFolderDataset(str(tmp_path), sampler=ds.SubsetRandomSampler([2, 0]))
    d = d.map(
        [CV.Decode(), CV.Resize((4, 4), Inter.NEAREST), CV.RandomCrop(3), CV.RandomHorizontalFlip(0.3)], ["image"]
    )
    d = d.map(C.OneHot(4), ["label"])
    again = ds.deserialize(ds.serialize(d))
    ds.config.set_seed(2)
    one, two = (
        [r["image"].tolist() for r in x.create_dict_iterator(num_epochs=1, output_numpy=True)] for x in (d, again)
    )
    assert one == two and len(one) == 2


def test_serialize_refuses_functions_without_a_name():
    d = ds.serialize(ds.TextFileDataset(__file__).map(lambda x: x, ["text"]))
    with pytest.raises(RuntimeError, match="lambda"):
        ds.deserialize(d)
