"""Every observer over every kind of training: it shows something, raises nothing and changes nothing."""

import functools
import os
import tempfile
from pathlib import Path

import numpy as np
import observed_networks
import pytest
from observed_networks import NETWORKS
from sweeps import split

import msnb as ms
from msnb import context
from msnb.core.program import extra_outputs
from msnb.core.state import events
from msnb.formats import summary_events
from msnb.insight.gradients import GradientMonitor
from msnb.insight.profile import Profile, Recorder
from msnb.ir.graphviz import to_dot
from msnb.ir.printer import to_text
from msnb.ir.stages import Stages
from msnb.notebook.gradients import GradientView, inspect_gradients
from msnb.notebook.gradients.payload import tensor_of
from msnb.notebook.graph.view import GraphView
from msnb.notebook.profile.view import ProfileView
from msnb.train.summary import SummaryRecord

SEED = 7


def draw_gradients(recording):
    """Return the view of a recording, in every form."""
    view = GradientView(recording)
    assert view.payload and view.svg() and repr(view)
    assert (recording.graph is None) == (not view.graph_payload)
    assert not any(finding.kind in ("failed", "nonfinite") for finding in view.findings), view.findings
    return view


def observe_gradients(training, level):
    """Record the gradients; each of three steps has a row for each Parameter."""
    with GradientMonitor(level) as monitor:
        results = training.run()
    recording = monitor.recording
    draw_gradients(recording)
    names = {row.name for row in recording.rows("parameter")}
    assert names == {parameter.name for parameter in training.parameters}
    assert len(recording.steps) >= 3
    assert np.isfinite(recording.table("norm")).all()
    if level == "all":
        assert recording.rows("output")
        assert recording.rows("gradient") or "within loops" in " ".join(recording.notes())
        assert np.isfinite(recording.table("norm", "output")).any()
    return results


def observe_values(training):
    """Record every tensor, and ask for each as the page does."""
    with GradientMonitor("all", tensors="*") as monitor:
        results = training.run()
    recording = monitor.recording
    draw_gradients(recording)
    assert recording.tensors
    for kind, name in [*recording.tensors, *recording.latest]:
        assert tensor_of(recording, kind, name)["data"]
    return results


def observe_time(training):
    """Take a profile; its parts are those of a step and no part is longer than it."""
    recorder = Recorder().start()
    try:
        results = training.run()
    finally:
        recording = recorder.stop()
    profile = Profile(recording)
    assert profile.rows and profile.steps
    assert all(0 <= row.seconds <= profile.step_seconds * 1.001 for row in profile.rows)
    view = ProfileView(profile)
    assert view.payload and view.svg() and repr(view) and view.markdown()
    assert profile.mode == "PYNATIVE" or view.graph is not None
    return results


def observe_summaries(training):
    """Record what summary operators see, and histograms of the gradients."""
    folder = tempfile.mkdtemp()
    with SummaryRecord(folder) as record:
        results = []
        inner = training.step
        if inner is None:
            results = training.run()
            record.record(1)
        else:
            training.step = lambda *inputs: (inner(*inputs), record.record(1))[0]
            results = training.run()
    read = [event for path in Path(folder).glob("*_MS") for event, _ in summary_events.events(path)]
    tags = {value.tag for event in read for value in event.values}
    if isinstance(getattr(inner, "network", None), observed_networks.Summarised):
        assert tags, "nothing was recorded"
    return results


def observe_graphs(training):
    """Read every stage of each program that ran, and draw it."""
    programs = []
    with events.listen(compiled=programs.append, name="test"):
        results = training.run()
    assert programs or context.get_context("mode") == context.PYNATIVE_MODE
    for program in programs:
        stages = Stages(program, program.name)
        for stage in stages.offered:
            graph = stages[stage]
            assert to_text(graph) and to_dot(graph)
            view = GraphView(graph)
            assert view.payload and view.svg()
    return results


OBSERVERS = {
    "gradients at every operator": functools.partial(observe_gradients, level="all"),
    "gradients of Parameters": functools.partial(observe_gradients, level="parameters"),
    "values": observe_values,
    "time": observe_time,
    "summaries": observe_summaries,
    "graphs": observe_graphs,
}
MODES = {"graph": context.GRAPH_MODE, "pynative": context.PYNATIVE_MODE}


