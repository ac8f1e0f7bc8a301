"""Re-export module of ``mindspore.dataset.transforms.validators``: argument checks of common transforms."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
from msnb.dataset.core.validator_helpers import check_as_declared as __getattr__  # noqa: F401
