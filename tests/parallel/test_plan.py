"""Plans for devices that are not available."""

import json
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from msnb import Tensor, context, nn
from msnb.parallel import Plans, plan
from msnb.parallel.cost_model.transfer_cost import MeshCostModel
from msnb.parallel.graph.flatten_jaxpr import flatten_jaxpr
from msnb.parallel.planning.common_subexpressions import first_equal_results
from msnb.parallel.planning.compare_plans import batch_size_of, notes_on
from msnb.parallel.planning.estimate import communication, step_time
from msnb.parallel.planning.hardware import PRESETS, hardware_of
from msnb.parallel.planning.liveness import peak_bytes
from msnb.parallel.planning.plan_mesh import mesh_of, weights_of
from msnb.parallel.planning.strategies import named_strategies, propagate_layouts
from msnb.parallel.search.choice_problem import Problem
from msnb.parallel.search.solver import cost_of


class Layers(nn.Cell):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.SequentialCell([nn.Dense(width, width, activation="relu") for _ in range(2)])

    def construct(self, x):
        return self.layers(x)


def create_plans(**settings):
    net = Layers()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    context.set_context(mode=context.GRAPH_MODE)
    batch = Tensor(np.zeros((32, 64), np.float32)), Tensor(np.zeros(32, np.int32))
    return plan(step, batch, **{"devices": 4, "hardware": "h100", "check": 0, "progress": False, **settings})


@pytest.fixture(scope="module")
def plans():
    return create_plans(devices=8, mesh=(2, 4))


def test_plans_as_dict(plans):
    as_dict = json.loads(json.dumps(plans.as_dict()))
    ways = {"data parallel", "searched", "optimizer sharded", "fully sharded", "2 stages, 4 parts"}
    assert {p["name"] for p in as_dict["plans"]} == ways
    assert (as_dict["devices"], as_dict["mesh"]) == (8, {"axis0": 2, "axis1": 4})
    parameter_bytes = sum(4 * (64 * 64 + 64) for _ in range(2))
    data, moments, sharded = (plans[name] for name in ("data parallel", "optimizer sharded", "fully sharded"))
    assert data.bytes == pytest.approx(2 * 7 / 8 * parameter_bytes, abs=32)  # and the loss
    kinds = [p.as_dict()["memory_by_kind"] for p in (data, moments, sharded)]
    assert [k["parameter"] for k in kinds] == [parameter_bytes, parameter_bytes, parameter_bytes / 8]
    assert [k["state"] for k in kinds] == [parameter_bytes, parameter_bytes / 8, parameter_bytes / 8]
    assert data.layout("argument 0") == (("axis0", "axis1"), ())
    assert "data parallel" in repr(plans) and "<table>" in plans._repr_html_() and "all-reduce" in repr(data)


def test_communication_by_kind_equals_search_cost(plans):
    for one in plans:
        loops = [] if one.pipeline is None else [s.bytes for sent in one.pipeline.inside.values() for s in sent]
        assert one.bytes == pytest.approx(cost_of(one._problem, one._chosen) + sum(loops))
        assert one.time.step >= max(one.time.computing, one.time.sending) * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_searched_plan_is_fastest_and_sends_no_more(seed):
    """For random nets, batches and meshes, some with links between hosts, by predicted figures."""
    random = np.random.default_rng(seed)
    widths = [int(n) for n in random.choice((16, 48, 64, 256), 3)]
    cells = [nn.Dense(a, b, activation=str(random.choice(["relu", "tanh"]))) for a, b in zip(widths, widths[1:])]
    net = nn.SequentialCell(cells)
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    step = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 0.1)).set_train()
    rows = int(random.choice((8, 64, 4096)))
    batch = Tensor(np.zeros((rows, widths[0]), np.float32)), Tensor(np.zeros(rows, np.int32))
    mesh = (None, (8,), (2, 4))[seed]  # the first has hosts
    plans = plan(step, batch, 16 if mesh is None else 8, mesh, "a100", check=0, progress=False)
    data, best = plans["data parallel"], plans["searched"]
    assert data.fits and best.bytes <= data.bytes
    assert best.time.step <= min(one.time.step for one in plans if not one.pipeline and one.bytes <= data.bytes)
    assert not plans.refused and "none:" not in repr(plans)


