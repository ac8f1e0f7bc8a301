"""`mindspore.scipy.optimize`: minima of functions of Tensors, line searches and assignments, computed by SciPy.

The functions run on the host. Inside a graph they raise an error.
"""

from msnb.scipy.optimize.line_search import line_search
from msnb.scipy.optimize.linear_sum_assignment import linear_sum_assignment
from msnb.scipy.optimize.minimize import minimize

__all__ = ["line_search", "linear_sum_assignment", "minimize"]