@functools.cache
def unobserved(network, mode):
    """Return the results of a training that nobody looks at."""
    ms.set_context(mode=MODES[mode])
    ms.set_seed(SEED)
    return NETWORKS[network]().run()


CASES = [(network, observer, mode) for mode in MODES for network in NETWORKS for observer in OBSERVERS]
OFTEN = {case for kind in (0, 1) for case in split(CASES, lambda case, kind=kind: case[kind])[0]}
GRID = [pytest.param(*case, marks=[] if case in OFTEN else pytest.mark.slow, id=" - ".join(case)) for case in CASES]


@pytest.mark.parametrize("network, observer, mode", GRID)
def test_what_is_observed_is_shown_and_gives_the_results_that_it_gives_alone(network, observer, mode):
    expected = unobserved(network, mode)
    ms.set_context(mode=MODES[mode])
    ms.set_seed(SEED)
    results = OBSERVERS[observer](NETWORKS[network]())
    assert len(results) == len(expected)
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert not extra_outputs.observers


ON_EIGHT_DEVICES = """
import numpy as np
import msnb as ms
from observed_networks import pipeline_stages
from test_observers import OBSERVERS

def run(observe):
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(7)
    return observe(pipeline_stages())

alone = run(lambda training: training.run())
for name in {names}:
    for one, other in zip(run(OBSERVERS[name]), alone, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6, err_msg=name)
    print(name)
"""


@pytest.mark.parametrize(
    "observers",
    [
        pytest.param(["gradients of Parameters"], id="gradients"),
        pytest.param(
            [name for name in OBSERVERS if name != "gradients of Parameters"], id="all", marks=pytest.mark.slow
        ),
    ],
)
def test_a_pipeline_of_stages_is_observed_as_any_other_training(observers, fresh, tmp_path):
    """Eight devices need a process of their own."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    here = Path(__file__).parent
    program = ON_EIGHT_DEVICES.replace("{names}", repr(observers))
    done = fresh.run(program, tmp_path, path=(here, here.parent), environment={"XLA_FLAGS": flags})
    assert done.status == 0, done.err
    assert done.out.splitlines() == observers


def test_a_monitor_that_fails_says_so_in_red_in_every_form(monkeypatch):
    """Nothing recorded is not the same as nothing wrong."""
    ms.set_context(mode=context.GRAPH_MODE)
    training = NETWORKS["Dropout"]()

    def fail(*_):
        raise TypeError("this does not work")

    monkeypatch.setattr("msnb.insight.gradients.monitor.Plan", fail)
    with GradientMonitor("all") as monitor:
        assert len(training.run()) == 7
    (finding,) = monitor.findings()
    assert finding.severity == "error" and "this does not work" in finding.text
    view = GradientView(monitor.recording)
    assert "✖" in repr(view) and "this does not work" in repr(view)
    assert "✖" in view.svg() and "✔" not in view.svg() and "✔" not in repr(view)


def test_a_monitor_of_the_tape_that_fails_says_so(monkeypatch):
    ms.set_context(mode=context.PYNATIVE_MODE)
    training = NETWORKS["Dropout"]()

    def fail(*_):
        raise TypeError("this does not work")

    monkeypatch.setattr("msnb.insight.gradients.eager_recorder._locate_operator", fail)
    with GradientMonitor("all") as monitor:
        training.run()
    assert [finding.kind for finding in monitor.findings()] == ["failed"]


def test_what_is_computed_again_is_no_gradient_and_stands_in_the_scope_of_its_cell():
    ms.set_context(mode=context.GRAPH_MODE)
    training = NETWORKS["recompute"]()
    with GradientMonitor("all") as monitor:
        training.run()
    again = [node for node in monitor.recording.graph.nodes if node.is_recomputed]
    assert {"MatMul", "Tanh", "Dropout"} <= {node.op for node in again}
    assert all(node.name == node.op and node.scope.count("blocks") == 1 for node in again)
    gradients = {row.name for row in monitor.recording.rows("gradient")}
    assert {"net.blocks.0.2/Tanh", "net.blocks.2.0/MatMul"} <= gradients


def test_looking_at_a_step_leaves_the_random_numbers_of_the_training_alone():
    ms.set_context(mode=context.GRAPH_MODE)
    results = []
    for looks in (False, True):
        ms.set_seed(SEED)
        training = NETWORKS["Dropout"]()
        if looks:
            inspect_gradients(training.step, None, training.inputs)
        results.append(training.run())
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
