"""Functions and methods take the keyword arguments of MindSpore 2.7.1 (tests/golden/names)."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import msnb
from msnb import Tensor, ops
from msnb.core.operator.declare import SPELLINGS

TAKEN = json.loads((Path(__file__).parents[1] / "golden" / "names" / "2.7.1.json").read_text(encoding="utf-8"))
X = Tensor(np.array([[1.0, 4.0], [9.0, 16.0]], np.float32))

# What is not taken, and why.
UNLIKE = {
    "geswitch": "it raises whatever it is given",
    "identity": "r1.1 has a class, which takes it in the call",
}


def taken_by(function, operators):
    """The keywords that a function takes, those that its signature does not show included; None for any."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    found = {p.name for p in parameters} | set(getattr(function, "called", ()))
    for op in [getattr(cls, "operator", None) for cls in operators]:
        if op is not None and getattr(function, "__wrapped__", None) is op.fn:  # a form made of the declaration
            found |= {*op.called, *op.positions, *op.attributes}
    return found


@pytest.mark.parametrize("place", ["ops", "Tensor"])
def test_every_keyword_of_mindspore_2_is_taken(place):
    home, kind = {"ops": (ops, "function"), "Tensor": (Tensor, "method")}[place]
    missing = {}
    for name, arguments in TAKEN[f"mindspore.{place}"].items():
        function = getattr(home, name, None)
        if not callable(function) or inspect.isclass(function) or name in UNLIKE:
            continue
        operators = [o for g in (2, 1) if (kind, name, g) in SPELLINGS for o in SPELLINGS[kind, name, g].operators]
        taken = taken_by(function, operators)
        lost = set() if taken is None else set(arguments.split()) - {"*", "**"} - taken
        if lost:
            missing[name] = sorted(lost)
    assert missing == {}


@pytest.mark.parametrize(
    "call, same",
    [
        (lambda: ops.add(input=X, other=1), lambda: ops.add(X, 1)),
        (lambda: ops.add(x=X, y=1), lambda: ops.add(X, 1)),
        (lambda: X.add(other=1), lambda: ops.add(X, 1)),
        (lambda: ops.Add()(X, other=1), lambda: ops.add(X, 1)),
        (lambda: ops.sqrt(x=X), lambda: ops.sqrt(X)),
        (lambda: ops.zeros((2,), dtype=msnb.int32), lambda: ops.zeros((2,), msnb.int32)),
        (lambda: ops.zeros(size=2, dtype=msnb.int32), lambda: ops.zeros((2,), msnb.int32)),
        (lambda: ops.ones(shape=(2,), type=msnb.int32), lambda: ops.ones((2,), msnb.int32)),
        (lambda: ops.sort(input_x=X, axis=0, descending=True)[0], lambda: ops.sort(X, 0, True)[0]),
        (lambda: ops.true_divide(dividend=X, divisor=2), lambda: X / 2),
    ],
)
def test_a_keyword_of_mindspore_2_means_the_argument_that_it_stands_for(call, same):
    got, want = call(), same()
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.asnumpy(), want.asnumpy())


def test_the_signature_shows_mindspore_2s_names_and_the_documentation_has_them_too():
    assert str(inspect.signature(ops.add)) == "(input, other)"
    assert "**other**" in ops.add.__doc__ and "**y**" not in ops.add.__doc__


def test_an_argument_by_both_of_its_names_is_refused():
    with pytest.raises(TypeError, match="twice"):
        ops.zeros(2, type=msnb.int32, dtype=msnb.int32)
    with pytest.raises(TypeError, match="twice"):
        ops.multinomial(X, inputs=X, input=X, num_sample=1)
    with pytest.raises(TypeError, match="no input 'inptu'"):
        ops.add(X, 1, inptu=X)


