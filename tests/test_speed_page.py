"""docs/speed.md is the page of docs/speed.json, and each of its figures has a date, a machine and versions."""

import copy
import importlib.util
import json

import pytest
from fresh import ROOT


@pytest.fixture(scope="module")
def speed_page():
    spec = importlib.util.spec_from_file_location("speed_page", ROOT / "benchmarks" / "speed_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows():
    return json.loads((ROOT / "docs" / "speed.json").read_text())


def test_the_page_is_that_of_the_recorded_figures(speed_page, rows):
    page = (ROOT / "docs" / "speed.md").read_text()
    assert page == speed_page.write_page(rows), "run `python benchmarks/speed_page.py`"


@pytest.mark.parametrize("key", ["date", "machine", "device", "input", "rounds"])
def test_a_row_without_its_setting_is_refused(speed_page, rows, key):
    other = copy.deepcopy(rows)
    name = next(iter(other))
    del other[name][key]
    with pytest.raises(ValueError, match=rf"Row '{name}' has no {key}\."):
        speed_page.write_page(other)


def test_a_framework_without_its_version_is_refused(speed_page, rows):
    other = copy.deepcopy(rows)
    row = next(iter(other.values()))
    row["frameworks"]["msnb"]["version"] = ""
    with pytest.raises(ValueError, match=r"has no version of msnb\."):
        speed_page.write_page(other)


def test_a_slower_row_is_named_and_an_equal_one_is_not(speed_page):
    setting = {"date": "2026-01-02", "machine": "a laptop", "device": "CPU", "input": [2, 3], "rounds": 1}

    def row(msnb, jax):
        frameworks = {"msnb": msnb, "JAX": jax}
        return setting | {
            "frameworks": {who: {"figures": [value] * 4, "version": "1"} for who, value in frameworks.items()}
        }

    page = speed_page.write_page({"slow": row(3.0, 2.0), "equal": row(2.0, 2.0), "quick": row(1.0, 2.0)})
    behind = page.partition("## Where msnb is behind")[2].partition("## Machine")[0]
    assert "slow 1.50x of JAX" in behind
    assert "equal" not in behind and "quick" not in behind


def test_recording_adds_a_row_and_writes_the_page(speed_page, tmp_path):
    file = tmp_path / "speed.json"
    frameworks = {who: {"figures": [1.0] * 4, "version": "1"} for who in ("msnb", "JAX")}
    for name in ("first", "second"):
        speed_page.record(file, name, {"input": [1], "rounds": 3, "device": "CPU", "frameworks": frameworks})
    rows = json.loads(file.read_text())
    assert list(rows) == ["first", "second"]
    assert all(row["date"] and "cores" in row["machine"] for row in rows.values())
    assert (tmp_path / "speed.md").read_text() == speed_page.write_page(rows)
