"""Cells that differentiate others; this module re-exports those of its submodule."""

from msnb.nn.grad.cell_grad import Jvp, Vjp

__all__ = ["Jvp", "Vjp"]
