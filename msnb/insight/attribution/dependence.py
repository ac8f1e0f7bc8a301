"""The inputs of each equation that depend on a value of a program, also inside loops and branches."""

from collections.abc import Collection, Mapping
from typing import Any

from msnb.core.compat.jax_private import Literal, scan_counts
from msnb.core.jaxpr.instrument import TRANSPARENT, open_jaxpr

# key of an equation -> True for each of its inputs that depends on the value
Dependent = Mapping[tuple[Any, ...], tuple[bool, ...]]


def list_dependent_inputs(
    closed: Any, positions: Collection[int], results: Collection[Any], constants: Collection[Any]
) -> Dependent:
    """Return, for the key of each equation, which of its inputs depend on some values of a program.

    A gradient through a loop treats all constants of the loop as variables, Parameters included. This analysis does
    not.

    Args:
        closed (ClosedJaxpr): The program.
        positions (Collection): Indices of inputs of the program.
        results (Collection): (key of an equation, index of its result) of other values. Keys are those of
            `core.jaxpr.instrument.instrument`.
        constants (Collection): (key, index) of values that count as independent.
    """
    walk = _Walk(results, constants)
    walk(closed.jaxpr, [at in positions for at in range(len(closed.jaxpr.invars))], ())
    return walk.dependent


class _Walk:
    """Follows the values through a jaxpr; a loop is walked until nothing is added."""

    def __init__(self, results, constants):
        self.dependent: dict[tuple[Any, ...], tuple[bool, ...]] = {}
        self._results, self._constants = set(results), set(constants)

    def __call__(self, jaxpr, flags, path):
        marked = {var for var, flag in zip(jaxpr.invars, flags, strict=True) if flag}

        def is_marked(var):
            return not isinstance(var, Literal) and var in marked

        for eqn in jaxpr.eqns:
            inputs, key = [is_marked(var) for var in eqn.invars], (*path, id(eqn))
            before = self.dependent.get(key, (False,) * len(inputs))
            self.dependent[key] = tuple(map(bool.__or__, before, inputs))
            outputs = self._walk_equation(eqn, inputs, path)
            for slot, (var, flag) in enumerate(zip(eqn.outvars, outputs, strict=True)):
                if (flag or (key, slot) in self._results) and (key, slot) not in self._constants:
                    marked.add(var)
        return [is_marked(var) for var in jaxpr.outvars]

    def _walk_equation(self, eqn, inputs, path):
        kind = eqn.primitive.name

        def enter(name, flags, index):
            jaxpr = eqn.params[name] if isinstance(name, str) else name
            return self(open_jaxpr(jaxpr)[0], flags, (*path, (id(eqn), index)))

        if kind in TRANSPARENT:
            return enter(TRANSPARENT[kind], inputs, 0)
        if kind == "cond":
            branches = [enter(branch, inputs[1:], index) for index, branch in enumerate(eqn.params["branches"])]
            return [any(flags) for flags in zip(*branches, strict=True)]
        if kind == "while":
            first, second = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
            consts, carry = inputs[first : first + second], inputs[first + second :]
            return self._repeat(lambda flags: enter("body_jaxpr", [*consts, *flags], 1), carry)
        if kind == "scan":
            n_consts, n_carry = scan_counts(eqn)
            consts, rows, stacked = inputs[:n_consts], inputs[n_consts + n_carry :], []

            def iterate(flags):
                outputs = enter("jaxpr", [*consts, *flags, *rows], 0)
                stacked[:] = outputs[n_carry:]
                return outputs[:n_carry]

            return [*self._repeat(iterate, inputs[n_consts : n_consts + n_carry]), *stacked]
        return [any(inputs)] * len(eqn.outvars)

    def _repeat(self, iterate, carry):
        while True:
            after = list(map(bool.__or__, carry, iterate(carry)))
            if after == carry:
                return carry
            carry = after
