"""Prepare a release: notes, versions, a wheel that is tested in a fresh environment, and a local tag.

    make release VERSION=0.2.0

The work is done in a temporary git worktree. A failure leaves the branch as it was, and nothing is pushed.
"""

import datetime
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def run(*command, cwd=ROOT, **settings):
    return subprocess.run([str(word) for word in command], cwd=cwd, check=True, text=True, **settings)


def read(*command):
    return run(*command, stdout=subprocess.PIPE).stdout.strip()


def substitute(path, pattern, replacement):
    text, count = re.subn(pattern, replacement, path.read_text(encoding="utf-8"), flags=re.M)
    if count != 1:
        raise SystemExit(f"{path.name} has {count} lines like {pattern}, not one.")
    path.write_text(text, encoding="utf-8")


def write_version(tree, version):
    substitute(tree / "msnb" / "_version.py", r'^__version__ = ".*"$', f'__version__ = "{version}"')


def write_notes(tree, version, date):
    """Put the fragments before the notes that CHANGELOG.md prepares, under one heading."""
    changelog = tree / "CHANGELOG.md"
    prepared = f"## In preparation: {version}\n\n"
    changelog.write_text(changelog.read_text(encoding="utf-8").replace(prepared, ""), encoding="utf-8")
    run(sys.executable, "-m", "towncrier", "build", "--yes", "--version", version, "--date", date, cwd=tree)
    substitute(tree / "CITATION.cff", r"^version: .*$", f"version: {version}")
    substitute(tree / "CITATION.cff", r"^date-released: .*$", f'date-released: "{date}"')


def test_wheel(tree, folder):
    """Install the wheel into an environment of its own, away from the sources, and run what README says."""
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", tree, stdout=subprocess.DEVNULL)
    (wheel,) = (folder / "dist").glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", f"{wheel}[lab]")
    run(python, tree / ".ci" / "run_readme.py")
    for command in ("version", "demo"):
        run(python, "-m", "msnb", command, cwd=folder)
    return [*(folder / "dist").iterdir()]


def main(version=""):
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit("The version is missing: make release VERSION=0.2.0")
    if read("git", "status", "--porcelain"):
        raise SystemExit("The tree has changes. Commit them first.")
    if read("git", "tag", "--list", f"v{version}"):
        raise SystemExit(f"The tag v{version} exists.")
    major, minor, _ = version.split(".")
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        run("git", "worktree", "add", "--quiet", "--detach", tree)
        try:
            write_version(tree, version)
            write_notes(tree, version, datetime.date.today().isoformat())
            run("git", "add", "--all", cwd=tree)
            files = test_wheel(tree, Path(folder))
            run("git", "commit", "--quiet", "-m", f"Release {version}", cwd=tree)
            run("git", "tag", "-a", f"v{version}", "-m", f"msnb {version}", cwd=tree)
            write_version(tree, f"{major}.{int(minor) + 1}.0.dev0")
            run("git", "commit", "--quiet", "-a", "-m", f"After {version}", cwd=tree)
            commit = run("git", "rev-parse", "HEAD", cwd=tree, stdout=subprocess.PIPE).stdout.strip()
        finally:
            run("git", "worktree", "remove", "--force", tree)
        (ROOT / "dist").mkdir(exist_ok=True)
        for file in files:
            file.replace(ROOT / "dist" / file.name)
    run("git", "merge", "--quiet", "--ff-only", commit)
    print(f"dist/ has {', '.join(file.name for file in files)}. The tag v{version} is local; nothing was pushed.")


if __name__ == "__main__":
    main(*sys.argv[1:])
