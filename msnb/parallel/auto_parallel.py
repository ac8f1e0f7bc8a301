"""`AutoParallel`: a network with its own parallel settings.

MindSpore 2.5 and later use it in place of ``set_auto_parallel_context``.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from msnb import context, log
from msnb.common.kinds import Bool, Instance, Int, OneOf, PositiveInt, Str, checked
from msnb.core.errors.messages import describe
from msnb.core.state import trace_state
from msnb.nn.cell import Cell
from msnb.parallel._utils import _get_device_num

__all__ = ["AutoParallel"]

_MODES = {
    "semi_auto": {"parallel_mode": "semi_auto_parallel"},
    "sharding_propagation": {"parallel_mode": "auto_parallel", "auto_parallel_search_mode": "sharding_propagation"},
    "recursive_programming": {"parallel_mode": "auto_parallel", "auto_parallel_search_mode": "recursive_programming"},
}
_SCHEDULERS = OneOf("1f1b", "gpipe", "seqpipe", "seqvpp", "seqsmartvpp", "zero_bubble_v")
_GROUPED = "XLA groups communication by itself"
_AS_THEY_ARE = "gradients are summed in the type that they have"
_IN_ONE_FILE = (
    "For 'AutoParallel', there is no file of operators' strategies alone: {0}_param_strategy_file is of strategies and "
    "of layouts, and 'sharding_propagation' begins from what Primitive.shard says."
)
_GPIPE = "a stage is one segment, the schedule is GPipe's, and all devices have the result"
_NORMS = "msnb.view(...).gradients() and Model.train's summaries show gradients"
_active: list[Any] = []  # networks whose settings are active, the innermost last


class AutoParallel(Cell):
    """Wrap a network, or a function that trains one, so that it is sharded over devices with separate parallel
    settings.

    The settings apply when this Cell is called directly or passed to `Model`. Inside a graph it behaves like `network`.
    The devices are those of ``set_auto_parallel_context(device_num=...)``, or of all processes. With one device nothing
    is sharded.

    Args:
        network (Union[Cell, Callable]): The network or function.
        parallel_mode (str): "semi_auto" uses the strategies of operators. "sharding_propagation" and
            "recursive_programming" search for strategies, starting from those of operators if there are any.
            Default: "semi_auto".

    Inputs:
        - ***inputs** - Those of the network.

    Outputs:
        The outputs of the network.

    Raises:
        TypeError: If `network` cannot be called.
        ValueError: If `parallel_mode` is not one of these.

    Examples:
        >>> from mindspore.parallel.auto_parallel import AutoParallel
        >>> net = AutoParallel(nn.Dense(4, 2), parallel_mode="semi_auto")
        >>> print(net(Tensor(np.ones((8, 4), np.float32))).shape)
        (8, 2)
    """

    @checked
    def __init__(self, network: Any, parallel_mode: Annotated[str, OneOf(*_MODES)] = "semi_auto") -> None:
        super().__init__(auto_prefix=False)
        if not callable(network):
            raise TypeError(
                f"For 'AutoParallel', 'network' should be a Cell or a function, but got {describe(network)}."
            )
        self.network = network
        self._settings: dict[str, Any] = dict(_MODES[parallel_mode])

    def construct(self, *inputs: Any) -> Any:
        return self.network(*inputs)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        if trace_state.thread.frame is not None:
            return super().__call__(*inputs, **named)
        with settings_of(self):
            return super().__call__(*inputs, **named)

    # ------------------------------------------------------------------ files
    @checked
    def load_param_strategy_file(self, file_path: Str) -> None:
        """Use the strategies of a file for the operators that read the Parameters named in it.

        Args:
            file_path (str): MindSpore's strategy file.
        """
        self._settings["strategy_ckpt_load_file"] = file_path

    @checked
    def save_param_strategy_file(self, file_path: Str) -> None:
        """Write strategies and layouts to a file whenever a program is compiled.

        Args:
            file_path (str): Path of the file.
        """
        self._settings["strategy_ckpt_save_file"] = file_path

    def disable_strategy_file_only_for_trainable_params(self) -> None:
        """Without effect: strategy files always contain all Parameters."""

    @checked
    def load_operator_strategy_file(self, file_path: Str) -> None:
        """Raise NotImplementedError: `load_param_strategy_file` reads strategies and layouts from one file."""
        raise NotImplementedError(_IN_ONE_FILE.format("load"))

    @checked
    def save_operator_strategy_file(self, file_path: Str) -> None:
        """Raise NotImplementedError: `save_param_strategy_file` writes strategies and layouts to one file."""
        raise NotImplementedError(_IN_ONE_FILE.format("save"))

    @checked
    def set_group_ckpt_save_file(self, file_path: Str) -> None:
        """Without effect: every checkpoint contains full Parameters.

        Args:
            file_path (str): Where MindSpore writes the groups of devices with equal slices.
        """
        log.unused("AutoParallel", "save_checkpoint writes whole Parameters", set_group_ckpt_save_file=True)

    # ------------------------------------------------------------------ arguments, optimizer, stages
    def dataset_strategy(self, config: Any) -> None:
        """Set how each argument is sharded over devices.

        Args:
            config (Union[str, tuple]): "data_parallel" splits the batch axis; "full_batch" replicates; or for each
                argument a tuple with the number of shards along each of its axes.

        Raises:
            TypeError: If it is neither a string nor a tuple of tuples.
            ValueError: If it is another string.
        """
        self._settings.update(context._parallel.check({"dataset_strategy": config}))

    @checked
    def hsdp(
        self,
        shard_size: Annotated[int, Int] = -1,
        threshold: Annotated[int, Int] = 64,
        optimizer_level: Annotated[str, OneOf("level1", "level2", "level3")] = "level1",
    ) -> None:
        """Shard the optimizer's state over the devices that have the same Parameter.

        Args:
            shard_size (int): Number of devices to shard over. Without effect: all devices are always used. Default: -1,
                all.
            threshold (int): KiB below which nothing is sharded. Without effect: everything divisible is sharded.
                Default: 64.
            optimizer_level (str): "level1". XLA decides the sharding of gradients and weights, which "level2" and
                "level3" request. Default: "level1".

        Raises:
            ValueError: If `shard_size` is neither positive nor -1, or `threshold` negative.
        """
        if shard_size < 1 and shard_size != -1:
            raise ValueError(f"For 'AutoParallel.hsdp', 'shard_size' should be positive or -1, but got {shard_size}.")
        if threshold < 0:
            raise ValueError(f"For 'AutoParallel.hsdp', 'threshold' should not be negative, but got {threshold}.")
        log.unused(
            "AutoParallel.hsdp",
            "all that can be cut is, over all",
            shard_size=shard_size != -1,
            threshold=threshold != 64,
            optimizer_level=optimizer_level != "level1",
        )
        self._settings["enable_parallel_optimizer"] = True

    @checked
    def pipeline(
        self,
        stages: PositiveInt = 1,
        output_broadcast: Bool = False,
        interleave: Bool = False,
        scheduler: Annotated[str, _SCHEDULERS] = "1f1b",
    ) -> None:
        """Divide a network of equal blocks into stages, see `nn.PipelineCell`.

        Args:
            stages (int): Number of stages. Default: 1.
            output_broadcast (bool): Without effect: all devices have the result. Default: False.
            interleave (bool): Without effect: a stage is one segment. Default: False.
            scheduler (str): Without effect: the schedule is GPipe's, which gives the same numbers. Default: "1f1b".
        """
        log.unused(
            "AutoParallel.pipeline",
            _GPIPE,
            interleave=interleave,
            output_broadcast=output_broadcast,
            scheduler=scheduler not in ("1f1b", "gpipe"),
        )
        self._settings["pipeline_stages"] = stages

    def get_pipeline_stages(self) -> int:
        """Return the number of stages."""
        return self._settings.get("pipeline_stages", 1)

    # ------------------------------------------------------------------ gradients and communication
    def enable_gradients_mean(self) -> None:
        """Average the gradients of devices instead of adding them, in modes in which each device computes a separate
        loss.
        """
        self._settings["gradients_mean"] = True

    def disable_gradient_fp32_sync(self) -> None:
        """Without effect: gradients are summed in their own type."""
        log.unused("AutoParallel", _AS_THEY_ARE, disable_gradient_fp32_sync=True)

    def enable_fp32_communication(self) -> None:
        """Without effect: gradients are summed in their own type."""
        log.unused("AutoParallel", _AS_THEY_ARE, enable_fp32_communication=True)

    def disable_loss_repeated_mean(self) -> None:
        """Without effect: a loss is computed once."""
        log.unused("AutoParallel", "a loss is computed once", disable_loss_repeated_mean=True)

    @checked
    def comm_fusion(self, config: Annotated[dict[str, Any], Instance(dict)]) -> None:
        """Without effect: XLA groups communication.

        Args:
            config (dict): MindSpore's settings for the groups.
        """
        log.unused("AutoParallel", _GROUPED, comm_fusion=True)

    def transformer_opt(self, file_path: str | None) -> None:
        """Without effect: MindSpore tunes the schedule of Ascend chips by this file.

        Args:
            file_path (str): A file of settings.
        """
        log.unused("AutoParallel", "it tunes Ascend chips", transformer_opt=file_path is not None)

    def no_init_parameters_in_compile(self) -> None:
        """Without effect: values are initialized when they are first used, see
        `mindspore.nn.utils.no_init_parameters`.
        """

    def print_local_norm(self) -> None:
        """Without effect, see `dump_local_norm`."""
        log.unused("AutoParallel", _NORMS, print_local_norm=True)

    @checked
    def dump_local_norm(self, file_path: Str) -> None:
        """Without effect: the gradient view and summaries show gradients.

        Args:
            file_path (str): Where MindSpore writes norms.
        """
        log.unused("AutoParallel", _NORMS, dump_local_norm=True)

    def enable_device_local_norm(self) -> None:
        """Without effect, see `dump_local_norm`."""
        log.unused("AutoParallel", _NORMS, enable_device_local_norm=True)


@contextlib.contextmanager
def settings_of(network: Any) -> Iterator[None]:
    """Context manager in which the settings of an `AutoParallel` apply. For any other network the context's settings
    apply.

    Args:
        network (Any): The network or function that is called.
    """
    if not isinstance(network, AutoParallel) or network in _active:
        yield
        return
    parallel = context._parallel
    before, assigned = dict(vars(parallel.values)), set(parallel.assigned)
    _active.append(network)
    try:
        context.set_auto_parallel_context(**network._settings)
        if _get_device_num() == 1:
            context.set_auto_parallel_context(parallel_mode=context.ParallelMode.STAND_ALONE, pipeline_stages=1)
        yield
    finally:
        _active.remove(network)
        vars(parallel.values).update(before)
        parallel.assigned.intersection_update(assigned)
        context._notify_parallel_listeners()


def in_own_settings(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method to run with the settings of the object's `_network`."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        with settings_of(self._network):
            return method(self, *args, **kwargs)

    return call
