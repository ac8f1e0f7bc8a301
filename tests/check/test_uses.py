"""Names are resolved like in Python, as far as the text determines them."""

import ast
import textwrap

import pytest

from msnb.check.uses import uses


def names(text, **attributes):
    all_uses = uses(ast.parse(textwrap.dedent(text)))
    return [
        use.name.removeprefix("mindspore.")
        for use in all_uses
        if all(getattr(use, k) == v for k, v in attributes.items())
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import mindspore as ms\nms.nn.Dense", ["mindspore", "nn.Dense"]),
        ("import mindspore.nn as nn\nnn.Dense", ["nn", "nn.Dense"]),
        ("import mindspore.dataset.vision\nmindspore.Tensor", ["dataset.vision", "Tensor"]),
        ("from mindspore import nn as layers\nlayers.Dense", ["nn", "nn.Dense"]),
        ("from mindspore.ops import *\n", ["ops"]),
        ("import numpy as np\nnp.zeros", []),
        ("from .mindspore import nn\nnn.Dense", []),
        ("from mindspore import nn\nnn = other()\nnn.Dense", ["nn"]),
        ("from mindspore import nn\ndef f(nn): return nn.Dense", ["nn"]),
        ("from mindspore import nn\ndef f():\n  nn = 1\n  return nn.Dense\nnn.ReLU", ["nn", "nn.ReLU"]),
        ("def f():\n  from mindspore import nn\n  return nn.Dense\nnn.ReLU", ["nn", "nn.Dense"]),
        ("from mindspore import nn\nclass A:\n  nn = 1\n  def f(self): return nn.Dense", ["nn", "nn.Dense"]),
        ("from mindspore import nn\n[nn.Dense for nn in x]\n", ["nn"]),
        ("from mindspore import nn\nclass Net(nn.Cell):\n  @nn.mark\n  def f(self, x: nn.Tensor): pass", None),
        ("import mindspore as ms\nms.verbose = 1", ["mindspore"]),
    ],
)
def test_names_are_resolved_through_imports_and_assignments(text, expected):
    if expected is None:
        expected = ["nn", "nn.Cell", "nn.mark", "nn.Tensor"]
    resolved = [name for name in names(text)]
    assert resolved == expected


def test_methods_of_class_instances_are_resolved():
    text = """
    from mindspore import Model, Tensor
    model = Model(net)
    model.train(3, data, dataset_sink_mode=False)
    Tensor(1).foo()
    other = Model(net) if x else None
    other.train(1)
    model_of(3).train()
    """
    assert names(text, called=True) == ["Model", "Model().train", "Tensor", "Tensor().foo", "Model"]


def test_arguments_of_calls():
    (call,) = [u for u in uses(ast.parse("from mindspore import nn\nnn.Dense(1, *a, b=2, **c)\n")) if u.called]
    assert (call.positional_count, call.keywords, call.line) == (None, ("b",), 2)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n  from mindspore import jit\nexcept ImportError:\n  jit = None",
        "try:\n  from mindspore import jit\nexcept (ValueError, AttributeError):\n  pass",
        "import mindspore as ms\nif hasattr(ms, 'jit'):\n  ms.jit",
        "import mindspore as ms\nif ms.__version__ >= '2':\n  ms.jit",
        "import mindspore as ms\nnew = hasattr(ms, 'jit')\ndef f():\n  if x and new: return ms.jit",
        "import mindspore as ms\nV = ms.__version__\ndef new(): return V > '2'\nnew() and ms.jit",
    ],
)
def test_uses_guarded_by_feature_tests(text):
    (use,) = [u for u in uses(ast.parse(text)) if u.name == "mindspore.jit"]
    assert use.guarded


def test_deeply_nested_code_is_read():
    assert names("import mindspore as ms\na = " + "+".join(["ms.Tensor(1)"] * 900)) == ["mindspore", "Tensor"]
