"""Settings of MindSpore's operator execution. XLA has no such settings; a message says so once."""

from typing import Annotated, Any

from msnb import context, log
from msnb.common.kinds import Bool, OneOf, PositiveInt, checked

__all__ = ["launch_blocking", "dispatch_threads_num", "set_cpu_affinity", "set_kernel_launch_group"]


def launch_blocking() -> None:
    """Wait for each operator: `set_context(pynative_synchronize=True)`. Errors are raised at the call that causes
    them.
    """
    context.set_context(pynative_synchronize=True)


@checked
def dispatch_threads_num(threads_num: PositiveInt) -> None:
    """Set the number of threads that start operators: `set_context(runtime_num_threads=...)`. It has no effect: XLA
    decides.

    Args:
        threads_num (int): Number of threads.

    Raises:
        TypeError: If it is not an int.
        ValueError: If it is not positive.
    """
    context.set_context(runtime_num_threads=threads_num)


@checked
def set_cpu_affinity(
    enable_affinity: Bool,
    affinity_cpu_list: dict[str, Any] | None = None,
    module_to_cpu_dict: dict[str, Any] | None = None,
    bind_file: str | None = None,
) -> None:
    """Set the cores of threads. It has no effect: the operating system decides, or `taskset` before Python starts.

    Args:
        enable_affinity (bool): Enable the setting.
        affinity_cpu_list (dict): Cores for each device. Default: None.
        module_to_cpu_dict (dict): Cores for each part of MindSpore. Default: None.
        bind_file (str): A file with such cores. Default: None.

    Raises:
        TypeError: If `enable_affinity` is not a bool.
    """
    log.unused(
        "set_cpu_affinity",
        "start Python under taskset to choose its cores",
        enable_affinity=enable_affinity,
        affinity_cpu_list=affinity_cpu_list is not None,
        module_to_cpu_dict=module_to_cpu_dict is not None,
        bind_file=bind_file is not None,
    )


@checked
def set_kernel_launch_group(
    thread_num: Annotated[int, OneOf(2, otherwise="XLA runs a program whole")] = 2,
    kernel_group_num: Annotated[int, OneOf(8, otherwise="XLA runs a program whole")] = 8,
) -> None:
    """Set the number of groups in which operators are started. It has no effect: XLA runs a program as one.

    Args:
        thread_num (int): Threads. Default: 2.
        kernel_group_num (int): Groups. Default: 8.

    Raises:
        TypeError: If one is not an int.
    """
