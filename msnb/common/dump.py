"""Re-export module: `set_dump`, the choice of operators for a dump."""

from msnb.insight.dump.targets import set_dump

__all__ = ["set_dump"]
