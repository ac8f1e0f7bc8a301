"""Conditions of watchpoints: their parameters, and the exact check of one tensor in float64.

The 17 conditions of MindInsight r1.1 have its ids, abbreviations, parameters and defaults. MindInsight does not have
``underflow``, ``dead``, ``band=`` (deviations from the last steps), ``per_channel=`` and conditions that are Python
functions.

A condition is met if any of its parameters is. A tensor with a NaN or an infinity can't be compared with a threshold.
Its verdict has an error code and no hit. Conditions for overflow can always be checked.
"""

import dataclasses
import difflib
import functools
import math
import operator
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from msnb.core.program.extra_outputs import Halt
from msnb.core.script.convert_function import convert
from msnb.core.tensor.tensor import box

TARGETS = ("weight", "gradient", "activation", "tensor")
NAN, INF, NO_PREVIOUS = 1, 2, 4  # bits of an error code
_ERRORS = {NAN: "it has NaN", INF: "it has infinities", NO_PREVIOUS: "it has no previous value"}

# Operators whose outputs are activations, in lower case.
ACTIVATIONS = frozenset(
    (
        "elu",
        "fastgelu",
        "gelu",
        "hsigmoid",
        "hswish",
        "leakyrelu",
        "logsigmoid",
        "logsoftmax",
        "prelu",
        "relu",
        "relu6",
        "reluv2",
        "sigmoid",
        "softmax",
        "tanh",
    )
)


class Setting(NamedTuple):
    """One parameter of a condition.

    Attributes:
        name (str): Name. Its suffix is the comparison: ``_gt``, ``_lt``, ``_ge``.
        default (Union[float, bool, None]): Value if the condition is named without parameters; None if there is none.
        kind (str): ``"number"``, ``"percentage"`` (0 to 100), ``"nonnegative"``, ``"positive"``, ``"bool"`` or
            ``"steps"`` (an int of at least 1).
        is_support (bool): True if it only describes another parameter: it can't be met by itself.
    """

    name: str
    default: Any = None
    kind: str = "number"
    is_support: bool = False


@dataclasses.dataclass(frozen=True)
class Condition:
    """One condition.

    Attributes:
        id (str): Name, such as "tensor_overflow".
        abbreviation (str): Short name, such as "TO".
        target (str): The tensors that it checks: one of `TARGETS`.
        settings (tuple[Setting]): Its parameters.
        reads_all (bool): True if its alarm has to read every value of each watched tensor.
    """

    id: str
    abbreviation: str
    target: str
    settings: tuple[Setting, ...] = ()
    reads_all: bool = False

    @property
    def is_overflow(self) -> bool:
        """Return True if the condition tests for NaN or infinities."""
        return self.id.endswith("_overflow") or self.id == "gradient_exploding"

    @property
    def reads_all_weights(self) -> bool:
        """Return True if its alarm reads every number of the weights or of their gradients in a checked step."""
        return self.target in ("weight", "gradient") and not self.is_overflow and self.id != "weight_initialization"

    @property
    def needs_previous(self) -> bool:
        """Return True if the condition compares a tensor with its previous value."""
        return self.id.startswith("weight_change") or self.id == "weight_not_changed"


_LARGE = (Setting("abs_mean_gt", kind="nonnegative"), Setting("max_gt"), Setting("min_gt"), Setting("mean_gt"))
_SMALL = (Setting("abs_mean_lt", kind="nonnegative"), Setting("max_lt"), Setting("min_lt"), Setting("mean_lt"))
_ZEROS = Setting("zero_percentage_ge", 100.0, "percentage")
_EPSILON = Setting("epsilon", 1e-9, "nonnegative", True)
_RANGE = (
    Setting("range_start_inclusive", is_support=True),
    Setting("range_end_inclusive", is_support=True),
    Setting("range_percentage_lt", kind="percentage"),
    Setting("range_percentage_gt", kind="percentage"),
    Setting("max_min_lt", kind="positive"),
    Setting("max_min_gt", kind="nonnegative"),
)

