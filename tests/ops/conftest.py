"""Settings of the operators' tests."""

import jax
import pytest


@pytest.fixture(scope="module", autouse=True)
def _no_places_in_programs():
    """Nobody looks for the line that an instruction came from here, and to note it is a fifteenth of the time."""
    before = jax.config.jax_traceback_in_locations_limit
    jax.config.update("jax_traceback_in_locations_limit", 0)
    yield
    jax.config.update("jax_traceback_in_locations_limit", before)
