"""`msnb.tune`: optuna searches for hyper-parameters, and each of its trials is a run.

The runs are the only storage of a study. A study can be continued on another day, also after a crash, and a deleted run
is no longer part of it.
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
_PLAIN = (bool, int, float, str, type(None))  # types of categorical choices in optuna


class Pruned(Exception):
    """Ends a trial that is unlikely to be the best; `tune` catches it."""


class Trial(Recording):
    """The run of a trial. `run.config` has the hyper-parameters to try. A `run.log` of the target reports an
    intermediate value, and ends the trial if others were better at that step.
    """

    def __init__(self, name: str, folder: Path, config: dict[str, Any], target: str, trial: Any) -> None:
        super().__init__(name, folder, config=config)
        self._target, self._trial = target, trial

    def log(self, values: Mapping[str, Any], step: int | None = None) -> None:
        """Log values as `Recording.log` does, and report the target to optuna.

        Raises:
            Pruned: If the trial is unlikely to be the best.
        """
        super().log(values, step)
        value = _flatten_numbers(values).get(self._target)
        if value is not None and math.isfinite(value):
            self._trial.report(value, self._step)
            if self._trial.should_prune():
                raise Pruned(f"{self._target} is {value:.6g} in step {self._step}, where others were better.")


class Tuning:
    """The result of `tune`.

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
        """The run with the best value; None if no run has one."""
        table = self.runs.table()
        name = table.best(self.target, self.goal) if self.target in table else None
        return None if name is None else self.runs[name]

    def __repr__(self) -> str:
        best, many = self.best, len(self.runs)
        head = f"{many} trial{'' if many == 1 else 's'} in {self.runs.folder}"
        if best is None:
            return f"{head}; none has a {self.target}"
        values = ", ".join(f"{name}={_format_value(value)}" for name, value in best.config.items())
        return f"{head}; best {self.target} {_format_value(best.summary.get(self.target))} in {best.name}: {values}"


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
    """Search for the best hyper-parameters of a training. Each trial is a run, `%ms_runs` shows them.

    An existing study is continued: the results of its runs in ``folder/name`` are reported to optuna first, and
    count as `trials`. Failed runs and runs that were interrupted before they logged the target are not counted.

    Args:
        fn (Callable): Trains once and returns the value of the target, or None if it has logged that itself. Its
            argument is the run: `run.config` has the values to try. `run.log({target: value}, step)` ends a trial that
            is worse than others at that step. ``Model.train(..., record=run)`` with evaluations does the same if the
            target is one of its metrics, such as `"eval/acc"`.
        space (Mapping): Values to try, by name: ``(low, high)`` of floats or ints, ``(low, high, "log")``, a range, a
            list to choose from, or one of `optuna.distributions`.
        trials (int): Number of trials of the study. Default: 20.
        name (str): Name of the study and of its folder, which contains the runs. Default: "study".
        folder (str): Parent folder of the study's folder. Default: "runs".
        target (str): The metric. Default: "value".
        goal (str): "minimize" or "maximize" it. Default: None, derived from its name: accuracies are maximized.
        sampler (optuna.samplers.BaseSampler): Chooses values. Default: None, a tree of Parzen estimators;
            ``optuna.samplers.GPSampler()`` is the Gaussian process of MindSpore's mindoptimizer.
        pruner (optuna.pruners.BasePruner): Ends trials early. Default: None, a trial ends if it is worse than the
            median of the others. ``optuna.pruners.NopPruner()`` never ends a trial.
        catch (tuple[type]): Exceptions of `fn` after which the next trial begins. Default: (), an exception ends the
            tuning.
        seed (int): Seed of the default sampler. Default: None.

    Returns:
        Tuning, with the `study`, its `runs` and the `best` of them.

    Raises:
        ImportError: If optuna is not installed.
        TypeError: If `fn` cannot be called, or does not return or log a number.
        ValueError: If `space` or another argument is invalid.
    """
    optuna = _import_optuna()
    if not callable(fn):
        raise TypeError(f"For 'tune', 'fn' should be a function of a run, but got {type(fn).__name__}.")
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise ValueError(f"For 'tune', 'trials' should be a positive int, but got {trials!r}.")
    if goal not in (None, *_GOALS):
        raise ValueError(f"For 'tune', 'goal' should be 'minimize' or 'maximize', but got {goal!r}.")
    goal = goal or _GOALS[more_is_better(target)]
    distributions = {key: _to_distribution(optuna, key, value) for key, value in _check_space(space).items()}
    place = Path(folder) / name
    place.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        study_name=name,
        direction=goal,
        sampler=sampler if sampler is not None else optuna.samplers.TPESampler(seed=seed),
        pruner=pruner if pruner is not None else optuna.pruners.MedianPruner(),
    )
    tuning = Tuning(study, Runs(place), target, goal)
    finished_trials = [_convert_run_to_trial(optuna, run, distributions, target) for run in tuning.runs]
    study.add_trials([trial for trial in finished_trials if trial is not None])
    after = live_views.begin(tuning.runs, target, goal)
    done = sum(_counts_as_trial(run, target) for run in tuning.runs)
    try:
        for _ in range(trials - done):
            _run_trial(optuna, study, fn, distributions, place, target, catch)
            tuning.runs.refresh()
            after()
    finally:
        tuning.runs.refresh()
        after()
    return tuning


