"""Layers of quantisation-aware training: their names are here, they themselves come in a later version."""

from msnb._later import fill

__all__: list[str] = []
fill(
    globals(),
    "FakeQuantWithMinMaxObserver Conv2dBnFoldQuantOneConv Conv2dBnFoldQuant Conv2dBnWithoutFoldQuant Conv2dQuant "
    "DenseQuant ActQuant TensorAddQuant MulQuant",
    "quantisation-aware training comes in a later version; use the float layers.",
)
