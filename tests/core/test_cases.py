"""Rows of operators, and the examples that Kinds give them."""

import pytest

from msnb import ops
from msnb.common.kinds import Axis, Between, Bool, Each, Float, Kind, OneOf, PositiveInt
from msnb.core.operator.cases import F16, F, Flags, I, U, Values, Written, case
from msnb.core.operator.operator_types import REGISTRY, Operator


@pytest.mark.parametrize(
    "text", ["F(2, 3)", "F()", "F16(4)", "U(3, low=0.5)", "I(2, high=3, dtype='int8')", "Flags(2)", "Written(F(2))"]
)
def test_a_spec_shows_as_it_is_written(text):
    specs = {"F": F, "F16": F16, "U": U, "I": I, "Flags": Flags, "Written": Written}
    assert repr(eval(text, specs)) == text


def test_values_show_their_type_where_they_name_one():
    assert repr(Values([1, 2])) == "Values([1, 2])" and repr(Values([1], "int64")) == "Values([1], 'int64')"


def test_a_row_is_not_changed_by_what_is_computed_from_it():
    row = case(ops.ReduceSum, F(2, 3), 1, keep_dims=True)
    other = row.within(1e-3).wrt(0, of=1).results(0, 1).without("half", "a reason")
    assert (row.tolerance, row.variables, row.of, row.compared, row.left_out) == (None, None, None, None, {})
    assert (other.tolerance, other.variables, other.of, other.compared) == (1e-3, (0,), 1, (0, 1))
    assert other.left_out == {"half": "a reason"} and other.attributes == {"keep_dims": True}


def test_a_check_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="can do without mindspore, gradient, .* but got 'grad'"):
        case(ops.ReLU).without("grad", "a reason")


@pytest.mark.parametrize(
    "kind, example",
    [
        (Axis, 1),
        (Bool, True),
        (Between(Float, -1, 0, high_in=False), -0.5),
        (Each(PositiveInt, 2), (1, 1)),
        (OneOf("valid", "same"), "valid"),
        (OneOf(0.1, otherwise="a reason", among=Float), 0.1),
    ],
)
def test_a_kind_has_an_example(kind, example):
    kind = kind if isinstance(kind, Kind) else kind.__metadata__[0]
    assert kind.example == example


def test_a_kind_that_accepts_no_plain_value_asks_for_examples():
    def accept(value):
        if value != "north":
            raise ValueError

    with pytest.raises(ValueError, match="Kind\\(a direction\\) accepts no plain value; give it `examples`"):
        Kind("a direction", accept).example  # noqa: B018
    assert Kind("a direction", lambda value: value, examples=("north",)).example == "north"


def test_every_kind_of_an_operator_accepts_its_example():
    operators = [op for op in REGISTRY.values() if isinstance(op, Operator)]
    kinds = [i.kind for op in operators for i in op.inputs if i.kind is not None]
    kinds += [kind for op in operators for kind, _ in op.attributes.values()]
    assert len(kinds) > 500
    for kind in kinds:
        assert kind.accept(kind.example) == kind.example