def _import_optuna() -> Any:
    try:
        optuna = importlib.import_module("optuna")
    except ImportError as error:
        if error.name not in ("optuna", None):
            raise
        raise ImportError(
            "msnb.tune needs optuna, which looks for the values to try: pip install 'msnb[tune]', or optuna itself.",
            name="optuna",
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # optuna's log lines repeat the content of the runs
    return optuna


def _check_space(space):
    if not isinstance(space, Mapping) or not space or not all(isinstance(key, str) for key in space):
        raise ValueError(
            f"For 'tune', 'space' should tell by name what to try, such as {{'lr': (1e-4, 0.1, 'log')}}, but got "
            f"{space!r}."
        )
    return space


def _to_distribution(optuna: Any, name: str, entry: Any) -> Any:
    """Return optuna's distribution of one entry of the space."""
    kinds = optuna.distributions
    if isinstance(entry, kinds.BaseDistribution):
        return entry
    if isinstance(entry, range) and len(entry):
        low, high = min(entry[0], entry[-1]), max(entry[0], entry[-1])
        return kinds.IntDistribution(low, high, step=abs(entry.step))
    if isinstance(entry, list) and entry and all(isinstance(value, _PLAIN) for value in entry):
        return kinds.CategoricalDistribution(entry)
    if isinstance(entry, tuple) and len(entry) in (2, 3) and (len(entry) == 2 or entry[2] == "log"):
        low, high = entry[:2]
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v) for v in (low, high))
        if numbers and low < high and (len(entry) == 2 or low > 0):
            kind = kinds.IntDistribution if isinstance(low, int) and isinstance(high, int) else kinds.FloatDistribution
            return kind(low, high, log=len(entry) == 3)
    raise ValueError(
        f"For 'tune', {name!r} of 'space' should be (low, high), (low, high, 'log') with 0 < low < high, a range, a "
        f"list of plain values or one of optuna.distributions, but got {entry!r}."
    )


def _run_trial(optuna, study, fn, distributions, place, target, catch):
    """Run one trial and report its result to optuna."""
    states = optuna.trial.TrialState
    trial = study.ask(distributions)
    run = Trial(f"{trial.number:04d}", place, dict(trial.params), target, trial)
    try:
        value = fn(run)
        if value is not None:
            value = _to_float(value)
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


def _convert_run_to_trial(optuna: Any, run: Run, distributions: dict[str, Any], target: str) -> Any:
    """Return an earlier run as optuna's trial; None without a result, or if its values are not in the current space."""
    states, config = optuna.trial.TrialState, run.config
    if not all(name in config and _contains(of, config[name]) for name, of in distributions.items()):
        return None
    params = {name: config[name] for name in distributions}
    value = run.summary.get(target)
    if run.state == "finished" and _is_finite(value):
        return optuna.trial.create_trial(
            params=params,
            distributions=distributions,
            value=value,
            intermediate_values=_read_finite_values(run, target),
        )
    if run.state == "interrupted" and (curve := _read_finite_values(run, target)):
        return optuna.trial.create_trial(
            state=states.PRUNED, params=params, distributions=distributions, intermediate_values=curve
        )
    return None


def _contains(distribution: Any, value: Any) -> bool:
    try:
        return bool(distribution._contains(distribution.to_internal_repr(value)))
    except (TypeError, ValueError):  # a str where numbers are tried, or a choice that is no longer in the list
        return False


def _counts_as_trial(run: Run, target: str) -> bool:
    return run.state == "finished" or (run.state == "interrupted" and bool(_read_finite_values(run, target)))


def _read_finite_values(run: Run, target: str) -> dict[int, float]:
    series = run.scalar(target)
    return {int(s): float(v) for s, v in zip(series.steps, series.values, strict=True) if math.isfinite(v)}


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _to_float(value: Any) -> float:
    try:
        return float(value.asnumpy() if hasattr(value, "asnumpy") else value)
    except (TypeError, ValueError):
        raise TypeError(f"For 'tune', 'fn' should return a number, but it returned {type(value).__name__}.") from None


def _flatten_numbers(values: Mapping[str, Any], before: str = "") -> dict[str, float]:
    """Return logged values, with the names under which they are stored."""
    numbers: dict[str, float] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            numbers.update(_flatten_numbers(value, f"{before}{name}/"))
        else:
            numbers[f"{before}{name}"] = _to_float(value)
    return numbers


def _format_value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


__all__: Sequence[str] = ["Pruned", "Trial", "Tuning", "tune"]
