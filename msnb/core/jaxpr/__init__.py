"""Transformations and queries of jaxprs: operator names, inlining, instrumentation, fingerprints.

`fingerprint`, `inline_calls`, `instrument`, `partial_trace` and `sown_values` are used as modules.
"""

from msnb.core.jaxpr.guarded_updates import keep_on_error
from msnb.core.jaxpr.inline_calls import PartName
from msnb.core.jaxpr.instrument import TRANSPARENT, Measure
from msnb.core.jaxpr.op_names import GraphName, attributes_of, graph_name, number_names, operator_in

__all__ = [
    "GraphName",
    "Measure",
    "PartName",
    "TRANSPARENT",
    "attributes_of",
    "graph_name",
    "keep_on_error",
    "number_names",
    "operator_in",
]
