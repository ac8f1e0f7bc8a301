"""Store the results of new_name_cases.py of real MindSpore in new_names.json.

    ORACLE/bin/python tests/golden/make_new_names.py

ORACLE is a virtual environment with mindspore 2.10.
"""

import json
import pathlib
import sys

import numpy as np

import mindspore

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from new_name_cases import CASES, evaluate  # noqa: E402

if __name__ == "__main__":
    for _ in range(3):  # the first operators of MindSpore 2.10 raise errors beside NumPy 2, later ones do not
        answers = {case: evaluate(case, mindspore, np) for case in CASES}
    (HERE / "new_names.json").write_text(json.dumps(answers, indent=0) + "\n", encoding="utf-8")
    print(f"{mindspore.__version__}: {len(answers)} calls, {sum('error' in str(a) for a in answers.values())} errors")
