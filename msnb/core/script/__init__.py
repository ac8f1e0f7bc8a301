"""Source transformation: Python control flow over Tensors becomes graph control flow.

`source` finds the AST of a function, `jumps` and `lower` rewrite it, `convert` makes a function of it again, `runtime`
and `loops` are what the rewritten code calls, `while_grad` differentiates a loop whose trip count is not known, `reads`
remembers which Python values the graph was built from.
"""

from msnb.core.script import runtime as _runtime  # it says to `convert` that it is there
from msnb.core.script.calls import call
from msnb.core.script.guards import collecting

__all__ = ["call", "collecting"]
