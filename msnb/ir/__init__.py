"""What a program is: its graph as MindSpore shows it, read from the jaxpr that JAX compiles.

``text``, ``dot``, ``svg`` and ``graph`` take a Cell or a function and its inputs; ``read`` takes a jaxpr.
"""
from .anf import AnfNode, CNode, FuncGraph, ParameterNode, TensorType, ValueNode
from .api import dot, graph, svg, text
from .read import read

__all__ = ["AnfNode", "CNode", "FuncGraph", "ParameterNode", "TensorType", "ValueNode", "dot", "graph", "read", "svg",
           "text"]