class Rows(nn.Cell):
    """An embedding, a sum over words, and a layer."""

    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(8000, 64), nn.Dense(64, 256)

    def construct(self, places):
        return self.head(self.table(places).sum(1))


@pytest.mark.parametrize("mesh", [(8,), (2, 4)])
def test_search_avoids_latency_of_many_messages(mesh):
    """The solution with the fewest bytes has so many messages that data parallelism is faster."""
    net = Rows()
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    batch = Tensor(np.zeros((64, 8), np.int32)), Tensor(np.zeros(64, np.int32))
    context.set_context(mode=context.GRAPH_MODE)
    plans = plan(step, batch, devices=8, mesh=mesh, hardware="a100", check=0, progress=False)
    best, data = plans["searched"], plans["data parallel"]
    assert best.bytes < data.bytes / 10 and best.time.step < data.time.step


def test_why_not_lists_other_layouts(plans):
    one = plans["searched"]
    rows = one.why_not("layers.0.weight")
    own = [row for row in rows if row["chosen"]]
    assert [row["layout"] for row in own] == [one.layout("layers.0.weight")] and own[0]["more"] == 0
    assert {row["layout"] for row in rows} == set(one._problem.cost_model.layouts((64, 64)))
    cost_of_layout = {row["layout"]: row["more"] for row in one.why_not("layers.0.bias")}
    again = one.why_not("layers.0.bias", search=True)
    assert all(row["more"] <= cost_of_layout[row["layout"]] * (1 + 1e-6) + 4096 for row in again)
    with pytest.raises(ValueError, match="no tensor 'nothing'"):
        one.why_not("nothing")


def test_why_not_costs_equal_tables(plans):
    """A weight that is sharded between two steps is gathered once. Each row equals the cost of a plan with that
    layout.
    """
    size = 64 * 64 * 4
    cost_of_layout = {row["layout"]: row["more"] for row in plans["data parallel"].why_not("layers.0.weight")}
    for cut, share in {(): 0, ("axis0",): 1 / 2, ("axis1",): 3 / 4, ("axis0", "axis1"): 7 / 8}.items():
        assert cost_of_layout[cut, ()] == cost_of_layout[(), cut] == pytest.approx(share * size)
    for one in (one for one in plans if one.pipeline is None):
        for name in ("layers.0.weight", "layers.1.bias", "argument 0"):
            for row in one.why_not(name):
                numbers = plans.problem.choice_indices((one._problem, one._chosen))
                nodes = plans.problem.nodes[one._find_tensor_index(name)]
                numbers[one._find_tensor_index(name)] = [choice.outputs[0] for choice in nodes].index(row["layout"])
                sent = sum(each.bytes for each in communication(plans.problem, numbers))
                assert row["more"] == pytest.approx(sent - one.bytes, abs=1), (one.name, name, row)


def test_compiled_communication_equals_prediction():
    one = create_plans(check=1)[0]
    assert one.compiled.bytes == pytest.approx(one.bytes, rel=0.05)
    assert one.compiled.memory == pytest.approx(one.memory, rel=0.35)
    assert one.as_dict()["compiled"]["bytes"] == one.compiled.bytes


def test_peak_memory_of_live_values():
    """Two products and their sum, where the first product is read again at the end. Views and zeros take no memory."""

    def program(x, w):
        first = jnp.tanh(x @ w)
        second = (first @ w).reshape(128, 4) + jnp.zeros((128, 4), np.float32)
        return second.reshape(16, 32) @ w + first

    shapes = [jax.ShapeDtypeStruct(shape, np.float32) for shape in ((16, 32), (32, 32))]
    problem = Problem(flatten_jaxpr(jax.make_jaxpr(program)(*shapes)), MeshCostModel({"x": 2}, {"x": 1.0}), {})
    size, weight = 16 * 32 * 4, 32 * 32 * 4

    def chosen(at):
        """Return the solution in which the input has the layout `at` on its first axis, and the weight is
        replicated.
        """
        solution = propagate_layouts(problem, {0: (at, ()), 1: ((), ())})
        return problem.choice_indices(solution)

    assert peak_bytes(problem, chosen(())) == size + weight + 3 * size  # first, second, and the product of second
    assert peak_bytes(problem, chosen(("x",))) == (size + 3 * size) / 2 + weight


