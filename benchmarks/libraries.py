"""How many modules of the libraries that build on MindSpore import.

    python benchmarks/libraries.py FOLDER [--only mindcv ...] [--seconds 120]
    /path/of/mindspore/python benchmarks/libraries.py FOLDER --real

FOLDER gets one folder for each library, which `pip install --no-deps` fills with the pinned version. Every module is
imported, all modules of a library in one process. msnb is imported with the meanings of MindSpore 2; `--real` imports
the MindSpore of this Python, for the denominator. A module that stops at a package that is not installed is counted
apart: it says nothing about msnb.
"""

import argparse
import collections
import importlib
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

LIBRARIES = {  # the name of the package in Python, and the wheel
    "mindcv": "mindcv==0.3.0",
    "mindyolo": "mindyolo==0.5.0",
    "mindnlp": "mindnlp==0.2.4",
    "mindone": "mindone==0.5.0",
    "mindspore_rl": "mindspore-rl==0.7.0",
    "mindspore_rec": "mindspore-rec==0.3.0",
    "mindspore_gs": "mindspore-gs==1.4.1",
    "troubleshooter": "troubleshooter==1.0.18",
}
_NOT_MODULES = ("tests", "test", "examples", "st", "ut", "__pycache__")
_SCRIPTS = ("setup", "train", "eval", "infer", "main", "run")


def install(folder, wheel):
    """Fill `folder` with a wheel, unless it is there already."""
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), wheel]
        subprocess.run(pip, check=True)


def modules_of(folder, package):
    """Return the dotted names of a package's modules, without its tests and its scripts, outer ones first."""
    names = []
    for path in (folder / package).rglob("*.py"):
        at = path.relative_to(folder)
        if not set(at.parts) & set(_NOT_MODULES) and not at.name.startswith(_SCRIPTS):
            names.append(".".join((at.parent if at.name == "__init__.py" else at.with_suffix("")).parts))
    return sorted(names, key=lambda name: (name.count("."), name))


def import_all(folder, package, seconds):
    """Import the modules of a package in this process and return what came of them."""
    sys.path.insert(0, str(folder))
    until = time.monotonic() + seconds
    imported, skipped, third, stops = 0, 0, collections.Counter(), collections.Counter()
    modules = modules_of(folder, package)
    for name in modules:
        if time.monotonic() > until:
            skipped += 1
            continue
        try:
            importlib.import_module(name)
            imported += 1
        except (Exception, SystemExit) as error:
            absent = (getattr(error, "name", None) or "").split(".")[0] if isinstance(error, ImportError) else ""
            if isinstance(error, ModuleNotFoundError) and absent not in ("", "mindspore", "msnb", package):
                third[absent] += 1
            else:
                stops[f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:110]] += 1
    return {"all": len(modules), "imported": imported, "skipped": skipped, "third": third, "stops": stops}


def report(package, wheel, found):
    """Print the result of one library."""
    late = f", {found['skipped']} not tried for lack of time" if found["skipped"] else ""
    third = ", ".join(f"{name} {count}" for name, count in found["third"].items())
    print(f"{wheel}: {found['imported']} of {found['all']} import{late}{'; not installed: ' + third if third else ''}")
    for stop, count in sorted(found["stops"].items(), key=lambda item: -item[1])[:3]:
        print(f"    {count:5}  {stop}")


def main():
    """Import the libraries, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--seconds", type=float, default=120, help="for one library (default: 120)")
    parser.add_argument("--real", action="store_true", help="the MindSpore of this Python in place of msnb")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        warnings.simplefilter("ignore")
        if not options.real:
            import msnb.alias

            msnb.alias.install(api=2)
        sys.argv[1:] = []  # libraries read the arguments of the process
        found = import_all(options.folder / options.worker, options.worker, options.seconds)
        print("\n" + json.dumps(found))
        sys.stdout.flush()
        os._exit(0)  # threads of libraries do not end by themselves
    for package in options.only:
        install(options.folder / package, LIBRARIES[package])
        done = subprocess.run([sys.executable, *sys.argv, "--worker", package], capture_output=True, text=True)
        if done.returncode:
            print(f"{LIBRARIES[package]}: the process ended with {done.returncode}\n{done.stderr[-400:]}")
        else:
            report(package, LIBRARIES[package], json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
