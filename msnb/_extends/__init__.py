"""A face: small helpers that networks import from `mindspore._extends`."""

from msnb.nn.cell_attributes import cell_attr_register

__all__ = ["cell_attr_register"]
