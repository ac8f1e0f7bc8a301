"""Compiled programs on disk: what is found again, what is not, and that nothing broken or foreign is ever read."""

import os
import subprocess
import sys
import threading

import jax
import numpy as np
import pytest

import msnb as ms
from msnb import Tensor, context, nn, ops
from msnb.core.program import persistent_cache
from msnb.core.program.persistent_cache import CompiledFiles


@pytest.fixture
def cache(tmp_path):
    """Yield the files of this test, in use."""
    persistent_cache.use(tmp_path / "compiled")
    yield persistent_cache.in_use()
    persistent_cache.use(None)


class Net(nn.Cell):
    def __init__(self, name="first"):
        super().__init__()
        setattr(self, name, nn.Dense(4, 3, weight_init="ones"))
        self.named = name

    def construct(self, x):
        return ops.relu(getattr(self, self.named)(x))


X = Tensor(np.arange(8, dtype=np.float32).reshape(2, 4))


def run(net):
    """Return the result of a network in GRAPH mode."""
    context.set_context(mode=ms.GRAPH_MODE)
    return net(X).asnumpy()


def test_a_second_network_of_the_same_text_is_reused_and_gives_the_same(cache):
    first = run(Net())
    missed = cache.misses
    second = run(Net())
    assert missed and cache.misses == missed and cache.hits
    np.testing.assert_array_equal(first, second)


def test_networks_that_differ_only_in_the_names_of_their_layers_are_distinguished(cache):
    """Views and profiles read names out of what was compiled."""
    from msnb.core.program.program_cache import program_of

    run(Net("first"))
    other = Net("second")
    run(other)
    text = program_of(other, X).compiled().as_text()
    assert "second-Dense" in text and "first-Dense" not in text


def test_operators_of_pynative_mode_are_stored_too(cache):
    context.set_context(mode=ms.PYNATIVE_MODE)
    ops.erfinv(Tensor(np.full(7, 0.5, np.float32))).asnumpy()
    missed = cache.misses
    jax.clear_caches()
    ops.erfinv(Tensor(np.full(7, 0.5, np.float32))).asnumpy()
    assert cache.hits and cache.misses == missed


def test_another_process_finds_what_this_one_compiled(fresh, tmp_path):
    code = """
        import numpy as np, msnb as ms
        from msnb.core import compiled_files
        ms.set_context(mode=ms.GRAPH_MODE, enable_compile_cache=True)
        net = ms.nn.Dense(4, 3)
        net(ms.Tensor(np.ones((2, 4), np.float32))).asnumpy()
        print(compiled_files.in_use().hits, compiled_files.in_use().misses)
    """
    environment = {"MSNB_CACHE": str(tmp_path / "cache"), "MSNB_COMPILE_CACHE": ""}
    done = [fresh.run(code, tmp_path, environment=environment) for _ in range(2)]
    assert not any(one.status for one in done), done[0].err + done[1].err
    counts = [one.out.split() for one in done]
    assert counts[0][0] == "0" and counts[1] == [counts[0][1], "0"]
    (folder,) = (tmp_path / "cache" / "compiled").iterdir()
    assert os.name == "nt" or folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("damage", [lambda b: b[:20], lambda b: b"", lambda b: b[:-1] + bytes([b[-1] ^ 1])])
def test_a_damaged_file_is_thrown_away_and_the_program_compiled_again(tmp_path, damage):
    files = CompiledFiles(tmp_path)
    files.put("key", b"an executable")
    ((_, _, path),) = files.files()
    path.write_bytes(damage(path.read_bytes()))
    assert files.get("key") is None and not path.exists()
    files.put("key", b"an executable")
    assert files.get("key") == b"an executable"


def test_without_a_folder_nothing_is_stored_and_nothing_raised(tmp_path):
    (tmp_path / "file").write_text("in the way")
    files = CompiledFiles(tmp_path / "file" / "compiled")
    files.put("key", b"an executable")
    assert files.get("key") is None and files.files() == []


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of a shared system")
def test_a_folder_that_others_may_write_to_is_not_used(tmp_path, capfd):
    files = CompiledFiles(tmp_path)
    files.put("key", b"an executable")
    files.folder.chmod(0o777)
    assert CompiledFiles(tmp_path).get("key") is None
    assert "others may write" in capfd.readouterr().err