def test_all_reduce_in_loop_takes_memory_of_one_round():
    def program(x, rounds):
        start = jnp.ones(64, np.float32)
        return jax.lax.scan(lambda total, _: (total + (x * total).sum(0), None), start, None, rounds)[0]

    peaks = []
    for rounds in (2, 200):
        closed = jax.make_jaxpr(lambda x, rounds=rounds: program(x, rounds))(jax.ShapeDtypeStruct((32, 64), np.float32))
        problem = Problem(flatten_jaxpr(closed), MeshCostModel({"x": 2}, {"x": 1.0}), {})
        chosen = propagate_layouts(problem, {0: (("x",), ())})
        assert cost_of(*chosen) == rounds * 64 * 4  # once around, there and back
        peaks.append(peak_bytes(*chosen))
    assert peaks[0] == peaks[1] == 32 * 64 * 4 / 2 + 64 * 4  # and the sum of a round


def test_equal_residuals_of_a_loop_are_stored_once():
    def program(weights, x):
        def one_round(total, row):
            return total + sum(jnp.tanh(row.reshape(16, 32) @ w).sum() for w in weights), None

        return jax.lax.scan(one_round, np.float32(0), jnp.tanh(x))[0]

    weights, x = (jax.ShapeDtypeStruct(shape, np.float32) for shape in ((32, 32), (4, 8, 64)))
    graph = flatten_jaxpr(jax.make_jaxpr(jax.grad(program))((weights,) * 3, x))
    loop = next(e for e in graph.equations if e.primitive.name == "scan")
    rows = [k for k, out in enumerate(loop.outputs) if out.shape == (4, 16, 32)]
    first = first_equal_results(loop)
    assert [sum(first[n] == k for n in rows) for k in rows].count(3) == 1, (rows, first)  # and the three of tanh
    assert all(first[k] == k for k in range(len(first)) if k not in rows)


def test_accumulated_zeros_are_live_from_beginning():
    def program(x, w, places):
        return jnp.zeros((64, 32), np.float32).at[places].add((x @ w) @ w)

    shapes = [jax.ShapeDtypeStruct(*one) for one in (((16, 32), np.float32), ((32, 32), np.float32), ((16,), np.int32))]
    problem = Problem(flatten_jaxpr(jax.make_jaxpr(program)(*shapes)), MeshCostModel({"x": 2}, {"x": 1.0}), {})
    chosen = problem.choice_indices(propagate_layouts(problem, {0: ((), ()), 1: ((), ()), 2: ((),)}))
    input_bytes, zeros, product = 4 * (16 * 32 + 32 * 32 + 16), 4 * 64 * 32, 4 * 16 * 32
    assert (
        peak_bytes(problem, chosen) == input_bytes + zeros + 2 * product
    )  # both products, and not zeros beside their sum


def test_search_respects_memory_limit(plans):
    free = plans["searched"]
    for part in (0.9, 0.8):
        tight = create_plans(devices=8, mesh=(2, 4), memory=part * free.memory / 2**30)
        assert tight["searched"].memory <= part * free.memory < free.memory
        assert tight["searched"].bytes >= free.bytes * (1 - 1e-3)


def test_plan_reports_missing_memory():
    small = create_plans(memory=1e-5)
    assert "searched" not in [one.name for one in small] and not any(one.fits for one in small)
    assert small[0].memory == min(one.memory for one in small)
    (refused,) = small.refused
    assert (refused.name, refused.reason[:11]) == ("searched", "No way was ")
    assert small.as_dict()["refused"] == [{"name": "searched", "reason": refused.reason}]
    assert f"none: {refused.reason}" in repr(small) and f"none: {refused.reason}" in small._repr_html_()


