"""Get and set parallel settings as r1.1 code does, through one object with a pair of methods per setting.
`msnb.context` stores the settings.
"""

from msnb import context, log
from msnb.common.kinds import Bool, Each, NonNegInt, check

_SETTINGS = context._parallel
_GETTERS = {key: f"get_{key}" for key in _SETTINGS.rows} | {"auto_parallel_search_mode": "get_strategy_search_mode"}


class _AutoParallelContext:
    """Object with the methods ``get_<setting>()``, ``set_<setting>(value)`` and ``get_<setting>_is_set()`` for every
    parallel setting.
    """

    def __init__(self):
        self._sizes, self._fused = {}, False

    def set_all_reduce_fusion_split_indices(self, indices, group=""):
        """Set the ascending Parameter indices at which gradients are grouped for communication."""
        _check_group(group)
        context.set_auto_parallel_context(all_reduce_fusion_config=indices)

    def get_all_reduce_fusion_split_indices(self, group=""):
        """Return the value of :meth:`set_all_reduce_fusion_split_indices`, or an empty list."""
        _check_group(group)
        return list(_SETTINGS.values.all_reduce_fusion_config)

    def set_all_reduce_fusion_split_sizes(self, sizes, group=""):
        """Store the group sizes of gradients in bytes. Without effect: XLA groups communication by itself."""
        _check_group(group)
        check(Each(NonNegInt), sizes, "sizes", "set_all_reduce_fusion_split_sizes")
        log.once("set_all_reduce_fusion_split_sizes has no effect: XLA groups communication by itself.")
        self._sizes[group] = list(sizes)

    def get_all_reduce_fusion_split_sizes(self, group=""):
        """Return the value of :meth:`set_all_reduce_fusion_split_sizes`, or an empty list."""
        _check_group(group)
        return list(self._sizes.get(group, ()))

    def set_enable_all_reduce_fusion(self, enable_all_reduce_fusion):
        """Store whether gradients may be grouped for communication. Without effect: XLA decides it.

        Raises:
            TypeError: If `enable_all_reduce_fusion` is not a bool.
        """
        self._fused = check(Bool, enable_all_reduce_fusion, "enable_all_reduce_fusion", "set_enable_all_reduce_fusion")

    def get_enable_all_reduce_fusion(self):
        """Return the value of :meth:`set_enable_all_reduce_fusion`, or False."""
        return self._fused

    def reset(self):
        """Reset every setting to its default."""
        self._sizes, self._fused = {}, False
        context.reset_auto_parallel_context()


def _check_group(group):
    if not isinstance(group, str):
        raise TypeError(f"The group should be a str, but got {group!r} ({type(group).__name__}).")


def _define_get_set_methods(key, getter):
    def get(self):
        return getattr(_SETTINGS.values, key)

    def set_(self, value):
        context.set_auto_parallel_context(**{key: value})

    def is_set(self):
        return key in _SETTINGS.assigned

    setattr(_AutoParallelContext, getter, get)
    setattr(_AutoParallelContext, f"s{getter[1:]}", set_)
    setattr(_AutoParallelContext, f"{getter}_is_set", is_set)


for _key, _getter in _GETTERS.items():
    _define_get_set_methods(_key, _getter)

_the_context = _AutoParallelContext()


def auto_parallel_context():
    """Return the only `_AutoParallelContext`."""
    return _the_context


_set_auto_parallel_context = context.set_auto_parallel_context
_get_auto_parallel_context = context.get_auto_parallel_context
_reset_auto_parallel_context = context.reset_auto_parallel_context
