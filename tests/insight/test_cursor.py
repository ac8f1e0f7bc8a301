"""A cursor over the nodes of a recorded step: every value, every move, and what can't be moved to."""

import dataclasses
import io
import os
import runpy
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import msnb
from msnb import Tensor, context, nn, ops, watch
from msnb.insight.debugger import Cursor, Replay, debugger, program_inputs
from msnb.insight.debugger.pause import Breakpoint, pause
from msnb.insight.debugger.paused_step import Pause
from msnb.insight.debugger.prompt import COMMANDS, obey
from msnb.insight.watchpoints.hits import Hit
from msnb.ir.api import of_program


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    debugger.stop()
    debugger.records.clear()
    context.set_context(mode=context.PYNATIVE_MODE)


def cursor_of(net, *inputs):
    program, arrays = program_inputs(net, *inputs)
    return Cursor(Replay(program, of_program(program, program.name), arrays))


def random(*shape):
    return Tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", weight_init="HeNormal")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", weight_init="HeNormal")
        self.fc1, self.fc2, self.fc3 = nn.Dense(16, 12), nn.Dense(12, 8), nn.Dense(8, 4)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        x = self.relu(self.fc1(x))
        return self.fc3(self.relu(self.fc2(x)))


class Looped(nn.Cell):
    """A loop, and a branch of which one side runs."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 4)

    def construct(self, x):
        i = ops.zeros_like(x[0, 0])
        while i < 3:
            x = ops.tanh(self.dense(x))
            i = i + 1
        if x.sum() > 100:
            x = ops.exp(x)
        else:
            x = ops.sin(x)
        return x * 2


def training_step(net=None):
    net = net or LeNet()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return nn.TrainOneStepCell(nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()


IMAGES, LABELS = random(2, 1, 16, 16), Tensor(np.array([1, 2], np.int32))


def walk(cursor, move):
    nodes = [cursor.node]
    while True:
        try:
            move(cursor)
        except ValueError:
            return nodes
        nodes.append(cursor.node)


def eager_outputs(net, *inputs):
    """Return names and results of the operators of a call in PYNATIVE mode, in order."""
    from msnb.core.state import events

    results = []

    def note(kernel, arrays, out, start, sent):
        results.append((kernel.name, [np.asarray(o) for o in (out if isinstance(out, (list, tuple)) else [out])]))

    context.set_context(mode=context.PYNATIVE_MODE)
    with events.listen(dispatched=note, name="test"):
        net(*inputs)
    context.set_context(mode=context.GRAPH_MODE)
    return results


def close(value, other, tolerance=1e-6):
    size = np.abs(other).max(initial=0)
    return value.shape == other.shape and np.allclose(value, other, rtol=tolerance, atol=tolerance * size)


def distance(value, other):
    return np.abs(value - other).max(initial=0) / (np.abs(other).max(initial=0) or 1)


class ScannedGru(nn.Cell):
    """A GRU by `ops.Scan`."""

    def __init__(self):
        super().__init__()
        self.gates, self.candidate = nn.Dense(7, 8), nn.Dense(7, 4)
        self.scan, self.join = ops.Scan(), ops.Concat(1)

    def construct(self, rows, state):
        def turn(state, row):
            gates = ops.sigmoid(self.gates(self.join((row, state))))
            reset, update = gates[:, :4], gates[:, 4:]
            other = ops.tanh(self.candidate(self.join((row, reset * state))))
            state = update * state + (1 - update) * other
            return state, state

        last, every = self.scan(turn, state, (rows[0], rows[1], rows[2]))
        return last + every[0]


class LoopedGru(ScannedGru):
    """The same in a `while`."""

    def construct(self, rows, state):
        i = ops.zeros_like(rows[0, 0, 0])
        while i < 3:
            gates = ops.sigmoid(self.gates(self.join((rows[0], state))))
            reset, update = gates[:, :4], gates[:, 4:]
            other = ops.tanh(self.candidate(self.join((rows[0], reset * state))))
            state = update * state + (1 - update) * other
            i = i + 1
        return state


def values_at(cursor):
    """Return the values of all results of the current node, each a list over the rounds, from the first."""
    results = []
    for slot in range(len(cursor.node.types)):
        cursor.round, values = None, []
        try:
            values.append(cursor.output(slot).asnumpy())
        except ValueError as error:
            assert "can't be read" in str(error)
            continue
        for _ in range((cursor.n_rounds or 1) - 1):
            values.append(cursor.previous_round().output(slot).asnumpy())
        results.append(values[::-1])
    cursor.round = None
    return results


def walk_values(cursor, move):
    """Return {number of a node: its values} of a walk to the end."""
    return {node.id: values_at(cursor.at(node)) for node in walk(cursor, move)}


def assert_equals_pynative(net, *inputs, tolerance=1e-6):
    """Walk over all nodes, forward and back. Each value is one of PYNATIVE mode's, and rounds come in its order."""
    eager = [o for _, outputs in eager_outputs(net, *inputs) for o in outputs if o.dtype.kind == "f"]
    cursor = cursor_of(net, *inputs)
    forward = walk_values(cursor, Cursor.next_node)
    checked = 0
    for ident, results in forward.items():
        for rounds in results:
            at = -1
            for value in rounds:
                if value.dtype.kind != "f" or not value.size:
                    continue
                matches = [index for index, other in enumerate(eager) if close(value, other, tolerance)]
                nearest = min((distance(value, other) for other in eager if other.shape == value.shape), default=None)
                assert matches, (cursor.at(ident), nearest)
                later = [index for index in matches if index > at]
                assert later or len(matches) > 1 or len(rounds) == 1, cursor.at(ident)
                at = later[0] if later else at
                checked += 1
    back = walk_values(cursor, Cursor.previous_node)
    assert list(back) == list(forward)[::-1]
    for ident, results in forward.items():
        for rounds, again in zip(results, back[ident], strict=True):
            assert all((one == other).all() for one, other in zip(rounds, again, strict=True))
    return cursor, checked


