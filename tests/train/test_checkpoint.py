"""Checkpoints of a training: none is lost, no other file changes, and a failed write is an error."""

import os
import threading
import time
import weakref

import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor
from msnb.formats import checkpoint as format_of_checkpoints
from msnb.train._async_writer import JobThread
from msnb.train.callback import Callback, CheckpointConfig, ModelCheckpoint, _CheckpointManager


def files(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".ckpt"))


def saver(folder, prefix="net", **config):
    return ModelCheckpoint(prefix, str(folder), CheckpointConfig(**{"save_checkpoint_steps": 1, **config}))


@pytest.fixture
def writes(monkeypatch):
    """`writes(function)`: what writes a file calls the function first."""
    real = format_of_checkpoints.write

    def replace(before):
        def write(path, *args, **kwargs):
            before(path)
            return real(path, *args, **kwargs)

        monkeypatch.setattr(format_of_checkpoints, "write", write)

    return replace


def full(_path):
    raise OSError(28, "No space left on device")


def test_the_old_checkpoint_is_there_while_the_new_one_is_written(make_model, batches, tmp_path, writes):
    seen = []
    writes(lambda path: seen.append(files(tmp_path)))
    make_model().train(1, batches(steps=3), callbacks=saver(tmp_path, keep_checkpoint_max=1))
    assert seen == [[], ["net-1_1.ckpt"], ["net-1_2.ckpt"]] and files(tmp_path) == ["net-1_3.ckpt"]


def test_files_of_the_user_and_of_other_prefixes_stay(make_model, batches, tmp_path):
    own = ["net.ckpt", "net-1_1.ckpt.ckpt", "net-best.ckpt", "net-1_x.ckpt", "net_2-9_9.ckpt", "anet-1_1.ckpt"]
    for name in own:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1, 1))
    callbacks = [saver(tmp_path, keep_checkpoint_max=2), saver(tmp_path, "n.t", keep_checkpoint_max=1)]
    make_model().train(1, batches(steps=4), callbacks=callbacks)
    assert files(tmp_path) == sorted([*own, "net_3-1_3.ckpt", "net_3-1_4.ckpt", "n.t-1_4.ckpt"])


def test_a_full_disk_leaves_the_old_checkpoint_and_ends_the_training(make_model, batches, tmp_path, writes):
    config = {"keep_checkpoint_max": 1}
    writes(lambda path: full(path) if path.endswith("1_2.ckpt") else None)
    with pytest.raises(OSError, match="No space"):
        make_model().train(1, batches(), callbacks=saver(tmp_path, **config))
    assert files(tmp_path) == ["net-1_1.ckpt"]


@pytest.mark.parametrize("last", [2, 4])
def test_what_a_thread_could_not_write_is_raised_by_the_next_save_or_at_the_end(
    last, make_model, batches, tmp_path, writes
):
    writes(lambda path: full(path) if path.endswith(f"1_{last}.ckpt") else None)
    with pytest.raises(OSError, match="No space") as info:
        make_model().train(1, batches(), callbacks=saver(tmp_path, async_save=True))
    assert any(f"net-1_{last}.ckpt" in note for note in info.value.__notes__)
    ms.save_checkpoint([{"name": "w", "data": Tensor([1.0])}], str(tmp_path / "after.ckpt"))  # said once is enough


def test_one_checkpoint_is_written_and_one_waits(make_model, batches, tmp_path, writes):
    writes(lambda path: time.sleep(0.01))
    most = []

    class Watch(Callback):
        def step_end(self, run_context):
            most.append(sum(t.name == "asyn_save_ckpt" for t in threading.enumerate()))

    callbacks = [saver(tmp_path, keep_checkpoint_max=2, async_save=True), Watch()]
    make_model().train(1, batches(steps=12), callbacks=callbacks)
    assert max(most) <= 2 and files(tmp_path) == ["net-1_11.ckpt", "net-1_12.ckpt"]


def test_jobs_run_in_order_and_no_third_is_prepared_while_two_are_open():
    writer, release, order, prepared = JobThread(), threading.Event(), [], []

    def job(number):
        def prepare():
            prepared.append(number)
            return str(number), lambda: (release.wait(60), order.append(number))

        return prepare

    writer.submit(job(0))
    writer.submit(job(1))
    third = threading.Thread(target=writer.submit, args=(job(2),))
    third.start()
    third.join(0.05)
    assert prepared == [0, 1] and writer.busy()
    release.set()
    third.join()
    writer.wait()
    assert order == prepared == [0, 1, 2] and not writer.busy()


def test_a_clock_that_is_set_back_delays_nothing_and_spoils_no_order(make_model, batches, tmp_path, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "time", lambda: -now[0])

    class Tick(Callback):
        def step_begin(self, run_context):
            now[0] += 1.5
            for name in files(tmp_path):  # what was there before seems to come from the future
                os.utime(tmp_path / name, (4e9 - now[0],) * 2)

    callbacks = [Tick(), saver(tmp_path, save_checkpoint_steps=0, save_checkpoint_seconds=1, keep_checkpoint_max=2)]
    make_model().train(1, batches(steps=5), callbacks=callbacks)
    assert files(tmp_path) == ["net-1_4.ckpt", "net-1_5.ckpt"]


def test_of_so_many_minutes_one_checkpoint_stays_beside_the_newest(tmp_path, monkeypatch):
    now, manager = [0.0], _CheckpointManager()
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for number in range(6):  # one every 20 seconds
        now[0] = 20.0 * number
        (tmp_path / f"net-1_{number}.ckpt").touch()
        manager.add(str(tmp_path / f"net-1_{number}.ckpt"))
        manager.update_ckpoint_filelist(str(tmp_path), "net")
        manager.keep_one_per_minutes(1)
    assert files(tmp_path) == ["net-1_0.ckpt", "net-1_3.ckpt", "net-1_5.ckpt"]


