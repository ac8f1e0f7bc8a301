"""Pages that are made of the declarations are the ones that they make now."""

import pytest
from fresh import ROOT


@pytest.mark.parametrize("maker", ["make_operators.py", "make_which_mindspore.py"])
def test_a_page_is_that_of_the_declarations(maker, fresh, tmp_path):
    done = fresh.script(ROOT / "docs" / maker, tmp_path, "--check")
    assert done.status == 0, f"run `python docs/{maker}`\n{done.err}"
