"""Programs on eight virtual devices: how many there are is decided before anything is computed, so elsewhere."""

from pathlib import Path

import pytest

CHECKS = Path(__file__).parent / "spread"
NAMES = sorted(file.stem for file in CHECKS.glob("*.py") if file.stem != "eight_devices")
ALL = {"operators", "random_nets", "replicas_at_random"}  # which draw, and draw more with --all
pytestmark = pytest.mark.first


def ran(fresh, folder, name, *further):
    code = f"import eight_devices\neight_devices.run({name!r})"
    done = fresh.run(code, folder, *further, path=[CHECKS])
    assert not done.status, f"{done.out}\n{done.err}"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_spread_over_eight_devices_is_what_one_computes(fresh, tmp_path, name):
    ran(fresh, tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ALL))
def test_so_is_what_is_drawn_at_random_and_each_operator(fresh, tmp_path, name):
    ran(fresh, tmp_path, name, "--all")
