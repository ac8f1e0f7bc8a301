"""What a Cell is told for MindSpore's compiler and its devices: inputs of any size, stages, strategies."""

from typing import Any

from msnb import log
from msnb.common.missing import refused_use
from msnb.core.errors import describe
from msnb.core.tensor import Tensor


class Told:
    """Part of `Cell`: what MindSpore acts on, and XLA, which compiles for one device and each shape, does not."""

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Tell which sizes of the inputs change from call to call. Without effect: a graph is compiled for each.

        Args:
            inputs (Any): Tensors as the inputs will be, with None in their shape where a size changes.
            kwargs (Any): Such Tensors by name.

        Raises:
            TypeError: If one is no Tensor, and no number, tuple, list, dict or None either.
        """
        for given in (*inputs, *kwargs.values()):
            if not (given is None or isinstance(given, (Tensor, bool, int, float, tuple, list, dict))):
                raise TypeError(f"For 'set_inputs', the inputs should be Tensors, but got {describe(given)}.")
        log.once("Cell.set_inputs has no effect here: a graph is compiled for each shape, and kept.")
        self.__dict__["_dynamic_inputs"] = kwargs or inputs

    def get_inputs(self) -> Any:
        """What `set_inputs` was given, a tuple, or a dict where they had names; None before that."""
        return self.__dict__.get("_dynamic_inputs")

    def shard(self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None) -> Any:
        """Not available: one process runs a Cell whole.

        Raises:
            NotImplementedError: Always.
        """
        raise refused_use("mindspore.nn.Cell", "shard")
