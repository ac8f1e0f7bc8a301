"""The profile of a network: kernels joined to operators, phases of a step, advice, memory, timeline, replay."""

import json
import re
import time

import jax
import numpy as np
import pytest

import msnb as ms
from msnb import Parameter, Tensor, context, nn, ops
from msnb import dataset as ds
from msnb.core.eager.kernel import Kernel
from msnb.core.program.program import Program
from msnb.core.state import events
from msnb.insight.profile import (
    Profile,
    Recorder,
    attribute,
    kernel_end_times,
    machine,
    profile,
    replay,
    wall_time,
    xplane,
)
from msnb.insight.profile.advice import advice
from msnb.insight.profile.machine import _update_stored_maximum
from msnb.insight.profile.replay import _compute_wall_time_fraction
from msnb.ir.anf import CNode, FuncGraph, ParameterNode, TensorType
from msnb.nn.cell import Cell


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, pad_mode="valid")
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(8 * 14 * 14, 10)

    def construct(self, x):
        x = self.relu(self.conv(x))
        return self.fc(self.flatten(x))


def training():
    net = Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9))
    step.set_train()
    return step, Tensor(np.ones((4, 3, 16, 16), np.float32)), Tensor(np.zeros(4, np.int32))


@pytest.fixture(scope="module")
def training_report():
    context.set_context(mode=context.GRAPH_MODE)
    return profile(*training(), steps=4)


# ---------------------------------------------------------------------- wall time
def test_shares_of_overlapping_kernels_add_up_to_the_time_that_passed():
    intervals = [(0, 10), (5, 15), (5, 8), (30, 31)]
    assert sum(wall_time.shares(intervals)) == pytest.approx(wall_time.length(wall_time.union(intervals))) == 16


def test_an_instant_is_divided_evenly_among_what_runs():
    assert wall_time.shares([(0, 10), (5, 15)]) == [7.5, 7.5]


def test_a_loop_gets_only_the_time_at_which_nothing_in_it_runs():
    assert wall_time.shares([(0, 10), (2, 5), (4, 6)], containers=[0]) == [6.0, 2.5, 1.5]


def test_what_is_left_over_of_intervals():
    assert wall_time.minus([(0, 10), (20, 30)], [(2, 4), (8, 22), (29, 40)]) == [(0, 2), (4, 8), (22, 29)]


# ---------------------------------------------------------------------- the trace
class Event:
    def __init__(self, name, start, length, **stats):
        self.name, self.start_ns, self.duration_ns, self.stats = name, start, length, list(stats.items())


class Lane:
    def __init__(self, name, *events):
        self.name, self.events = name, events


class Plane:
    def __init__(self, name, *lines):
        self.name, self.lines = name, lines


def read_plane(*lines, name="/host:CPU"):
    kernels, marks = [], []
    xplane._read_plane(Plane(name, *lines), kernels, marks)
    return kernels, marks


def test_a_kernel_that_is_split_over_threads_lasts_until_its_last_part_is_done():
    (kernel,), marks = read_plane(
        Lane(
            "tf_XLAEigen/1",
            Event("dot.1", 10, 5, hlo_op="dot.1", hlo_module="jit_f", program_id=1, run_id=2, _p=7),
            Event("msnb:anchor", 0, 1),
        ),
        Lane("tf_XLAEigen/2", Event("end: dot.1", 40, 2, _c=7)),
    )
    assert (kernel.start, kernel.end, kernel.op, kernel.run) == (10, 42, "dot.1", ("jit_f", 1, 2))
    assert marks[0][0] == "msnb:anchor"


def test_a_kernel_was_done_when_what_reads_it_began():
    """The convolution is marked as ended only after what was run from within its last part."""
    source = ParameterNode("x", kind(4, 4))
    conv = CNode("convolution", (source,), (0,), kind(4, 4), instruction="convolution", id=0)
    view = CNode("bitcast", (conv,), (0,), kind(4, 4), instruction="bitcast", id=1)  # no kernel
    relu = CNode("maximum", (view,), (0,), kind(4, 4), instruction="relu", id=2)
    last = CNode("dot", (relu,), (0,), kind(4, 4), instruction="dot", id=3)
    graph = FuncGraph("main", [source], [conv, view, relu, last], [(last, 0)])
    run = ("jit_step", 1, 7)
    times = {"convolution": (0, 100), "relu": (30, 45), "dot": (50, 60)}
    kernels = [xplane.Kernel(op, "jit_step", run, start, end, "lane", False) for op, (start, end) in times.items()]
    other = xplane.Kernel("relu", "jit_step", ("jit_step", 1, 8), 10, 12, "lane", False)  # of another run
    assert list(kernel_end_times.settle([*kernels, other], {run[:2]: graph})) == [run, other.run]
    assert [kernel.end for kernel in kernels] == [30, 45, 60]


