"""Face of ``mindspore.dataset.vision.validators``: the checks that image transforms make of their arguments."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
from msnb.dataset.core.validator_helpers import check_as_declared as __getattr__  # noqa: F401
