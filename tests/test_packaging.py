"""The release: contents of the wheel, bounds of versions, and files that set a contributor up."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

import msnb
from msnb._util import version_check

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def shipped_files():
    files = [p for p in (ROOT / "msnb").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return [p for p in files if not is_view_source(p.relative_to(ROOT).as_posix())]


def is_view_source(name):
    return name.startswith("msnb/") and ("/src/" in name or name.endswith((".mjs", ".ts", "package.json")))


def test_the_wheel_has_everything_below_the_package(tmp_path):
    wheel_builder = pytest.importorskip("hatchling.builders.wheel")
    (built,) = wheel_builder.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    names = set(zipfile.ZipFile(built).namelist())
    expected = {p.relative_to(ROOT).as_posix() for p in shipped_files()}
    assert not expected - names
    tutorials = {f"msnb/_data/{path.name}" for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")}
    assert (
        len(tutorials) > 1
        and {"msnb/py.typed", "msnb/_data/digits.npz", "msnb/_data/tutorials.md", *tutorials} <= names
    )
    assert not [name for name in names if name.startswith(("tests/", "notebooks/")) or is_view_source(name)]


def test_the_source_distribution_is_what_the_wheel_is_built_from(tmp_path):
    source_builder = pytest.importorskip("hatchling.builders.sdist")
    (built,) = source_builder.SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    settings = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    for source in [*settings["force-include"], *settings["shared-data"]]:
        assert source in names or any(name.startswith(f"{source}/") for name in names), source
    assert not [name for name in names if name.startswith(("tests/", "docs/images/", "notebooks/zh/"))]
    assert Path(built).stat().st_size < 8_000_000


def test_git_ignores_nothing_that_is_shipped():
    if not (ROOT / ".git").exists() or not shutil.which("git"):
        pytest.skip("not a clone")
    files = [str(p.relative_to(ROOT)) for p in [*shipped_files(), *(ROOT / "tests" / "golden").glob("*.*")]]
    ignored = subprocess.run(["git", "check-ignore", *files], cwd=ROOT, capture_output=True, text=True).stdout
    assert not ignored


def test_the_line_on_import_and_the_declared_bounds_are_the_same():
    above = f"{version_check.JAX[1][0]}.{version_check.JAX[1][1] + 1}"
    below = tuple(f"{end[0][0]}.{end[0][1]}" for end in (version_check.PYTHON, version_check.JAX))
    project = PYPROJECT["project"]
    everything = [*project["dependencies"], *(r for extra in project["optional-dependencies"].values() for r in extra)]
    assert project["requires-python"] == f">={below[0]}"  # newer Pythons are not refused; a line on import names them
    minors = range(version_check.PYTHON[0][1], version_check.PYTHON[1][1] + 1)
    classifiers = [f"Programming Language :: Python :: 3.{minor}" for minor in minors]
    assert [c for c in project["classifiers"] if ":: Python :: 3." in c] == classifiers
    bounds = [re.split(r"(?=[<>=])", r, maxsplit=1)[1] for r in everything if r.startswith("jax")]
    assert len(bounds) == 5 and set(bounds) == {f">={below[1]},<{above}"}


@pytest.mark.parametrize(
    "python, jax, inside",
    [
        ((3, 11), "0.10.2", True),
        ((3, 13), "0.12.0.1", True),
        ((3, 12), "0.11.2", True),
        ((3, 10), "0.10.2", False),
        ((3, 14), "0.12.1", False),
        ((3, 13), "0.13.0", False),
        ((3, 11), "0.9.2", False),
        ((3, 11), "0.13.0.dev20261101+abc", False),
    ],
)
def test_versions_that_no_test_has_seen_are_named(python, jax, inside):
    sentence = version_check.describe_untested(python, jax)
    assert (sentence is None) == inside
    if not inside:
        assert f"this is Python {python[0]}.{python[1]} with JAX {jax}." in sentence and "GLOG_v=3" in sentence
        wrong = not version_check.JAX[0] <= tuple(map(int, jax.split(".")[:2])) <= version_check.JAX[1]
        (needed,) = [r for r in PYPROJECT["project"]["dependencies"] if r.startswith("jax>")]
        assert (f'pip install "{needed}"' in sentence) == wrong


@pytest.mark.parametrize("level, lines", [("2", 1), ("3", 0)])
def test_an_import_with_an_untested_jax_says_one_line_that_the_log_level_silences(level, lines, fresh, tmp_path):
    code = """
        import importlib, importlib.metadata as m, sys
        m.version = lambda name: "0.99.0"
        for name in ("msnb.log", "msnb._util.version_check"):  # which `import msnb` has imported
            importlib.reload(sys.modules[name])
        """
    done = fresh.run(code, tmp_path, environment={"GLOG_v": level})
    assert done.status == 0 and len(done.err.splitlines()) == lines == done.err.count("JAX 0.99.0"), done.err


def test_importing_the_lowest_floor_does_not_import_jax():
    code = "import sys; sys.modules['msnb'] = type(sys)('msnb'); sys.modules['msnb'].__path__ = ['msnb']; "
    code += "import msnb.context, msnb.log, msnb._checkparam, msnb.common.seed; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


def recipe(target):
    """Return the recipe of a target of the Makefile."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.search(rf"^{target}:.*\n((?:\t.*\n)+)", text, re.MULTILINE)[1]


