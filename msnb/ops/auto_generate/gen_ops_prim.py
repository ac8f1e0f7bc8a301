"""Re-export module of operators and functions at MindSpore 2's path `mindspore.ops.auto_generate.gen_ops_prim`."""

from msnb.mint._generated import list_classes, list_instances
from msnb.ops import auto_generate
from msnb.ops._refused_operators import list_refused
from msnb.ops.auto_generate import *  # noqa: F403
from msnb.ops.auto_generate import __getattr__ as __getattr__

# libraries import them by a star
__all__ = [*auto_generate.__all__, *list_classes(), *list_instances(), *list_refused()]


def __dir__() -> list[str]:
    return sorted({*auto_generate.__all__, *list_classes(), *list_instances()})