@pytest.mark.parametrize(
    "kind, inputs, least",
    [
        (LeNet, [(2, 1, 16, 16)], 15),
        (ScannedGru, [(3, 2, 3), (2, 4)], 30),
        (LoopedGru, [(3, 2, 3), (2, 4)], 20),
        (Looped, [(2, 4)], 13),
    ],
)
def test_every_value_of_a_walk_equals_pynative_and_walking_back_has_the_same_bits(kind, inputs, least):
    cursor, checked = assert_equals_pynative(kind(), *(random(*shape) for shape in inputs))
    assert checked >= least
    if kind is Looped:
        visited = [node.op for node in walk(cursor, Cursor.next_node)]
        assert "Sin" in visited and "Exp" not in visited


@pytest.mark.slow
def test_every_value_of_resnet_50_equals_pynative(monkeypatch):
    monkeypatch.setitem(sys.modules, "mindspore", msnb)
    networks = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "networks.py"))
    net = networks["ResNet50"]().set_train(False)
    _, checked = assert_equals_pynative(net, random(1, 3, 64, 64), tolerance=1e-5)
    assert checked > 150


def test_a_training_step_is_walked_back_with_the_same_bits_and_has_the_gradients_of_pynative():
    net = LeNet()
    step = training_step(net)
    context.set_context(mode=context.PYNATIVE_MODE)
    gradients = ops.GradOperation(get_by_list=True)(step.network, step.weights)(IMAGES, LABELS)
    context.set_context(mode=context.GRAPH_MODE)
    cursor = cursor_of(step, IMAGES, LABELS)
    forward = walk_values(cursor, Cursor.next_node)
    back = walk_values(cursor, Cursor.previous_node)
    assert list(back) == list(forward)[::-1] and len(forward) == len(cursor.nodes)
    assert all((forward[ident][0][0] == back[ident][0][0]).all() for ident in forward if forward[ident])
    values = [rounds[0] for results in forward.values() for rounds in results]
    for gradient in gradients:
        assert any(close(value, gradient.asnumpy()) for value in values)


def test_rounds_of_a_loop_are_stepped_forward_and_back():
    cursor = cursor_of(Looped(), random(2, 4)).run_to("op:Tanh")
    assert cursor.n_rounds == 3 and "round 2 of 0 to 2" in cursor.where()
    last = cursor.value.asnumpy()
    first = cursor.previous_round(2).value.asnumpy()
    assert "round 0 of 0 to 2" in cursor.where() and not (first == last).all()
    assert (cursor.next_round(2).value.asnumpy() == last).all()
    with pytest.raises(ValueError, match="last of the 3 rounds"):
        cursor.next_round()
    with pytest.raises(ValueError, match="not inside a loop"):
        cursor.run_to("op:Sin").next_round()


class Nested(nn.Cell):
    def construct(self, x):
        i = ops.zeros_like(x)
        while i < 3:
            j = ops.zeros_like(x)
            while j <= i:
                x = ops.tanh(x + 1)
                j = j + 1
            i = i + 1
        return x


