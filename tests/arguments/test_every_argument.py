"""No public argument is silent: each does something, says once that it has no effect, or is refused."""

import inspect

import argument_samples
import argument_uses as uses
import public_signatures as public
import pytest

EXPLAINED = {
    ("mint.argsort", "stable"): "every sort keeps the order of equal elements",
    ("mint.sort", "stable"): "the same",
    ("mint.unique", "sorted"): "the elements are sorted in any case",
    ("mint.repeat_interleave", "output_size"): "it spares MindSpore a look at `repeats`",
    ("Signature", "rw"): "kept on the object for the program that reads it, and so is that of make_sig",
    ("ops.signature.make_sig", "rw"): "see Signature",
    ("TensorDump", "input_output"): "MindSpore writes the same file for both on one device",
    ("ops.tensordump", "mode"): "see TensorDump",
} | {
    (f"scipy.fft.{name}", "norm"): "None and 'ortho' mean the same in MindSpore, and other values are refused"
    for name in ("dct", "dctn", "idct", "idctn")
}


def silent_arguments():
    """Return [(name, parameter, place)], and how many were looked at."""
    results, looked = [], 0
    declared = public.operators().values()
    inner = {inspect.unwrap(op.fn) for op in declared}
    for function, name in public.functions().items():
        node = uses.definition(function)
        if node is None or function in inner or uses.is_exempt(node):
            continue
        for parameter, fate in uses.fates(function).items():
            if parameter not in ("self", "cls") and not parameter.startswith("_"):
                looked += 1
                if uses.silent(fate):
                    results.append((name, parameter, uses.place(function)))
    for op in declared:
        for attribute, kind in op.attributes.items():
            looked += 1
            if uses.silent(uses.operator_fate(op, attribute)) and not uses.is_declared(*kind):
                results.append((op.name, attribute, uses.place(op.fn)))
    return results, looked


def test_no_public_argument_is_silent():
    result, looked = silent_arguments()
    assert looked > 3000
    unexplained = [row for row in result if row[:2] not in EXPLAINED]
    assert not unexplained, "\n".join(
        f"{place}: {name}({argument}=) has no effect and says nothing; make it work, "
        f"declare it (log.unused, OneOf(..., otherwise=...)), or raise"
        for name, argument, place in unexplained
    )
    assert {row[:2] for row in result} == set(EXPLAINED), "an explanation is no longer needed"


def sample_parameters():
    """Yield (function, parameter, word) of what the samples say of themselves: the word begins a parameter's name."""
    functions = [
        f
        for f in vars(argument_samples).values()
        if callable(f) and f.__module__ == argument_samples.__name__ and not isinstance(f, type)
    ]
    methods = [argument_samples.Box.__init__, argument_samples.Box.method, argument_samples.Wide.__init__]
    for function in functions + methods:
        for parameter in inspect.signature(function).parameters:
            word = parameter.partition("_")[0]
            if word in ("used", "said", "silent", "kept"):
                yield pytest.param(function, parameter, word, id=f"{function.__qualname__}-{parameter}")


@pytest.mark.parametrize(("function", "parameter", "word"), list(sample_parameters()))
def test_the_walk_knows_what_becomes_of_a_parameter(function, parameter, word):
    fate = uses.fates(function)[parameter]
    assert uses.silent(fate) == (word == "silent")
    if word == "said":
        assert uses.SAID in fate
    if word in ("used", "kept"):
        assert fate & {uses.ACTS, uses.RETURNED}
