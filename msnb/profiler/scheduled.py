"""`profile`: a profile of selected steps, which is passed to a function when it is complete."""

from collections.abc import Callable, Iterable
from typing import Any

from msnb import log
from msnb.common.arguments import answered
from msnb.profiler.profiling import Profiler
from msnb.profiler.schedule import ProfilerAction

__all__ = ["profile", "tensorboard_trace_handler", "mstx"]

_ALL = "everything there is is measured"


class profile(Profiler):
    """
    A `Profiler` that measures the steps that a schedule selects. `step()` is called between them.

    Args:
        activities (Iterable[ProfilerActivity]): Devices that MindSpore measures; no effect. Default: None.
        with_stack (bool): No effect, lines are always known. Default: False.
        profile_memory (bool): No effect, memory is always measured. Default: False.
        data_process (bool): No effect, the dataset is always measured. Default: False.
        parallel_strategy (bool): No effect. Default: False.
        start_profile (bool): True to begin at construction; otherwise call `start`. Default: True.
        hbm_ddr (bool): No effect. Default: False.
        pcie (bool): No effect. Default: False.
        sync_enable (bool): No effect. Default: True.
        record_shapes (bool): No effect, shapes are always known. Default: False.
        schedule (Callable): Maps the number of a step to its action, see `schedule`. Default: None, all steps are
            measured.
        on_trace_ready (Callable): Called with this object after the last step of a round, and at the end. Default:
            None.
        experimental_config (object): No effect. Default: None.

    Examples:
        >>> from mindspore import profiler
        >>> net, x, rounds = nn.Dense(3, 4), Tensor(np.ones((2, 3), np.float32)), []
        >>> plan = profiler.schedule(wait=1, active=2, repeat=1)
        >>> with profiler.profile(schedule=plan, on_trace_ready=rounds.append) as profile:
        ...     for _ in range(5):
        ...         y = net(x)
        ...         profile.step()
        >>> len(rounds)
        1
    """

    @answered
    def __init__(
        self,
        activities: Iterable[Any] | None = None,
        with_stack: bool = False,
        profile_memory: bool = False,
        data_process: bool = False,
        parallel_strategy: bool = False,
        start_profile: bool = True,
        hbm_ddr: bool = False,
        pcie: bool = False,
        sync_enable: bool = True,
        record_shapes: bool = False,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        experimental_config: object = None,
    ) -> None:
        log.unused(
            "profile",
            _ALL,
            activities=activities is not None,
            with_stack=with_stack,
            profile_memory=profile_memory,
            data_process=data_process,
            parallel_strategy=parallel_strategy,
            hbm_ddr=hbm_ddr,
            pcie=pcie,
            sync_enable=not sync_enable,
            record_shapes=record_shapes,
            experimental_config=experimental_config is not None,
        )
        super().__init__(start_profile=start_profile, schedule=schedule, on_trace_ready=on_trace_ready)


def tensorboard_trace_handler(
    dir_name: str | None = None, worker_name: str | None = None, analyse_flag: bool = True, async_mode: bool = False
) -> Callable[[Any], None]:
    """
    Return a function that writes each profile into a folder, as `Profiler(output_path=...)` does.

    Args:
        dir_name (str): The folder. Default: None, "./data".
        worker_name (str): No effect: there is one process. Default: None.
        analyse_flag (bool): True to write the profile; False makes the function do nothing. Default: True.
        async_mode (bool): No effect: writing is synchronous. Default: False.

    Returns:
        Callable, for `on_trace_ready`.
    """
    log.unused(
        "tensorboard_trace_handler",
        "one process writes, and the files are there when it has",
        worker_name=worker_name is not None,
        async_mode=async_mode,
    )

    def write(profiler):
        profiler.output_path = dir_name or "./data"
        if analyse_flag:
            profiler.analyse()

    return write


class mstx:
    """
    Mark points and time spans in a trace of `jax.profiler`.

    Examples:
        >>> from mindspore.profiler import mstx
        >>> number = mstx.range_start("loading")
        >>> mstx.range_end(number)
    """

    _open: dict[int, Any] = {}

    @staticmethod
    def mark(message: str, stream: object = None, domain: str = "default") -> None:
        """
        Mark a point in time.

        Args:
            message (str): Its name.
            stream (object): No effect: there is one stream. Default: None.
            domain (str): Prefix of the name, unless it is "default". Default: "default".
        """
        mstx.range_end(mstx.range_start(message, stream, domain))

    @staticmethod
    def range_start(message: str, stream: object = None, domain: str = "default") -> int:
        """
        Begin a time span.

        Args:
            message (str): Its name.
            stream (object): No effect: there is one stream. Default: None.
            domain (str): Prefix of the name, unless it is "default". Default: "default".

        Returns:
            int, for `range_end`.
        """
        from jax.profiler import TraceAnnotation  # lazy: only programs with marks need it

        log.unused("mstx", "a device has one stream here", stream=stream is not None)
        stretch = TraceAnnotation(message if domain == "default" else f"{domain}: {message}")
        stretch.__enter__()
        number = max(mstx._open, default=0) + 1
        mstx._open[number] = stretch
        return number

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """
        End a time span.

        Args:
            range_id (int): The result of `range_start`.
            domain (str): No effect: the domain of `range_start` is used. Default: "default".
        """
        log.unused("mstx.range_end", "the number says which stretch ends", domain=domain != "default")
        stretch = mstx._open.pop(range_id, None)
        if stretch is not None:
            stretch.__exit__(None, None, None)