_ALL = (
    Condition("weight_initialization", "WI", "weight", (_ZEROS, Setting("max_gt"), Setting("min_lt"))),
    Condition("weight_overflow", "WO", "weight"),
    Condition("tensor_overflow", "TO", "tensor"),
    Condition("operator_overflow", "OO", "tensor"),
    Condition("weight_too_large", "WL", "weight", _LARGE),
    Condition("gradient_too_large", "GL", "gradient", _LARGE),
    Condition("tensor_too_large", "TL", "tensor", _LARGE, True),
    Condition("weight_too_small", "WS", "weight", _SMALL),
    Condition("gradient_vanishing", "GV", "gradient", _SMALL),
    Condition("tensor_too_small", "TS", "tensor", _SMALL, True),
    Condition("gradient_exploding", "GE", "gradient"),
    Condition("tensor_all_zero", "TZ", "tensor", (_ZEROS,), True),
    Condition(
        "weight_not_changed",
        "WNC",
        "weight",
        (
            Setting("rtol", 1e-5, "nonnegative"),
            Setting("atol", 1e-8, "nonnegative", True),
            Setting("equal_nan", False, "bool", True),
        ),
    ),
    Condition(
        "weight_change_too_large",
        "WCL",
        "weight",
        (Setting("abs_mean_update_ratio_gt", 0.1, "nonnegative"), _EPSILON),
    ),
    Condition(
        "weight_change_too_small",
        "WCS",
        "weight",
        (Setting("abs_mean_update_ratio_lt", 1e-4, "nonnegative"), _EPSILON),
    ),
    Condition("activation_range", "AR", "activation", _RANGE, True),
    Condition("tensor_range", "TR", "tensor", _RANGE, True),
    # conditions that MindInsight does not have
    Condition("underflow", "UF", "tensor", (Setting("subnormal_percentage_gt", 0.0, "percentage"),), True),
    Condition("dead", "DU", "activation", (Setting("steps", 10, "steps"),), True),
)
CONDITIONS: dict[str, Condition] = {condition.id: condition for condition in _ALL}
R1_1_IDS: tuple[str, ...] = tuple(condition.id for condition in _ALL[:17])
_BY_NAME = {name.lower(): condition for condition in _ALL for name in (condition.id, condition.abbreviation)}
_FUNCTION = Condition("function", "fn", "tensor", (), True)
_BANDS = ("abs_mean", "mean", "max", "min")  # statistics that a band can follow


@dataclasses.dataclass(frozen=True, eq=False)
class Watchpoint:
    """A condition with the values of its parameters.

    Attributes:
        condition (Condition): The condition.
        presets (dict): Parameter -> value. Parameters that are not set are left out.
        function (Union[Callable, None]): The Python function Tensor -> bool, if the condition is a function.
        band (Union[float, None]): Width of the band in standard deviations; None without a band.
        window (int): Number of steps that a band looks back.
        operators (frozenset[str]): Activations, in lower case, that the watchpoint is for; empty for all.
        is_per_channel (bool): True to check each channel by itself, see `channel_axis`.
    """

    condition: Condition
    presets: Mapping[str, Any]
    function: Callable[..., Any] | None = None
    band: float | None = None
    window: int = 20
    operators: frozenset[str] = frozenset()
    is_per_channel: bool = False

    @property
    def title(self) -> str:
        """Return the condition and its parameters as text."""
        if self.function is not None:
            return getattr(self.function, "__name__", repr(self.function))
        settings = [f"{name}={value:g}" for name, value in self.presets.items()]
        if self.band is not None:
            settings.append(f"band={self.band:g}")
        if self.is_per_channel:
            settings.append("per_channel=True")
        return f"{self.condition.id}({', '.join(settings)})" if settings else self.condition.id

    def call_function(self, array: Any) -> Any:
        """Return the result of the function for an array, as an array or a number.

        Raises:
            ConditionError: If the function raises.
        """
        try:
            outcome = self.function(box(array))
        except Exception as error:
            raise ConditionError(
                f"The condition {self.title} failed for a Tensor of shape {array.shape} and type {array.dtype}: "
                f"{type(error).__name__}: {error}"
            ) from error
        return getattr(outcome, "_array", outcome)

    def channel_axis(self, ndim: int) -> int:
        """Return the axis of the channels of a tensor with `ndim` axes.

        It is the first axis of a weight or its gradient, the second one of another tensor with more than two axes, and
        else the last one.
        """
        if self.condition.target in ("weight", "gradient"):
            return 0
        return unit_axis(ndim)

    @property
    def of_one_channel(self) -> "Watchpoint":
        """Return the watchpoint for the values of a single channel."""
        return dataclasses.replace(self, is_per_channel=False)

    @property
    def tests(self) -> dict[str, Any]:
        """Return the parameters that can be met, without those that only describe others."""
        supports = {setting.name for setting in self.condition.settings if setting.is_support}
        return {name: value for name, value in self.presets.items() if name not in supports}


