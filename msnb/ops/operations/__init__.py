"""A face: the class of every declared operator, as `mindspore.ops.operations`."""

from msnb.core.operator import REGISTRY

globals().update({name: op.primitive for name, op in REGISTRY.items()})
__all__ = sorted(REGISTRY)
