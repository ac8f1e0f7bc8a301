"""Writes kinks.json: MindSpore 2.7.1's gradients at the places of kink_cases.py, none where it refuses.

python tests/golden/make_kinks.py            # with an interpreter that has MindSpore
"""

import json
import pathlib

from kink_cases import CASES

FILE = pathlib.Path(__file__).with_name("kinks.json")


def slopes(ms, key):
    """Return the function that gives the gradient of the sum of a case's result for each input, under the framework
    `ms`."""
    names = {"P": ms.ops.operations, "ops": ms.ops, "nn": ms.nn, "Tensor": ms.Tensor}

    def total(*inputs):
        return eval(CASES[key][0], names | dict(zip("xy", inputs, strict=False))).sum()

    return ms.ops.GradOperation(get_all=True)(total)


def gradients(ms, key):
    """Return the result of `slopes` for a case, as lists."""
    return [g.asnumpy().tolist() for g in slopes(ms, key)(*map(ms.Tensor, CASES[key][1]))]


def main():
    import mindspore as ms

    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU", pynative_synchronize=True)
    gradients_of_cases = {}
    for key in CASES:
        try:
            gradients_of_cases[key] = gradients(ms, key)
        except Exception as error:
            print("left out:", key, repr(error).splitlines()[0][:150])
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in gradients_of_cases.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(len(gradients_of_cases), "of", len(CASES), "cases,", FILE.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
