"""Graph of a program as MindSpore shows it, read from the jaxpr that JAX compiles.

``text``, ``dot``, ``svg`` and ``graph`` take a Cell or a function and its inputs; ``read`` takes a jaxpr.
"""

from .anf import AnfNode, CNode, FuncGraph, ParameterNode, TensorType, ValueNode
from .api import dot, graph, svg, text
from .compare import Comparison, compare
from .hlo import read_hlo
from .read import read
from .stablehlo import read_stablehlo

__all__ = [
    "AnfNode",
    "CNode",
    "Comparison",
    "FuncGraph",
    "ParameterNode",
    "TensorType",
    "ValueNode",
    "compare",
    "dot",
    "graph",
    "read",
    "read_hlo",
    "read_stablehlo",
    "svg",
    "text",
]
