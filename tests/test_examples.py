"""The examples in the documentation print what they say: every ``>>>`` in every docstring of the package."""

import ast
import doctest
import re
from pathlib import Path

import numpy as np
import pytest

import msnb
from msnb import Parameter, Tensor, context, dataset, nn, ops

PACKAGE = Path(__file__).parent.parent / "msnb"
# What an example may use without importing it.
NAMES = {
    "np": np,
    "mindspore": msnb,
    "msnb": msnb,
    "ms": msnb,
    "nn": nn,
    "ops": ops,
    "ds": dataset,
    "context": context,
    "Tensor": Tensor,
    "Parameter": Parameter,
}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")


class Checker(doctest.OutputChecker):
    """Compares words exactly and numbers up to rounding, which differs between processors."""

    def check_output(self, want, got, optionflags):
        same_words = NUMBER.sub("#", want).split() == NUMBER.sub("#", got).split()
        numbers = [np.array(NUMBER.findall(text), float) for text in (want, got)]
        return super().check_output(want, got, optionflags) or (
            same_words and numbers[0].shape == numbers[1].shape and np.allclose(*numbers, rtol=1e-5, atol=1e-6)
        )


def examples_of(path):
    """(name, docstring, line) of what has an example in a file."""

    def visit(node, name):
        for child in getattr(node, "body", ()):
            if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from visit(child, f"{name}.{child.name}")
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text and ">>>" in text:
                yield name, text, getattr(node, "lineno", 1)

    module = path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".")
    yield from visit(ast.parse(path.read_text(encoding="utf-8")), module)


FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_the_examples_print_what_they_say_in(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(Checker(), verbose=False, optionflags=FLAGS)
    output = []
    for name, text, line in examples_of(path):
        test = parser.get_doctest(text, dict(NAMES), name, str(path), line)
        runner.run(test, out=output.append)
    assert not runner.failures, "".join(output)