def test_a_file_that_cannot_be_removed_is_no_reason_to_stop(tmp_path):
    assert not _CheckpointManager().remove_ckpoint_file(str(tmp_path / "nothing.ckpt"))


def test_a_callback_that_has_seen_a_training_saves_the_next_one_too(make_model, batches, tmp_path):
    model, callback = make_model(), saver(tmp_path, save_checkpoint_steps=2)
    for _ in range(2):
        model.train(1, batches(), callbacks=callback)
    for name, value in ms.load_checkpoint(callback.latest_ckpt_file_name, specify_prefix="fc1").items():
        np.testing.assert_array_equal(value.asnumpy(), model._network.parameters_dict()[name].asnumpy())


@pytest.mark.parametrize("items", ["cell", "list"])
def test_two_parameters_of_one_name_are_refused(items, tmp_path, make_net):
    net = make_net()
    net.fc2.bias.name = "fc1.bias"
    save = net if items == "cell" else [{"name": p.name, "data": p} for p in net.get_parameters()]
    with pytest.raises(ValueError, match="fc1.bias"):
        ms.save_checkpoint(save, str(tmp_path / "net.ckpt"))
    assert os.listdir(tmp_path) == []


def test_the_longest_file_name_can_be_saved(tmp_path):
    path = str(tmp_path / ("x" * 250 + ".ckpt"))
    ms.save_checkpoint([{"name": "w", "data": Parameter(np.ones(2, np.float32), name="w")}], path)
    assert ms.load_checkpoint(path)["w"].asnumpy().tolist() == [1, 1]


def test_a_job_that_is_done_is_let_go_of_while_the_next_one_runs():
    writer, started, release = JobThread(), threading.Event(), threading.Event()

    class Copies:
        pass

    copies = Copies()
    alive = weakref.ref(copies)
    writer.submit(lambda copies=copies: ("first", lambda: copies))
    writer.submit(lambda: ("second", lambda: (started.set(), release.wait(60))))
    del copies
    assert started.wait(60) and alive() is None
    release.set()
    writer.wait()


def test_a_checkpoint_holds_what_is_counted_and_is_encrypted(make_model, batches, tmp_path):
    key, info = b"0" * 16, ["epoch_num", "step_num", {"epoch_num": 10, "by": "me"}]
    callbacks = saver(tmp_path, append_info=info, enc_key=key, enc_mode="AES-CBC")
    make_model().train(2, batches(steps=3), callbacks=callbacks)
    path = str(tmp_path / "net-2_3.ckpt")
    with pytest.raises(ValueError, match="encrypted"):
        ms.load_checkpoint(path)
    parameters = ms.load_checkpoint(path, dec_key=key, dec_mode="AES-CBC")
    assert (int(parameters["epoch_num"].asnumpy()), int(parameters["step_num"].asnumpy()), parameters["by"]) == (
        12,
        6,
        "me",
    )


def test_checkpoints_of_the_other_format_are_counted_too(make_model, batches, tmp_path):
    make_model().train(1, batches(steps=4), callbacks=saver(tmp_path, keep_checkpoint_max=2, format="safetensors"))
    files = sorted(name for name in os.listdir(tmp_path) if name.endswith(".safetensors"))
    assert files == ["net-1_3.safetensors", "net-1_4.safetensors"]
    assert ms.load_checkpoint(str(tmp_path / files[0]), format="safetensors")


def test_a_training_that_breaks_off_leaves_a_checkpoint_where_that_is_asked_for(make_model, batches, tmp_path):
    class Breaks(Callback):
        def step_end(self, run_context):
            if run_context.original_args().cur_step_num == 2:
                raise KeyboardInterrupt

    model = make_model()
    callbacks = [saver(tmp_path, save_checkpoint_steps=10, exception_save=True), Breaks()]
    with pytest.raises(KeyboardInterrupt):
        model.train(1, batches(steps=4), callbacks=callbacks)
    assert files(tmp_path) == ["net-1_2_breakpoint.ckpt"]
    parameters = ms.load_checkpoint(str(tmp_path / "net-1_2_breakpoint.ckpt"))
    for parameter in model.train_network.get_parameters():
        np.testing.assert_array_equal(parameters[parameter.name].asnumpy(), parameter.asnumpy())
    make_model().train(1, batches(steps=2), callbacks=saver(tmp_path, "whole", exception_save=True))
    assert files(tmp_path) == ["net-1_2_breakpoint.ckpt", "whole-1_1.ckpt", "whole-1_2.ckpt"]


@pytest.mark.parametrize(
    ("error", "given"),
    [
        (ValueError, {"enc_key": b"0" * 16, "crc_check": True}),
        (ValueError, {"enc_key": b"0" * 16, "format": "safetensors"}),
        (ValueError, {"enc_key": b"0"}),
        (ValueError, {"format": "onnx"}),
        (ValueError, {"append_info": ["epochs"]}),
        (TypeError, {"append_info": [3]}),
        (TypeError, {"append_info": "epoch_num"}),
        (TypeError, {"append_info": [{"x": [1]}]}),
        (TypeError, {"exception_save": 1}),
        (ValueError, {"remove_redundancy": "no"}),
    ],
)
def test_a_checkpoint_config_that_cannot_be_is_refused(error, given):
    with pytest.raises(error, match="CheckpointConfig|append_dict|key|format"):
        CheckpointConfig(**given)
