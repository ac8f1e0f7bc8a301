"""Kinds (checked argument types) of training hyperparameters: rates, decays, scales. NaN and infinity are errors.

Most accept floats but not ints, as in MindSpore.
"""

from typing import Annotated

from msnb.common import kinds
from msnb.common.kinds import Between, Finite, Float, Static, StrictFloat

_float = Static(Finite(StrictFloat))  # constructor arguments are Python numbers, never traced
_number = Static(Finite(Float))

FiniteFloat = Annotated[float, _float]
FiniteNumber = Annotated[float, _number]
PositiveFloat = Annotated[float, Between(_float, 0, None, low_in=False)]
NonNegativeFloat = Annotated[float, Between(_float, 0, None)]
NonPositiveFloat = Annotated[float, Between(_float, None, 0)]
Fraction = Annotated[float, Between(_float, 0, 1, low_in=False, high_in=False)]

Number = Annotated[float, Static(Finite(kinds.Number))]  # an int is not converted to float
PositiveNumber = Annotated[float, Between(_number, 0, None, low_in=False)]
NonNegativeNumber = Annotated[float, Between(_number, 0, None)]
