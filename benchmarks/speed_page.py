"""The page docs/speed.md, from the figures that `training.py` has recorded in docs/speed.json.

    python benchmarks/speed_page.py

Each row of the file has its own date, machine and versions. A row without them is refused.
"""

import datetime
import json
import os
import platform
from importlib import metadata
from pathlib import Path

RECORD = Path(__file__).parents[1] / "docs" / "speed.json"
_PACKAGES = {"msnb": "msnb", "MindSpore": "mindspore", "PyTorch": "torch", "JAX": "jax"}
_REQUIRED = ("date", "machine", "device", "input", "rounds", "frameworks")
_TABLES = (  # title, index in the figures, digits after the point
    ("First call, seconds", 0, 2),
    ("Warm step, wall milliseconds", 1, 2),
    ("Warm step, CPU milliseconds of all cores", 2, 2),
    ("Peak memory of the process, MB", 3, 0),
)
_BEHIND = 1.05  # a smaller ratio is within the noise of the machine


def find_version(who):
    """Return the version of a framework in this process, such as "2.7.1"; msnb's names JAX's, too."""
    version = metadata.version(_PACKAGES[who])
    return f"{version} on JAX {metadata.version('jax')}" if who == "msnb" else version


def describe_machine():
    """Return the processor, its number of cores and the operating system in words."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        name = lines[0].partition(":")[2].strip() if lines else name
    return f"{name}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def record(file, name, row):
    """Write a row into the JSON file with today's date and this machine, and write the page beside the file."""
    rows = json.loads(file.read_text()) if file.exists() else {}
    rows[name] = {"date": datetime.date.today().isoformat(), "machine": describe_machine(), **row}
    file.write_text(json.dumps(rows, indent=1) + "\n")
    file.with_suffix(".md").write_text(write_page(rows))


def write_page(rows):
    """Return the Markdown of the page.

    Args:
        rows (dict): {name: row}, as `record` stores them.

    Raises:
        ValueError: If a row lacks its date, machine or another setting, or a framework its version.
    """
    for name, row in rows.items():
        missing = [key for key in _REQUIRED if not row.get(key)]
        missing += [f"version of {who}" for who, result in row["frameworks"].items() if not result.get("version")]
        if missing:
            raise ValueError(f"Row {name!r} has no {', '.join(missing)}.")
    sections = [_INTRODUCTION, *(_write_table(rows, *table) for table in _TABLES), _write_behind(rows)]
    return "\n\n".join([*sections, _write_settings(rows), _OTHERS]) + "\n"


def _write_table(rows, title, figure, digits):
    frameworks = list(_PACKAGES)
    lines = [f"## {title}", "", f"| network | {' | '.join(frameworks)} | msnb to the best other |"]
    lines.append("|---|" + "---:|" * (len(frameworks) + 1))
    for name, row in rows.items():
        values = {who: result["figures"][figure] for who, result in row["frameworks"].items()}
        cells = [f"{values[who]:.{digits}f}" if who in values else "" for who in frameworks]
        lines.append(f"| {name} | {' | '.join(cells)} | {_find_ratio(values):.2f}x |")
    return "\n".join(lines)


def _find_ratio(values):
    return values["msnb"] / min(value for who, value in values.items() if who != "msnb")


def _write_behind(rows):
    lines = ["## Where msnb is behind", "", f"Figures that are more than {_BEHIND - 1:.0%} above the best other:", ""]
    for title, figure, _ in _TABLES:
        behind = []
        for name, row in rows.items():
            values = {who: result["figures"][figure] for who, result in row["frameworks"].items()}
            if _find_ratio(values) > _BEHIND:
                best = min((who for who in values if who != "msnb"), key=values.get)
                behind.append(f"{name} {_find_ratio(values):.2f}x of {best}")
        lines.append(f"- {title}: {'; '.join(behind) or 'none'}.")
    return "\n".join(lines)


def _write_settings(rows):
    lines = ["## Machine, date and versions", "", "| network | input | rounds | date | device | versions | machine |"]
    lines.append("|---|---|---:|---|---|---|---|")
    for name, row in rows.items():
        shape = " x ".join(map(str, row["input"]))
        versions = ", ".join(f"{who} {result['version']}" for who, result in row["frameworks"].items())
        lines.append(
            f"| {name} | {shape} | {row['rounds']} | {row['date']} | {row['device']} | {versions} | {row['machine']} |"
        )
    return "\n".join(lines)


_INTRODUCTION = """\
# Speed

These figures are measured by `benchmarks/training.py`, which also writes this page. Every row runs the same network on
the same random data in each framework. `--check` of the script shows that the frameworks compute the same losses.

- Each round starts a fresh process for each framework, in turns, with an empty compilation cache. Figures are medians
  over rounds.
- On Linux all processes start with the setting of huge pages that `msnb run` uses ([FAQ](faq.md)).
- A step is forward pass, backward pass and update, and ends when its loss is read. "predict" is a forward pass.
- A warm step of msnb in GRAPH mode is one of the full executable, which takes over from the quick one after 11 to 64
  steps ([FAQ](faq.md)). The steps before take longer.
- MindSpore runs in GRAPH mode, PyTorch in eager mode, JAX compiles the network written by hand. Rows in PYNATIVE mode
  compare eager modes.
- A "frozen" network has its weights as constants (`msnb.frozen`). The others have no such form, and run as usual.
- An empty cell is a framework that was not measured in this row.

Measure your own machine, with the interpreters that have the other frameworks:

```sh
python benchmarks/training.py --mindspore PYTHON --torch PYTHON
```"""

_OTHERS = """\
## Figures of others

Huawei's launch material of MindSpore names 22 ms for a step of ResNet-50 on an Ascend 910 and 58 ms for other
frameworks on a V100, both with batch 32 on a single server. It names 5 ms beside 60 ms for a network on a phone. These
figures are Huawei's. They come from other hardware, were not measured here, and cannot be compared with the tables
above. msnb has no figure of an Ascend or of a phone."""


if __name__ == "__main__":
    RECORD.with_suffix(".md").write_text(write_page(json.loads(RECORD.read_text())))
