"""Face of ``mindspore.dataset.transforms.validators``: the checks that common transforms make of their arguments."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
from msnb.dataset.core.validator_helpers import check_as_declared as __getattr__  # noqa: F401
