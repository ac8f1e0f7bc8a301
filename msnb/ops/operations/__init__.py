"""A face: the class of every declared operator, as `mindspore.ops.operations`."""

from msnb.core.operator import REGISTRY

_PUBLIC = {name: op.primitive for name, op in REGISTRY.items() if not name.startswith("_")}
globals().update(_PUBLIC)
__all__ = sorted(_PUBLIC)