def unit_axis(ndim: int) -> int:
    """Return the axis of the units of an activation: the channels, or the last axis."""
    return 1 if ndim > 2 else ndim - 1


class ConditionError(Halt):
    """Raised if a condition that is a Python function fails."""


class Verdict(NamedTuple):
    """The result of one check.

    Attributes:
        met (list): (parameter, preset, actual value) of each parameter that is met. For a condition without parameters
            the parameter is "" and the actual value is the number of NaN and infinities.
        error_code (int): Why the condition could not be checked: bits 1 NaN, 2 infinity, 4 no previous value.
        channels (Mapping[str, tuple[int]]): {parameter that is met: the channels that meet it}; empty for a check of
            all values.
    """

    met: list[tuple[str, Any, Any]]
    error_code: int = 0
    channels: Mapping[str, tuple[int, ...]] = types.MappingProxyType({})


def describe_error(code: int) -> str:
    """Return the reasons of an error code as text; "" for 0."""
    return ", ".join(text for bit, text in _ERRORS.items() if code & bit)


# ---------------------------------------------------------------------- what the user passes
def find_condition(name: str) -> Condition:
    """Return the condition of an id or an abbreviation; upper and lower case are equal.

    Raises:
        ValueError: If there is no such condition. The message lists the nearest names.
    """
    condition = _BY_NAME.get(name.lower())
    if condition is None:
        near = difflib.get_close_matches(name.lower(), _BY_NAME, n=3, cutoff=0.5)
        names = [f"{_BY_NAME[n].id} ({_BY_NAME[n].abbreviation})" for n in near]
        listed = list(dict.fromkeys(names)) or [f"{c.id} ({c.abbreviation})" for c in _ALL]
        hint = f"The nearest: {', '.join(listed)}." if near else f"The conditions: {', '.join(listed)}."
        raise ValueError(f"There is no condition {name!r}. {hint}")
    return condition


def as_watchpoint(entry: Any) -> Watchpoint:
    """Convert one condition to a Watchpoint.

    Args:
        entry (Union[str, tuple, Callable, Watchpoint]): an id or abbreviation, also with parameters, such as
            ``"TL:abs_mean_gt=10,max_gt=100"``; ``(id, {parameter: value})``; or a function of a Tensor that returns a
            bool.

    Raises:
        ValueError: If a name is unknown, a value is out of range, or a parameter is missing.
        TypeError: If `entry` or a value is of another type.
    """
    if isinstance(entry, Watchpoint):
        return entry
    if isinstance(entry, str):
        name, values = _parse_text(entry)
        return _make_watchpoint(find_condition(name), values)
    if isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[0], str):
        name, values = entry
        if not isinstance(values, Mapping):
            raise TypeError(f"The parameters of {name!r} should be a dict, but got {values!r}.")
        return _make_watchpoint(find_condition(name), values)
    if callable(entry) and not isinstance(entry, type):
        return Watchpoint(_FUNCTION, {}, convert(entry) if isinstance(entry, types.FunctionType) else entry)
    raise TypeError(
        f"A condition should be a name such as 'TO', a pair such as ('weight_too_large', {{'abs_mean_gt': 10}}) or a "
        f"function of a Tensor, but got {entry!r}."
    )


def _parse_text(text):
    """Return (name, {parameter: number}) of ``TO`` or ``TL:abs_mean_gt=10,max_gt=100``."""
    name, _, rest = text.partition(":")
    presets = {}
    for each in filter(None, rest.split(",")):
        parameter, _, number = each.partition("=")
        try:
            presets[parameter.strip()] = float(number)
        except ValueError:
            raise ValueError(f"{text!r} should be such as TL:abs_mean_gt=10, but {each!r} has no number.") from None
    return name.strip(), presets


