"""Writes sources.json with MindSpore's answers: ``python make_sources.py`` in an environment with MindSpore 2.7.1.

Names of classes behind it ask for these alone and leave the other answers as they are. MindSpore ends the process over
some empty folders: it runs in one of its own, which is started again behind such a case.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from source_cases import EMPTY, SETS, answer, cases, write

FILE = Path(__file__).with_name("sources.json")


def ask(classes):
    """Ask MindSpore for these cases, and print each answer as a line."""
    import mindspore.dataset as ds

    ds.config.set_num_parallel_workers(1)
    for name, cls in classes.items():
        case = dict(cases(cls))[name]
        print(json.dumps({name: None}), flush=True)
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), cls, case)
            if cls == "PhotoTourDataset" and case != EMPTY:  # it reads all lines of the real list
                Path(folder, "liberty", "info.txt").write_text("0 0\n" * 450092)
            print(json.dumps({name: answer(ds, Path(folder), cls, case)}), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"]:
        ask(json.loads(sys.argv[2]))
        sys.exit()
    answers = json.loads(FILE.read_text()) if FILE.exists() else {}
    left = {name: cls for cls in sys.argv[1:] or SETS for name, _ in cases(cls)}
    while left:
        command = [sys.executable, __file__, "ask", json.dumps(left)]
        asked = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in asked.stdout:
            answers |= json.loads(line)
            left = {name: cls for name, cls in left.items() if name not in json.loads(line)}
    answers = {name: {"error": "any"} if a is None else a for name, a in answers.items()}
    names = [name for cls in SETS for name, _ in cases(cls) if name in answers]
    FILE.write_text(json.dumps({name: answers[name] for name in names}, ensure_ascii=False, indent=0) + "\n")
    print(len(names), "cases")
