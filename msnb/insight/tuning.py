"""`msnb.tune`: optuna looks for hyper-parameters, and each of its trials is a run.

What is known of a study are its runs: there is no other file. A study goes on where it was left, on another day and
after a crash too, and a run that is deleted is forgotten.
"""

import importlib
import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msnb import log
from msnb.insight.runs import Run, Runs, live_views
from msnb.insight.runs.table import more_is_better
from msnb.train.recording import Recording

_GOALS = ("minimize", "maximize")
_PLAIN = (bool, int, float, str, type(None))  # what optuna lets be chosen from


class Pruned(Exception):
    """Ends a trial that is not worth going on with; `tune` catches it."""


class Trial(Recording):
    """The run that a trial is given. `run.config` holds the hyper-parameters to try; a `run.log` of the target tells
    how it goes, and ends the trial where others were better by then."""

    def __init__(self, name: str, folder: Path, config: dict[str, Any], target: str, trial: Any) -> None:
        super().__init__(name, folder, config=config)
        self._target, self._trial = target, trial

    def log(self, values: Mapping[str, Any], step: int | None = None) -> None:
        """As `Recording.log`; the target is told to optuna, too.

        Raises:
            Pruned: If the trial is not worth going on with.
        """
        super().log(values, step)
        value = _numbers(values).get(self._target)
        if value is not None and math.isfinite(value):
            self._trial.report(value, self._step)
            if self._trial.should_prune():
                raise Pruned(f"{self._target} is {value:.6g} in step {self._step}, where others were better.")


class Tuning:
    """What `tune` returns.

    Attributes:
        study (optuna.Study): The study, with all its trials.
        runs (Runs): The runs.
        target (str): The metric.
        goal (str): "minimize" or "maximize".
    """

    def __init__(self, study: Any, runs: Runs, target: str, goal: str) -> None:
        self.study, self.runs, self.target, self.goal = study, runs, target, goal

    @property
    def best(self) -> Run | None:
        """The run with the best value; None where none has one."""
        table = self.runs.table()
        name = table.best(self.target, self.goal) if self.target in table else None
        return None if name is None else self.runs[name]

    def __repr__(self) -> str:
        best, many = self.best, len(self.runs)
        head = f"{many} trial{'' if many == 1 else 's'} in {self.runs.folder}"
        if best is None:
            return f"{head}; none has a {self.target}"
        values = ", ".join(f"{name}={_short(value)}" for name, value in best.config.items())
        return f"{head}; best {self.target} {_short(best.summary.get(self.target))} in {best.name}: {values}"


def tune(
    fn: Callable[[Trial], float | None],
    space: Mapping[str, Any],
    trials: int = 20,
    *,
    name: str = "study",
    folder: str | os.PathLike[str] = "runs",
    target: str = "value",
    goal: str | None = None,
    sampler: Any = None,
    pruner: Any = None,
    catch: tuple[type[Exception], ...] = (),
    seed: int | None = None,
) -> Tuning:
    """Look for the hyper-parameters with which a training is best. Each trial is a run, `%ms_runs` shows them.

    A study that has been begun goes on: what its runs in ``folder/name`` have found is told to optuna first, and
    `trials` counts them. What was interrupted before it said anything, and what failed, is not counted.

    Args:
        fn (Callable): Trains once and returns the value of the target, or None if it has logged that itself. It is
            given the run: `run.config` holds the values to try. `run.log({target: value}, step)` lets a trial that is
            worse than others at that step be ended; so does ``Model.train(..., record=run)`` with evaluations, where
            the target is one of its metrics, `"eval/acc"`.
        space (Mapping): What to try, by name: ``(low, high)`` of floats or ints, ``(low, high, "log")``, a range, a
            list to choose from, or one of `optuna.distributions`.
        trials (int): How many trials the study is to have. Default: 20.
        name (str): Of the study, whose folder holds the runs. Default: "study".
        folder (str): Where it is. Default: "runs".
        target (str): The metric. Default: "value".
        goal (str): "minimize" or "maximize" it. Default: None, as its name says: accuracies are maximized.
        sampler (optuna.samplers.BaseSampler): How values are chosen. Default: None, by a tree of Parzen estimators;
            ``optuna.samplers.GPSampler()`` is the Gaussian process of MindSpore's mindoptimizer.
        pruner (optuna.pruners.BasePruner): When a trial is ended early. Default: None, if it is worse than the median
            of the others; ``optuna.pruners.NopPruner()`` ends none.
        catch (tuple[type]): Exceptions of `fn` after which the next trial begins. Default: (), it ends the tuning.
        seed (int): Of the default sampler. Default: None.

    Returns:
        Tuning, with the `study`, its `runs` and the `best` of them.

    Raises:
        ImportError: If optuna is not installed.
        TypeError: If `fn` cannot be called, or gives no number.
        ValueError: If `space` or another argument is none of the above.

    Supported Platforms:
        ``CPU`` ``GPU`` ``TPU``
    """
    optuna = _optuna()
    if not callable(fn):
        raise TypeError(f"For 'tune', 'fn' should be a function of a run, but got {type(fn).__name__}.")
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise ValueError(f"For 'tune', 'trials' should be a positive int, but got {trials!r}.")
    if goal not in (None, *_GOALS):
        raise ValueError(f"For 'tune', 'goal' should be 'minimize' or 'maximize', but got {goal!r}.")
    goal = goal or _GOALS[more_is_better(target)]
    distributions = {key: _distribution(optuna, key, value) for key, value in _named(space).items()}
    place = Path(folder) / name
    place.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        study_name=name,
        direction=goal,
        sampler=sampler if sampler is not None else optuna.samplers.TPESampler(seed=seed),
        pruner=pruner if pruner is not None else optuna.pruners.MedianPruner(),
    )
    tuning = Tuning(study, Runs(place), target, goal)
    known = [_told(optuna, run, distributions, target) for run in tuning.runs]
    study.add_trials([trial for trial in known if trial is not None])
    after = live_views.begin(tuning.runs, target, goal)
    done = sum(_counts(run, target) for run in tuning.runs)
    try:
        for _ in range(trials - done):
            _try(optuna, study, fn, distributions, place, target, catch)
            tuning.runs.refresh()
            after()
    finally:
        tuning.runs.refresh()
        after()
    return tuning


