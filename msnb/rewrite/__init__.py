"""MindSpore's rewriting of a Cell's source. Programs can import and subclass these names, but using them raises an
error.

A library that imports these names still works, except for the functions that use them.
"""

from msnb._util.placeholders import derivable
from msnb.common.unsupported import REWRITES

_ADVICE = REWRITES.format(name="it")

__all__ = ["Node", "NodeType", "ScopedValue", "SymbolTree", "ValueType"]

Node = derivable("Node", "mindspore.rewrite", _ADVICE)
NodeType = derivable("NodeType", "mindspore.rewrite", _ADVICE)
PatternEngine = derivable("PatternEngine", "mindspore.rewrite", _ADVICE)
PatternNode = derivable("PatternNode", "mindspore.rewrite", _ADVICE)
Replacement = derivable("Replacement", "mindspore.rewrite", _ADVICE)
ScopedValue = derivable("ScopedValue", "mindspore.rewrite", _ADVICE)
SymbolTree = derivable("SymbolTree", "mindspore.rewrite", _ADVICE)
ValueType = derivable("ValueType", "mindspore.rewrite", _ADVICE)
VarNode = derivable("VarNode", "mindspore.rewrite", _ADVICE)

from msnb.rewrite import common as common  # noqa: E402  `mindspore.rewrite.common.namespace` is written without import
