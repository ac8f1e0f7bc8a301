"""Run the cell of README that trains, as a script: `python -m msnb run`."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def read_program():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(r"^```python\n%%mindspore[^\n]*\n(.*?)^```", readme, re.M | re.S)[1]


def main(python=sys.executable):
    """Away from the sources, so that the installed msnb is imported."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "program.py").write_text(read_program(), encoding="utf-8")
        subprocess.run([python, "-m", "msnb", "run", "program.py"], cwd=folder, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
