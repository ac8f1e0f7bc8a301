"""Dumps: the files of operators, and the settings that choose them."""

import contextlib
import csv
import errno
import json
import os
import queue
import subprocess
import sys
import threading

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb._util.atomic_file import writing
from msnb.core.program import extra_outputs
from msnb.insight.debugger.replay import Replay, program_inputs
from msnb.insight.dump import Recorder, follow_context, read_config, set_dump
from msnb.insight.dump import recorder as dump_recorder
from msnb.insight.dump.file_names import TensorName, bin_name, long_names, names_within_scopes, npy_name, parse_npy_name
from msnb.insight.dump.statistics import COLUMNS
from msnb.ir.api import of_program

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)


class Small(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 2)

    def construct(self, x):
        return ops.relu(self.fc(x))


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)


def write_config(folder, end_to_end=True, **common):
    settings = {
        "dump_mode": 0,
        "path": str(folder / "dump"),
        "net_name": "Small",
        "iteration": "0-1",
        "saved_data": "tensor",
        "input_output": 0,
        "kernels": [],
        "support_device": [0],
    }
    settings = {"common_dump_settings": settings | common, "e2e_dump_settings": {"enable": end_to_end}}
    (folder / "config.json").write_text(json.dumps(settings))
    return folder / "config.json"


def training_step():
    net = Small()
    return nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.5)).set_train()


def dump_steps(path, count=3):
    step = training_step()
    recorder = Recorder(read_config(path)).start()
    try:
        for number in range(count):
            step(Tensor(X + number), Tensor(X[:, :2]))
    finally:
        recorder.close()
    return step, recorder


def read_tensors(folder):
    tensors = {}
    for path in folder.glob("*.npy"):
        name = parse_npy_name(path.name)
        tensors[name.op, name.name, name.io, name.slot] = np.load(path)
    return tensors


def test_tensors_of_the_chosen_iterations_are_those_of_the_program(tmp_path):
    expected = training_step()
    program, inputs = program_inputs(expected, Tensor(X), Tensor(X[:, :2]))
    graph = of_program(program, "step")
    replay = Replay(program, graph, inputs)
    updates = dict(zip((p.name for p in program.written), replay.updates(), strict=True))
    step = training_step()
    for new, old in zip(step.get_parameters(), expected.get_parameters(), strict=True):
        new.set_data(Tensor(old.asnumpy()))
    recorder = Recorder(read_config(write_config(tmp_path))).start()
    for number in range(3):
        step(Tensor(X + number), Tensor(X[:, :2]))
    recorder.close()
    network = tmp_path / "dump" / "rank_0" / "Small" / "0"
    assert sorted(path.name for path in network.iterdir()) == ["0", "1"] and not recorder.problem
    tensors = read_tensors(network / "0")
    nodes = list(graph.all_nodes())
    names = names_within_scopes([node.fullname for node in nodes])
    for full_name, node in zip(names, nodes, strict=True):
        name = full_name.replace("/", "_").replace(".", "_")
        # XLA compiles the replay with less effort, so its values may differ in their last bits.
        np.testing.assert_allclose(tensors[node.op, name, "output", 0], np.asarray(replay.output(node, 0)), rtol=1e-6)
    np.testing.assert_allclose(tensors["Parameter", "fc_weight", "output", 0], updates["fc.weight"], rtol=1e-6)
    order = (tmp_path / "dump/rank_0/execution_order/ms_execution_order_graph_0.csv").read_text().splitlines()
    assert order[1:] == names