def test_of_what_ran_beside_others_counts_what_it_lost_by_that():
    assert _compute_wall_time_fraction(1.0, 2.0, 5.0) == 1.0  # nothing ran beside it
    assert _compute_wall_time_fraction(0.5, 2.0, 2.0) == 0.5  # another group did, on a core of its own
    assert _compute_wall_time_fraction(0.5, 2.0, 4.0) == 1.0  # each slowed the other down to a half


def test_of_a_device_only_the_streams_are_read():
    kernels, _ = read_plane(
        Lane(
            "Stream #13(Compute)",
            Event("fusion_1", 5, 3, hlo_op="fusion.1", hlo_module="jit_f"),
            Event("MemcpyH2D", 1, 1),
        ),
        Lane("XLA Modules", Event("jit_f", 5, 3, hlo_op="jit_f", hlo_module="jit_f")),
        name="/device:GPU:0",
    )
    assert [(kernel.op, kernel.end, kernel.device) for kernel in kernels] == [("fusion.1", 8, True)]


# ---------------------------------------------------------------------- kernels to operators
def kind(*shape):
    return (TensorType("Float32", shape, 4),)


def kernel_graph(opcode, origin):
    source = ParameterNode("x", kind(4, 4))
    node = CNode(opcode, (source, source), (0, 0), kind(4, 4), instruction=f"{opcode}.1", origins=origin, id=0)
    return FuncGraph("compiled", [source], [node], [(node, 0)])


def traced_graph():
    def operator(a, b):
        return a @ b

    contraction = jax.make_jaxpr(operator)(np.ones((4, 4), np.float32), np.ones((4, 4), np.float32))
    source = ParameterNode("x", kind(4, 4))
    product = CNode("MatMul", (source, source), (0, 0), kind(4, 4), scope="Default/fc-Dense", id=0, kernel=contraction)
    relu = CNode(
        "ReLU",
        (product,),
        (0,),
        kind(4, 4),
        scope="Default/relu-ReLU",
        id=1,
        kernel=jax.make_jaxpr(jax.nn.relu)(np.ones((4, 4), np.float32)),
    )
    return FuncGraph("traced", [source], [product, relu], [(relu, 0)])


def test_a_contraction_that_xla_names_relu_is_not_believed():
    compiled = kernel_graph("convolution", (("Default/relu-ReLU", "ReLU", False, None),))
    owner = attribute.owners(traced_graph(), compiled)["convolution.1"]
    assert [node.op for node in owner.nodes if node.op == "MatMul"] and owner.how == "measured"
    assert "only contraction" in owner.note


def test_the_nameless_half_of_a_gradient_is_identified_by_its_shapes():
    """A gradient is two products; XLA names the kernel of one, the other has the shapes of what is left."""
    narrow, wide = np.ones((4, 4), np.float32), np.ones((4, 8), np.float32)
    inputs = [ParameterNode("x", kind(4, 4)), ParameterNode("w", kind(4, 8))]
    both = CNode(
        "MatMul",
        inputs,
        (0, 0),
        [*kind(4, 4), *kind(4, 8)],
        scope="Default/fc-Dense",
        direction="backward",
        id=0,
        kernel=jax.make_jaxpr(lambda a, b: (a @ a, a @ b))(narrow, wide),
    )
    named = CNode(
        "dot",
        (inputs[0], inputs[0]),
        (0, 0),
        kind(4, 4),
        instruction="dot.1",
        id=0,
        origins=(("Default/fc-Dense", "MatMul", True, None),),
    )
    nameless = CNode("convolution", inputs, (0, 0), kind(4, 8), instruction="convolution.2", id=1)
    result = attribute.owners(
        FuncGraph("traced", inputs, [both], [(both, 0)]),
        FuncGraph("compiled", inputs, [named, nameless], [(named, 0), (nameless, 0)]),
    )
    assert [(owner.nodes, owner.how) for owner in result.values()] == [([both], "measured")] * 2
    assert "only contraction" in result["convolution.2"].note


