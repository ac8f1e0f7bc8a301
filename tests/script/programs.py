"""Random programs of nested if, while and for over two small vectors, as source text."""

import linecache
import random
import types

_CONDITIONS = (
    "{a}.sum() > {c}",
    "{a}.sum() < {b}.sum()",
    "not {a}.sum() > {c}",
    "{a}.sum() > {c} and {b}.sum() > 0.1",
    "{a}.sum() > {c} or n > 2",
    "n > 1",
    "0.0 < {a}.sum() < {c}",
    "k > 1",
)
_VALUES = (
    "{a} * 0.5 + {b} * 0.25",
    "{a} * {b} * 0.3",
    "{b} - {a} * 0.4",
    "{a} + {c}",
    "{a} * 0.7 if {b}.sum() > {c} else {b}",
    "-{a}",
    "{a} / ({b} * {b} + 1.5)",
)
_ITEMS = (
    "{a}[0] = {b}[1] * 0.3",
    "{a}[1] += {c}",
    "{a}[0] *= {a}[1]",
    "{a}[0:1] = {b}[1:] * 0.4",
    "{a}[{a} > {c}] = 0.5",
    "{a}[1] = {a}[0] * {b}[0]",
)
_RETURNS = ("x + y * 0.5 + k * 0.01", "x", "y")


class Program:
    """Writes one function `f(x, y, n)`; the seed decides everything.

    Args:
        seed (int): Of the program.
    """

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.counters = 0
        self.emit(0, "def f(x, y, n):")
        self.emit(1, "k = 0")
        self.block(1, 0, in_loop=False)
        self.emit(1, f"return {self.random.choice(_RETURNS)}")
        self.source = "\n".join(self.lines) + "\n"

    def emit(self, depth, text):
        self.lines.append("    " * depth + text)

    def fill(self, templates):
        a, b = self.random.sample(("x", "y"), 2)
        return self.random.choice(templates).format(a=a, b=b, c=round(self.random.uniform(-0.9, 0.9), 2))

    def block(self, depth, nesting, in_loop):
        for _ in range(self.random.randint(1, 3)):
            kinds = ["assign", "assign", "count", "item"]
            if nesting < 3:
                kinds += ["if", "if", "while", "for", "else", "fork"]
            if in_loop:
                kinds += ["break", "continue"]
            if nesting:
                kinds.append("return")
            getattr(self, self.random.choice(kinds) + "_")(depth, nesting, in_loop)

    def assign_(self, depth, nesting, in_loop):
        self.emit(depth, f"{self.random.choice('xy')} = {self.fill(_VALUES)}")

    def item_(self, depth, nesting, in_loop):
        """Set a part of a vector of its own: the inputs and what another name holds stay as they are."""
        text = self.fill(_ITEMS)
        self.emit(depth, f"{text[0]} = {text[0]} * 1.0")
        self.emit(depth, text)

    def count_(self, depth, nesting, in_loop):
        self.emit(depth, "k = k + 1")

    def if_(self, depth, nesting, in_loop):
        self.emit(depth, f"if {self.fill(_CONDITIONS)}:")
        self.block(depth + 1, nesting + 1, in_loop)

    def else_(self, depth, nesting, in_loop):
        self.if_(depth, nesting, in_loop)
        self.emit(depth, "else:")
        self.block(depth + 1, nesting + 1, in_loop)

    def fork_(self, depth, nesting, in_loop):
        """A variable that every path assigns which does not leave."""
        self.counters += 1
        name = f"z{self.counters}"
        leave = self.random.choice(["return", "break", "continue"] if in_loop else ["return"])
        self.emit(depth, f"if {self.fill(_CONDITIONS)}:")
        self.emit(depth + 1, f"if {self.fill(_CONDITIONS)}:")
        self.emit(depth + 2, f"return {self.fill(_VALUES)}" if leave == "return" else leave)
        if self.random.random() < 0.5:
            self.emit(depth + 1, f"{name} = {self.fill(_VALUES)}")
        else:
            self.emit(depth + 1, "else:")
            self.emit(depth + 2, f"{name} = {self.fill(_VALUES)}")
        self.emit(depth, "else:")
        self.emit(depth + 1, f"{name} = {self.fill(_VALUES)}")
        self.emit(depth, f"{self.random.choice('xy')} = {name} * 0.8")

    def while_(self, depth, nesting, in_loop):
        self.counters += 1
        name = f"i{self.counters}"
        self.emit(depth, f"{name} = 0")
        self.emit(depth, f"while {name} < n:")
        self.emit(depth + 1, f"{name} = {name} + 1")
        self.block(depth + 1, nesting + 1, True)

    def for_(self, depth, nesting, in_loop):
        bound = self.random.choice(("2", "n"))
        self.counters += 1
        self.emit(depth, f"for j{self.counters} in range({bound}):")
        self.block(depth + 1, nesting + 1, True)

    def break_(self, depth, nesting, in_loop):
        self.emit(depth, f"if {self.fill(_CONDITIONS)}:")
        self.emit(depth + 1, "break")

    def continue_(self, depth, nesting, in_loop):
        self.emit(depth, f"if {self.fill(_CONDITIONS)}:")
        self.emit(depth + 1, "continue")

    def return_(self, depth, nesting, in_loop):
        self.emit(depth, f"if {self.fill(_CONDITIONS)}:")
        self.emit(depth + 1, f"return {self.fill(_VALUES)}")

    def function(self):
        """Return the program as a function whose source can be found."""
        name = f"<program {id(self)}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        module = types.ModuleType("random_program")
        exec(compile(self.source, name, "exec"), module.__dict__)
        return module.f
