"""Asks real MindSpore about every row below msnb/ops, and stores its answers, one file for each file of operators.

    python tests/golden/make_operators.py --oracle ORACLE/bin/python                all of operators/*.npz
    python tests/golden/make_operators.py --oracle ORACLE/bin/python math.sum       operators/math.sum.npz

It runs under msnb, which has the rows; ORACLE is a virtual environment with MindSpore 2.7.1 for the CPU. A file holds
arrays by '<row>/<name>': out0, out1, ... are the results, written0, ... what was written in place, grad0, ... the
gradients for the float Tensors in the order of the inputs. A row that this MindSpore cannot run has no array, and its
reason is in unanswered.json.
"""

import argparse
import json
import pathlib
import pickle
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "ops"), str(HERE.parent.parent)]
from operator_rows import GOLDEN, ROWS, names_of  # noqa: E402

from msnb.common import dtype as mstype  # noqa: E402
from msnb.core.operator.cases import Written  # noqa: E402

UNANSWERED = GOLDEN / "unanswered.json"


def question(row):
    """Return a row as plain data, see `Oracle.answer`."""

    def plain(value):
        if isinstance(value, mstype.Type):
            return "dtype", str(value).lower().replace("bool", "bool_")
        return tuple(map(plain, value)) if type(value) is tuple else value

    inputs, attributes, names = row.inputs(), row.keywords(), names_of(row.case.target)
    if names[0] == ("class", "ResizeBilinear"):  # MindSpore 2 has the size as an input, under another name
        names, inputs = [("class", "ResizeBilinearV2")], [*inputs, attributes.pop("size")]
    return {
        "names": names,
        "attributes": {key: plain(value) for key, value in attributes.items()},
        "inputs": [v.value if isinstance(v, Written) else plain(v) for v in inputs],
        "written": row.parameters,
        "wanted": row.wanted,
        "compared": row.case.compared,
        "differentiated": row.differentiated,
    }


def main():
    """Ask, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oracle", required=True, help="the Python interpreter that has MindSpore")
    parser.add_argument("files", nargs="*", help="files of operators, such as math.sum; all by default")
    options = parser.parse_args()
    declared_files = sorted({row.file for row in ROWS})
    if set(options.files) - set(declared_files):
        parser.error(f"no operator is declared in {', '.join(sorted(set(options.files) - set(declared_files)))}")
    files = options.files or declared_files
    rows = [row for row in ROWS if row.file in files and "mindspore" not in row.case.left_out]
    asked = pickle.dumps([question(row) for row in rows])
    process_output = subprocess.run(
        [options.oracle, HERE / "oracle.py"], input=asked, stdout=subprocess.PIPE, check=True
    ).stdout
    stores, problems = {file: {} for file in files}, {file: {} for file in files}
    for row, (result, problem) in zip(rows, pickle.loads(process_output), strict=True):
        stores[row.file].update({f"{row.key}/{name}": array for name, array in result.items()})
        if problem:
            problems[row.file][row.key] = problem
    GOLDEN.mkdir(exist_ok=True)
    for path in GOLDEN.glob("*.npz"):
        if path.stem in files or not options.files:
            path.unlink()
    for file, store in stores.items():
        if store:
            np.savez_compressed(GOLDEN / f"{file}.npz", **store)
    if options.files and UNANSWERED.exists():
        problems = {**json.loads(UNANSWERED.read_text()), **problems}
    UNANSWERED.write_text(json.dumps({k: v for k, v in sorted(problems.items()) if v}, indent=1) + "\n")


if __name__ == "__main__":
    main()
