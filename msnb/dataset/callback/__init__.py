"""``mindspore.dataset.callback``: functions called before and after the steps and epochs of a ``map``."""

from msnb.dataset.callback.ds_callback import DSCallback, WaitedDSCallback

__all__ = ["DSCallback", "WaitedDSCallback"]
