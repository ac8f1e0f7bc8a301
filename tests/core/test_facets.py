"""Tables of what a floor knows of operators."""

import gc

import pytest

from msnb import ops
from msnb.core.operator.operator_types import REGISTRY
from msnb.core.operator.rule_table import MissingRule, RuleTable
from msnb.core.operator.user_primitive import PrimitiveWithInfer
from msnb.ir.cost import FLOPS
from msnb.ops import operations as P


@pytest.fixture
def rules():
    table = RuleTable("a sharding rule", "Write @rules.register(ops.{name}).")
    table.register(P.ReLU, P.MatMul)("rule")
    return table


def test_an_entry_is_selected_by_class_instance_and_operator_with_or_without_strategy(rules):
    marked = P.MatMul(True).shard(((1, 1), (1, 1)))
    for thing in (P.MatMul, P.MatMul(), REGISTRY["MatMul"], marked, marked._operator):
        assert rules[thing] == "rule" and thing in rules
    assert rules.named("MatMul") == "rule"
    assert rules.named("Softmax") is None and rules.named("no operator") is None


def test_a_missing_entry_says_operator_what_is_missing_and_what_to_do(rules):
    with pytest.raises(MissingRule) as error:
        rules[P.Softmax(0)]
    assert str(error.value) == "For 'Softmax', there is no sharding rule. Write @rules.register(ops.Softmax)."
    assert rules.get(P.Softmax, "none") == "none"


def test_a_name_is_no_operator(rules):
    with pytest.raises(TypeError, match="should be given as itself"):
        rules["Softmax"]


def test_an_operator_has_one_entry(rules):
    with pytest.raises(ValueError, match="'ReLU' has a sharding rule already"):
        rules.register(P.ReLU)("another")


def test_coverage_lists_the_operators_with_and_without_an_entry(rules):
    known, missing = rules.coverage([P.ReLU, P.Softmax, P.Abs])
    assert (known, missing) == (["ReLU"], ["Abs", "Softmax"])
    all_operators = rules.coverage()
    assert all_operators.present == ["MatMul", "ReLU"]
    assert len(all_operators.missing) == len({op.name for op in REGISTRY.values()}) - 2
    assert str(all_operators).startswith(
        f"2 of {len(all_operators.missing) + 2} operators; missing: {all_operators.missing[0]}, "
    )


def test_an_operator_of_a_user_has_an_entry_that_goes_with_it(rules):
    class Mine(PrimitiveWithInfer):
        """A user's."""

    rules.register(Mine)("own")
    assert rules[Mine("mine")] == "own" and len(rules) == 3
    del Mine
    gc.collect()
    assert len(rules) == 2


def test_primitives_of_jax_are_distinguished_by_name():
    assert FLOPS["dot_general"] is not FLOPS["reshape"]
    with pytest.raises(MissingRule, match="For 'sin', there is no count of operations"):
        FLOPS["sin"]
    assert ops.ReLU is P.ReLU
