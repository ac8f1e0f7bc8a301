"""Re-export module of operators at MindSpore 2's path `mindspore.ops.auto_generate.pyboost_inner_prim`:
`softmax_impl(x, axis)` takes the inputs of `ops.Softmax` and behind them the arguments of its constructor.
"""

from typing import Any

from msnb.common.missing import asked
from msnb.mint._generated import find_class, find_instance

_LETTERS = {"binary_cross_entropy_with_logits": "bce_with_logits_loss"}


def __getattr__(name: str) -> Any:
    if name.endswith("_impl"):
        letters = name[: -len("_impl")]
        value = find_instance(_LETTERS.get(letters, letters))
    else:
        value = find_class(name[len("_Pyboost") : -len("Prim")]) if name.startswith("_Pyboost") else None
    return asked(__name__, name) if value is None else value
