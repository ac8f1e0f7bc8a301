"""Files are written completely or not at all, and remains of dead writers are removed."""

import ast
import errno
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from trees import tree_of

import msnb
from msnb._util import atomic_file

PACKAGE = Path(msnb.__file__).parent
posix = pytest.mark.skipif(os.name == "nt", reason="links and locks of POSIX")


@pytest.fixture(autouse=True)
def unswept(monkeypatch):
    monkeypatch.setattr(atomic_file, "_searched_folders", set())


def write(path, text="new"):
    with atomic_file.writing(path, "w", encoding="utf-8") as file:
        file.write(text)


def test_the_file_is_replaced_at_the_end_of_the_block_and_not_before(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with atomic_file.writing(path, "w", encoding="utf-8") as file:
        file.write("new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_an_error_in_the_middle_leaves_what_was_there_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(type(error)) as info, atomic_file.writing(path, "w") as file:
        file.write("half")
        raise error
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]
    if isinstance(error, OSError):
        assert "a.txt" in str(info.value)


def test_a_folder_that_is_missing_is_an_error_that_names_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="a.txt"):
        write(tmp_path / "nowhere" / "a.txt")


@posix
def test_a_link_is_replaced_and_not_followed_and_the_longest_name_can_be_written(tmp_path):
    victim = tmp_path / "diary.txt"
    victim.write_text("mine")
    (tmp_path / "a.txt").symlink_to(victim)
    write(tmp_path / "a.txt")
    assert victim.read_text() == "mine" and not (tmp_path / "a.txt").is_symlink()
    write(tmp_path / ("x" * 255))
    assert (tmp_path / ("x" * 255)).read_text() == "new"


@posix
def test_a_device_is_written_to_as_it_is():
    write("/dev/null")
    assert Path("/dev/null").is_char_device()


@posix
def test_what_a_killed_process_left_goes_and_what_a_living_one_writes_stays(tmp_path):
    program = f"""
import sys, time, types
sys.modules["msnb"] = types.ModuleType("msnb")  # the module alone, without all the others and JAX
sys.modules["msnb"].__path__ = [{str(PACKAGE)!r}]
from msnb._util.atomic_file import Draft
draft = Draft(sys.argv[1])
print(draft.name, flush=True)
time.sleep(60)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "net.ckpt")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
    )
    try:
        left = process.stdout.readline().strip()
        write(tmp_path / "a.txt")
        assert os.path.exists(left)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert os.path.exists(left)
        atomic_file._searched_folders.clear()
        write(tmp_path / "a.txt")
        assert os.listdir(tmp_path) == ["a.txt"]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@posix
def test_nothing_else_is_swept(tmp_path):
    names = [".msnb-0123456789abcdef.tmp.txt", "net.ckpt.tmp", ".msnb-xyz.tmp"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / ".msnb-0123456789abcdef.tmp").symlink_to(tmp_path / names[0])
    (tmp_path / ".msnb-0123456789abcdee.tmp").mkdir()
    write(tmp_path / "a.txt")
    assert len(os.listdir(tmp_path)) == 6


@posix
def test_a_draft_that_was_swept_before_it_could_be_locked_is_created_again(tmp_path, monkeypatch):
    real, names = atomic_file._lock_file, []

    def swept_first(descriptor, wait):
        if not names:
            names.extend(os.listdir(tmp_path))
            os.remove(tmp_path / names[0])
        return real(descriptor, wait)

    monkeypatch.setattr(atomic_file, "_lock_file", swept_first)
    write(tmp_path / "a.txt")
    assert len(names) == 1 and os.listdir(tmp_path) == ["a.txt"]


@posix
def test_a_draft_that_is_given_up_leaves_nothing_but_not_in_a_forked_process(tmp_path):
    draft = atomic_file.Draft(tmp_path / "a.txt")
    pid = os.fork()
    if not pid:
        draft.discard()
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.path.exists(draft.name)
    del draft
    assert os.listdir(tmp_path) == []


@posix
@pytest.mark.parametrize("how", ["given up", "collected", "in a forked process"])
def test_what_a_draft_that_is_given_up_still_holds_goes_into_no_other_file(how, tmp_path):
    """Buffered data is not written: another file may have the number of the descriptor by then."""
    draft = atomic_file.Draft(tmp_path / "a.txt")
    file, number = draft.opened("wb"), draft.descriptor
    file.write(b"half of it")
    if how == "in a forked process":
        pid = os.fork()
        if not pid:
            draft.discard()
            os._exit(file.closed and os.path.getsize(draft.name) == 0)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
        file.flush()
        assert Path(draft.name).read_bytes() == b"half of it"
    if how == "collected":
        del draft
    else:
        draft.discard()
    other = os.open(tmp_path / "b.txt", os.O_RDWR | os.O_CREAT)
    del file
    assert other == number and os.read(other, 1) == b"" and os.listdir(tmp_path) == ["b.txt"]
    os.close(other)


def _writes(path):
    """Yield the lines of a module that open a file for writing, or write one by its name."""
    if not re.search(r"\b(open|write_text|write_bytes)\b", path.read_text(encoding="utf-8")):
        return
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        modes = [
            a.value
            for a in [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode")]
            if isinstance(a, ast.Constant) and isinstance(a.value, str)
        ]
        if name in ("write_text", "write_bytes") or name == "open" and any(set(m) & set("wxa") for m in modes):
            yield node.lineno, ast.unparse(node)


# Files that grow as long as a program runs, each record appended and on the disk at once.
APPENDED = {"train/_print_file.py", "labelling/answer_log.py", "formats/explanation_records.py"}
_APPENDING = ("'ab'", "'a+b'", "'xb'")


def test_every_writer_of_msnb_writes_through_this_module():
    files = {
        f"{path.relative_to(PACKAGE)}:{line}: {call}"
        for path in PACKAGE.rglob("*.py")
        for line, call in _writes(path)
        if path.name != "_util/atomic_file.py"
    }
    appended = {line for line in files if any(m in line for m in _APPENDING) and line.split(":")[0] in APPENDED}
    assert {line.split(":")[0] for line in appended} == APPENDED
    files -= appended
    assert not files, files