def test_failed_search_is_reported(monkeypatch):
    def failing(self, problem, memory, *further, **named):
        if memory is None:  # full sharding
            return own(self, problem, memory, *further, **named)
        raise RuntimeError("Nothing was found.")

    own = Plans.search
    monkeypatch.setattr(Plans, "search", failing)
    plans = create_plans()
    assert plans["searched"].bytes <= plans["data parallel"].bytes
    assert plans.refused == [("the search", "Nothing was found. 'searched' is the fastest of the others.")]


class Uneven(nn.Cell):
    """Equal layers after a different one."""

    def __init__(self, equal):
        super().__init__()
        self.first, self.layers = nn.Dense(64, 32), nn.SequentialCell([nn.Dense(32, 32) for _ in range(equal)])

    def construct(self, x):
        return self.layers(self.first(x))


@pytest.mark.parametrize(
    ("equal", "rows", "parts", "reason"),
    [
        (3, 32, None, "2 stages (pipeline_stages) should have as many equal blocks each, but WithLossCell has 3."),
        (0, 32, 2, "2 stages (pipeline_stages) should have as many equal blocks each, but WithLossCell has 1."),
        (2, 6, None, "4 should divide the first axis of each argument, but those are [6, 6]."),
        (0, 32, None, None),  # nothing looks like stages
    ],
)
def test_missing_pipeline_has_reason(equal, rows, parts, reason):
    net = Uneven(equal)
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepCell(nn.PipelineCell(loss, parts) if parts else loss, optimizer).set_train()
    batch = Tensor(np.zeros((rows, 64), np.float32)), Tensor(np.zeros(rows, np.int32))
    context.set_context(mode=context.GRAPH_MODE)
    refused = plan(step, batch, devices=4, hardware="h100", check=0, progress=False).refused
    assert [one.name for one in refused] == (["2 stages"] if reason else [])
    assert not reason or reason in refused[0].reason, refused


def test_loop_time_equals_unrolled_time():
    def looped(w, x):
        return jax.lax.scan(lambda x, _: (jnp.tanh(x @ w), None), x, None, 5)[0]

    def unrolled(w, x):
        for _ in range(5):
            x = jnp.tanh(x @ w)
        return x

    shapes, times = [jax.ShapeDtypeStruct(shape, np.float32) for shape in ((64, 64), (32, 64))], []
    for program in (looped, unrolled):
        problem = Problem(flatten_jaxpr(jax.make_jaxpr(program)(*shapes)), MeshCostModel({"x": 2}, {"x": 1.0}), {})
        for layout in ((), ("x",)):
            chosen = propagate_layouts(problem, {0: ((), ()), 1: (layout, ())})
            times.append(step_time(*chosen, PRESETS["a100"], 0.5).computing)
    assert times[:2] == pytest.approx(times[2:], rel=0.01) and times[0] == pytest.approx(2 * times[1])


def test_default_mesh_has_hosts_and_devices():
    hardware = PRESETS["a100"]
    assert mesh_of(64, None, hardware) == {"hosts": 8, "inside": 8}
    assert mesh_of(4, None, hardware) == {"inside": 4}
    assert weights_of({"hosts": 8, "inside": 8}, hardware) == {"hosts": 12.0, "inside": 1.0}


@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"mesh": (4, 4)}, ValueError, "'mesh' should have as many devices as 'devices', 8, but got 4 x 4"),
        ({"mesh": (-2, -4)}, ValueError, "but got -2 x -4"),
        ({"mesh": "2x4"}, TypeError, r"'mesh' should be ints, as in \(2, 4\), or a dict of them by name"),
        ({"mesh": {"a": 2.0, "b": 4}}, TypeError, "'mesh' should be ints"),
        ({"devices": 1}, ValueError, "'devices' should be an int of at least 2, but got 1"),
        ({"devices": 8.0}, TypeError, "'devices' should be an int"),
        ({"memory": -1}, ValueError, "'memory' should be a positive number or None, but got -1"),
        ({"check": -1}, ValueError, "'check' should be a non-negative int, but got -1"),
        ({"efficiency": 2}, ValueError, "'efficiency' should be"),
        ({"hardware": "abacus"}, ValueError, "'hardware' should be one of v100, a100"),
    ],
)
def test_invalid_plan_arguments_raise(wrong, error, sentence):
    with pytest.raises(error, match=sentence):
        create_plans(**{"devices": 8, **wrong})


