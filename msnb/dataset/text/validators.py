"""Re-export module of ``mindspore.dataset.text.validators``: argument checks of text transforms."""

from msnb.dataset.core.validator_helpers import *  # noqa: F403
