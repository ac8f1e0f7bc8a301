"""Face of ``mindspore.dataset.engine.validators``: the checks that data sets and samplers make of their arguments."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
from msnb.dataset.core.validator_helpers import check_as_declared as __getattr__  # noqa: F401
