"""`find_definition`: the syntax tree of a function, wherever it is defined."""

import ast
import itertools
import linecache
import types

import pytest

from msnb.core.script.source import SourceMissing, find_definition

_numbers = itertools.count()

NESTED = """
import functools
match 1:
    case 1:
        def in_case(): return "case"
try:
    functools.missing
except AttributeError:
    def in_handler(): return "handler"
else:
    def in_else(): return "else"
finally:
    def in_finally(): return "finally"
with open("x") as f:
    for i in range(3):
        def in_loop(): return "loop"
class Outer:
    @functools.cache
    @functools.lru_cache(
        maxsize=None)
    def decorated(self, key=lambda: 0):
        def inner(): return "inner"
        return inner
    class Inner:
        async def method(self): return "method"
"""


def all_codes(code):
    """Return the code objects of all functions in a code object."""
    codes = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return [*codes, *(inner for each in codes for inner in all_codes(each))]


def definitions(text, parsed=None):
    """Return {qualified name: (node, class name)} of all functions of a text, as a notebook's line cache holds it."""
    name = f"<text {next(_numbers)}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    codes = all_codes(compile(parsed or text, name, "exec"))
    return {c.co_qualname: find_definition(c, c.co_qualname) for c in codes if c.co_flags & 3 == 3}


def test_a_function_is_located_in_every_statement():
    nodes = definitions(NESTED)
    assert {name.rpartition(".")[2] for name in nodes} == {
        *("in_case", "in_handler", "in_else", "in_finally", "in_loop"),
        *("decorated", "<lambda>", "inner", "method"),
    }
    for name, (node, class_name) in nodes.items():
        short = name.rpartition(".")[2]
        assert isinstance(node, ast.Lambda) if short == "<lambda>" else node.name == short
        assert class_name == {"decorated": "Outer", "inner": "Outer", "<lambda>": "Outer", "method": "Inner"}.get(short)


def test_lambdas_of_one_line_are_distinguished():
    text = "def f():\n    return [lambda x: x + 1, lambda x: (lambda y: y + 2), f'{(lambda: 3)()}']\n"
    name = f"<text {next(_numbers)}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    bodies = [
        ast.unparse(find_definition(code, code.co_name)[0].body)
        for code in all_codes(compile(text, name, "exec"))
        if code.co_name == "<lambda>"
    ]
    assert sorted(bodies) == ["3", "lambda y: y + 2", "x + 1", "y + 2"]


def test_magics_are_comments_and_text_that_looks_like_them_is_not():
    ((node, _),) = definitions(
        "%matplotlib inline\n!ls\n?x\ndef f():\n    return 1\n", "\n\n\ndef f():\n    return 1\n"
    ).values()
    assert node.lineno == 4
    ((node, _),) = definitions('def f():\n    return """\n%d items\n!""" % (7\n% 4)\n').values()
    assert eval(ast.unparse(node.body[0].value)) == "\n3 items\n!"


def test_text_that_is_no_python_has_no_source():
    with pytest.raises(SourceMissing, match="linecache"):
        definitions("def f(:\n    return 1\n", "def f():\n    return 1\n")
