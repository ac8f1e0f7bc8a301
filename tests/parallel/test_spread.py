"""Programs on eight virtual devices: how many there are is decided before anything is computed, so elsewhere."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
pytestmark = pytest.mark.first


@pytest.mark.parametrize("further", [(), pytest.param(("--all",), marks=pytest.mark.slow)])
def test_what_is_spread_over_eight_devices_is_what_one_computes(fresh, tmp_path, further):
    done = fresh.script(HERE / "spread_programs.py", tmp_path, *further)
    assert not done.status, f"{done.out}\n{done.err}"
