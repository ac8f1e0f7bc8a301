"""The numbers that training is set with, as Kinds: rates, decays, scales. None of them is NaN or infinite.

Most are floats that may not be ints, as MindSpore has it.
"""

from typing import Annotated

from msnb.common import kinds
from msnb.common.kinds import Between, Finite, Float, Static, StrictFloat

_float = Static(Finite(StrictFloat))  # an argument of a constructor belongs to no operator's program
_number = Static(Finite(Float))

FiniteFloat = Annotated[float, _float]
FiniteNumber = Annotated[float, _number]
PositiveFloat = Annotated[float, Between(_float, 0, None, low_in=False)]
NonNegativeFloat = Annotated[float, Between(_float, 0, None)]
NonPositiveFloat = Annotated[float, Between(_float, None, 0)]
Fraction = Annotated[float, Between(_float, 0, 1, low_in=False, high_in=False)]

Number = Annotated[float, Static(Finite(kinds.Number))]  # an int stays one
PositiveNumber = Annotated[float, Between(_number, 0, None, low_in=False)]
NonNegativeNumber = Annotated[float, Between(_number, 0, None)]