def test_what_is_left_out_of_the_tests_is_run_by_lint():
    assert "$(READ:%=--ignore=%) tests;" in recipe("test") and "-m pytest -p no:cacheprovider $(READ)\n" in recipe(
        "lint-python"
    )
    read = re.findall(r"^READ [:+]= (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(read) == 2 and all((ROOT / path).exists() for path in " ".join(read).split())
    assert re.findall(r"--ignore=(?!%)(\S+)", recipe("test") + recipe("unit")) == ["tests/notebook"]


def test_what_is_slow_is_left_out_of_the_tests_and_run_by_bench():
    assert all('-m "not slow"' in recipe(target) for target in ("test", "unit"))
    assert re.search(r"-m pytest .*-m slow tests\n", recipe("bench"))


def test_ci_runs_the_tests_that_a_contributor_runs():
    script = (ROOT / ".ci" / "run").read_text()
    assert all(f"make {target}" in script for target in ("lint", "bundles", "test"))
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "Version 2.0" in (ROOT / "LICENSE").read_text()


def test_the_notebooks_are_valid_and_name_no_path_of_this_machine():
    nbformat = pytest.importorskip("nbformat")
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert "widgets" not in notebook.metadata  # a page would ask a network for the widget's code
        assert str(ROOT) not in path.read_text(encoding="utf-8"), f"{path.name} has a path of this machine in it"


def test_the_version_follows_the_released_one():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.search(r"^## \[(\d\S*)\]: (\S+)$", changelog, re.M).groups()
    assert f"\nversion: {version}\n" in citation and f'date-released: "{date}"' in citation
    own = Version(msnb.__version__)
    assert str(own) == version or own.is_devrelease and own > Version(version)
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "msnb/_version.py"


def test_the_citation_has_the_licences_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    licences = PYPROJECT["project"]["license"].split(" AND ")
    assert "license:\n" + "".join(f"  - {licence}\n" for licence in licences) in citation


CONDA_NAMES = {
    "opencv-python-headless": "py-opencv",
    "flatbuffers": "python-flatbuffers",
    "matplotlib": "matplotlib-base",
}


def test_the_recipe_of_conda_has_the_requirements_of_the_package():
    yaml = pytest.importorskip("yaml")
    page = (ROOT / "docs" / "packaging.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.M | re.S)
    recipe, project = yaml.safe_load(text), PYPROJECT["project"]
    names = [re.split(r"(?=[<>=])", requirement, maxsplit=1) for requirement in project["dependencies"]]
    expected = [f"{CONDA_NAMES.get(name, name)} {bounds}" for name, bounds in names]
    python = f"python {project['requires-python']}"
    assert recipe["requirements"]["run"] == [python, *expected] and python in recipe["requirements"]["host"]
    (backend,) = PYPROJECT["build-system"]["requires"]
    assert backend.replace(">=", " >=") in recipe["requirements"]["host"]
    assert recipe["build"]["python"]["entry_points"] == [f"{k} = {v}" for k, v in project["scripts"].items()]
    assert recipe["about"]["license"] == project["license"] and recipe["about"]["summary"] == project["description"]
    assert recipe["about"]["license_file"] == project["license-files"]


def test_pixi_and_conda_install_the_package_of_the_clone():
    yaml = pytest.importorskip("yaml")
    pixi = tomllib.loads((ROOT / "pixi.toml").read_text(encoding="utf-8"))
    assert pixi["pypi-dependencies"]["msnb"] == {"path": ".", "editable": True, "extras": ["lab"]}
    assert all(command.split()[0] in PYPROJECT["project"]["scripts"] for command in pixi["tasks"].values())
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert {"pip": [".[lab]"]} in environment["dependencies"]
    assert pixi["workspace"]["channels"] == environment["channels"] == ["conda-forge"]


def test_a_change_is_one_short_sentence_of_a_kind_that_a_release_collects():
    kinds = {kind["directory"] for kind in PYPROJECT["tool"]["towncrier"]["type"]}
    for path in (ROOT / "changes").iterdir():
        if path.name == "README.md":
            continue
        name, kind, suffix = path.name.split(".")
        assert kind in kinds and suffix == "md" and name, path.name
        text = path.read_text(encoding="utf-8").strip()
        assert len(text.split()) <= 25 and "\n" not in text and text.endswith("."), path.name


def test_the_notes_of_the_next_release_fit_on_a_page():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    notes = changelog.split("release notes start -->")[1].split("\n## [0.1.0]")[0].split("\n## ")[1]
    assert len(notes.split()) <= 1500
