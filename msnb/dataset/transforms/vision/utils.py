"""Re-export module of `mindspore.dataset.vision.utils` under its path in r1.0."""

from msnb.dataset.vision.utils import *  # noqa: F403