def test_the_limit_holds_and_the_last_used_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(persistent_cache, "LIMIT", 1000)
    files = CompiledFiles(tmp_path)
    foreign = tmp_path / "notes" / "mine.txt"
    foreign.parent.mkdir()
    foreign.write_text("x" * 5000)
    for number in range(12):
        files.put(str(number), bytes(84))
        os.utime(files.folder / persistent_cache._make_file_name(str(number)), (number, number))
    files.prune()
    left = [number for number in range(12) if files.get(str(number)) is not None]
    assert left == list(range(5, 12)) and foreign.exists()  # 100 bytes each, three quarters of 1000
    assert files.clear() == (7, 700) and foreign.exists()


def test_two_who_write_and_read_one_key_see_complete_files_only(tmp_path):
    values = [bytes([n]) * 50_000 for n in range(2)]
    wrong = []

    def work(value):
        files = CompiledFiles(tmp_path)
        for _ in range(50):
            files.put("key", value)
            wrong.extend(v for v in [files.get("key")] if v not in values)

    threads = [threading.Thread(target=work, args=(v,)) for v in values]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and len(CompiledFiles(tmp_path).files()) == 1


def test_a_folder_that_the_user_names_to_jax_later_is_taken(cache, tmp_path):
    jax.config.update("jax_compilation_cache_dir", str(tmp_path / "own"))
    jax.jit(lambda x: x * 7 + 3)(1.0)
    assert persistent_cache.in_use() is None and list((tmp_path / "own").iterdir())


def test_settings_of_jax_that_are_there_before_msnb_stay(tmp_path):
    code = "import jax, msnb; print(jax.config.jax_compilation_cache_dir, msnb.core.program.persistent_cache.in_use())"
    env = {
        **os.environ,
        "JAX_COMPILATION_CACHE_DIR": str(tmp_path),
        "MSNB_CACHE": str(tmp_path / "other"),
        "MSNB_COMPILE_CACHE": "",
    }
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(tmp_path), "None"]


def test_the_context_says_where_and_whether(tmp_path, monkeypatch):
    monkeypatch.setenv("MSNB_CACHE", str(tmp_path / "default"))
    monkeypatch.setenv("MSNB_COMPILE_CACHE", "")
    context.set_context(enable_compile_cache=True)
    assert persistent_cache.in_use().root == tmp_path / "default" / "compiled"
    context.set_context(compile_cache_path=str(tmp_path / "given"))
    assert persistent_cache.in_use().root == (tmp_path / "given").resolve()
    context.set_context(enable_compile_cache=False)
    assert persistent_cache.in_use() is None and jax.config.jax_compilation_cache_dir is None


def test_two_files_that_were_swapped_are_not_run_for_one_another(cache):
    """A file is bound to its key: under the name of another program it is compiled again."""

    class Doubled(nn.Cell):
        def construct(self, x):
            return x * 2.0

    class Squared(nn.Cell):
        def construct(self, x):
            return x * x

    right = [run(Doubled()), run(Squared())]
    files = [path for *_, path in cache.files()]
    executables = sorted((path for path in files if path.suffix != ".note"), key=lambda path: path.stat().st_size)
    contents = [path.read_bytes() for path in executables]
    for path, content in zip(executables, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    jax.clear_caches()
    missed = cache.misses
    for net, expected in zip((Doubled(), Squared()), right, strict=True):
        np.testing.assert_array_equal(run(net), expected)
    assert cache.misses > missed


@pytest.mark.parametrize("suffix", ["", ".note"])
def test_a_file_under_the_name_of_another_is_thrown_away(tmp_path, suffix):
    files = CompiledFiles(tmp_path)
    keep, ask = (files.put, files.get) if not suffix else (files.take_note, files.note)
    keep("one", b"first" if not suffix else "first")
    ((_, _, first),) = files.files()
    keep("other", b"second" if not suffix else "second")
    (second,) = (path for *_, path in files.files() if path != first)
    one, other = first.read_bytes(), second.read_bytes()
    first.write_bytes(other)
    second.write_bytes(one)
    assert ask("one") is None and ask("other") is None and files.files() == []
