"""The examples in the documentation of the operators print what they say."""

import doctest
import re

import numpy as np
import pytest

import msnb
from msnb import Parameter, Tensor, ops
from msnb.core.operator import FUNCTIONAL, REGISTRY

NAMES = {"np": np, "mindspore": msnb, "ops": ops, "Tensor": Tensor, "Parameter": Parameter}
DOCUMENTED = {}
for _name, _op in {**{f.__name__: f for f in FUNCTIONAL.values() if hasattr(f, "__name__")}, **REGISTRY}.items():
    _fn = getattr(_op, "fn", _op)
    _doc = getattr(_op.primitive, "__doc__", None) if hasattr(_op, "primitive") else _fn.__doc__
    if ">>>" in (_doc or "") and not re.search(r"\.nn|\.random|forms_create", getattr(_fn, "__module__", "")):
        DOCUMENTED[_doc] = _name


NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")


class Checker(doctest.OutputChecker):
    """Compares words exactly and numbers up to rounding, which differs between processors."""

    def check_output(self, want, got, optionflags):
        same_words = NUMBER.sub("#", want).split() == NUMBER.sub("#", got).split()
        numbers = [np.array(NUMBER.findall(text), float) for text in (want, got)]
        return super().check_output(want, got, optionflags) or (
            same_words and numbers[0].shape == numbers[1].shape and np.allclose(*numbers, rtol=1e-5, atol=1e-6)
        )


@pytest.mark.parametrize("doc", DOCUMENTED, ids=DOCUMENTED.values())
def test_an_example_prints_what_it_says(doc):
    test = doctest.DocTestParser().get_doctest(doc, dict(NAMES), DOCUMENTED[doc], None, 0)
    output = []
    runner = doctest.DocTestRunner(Checker(), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test, out=output.append).failed == 0, "".join(output)
