"""Run ONNX's own tests of single nodes on msnb's backend, and print the counts and the reasons of failures.

    python benchmarks/onnx_backend.py [PATTERN] [--seconds 60] [--failures FILE]

Tests of float, int and bool tensors count. The others are listed by kind: texts, sequences, types of 4 and 8 bits,
trees and training. The reason of a refused test names the operator or attribute that msnb does not have.
"""

import argparse
import re
import signal
import warnings
from collections import Counter

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from msnb.exchange.onnx import backend

_LAST = onnx.TensorProto.BFLOAT16  # of the element types that count


class TestTimeout(Exception):
    """A test has run out of time."""


def classify(model):
    """Return the kind of a test: "counted", or the feature that excludes it."""
    domains = {opset.domain for opset in model.opset_import}
    if domains & {"ai.onnx.ml", "ai.onnx.preview.training"}:
        return "trees and training"
    for value in (*model.graph.input, *model.graph.output):
        if not value.type.HasField("tensor_type"):
            return "sequences"
        if value.type.tensor_type.elem_type == onnx.TensorProto.STRING:
            return "texts"
        if value.type.tensor_type.elem_type > _LAST:
            return "4 and 8 bits"
    return "counted"


def convert_values(values):
    """Convert the tensors of a data set to arrays. Sequences stay unchanged."""
    return [numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in values]


def check_case(case):
    """Run a test. Raise an error if it fails."""
    inputs, outputs = map(convert_values, case.data_sets[0])
    for output, expected in zip(backend.prepare(case.model).run(inputs), outputs, strict=True):
        assert output.shape == expected.shape, f"shape {output.shape}, not {expected.shape}"
        assert output.dtype == expected.dtype, f"type {output.dtype}, not {expected.dtype}"
        if expected.dtype.kind in "fV":
            half = expected.dtype.itemsize < 4
            tolerance = {"rtol": 1e-2, "atol": 1e-3} if half else {"rtol": max(case.rtol, 1e-3), "atol": 1e-6}
            np.testing.assert_allclose(output.astype(np.float64), expected.astype(np.float64), **tolerance)
        else:
            np.testing.assert_array_equal(output, expected)


def run_test(case, seconds):
    """Return "passed", or the reason of the failure."""
    signal.alarm(seconds)
    try:
        check_case(case)
    except NotImplementedError as error:
        return "refused: " + str(error).split("operator(s):\n")[-1].strip()
    except Exception as error:  # noqa: BLE001 - any error is a failed test
        return f"{type(error).__name__}: " + " ".join(str(error).split())[:200]
    finally:
        signal.alarm(0)
    return "passed"


def raise_timeout(*_):
    """Raise the timeout of a test."""
    raise TestTimeout("timeout")


def main(options):
    """Run the tests, and print the counts and the reasons."""
    signal.signal(signal.SIGALRM, raise_timeout)
    warnings.simplefilter("ignore")
    counts, reasons, failures = Counter(), Counter(), []
    for case in collect_testcases(""):
        if options.pattern and not re.search(options.pattern, case.name):
            continue
        kind, result = classify(case.model), run_test(case, options.seconds)
        counts[kind, "passed" if result == "passed" else "refused" if result.startswith("refused") else "failed"] += 1
        if result != "passed":
            failures.append(f"{kind} {case.name} {result}")
            if kind == "counted":
                reasons[re.sub(r" \([^)]*\)", "", result)[:120]] += 1
    for kind in sorted({kind for kind, _ in counts}):
        row = {what: counts[kind, what] for what in ("passed", "refused", "failed")}
        print(
            f"{kind:20} {row['passed']:5} of {sum(row.values()):5} pass, {row['refused']} refused, {row['failed']} fail"
        )
    for reason, count in reasons.most_common():
        print(f"{count:5} {reason}")
    if options.failures:
        with open(options.failures, "w") as file:
            file.write("\n".join(failures) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="?")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--failures")
    main(parser.parse_args())
