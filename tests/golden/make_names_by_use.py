"""Stores in names_by_use.txt the names of MindSpore that public programs use most, in that order, one a line: what
tests/test_names_by_use.py walks.

    python tests/golden/make_names_by_use.py CENSUS.md

CENSUS.md is a count of the names that programs import: a table whose rows begin with a number and a name in backticks.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent


def main(census):
    """Read the rows, write the names."""
    rows = re.findall(r"^\| (\d+) \| `([\w.]+)` \|", pathlib.Path(census).read_text(encoding="utf-8"), re.MULTILINE)
    names = [name for _, name in sorted(rows, key=lambda row: int(row[0]))]
    (HERE / "names_by_use.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