def test_a_kernel_that_nothing_speaks_for_is_marked_inferred():
    owner = attribute.owners(traced_graph(), kernel_graph("sort", ()))["sort.1"]
    assert owner.how == "inferred" and not owner.nodes


def test_an_elementwise_kernel_is_taken_at_its_word():
    compiled = kernel_graph("maximum", (("Default/relu-ReLU", "ReLU", False, None),))
    owner = attribute.owners(traced_graph(), compiled)["maximum.1"]
    assert [node.op for node in owner.nodes] == ["ReLU"] and owner.how == "measured"


def test_rows_add_up_to_the_time_in_which_kernels_ran(training_report):
    assert training_report.busy == pytest.approx(training_report.parts["compute"], rel=0.01)
    assert sum(training_report.attribution.values()) == pytest.approx(1)


def test_the_operators_of_a_training_step_are_measured(training_report):
    assert {"Conv2D", "MatMul", "ApplyMomentum"} <= {row.op for row in training_report.rows if row.measured + row.fused}


def test_rows_know_line_cell_and_direction(training_report):
    row = next(row for row in training_report.rows if row.op == "MatMul" and row.direction == "forward")
    assert row.cell == "fc" and row.source[0] == __file__ and row.flops >= 2 * 4 * 1568 * 10
    assert any(row.name == "gradConv2D" for row in training_report.rows)


def test_cells_hold_what_is_inside_them(training_report):
    cells = {cell.name: cell for cell in training_report.cells}
    net = next(cell for name, cell in cells.items() if name == "Net")
    assert net.seconds >= cells["conv"].seconds + cells["fc"].seconds - 1e-12
    assert cells["conv"].backward > 0


def test_times_of_the_nodes_add_up_to_the_rows_of_the_program(training_report):
    assert len(training_report.times) == len(training_report.graph)
    assert sum(filter(None, training_report.times)) == pytest.approx(
        sum(row.seconds for row in training_report.rows if row.nodes), rel=1e-6
    )


def test_kernels_inside_a_loop_belong_to_the_operators_in_its_body():
    class Loop(nn.Cell):
        def construct(self, x, n):
            i = 0
            while i < n:
                x = ops.tanh(ops.matmul(x, x))
                i = i + 1
            return x

    context.set_context(mode=context.GRAPH_MODE)
    report = profile(Loop(), Tensor(np.eye(96, dtype=np.float32)), Tensor(np.int32(30)), steps=3)
    measured = {row.op for row in report.rows if row.measured + row.fused}  # the shares are the machine's affair
    assert {"MatMul", "Tanh"} <= measured


