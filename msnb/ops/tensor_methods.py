"""Methods of Tensor that are functions of networks."""

from msnb.core.declare import spelling
from msnb.core.operator import FUNCTIONAL

for _name in ("topk", "sigmoid", "relu", "tanh"):
    spelling(method=_name)(FUNCTIONAL[_name])
