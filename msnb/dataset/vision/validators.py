"""Face of ``mindspore.dataset.vision.validators``: the checks that image transforms make of their arguments."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
