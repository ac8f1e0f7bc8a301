"""What a strategy may cut of each operator, and what of its outputs is cut with it: sharding rules.

A rule gives each axis of each input and output a letter. Axes of one letter are cut alike; a letter of the inputs
that no output has is summed over, which the devices then do together.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msnb.core.facets import Facet, MissingEntry

rules: Facet = Facet("a sharding rule", "Leave its strategy out: it is then spread as its neighbours are.")


def _nothing(parts, devices):
    return ""


class Rule(NamedTuple):
    """How the axes of one call hang together.

    Attributes:
        inputs (list[str]): One letter for each axis of each input; "." for an axis that stays whole.
        outputs (list[str]): The same for the outputs; None for one that lies as XLA finds it best.
        whole (str): Letters that are not to be cut. Default: none.
        said (dict): {number of an input: (letters, shape)} where MindSpore's strategy speaks of other axes than those
            of the input. Default: none.
        told (int): Of how many inputs the strategy speaks, the first ones; numbers at the end may be left out in any
            case. Default: None, of all.
        least (int): Of how many inputs it speaks at least, where those behind may be left out: they lie as their
            letters do. Default: None, of all.
        wrong (Callable): From ({letter: parts}, number of devices) to what is wrong with them, as the end of a sentence
            that begins with the strategy; "" where nothing is. Default: nothing is.
    """

    inputs: Sequence[str]
    outputs: Sequence[str | None]
    whole: str = ""
    said: dict[int, tuple[str, tuple[int, ...]]] = {}
    told: int | None = None
    least: int | None = None
    wrong: Callable[[dict[str, int], int], str] = _nothing


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


def rule_of(call: Call) -> Rule | None:
    """The rule for a call, None where the operator has none."""
    rule = rules.named(call.operator)
    return None if rule is None else rule(call)


def by_batch(call: Call, strategy: Sequence[Any]) -> Rule:
    """What holds for an operator of which nothing is known: at most one axis of an input is cut, and those that are
    belong together, as rows of a batch do.

    Raises:
        MissingEntry: If the strategy cuts another way.
    """
    cut = [[i for i, parts in enumerate(cuts) if parts != 1] if isinstance(cuts, tuple) else [] for cuts in strategy]
    if any(len(axes) > 1 for axes in cut):
        raise MissingEntry(
            f"For '{call.operator}', there is no sharding rule: one axis of an input may be cut, and the strategy "
            f"{tuple(strategy)} cuts more. {rules.remedy}"
        )
    letters = ["".join("n" if i in axes else "." for i in range(len(shape))) for axes, shape in zip(cut, call.shapes)]
    return Rule(letters, [])
