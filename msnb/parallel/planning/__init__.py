"""Plans for clusters that are not there: strategies, what each sends, computes and keeps, and how long a step takes.

`hardware` is a table of machines, `strategies` has ways to spread a program that have a name, `estimate` says what one
means, `verifying` asks XLA about it in another process, and `plan` puts them side by side.
"""

from msnb.parallel.planning.one_plan import Plan
from msnb.parallel.planning.plan import Plans, plan

__all__ = ["Plan", "Plans", "plan"]
