"""Layers of quantisation-aware training: their names are here, they themselves come in a later version."""

from msnb.nn.cell import Cell

__all__ = [
    "FakeQuantWithMinMaxObserver",
    "Conv2dBnFoldQuantOneConv",
    "Conv2dBnFoldQuant",
    "Conv2dBnWithoutFoldQuant",
    "Conv2dQuant",
    "DenseQuant",
    "ActQuant",
    "TensorAddQuant",
    "MulQuant",
]


def _layer_to_come(name):
    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"nn.{name}: quantisation-aware training is not available yet; use the float layers.")

    doc = f"{name}, a layer of quantisation-aware training: not available yet, raises NotImplementedError."
    return type(name, (Cell,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


FakeQuantWithMinMaxObserver = _layer_to_come("FakeQuantWithMinMaxObserver")
Conv2dBnFoldQuantOneConv = _layer_to_come("Conv2dBnFoldQuantOneConv")
Conv2dBnFoldQuant = _layer_to_come("Conv2dBnFoldQuant")
Conv2dBnWithoutFoldQuant = _layer_to_come("Conv2dBnWithoutFoldQuant")
Conv2dQuant = _layer_to_come("Conv2dQuant")
DenseQuant = _layer_to_come("DenseQuant")
ActQuant = _layer_to_come("ActQuant")
TensorAddQuant = _layer_to_come("TensorAddQuant")
MulQuant = _layer_to_come("MulQuant")
