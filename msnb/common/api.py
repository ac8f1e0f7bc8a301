"""A face: compiled functions."""
from msnb.core.api import jit, ms_function

__all__ = ["jit", "ms_function"]


class _Executor:
    """What r1.1 code reaches for to compile a Cell without running it."""

    @staticmethod
    def compile(obj, *args, phase="predict", do_convert=True, auto_parallel_mode=False):
        """Trace the graph of `obj` for these inputs; returns (phase, whether it was compiled)."""
        obj.compile(*args)
        return phase, True


_executor = _Executor()
