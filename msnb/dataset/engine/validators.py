"""Re-export module ``mindspore.dataset.engine.validators``: argument checks of data sets and samplers."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
from msnb.dataset.core.validator_helpers import check_as_declared as __getattr__  # noqa: F401
