"""The displayed program is the program that runs, with shardings, devices and donation, on four virtual devices."""

import json
import textwrap

import jax
import numpy as np
import pytest

from msnb import Tensor, context, nn
from msnb.core.program import extra_outputs, program_cache

_BEFORE = """
import json, os, re, sys, glob
import numpy as np, jax
from jax.sharding import AxisType, NamedSharding, PartitionSpec, SingleDeviceSharding
import msnb as ms
from msnb import Parameter, Tensor, context, ir, nn, ops
from msnb.core import compile
from msnb.insight.profile import memory
from msnb.ir.stages import Stages

context.set_context(mode=context.GRAPH_MODE)
mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
rows = NamedSharding(mesh, PartitionSpec("d", None))
whole = NamedSharding(mesh, PartitionSpec())
compiled = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **_: compiled.append(event) if "backend_compile" in event else None
)

def put(value, sharding=rows):
    return Tensor(jax.device_put(np.asarray(value, np.float32), sharding))

def lines(text):
    '''Instructions of an HLO text, without where they came from.'''
    head = re.search(r"input_output_alias=.*?entry", text)
    body = [re.sub(r", (metadata|frontend_attributes|backend_config)=.*", "", l.strip())
            for l in text.splitlines() if " = " in l]
    body = [re.sub(r"/\\*.*?\\*/", "", l) for l in body]
    # an element of a tuple is an instruction, and in what newer versions of XLA dump written as %tuple#0
    element = re.compile(r"(%[\\w.-]+) = .* get-tuple-element\\((%[\\w.-]+)\\), index=(\\d+)")
    elements = {m[1]: f"{m[2]}#{m[3]}" for l in body if (m := element.match(l))}
    body = [re.sub(r"%[\\w.-]+", lambda m: elements.get(m[0], m[0]), l) for l in body if not element.match(l)]
    return body, head.group() if head else None

def ran(name):
    '''What XLA says it made of each program of this name, in order.'''
    found = sorted(glob.glob(os.path.join(os.environ["DUMP"], f"module_*jit_{name}.*after_optimizations.txt")))
    return [lines(open(path).read()) for path in found]

def shown(program):
    before = len(compiled)
    text = program.compiled().as_text()
    return lines(text), len(compiled) - before, text

class Step(nn.TrainOneStepCell):
    pass

def train_step():
    net = nn.Dense(4, 4)
    return net, Step(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
out = {}
"""


@pytest.fixture
def run(fresh, tmp_path):
    """run(code) -> `out` as a process of four devices leaves it."""

    def run(code):
        flags = f"--xla_force_host_platform_device_count=4 --xla_dump_to={tmp_path}/dump --xla_dump_hlo_as_text"
        code = f"{_BEFORE}{textwrap.dedent(code)}\nprint(json.dumps(out))\n"
        done = fresh.run(code, tmp_path, environment={"XLA_FLAGS": flags, "DUMP": f"{tmp_path}/dump"}, seconds=600)
        assert done.status == 0, done.err[-3000:]
        return json.loads(done.out.splitlines()[-1])

    return run


def test_a_sharded_train_step_shows_the_executable_that_ran(run):
    out = run(
        """
        net, step = train_step()
        x, y = put(np.ones((8, 4))), put(np.zeros((8, 4)))
        for call in ("first", "second", "third"):
            step(x, y)
            program = compile.program_of(step, x, y)
            now, again, text = shown(program)
            out[call] = [now == ran("Step")[-1], again, len(ran("Step"))]
        out["parts"] = "num_partitions=4" in text
        out["alias"] = "input_output_alias" in text
        out["argument"] = list(program.example_arguments()[2].sharding.spec)
        stats = program.compiled().memory_analysis()
        told = memory.of_program(program, ir.graph(step, x, y))
        out["memory"] = [told.arguments, stats.argument_size_in_bytes, told.shared, stats.alias_size_in_bytes]
        out["collective"] = any("all-reduce" in node.op for node in Stages(program, "step")["optimised"].all_nodes())
        out["compiled"] = len(ran("Step"))
        """,
    )
    # XLA spreads the Parameters in the first call, so that the second is another executable
    assert out["first"] == [True, 0, 1]
    assert out["second"] == [True, 0, 2]
    assert out["third"] == [True, 0, 2]
    assert out["parts"] and out["alias"] and out["collective"]
    assert out["argument"] == ["d", None]
    assert out["memory"][0] == out["memory"][1] and out["memory"][2] == out["memory"][3] > 0
    assert out["compiled"] == 2  # no view compiled


