"""No class has more than 30 attributes, so that a reader can hold it in mind.

`python tests/core/test_attribute_counts.py` prints the largest classes.
"""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parent.parent.parent / "msnb"
LIMIT = 30
ALLOWED = {"Optimizer"}  # MindSpore's attributes of an optimizer, which checkpoints and subclasses of users read


def _assigned(cls):
    """Return the names that the methods of a class assign on their first argument, and its slots."""
    names = set()
    for method in (n for n in cls.body if isinstance(n, ast.FunctionDef) and n.args.args):
        own = method.args.args[0].arg
        names |= {
            n.attr
            for n in ast.walk(method)
            if isinstance(n, ast.Attribute)
            and isinstance(n.ctx, ast.Store)
            and isinstance(n.value, ast.Name)
            and n.value.id == own
            and n.attr != "__class__"
        }
    for node in cls.body:
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__slots__" for t in node.targets):
            names |= {n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant)} - {"__weakref__"}
    return names


def attribute_counts():
    """Return {(file, class): number of attributes}, those of base classes in msnb with a unique name included."""
    own, files = {}, defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                key = str(path.relative_to(PACKAGE)), node.name
                bases = [getattr(b, "id", getattr(b, "attr", "")) for b in node.bases]
                own[key] = _assigned(node), bases
                files[node.name].append(key)

    def total(key, below=()):
        names, bases = own[key]
        for base in bases:
            if len(files[base]) == 1 and files[base][0] not in (key, *below):
                names = names | total(files[base][0], (key, *below))
        return names

    return {key: len(total(key)) for key in own}


def test_no_class_has_more_than_30_attributes():
    large = {key: count for key, count in attribute_counts().items() if count > LIMIT and key[1] not in ALLOWED}
    assert not large, f"compose these classes of named parts: {large}"


if __name__ == "__main__":
    for (file, name), count in sorted(attribute_counts().items(), key=lambda item: -item[1])[:20]:
        print(count, file, name)
