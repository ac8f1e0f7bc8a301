"""Face of ``mindspore.dataset.engine.validators``: the checks that data sets and samplers make of their arguments."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