# ---------------------------------------------------------------------- parts of a step
class Small(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(16, 32, activation="relu"), nn.Dense(32, 4)

    def construct(self, x):
        return ops.softmax(self.second(self.first(x)))


def train_step():
    net = nn.WithLossCell(Small(), nn.MSELoss())
    return nn.TrainOneStepCell(net, nn.Adam(net.trainable_params())), Tensor(np.ones((8, 4), np.float32))


@pytest.mark.parametrize("mode", (context.GRAPH_MODE, context.PYNATIVE_MODE), ids=("graph", "pynative"))
@pytest.mark.parametrize("program", ("forward", "train", "function"))
def test_parts_add_up_to_the_step_of_the_headline(mode, program):
    context.set_context(mode=mode)
    x = Tensor(np.ones((8, 16), np.float32))
    step, more = {
        "forward": lambda: (Small(), ()),
        "train": lambda: (train_step()[0], (train_step()[1],)),
        "function": lambda: (lambda a: ops.tanh(ops.matmul(a, a.T)) + 1, ()),
    }[program]()
    report = profile(step, x, *more, steps=8)
    assert sum(report.parts.values()) == pytest.approx(report.step_seconds, rel=1e-6)
    assert report.busy <= report.step_seconds * 1.001
    top = sum(cell.seconds for cell in report.cells if "/" not in cell.scope)
    assert top <= report.step_seconds * 1.001
    assert sum(finding.share for finding in report.advice if finding.kind == "operator") <= 1


def test_how_much_steps_differ_is_said_by_its_size_and_stands_where_that_is():
    report = profile(Small(), Tensor(np.ones((8, 16), np.float32)), steps=8)
    for slow, label in ((4.0, "4.0 ×"), (1.8, "1.8 ×")):
        report.steps = [0.004] * 8 + [0.004 * slow] * 2
        first = next(finding for finding in advice(report) if finding.kind == "spread")
        assert first.label == label and first.share == pytest.approx(1 - 1 / slow)
    report.steps = [0.004] * 10
    assert "spread" not in {finding.kind for finding in advice(report)}


def test_an_operator_is_one_finding_however_many_lines_it_stands_in(training_report):
    results = [finding for finding in training_report.advice if finding.kind == "operator"]
    assert len({finding.row.op for finding in results}) == len(results)
    assert all(finding.text.count("Next: ") == 1 for finding in results)


def test_an_update_stands_where_its_optimizer_was_constructed(training_report):
    row = next(row for row in training_report.rows if row.op == "ApplyMomentum")
    assert row.source[0] == __file__ and "Momentum(" in row.source[2]


def test_waiting_for_a_slow_dataset_is_separated_and_advised_on():
    context.set_context(mode=context.GRAPH_MODE)

    def rows():
        for _ in range(140):  # more than the pipeline reads ahead
            time.sleep(0.002)
            yield (np.ones((3, 4), np.float32),)

    net, data = nn.Dense(4, 2), ds.GeneratorDataset(rows, ["x"])
    recorder = Recorder().start()
    for (x,) in data.create_tuple_iterator():
        net(x)
    report = Profile(recorder.stop())
    assert report.parts["data"] > 0.5 * sum(report.parts.values())
    assert report.advice[0].kind == "data" and "dataset" in report.advice[0].text


def test_steps_that_compile_are_no_steps_of_the_profile():
    context.set_context(mode=context.GRAPH_MODE)
    net = nn.Dense(7, 3)
    recorder = Recorder().start()
    for _ in range(5):
        net(Tensor(np.ones((2, 7), np.float32))).asnumpy()
    report = Profile(recorder.stop())
    # on a busy machine a step of microseconds may be interrupted for long, and counts as a pause then
    assert len(report.first) == 1 and 1 <= len(report.steps) <= 4
    assert 0 < report.compile_seconds <= report.first[0]


class Products(nn.Cell):
    """A network whose computation takes much longer than its call."""

    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(256, 256) for _ in range(6)])

    def construct(self, x):
        for layer in self.layers:
            x = layer(x)
        return x.sum()


def test_a_step_ends_when_the_device_has_computed_it_though_the_loss_is_read_in_every_20th_only():
    context.set_context(mode=context.GRAPH_MODE)
    net, x = Products(), Tensor(np.ones((256, 256), np.float32))
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 1e-9)).set_train()
    unfinished, losses = [], []
    recorder = Recorder().start()
    with events.listen(entered=lambda call: unfinished.extend(x for x in losses[-1:] if not x._array.is_ready())):
        for number in range(41):
            losses.append(step(x))
            if number % 20 == 0:
                losses[-1].asnumpy()
    report = Profile(recorder.stop())
    assert not unfinished
    assert report.rows and sum(row.seconds for row in report.rows) <= report.step_seconds * 1.001
    assert "MatMul" in {row.op for row in report.rows}


def test_a_step_that_is_compiled_in_pynative_mode_is_described_by_its_operators():
    context.set_context(mode=context.PYNATIVE_MODE)
    net, x = Products(), Tensor(np.ones((256, 256), np.float32))

    @ms.ms_function
    def step(x):
        return net(x)

    step(x)
    recorder = Recorder().start()
    for _ in range(6):
        step(x)
    report = Profile(recorder.stop())
    assert report.mode == "GRAPH" and "MatMul" in {row.op for row in report.rows}
    recorder = Recorder().start()
    for _ in range(3):
        net(x)
    assert Profile(recorder.stop()).mode == "PYNATIVE"


