"""No test asserts a time: a busy machine would fail it. Times belong in benchmarks.

No test draws numbers without a seed. `chance` fixes the draws of msnb without a seed.
"""

import ast
import re
from pathlib import Path

import pytest
import trees

TESTS = Path(__file__).parent
CLOCKS = {"perf_counter", "monotonic", "process_time", "time", "perf_counter_ns", "monotonic_ns"}
NAMED = re.compile(rf"\b({'|'.join(CLOCKS)})\s*\(")  # in a text: to look at all the trees takes four seconds


def reads_a_clock(node):
    """Check that an expression reads a clock."""
    called = (inner.func for inner in ast.walk(node) if isinstance(inner, ast.Call))
    return any(getattr(to, "id", getattr(to, "attr", None)) in CLOCKS for to in called)


def asserted_times(tree):
    """Yield the lines of the assertions that a clock decides, through one assignment or none."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        times = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and reads_a_clock(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Assert):
                named = {inner.id for inner in ast.walk(node.test) if isinstance(inner, ast.Name)}
                if reads_a_clock(node.test) or named & times:
                    yield node.lineno


@pytest.mark.parametrize(
    "text",
    ["assert perf_counter() - t < 1", "took = 1 - perf_counter()\n assert took < 6", "t = time.time()\n assert t < 1"],
)
def test_an_asserted_time_is_detected(text):
    assert list(asserted_times(ast.parse(f"def test():\n {text}")))


def test_no_test_asserts_a_time():
    files = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if NAMED.search(path.read_text(encoding="utf-8"))
        for line in asserted_times(trees.tree_of(path))
    ]
    assert not files, "a time belongs into benchmarks/: " + ", ".join(files)


UNSEEDED = re.compile(r"\b(default_rng|RandomState|SeedSequence|random\.Random|SystemRandom)\(\)")


def test_every_generator_of_a_test_has_a_seed():
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("*.py"))}
    results = [f"{path.relative_to(TESTS)}: {call}" for path, text in texts.items() for call in UNSEEDED.findall(text)]
    assert UNSEEDED.search("np.random.default_rng" + "()") and not results, ", ".join(results)
