"""The page of operators names what is declared, and counts the cases that there are."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_page_of_operators_is_that_of_the_declarations():
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "make_operators.py"), "--check"], cwd=ROOT)
    assert done.returncode == 0, "run `python docs/make_operators.py`"