def test_kernels_between_two_steps_are_no_share_of_a_step():
    """Whatever the steps are taken to be, what ran outside of them does not count."""
    context.set_context(mode=context.GRAPH_MODE)
    net, x = Products(), Tensor(np.ones((256, 256), np.float32))
    recorder = Recorder().start()
    for _ in range(6):
        net(x)
    recording = recorder.stop()
    recording.steps = [(start, start + (end - start) // 50) for _, start, end in recording.calls[1:]]
    report = Profile(recording)
    assert sum(row.seconds for row in report.rows) <= report.step_seconds * 1.001


MODES = (context.GRAPH_MODE, context.PYNATIVE_MODE)


@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_takes_steps_itself_is_run_once(mode):
    context.set_context(mode=mode)
    rows = np.random.default_rng(0).standard_normal((40, 6)).astype(np.float32), np.arange(40, dtype=np.int32) % 3
    data = ds.NumpySlicesDataset(rows, ["data", "label"], shuffle=False).batch(8)
    weights = []
    for profiled in (False, True):
        net = nn.Dense(6, 3, weight_init="ones")
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        model = ms.Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9))
        run = lambda model=model: model.train(2, data, dataset_sink_mode=False)  # noqa: E731
        report = profile(run) if profiled else run()
        weights.append(net.weight.asnumpy())
    np.testing.assert_array_equal(*weights)
    assert len(report.steps) > 1  # of which a busy machine may make one so long that it counts as a pause
    assert report.rows and any(note.startswith("It takes 10 steps itself, so it ran once") for note in report.notes)


def test_a_training_step_that_is_repeated_says_how_far_its_parameters_have_moved(training_report):
    (said,) = [note for note in training_report.notes if "have moved" in note]
    assert re.fullmatch(r"It ran \d+ times, and its Parameters have moved as many steps\.", said)


def test_the_longest_operator_is_named_with_its_share_line_and_a_remedy():
    class Slow(nn.Cell):
        def construct(self, x):
            return ops.matmul(x, x)

    context.set_context(mode=context.GRAPH_MODE)
    report = profile(Slow(), Tensor(np.ones((900, 900), np.float32)), steps=3)
    text = next(finding.text for finding in report.advice if finding.kind == "operator")
    assert "MatMul at test_profile.py:" in text and "% of the step" in text and "peak" in text


def test_the_machine_is_measured_once():
    assert machine() is machine()
    assert machine().at_best(machine().flops, 0) == pytest.approx(1)


def test_the_best_that_was_ever_measured_is_the_roof(monkeypatch, tmp_path):
    monkeypatch.setenv("MSNB_CACHE", str(tmp_path / "cache"))
    assert _update_stored_maximum("cpu", 5.0, 7.0) == (5.0, 7.0)
    assert _update_stored_maximum("cpu", 3.0, 9.0) == (5.0, 9.0)  # a busy moment takes nothing away
    assert _update_stored_maximum("another", 1.0, 1.0) == (1.0, 1.0)
    assert _update_stored_maximum("cpu", 4.0, 4.0) == (5.0, 9.0)
    (tmp_path / "cache" / "machine.json").write_text("not JSON")
    assert _update_stored_maximum("cpu", 4.0, 4.0) == (4.0, 4.0)
    monkeypatch.setenv("MSNB_CACHE", "/proc/nowhere")
    assert _update_stored_maximum("cpu", 2.0, 2.0) == (2.0, 2.0)


# ---------------------------------------------------------------------- PYNATIVE
def test_pynative_operators_have_dispatch_kernel_time_and_the_line_of_the_forward_call():
    context.set_context(mode=context.PYNATIVE_MODE)
    report = profile(*training(), steps=3)
    assert report.mode == "PYNATIVE" and report.attribution["measured"] == pytest.approx(1)
    forward = next(row for row in report.rows if row.name == "Conv2D")
    backward = next(row for row in report.rows if row.name == "gradConv2D")
    assert forward.source == backward.source and forward.scope == backward.scope
    assert 0 < forward.dispatch < forward.seconds and forward.calls == 1 and forward.flops > 0


