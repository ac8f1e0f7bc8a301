"""The base class of quantizers, and the quantisation methods."""

from abc import ABC, abstractmethod
from enum import Enum
from typing import Annotated

from msnb.common.kinds import Instance, OneOrEach, checked
from msnb.nn import Cell

__all__ = ["OptimizeOption"]


class OptimizeOption(Enum):
    """Quantisation methods. The only one is training with simulated quantisation."""

    QAT = "QAT"

    def __str__(self) -> str:
        return self.value


Options = Annotated[
    OptimizeOption | list[OptimizeOption] | tuple[OptimizeOption, ...], OneOrEach(Instance(OptimizeOption))
]


class Quantizer(ABC):
    """Base class of quantizers.

    Args:
        optimize_option (Union[OptimizeOption, list, tuple]): The methods. Default: OptimizeOption.QAT.
    """

    @checked
    def __init__(self, optimize_option: Options = OptimizeOption.QAT) -> None:
        is_single = isinstance(optimize_option, OptimizeOption)
        self.optimize_option: list[OptimizeOption] = [optimize_option] if is_single else list(optimize_option)

    @abstractmethod
    def quantize(self, network: Cell) -> Cell:
        """Return the quantised network."""