def test_a_sharded_parameter_is_shown_as_it_runs_and_other_shardings_are_other_programs(run):
    out = run(
        """
        class Forward(nn.Cell):
            def __init__(self):
                super().__init__()
                self.w = Parameter(put(np.ones((4, 4))), name="w")
            def construct(self, x):
                return ops.matmul(x, self.w)
        net = Forward()
        out["kept"] = list(net.w._get_stored_array().sharding.spec)
        x = Tensor(np.ones((8, 4), np.float32))
        net(x)
        one = compile.program_of(net, x)
        now, again, text = shown(one)
        out["parameter"] = [now == ran("Forward")[-1], again, "num_partitions=4" in text]
        sharded = put(np.ones((8, 4)))
        net(sharded)
        two = compile.program_of(net, sharded)
        now, again, text = shown(two)
        out["input"] = [now == ran("Forward")[-1], again, two is not one, two.reason]
        net(put(np.ones((8, 4)), whole))
        out["programs"] = len(compile.programs_of(net).table)
        out["same"] = compile.program_of(net, put(np.zeros((8, 4)))) is two
        net.w.set_data(Tensor(np.ones((4, 4), np.float32)))  # somebody puts it elsewhere
        net(sharded)
        now, again, text = shown(two)
        out["moved"] = [now == ran("Forward")[-1], again]
        for device in jax.devices()[1:3]:
            compile.program_of(net, put(np.ones((8, 4)), SingleDeviceSharding(device)))
        out["programs after"] = len(compile.programs_of(net).table)
        """,
    )
    assert out["kept"] == ["d", None]
    assert out["parameter"] == [True, 0, True]
    assert out["input"] == [True, 0, True, "new input signature"]
    assert out["programs"] == 3 and out["same"] and out["programs after"] == 5
    assert out["moved"] == [True, 0]


def test_another_device_is_another_program(run):
    out = run(
        """
        net = nn.Dense(4, 4)
        x = Tensor(np.ones((8, 4), np.float32))
        net(x)
        first = compile.program_of(net, x)
        context.set_context(device_id=2)
        second = compile.program_of(net, x)
        out["reason"] = second.reason
        net(x)
        out["where"] = [str(p.compiled().input_shardings[0][1][0].device_set) for p in (first, second)]
        context.set_context(device_id=0)
        out["back"] = compile.program_of(net, x) in (first, second)
        """,
    )
    assert out["reason"] == "the device is another"
    assert out["where"][0] != out["where"][1] and "2" in out["where"][1]


# ---------------------------------------------------------------------- on one device
@pytest.fixture
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


class Random(nn.Cell):
    """Takes a float and random numbers, whose types in a program are weak."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.set_train()

    def construct(self, x, scale):
        return self.drop(x) * scale


def test_looking_at_a_program_that_has_run_compiles_nothing(graph_mode):
    compiled, listening = [], True

    def listen(event, seconds, **_):  # JAX has no public way to take it back
        if listening and "backend_compile" in event:
            compiled.append(event)

    net, x = Random(), Tensor(np.ones((4, 4), np.float32))
    net(x, 0.5)
    program = program_cache.program_of(net, x, 0.5)
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        program.memory()
        assert "HloModule" in program.compiled().as_text()
        assert compiled == []
    finally:
        listening = False


def test_with_observers_the_form_that_ran_is_shown(graph_mode):
    class Observer:
        """Adds a sum to the outputs."""

        def rewrite(self, program):
            def more(*inputs):
                outs = jax.core.eval_jaxpr(program.jaxpr.jaxpr, program.jaxpr.consts, *inputs)
                return [*outs, outs[0].sum()]

            return jax.make_jaxpr(more)(*[v.aval for v in program.jaxpr.jaxpr.invars])

        def receive(self, program, run):
            pass

    net, x = nn.Dense(4, 4), Tensor(np.ones((2, 4), np.float32))
    net(x)
    program = program_cache.program_of(net, x)
    plain = program.compiled().as_text()
    watching = extra_outputs.add(Observer())
    try:
        net(x)
        assert program.compiled().as_text() != plain
        assert "reduce" in program.compiled().as_text()
    finally:
        extra_outputs.remove(watching)
    net(x)
    assert program.compiled().as_text() == plain
