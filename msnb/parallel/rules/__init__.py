"""What a strategy may cut of each operator, and what of its outputs is cut with it: sharding rules.

A rule gives each axis of each input and output a letter. Axes of one letter are cut alike; a letter of the inputs
that no output has is summed over, which the devices then do together.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msnb.core.facets import Facet, MissingEntry

rules: Facet = Facet("a sharding rule", "Leave its strategy out: it is then spread as its neighbours are.")


class Rule(NamedTuple):
    """How the axes of one call hang together.

    Attributes:
        inputs (list[str]): One letter for each axis of each input; "." for an axis that stays whole.
        outputs (list[str]): The same for the outputs.
        whole (str): Letters that are not to be cut. Default: none.
        said (dict): {number of an input: (letters, shape)} where MindSpore's strategy speaks of other axes than those
            of the input. Default: none.
    """

    inputs: Sequence[str]
    outputs: Sequence[str]
    whole: str = ""
    said: dict[int, tuple[str, tuple[int, ...]]] = {}


class Call(NamedTuple):
    """One call of an operator, as a rule sees it.

    Attributes:
        operator (str): Its name.
        settings (dict): Attributes and static inputs in normal form.
        shapes (list[tuple]): Of the arrays that it was given, numbers as () among them.
    """

    operator: str
    settings: dict[str, Any]
    shapes: list[tuple[int, ...]]


def rule_of(call: Call) -> Rule:
    """The rule for a call.

    Raises:
        MissingEntry: If there is none for the operator.
    """
    rule = rules.named(call.operator)
    if rule is None:
        raise MissingEntry(f"For '{call.operator}', there is no sharding rule. {rules.remedy}")
    return rule(call)
