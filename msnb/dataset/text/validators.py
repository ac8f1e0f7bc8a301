"""Face of ``mindspore.dataset.text.validators``: the checks that text transforms make of their arguments."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
