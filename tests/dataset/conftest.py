"""Settings of the data tests: every test begins with MindSpore's defaults."""

import pytest

from msnb.dataset.core import config


@pytest.fixture(autouse=True)
def _defaults():
    seed, workers = config.get_seed(), config.get_num_parallel_workers()
    yield
    config.set_seed(seed)
    config.set_num_parallel_workers(workers)