def _make_watchpoint(condition, values):
    settings = {setting.name: setting for setting in condition.settings}
    values = dict(values)
    band, window = values.pop("band", None), values.pop("window", None)
    is_per_channel = _pop_per_channel(condition, values, band)
    for name in values:
        if name not in settings:
            _raise_unknown_parameter(condition, settings, name)
    presets = {name: _validate_value(condition, settings[name], value) for name, value in values.items()}
    if band is not None or window is not None:
        return _make_band(condition, presets, band, window)
    if not any(not settings[name].is_support for name in presets):
        presets |= {s.name: s.default for s in condition.settings if s.default is not None and not s.is_support}
    for setting in condition.settings:
        if setting.is_support and setting.default is not None:
            presets.setdefault(setting.name, setting.default)
    _check_combination(condition, presets)
    return Watchpoint(condition, presets, is_per_channel=is_per_channel)


def _pop_per_channel(condition, values, band):
    is_per_channel = values.pop("per_channel", False)
    if not isinstance(is_per_channel, bool):
        raise TypeError(f"For {condition.id}, 'per_channel' should be a bool, but got {is_per_channel!r}.")
    if is_per_channel and condition.id == "dead":
        raise ValueError("dead checks each unit by itself: leave out 'per_channel'.")
    if is_per_channel and band is not None:
        raise ValueError(f"{condition.id} should have 'band' or 'per_channel', but has both.")
    return is_per_channel


def _raise_unknown_parameter(condition, settings, name):
    if not settings:
        raise ValueError(f"{condition.id} has no parameters, but got {name!r}.")
    near = difflib.get_close_matches(str(name), settings, n=3, cutoff=0.5)
    hint = f" The nearest: {', '.join(near)}." if near else ""
    raise ValueError(f"{condition.id} has no parameter {name!r}.{hint} Its parameters: {', '.join(settings)}.")


