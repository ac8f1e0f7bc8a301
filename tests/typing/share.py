"""The share of msnb's public symbols whose type pyright knows; `make lint` wants it not to sink.

python tests/typing/share.py            fails below `LEAST`
python tests/typing/share.py --open     and names what is open, the modules with most of it first
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

LEAST = 0.925  # machines differ by a few hundredths of a percent in what they have installed
ROOT = Path(__file__).resolve().parents[2]


def verified():
    """Return the report of ``pyright --verifytypes`` for the installed package, as a dict."""
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    command += ["--verifytypes", "msnb", "--ignoreexternal", "--outputjson"]
    with tempfile.TemporaryDirectory() as elsewhere:  # in the checkout it would be a project's own source
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True)
    if not done.stdout.startswith("{"):
        raise SystemExit(f"pyright --verifytypes did not run: {done.stdout or done.stderr}")
    return json.loads(done.stdout)["typeCompleteness"]


def listed(symbols):
    """Yield the public symbols whose type is not known, one text each with the reason, by module."""
    unknown = [s for s in symbols if s["isExported"] and not s["isTypeKnown"]]
    modules = Counter(_module(s) for s in unknown)
    for symbol in sorted(unknown, key=lambda s: (-modules[_module(s)], s["name"])):
        reasons = [d["message"].partition("\n")[0] for d in symbol["diagnostics"] if "docstring" not in d["message"]]
        yield f"{symbol['name']}: {'; '.join(dict.fromkeys(reasons))}"


def _module(symbol):
    return ".".join(symbol["name"].split(".")[:4])


def main(arguments):
    result = verified()
    counts = result["exportedSymbolCounts"]
    share = result["completenessScore"]
    if "--open" in arguments:
        print(*listed(result["symbols"]), sep="\n")
    print(f"{share:.1%} of {sum(counts.values())} public symbols have a known type; at least {LEAST:.0%} should.")
    return share < LEAST


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