def test_rounds_of_nested_loops_carry_over():
    cursor = cursor_of(Nested(), Tensor(np.float32(0.5))).run_to("op:Tanh")
    values = [cursor.value.asnumpy()]
    assert "round 2 of 0 to 2, 2 of 0 to 2" in cursor.where()
    while True:
        try:
            cursor.previous_round()
        except ValueError:
            break
        values.append(cursor.value.asnumpy())
    assert cursor.round == (0, 0) and len(values) == 6 and "round 0 of 0 to 2, 0 of 0 to 0" in cursor.where()
    expected = [0.5]
    for _ in range(6):
        expected.append(np.tanh(np.float32(expected[-1] + 1)))
    assert np.allclose(values[::-1], expected[1:], rtol=1e-5)
    cursor.next_round(5)
    assert cursor.round == (2, 2) and cursor.value.asnumpy() == values[0]


def test_values_of_a_recurrent_network_can_be_walked():
    net, x = nn.GRU(3, 4), random(5, 2, 3)
    outputs = [o.asnumpy() for o in net(x)]
    cursor = cursor_of(net, x)
    values = []
    for node in walk(cursor, Cursor.next_node):
        at = cursor.at(node)
        values += [at.output(slot).asnumpy() for slot in range(len(node.types))]
    assert any(value.shape == outputs[0].shape and close(value, outputs[0]) for value in values)


def test_lines_cells_and_lanes():
    cursor = cursor_of(training_step(), IMAGES, LABELS)
    assert cursor.node.op == "Conv2D" and len(cursor.nodes) > 30
    first = cursor.node.source[1]
    assert cursor.next_line().node.source[1] == first + 1
    assert cursor.next_line().node.op == "MatMul" and cursor.node.source[1] == first + 2
    assert cursor.previous_line().node.source[1] == first + 1 and cursor.node.op == "Conv2D"
    assert cursor.previous_line().node is cursor.nodes[0]
    with pytest.raises(ValueError, match="no line before it"):
        cursor.previous_line()
    assert "relu" in cursor.into().node.scope
    cursor.run_to("op:MatMul scope:fc2")
    assert "fc2" not in cursor.out().node.scope
    cursor.run_to("op:MatMul scope:fc2 lane:forward")
    mate = cursor.mate().node
    assert (mate.direction, mate.op) == ("backward", "MatMul") and "fc2" in mate.scope
    assert cursor.mate().node.direction == "forward"
    with pytest.raises(ValueError, match="one lane"):
        cursor_of(LeNet(), IMAGES).mate()


def test_lanes_of_equal_operators_are_paired_in_opposite_order():
    cursor = cursor_of(training_step(), IMAGES, LABELS)
    relus = [node for node in cursor.nodes if node.op == "ReLU" and node.direction == "forward"]
    mates = [cursor.at(node).mate().node for node in relus]
    assert [one.source[1] for one in relus] == [other.source[1] for other in mates]
    assert [node.id for node in mates] == sorted((node.id for node in mates), reverse=True)


def test_the_ends_and_unknown_nodes_are_said():
    cursor = cursor_of(LeNet(), IMAGES)
    with pytest.raises(ValueError, match="first node of the step"):
        cursor.previous_node()
    with pytest.raises(ValueError, match="last node of the step"):
        cursor.next_node(1000)
    with pytest.raises(ValueError, match="Conv2D"):
        cursor.run_to("op:Conv3D")
    with pytest.raises(TypeError):
        cursor.run_to(1.5)