def _validate_value(condition, setting, value):
    where = f"For {condition.id}, {setting.name!r}"
    if setting.kind == "bool":
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{where} should be a bool, but got {value!r}.")
        return bool(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{where} should be a number, but got {value!r}.")
    if setting.kind == "steps":
        if value != int(value) or value < 1:
            raise ValueError(f"{where} should be an int of at least 1, but got {value!r}.")
        return int(value)
    value = float(value)
    if not math.isfinite(value):
        raise ValueError(f"{where} should be finite, but got {value!r}.")
    if setting.kind == "percentage" and not 0 <= value <= 100:
        raise ValueError(f"{where} should be a percentage between 0 and 100, but got {value:g}.")
    if setting.kind == "nonnegative" and value < 0:
        raise ValueError(f"{where} should not be negative, but got {value:g}.")
    if setting.kind == "positive" and value <= 0:
        raise ValueError(f"{where} should be above 0, but got {value:g}.")
    return value


def _check_combination(condition, presets):
    if condition.settings is _RANGE:
        ends = [name for name in ("range_start_inclusive", "range_end_inclusive") if name in presets]
        percentages = [name for name in presets if name.startswith("range_percentage")]
        if len(ends) == 1:
            other = {"range_start_inclusive", "range_end_inclusive"}.difference(ends).pop()
            raise ValueError(f"{condition.id} has {ends[0]!r} and no {other!r}: a range needs both ends.")
        if percentages and not ends:
            raise ValueError(
                f"{percentages[0]!r} of {condition.id} needs 'range_start_inclusive' and 'range_end_inclusive'."
            )
        if ends and not percentages:
            raise ValueError(
                f"{condition.id} has a range and no percentage: add 'range_percentage_lt' or 'range_percentage_gt'."
            )
        if ends and presets["range_start_inclusive"] > presets["range_end_inclusive"]:
            start, end = presets["range_start_inclusive"], presets["range_end_inclusive"]
            raise ValueError(f"The range of {condition.id} starts at {start:g}, after its end {end:g}.")
    if condition.settings and not presets:
        names = [s.name for s in condition.settings if not s.is_support]
        raise ValueError(f"{condition.id} needs at least one of {', '.join(names)}.")


def _make_band(condition, presets, band, window):
    if condition.settings not in (_LARGE, _SMALL):
        allowed = [c.abbreviation for c in _ALL if c.settings in (_LARGE, _SMALL)]
        raise ValueError(f"'band' belongs to the conditions {', '.join(allowed)}, but got {condition.id}.")
    if presets:
        raise ValueError(f"{condition.id} should have 'band' or {next(iter(presets))!r}, but has both.")
    band = 3.0 if band is None else band
    if isinstance(band, bool) or not isinstance(band, (int, float)) or not 0 < band < math.inf:
        raise ValueError(f"For {condition.id}, 'band' should be a number of deviations above 0, but got {band!r}.")
    window = 20 if window is None else window
    if isinstance(window, bool) or not isinstance(window, int) or window < 2:
        raise ValueError(f"For {condition.id}, 'window' should be an int of at least 2, but got {window!r}.")
    return Watchpoint(condition, {}, band=float(band), window=window)


def recommended() -> list[Watchpoint]:
    """Return the watchpoints that MindInsight recommends."""
    low, high = 1 / (1 + math.exp(16.2)), 1 / (1 + math.exp(-16.2))
    top = math.tanh(8.8)
    ranges = {
        "tanh": {"range_start_inclusive": -top, "range_end_inclusive": top, "range_percentage_lt": 0.1},
        "sigmoid": {"range_start_inclusive": low, "range_end_inclusive": high, "range_percentage_lt": 0.1},
        "relu": {"range_start_inclusive": -1.0, "range_end_inclusive": 0.0, "range_percentage_gt": 99.9},
    }
    plain: list[Any] = [
        "WI",
        ("WCL", {"abs_mean_update_ratio_gt": 1.0}),
        ("GV", {"abs_mean_lt": 1e-9}),
        "OO",
        "TO",
        "TZ",
    ]
    points = [as_watchpoint(entry) for entry in plain]
    for name, presets in ranges.items():
        points.append(dataclasses.replace(as_watchpoint(("AR", presets)), operators=frozenset((name,))))
    return points


def as_watchpoints(entries: Iterable[Any]) -> list[Watchpoint]:
    """Convert conditions to Watchpoints. Without conditions, return the recommended Watchpoints."""
    return [as_watchpoint(entry) for entry in entries] or recommended()


# ---------------------------------------------------------------------- the exact check
def as_float64(value: Any) -> np.ndarray:
    """Convert an array of real numbers to numpy float64."""
    return np.asarray(value).astype(np.float64)


def check(watchpoint: Watchpoint, value: Any, previous: Any = None) -> Verdict:
    """Check one tensor against a watchpoint. All numbers are computed in float64.

    Args:
        watchpoint (Watchpoint): the condition. Functions, "dead" and bands can't be checked here, because they need
            other data.
        value (Union[numpy.ndarray, jax.Array]): the tensor: real numbers, any shape.
        previous (Union[numpy.ndarray, jax.Array]): its value in the previous step. Default: None, there is none.

    Returns:
        Verdict. An empty tensor never meets a condition.

    Examples:
        >>> import numpy as np
        >>> check(as_watchpoint(("WL", {"max_gt": 2})), np.array([1.0, 3.0])).met
        [('max_gt', 2.0, 3.0)]
    """
    if watchpoint.is_per_channel:
        return _check_channels(watchpoint, np.asarray(value), None if previous is None else np.asarray(previous))
    x = as_float64(value)
    if not x.size:
        return Verdict([])
    condition = watchpoint.condition
    n_bad = int(x.size - np.isfinite(x).sum())
    if condition.is_overflow:
        return Verdict([("", None, n_bad)] if n_bad else [])
    code = 0
    if n_bad:
        code = (NAN if np.isnan(x).any() else 0) | (INF if np.isinf(x).any() else 0)
    if condition.needs_previous and previous is None:
        code |= NO_PREVIOUS
    if condition.id == "weight_not_changed" and not code & NO_PREVIOUS and watchpoint.presets["equal_nan"]:
        code &= ~NAN  # with equal_nan, NaN can be compared with NaN
    if code:
        return Verdict([], code)
    before = None if previous is None else as_float64(previous)
    met = []
    with np.errstate(over="ignore", invalid="ignore"):
        for name, preset in watchpoint.tests.items():
            if name == "subnormal_percentage_gt":
                actual = subnormal_percentage(value)
            else:
                actual = statistic(name, watchpoint.presets, x, before)
            if is_met(name, preset, actual):
                met.append((name, preset, actual))
    return Verdict(met)


def _check_channels(watchpoint, value, previous):
    """Return the Verdict of all channels. The actual value of a parameter is that of the channel that exceeds most."""
    if not value.size:
        return Verdict([])
    point = watchpoint.of_one_channel
    channels = split_channels(watchpoint, value)
    before = [None] * len(channels) if previous is None else split_channels(watchpoint, previous)
    verdicts = [check(point, now, then) for now, then in zip(channels, before, strict=True)]
    met: dict[str, list[tuple[int, Any, Any]]] = {}
    for channel, verdict in enumerate(verdicts):
        for name, preset, actual in verdict.met:
            met.setdefault(name, []).append((channel, preset, actual))
    if not met:
        return Verdict([], functools.reduce(operator.or_, (verdict.error_code for verdict in verdicts), 0))
    triples = [(name, entries[0][1], _select_worst(name, entries)) for name, entries in met.items()]
    return Verdict(triples, 0, {name: tuple(entry[0] for entry in entries) for name, entries in met.items()})


def split_channels(watchpoint: Watchpoint, array: Any) -> Any:
    """Return an array of which the first axis has the channels; a scalar is one channel."""
    if not array.ndim:
        return array.reshape(1)
    axis = watchpoint.channel_axis(array.ndim)
    return array.transpose(axis, *(other for other in range(array.ndim) if other != axis))


def _select_worst(name, entries):
    values = [actual for _, _, actual in entries]
    if not name:
        return sum(values)  # numbers of NaN and infinities
    return min(values) if name == "rtol" or name.endswith("_lt") else max(values)


def is_met(name: str, preset: float, actual: float) -> bool:
    """Return True if the actual value meets a parameter, by the suffix of its name."""
    if name == "rtol":
        return actual <= preset
    return {"gt": actual > preset, "lt": actual < preset, "ge": actual >= preset}[name.rpartition("_")[2]]


def statistic(name: str, presets: Mapping[str, Any], x: np.ndarray, before: np.ndarray | None = None) -> float:
    """Return the number that a parameter is compared with.

    For ``rtol``, return the smallest rtol for which |x - before| <= atol + rtol * |before| is true for all elements.

    Args:
        name (str): name of the parameter, such as "abs_mean_gt".
        presets (Mapping): values of all parameters of the watchpoint.
        x (numpy.ndarray): the tensor, float64, not empty.
        before (numpy.ndarray): its previous value. Default: None.
    """
    column = name if name == "rtol" else name.rpartition("_")[0]
    if column == "rtol":
        return _compute_smallest_rtol(presets, x, before)
    if column == "abs_mean_update_ratio":
        return float(np.abs(x - before).mean() / (np.abs(before).mean() + presets["epsilon"]))
    if column == "zero_percentage":
        return 100.0 * float(np.count_nonzero(x == 0)) / x.size
    if column == "range_percentage":
        inside = (x >= presets["range_start_inclusive"]) & (x <= presets["range_end_inclusive"])
        return 100.0 * float(np.count_nonzero(inside)) / x.size
    if column == "max_min":
        return float(x.max() - x.min())
    return {
        "abs_mean": lambda: float(np.abs(x).mean()),
        "mean": lambda: float(x.mean()),
        "max": lambda: float(x.max()),
        "min": lambda: float(x.min()),
    }[column]()


def _compute_smallest_rtol(presets, x, before):
    """Return the smallest `rtol` for which |x - before| <= atol + rtol * |before| is true for all elements."""
    change = np.abs(x - before)
    if presets["equal_nan"]:
        change = np.where(np.isnan(x) & np.isnan(before), 0.0, change)
    excess, size = np.maximum(change - presets["atol"], 0.0), np.abs(before)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(excess == 0, 0.0, excess / size)
    return float("inf") if np.isnan(ratio).any() else float(ratio.max())


def subnormal_percentage(value: Any) -> float:
    """Return the share of subnormal numbers of a tensor, in percent, in the tensor's own dtype."""
    x = np.asarray(value)
    tiny = float(ml_dtypes.finfo(x.dtype).tiny)
    x = x.astype(np.float64)
    return 100.0 * float(np.count_nonzero((x != 0) & (np.abs(x) < tiny))) / max(x.size, 1)
