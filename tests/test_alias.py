"""`import mindspore` means msnb: the same objects, hidden and put back what was there."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
REAL = '__version__ = "2.7.1"\nname = "the real one"\n'


@pytest.fixture
def python(fresh, tmp_path):
    """python(code, *folders) -> (lines, errors) that a process prints in which warnings are errors."""

    def python(code, *folders):
        done = fresh.run(f"import sys\n{textwrap.dedent(code)}", tmp_path, path=folders, strict=True)
        assert done.status == 0, done.err
        return done.out.splitlines(), done.err

    return python


@pytest.fixture
def real(tmp_path):
    """Return a folder with a MindSpore that is not msnb."""
    (tmp_path / "mindspore" / "nn").mkdir(parents=True)
    (tmp_path / "mindspore" / "__init__.py").write_text(REAL)
    (tmp_path / "mindspore" / "nn" / "__init__.py").write_text(REAL)
    return tmp_path


def test_every_submodule_is_the_very_same_object(python):
    lines, _ = python("""
        import msnb.alias
        msnb.alias.install()
        import mindspore as ms, mindspore.nn.layer.conv as conv, mindspore.common.dtype, msnb.nn.layer.conv
        from mindspore.nn.layer.conv import Conv2d
        from mindspore.ops import operations as P
        import mindspore.context as context
        print(conv is msnb.nn.layer.conv, Conv2d is msnb.nn.Conv2d is ms.nn.Conv2d, P is msnb.ops.operations)
        print(context is msnb.context is ms.context, ms.common.dtype is msnb.common.dtype, ms.Tensor is msnb.Tensor)
        print(conv.__name__, conv.__spec__.name, sys.modules["mindspore.nn"].__spec__.name)
        """)
    assert lines == ["True True True", "True True True", "msnb.nn.layer.conv msnb.nn.layer.conv msnb.nn"]


def test_mindspore_has_its_own_version_and_msnb_keeps_its_own(python):
    lines, _ = python("""
        import msnb.alias
        msnb.alias.install()
        import mindspore
        from mindspore import __version__
        print(mindspore.__version__, __version__, mindspore.__name__, msnb.__version__ == "1.1.1", msnb.__name__)
        mindspore.marked = 3
        print(msnb.marked, "marked" in dir(mindspore))
        """)
    assert lines == ["1.1.1 1.1.1 mindspore False msnb", "3 True"]


def test_a_pickle_written_under_the_alias_loads_without_it(python):
    lines, _ = python("""
        import msnb.alias, pickle
        msnb.alias.install()
        import mindspore
        data = pickle.dumps(mindspore.Tensor([1.0, 2.0]))
        by_path = b"cmindspore.common.tensor\\nTensor\\n."
        print(pickle.loads(by_path) is msnb.Tensor)
        msnb.alias.uninstall()
        print(pickle.loads(data).asnumpy().tolist(), any(m.startswith("mindspore") for m in sys.modules))
        """)
    assert lines == ["True", "[1.0, 2.0] False"]


def test_an_installed_mindspore_is_hidden_with_one_warning_and_comes_back(python, real):
    lines, errors = python(
        """
        import mindspore, mindspore.nn
        from mindspore import nn as before
        import msnb.alias
        for _ in range(2):
            msnb.alias.install()
            import mindspore
            print(mindspore.__version__, mindspore.nn is before, msnb.alias.hidden().split(" (")[0])
            msnb.alias.uninstall()
            import mindspore, mindspore.nn
            print(mindspore.__version__, mindspore.nn is before, msnb.alias.installed())
        """,
        real,
    )
    assert lines == ["1.1.1 False MindSpore 2.7.1", "2.7.1 True False"] * 2
    assert errors.count("is hidden until msnb.alias.uninstall()") == 1


def test_nothing_is_said_where_there_is_nothing_to_hide(python, tmp_path):
    (tmp_path / "mindspore").mkdir()  # a clone's folder, not a package
    _, errors = python("import msnb.alias; msnb.alias.install(api=1); import mindspore; mindspore.Tensor", tmp_path)
    assert errors == ""


def test_what_msnb_lacks_is_an_error_of_one_sentence_that_helps(python):
    lines, _ = python("""
        import msnb.alias
        msnb.alias.install()
        import mindspore
        for code in ("import mindspore.nosuch", "import mindspore.nosuch.deeper", "from mindspore import Tenser",
                     "from mindspore.nn import Conv2dd", "mindspore.Tenser", "import mindspore.context.deeper"):
            try:
                exec(code)
            except (ImportError, AttributeError) as error:
                print(type(error).__name__, error)
        print(hasattr(mindspore, "nosuch"))
        """)
    assert lines[0] == (
        "ModuleNotFoundError msnb has no mindspore.nosuch: it is misspelt, or belongs to a part of "
        "MindSpore that is not here yet. dir(mindspore) lists what is there."
    )
    assert "mindspore.nosuch:" in lines[1]
    assert "msnb has no mindspore.Tenser" in lines[2] and "Did you mean Tensor?" in lines[2]
    assert "msnb has no mindspore.nn.Conv2dd" in lines[3] and "Did you mean Conv2d" in lines[3]
    assert lines[4].startswith("AttributeError msnb has no mindspore.Tenser")
    assert "mindspore.context" in lines[5]
    assert lines[6] == "False"


def test_a_path_may_lead_to_a_module_that_stands_elsewhere(python):
    lines, _ = python("""
        import msnb.common, msnb.context, msnb.alias
        msnb.common.elsewhere = msnb.ops  # as faces do
        msnb.alias.install()
        import mindspore.common.elsewhere.operations as P
        from mindspore.common.elsewhere import functional
        print(P is msnb.ops.operations, functional is msnb.ops.functional)
        """)
    assert lines == ["True True"]


def test_a_broken_module_of_msnb_is_not_called_missing(python, tmp_path):
    lines, _ = python(f"""
        import msnb.common, msnb.alias
        msnb.common.__path__.append({str(tmp_path)!r})
        open({str(tmp_path / "broken.py")!r}, "w").write("import no_such_dependency")
        msnb.alias.install()
        try:
            import mindspore.common.broken
        except ModuleNotFoundError as error:
            print(error)
        """)
    assert lines == ["No module named 'no_such_dependency'"]


def test_reloading_keeps_the_object_and_its_name(python):
    lines, _ = python("""
        import importlib, msnb.alias
        msnb.alias.install()
        import mindspore, mindspore.common.seed as seed
        print(importlib.reload(mindspore) is mindspore, importlib.reload(seed) is seed, seed.__spec__.name)
        """)
    assert lines == ["True True msnb.common.seed"]


@pytest.mark.slow  # tests/test_main.py runs such a script, too
def test_a_script_runs_as_it_is(tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import sys, mindspore as ms\nfrom helper import t\nprint(ms.__version__, t, *sys.argv[1:])")
    (tmp_path / "helper.py").write_text("from mindspore import Tensor\nt = Tensor([1, 2])\n")
    done = subprocess.run(
        [sys.executable, "-m", "msnb", "run", str(script), "a"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == "1.1.1 [1 2] a\n", done.stderr


def test_metadata_has_the_version_while_the_alias_is_installed(python):
    lines, _ = python("""
        import importlib.metadata as metadata
        import msnb.alias
        for generation in (1, 2):
            msnb.alias.install(api=generation)
            import mindspore
            print(metadata.version("mindspore") == mindspore.__version__, metadata.metadata("mindspore")["Name"])
        print(msnb.alias.hidden(), "mindspore" in {found.name for found in metadata.distributions()})
        msnb.alias.uninstall()
        try:
            metadata.version("mindspore")
        except metadata.PackageNotFoundError:
            print("not there")
        """)
    assert lines == ["True mindspore", "True mindspore", "None False", "not there"]


@pytest.mark.parametrize("generation", [1, 2])
def test_a_function_stays_in_its_package_when_a_module_of_its_name_is_imported(python, generation):
    lines, _ = python(f"""
        import msnb.alias
        msnb.alias.install(api={generation})
        import mindspore.scipy.optimize.line_search as by_path
        from mindspore.scipy.optimize.line_search import line_search
        import mindspore.train.data_sink, msnb.scipy.optimize
        from mindspore.train.data_sink import data_sink
        import mindspore
        print(by_path is line_search is mindspore.scipy.optimize.line_search is msnb.scipy.optimize.line_search)
        print(callable(by_path), mindspore.train.data_sink is data_sink, callable(data_sink))
        import msnb.mindspore2.scipy.optimize.minimize as minimize
        print(callable(minimize))
        """)
    assert lines == ["True", "True True True", "True"]