def prompt(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_the_prompt_moves_the_cursor_and_steps(monkeypatch, capsys):
    step = training_step()
    prompt(monkeypatch, "n\n\np value.shape, unseen + 1\nr op:MatMul\nw\nv\nfly\no 3\ns 2\nw\nc\n")
    unseen = 41
    debugger.start()
    for _ in range(5):
        step(IMAGES, LABELS)
    said = capsys.readouterr().out
    assert unseen == 41 and debugger.n_steps == 5
    for words in (
        "Paused at step 1, node 1 of",
        "node 2 of",
        "node 3 of",
        ", 42)",
        "fc1/MatMul",
        "MatMul: Tensor(shape",
    ):
        assert words in said, said
    assert "'fly' is no word here" in said and "o takes no argument, but got '3'" in said
    assert "Paused at step 3, node 1 of" in said and "Paused at step 4" not in said


def test_results_are_the_same_with_and_without_pauses(monkeypatch):
    weights = [p.asnumpy() for p in LeNet().get_parameters()]
    losses = []
    for paused in (False, True):
        net = LeNet()
        for p, value in zip(net.get_parameters(), weights, strict=True):
            p.set_data(Tensor(value))
        step = training_step(net)
        if paused:
            prompt(monkeypatch, "n\nv\ns\nn\ns\n")
            debugger.start()
        losses.append([step(IMAGES, LABELS).asnumpy() for _ in range(3)])
    assert (np.array(losses[0]) == np.array(losses[1])).all()


def test_stop_at_the_prompt_leaves_the_parameters_of_the_finished_step(monkeypatch):
    net = LeNet()
    step = training_step(net)
    before = net.fc3.weight.asnumpy()
    prompt(monkeypatch, "q\n")
    debugger.start()
    with pytest.raises(KeyboardInterrupt, match="step 1"):
        step(IMAGES, LABELS)
    after = net.fc3.weight.asnumpy()
    assert not (before == after).all() and np.isfinite(after).all()
    debugger.stop()
    step(IMAGES, LABELS)
    assert (debugger.at("op:MatMul scope:fc3").replay.inputs[0].shape) and debugger.at("op:ReLU").value.shape


def test_without_stdin_a_pause_is_recorded_and_the_training_goes_on(monkeypatch, caplog):
    prompt(monkeypatch, "")
    step = training_step()
    debugger.start()
    step(IMAGES, LABELS)
    step(IMAGES, LABELS)
    assert len(debugger.records) == 1 and debugger.records[0].cursor.at("op:ReLU").value.shape == (2, 6, 12, 12)


def test_a_breakpoint_pauses_each_step_at_its_nodes(monkeypatch, capsys):
    line = LeNet.construct.__code__.co_firstlineno
    step = training_step()
    prompt(monkeypatch, "c\nq\n")
    debugger.start(pauses_first=False, breakpoints=[Breakpoint(line=line + 3), Breakpoint(query="op:NoSuch")])
    with pytest.raises(KeyboardInterrupt):
        for _ in range(4):
            step(IMAGES, LABELS)
    said = capsys.readouterr().out
    assert "step 2" in said and "step 3" not in said and "fc1/MatMul" in said


def test_a_breakpoint_on_a_line_without_nodes_moves_to_the_next(monkeypatch, capsys):
    line = LeNet.construct.__code__.co_firstlineno
    prompt(monkeypatch, "q\n")
    debugger.start(pauses_first=False, breakpoints=[Breakpoint(line=line)])
    with pytest.raises(KeyboardInterrupt):
        training_step()(IMAGES, LABELS)
    assert f"Line {line} has no node; the next one with nodes is test_cursor.py:{line + 1}." in capsys.readouterr().out


def test_a_step_in_pynative_mode_is_paused(monkeypatch, capsys):
    context.set_context(mode=context.PYNATIVE_MODE)
    step = training_step()
    prompt(monkeypatch, "r op:ReLU\nv\ns\nq\n")
    debugger.start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(4):
            step(IMAGES, LABELS)
    said = capsys.readouterr().out
    assert "Paused at step 1" in said and "ReLU: Tensor(shape=[2, 6, 12, 12]" in said and "Paused at step 2" in said


def test_a_pause_under_a_gradient_of_pynative_mode_changes_no_gradient(monkeypatch, capsys):
    context.set_context(mode=context.PYNATIVE_MODE)
    net = LeNet()
    gradient = ops.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    expected = [g.asnumpy() for g in gradient(IMAGES)[1]]
    prompt(monkeypatch, "n\nv\nc\n")
    debugger.start()
    gradients = [g.asnumpy() for g in gradient(IMAGES)[1]]
    assert "Paused at step 1" in capsys.readouterr().out
    with pytest.raises(ValueError, match="outside of the Cell has no nodes: put loss and gradient into"):
        debugger.cursor.mate()
    assert all((one == other).all() for one, other in zip(gradients, expected, strict=True))


class ReadsValues(nn.Cell):
    def construct(self, x):
        return ops.relu(x) if float(x.asnumpy().sum()) > 0 else x


def test_what_pynative_mode_does_not_pause_is_said(monkeypatch):
    said = []
    monkeypatch.setattr("msnb.log.warning", lambda form, *args: said.append(form % args))
    context.set_context(mode=context.PYNATIVE_MODE)
    debugger.start()
    ops.relu(random(2, 3))
    debugger.stop()
    assert said == ["debugger: nothing has paused, because neither a Cell nor a compiled function has run."]
    debugger.start()
    ReadsValues()(random(2, 3))
    assert len(said) == 2 and "The step of ReadsValues is not paused" in said[1] and "switch to PYNATIVE" not in said[1]


def test_the_values_of_a_random_step_in_pynative_mode_are_marked(monkeypatch, capsys):
    context.set_context(mode=context.PYNATIVE_MODE)
    prompt(monkeypatch, "c\n")
    debugger.start()
    nn.Dropout(0.5).set_train()(random(2, 3))
    assert "have another random number" in capsys.readouterr().out


def test_the_replay_of_a_paused_step_has_the_bits_of_its_loss(monkeypatch):
    step = training_step()
    prompt(monkeypatch, "c\n")
    debugger.start()
    loss = step(IMAGES, LABELS).asnumpy()
    assert np.asarray(debugger.paused.replay.results[0]) == loss


class Blocking:
    """A front end in which the user presses Ctrl-C, or a button on another thread."""

    def __init__(self, act):
        self.act, self.seen = act, []

    def show(self, pause):
        threading.Thread(target=self.act, args=(pause,)).start()
        return True

    def has_resumed(self, pause):
        self.seen.append(pause.order)

    def is_running(self, program):
        self.seen.append("running")

    def has_ended(self):
        self.seen.append("ended")


@pytest.fixture
def front_end(monkeypatch):
    def install(act):
        monkeypatch.setattr(debugger, "front_end", Blocking(act))
        return debugger.front_end

    return install


def test_ctrl_c_ends_the_wait_and_keeps_the_parameters_of_the_step(front_end):
    step = training_step()
    shown = front_end(lambda pause: os.kill(os.getpid(), signal.SIGINT))
    debugger.start()
    before = step.network._backbone.fc3.weight.asnumpy()
    with pytest.raises(KeyboardInterrupt):
        step(IMAGES, LABELS)
    assert not (step.network._backbone.fc3.weight.asnumpy() == before).all()
    assert shown.seen == ["stop"] and not debugger.is_paused
    debugger.stop()
    assert np.isfinite(step(IMAGES, LABELS).asnumpy())


def test_buttons_on_another_thread_step_and_continue(front_end):
    orders = iter(["n", "s 2", "r op:MatMul", "v", "c"])

    def act(pause):
        while not pause.is_resumed:
            obey(pause, next(orders))

    step = training_step()
    shown = front_end(act)
    debugger.start()
    for _ in range(4):
        step(IMAGES, LABELS)
    debugger.stop()
    assert shown.seen == ["step", "running", "continue", "running", "ended"]
    assert debugger.paused.step == 3 and debugger.cursor.node.op == "MatMul"


def test_the_steps_of_model_train_are_paused(monkeypatch, capsys):
    batches = [(IMAGES.asnumpy(), LABELS.asnumpy())] * 3
    data = msnb.dataset.GeneratorDataset(lambda: iter(batches), ["x", "y"])
    net = LeNet()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = msnb.Model(net, loss, nn.SGD(net.trainable_params(), 0.1))
    prompt(monkeypatch, "s 2\nr scope:fc2\nc\n")
    debugger.start()
    model.train(1, data, dataset_sink_mode=False)
    said = capsys.readouterr().out
    assert "Paused at step 1" in said and "Paused at step 3" in said and debugger.n_steps == 3


def test_a_pause_shows_the_hits_of_a_watch(monkeypatch, capsys):
    program, arrays = program_inputs(LeNet(), IMAGES)
    replay = Replay(program, of_program(program, program.name), arrays)

    node = next(n for n in replay.graph.all_nodes() if n.op == "ReLU")
    hit = Hit(7, node.id, 0, node.fullname, "tensor", "ReLU", "", node.source, "forward", "tensor_too_large")
    weight = dataclasses.replace(hit, node=None, name="fc1.weight", kind="weight")
    prompt(monkeypatch, "hits\nc\n")
    pause(replay, [weight, hit], 7)
    said = capsys.readouterr().out
    assert said.count(hit.describe()) == 2 and "step 7, node 2 of" in said


def test_hits_of_a_watch_pause_the_training(monkeypatch, capsys):
    prompt(monkeypatch, "w\nv\ns\nq\n")
    step = training_step()
    with pytest.raises(KeyboardInterrupt):
        with watch(step, ("tensor_too_large", {"max_gt": -1e9}), nodes="op:ReLU lane:forward", every=1, at="pause"):
            for _ in range(5):
                step(IMAGES, LABELS)
    said = capsys.readouterr().out
    assert "Paused at step 1" in said and "ReLU: Tensor(" in said and "Paused at step 2" in said
    assert "tensor_too_large" in said


def test_every_word_has_a_title_and_help_lists_it():
    session = Pause(cursor_of(LeNet(), IMAGES).replay)
    listed = obey(session, "h")
    assert all(command.title in listed for command in COMMANDS)
    assert len({c.key for c in COMMANDS}) == len(COMMANDS)
