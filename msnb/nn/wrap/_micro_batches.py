"""Micro-batches: networks that process a batch in equal parts."""

from typing import Annotated, Any

from msnb import context, log
from msnb.common.kinds import Instance, Optional, PositiveInt, checked
from msnb.core.state import trace_state
from msnb.core.tensor.parameter import ParameterTuple
from msnb.core.transforms.differentiate import Gradient
from msnb.nn._cell import pipeline
from msnb.nn.cell import Cell

__all__ = ["ForwardValueAndGrad", "GradAccumulationCell", "MicroBatchInterleaved", "PipelineCell"]


_thread = trace_state.thread
_CONFIG = Optional(Instance(dict))


class _MicroBatched(Cell):
    """Base class of Cells that run a network on micro-batches and sum its results."""

    _holds = "network"

    def __init__(self, network: Cell, parts: int) -> None:
        super().__init__(auto_prefix=False)
        self.network: Cell = network
        self._in_parts: int = parts

    def _sum_over_micro_batches(self, inputs):
        total: Any = None
        for number in range(self._in_parts):
            output = self.network(*(self._select_micro_batch(value, number) for value in inputs))
            total = output if total is None else total + output
        return total

    def _select_micro_batch(self, value, number):
        return pipeline.part(value, self._in_parts, number, self.cls_name)

    def _split_into_micro_batches(self, inputs):
        return [
            tuple([self._select_micro_batch(value, number) for value in inputs]) for number in range(self._in_parts)
        ]


class _MicroBatch(Cell):
    """Return one of `micro_size` equal parts of each input: part `number`."""

    def __init__(self, micro_size: int) -> None:
        super().__init__()
        self.micro_size: int = micro_size

    def construct(self, number, *inputs):
        return tuple([pipeline.part(value, self.micro_size, number, self.cls_name) for value in inputs])


class GradAccumulationCell(_MicroBatched):
    """
    Run a network on equal parts of a batch, and return the sum of the losses. The gradients of the parts are summed
    too.

    Args:
        network (Cell): The network, which returns its loss.
        micro_size (int): Number of parts.

    Inputs:
        - ***inputs** (Tensor) - A batch, whose first axis `micro_size` divides.

    Outputs:
        Tensor, the sum of the losses.

    Raises:
        TypeError: If `network` is no Cell, or `micro_size` is no int.
        ValueError: If `micro_size` is not positive.

    Examples:
        >>> loss = nn.GradAccumulationCell(nn.WithLossCell(Net(), nn.MSELoss()), 2)
    """

    @checked
    def __init__(self, network: Annotated[Cell, Instance(Cell)], micro_size: PositiveInt) -> None:
        super().__init__(network, micro_size)
        self.micro_size: int = micro_size

    def construct(self, *inputs: Any) -> Any:
        return self._sum_over_micro_batches(inputs)


class PipelineCell(_MicroBatched):
    """
    Run a network on micro-batches, and return the sum of its results.

    In GRAPH mode with parallel_mode "semi_auto_parallel" and `pipeline_stages` its equal blocks are stages on
    separate devices: while one stage computes a micro-batch, the previous stage computes the next one. Blocks are the
    equal Cells with a `pipeline_stage`, or the largest group of equal Cells that are children of one Cell. Each takes
    one Tensor, returns one of the same shape, and writes no Parameter; other blocks raise NotImplementedError. All
    devices compute the operators outside the blocks. The devices of one stage each compute some examples of a
    micro-batch. Dropout draws separate masks for each device, block and micro-batch.

    Args:
        network (Cell): The network, which returns its loss.
        micro_size (int): Number of parts.
        stage_config (dict): The `pipeline_stage` of Cells, by name. Default: None.
        segment_config (dict): The segment of Cells, by name. It has no effect. Default: None.

    Inputs:
        - ***inputs** (Tensor) - A batch, whose first axis `micro_size` divides.

    Outputs:
        Tensor, the sum of the losses.

    Raises:
        TypeError: If `network` is no Cell, or `micro_size` is no int.
        ValueError: If `micro_size` is not positive.
        KeyError: If `stage_config` names a Cell that does not exist.

    Examples:
        >>> loss = nn.PipelineCell(nn.WithLossCell(Net(), nn.MSELoss()), 2)
    """

    @checked
    def __init__(
        self,
        network: Annotated[Cell, Instance(Cell)],
        micro_size: PositiveInt,
        stage_config: Annotated[dict[str, int] | None, _CONFIG] = None,
        segment_config: Annotated[dict[str, int] | None, _CONFIG] = None,
    ) -> None:
        super().__init__(network, micro_size)
        self.micro_size: int = micro_size
        stages = stage_config or {}
        cells = dict(network.cells_and_names()) if stages else {}
        if missing := sorted(set(stages) - set(cells)):
            raise KeyError(
                f"For 'PipelineCell', 'stage_config' names Cells that the network does not have, {missing}; it has "
                f"{', '.join(filter(None, cells))}."
            )
        for name, stage in stages.items():
            cells[name].pipeline_stage = stage
        settings = context._parallel.values
        if settings.pipeline_stages > 1 and settings.parallel_mode == context.ParallelMode.STAND_ALONE:
            log.once(
                f"pipeline_stages={settings.pipeline_stages} has no effect in parallel_mode 'stand_alone': "
                f"'semi_auto_parallel' has stages."
            )
        log.unused("PipelineCell", "a stage is one segment", segment_config=segment_config)

    def construct(self, *inputs: Any) -> Any:
        if _thread.spread is not None and _thread.spread.stages > 1:
            return pipeline.run(self.network, self._split_into_micro_batches(inputs))
        return self._sum_over_micro_batches(inputs)


