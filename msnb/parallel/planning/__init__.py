"""Plans for clusters that are not available: shardings, communication, computation, memory and step time of a program.

`hardware` is a table of machines, `strategies` contains the named strategies, `estimate` predicts their costs,
`verify` compiles them in another process, and `plan` compares them.
"""

from msnb.parallel.planning.compare_plans import Plans, plan
from msnb.parallel.planning.plan_result import Plan

__all__ = ["Plan", "Plans", "plan"]
