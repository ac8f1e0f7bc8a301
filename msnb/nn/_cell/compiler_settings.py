"""Settings of a Cell for the compiler and for devices: dynamic inputs, pipeline stages, sharding strategies."""

from typing import Any, Self

from msnb import log
from msnb.common.kinds import NonNegInt, check
from msnb.core.errors.messages import describe
from msnb.core.sharding import constraints
from msnb.core.state import trace_state
from msnb.core.tensor.tensor import Tensor


class CompilerSettings:
    """Mixin of `Cell`: settings for MindSpore's compiler. Some have no effect with XLA."""

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Declare the dynamic axes of the inputs. It has no effect: a graph is compiled for each shape.

        Args:
            inputs (Any): Tensors like the inputs, with None in their shape for a dynamic axis.
            kwargs (Any): Such Tensors by name.

        Raises:
            TypeError: If one is no Tensor, and no number, tuple, list, dict or None either.
        """
        for value in (*inputs, *kwargs.values()):
            if not (value is None or isinstance(value, (Tensor, bool, int, float, tuple, list, dict))):
                raise TypeError(f"For 'set_inputs', the inputs should be Tensors, but got {describe(value)}.")
        log.once("Cell.set_inputs has no effect here: a graph is compiled for each shape, and kept.")
        self.__dict__["_dynamic_inputs"] = kwargs or inputs

    def get_inputs(self) -> Any:
        """Return the arguments of `set_inputs`, a tuple or a dict; None before it was called."""
        return self.__dict__.get("_dynamic_inputs")

    @property
    def pipeline_stage(self) -> int | None:
        """The pipeline stage of this Cell, from 0, or None. It has an effect inside `nn.PipelineCell`.

        Raises:
            TypeError: On assignment of anything but an int.
            ValueError: On assignment of a negative int.
        """
        return self.__dict__.get("_pipeline_stage")

    @pipeline_stage.setter
    def pipeline_stage(self, value: int) -> None:
        self.__dict__["_pipeline_stage"] = check(NonNegInt, value, "pipeline_stage", "Cell")
        trace_state.epoch.bump()

    def shard(
        self,
        in_strategy: tuple[tuple[int, ...], ...],
        out_strategy: tuple[tuple[int, ...], ...] | None = None,
        parameter_plan: dict[str, tuple[int, ...]] | None = None,
        device: str = "Ascend",
        level: int = 0,
    ) -> Self:
        """Set the sharding of the inputs, outputs and Parameters of this Cell; the sharding of intermediate values
        follows. It has an effect in GRAPH mode with parallel_mode "semi_auto_parallel" or "auto_parallel". Returns
        self.

        Args:
            in_strategy (tuple): For each input of `construct` a tuple with the number of parts that each of its axes
                is cut into.
            out_strategy (tuple): Likewise for each output. Default: None, as it comes.
            parameter_plan (dict): Such a tuple for Parameters, by name. Default: None, chosen by the operators that
                read them.
            device (str): No effect; the context sets the device. Default: "Ascend".
            level (int): No effect; there is one search. Default: 0.

        Raises:
            TypeError: If an argument has another type. Shapes and devices are checked when a graph is traced.
        """
        strategies = constraints.check_strategies("Cell.shard", in_strategy, out_strategy, parameter_plan)
        log.unused(
            "Cell.shard", "the context says on which devices a graph runs", device=device != "Ascend", level=level
        )
        if self.__dict__.get("_shard_strategies") not in (None, strategies):
            log.once(f"Cell.shard was called before of this {type(self).__name__}; what was said last holds.")
        self.__dict__["_shard_strategies"] = strategies
        trace_state.epoch.bump()
        return self