def test_statistics_are_those_of_the_values(tmp_path):
    names = ["max", "min", "avg", "count", "zero count", "l2norm", "nan count"]
    path = write_config(tmp_path, saved_data="full", iteration="2", statistic_category=names)
    dump_steps(path)
    folder = tmp_path / "dump/rank_0/Small/0/2"
    tensors = read_tensors(folder)
    with open(folder / "statistic.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(tensors)
    for row in rows:
        array = tensors[row["Op Type"], row["Op Name"], row["IO"], int(row["Slot"])].astype(np.float64)
        assert float(row["Max Value"]) == array.max() and float(row["Min Value"]) == array.min()
        assert float(row["Avg Value"]) == pytest.approx(array.mean())
        assert float(row["L2Norm Value"]) == pytest.approx(np.sqrt((array**2).sum()))
        assert int(row["Count"]) == array.size and int(row["Zero Count"]) == (array == 0).sum()


STATISTICS = [*COLUMNS]


class Special(nn.Cell):
    """Has NaN, infinities, negative zeros, bools, integers, a float16, a loop, and a branch that does not run."""

    def construct(self, x):
        odd = ops.sqrt(x) / ops.relu(x)
        total = odd * 0
        i = Tensor(0)
        while i < 3:
            total = total + x * i
            i = i + 1
        if x[0, 0] > 0:
            total = ops.tanh(total)
        return ops.cast(total, ms.float16) * 2, ops.cast(x * 4, ms.int32), ops.isnan(odd), -ops.relu(x)


def read_rows(folder):
    with open(folder / "statistic.csv", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("network", ["training", "special"])
@pytest.mark.parametrize("on_host", [True, False])
def test_statistics_alone_are_those_of_the_tensors(tmp_path, monkeypatch, network, on_host):
    """They are computed in the step, of the values or by the program; with tensors, from the written arrays."""
    monkeypatch.setattr("msnb.insight.dump.step_values._ON_HOST", (96 << 20) * on_host)
    inputs = (Tensor(X), Tensor(X[:, :2])) if network == "training" else (Tensor(X),)
    rows = {}
    for saved in ("statistic", "full"):
        ms.set_seed(1)
        net = training_step() if network == "training" else Special()
        path = write_config(tmp_path, saved_data=saved, iteration="1", statistic_category=STATISTICS, net_name=saved)
        recorder = Recorder(read_config(path)).start()
        for _ in range(3):
            net(*inputs)
        recorder.close()
        assert not recorder.problem
        rows[saved] = read_rows(tmp_path / "dump/rank_0" / saved / "0" / "1")
    assert len(rows["statistic"]) == len(rows["full"])
    assert not any("Tanh" in row["Op Type"] for row in rows["full"])  # in the branch that does not run
    for alone, full in zip(rows["statistic"], rows["full"], strict=True):
        numbers = [[float(row[COLUMNS[name]]) for name in STATISTICS] for row in (alone, full)]
        np.testing.assert_allclose(*numbers, rtol=1e-6, atol=1e-7, err_msg=full["Op Name"])
        for row in (alone, full):
            row.pop("Timestamp")
            for name in STATISTICS:
                row.pop(COLUMNS[name])
        assert alone == full


def test_values_that_fill_the_memory_are_computed_in_groups(tmp_path, monkeypatch):
    tensors = []
    for nbytes in (256 << 20, 100):
        monkeypatch.setattr("msnb.insight.dump.step_values._GROUP", nbytes)
        ms.set_seed(1)
        dump_steps(write_config(tmp_path, net_name=str(nbytes), iteration="1"), 2)
        tensors.append(read_tensors(tmp_path / "dump/rank_0" / str(nbytes) / "0" / "1"))
    assert tensors[0].keys() == tensors[1].keys()
    for name, array in tensors[0].items():
        np.testing.assert_allclose(tensors[1][name], array, rtol=1e-6, atol=1e-7, err_msg=name)


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.layers = Small(), nn.Dense(2, 2), nn.CellList([nn.Dense(2, 2), nn.Tanh()])
        self.exp = ops.Exp()

    def construct(self, x):
        x = self.second(self.first(x))
        for layer in self.layers:
            x = layer(x)
        return self.exp(x)


def dump_targets(tmp_path, choose, saved_data="statistic", steps=1):
    """Return the operators, without their numbers, that a training with targets dumps, per call."""
    net = Outer()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    path = write_config(tmp_path, dump_mode=2, saved_data=saved_data, iteration="all", input_output=2)
    recorder = Recorder(read_config(path)).start()
    try:
        choose(net, lambda: step(Tensor(X)))
    finally:
        recorder.close()
    assert not recorder.problem
    names = []
    for folder in sorted((tmp_path / "dump/rank_0/Small").glob("*/*")):
        rows = [row["Op Name"] for row in read_rows(folder)]
        names.append({name.removeprefix("Default_network-Outer_").rpartition("-op")[0] for name in rows})
    return names


def test_set_dump_chooses_a_cell_and_those_in_it_in_both_passes(tmp_path):
    def choose(net, run):
        set_dump(net.first)
        set_dump(net.layers[0])
        run()

    (names,) = dump_targets(tmp_path, choose)
    assert {"first-Small_fc-Dense_MatMul", "first-Small_ReLU", "layers_0-Dense_BiasAdd"} <= names
    assert any("grad" in name for name in names)
    assert all(name.startswith(("first-Small", "layers_0-Dense")) for name in names)


def test_the_last_call_of_set_dump_decides_and_a_primitive_for_itself(tmp_path):
    def choose(net, run):
        set_dump(net)
        set_dump(net.first, False)
        set_dump(net.exp, False)
        run()
        set_dump(net, enabled=False)
        set_dump(net.exp)
        run()

    first, second = dump_targets(tmp_path, choose)
    assert {"second-Dense_MatMul", "layers_1-Tanh_Tanh"} <= first
    assert not any(name.startswith(("first", "Exp", "gradExp")) for name in first)
    assert "Exp" in second and all(name.endswith("Exp") for name in second)


def test_set_dump_after_a_step_takes_effect(tmp_path):
    def choose(net, run):
        run()
        set_dump(net.second)
        run()

    (names,) = dump_targets(tmp_path, choose)
    assert names and all(name.startswith("second-Dense") for name in names)


def test_set_dump_refuses_other_targets_and_says_without_a_dump_that_it_has_no_effect(monkeypatch):
    with pytest.raises(TypeError, match="'target' should be a Cell or a Primitive, but got str"):
        set_dump("conv")
    with pytest.raises(TypeError, match="enabled"):
        set_dump(nn.ReLU(), 1)
    said = []
    monkeypatch.setattr("msnb.log.once", said.append)
    ms.set_dump(nn.ReLU())
    assert len(said) == 1 and "`set_dump` has no effect" in said[0]


def test_kernels_are_chosen_by_name_type_and_pattern(tmp_path):
    for kernels in (["ReLU"], ["name-regex(.*/ReLU-op\\d+)"]):
        dump_steps(write_config(tmp_path, dump_mode=1, kernels=kernels, input_output=2, iteration="0"), 1)
        tensors = read_tensors(tmp_path / "dump/rank_0/Small/0/0")
        assert {(op, io) for op, _, io, _ in tensors} == {("ReLU", "output")}


@pytest.fixture
def warnings(monkeypatch):
    texts = []
    monkeypatch.setattr("msnb.log.warning", lambda form, *args: texts.append(form % args))
    return texts


def test_an_unknown_kernel_is_named_at_the_end_and_the_others_are_written(tmp_path, warnings):
    _, recorder = dump_steps(write_config(tmp_path, dump_mode=1, kernels=["ReLu", "BiasAdd"], iteration="0"))
    assert not recorder.problem and len(warnings) == 1
    assert "has 'ReLu', but no program had such an operator. The nearest are 'ReLU'" in warnings[0]
    assert {op for op, *_ in read_tensors(tmp_path / "dump/rank_0/Small/0/0")} == {"BiasAdd"}


def test_a_program_without_a_chosen_kernel_is_passed_over(tmp_path, warnings):
    recorder = Recorder(read_config(write_config(tmp_path, dump_mode=1, kernels=["ReLU"], iteration="all"))).start()
    for net in (nn.Tanh(), nn.ReLU()):
        net(Tensor(X))
    recorder.close()
    assert not warnings and not recorder.problem
    assert [path.name for path in (tmp_path / "dump/rank_0/Small").iterdir()] == ["1"]
    assert [recorder.wants(program) for program in recorder._counts] == [False, True]  # its inputs are not copied again


@pytest.mark.parametrize("saved_data", ["tensor", "statistic", "full"])
def test_the_dump_ends_at_its_quota_and_the_training_goes_on(tmp_path, warnings, saved_data):
    _, recorder = dump_steps(write_config(tmp_path, max_bytes=200, iteration="all", saved_data=saved_data))
    assert recorder.nbytes <= 200 and warnings == ["The dump has ended: it has reached 'max_bytes', 200 bytes."]


@pytest.mark.parametrize("saved_data", ["tensor", "statistic"])
def test_a_full_disk_ends_the_dump_with_one_warning_and_the_training_goes_on(
    tmp_path, warnings, monkeypatch, saved_data
):
    @contextlib.contextmanager
    def write_until_full(path, *arguments, **options):
        if "statistic.csv" in str(path) or str(path).endswith(".npy"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        with writing(path, *arguments, **options) as file:
            yield file

    monkeypatch.setattr(dump_recorder, "writing", write_until_full)
    step, recorder = dump_steps(write_config(tmp_path, iteration="all", saved_data=saved_data))
    (warning,) = warnings
    assert warning.startswith("The dump has ended: ") and "No space left on device" in warning
    assert recorder.problem == warning and float(step(Tensor(X), Tensor(X[:, :2])).asnumpy()) > 0


def test_a_training_is_at_most_two_steps_ahead_of_the_writer(tmp_path):
    step, may_write = training_step(), threading.Event()
    recorder = Recorder(read_config(write_config(tmp_path, iteration="all"))).start()
    write = recorder._write_step
    recorder._write_step = lambda *arguments: may_write.wait(60) and write(*arguments)
    done = []

    def train():
        for number in range(6):
            step(Tensor(X + number), Tensor(X[:, :2]))
            done.append(number)

    thread = threading.Thread(target=train)
    thread.start()
    thread.join(5)
    ahead = len(done)
    may_write.set()
    thread.join(60)
    recorder.close()
    # one step is with the writer, two wait for it
    assert thread.is_alive() is False and len(done) == 6 and 1 <= ahead <= 3


def test_runs_of_two_threads_have_their_own_numbers(tmp_path):
    """A second thread begins and ends a run between the begin and the end of the first one's."""
    net = nn.ReLU()
    recorder = Recorder(read_config(write_config(tmp_path, iteration="all"))).start()
    net(Tensor(X))  # compiles
    (program,) = recorder._counts
    written = []
    recorder._steps.put = lambda step: written.append(step[1]) if step else queue.Queue.put(recorder._steps, step)
    run = extra_outputs.Run(program_inputs(net, Tensor(X))[1], [], [], 0)
    recorder.wants(program)
    thread = threading.Thread(target=lambda: (recorder.wants(program), recorder.receive(program, run)))
    thread.start()
    thread.join()
    recorder.receive(program, run)
    recorder.close()
    assert written == [2, 1]


def write_r1_config(folder, iteration):
    path = write_config(folder, iteration=iteration)
    settings = json.loads(path.read_text())
    del settings["common_dump_settings"]["saved_data"]
    path.write_text(json.dumps(settings))
    return path


def test_r1_counts_the_runs_of_all_programs_together(tmp_path):
    recorder = Recorder(read_config(write_r1_config(tmp_path, 0))).start()
    first, second = nn.ReLU(), nn.ReLU()
    for net, x in ((first, X), (second, X[:2]), (first, X)):
        net(Tensor(x))
    recorder.close()
    folder = tmp_path / "dump" / "Small" / "device_0"
    assert sorted(path.name for path in folder.iterdir()) == ["iteration_0", "iteration_1", "iteration_2"]
    assert list((folder / "iteration_1").glob("*_output_0_shape_2_4_*")) and not recorder.problem


def test_r1_writes_raw_bytes_below_the_iteration(tmp_path):
    path = write_r1_config(tmp_path, 1)
    dump_steps(path)
    (folder,) = (tmp_path / "dump" / "Small" / "device_0").iterdir()
    assert folder.name == "iteration_1"
    (relu,) = folder.glob("*--ReLU-op*_output_0_shape_3_2_Float32_DefaultFormat.bin")
    assert np.frombuffer(relu.read_bytes(), np.float32).min() == 0


@pytest.mark.parametrize(
    "change, message",
    [
        ({"path": "dump"}, "'path' should be an absolute path, but got 'dump'"),
        ({"iteration": "5-2"}, "'iteration' should be an int, 'all' or such as '0|5-8', but got '5-2'"),
        ({"saved_data": "tensors"}, "'saved_data' should be one of tensor, statistic, full"),
        ({"dump_mode": 3}, "'dump_mode' should be 0, 1 or 2, but got 3"),
        ({"dump_mode": 1}, "'dump_mode' 1 needs names of operators in 'kernels'"),
        ({"input_outputs": 0}, "no setting 'input_outputs'. Is it 'input_output'?"),
        (
            {"dump_mode": 1, "kernels": ["name-regex(()"]},
            "'kernels' has 'name-regex(()', which is no regular expression",
        ),
    ],
)
def test_a_wrong_setting_is_named(tmp_path, change, message):
    path = write_config(tmp_path, **change)
    with pytest.raises(ValueError, match="config.json: ") as caught:
        read_config(path)
    assert message in str(caught.value)


def test_a_file_that_is_no_json_names_its_line(tmp_path):
    (tmp_path / "config.json").write_text('{\n  "common_dump_settings": {,}\n}')
    with pytest.raises(ValueError, match="config.json, line 2: "):
        read_config(tmp_path / "config.json")


def test_a_setting_without_effect_says_so(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.once", said.append)
    read_config(write_config(tmp_path, op_debug_mode=0, file_format="npy"))
    assert not said
    read_config(write_config(tmp_path, op_debug_mode=3))
    assert said == ["'op_debug_mode' of the dump has no effect here: it belongs to Ascend chips."]


@pytest.mark.parametrize("devices, is_written", [([0, 1], True), ([1], False)])
def test_the_processes_of_support_device_write(tmp_path, monkeypatch, devices, is_written):
    monkeypatch.setenv("MINDSPORE_DUMP_CONFIG", str(write_config(tmp_path, support_device=devices)))
    follow_context()
    nn.ReLU()(Tensor(X))
    monkeypatch.delenv("MINDSPORE_DUMP_CONFIG")
    follow_context()
    assert (tmp_path / "dump").exists() == is_written


def test_a_file_that_switches_the_dump_off(tmp_path):
    assert read_config(write_config(tmp_path, end_to_end=False)) is None


def test_names_can_be_read_back():
    tensor = TensorName("Conv2D", "Default/conv-Conv2d/Conv2D-op0", "output", 1, "Float32", 12)
    name = npy_name(tensor)
    assert name == "Conv2D.Default_conv-Conv2d_Conv2D-op0.0.0.12.output.1.DefaultFormat.Float32.npy"
    assert parse_npy_name(name) == tensor._replace(name="Default_conv-Conv2d_Conv2D-op0")
    assert bin_name(tensor, (2, 3)) == "Default--conv-Conv2d--Conv2D-op0_output_1_shape_2_3_Float32_DefaultFormat.bin"


def test_a_name_that_is_too_long_is_listed(tmp_path, monkeypatch):
    monkeypatch.setattr("msnb.insight.dump.file_names._LONGEST", 90)
    _, recorder = dump_steps(write_config(tmp_path, iteration="0"), 1)
    folder = tmp_path / "dump/rank_0/Small/0/0"
    names = long_names(folder)
    assert names and not recorder.problem and all(len(path.name) <= 90 for path in folder.iterdir())
    assert all((folder / short).is_file() and parse_npy_name(name) for short, name in names.items())


def test_the_context_starts_a_dump_and_ends_it(tmp_path):
    context.set_context(enable_dump=True, save_dump_path=str(tmp_path))
    try:
        training_step()(Tensor(X), Tensor(X[:, :2]))
    finally:
        context.set_context(enable_dump=False)
    assert list((tmp_path / "Net" / "device_0" / "iteration_0").glob("*ReLU-op*_output_0_*.bin"))
    training_step()(Tensor(X), Tensor(X[:, :2]))
    assert [path.name for path in (tmp_path / "Net" / "device_0").iterdir()] == ["iteration_0"]


@pytest.mark.parametrize("form", ["variable", "context"])
def test_the_first_call_in_pynative_mode_says_once_that_it_is_not_written(tmp_path, monkeypatch, warnings, form):
    monkeypatch.setattr("msnb.insight.dump.recorder._notice._is_given", False)
    context.set_context(mode=context.PYNATIVE_MODE)  # the default of a process
    if form == "variable":
        monkeypatch.setenv("MINDSPORE_DUMP_CONFIG", str(write_config(tmp_path)))
        follow_context()
    else:
        context.set_context(enable_dump=True, save_dump_path=str(tmp_path))
    try:
        context.set_context(mode=context.GRAPH_MODE)
        nn.ReLU()(Tensor(X))
        assert not warnings
        context.set_context(mode=context.PYNATIVE_MODE)
        for _ in range(2):
            nn.ReLU()(Tensor(X))
        context.set_context(mode=context.GRAPH_MODE)
        context.set_context(mode=context.PYNATIVE_MODE)
        nn.ReLU()(Tensor(X))
    finally:
        monkeypatch.delenv("MINDSPORE_DUMP_CONFIG", raising=False)
        context.set_context(enable_dump=False)
        follow_context()
    assert len(warnings) == 1 and "Operators of PYNATIVE mode are not written" in warnings[0]


def test_a_process_with_the_variable_writes_its_steps(tmp_path):
    code = (
        "import numpy as np, msnb; from msnb import Tensor, context, nn\n"
        "context.set_context(mode=context.GRAPH_MODE)\n"
        "nn.ReLU()(Tensor(np.ones(3, np.float32)))\n"
    )
    environment = {**os.environ, "MINDSPORE_DUMP_CONFIG": str(write_config(tmp_path))}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=120)
    assert list((tmp_path / "dump/rank_0/Small/0/0").glob("ReLU.*output.0.*.npy"))
