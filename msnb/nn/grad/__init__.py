"""Re-export module of `mindspore.nn.grad`: Cells that differentiate other Cells."""

from msnb.nn.grad.cell_grad import Jvp, Vjp

__all__ = ["Jvp", "Vjp"]
