"""The names that public programs use most, in that order (tests/golden/names_by_use.txt): each is here, or one line
says what to do instead. Names that are refused raise that line, or are absent for a reason."""

import importlib
from pathlib import Path

import pytest

from msnb import nn, ops
from msnb.common.missing import missing
from msnb.common.unsupported import RAISES, REASONS

NAMES = (Path(__file__).parent / "golden" / "names_by_use.txt").read_text(encoding="utf-8").split()
TO_COME = ("mint", "dataset")  # rooms whose names are not all here yet
MISSPELT = ("it is misspelt", "there is no")


def resolve(name):
    """Return the object of a name such as "nn.Dense". Raise AttributeError if there is none."""
    components = name.split(".")
    for count in range(len(components), -1, -1):
        try:
            value = importlib.import_module(".".join(["msnb", *components[:count]]))
        except ModuleNotFoundError:
            continue
        for part in components[count:]:
            value = getattr(value, part)
        return value
    raise AssertionError("msnb is always there")


def is_here(name):
    try:
        resolve(name)
    except AttributeError:
        return False
    return True


def test_each_is_here_or_one_line_says_what_to_do_instead():
    absent = [name for name in NAMES if not name.startswith(TO_COME) and not is_here(name)]
    assert [name for name in absent if any(text in missing(f"mindspore.{name}") for text in MISSPELT)] == []
    count = sum(not name.startswith(TO_COME) for name in NAMES)
    assert len(absent) < 0.2 * count, absent


@pytest.mark.parametrize("name", RAISES)
def test_what_programs_import_without_use_raises_one_line_when_it_is_used(name):
    if name.startswith(("nn.Cell.", "Parameter.")):
        pytest.skip("a method: it raises by itself")
    placeholder = resolve(name)
    assert resolve(name) is placeholder
    with pytest.raises(NotImplementedError, match=name.rpartition(".")[2]) as caught:
        placeholder()
    assert "\n" not in str(caught.value)


def test_what_is_absent_for_a_reason_is_absent():
    assert [name for name in REASONS if is_here(name)] == []
    assert RAISES.keys() & REASONS.keys() == set()


def test_a_module_says_why_it_lacks_a_name():
    with pytest.raises(AttributeError, match="Ascend"):
        ops.PagedAttention
    with pytest.raises(AttributeError, match=r"nn\.SequentialCell"):
        nn.Sequential
