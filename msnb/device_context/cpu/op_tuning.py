"""The number of threads of a CPU."""

from msnb import context
from msnb.common.kinds import PositiveInt, checked

__all__ = ["threads_num"]


@checked
def threads_num(num: PositiveInt) -> None:
    """Set the number of threads: `set_context(runtime_num_threads=num)`. It has no effect: XLA decides.

    Args:
        num (int): Number of threads.

    Raises:
        TypeError: If `num` is not an int.
        ValueError: If `num` is not positive.
    """
    context.set_context(runtime_num_threads=num)
