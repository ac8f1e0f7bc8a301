"""How MindSpore's runtime starts operators; XLA's has no such settings, and says so once."""

from typing import Annotated, Any

from msnb import context, log
from msnb.common.kinds import Bool, OneOf, PositiveInt, checked

__all__ = ["launch_blocking", "dispatch_threads_num", "set_cpu_affinity", "set_kernel_launch_group"]


def launch_blocking() -> None:
    """Wait for each operator: `set_context(pynative_synchronize=True)`. Errors surface where they happen."""
    context.set_context(pynative_synchronize=True)


@checked
def dispatch_threads_num(threads_num: PositiveInt) -> None:
    """
    How many threads start operators: `set_context(runtime_num_threads=...)`, which says that XLA decides.

    Args:
        threads_num (int): The number.

    Raises:
        TypeError: If it is no int.
        ValueError: If it is not positive.
    """
    context.set_context(runtime_num_threads=threads_num)


@checked
def set_cpu_affinity(
    enable_affinity: Bool,
    affinity_cpu_list: dict[str, Any] | None = None,
    module_to_cpu_dict: dict[str, Any] | None = None,
) -> None:
    """
    On which cores threads run: the operating system decides, or `taskset` before Python starts.

    Args:
        enable_affinity (bool): Whether to.
        affinity_cpu_list (dict): Cores for each device. Default: None.
        module_to_cpu_dict (dict): Cores for each part of MindSpore. Default: None.

    Raises:
        TypeError: If `enable_affinity` is no bool.
    """
    log.unused(
        "set_cpu_affinity",
        "start Python under taskset to choose its cores",
        enable_affinity=enable_affinity,
        affinity_cpu_list=affinity_cpu_list is not None,
        module_to_cpu_dict=module_to_cpu_dict is not None,
    )


@checked
def set_kernel_launch_group(
    thread_num: Annotated[int, OneOf(2, otherwise="XLA runs a program whole")] = 2,
    kernel_group_num: Annotated[int, OneOf(8, otherwise="XLA runs a program whole")] = 8,
) -> None:
    """
    In how many groups operators are started: in one, as XLA runs a program whole.

    Args:
        thread_num (int): Threads. Default: 2.
        kernel_group_num (int): Groups. Default: 8.

    Raises:
        TypeError: If one is no int.
    """
