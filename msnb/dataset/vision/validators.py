"""Re-export module of ``mindspore.dataset.vision.validators``: argument checks of image transforms."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
from msnb.dataset.core.validator_helpers import check_as_declared as __getattr__  # noqa: F401
