"""Sharding rules: the axes of each operator that a strategy may shard, and the sharding of the outputs that follows.

A rule assigns a letter to each axis of each input and output. Axes with the same letter are sharded alike. A letter of
the inputs that no output has is summed over, by an all-reduce of the devices.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msnb.core.operator.rule_table import MissingRule, RuleTable

rules: RuleTable = RuleTable("a sharding rule", "Leave its strategy out: it is then spread as its neighbours are.")


def _accept_any_sharding(shard_counts, devices):
    return ""


class Rule(NamedTuple):
    """Sharding rule of one operator call: axes with the same letter are sharded alike.

    Attributes:
        inputs (list[str]): One letter for each axis of each input; "." for an axis that is not sharded.
        outputs (list[str]): One letter for each axis of each output; None if XLA selects the output's sharding.
        unsharded (str): Letters that must not be sharded. Default: none.
        strategy_axes (dict): {input index: (letters, shape)} where MindSpore's strategy describes other axes than those
            of the input. Default: none.
        num_inputs (int): Number of leading inputs that the strategy describes. Scalars at the end may always be left
            out. Default: None, all.
        min_inputs (int): Smallest number of inputs that the strategy describes; the sharding of the others follows from
            their letters. Default: None, all.
        find_error (Callable): Returns for ({letter: number of shards}, number of devices) an error, as the end of a
            sentence that begins with the strategy, or "". Default: no error.
    """

    inputs: Sequence[str]
    outputs: Sequence[str | None]
    unsharded: str = ""
    strategy_axes: dict[int, tuple[str, tuple[int, ...]]] = {}
    num_inputs: int | None = None
    min_inputs: int | None = None
    find_error: Callable[[dict[str, int], int], str] = _accept_any_sharding


class Call(NamedTuple):
    """A call of an operator, from which its sharding rule is computed.

    Attributes:
        operator (str): Name of the operator.
        settings (dict): Attributes and static inputs in normal form.
        shapes (list[tuple]): Shapes of the array arguments; scalars have ().
    """

    operator: str
    settings: dict[str, Any]
    shapes: list[tuple[int, ...]]


def rule_of(call: Call) -> Rule | None:
    """Return the rule for a call, or None if the operator has none."""
    rule = rules.named(call.operator)
    return None if rule is None else rule(call)


def batch_rule(call: Call, strategy: Sequence[Any]) -> Rule:
    """Return the rule for an operator without a registered one: at most one axis of each input, such as the batch
    axis, is sharded, and all inputs are sharded alike.

    Raises:
        MissingEntry: If the strategy shards other axes.
    """
    sharded_axes = [
        [i for i, count in enumerate(cuts) if count != 1] if isinstance(cuts, tuple) else [] for cuts in strategy
    ]
    if any(len(axes) > 1 for axes in sharded_axes):
        raise MissingRule(
            f"For '{call.operator}', there is no sharding rule: one axis of an input may be cut, and the strategy "
            f"{tuple(strategy)} cuts more. {rules.remedy}"
        )
    letters = [
        "".join("n" if i in axes else "." for i in range(len(shape))) for axes, shape in zip(sharded_axes, call.shapes)
    ]
    return Rule(letters, [])
