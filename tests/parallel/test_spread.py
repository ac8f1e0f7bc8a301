"""Programs on eight virtual devices, in fresh processes, because the number of devices is fixed before any
computation.
"""

from pathlib import Path

import pytest

CHECKS = Path(__file__).parent / "spread"
NAMES = sorted(file.stem for file in CHECKS.glob("*.py") if file.stem != "eight_devices")
ALL = {"operators", "random_nets", "replicas_at_random"}  # which draw, and draw more with --all
pytestmark = pytest.mark.first


def run_checks(fresh, folder, name, *further):
    code = f"import eight_devices\neight_devices.run({name!r})"
    done = fresh.run(code, folder, *further, path=[CHECKS])
    assert not done.status, f"{done.out}\n{done.err}"


@pytest.mark.parametrize("name", NAMES)
def test_eight_devices_compute_the_same_as_one(fresh, tmp_path, name):
    run_checks(fresh, tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ALL))
def test_random_nets_and_operators_on_eight_devices(fresh, tmp_path, name):
    run_checks(fresh, tmp_path, name, "--all")
