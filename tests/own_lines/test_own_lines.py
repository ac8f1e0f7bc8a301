"""msnb contains none of MindSpore's code and none of its prose: no run of tokens or words stands there too."""

from pathlib import Path

import ownlines
import pytest
from fingerprints import Fingerprints

HERE = Path(__file__).parent

# The share of a folder's tokens that may stand in runs of 25 by chance and convention, in per cent, and the runs of 40.
SHARE, RUNS = 1.0, 0


@pytest.fixture(scope="module")
def judged(request):
    root = request.config.rootpath
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return ownlines.judge(Path("msnb"), Fingerprints.load(HERE / "fingerprints.bin")), _allowed()


def _allowed():
    return ownlines.allowances(HERE / "allowed.txt")


def _where(runs):
    return [f"{run.path}:{run.line}-{run.last} {run.symbol}: {run.own_form} of {run.length}" for run in runs]


def test_no_folder_has_runs_of_mindspores_code(judged, monkeypatch, request):
    monkeypatch.chdir(request.config.rootpath)
    (folders, runs, _), allowed = judged
    code = [r for r in runs if r.kind != "interface" and r.symbol not in allowed]
    for name, row in folders.items():
        own = [r for r in code if (Path(r.path).parts[1] if len(Path(r.path).parts) > 2 else "(top)") == name]
        assert len(own) <= RUNS, _where(own)
        assert 100 * row["code"] / row["tokens"] <= SHARE, f"{name}: {row['code']} of {row['tokens']} tokens"


def test_no_sentence_of_a_docstring_is_mindspores(judged, monkeypatch, request):
    monkeypatch.chdir(request.config.rootpath)
    (_, _, prose), allowed = judged
    prose = [r for r in prose if r.kind not in ownlines.APART and r.symbol not in allowed]
    assert not prose, _where(prose)


def test_every_allowance_is_needed(judged, monkeypatch, request):
    monkeypatch.chdir(request.config.rootpath)
    (_, runs, prose), allowed = judged
    assert set(allowed) <= {r.symbol for r in runs + prose}


def test_the_fingerprints_are_mindspores(judged):
    """Signatures are the same on purpose, but for the types in most of ours: some runs are found as long as the right
    file is looked into."""
    (_, runs, _), _ = judged
    assert sum(r.kind == "interface" for r in runs) > 4


def test_an_allowance_needs_a_place_and_a_reason(tmp_path):
    (tmp_path / "allowed.txt").write_text("# a remark\nmsnb/a.py::f because the order is the interface's\n")
    assert ownlines.allowances(tmp_path / "allowed.txt") == {"msnb/a.py::f": "because the order is the interface's"}
    (tmp_path / "allowed.txt").write_text("msnb/a.py::f\n")
    with pytest.raises(SystemExit, match="path::symbol reason"):
        ownlines.allowances(tmp_path / "allowed.txt")


def test_a_run_is_named_by_the_definition_around_it(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n\n\nclass A:\n    @property\n    def f(self):\n        return 1\n")
    names = [ownlines.symbol_at(str(tmp_path / "a.py"), line).rpartition("::")[2] for line in (1, 4, 5, 7)]
    assert names == ["<module>", "A", "A.f", "A.f"]
