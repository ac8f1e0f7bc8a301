"""GRAPH mode sees what Python values a graph was built from, and when they change."""

import types

import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, log, nn, ops
from msnb.core.program import program_cache
from msnb.core.script import guards

X = Tensor(np.float32([1.0]))
rate, table, settings = 1.0, [1.0], types.SimpleNamespace(rate=1.0, inner={"rate": [1.0]})
array, constant = np.ones(1, np.float32), Tensor([1.0])


@pytest.fixture(autouse=True)
def graph_mode():
    context.set_context(mode=context.GRAPH_MODE)
    yield
    context.set_context(mode=context.PYNATIVE_MODE)


class Config:
    def __init__(self):
        self.rate, self.notes = 1.0, []


class Reads(nn.Cell):
    """x times something of Python's."""

    shared = 1.0

    def __init__(self, read):
        super().__init__()
        self.read = read
        self.rates, self.array, self.config, self.nested = [1.0], np.ones(1, np.float32), Config(), ({"a": [1.0]},)

    def construct(self, x):
        return self.read(self, x)


def set_global(cell):
    global rate
    rate = 10.0


PLACES = {
    "a global": (lambda cell, x: x * rate, set_global),
    "a global list": (lambda cell, x: x * table[0], lambda cell: table.__setitem__(0, 10.0)),
    "a namespace": (lambda cell, x: x * settings.rate, lambda cell: setattr(settings, "rate", 10.0)),
    "a list in a dict in a namespace": (
        lambda cell, x: x * settings.inner["rate"][0],
        lambda cell: settings.inner["rate"].__setitem__(0, 10.0),
    ),
    "a global array": (lambda cell, x: x * Tensor(array), lambda cell: array.fill(10)),
    "a global Tensor": (lambda cell, x: x * constant, lambda cell: constant.assign_value(Tensor([10.0]))),
    "a list of the Cell": (lambda cell, x: x * cell.rates[0], lambda cell: cell.rates.__setitem__(0, 10.0)),
    "an array of the Cell": (lambda cell, x: x * Tensor(cell.array), lambda cell: cell.array.fill(10)),
    "a plain object of the Cell": (
        lambda cell, x: x * cell.config.rate,
        lambda cell: setattr(cell.config, "rate", 10.0),
    ),
    "a list in a dict in a tuple": (
        lambda cell, x: x * cell.nested[0]["a"][0],
        lambda cell: cell.nested[0]["a"].__setitem__(0, 10.0),
    ),
    "an attribute of the class": (lambda cell, x: x * cell.shared, lambda cell: setattr(Reads, "shared", 10.0)),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_value_that_changes_takes_effect_in_the_next_call(place):
    global rate
    rate, table[0], settings.rate, settings.inner["rate"][0], Reads.shared = 1.0, 1.0, 1.0, 1.0, 1.0
    array.fill(1)
    constant.assign_value(Tensor([1.0]))
    read, change = PLACES[place]
    cell = Reads(read)
    assert cell(X).asnumpy() == 1 and cell(X).asnumpy() == 1 and cell._programs.compiled == 1
    change(cell)
    assert cell(X).asnumpy() == 10 and cell(X).asnumpy() == 10 and cell._programs.compiled == 2


def test_a_closure_variable_that_is_set_anew_takes_effect():
    factor = 1.0

    def scaled(x):
        return x * factor

    compiled = ms.ms_function(scaled)
    assert compiled(X).asnumpy() == 1
    factor = 10.0
    assert compiled(X).asnumpy() == 10 and "'factor'" in compiled._programs.table.popitem()[1][-1].program.reason


def test_an_attribute_of_the_object_of_a_compiled_method_takes_effect():
    class Scales:
        factor = 1.0

        @ms.ms_function
        def run(self, x):
            return x * self.factor

    thing = Scales()
    thing.factor = 2.0
    assert thing.run(X).asnumpy() == 2
    thing.factor = 3.0
    assert thing.run(X).asnumpy() == 3


def test_what_is_set_to_an_equal_value_or_not_read_costs_nothing():
    global rate
    rate = 1.5
    cell = Reads(lambda cell, x: x * rate + cell.config.rate)
    cell(X)
    rate = float("1.5")
    cell.config.notes.append(1)
    table.append(2.0)
    cell(X)
    assert cell._programs.compiled == 1


def test_one_is_not_true_and_not_1_0():
    snapshot = guards._take_snapshot([1, 2], set(), 2)
    assert snapshot.matches([1, 2]) and not snapshot.matches([True, 2]) and not snapshot.matches([1.0, 2])


def test_what_is_too_large_to_compare_is_said_once(monkeypatch):
    said = []
    monkeypatch.setattr(log, "once", said.append)
    cell = Reads(lambda cell, x: x * Tensor(cell.array[:1]))
    cell.array = np.ones(100_000, np.float32)
    cell(X)
    assert len(said) == 1 and "'array' of Reads" in said[0] and "400,000 bytes" in said[0]


class Counts(nn.Cell):
    def __init__(self):
        super().__init__()
        self.calls, self.on, self.seen = 0, False, []

    def construct(self, x):
        self.calls = self.calls + 1
        return x * self.calls


def test_an_attribute_that_construct_counts_up_counts_calls():
    cell = Counts()
    assert [float(cell(X).asnumpy()[0]) for _ in range(3)] == [1, 2, 3] and cell.calls == 3
    assert ops.grad(cell)(X).asnumpy() == 4


def test_looking_at_a_program_or_compiling_it_counts_no_call():
    cell = Counts()
    cell.compile(X)
    program_cache.program_of(cell, X)
    assert cell.calls == 0 and cell(X).asnumpy() == 1 and cell.calls == 1 and cell._programs.compiled == 1


def test_a_call_that_is_refused_after_its_trace_sets_nothing():
    class Keeps(Counts):
        def construct(self, x):
            self.calls = self.calls + 1
            self.seen.append(x)
            return x

    cell = Keeps()
    with pytest.raises(TypeError, match="outlives the graph"):
        cell(X)
    assert cell.calls == 0


def test_an_attribute_that_construct_toggles_needs_two_programs():
    class Toggles(Counts):
        def construct(self, x):
            self.on = not self.on
            return x * (2 if self.on else 3)

    cell = Toggles()
    assert [float(cell(X).asnumpy()[0]) for _ in range(5)] == [2, 3, 2, 3, 2] and cell._programs.compiled == 2


def test_a_call_that_fails_leaves_attributes_as_they_were():
    class Fails(Counts):
        def construct(self, x):
            self.calls = self.calls + 1
            self.fresh = 1
            raise ValueError("no")

    cell = Fails()
    with pytest.raises(ValueError, match="no"):
        cell(X)
    assert cell.calls == 0 and not hasattr(cell, "fresh")


def test_an_attribute_set_under_a_condition_on_a_tensor_is_refused():
    class Branches(Counts):
        def construct(self, x):
            if x.sum() > 0:
                self.calls = 3
            return x

    with pytest.raises(TypeError, match="'calls' of Branches is set under a condition"):
        Branches()(X)


ACTIVATIONS = {}


@pytest.mark.parametrize("always_call", (False, True))
@pytest.mark.parametrize("place", ("global", "closure"))
def test_a_hook_that_keeps_an_output_of_a_graph_is_named_with_its_layer_and_the_mode_that_has_values(
    place, always_call
):
    store = ACTIVATIONS if place == "global" else {}

    def keep(cell, inputs, output):
        store["first"] = output

    def keep_in_global(cell, inputs, output):
        ACTIVATIONS["first"] = output

    net = nn.SequentialCell([nn.ReLU(), nn.Tanh()])
    hook = keep if place == "closure" else keep_in_global
    handle = net[1].register_forward_hook(hook, always_call=always_call)
    said = r"the hook 'keep\w*' of '1' \(Tanh\).*PYNATIVE mode.*%%mindspore -m pynative.*handle\.remove\(\)"
    with pytest.raises(TypeError, match=said):
        net(X)
    assert not store
    handle.remove()
    net(X)


def test_a_tensor_of_the_graph_in_a_list_is_refused_and_taken_out():
    class Keeps(Counts):
        def construct(self, x):
            self.seen.append(x)
            return x + 1

    cell = Keeps()
    cell.seen.append(3)
    with pytest.raises(TypeError, match="'seen' of Keeps outlives the graph"):
        cell(X)
    assert cell.seen == [3]


def test_a_local_list_keeps_tensors():
    def collect(x):
        results = []

        def add(y):
            results.append(y)
            return len(results)

        add(x)
        add(x * 2)
        return results[0] + results[1]

    assert ms.ms_function(collect)(X).asnumpy() == 3


@pytest.mark.parametrize("mode", [context.GRAPH_MODE, context.PYNATIVE_MODE], ids=["GRAPH", "PYNATIVE"])
def test_a_cell_without_construct_says_what_it_has_instead(mode):
    context.set_context(mode=mode)

    class Misspelled(nn.Cell):
        def constuct(self, x):
            return x

    class Torch(nn.Cell):
        def forward(self, x):
            return x

    for kind, word in ((Misspelled, "It has 'constuct'"), (Torch, "It has 'forward'"), (nn.Cell, "Define it")):
        with pytest.raises(AttributeError, match=word):
            kind()(X)