def test_what_is_no_tensor_has_no_gradient_among_several():
    def scaled(x, scale, y, keep):
        return (x * scale * y).sum() if keep else x

    of_x, of_y = ops.grad(scaled, (0, 1, 2, 3))(X, 2, X + 1, True)
    np.testing.assert_array_equal(of_x.asnumpy(), 2 * (X + 1).asnumpy())
    np.testing.assert_array_equal(of_y.asnumpy(), 2 * X.asnumpy())
    assert ops.grad(scaled, (0, 1))(X, 2, X, True).shape == X.shape
    ((position, _),) = ops.grad(scaled, (0, 1, 2), return_ids=True)(X, 2, X, True)[1:]
    assert position == 2


def test_a_gradient_comes_with_what_it_is_for():
    weight = msnb.Parameter(Tensor(2.0), name="weight")

    def scaled(x, y):
        return (x * y * weight).sum()

    found = ops.grad(scaled, (0, 1), [weight], return_ids=True)(X, X + 1)
    (first, of_x), (second, of_y) = found[0]
    ((name, of_weight),) = found[1]
    assert (first, second, name) == (0, 1, "weight")
    for identifier, gradient in ((0, of_x), (1, of_y), (weight, of_weight)):
        assert ops.get_grad(found, identifier) is gradient
    value, (position, gradient) = ops.value_and_grad(scaled, 1, return_ids=True)(X, X)
    assert position == 1 and value.shape == ()
    np.testing.assert_array_equal(gradient.asnumpy(), 2 * X.asnumpy())
    with pytest.raises(RuntimeError, match="no gradient for 5"):
        ops.get_grad(found, 5)
    with pytest.raises(TypeError, match="identifier"):
        ops.get_grad(found, "weight")


def test_one_position_and_one_parameter_have_one_gradient_and_no_tuple():
    weight = msnb.Parameter(Tensor(2.0), name="weight")
    of_input, of_weight = ops.grad(lambda x: (x * weight).sum(), (0,), weight)(X)
    assert of_input.shape == X.shape and of_weight.shape == ()
    _, (of_weight,) = ops.grad(lambda x: (x * weight).sum(), 0, [weight])(X)
    assert of_weight.shape == ()


# MindSpore 2.7.1 by keyword: the deviation is of all elements, the variance of a sample's.
@pytest.mark.parametrize(
    ("method", "given", "ddof"),
    [
        ("std", {"dim": 1}, 0),
        ("std", {"dim": 1, "correction": 1, "keepdim": True}, 1),
        ("var", {"dim": 1}, 1),
        ("var", {"dim": 1, "correction": 0, "keepdim": True}, 0),
        ("var", {"axis": 1, "ddof": 0}, 0),
        ("var", {"axis": 1, "keepdims": True}, 0),
    ],
)
def test_a_spread_is_asked_for_by_dimension_as_well_as_by_axis(method, given, ddof):
    keeps = given.get("keepdim", given.get("keepdims", False))
    want = getattr(np, method)(X.asnumpy(), 1, ddof=ddof, keepdims=keeps)
    np.testing.assert_allclose(getattr(X, method)(**given).asnumpy(), want, 1e-6)


# MindSpore 2.7.1 in PYNATIVE mode.
@pytest.mark.parametrize("mode", [msnb.PYNATIVE_MODE, msnb.GRAPH_MODE], ids=["pynative", "graph"])
def test_a_gradient_counts_keyword_arguments_on(mode):
    def product(x, k, w):
        return x * k * w

    msnb.set_context(mode=mode)
    try:
        of_x, of_w = ops.grad(product, (0, 2))(X, k=2.0, w=Tensor(3.0))
        assert of_x.asnumpy().tolist() == [[6.0, 6.0], [6.0, 6.0]] and float(of_w) == 60.0
        assert float(ops.grad(product, 1)(X, k=Tensor(2.0), w=3.0)) == 90.0
        with pytest.raises(IndexError, match="argument 1"):
            ops.grad(product, 1)(X, w=Tensor(3.0), j=2.0)
    finally:
        msnb.set_context(mode=msnb.PYNATIVE_MODE)
