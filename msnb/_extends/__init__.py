"""Re-export module of `mindspore._extends`: the decorator of constructors that networks import from there."""

from msnb.nn.cell_attributes import cell_attr_register

__all__ = ["cell_attr_register"]