def test_hardware_from_name_or_dict():
    own = {"peak": {"float32": 1e12}, "memory": 1e9, "memory_bandwidth": 1e10, "inside": 1e9, "between": 1e8}
    assert hardware_of({**own, "devices_a_host": 4}).operations("float16") == 1e12
    with pytest.raises(ValueError, match="missing: \\['devices_a_host'\\], unknown: \\['speed'\\]"):
        hardware_of({**own, "speed": 1})
    with pytest.raises(ValueError, match="should be one of v100, a100"):
        hardware_of("abacus")


def test_transfer_steps_sum_to_transfer_cost():
    machines = MeshCostModel({"x": 2, "y": 4}, {"x": 1.0, "y": 1.0})
    every = machines.layouts((8, 8, 8))
    for before in every:
        for after in every:
            total = sum(part for _, _, part in machines.transfer_steps(before, after, (8, 8, 8)))
            assert total == pytest.approx(machines.transfer_cost(before, after, 1.0, (8, 8, 8)))


ALONE = "each device computes all of it"


@pytest.mark.parametrize(
    "rows, devices, share, ways",
    [
        (128, 8, None, None),
        (128, 7, ALONE, "a batch of 126 or 133, or 4 devices"),
        (3, 7, ALONE, "a batch of 7, or 3 devices"),
        (12, 8, "at most 4 devices get rows of their own", "a batch of 8 or 16, or 6 devices"),
    ],
)
def test_a_batch_that_the_devices_do_not_divide_is_reported(rows, devices, share, ways):
    value = SimpleNamespace(shape=(rows, 4), aval=SimpleNamespace(dtype=np.dtype("float32")))
    notes = notes_on([("w", "parameter", value), ("argument 0", "argument", value)], {"hosts": devices})
    said = f"The batch has {rows} rows, which {devices} devices do not divide: {share}. Take {ways}."
    assert notes == ([said] if share else [])


def test_a_plan_tells_what_people_compare(plans):
    one = plans["data parallel"]
    assert plans.unit == "samples" and one.rate == pytest.approx(32 / one.time.step)
    assert one.device_hours == pytest.approx(1000 * 8 * one.time.step / 3600)
    products = 3 * 2 * 2 * 32 * 64 * 64 - 2 * 32 * 64 * 64  # of two layers, and no gradient of the batch
    peak = 8 * plans.hardware.operations("float32")
    assert one.utilisation == pytest.approx(products / (peak * one.time.step), rel=0.05) and one.utilisation < 1
    document = plans.as_dict()["plans"][0]
    assert {"rate", "utilisation", "device_hours"} <= document.keys()
    assert "samples/s" in repr(plans) and "MFU" in plans._repr_html_()
    text = SimpleNamespace(shape=(4, 16), aval=SimpleNamespace(dtype=np.dtype("int32")))
    assert batch_size_of([("argument 0", "argument", text)]) == (4, 64, "tokens")


def test_bytes_are_written_in_the_units_of_the_table_and_the_phases_by_name():
    (refused,) = [one for one in create_plans(memory=1e-6).refused if one.name == "searched"]
    assert refused.reason.endswith("KiB, but has 1.0 KiB.") and "bytes" not in refused.reason
    said = []
    list(named_strategies(create_plans(seconds=40.0), said.append))
    assert said == [
        "search 1 of 2, full sharding, up to 40 s",
        "search 2 of 2, the fastest within the memory, up to 40 s",
    ]
    assert {"b200", "mi300x", "tpu_v6e"} <= PRESETS.keys() and all(preset.source for preset in PRESETS.values())
