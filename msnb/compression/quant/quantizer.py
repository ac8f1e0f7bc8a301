"""What quantises a network, and the ways to do it."""

from abc import ABC, abstractmethod
from enum import Enum
from typing import Annotated

from msnb.common.kinds import Instance, OneOrEach, checked
from msnb.nn import Cell

__all__ = ["OptimizeOption"]


class OptimizeOption(Enum):
    """Ways to quantise a network; there is one, to train it with simulated quantisation."""

    QAT = "QAT"

    def __str__(self) -> str:
        return self.value


Options = Annotated[
    OptimizeOption | list[OptimizeOption] | tuple[OptimizeOption, ...], OneOrEach(Instance(OptimizeOption))
]


class Quantizer(ABC):
    """What quantises networks.

    Args:
        optimize_option (Union[OptimizeOption, list, tuple]): The ways. Default: OptimizeOption.QAT.
    """

    @checked
    def __init__(self, optimize_option: Options = OptimizeOption.QAT) -> None:
        one = isinstance(optimize_option, OptimizeOption)
        self.optimize_option: list[OptimizeOption] = [optimize_option] if one else list(optimize_option)

    @abstractmethod
    def quantize(self, network: Cell) -> Cell:
        """The network, quantised."""
