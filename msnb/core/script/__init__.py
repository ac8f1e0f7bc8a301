"""Source transformation: Python control flow over Tensors becomes graph control flow.

`source` finds the syntax tree of a function. `jump_flags` and `lower` rewrite it, and `convert_function` compiles
it. The rewritten code calls `runtime` and `loops`. `checkpointed_while` differentiates a loop with unknown trip
count. `guards` records the Python values that a trace has read.
"""

from msnb.core.script import runtime as _runtime  # registers itself with `convert_function`
from msnb.core.script.calls import call
from msnb.core.script.guards import collecting

__all__ = ["call", "collecting"]
