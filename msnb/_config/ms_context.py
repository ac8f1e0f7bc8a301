"""`MSContext`: MindSpore's C++ settings, as libraries ask them for Ascend chips and backends."""

import functools

from msnb import log

_POLICIES = ("ge", "vm", "ms", "ge_only", "vm_prior")


class MSContext:
    """Answers of a MindSpore without Ascend chips. `mindspore.get_context` returns settings."""

    @staticmethod
    @functools.cache
    def get_instance() -> "MSContext":
        """Return the only instance."""
        return MSContext()

    def get_ascend_soc_version(self) -> str:
        """Return "", the name of the Ascend chip: there is none."""
        return ""

    def is_ascend_plugin_loaded(self) -> bool:
        """Return False: there is no plugin for Ascend chips."""
        return False

    def get_backend_policy(self) -> str:
        """Return "ms", as MindSpore on a CPU."""
        return "ms"

    def set_backend_policy(self, policy: str) -> bool:
        """Return True if MindSpore has a backend `policy`. XLA compiles all programs."""
        log.unused("MSContext", "XLA compiles all programs", set_backend_policy=policy != "ms")
        return policy in _POLICIES