# ---------------------------------------------------------------------- listening leaves nothing behind
def test_nothing_stays_hooked_whatever_happens():
    before = Kernel.run, Cell.__call__, Cell._run_with_precision_and_hooks, Program.__call__
    for mode in (context.GRAPH_MODE, context.PYNATIVE_MODE):
        context.set_context(mode=mode)
        with pytest.raises(ZeroDivisionError):
            profile(lambda: 1 / 0)
        assert (Kernel.run, Cell.__call__, Cell._run_with_precision_and_hooks, Program.__call__) == before
    Recorder().start().stop()  # the one that failed is not in the way


def test_two_recordings_at_once_are_refused():
    recorder = Recorder().start()
    try:
        with pytest.raises(RuntimeError, match="already"):
            Recorder().start()
    finally:
        recorder.stop()


def test_what_is_no_network_is_refused():
    with pytest.raises(TypeError, match="profile\\(net, x\\)"):
        profile(Tensor(np.ones(3)))
    with pytest.raises(ValueError, match="steps"):
        profile(nn.ReLU(), Tensor(np.ones(3)), steps=0)


# ---------------------------------------------------------------------- memory, timeline, text
def test_memory_counts_parameters_state_and_what_the_gradient_keeps(training_report):
    weights = 4 * (8 * 3 * 9 + 1568 * 10 + 10)
    assert sum(size for _, size, trained in training_report.memory.parameters if trained) == weights
    assert training_report.memory.parameter_bytes >= 2 * weights  # Momentum keeps one value for each
    assert training_report.memory.peak > training_report.memory.parameter_bytes
    assert training_report.memory.activation_bytes >= 4 * 4 * 8 * 14 * 14
    assert max(size for _, size in training_report.memory.curve) >= training_report.memory.activations[0][0]


def test_the_timeline_is_trace_events_with_operators_and_lines(training_report, tmp_path):
    path = tmp_path / "timeline.json"
    training_report.save_timeline(path)
    events = json.loads(path.read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    assert {"step", "call", "kernel"} <= {event.get("cat") for event in events}
    assert all(event["ph"] in "XM" and event.get("dur", 0) >= 0 for event in events)
    assert any(event["args"].get("line", "").startswith("test_profile.py:") for event in kernels)


def test_the_text_is_a_table_with_marks(training_report):
    text = str(training_report)
    assert "a step" in text and "gradConv2D" in text and "test_profile.py:" in text and "inferred" in text


# ---------------------------------------------------------------------- replay
def test_replay_runs_every_operator_in_one_group_and_leaves_the_parameters_alone():
    context.set_context(mode=context.GRAPH_MODE)
    step, x, y = training()
    report = profile(step, x, y, steps=3)
    before = [param.asnumpy().copy() for param in step.get_parameters()]
    replayed = report.replay(rounds=1)
    assert all(np.array_equal(a, b.asnumpy()) for a, b in zip(before, step.get_parameters(), strict=True))
    idents = [node.id for group in replayed.groups for node in group.nodes]
    assert len(idents) == len(set(idents)) and {"Conv2D", "MatMul"} <= {report.graph.nodes[i].op for i in idents}
    assert sum(row.seconds for row in report.rows if row.how == "replayed") == pytest.approx(replayed.total, rel=1e-6)
    assert replayed.step > 0 and step(x, y).asnumpy() is not None  # what it donates is its own


def test_what_draws_random_numbers_is_replayed_too():
    context.set_context(mode=context.GRAPH_MODE)
    net = nn.SequentialCell([nn.Dense(8, 8), nn.Dropout(0.5), nn.Dense(8, 8), nn.Dropout(0.5)])
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)).set_train()
    report = profile(step, Tensor(np.ones((4, 8), np.float32)), Tensor(np.ones((4, 8), np.float32)), steps=2)
    report.replay(rounds=1)
    assert any(row.op == "Dropout" and row.replayed is not None for row in report.rows)


def test_without_a_program_there_is_nothing_to_replay():
    context.set_context(mode=context.PYNATIVE_MODE)
    report = profile(nn.ReLU(), Tensor(np.ones(3, np.float32)), steps=2)
    with pytest.raises(RuntimeError, match="Nothing can be replayed"):
        report.replay()


def test_a_replay_has_copies_of_parameters_that_a_step_may_donate():
    parameter = Parameter(Tensor([1.0, 2.0]), name="p")
    (copy,) = replay._copy_parameters([parameter])
    parameter._array.delete()  # as a training step of another thread does
    assert copy.tolist() == [1, 2]
