"""Commands that run networks start with huge pages on Linux, if the system gives them on request."""

import os
import subprocess
import sys

import pytest

from msnb._util import huge_pages

SETTING = "glibc.malloc.hugetlb=1"


@pytest.fixture
def system(monkeypatch, tmp_path):
    """A Linux system with glibc. Returns a function that sets its mode of huge pages."""
    file = tmp_path / "enabled"
    monkeypatch.setattr(huge_pages, "_MODES", file)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "confstr", lambda name: "glibc 2.36", raising=False)
    monkeypatch.delenv(huge_pages.VARIABLE, raising=False)

    def set_mode(text):
        file.write_text(text)

    set_mode("always [madvise] never\n")
    return set_mode


def test_the_setting_is_added_to_others(system, monkeypatch):
    assert huge_pages.find_setting() == SETTING
    monkeypatch.setenv(huge_pages.VARIABLE, "glibc.malloc.check=1")
    assert huge_pages.find_setting() == f"glibc.malloc.check=1:{SETTING}"


def test_a_choice_of_the_user_is_respected(system, monkeypatch):
    monkeypatch.setenv(huge_pages.VARIABLE, "glibc.malloc.hugetlb=0")
    assert huge_pages.find_setting() is None


@pytest.mark.parametrize("mode", ["[always] madvise never\n", "always madvise [never]\n"])
def test_a_system_with_a_mode_of_its_own_needs_no_setting(system, mode):
    system(mode)
    assert huge_pages.find_setting() is None


@pytest.mark.parametrize("library", ["glibc 2.31", "musl 1.2", "", None])
def test_other_c_libraries_have_no_setting(system, monkeypatch, library):
    monkeypatch.setattr(os, "confstr", lambda name: library, raising=False)
    assert huge_pages.find_setting() is None


def test_other_systems_have_no_setting(system, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert huge_pages.find_setting() is None


def test_a_script_runs_with_the_setting_and_its_arguments(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import os, sys; print(os.environ.get({huge_pages.VARIABLE!r}), sys.argv[1:])")
    command = [sys.executable, "-m", "msnb", "run", str(script), "--epochs", "2"]
    environment = {name: value for name, value in os.environ.items() if name != huge_pages.VARIABLE}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env=environment)
    setting = SETTING if huge_pages._has_glibc() and "[madvise]" in _read_modes() else None
    assert done.stdout == f"{setting} ['--epochs', '2']\n"


def _read_modes():
    return huge_pages._MODES.read_text() if huge_pages._MODES.exists() else ""
