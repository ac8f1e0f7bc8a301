"""Readers of public data sets give MindSpore's rows: sources.json holds what MindSpore 2.7.1 read of the same files."""

import json
import sys
from pathlib import Path

import pytest

import msnb.dataset as ds
from msnb.dataset.core.config import settings

GOLDEN = Path(__file__).parent.parent / "golden"
sys.path.insert(0, str(GOLDEN))
from source_cases import SETS, answer, cases, write  # noqa: E402

STORED = json.loads((GOLDEN / "sources.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("cls", SETS)
def test_the_rows_are_those_of_mindspore(cls, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "workers", 1)
    for name, case in cases(cls):
        folder = tmp_path / name.replace(" ", "_")
        write(folder, cls, case)
        got, stored = answer(ds, folder, cls, case), STORED[name]
        if stored.get("classes", 0) is None:  # msnb knows the number of some that MindSpore does not know
            got["classes"] = None
        assert got == stored, name
