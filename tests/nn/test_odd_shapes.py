"""Layers and operators answer inputs of any rank with a result or a sentence of their own, never with words of Python's
or JAX's alone."""

import ast
import doctest
import functools
import inspect

import jax
import numpy as np
import pytest

import msnb
from msnb import Parameter, Tensor, context, ir, nn, ops
from msnb.core.errors.messages import explain_kernel_error
from msnb.core.operator.operator_types import _ABSENT, REGISTRY, Operator
from msnb.core.state import trace_state
from msnb.core.tensor.tensor import box

EXTREME = [(), (2, 3, 4, 4, 2, 2), (0, 3)]  # the fewest dimensions, the most, and no elements
SHAPES = [*EXTREME, (2,), (2, 3), (0,)]
NAMES = {"nn": nn, "ops": ops, "ir": ir, "np": np, "Tensor": Tensor, "Parameter": Parameter, "mindspore": msnb}
UNMADE = {"Cell", "GraphKernel", "LossBase"}  # bases: what they compute is the user's
NOT_CALLED = {"CellList", "CellDict"}  # says so


def example(cls, **more):
    """Return the first object of a layer's class that its documentation makes, of further arguments as text if there
    are any; None where it makes none."""
    names = {**NAMES, "x": Tensor(np.ones((2, 3), np.float32))}
    for shown in doctest.DocTestParser().get_examples(inspect.getdoc(cls) or ""):
        tree = ast.parse(shown.source.replace("from mindspore ", "from msnb "))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == cls.__name__:
                node.keywords += [ast.keyword(name, ast.parse(text, mode="eval").body) for name, text in more.items()]
                return eval(ast.unparse(node), names)
        exec(compile(tree, cls.__name__, "exec"), names)
    return None


def layers():
    wrappers = ("msnb.nn.optim", "msnb.nn.wrap")
    classes = {v.__name__: v for v in vars(nn).values() if isinstance(v, type) and issubclass(v, nn.Cell)}
    return [classes[n] for n in sorted(classes) if not classes[n].__module__.startswith(wrappers)]


def test_there_are_layers_and_their_documentation_makes_them():
    assert len(layers()) > 100
    assert {cls.__name__ for cls in layers() if example(cls) is None} == UNMADE


SHARES = pytest.mark.parametrize(
    "shapes", [EXTREME, pytest.param(SHAPES[len(EXTREME) :], marks=pytest.mark.slow)], ids=["extreme", "others"]
)


@SHARES
@pytest.mark.parametrize(
    "cls", [c for c in layers() if c.__name__ not in UNMADE | NOT_CALLED], ids=lambda c: c.__name__
)
def test_a_layer_takes_any_rank_or_says_what_it_takes(cls, shapes):
    context.set_context(mode=context.PYNATIVE_MODE)
    net = example(cls)
    required = [p for p in inspect.signature(net.construct).parameters.values() if p.default is p.empty]
    count = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in required)

    def run(*arrays):
        with trace_state.TraceFrame() as frame:
            frame.trace.number = 0
            return _arrays(net._run_with_precision_and_hooks(tuple(map(box, arrays)), {}))

    for shape in shapes:
        try:
            jax.eval_shape(run, *[np.ones(shape, np.float32)] * count)
        except Exception as error:
            assert str(error).startswith(("For '", "for '", "The graph takes")), (shape, repr(error))


NO_PARAMETERS = {"Dropout", "Embedding", "LSTMCell", "OneHot"}  # what they call dtype is something else


@pytest.mark.parametrize(
    "cls",
    [c for c in layers() if c.__name__ not in NO_PARAMETERS and "dtype" in inspect.signature(c).parameters],
    ids=lambda c: c.__name__,
)
def test_a_dtype_is_that_of_all_parameters(cls):
    results = {p.dtype for p in example(cls, dtype="mindspore.float16").get_parameters()}
    assert results == {msnb.float16}


def _arrays(out):
    return [v._array for v in (out if isinstance(out, tuple) else (out,)) if isinstance(v, Tensor)]


def public_operators():
    operators = {op.name: op for op in REGISTRY.values() if isinstance(op, Operator)}
    return [operators[n] for n in sorted(operators) if not operators[n].primitive.__name__.startswith("_")]


def call(op, array):
    """Call an operator with the same Tensor for each of its inputs."""
    attributes = {k: kind.example for k, (kind, default) in op.attributes.items() if default is _ABSENT}
    x = box(array)
    inputs = [(x, x) if i.many else x if i.kind is None else i.kind.example for i in op.inputs if i.default is _ABSENT]
    with trace_state.TraceFrame() as frame:
        frame.trace.number = 0
        return _arrays(op.primitive(**attributes)(*inputs))


def foreign(calls):
    """Return (operator, shape, error) of calls, pairs of an operator and a shape, that end in Python's or JAX's
    words."""
    wrong = []
    for op, shape in calls:
        try:
            jax.eval_shape(functools.partial(call, op), np.ones(shape, np.float32))
        except Exception as error:
            said = str(error)
            own = said.startswith(("For '", "for '")) and type(error) is not IndexError
            if not own or "unpack" in said or "tuple index" in said:
                wrong.append((op.name, shape, repr(error)))
    return wrong


# Operators take turns with the extreme shapes here; tests/ops/test_shape_rules.py has the rows of each of them with an
# axis more, an axis less, no dimension and no rows for one Tensor beside others that fit.
CALLS = [(op, shape) for op in public_operators() for shape in SHAPES]
BY_TURNS = [(op, EXTREME[turn % len(EXTREME)]) for turn, op in enumerate(public_operators())]


@pytest.mark.parametrize("part", range(2))
def test_an_operator_takes_any_rank_or_says_so_itself(part):
    assert foreign(BY_TURNS[part::2]) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_an_operator_takes_every_one_of_these_shapes_or_says_so_itself(part):
    assert foreign(CALLS[part::8]) == []


def test_what_python_says_of_shapes_is_said_in_words():
    x = Tensor(np.ones((2, 3), np.float32))
    for error in (
        IndexError("tuple index out of range"),
        ValueError("not enough values to unpack (expected 4, got 2)"),
    ):
        message = explain_kernel_error(error, "Some", [x])
        assert type(message) is ValueError
        assert (
            str(message)
            == "For 'Some', the inputs (Tensor[Float32](2, 3)) do not fit: one of them has too few dimensions."
        )
