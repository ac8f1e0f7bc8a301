"""Re-export module of ``mindspore.dataset.callback.validators``: argument checks of callbacks."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
