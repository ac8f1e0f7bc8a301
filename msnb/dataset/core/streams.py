"""Random number generators of libstdc++, so that a seed gives the same samples as in MindSpore.

MindSpore's samplers and operators draw from ``std::mt19937`` through the standard distributions. MindRecord's samplers
also use ``std::default_random_engine``. ``std::mt19937`` is numpy's ``MT19937``. The distributions below follow the
algorithms of libstdc++ before GCC 11, with which MindSpore is built.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

_MASK32 = 0xFFFFFFFF
_TWO32 = 4294967296.0
_TWO64 = 18446744073709551616.0
_BLOCK = 256


class Engine:
    """Base of the random number engines of C++'s standard library, with its algorithms that draw integers.

    Attributes:
        range (int): Largest value of :meth:`raw`.
    """

    __slots__ = ("_next", "_at")
    range = _MASK32

    def __init__(self):
        self._next = []
        self._at = 0

    def _generate_block(self):
        """Return a list of the next random numbers of this generator. Each subclass chooses how many."""
        raise NotImplementedError

    def raw(self) -> int:
        """Return the engine's next value, minus its minimum (0 or 1)."""
        at = self._at
        if at == len(self._next):
            self._next = self._generate_block()
            at = 0
        self._at = at + 1
        return self._next[at]

    def uniform_int(self, low: Any, high: Any) -> int:
        """Draw from ``std::uniform_int_distribution(low, high)``, both ends included."""
        n = high - low + 1
        if n > self.range:
            if n == self.range + 1:
                return self.raw() + low
            raise ValueError(f"The range {low} to {high} does not fit the engine.")
        scaling = self.range // n
        limit = n * scaling
        while True:
            value = self.raw()
            if value < limit:
                return value // scaling + low

    def shuffle(self, items: Any) -> Any:
        """Shuffle a list in place, as ``std::shuffle`` does.

        If the product of two ranges fits the engine's range, one random number decides about two elements.
        """
        n = len(items)
        if n < 2:
            return items
        uniform = self.uniform_int
        if self.range // n >= n:
            i = 1
            if n % 2 == 0:
                j = uniform(0, 1)
                items[1], items[j] = items[j], items[1]
                i = 2
            second_counts = np.arange(i + 2, n + 2, 2, dtype=np.int64)
            scalings = self.range // ((second_counts - 1) * second_counts)
            limits = scalings * (second_counts - 1) * second_counts
            values, at = self._next, self._at  # `raw`, inlined: a call per draw would take most of the time
            for second_count, scaling, limit in zip(second_counts.tolist(), scalings.tolist(), limits.tolist()):
                while True:
                    if at == len(values):
                        values, at = self._generate_block(), 0
                    value = values[at]
                    at += 1
                    if value < limit:
                        break
                p, q = divmod(value // scaling, second_count)
                items[i], items[p] = items[p], items[i]
                i += 1
                items[i], items[q] = items[q], items[i]
                i += 1
            self._next, self._at = values, at
        else:
            for i in range(1, n):
                j = uniform(0, i)
                items[i], items[j] = items[j], items[i]
        return items


class Minstd(Engine):
    """``std::default_random_engine`` of libstdc++, with which MindRecord shuffles."""

    __slots__ = ("_state",)
    range = 2147483645

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._state = seed % 2147483647 or 1

    def _generate_block(self):
        x, values = self._state, []
        for _ in range(_BLOCK):
            x = x * 16807 % 2147483647
            values.append(x - 1)
        self._state = x
        return values


class Mt32(Engine):
    """``std::mt19937`` with the distributions that MindSpore uses. `seed` is any 32-bit number."""

    __slots__ = ("_bits", "_normal")

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._bits = np.random.RandomState(seed & _MASK32)._bit_generator
        self._normal = None

    def _generate_block(self):
        return self._bits.random_raw(_BLOCK).tolist()

    def raws(self, n: int) -> np.ndarray:
        """Return the next `n` values as a uint64 array."""
        buffered = self._next[self._at : self._at + n]
        self._at += len(buffered)
        if len(buffered) == n:
            return np.array(buffered, np.uint64)
        rest = self._bits.random_raw(n - len(buffered))
        return np.concatenate([np.array(buffered, np.uint64), rest]) if buffered else rest

    def uniform_ints(self, count: int, low: Any, high: Any) -> np.ndarray:
        """Return `count` draws of :meth:`uniform_int` as an int64 array."""
        n = high - low + 1
        scaling = _MASK32 // n
        limit = n * scaling
        values = self.raws(count)
        while True:
            values = values[values < limit]
            missing = count - len(values)
            if not missing:
                return (values // np.uint64(scaling)).astype(np.int64) + low
            values = np.concatenate([values, self.raws(missing)])

    def canonical(self) -> float:
        """Draw a float64 in [0, 1) by ``std::generate_canonical<double, 53>``, from two values of the engine."""
        low = self.raw()
        value = (low + self.raw() * _TWO32) / _TWO64
        return value if value < 1.0 else math.nextafter(1.0, 0.0)

    def canonicals(self, count: int) -> np.ndarray:
        """Return `count` draws of :meth:`canonical` as an array."""
        values = self.raws(2 * count).astype(np.float64)
        return np.minimum((values[0::2] + values[1::2] * _TWO32) / _TWO64, math.nextafter(1.0, 0.0))

    def bernoulli(self, probability: float) -> bool:
        """Draw from ``std::bernoulli_distribution(probability)``."""
        return self.canonical() < probability

    def uniform_real(self, low: Any, high: Any) -> float:
        """Draw from ``std::uniform_real_distribution<double>(low, high)``."""
        return self.canonical() * (high - low) + low

    def uniform_float(self, low: Any, high: Any) -> float:
        """Draw a Python float from ``std::uniform_real_distribution<float>(low, high)``, computed in float32."""
        low, high = np.float32(low), np.float32(high)
        value = np.float32(np.float32(self.raw()) / np.float32(_TWO32))
        if value >= 1:
            value = np.nextafter(np.float32(1), np.float32(0))
        return float(np.float32(value * np.float32(high - low)) + low)

    def normal(self) -> float:
        """Draw from ``std::normal_distribution<double>(0, 1)`` by the polar method.

        The method computes two values. The second is saved for the next call.
        """
        if self._normal is not None:
            saved, self._normal = self._normal, None
            return saved
        while True:
            x = 2.0 * self.canonical() - 1.0
            y = 2.0 * self.canonical() - 1.0
            r2 = x * x + y * y
            if 0.0 < r2 <= 1.0:
                break
        factor = math.sqrt(-2.0 * math.log(r2) / r2)
        self._normal = x * factor
        return y * factor

    def canonical_float(self) -> Any:
        """Draw a numpy float32 in [0, 1) by ``std::generate_canonical<float, 24>``, from one value of the engine."""
        value = np.float32(self.raw()) / np.float32(_TWO32)
        return value if value < 1 else np.nextafter(np.float32(1), np.float32(0))

    def normal_float(self) -> Any:
        """Draw from ``std::normal_distribution<float>(0, 1)``."""
        if self._normal is not None:
            saved, self._normal = self._normal, None
            return saved
        f = np.float32
        while True:
            x = f(2) * self.canonical_float() - f(1)
            y = f(2) * self.canonical_float() - f(1)
            r2 = x * x + y * y
            if 0.0 < r2 <= 1.0:
                break
        factor = np.sqrt(f(-2) * np.log(r2) / r2)
        self._normal = x * factor
        return y * factor

    def sample(self, items: Any, count: int) -> Any:
        """Draw `count` of `items` without replacement, in their order, as ``std::sample`` does.

        This is selection sampling. If the product of two ranges fits the engine's range, one random number decides
        about two elements.
        """
        unsampled = len(items)
        count = min(count, unsampled)
        chosen = []
        at = 0
        if count == 0:
            return chosen
        if _MASK32 // unsampled >= unsampled:
            while count and unsampled >= 2:
                p, q = divmod(self.uniform_int(0, unsampled * (unsampled - 1) - 1), unsampled - 1)
                unsampled -= 1
                if p < count:
                    chosen.append(items[at])
                    count -= 1
                at += 1
                if count == 0:
                    break
                unsampled -= 1
                if q < count:
                    chosen.append(items[at])
                    count -= 1
                at += 1
        while count:
            unsampled -= 1
            if self.uniform_int(0, unsampled) < count:
                chosen.append(items[at])
                count -= 1
            at += 1
        return chosen

    def discrete(self, cumulative: np.ndarray) -> int:
        """Draw an index from ``std::discrete_distribution`` with these normalised cumulative weights."""
        return int(np.searchsorted(cumulative, self.canonical(), side="left"))


class Gamma:
    """``std::gamma_distribution<float>(alpha, 1)`` (Marsaglia and Tsang, 2000; with libstdc++'s 0.331).

    It holds a normal distribution, which saves the second value of a pair for the next draw.
    """

    __slots__ = ("_alpha", "_normal")

    def __init__(self, alpha: float) -> None:
        self._alpha = np.float32(alpha)
        self._normal = None

    def draw(self, engine: Mt32) -> Any:
        """Draw a numpy float32 from `engine`."""
        f = np.float32
        alpha = self._alpha
        malpha = alpha if alpha >= 1 else alpha + f(1)
        a1 = malpha - f(f(1) / f(3))
        a2 = f(1) / np.sqrt(f(9) * a1)
        engine._normal, others = self._normal, engine._normal
        while True:
            while True:
                n = engine.normal_float()
                v = f(1) + a2 * n
                if v > 0:
                    break
            v = v * v * v
            u = engine.canonical_float()
            if float(u) <= 1.0 - 0.331 * float(n) ** 4 or np.log(u) <= f(0.5) * n * n + a1 * (f(1) - v + np.log(v)):
                break
        self._normal, engine._normal = engine._normal, others
        if alpha == malpha:
            return f(a1 * v)
        while (u := engine.canonical_float()) == 0:
            pass
        return f(np.power(u, f(1) / alpha) * a1 * v)


def first_draws(seeds: np.ndarray, n: int) -> np.ndarray:
    """Draw once from ``std::uniform_int_distribution(0, n - 1)`` over a new ``std::mt19937`` for each seed.

    Args:
        seeds (numpy.ndarray): One seed per generator, int64.
        n (int): Number of values to draw from.

    Returns:
        numpy.ndarray, int64, with one number per seed.
    """
    state, state_words = (seeds & _MASK32).astype(np.uint32), {}
    for index in range(398):  # the first output depends on three words of the state
        if index in (0, 1, 397):
            state_words[index] = state
        state = np.uint32(1812433253) * (state ^ (state >> np.uint32(30))) + np.uint32(index + 1)
    x = (state_words[0] & np.uint32(0x80000000)) | (state_words[1] & np.uint32(0x7FFFFFFF))
    x = state_words[397] ^ (x >> np.uint32(1)) ^ np.where(x & np.uint32(1), np.uint32(0x9908B0DF), np.uint32(0))
    x ^= x >> np.uint32(11)
    x ^= (x << np.uint32(7)) & np.uint32(0x9D2C5680)
    x ^= (x << np.uint32(15)) & np.uint32(0xEFC60000)
    x ^= x >> np.uint32(18)
    scaling = _MASK32 // n
    draws = (x // np.uint32(scaling)).astype(np.int64)
    for index in np.flatnonzero(x >= np.uint32(n * scaling)):  # the first output is rejected
        draws[index] = Mt32(int(seeds[index])).uniform_int(0, n - 1)
    return draws


class Mt64:
    """``std::mt19937_64``, from which the shuffle operator draws."""

    __slots__ = ("_state", "_out", "_out_list", "_at")

    def __init__(self, seed: int) -> None:
        mask = (1 << 64) - 1
        state = [seed & mask]
        for i in range(1, 312):
            state.append((6364136223846793005 * (state[-1] ^ (state[-1] >> 62)) + i) & mask)
        self._state = np.array(state, np.uint64)
        self._out = np.empty(0, np.uint64)
        self._out_list = None  # `_out` as Python ints, once they are drawn one by one
        self._at = 0

    def _refill_buffer(self):
        a = self._state
        upper, lower = np.uint64(0xFFFFFFFF80000000), np.uint64(0x7FFFFFFF)
        matrix, one, zero = np.uint64(0xB5026F5AA96619E9), np.uint64(1), np.uint64(0)

        def step(first, following, far):
            x = (first & upper) | (following & lower)
            return far ^ (x >> one) ^ np.where(x & one, matrix, zero)

        a[:156] = step(a[:156], a[1:157], a[156:312])
        a[156:311] = step(a[156:311], a[157:312], a[:155])
        a[311:] = step(a[311:], a[:1], a[155:156])
        x = a.copy()
        x ^= (x >> np.uint64(29)) & np.uint64(0x5555555555555555)
        x ^= (x << np.uint64(17)) & np.uint64(0x71D67FFFEDA60000)
        x ^= (x << np.uint64(37)) & np.uint64(0xFFF7EEE000000000)
        x ^= x >> np.uint64(43)
        self._out = x
        self._out_list = None
        self._at = 0

    def raw(self) -> int:
        """Return the next 64 bits."""
        if self._at == len(self._out):
            self._refill_buffer()
        if self._out_list is None:
            self._out_list = self._out.tolist()
        self._at += 1
        return self._out_list[self._at - 1]

    def raws(self, n: int) -> np.ndarray:
        """Return the next `n` values as a uint64 array."""
        pieces = [self._out[self._at : self._at + n]]
        self._at += len(pieces[0])
        missing = n - len(pieces[0])
        while missing > 0:
            self._refill_buffer()
            self._at = min(missing, len(self._out))
            pieces.append(self._out[: self._at])
            missing -= self._at
        return np.concatenate(pieces)


class ShuffleBuffer:
    """Shuffling in the order of MindSpore's shuffle operator.

    It has a buffer of `size` rows. A random one of them leaves the buffer, and the next row enters.
    """

    def __init__(self, size: int, stream: Any) -> None:
        self._size = size
        self._stream = stream

    def permuted(self, items: Any) -> Any:
        """Return the elements of a list in shuffled order."""
        size = min(self._size, len(items))
        buffer, shuffled = items[:size], []
        for item, k in zip(items[size:], (self._stream.raws(len(items) - size) % np.uint64(size or 1)).tolist()):
            shuffled.append(buffer[k])
            buffer[k] = buffer[-1]
            buffer[-1] = item
        for k in (self._stream.raws(size) % np.arange(size, 0, -1, dtype=np.uint64)).tolist():
            shuffled.append(buffer[k])
            buffer[k] = buffer[-1]
            buffer.pop()
        return shuffled

    def order(self, items: Any) -> Iterator[Any]:
        """Yield the elements of the iterable `items` in shuffled order."""
        raw, size = self._stream.raw, self._size
        buffer = []
        source = iter(items)
        for item in source:
            buffer.append(item)
            if len(buffer) == size:
                break
        for item in source:
            k = raw() % size
            yield buffer[k]
            buffer[k] = buffer[-1]
            buffer[-1] = item
        while buffer:
            k = raw() % len(buffer)
            yield buffer[k]
            buffer[k] = buffer[-1]
            buffer.pop()