def _optuna() -> Any:
    try:
        optuna = importlib.import_module("optuna")
    except ImportError as error:
        if error.name not in ("optuna", None):
            raise
        raise ImportError(
            "msnb.tune needs optuna, which looks for the values to try: pip install 'msnb[tune]', or optuna itself.",
            name="optuna",
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # the runs say what its lines would
    return optuna


def _named(space):
    if not isinstance(space, Mapping) or not space or not all(isinstance(key, str) for key in space):
        raise ValueError(
            f"For 'tune', 'space' should tell by name what to try, such as {{'lr': (1e-4, 0.1, 'log')}}, but got "
            f"{space!r}."
        )
    return space


def _distribution(optuna: Any, name: str, given: Any) -> Any:
    """optuna's form of one entry of the space."""
    kinds = optuna.distributions
    if isinstance(given, kinds.BaseDistribution):
        return given
    if isinstance(given, range) and len(given):
        low, high = min(given[0], given[-1]), max(given[0], given[-1])
        return kinds.IntDistribution(low, high, step=abs(given.step))
    if isinstance(given, list) and given and all(isinstance(value, _PLAIN) for value in given):
        return kinds.CategoricalDistribution(given)
    if isinstance(given, tuple) and len(given) in (2, 3) and (len(given) == 2 or given[2] == "log"):
        low, high = given[:2]
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) for v in (low, high))
        if numbers and low < high and (len(given) == 2 or low > 0):
            kind = kinds.IntDistribution if isinstance(low, int) and isinstance(high, int) else kinds.FloatDistribution
            return kind(low, high, log=len(given) == 3)
    raise ValueError(
        f"For 'tune', {name!r} of 'space' should be (low, high), (low, high, 'log') with 0 < low < high, a range, a "
        f"list of plain values or one of optuna.distributions, but got {given!r}."
    )


def _try(optuna, study, fn, distributions, place, target, catch):
    """One trial: a run, and what is told to optuna of it."""
    states = optuna.trial.TrialState
    trial = study.ask(distributions)
    run = Trial(f"{trial.number:04d}", place, dict(trial.params), target, trial)
    try:
        value = fn(run)
        if value is not None:
            value = _number(value)
            Recording.log(run, {target: value}, max(run._step, 0))
        run.flush()
        value = run.summary.get(target) if value is None else value
        if value is None:
            raise TypeError(
                f"For 'tune', 'fn' should return a number, or log {target!r} of its run, but it did neither."
            )
    except Pruned as why:
        run.finish("interrupted")
        study.tell(trial, state=states.PRUNED)
        log.info("Trial %s was ended: %s", run.name, why)
    except catch as error:
        run.finish("failed")
        study.tell(trial, state=states.FAIL)
        log.warning("Trial %s failed: %s: %s", run.name, type(error).__name__, error)
    except BaseException as error:
        run.finish("failed" if isinstance(error, Exception) else "interrupted")
        study.tell(trial, state=states.FAIL)
        raise
    else:
        run.finish()
        if math.isfinite(value):
            study.tell(trial, value)
        else:
            study.tell(trial, state=states.FAIL)


def _told(optuna: Any, run: Run, distributions: dict[str, Any], target: str) -> Any:
    """A run of before as optuna's trial; None for one that says nothing, or tried what is no longer to be tried."""
    states, config = optuna.trial.TrialState, run.config
    if not all(name in config and _within(of, config[name]) for name, of in distributions.items()):
        return None
    params = {name: config[name] for name in distributions}
    value = run.summary.get(target)
    if run.state == "finished" and _is_finite(value):
        return optuna.trial.create_trial(
            params=params, distributions=distributions, value=value, intermediate_values=_curve(run, target)
        )
    if run.state == "interrupted" and (curve := _curve(run, target)):
        return optuna.trial.create_trial(
            state=states.PRUNED, params=params, distributions=distributions, intermediate_values=curve
        )
    return None


def _within(distribution: Any, value: Any) -> bool:
    try:
        return bool(distribution._contains(distribution.to_internal_repr(value)))
    except (TypeError, ValueError):  # a word where numbers are tried, or one that is no longer to be chosen
        return False


def _counts(run: Run, target: str) -> bool:
    return run.state == "finished" or (run.state == "interrupted" and bool(_curve(run, target)))


def _curve(run: Run, target: str) -> dict[int, float]:
    series = run.scalar(target)
    return {int(s): float(v) for s, v in zip(series.steps, series.values, strict=True) if math.isfinite(v)}


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _number(value: Any) -> float:
    try:
        return float(value.asnumpy() if hasattr(value, "asnumpy") else value)
    except (TypeError, ValueError):
        raise TypeError(f"For 'tune', 'fn' should return a number, but it returned {type(value).__name__}.") from None


def _numbers(values: Mapping[str, Any], before: str = "") -> dict[str, float]:
    """What was logged, with the names that it is kept under."""
    found: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found.update(_numbers(value, f"{before}{name}/"))
        else:
            found[f"{before}{name}"] = _number(value)
    return found


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


__all__: Sequence[str] = ["Pruned", "Trial", "Tuning", "tune"]
