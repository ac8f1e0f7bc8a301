"""As much of optuna as `msnb.tune` uses, for machines without it: values are drawn at random, and a trial is ended
where it is worse than the median of the others. Where optuna is installed the tests run with it as well."""

import enum
import random
import statistics
from types import ModuleType, SimpleNamespace


class TrialState(enum.Enum):
    COMPLETE, PRUNED, FAIL, RUNNING = range(4)


class BaseDistribution:
    def to_internal_repr(self, value):
        return float(value)


class _Numbers(BaseDistribution):
    def __init__(self, low, high, log=False, step=None):
        self.low, self.high, self.log, self.step = low, high, log, step

    def _contains(self, value):
        return self.low <= value <= self.high


class FloatDistribution(_Numbers):
    def draw(self, chance):
        return self.low * (self.high / self.low) ** chance if self.log else self.low + (self.high - self.low) * chance


class IntDistribution(_Numbers):
    def draw(self, chance):
        step = self.step or 1
        return self.low + step * int(chance * ((self.high - self.low) // step + 1))


class CategoricalDistribution(BaseDistribution):
    def __init__(self, choices):
        self.choices = choices

    def to_internal_repr(self, value):
        return float(self.choices.index(value))

    def _contains(self, index):
        return 0 <= index < len(self.choices)

    def draw(self, chance):
        return self.choices[int(chance * len(self.choices))]


class FrozenTrial(SimpleNamespace):
    pass


def create_trial(state=TrialState.COMPLETE, params=None, distributions=None, value=None, intermediate_values=None):
    return FrozenTrial(state=state, params=params, value=value, intermediate_values=intermediate_values or {})


class Trial(FrozenTrial):
    def report(self, value, step):
        self.intermediate_values[step] = value

    def should_prune(self):
        step = max(self.intermediate_values)
        others = [
            t.intermediate_values[step] for t in self.study.trials if t is not self and step in t.intermediate_values
        ]
        if self.study.pruner is None or len(others) < 4:
            return False
        value, middle = self.intermediate_values[step], statistics.median(others)
        return value > middle if self.study.direction == "minimize" else value < middle


class Study:
    def __init__(self, study_name, direction, sampler, pruner):
        self.study_name, self.direction, self.sampler, self.pruner = study_name, direction, sampler, pruner
        self.trials = []

    def add_trials(self, trials):
        self.trials += trials

    def ask(self, distributions):
        params = {name: of.draw(self.sampler.random()) for name, of in distributions.items()}
        trial = Trial(number=len(self.trials), params=params, intermediate_values={}, study=self, value=None)
        self.trials.append(trial)
        return trial

    def tell(self, trial, value=None, state=TrialState.COMPLETE):
        trial.value, trial.state = value, state


def module():
    """Return the stand-in, as `import optuna` would give it."""
    optuna = ModuleType("optuna")
    optuna.create_study = Study
    optuna.logging = SimpleNamespace(set_verbosity=lambda level: None, WARNING=30)
    optuna.samplers = SimpleNamespace(TPESampler=lambda seed=None: random.Random(seed))
    optuna.pruners = SimpleNamespace(MedianPruner=lambda: "median", NopPruner=lambda: None)
    optuna.trial = SimpleNamespace(TrialState=TrialState, create_trial=create_trial)
    optuna.distributions = SimpleNamespace(
        BaseDistribution=BaseDistribution,
        FloatDistribution=FloatDistribution,
        IntDistribution=IntDistribution,
        CategoricalDistribution=CategoricalDistribution,
    )
    return optuna