class MicroBatchInterleaved(_MicroBatched):
    """
    Run a network on micro-batches, and return the mean of its results.

    Args:
        network (Cell): The network, which returns its loss.
        interleave_num (int): Number of parts. Default: 2.

    Inputs:
        - ***inputs** (Tensor) - A batch, whose first axis `interleave_num` divides.

    Outputs:
        Tensor, the mean of the losses.

    Raises:
        TypeError: If `network` is no Cell, or `interleave_num` is no int.
        ValueError: If `interleave_num` is not positive.

    Examples:
        >>> loss = nn.MicroBatchInterleaved(nn.WithLossCell(Net(), nn.MSELoss()), 2)
    """

    @checked
    def __init__(self, network: Annotated[Cell, Instance(Cell)], interleave_num: PositiveInt = 2) -> None:
        super().__init__(network, interleave_num)
        self.interleave_num: int = interleave_num

    def construct(self, *inputs: Any) -> Any:
        return self._sum_over_micro_batches(inputs) / self.interleave_num


class ForwardValueAndGrad(Cell):
    """
    Return the output of a network and its gradients, from one run.

    Args:
        network (Union[Cell, Callable]): The network.
        weights (Union[ParameterTuple, list]): Parameters to differentiate with respect to. Default: None.
        get_all (bool): Whether to differentiate with respect to all inputs instead of the first. Default: False.
        get_by_list (bool): Whether to differentiate with respect to `weights`: only these, or with `get_all` also all
            inputs. Default: False.
        sens_param (bool): Whether the last input is the cotangent of the output; otherwise the cotangent is ones.
            Default: False.

    Inputs:
        - ***inputs** (Tensor) - Inputs of the network.

    Outputs:
        tuple (output, gradients), where the gradients have the structure that `ops.GradOperation` returns.

    Raises:
        TypeError: If `network` cannot be called, an option is no bool, or `weights` are missing with `get_by_list`.

    Examples:
        >>> net = nn.ForwardValueAndGrad(lambda x: x * x)
        >>> print(*net(Tensor(3.0)))
        9.0 6.0
    """

    @checked
    def __init__(
        self,
        network: Any,
        weights: Any = None,
        get_all: Annotated[bool, Instance(bool)] = False,
        get_by_list: Annotated[bool, Instance(bool)] = False,
        sens_param: Annotated[bool, Instance(bool)] = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        if not callable(network):
            raise TypeError(f"For 'ForwardValueAndGrad', 'network' should be a Cell or function, but got {network!r}.")
        if get_by_list and not isinstance(weights, (tuple, list)):
            raise TypeError(f"For 'ForwardValueAndGrad', 'weights' should be Parameters, but got {weights!r}.")
        self.network: Any = network
        if isinstance(network, Cell):
            network.set_grad()
        self.weights: Any = ParameterTuple(weights) if get_by_list else None
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param

    def construct(self, *inputs: Any) -> tuple[Any, Any]:
        sens = inputs[-1] if self.sens_param else None
        inputs = inputs[:-1] if self.sens_param else inputs
        positions = None if self.get_all else (() if self.get_by_list else (0,))
        value, of_inputs, of_weights = Gradient(self.network, positions, self.weights)(inputs, sens=sens)
        if self.get_all and self.get_by_list:
            return value, (of_inputs, of_weights)
        return value, of_weights if self.get_by_list else of_inputs if self.get_all else of_inputs[0]
