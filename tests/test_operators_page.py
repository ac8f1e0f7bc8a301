"""The page of operators names what is declared, and counts the cases that there are."""

from fresh import ROOT


def test_the_page_of_operators_is_that_of_the_declarations(fresh, tmp_path):
    done = fresh.script(ROOT / "docs" / "make_operators.py", tmp_path, "--check")
    assert done.status == 0, f"run `python docs/make_operators.py`\n{done.err}"
