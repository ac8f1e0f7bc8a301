"""Calls of every operator with every element type, and the element types that MindSpore 2.7.1 returns for them.

    python tests/golden/result_types.py QUESTIONS            write the calls as a pickle, under msnb
    ORACLE/bin/python tests/golden/result_types.py QUESTIONS ANSWERS      ask MindSpore, in its own environment
    python tests/golden/result_types.py QUESTIONS ANSWERS result_types.json

The table has a row for each name, from what MindSpore gives to the element types of the call that give it:
{"class Neg": {"same": "int8 float32", "TypeError": "bool"}}. "same" is the element type of the call, and several
results are separated by spaces. Calls that end MindSpore's process are left out.
"""

import json
import os
import pathlib
import pickle
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
DTYPES = "bool int8 uint8 int16 int32 int64 float16 float32 float64 complex64".split()


def converted(value, dtype, kinds):
    """Return `value` with arrays of the numpy `kinds` converted to `dtype`."""
    if isinstance(value, tuple):
        return tuple(converted(v, dtype, kinds) for v in value)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in kinds:
        return value
    if dtype == "bool":
        return np.asarray(value > 0)
    value = np.abs(value) if dtype == "uint8" else value
    with np.errstate(invalid="ignore"):  # NaN as a whole number
        return (np.round(value) if np.dtype(dtype).kind in "iu" else value).astype(dtype)


def arrays(value):
    """Return the numpy arrays in a value."""
    if isinstance(value, tuple):
        return [a for v in value for a in arrays(v)]
    return [value] if isinstance(value, np.ndarray) else []


def questions():
    """Yield (name, dtype, question) for the first case of each operator; floats are converted, else integers."""
    from make_operators import question
    from operator_rows import ROWS, names_of
    from sweeps import split

    for row in split(ROWS, lambda row: row.case.target)[0]:
        names = [name for name in names_of(row.case.target) if not name[1].startswith("_")]
        if not names:
            continue
        asked = {**question(row), "wanted": ()}
        kinds = {a.dtype.kind for value in asked["inputs"] for a in arrays(value)}
        kinds = "f" if "f" in kinds else "iu" if kinds & {"i", "u"} else "b"
        for name in names:
            for dtype in DTYPES:
                inputs = [converted(value, dtype, kinds) for value in asked["inputs"]]
                yield " ".join(name), dtype, {**asked, "names": [name], "inputs": inputs}


def answer(oracle, question):
    """Return the element types of a call's results, separated by spaces, or the name of the error's class."""
    try:
        call = oracle.call_of(*question["names"][0], question["attributes"])
        if call is None:
            return None
        outputs, _ = oracle.forward(call, question)
    except Exception as error:
        return type(error).__name__
    return " ".join(outputs[name].dtype.name for name in sorted(outputs))


def ask(oracle, calls, size=200, answer=answer):
    """Return the answers to `calls`, computed in processes of `size` calls; a call that ends its process has none."""
    answers = {}
    for start in range(0, len(calls), size):
        read, write = os.pipe()
        if not (child := os.fork()):
            of_process = {(name, dtype): answer(oracle(), q) for name, dtype, q in calls[start : start + size]}
            with os.fdopen(write, "wb") as file:
                pickle.dump(of_process, file)
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as file:
            data = file.read()
        os.waitpid(child, 0)
        if data:
            answers.update(pickle.loads(data))
        elif size > 1:
            answers.update(ask(oracle, calls[start : start + size], max(size // 10, 1), answer))
    return answers


def write_table(path, answers):
    """Write the table of {(name, dtype): result types or class of the error}; empty answers are left out."""
    rows = {}
    for (name, dtype), types in answers.items():
        if types:
            rows.setdefault(name, {}).setdefault("same" if types == dtype else types, []).append(dtype)
    rows = {name: {types: " ".join(of) for types, of in row.items()} for name, row in rows.items()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(rows.items()))
    pathlib.Path(path).write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


def by_call(table):
    """Return {(name, dtype): result types or class of the error} of a table."""
    return {
        (name, dtype): dtype if types == "same" else types
        for name, row in table.items()
        for types, of in row.items()
        for dtype in of.split()
    }


def main(asked, answered=None, table=None):
    """Do one of the three steps."""
    sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "ops")]
    if answered is None:
        pathlib.Path(asked).write_bytes(pickle.dumps(list(questions())))
    elif table is None:
        from oracle import Oracle

        import mindspore

        answers = ask(lambda: Oracle(mindspore), pickle.loads(pathlib.Path(asked).read_bytes()))
        pathlib.Path(answered).write_bytes(pickle.dumps(answers))
    else:
        write_table(table, pickle.loads(pathlib.Path(answered).read_bytes()))


if __name__ == "__main__":
    main(*sys.argv[1:])
