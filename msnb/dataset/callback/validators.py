"""Face of ``mindspore.dataset.callback.validators``: the checks that callbacks make of their arguments."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
