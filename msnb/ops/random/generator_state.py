"""`Generator`, an operator that keeps the seed and the offset of a random stream in two Tensors."""

import os
from typing import Any

import numpy as np

from msnb.core.errors.messages import describe
from msnb.core.tensor.tensor import Tensor
from msnb.ops._host import HostPrimitive, host_operator

_STEP, _SEED, _GET_STATE, _SET_STATE, _MANUAL_SEED, _INITIAL_SEED = range(6)


@host_operator()
class Generator(HostPrimitive):
    """Read or change the state of a random stream: its seed and its offset, two Tensors of int64.

    Inputs:
        - **cmd** (int) - 0 adds the third input to the offset and returns the old one, 1 draws a seed from the
          operating system, 2 reads the state, 3 sets the state, 4 sets the seed, 5 reads the seed.
        - **inputs** (tuple[Tensor]) - Seed and offset, and behind them the step, the state or the seed.

    Outputs:
        tuple[Tensor], the seed, the offset, and the state: 16 uint8.

    Raises:
        ValueError: If `cmd` is no command.
    """

    def __call__(self, cmd: int, inputs: tuple[Tensor, ...]) -> Any:
        if cmd not in range(_INITIAL_SEED + 1):
            raise ValueError(f"For 'Generator', 'cmd' should be one of 0 to {_INITIAL_SEED}, but got {describe(cmd)}.")
        seed, offset, *rest = inputs
        values = [int(array) for array in self.values_of(seed, offset)]
        before = [*values]
        argument = self.values_of(*rest)
        if cmd == _STEP:
            values[1] += int(argument[0])
        elif cmd == _SEED:
            values = [int.from_bytes(os.urandom(4), "little"), 0]
        elif cmd == _SET_STATE:
            values = [int(number) for number in np.asarray(argument[0], np.uint8).view("<i8")]
        elif cmd == _MANUAL_SEED:
            values = [int(argument[0]), 0]
        for tensor, old, new in zip((seed, offset), before, values):
            if new != old:
                tensor.assign_value(Tensor(np.array(new, np.int64).reshape(tensor.shape)))
        shown = before if cmd == _STEP else values
        state = np.array(values, "<i8").view(np.uint8)
        return (*(Tensor(np.array(number, np.int64)) for number in shown), Tensor(state))
