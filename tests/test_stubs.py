"""Editors and type checkers see current stubs, and resolve `import mindspore`."""

import ast

import msnb
from msnb import __main__ as command
from msnb.cli import stubs


def test_the_stubs_are_those_of_the_declarations():
    stale = [n for n, text in stubs.stubs().items() if (stubs.PACKAGE / n).read_text(encoding="utf-8") != text]
    assert not stale, f"run `python -m msnb.cli.stubs`: {stale}"


def test_every_public_operator_and_function_has_its_signature_in_a_stub():
    names = set()
    for text in (stubs.functional_stub(), stubs.operations_stub()):
        for node in ast.parse(text).body:
            names.add(getattr(node, "name", None) or ast.unparse(getattr(node, "target", node)))
    missing = [n for n in (*msnb.ops.operations.__all__, *msnb.ops.functional.__all__) if n not in names]
    imported = "get_grad grad jacfwd jacrev jvp partial stop_gradient value_and_grad vjp vmap".split()
    assert set(missing) <= set(imported)


def test_a_method_of_tensor_has_its_signature_in_the_stub():
    (tensor,) = [n for n in ast.parse(stubs.tensor_stub()).body if getattr(n, "name", None) == "Tensor"]
    written = {n.name if isinstance(n, ast.FunctionDef) else ast.unparse(n.target) for n in tensor.body}
    public = {n for n in vars(msnb.Tensor) if not n.startswith("_")}
    assert not public - written


def test_stubs_make_import_mindspore_resolve(tmp_path):
    assert command.main(["stubs", str(tmp_path)]) == 0
    for path in ("__init__.pyi", "nn/__init__.pyi", "ops/operations/__init__.pyi", "common/dtype.pyi"):
        assert "from msnb" in (tmp_path / "mindspore" / path).read_text(encoding="utf-8")
