"""How many modules of the libraries that build on MindSpore import.

    python benchmarks/libraries.py FOLDER [--only mindcv ...] [--seconds 120]
    /path/of/mindspore/python benchmarks/libraries.py FOLDER --real

FOLDER gets one folder for each library, which `pip install --no-deps` fills with the pinned version, and `third` with
the packages of `libraries.txt`. Every module is imported, all modules of a library in one process. msnb is imported
with the meanings of MindSpore 2; `--real` imports the MindSpore of this Python and writes the modules that import, for
the denominator. Later runs of msnb compare with what any MindSpore measured so imports. A module that stops at a
package that is not installed is counted apart: it says nothing about msnb. Both run with the same packages and the same
environment; diffusers stops if onnxruntime is there.

`sciai` sets matplotlib's "pgf.preamble" to a list, which matplotlib refuses since 3.6. Join its lines to measure it.
"""

import argparse
import collections
import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

LIBRARIES = {  # the wheel, and the names of its packages in Python
    "mindcv==0.3.0": "mindcv",
    "mindyolo==0.5.0": "mindyolo",
    "mindnlp==0.2.4": "mindnlp",
    "mindnlp==0.5.1": "mindnlp mindtorch",
    "mindone==0.5.0": "mindone",
    "mindchemistry-ascend==0.2.0": "mindchemistry",
    "sciai==0.1.0": "sciai",
    "denoising-diffusion-mindspore==0.0.1a0": "ddm",
    "mindspore-rl==0.7.0": "mindspore_rl",
    "mindspore-rec==0.3.0": "mindspore_rec",
    "mindspore-gs==1.4.1": "mindspore_gs",
    "troubleshooter==1.0.18": "troubleshooter",
    "mindformers==2.1.0": "mindformers",
    "mindtorch==0.4.0": "mindtorch",
    "msadapter==0.1.0": "msadapter",
    "mindocr==0.5.0": "mindocr",
    "mindpet==1.0.4": "mindpet",
    "mindaudio==0.3.0": "mindaudio",
    "mindvision==0.1.0": "mindvision",
    "mindspore-xai==1.8.1": "mindspore_xai",
    "tinyms==0.3.2": "tinyms",
}
_OLD_PYTHON = {"sciai==0.1.0": "3.7"}  # wheels of Python code for one old Python
_ENVIRONMENT = {  # libraries read them
    "LD_LIBRARY_PATH": "",
    "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python",
}
_NOT_MODULES = ("tests", "test", "examples", "st", "ut", "__pycache__")
_SCRIPTS = ("setup", "train", "eval", "infer", "main", "run")


def install(folder, *requirements):
    """Fill `folder` by pip, unless it is there already."""
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *requirements]
        subprocess.run(pip, check=True)


def install_library(folder, wheel):
    """Fill `folder` with a wheel, unless it is there already."""
    python = _OLD_PYTHON.get(wheel)
    install(folder, *(["--python-version", python, "--only-binary=:all:"] if python else []), wheel)


def modules_of(folder, packages):
    """Return the dotted names of the packages' modules, without tests and scripts, outer ones first."""
    names = []
    for path in (path for package in packages for path in (folder / package).rglob("*.py")):
        at = path.relative_to(folder)
        if not set(at.parts) & set(_NOT_MODULES) and not at.name.startswith(_SCRIPTS):
            names.append(".".join((at.parent if at.name == "__init__.py" else at.with_suffix("")).parts))
    return sorted(names, key=lambda name: (name.count("."), name))


def import_all(folder, packages, seconds):
    """Import the modules of packages in this process and return what came of them."""
    sys.path.insert(0, str(folder))
    until = time.monotonic() + seconds
    imported, failed, skipped, third, stops = [], set(), 0, collections.Counter(), collections.Counter()
    modules = modules_of(folder, packages)
    for name in modules:
        if any(name.startswith(f"{outer}.") for outer in failed):
            stops["a package around it"] += 1
            continue
        if time.monotonic() > until:
            skipped += 1
            continue
        try:
            importlib.import_module(name)
            imported.append(name)
        except (Exception, SystemExit) as error:
            failed.add(name)
            absent = (getattr(error, "name", None) or "").split(".")[0] if isinstance(error, ImportError) else ""
            if isinstance(error, ModuleNotFoundError) and absent not in ("", "mindspore", "msnb", *packages):
                third[absent] += 1
            else:
                stops[f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:110]] += 1
    return {"all": len(modules), "imported": imported, "skipped": skipped, "third": third, "stops": stops}


def report(wheel, result, real, rows):
    """Print the result of one library. `real` has the modules that MindSpore imports, if it was measured."""
    late = f", {result['skipped']} not tried for lack of time" if result["skipped"] else ""
    third = "".join(f"; not installed: {name} {count}" for name, count in result["third"].items())
    imported = result["imported"]
    beside = f"; MindSpore imports {len(real)}, of them {len({*imported} & real)} import" if real else ""
    print(f"{wheel}: {len(imported)} of {result['all']} import{beside}{late}{third}")
    for stop, count in sorted(result["stops"].items(), key=lambda item: -item[1])[:rows]:
        print(f"    {count:5}  {stop}")


def main():
    """Import the libraries, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[""], help="beginnings of names of wheels (default: all)")
    parser.add_argument("--seconds", type=float, default=120, help="for one library (default: 120)")
    parser.add_argument("--stops", type=int, default=3, help="most frequent stops to print (default: 3)")
    parser.add_argument("--real", action="store_true", help="the MindSpore of this Python in place of msnb")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        warnings.simplefilter("ignore")
        sys.path.insert(0, str(options.folder / "third"))
        if not options.real:
            import msnb.alias

            msnb.alias.install(api=2)
        sys.argv[1:] = []  # libraries read the arguments of the process
        result = import_all(options.folder / options.worker, LIBRARIES[options.worker].split(), options.seconds)
        print("\n" + json.dumps(result))
        sys.stdout.flush()
        os._exit(0)  # threads of libraries do not end by themselves
    install(options.folder / "third", "--requirement", str(Path(__file__).with_suffix(".txt")))
    for wheel in filter(lambda name: name.startswith(tuple(options.only)), LIBRARIES):
        install_library(options.folder / wheel, wheel)
        command = [sys.executable, *sys.argv, "--worker", wheel]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **_ENVIRONMENT})
        if done.returncode:
            print(f"{wheel}: the process ended with {done.returncode}\n{done.stderr[-400:]}")
            continue
        result = json.loads(done.stdout.splitlines()[-1])
        if options.real:
            version = importlib.metadata.version("mindspore")
            (options.folder / f"{wheel}.real-{version}.json").write_text(json.dumps(result["imported"]))
        denominators = (json.loads(path.read_text()) for path in options.folder.glob(f"{wheel}.real-*.json"))
        report(wheel, result, {name for names in denominators for name in names}, options.stops)


if __name__ == "__main__":
    main()
