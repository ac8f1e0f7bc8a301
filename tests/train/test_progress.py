"""Progress of a training: the line in a terminal and in a notebook, its absence, and the message of Stop."""

import io
import re
import sys
import time
from types import SimpleNamespace

import IPython
import numpy as np
import pytest

from msnb import context, log
from msnb.common import progress
from msnb.notebook.kernel import progress as notebook
from msnb.train import _progress
from msnb.train.callback import Callback, LossMonitor, TimeMonitor


class Screen(io.StringIO):
    """A terminal that remembers; `rows` is what a person would see in the end, row by row."""

    def isatty(self):
        return True

    @property
    def rows(self):
        rows = []
        for text in self.getvalue().split("\n"):
            seen = ""
            for written in text.split("\r"):
                seen = written + seen[len(written) :]
            rows.append(seen.rstrip())
        return rows


@pytest.fixture
def terminal(monkeypatch):
    """Return a terminal for both streams, wide enough, drawn to at every step."""
    screen = Screen()
    # not in sys itself, whose streams pytest exchanges between a fixture and its test
    streams = SimpleNamespace(stdout=screen, stderr=screen, modules=sys.modules, _getframe=sys._getframe)
    monkeypatch.setattr(progress, "sys", streams)
    monkeypatch.setattr(log, "sys", streams)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(_progress, "EVERY", 0)
    return screen


@pytest.fixture
def kernel(monkeypatch):
    """Return the bundles that a notebook is told to show below its cell, the newest last."""
    shown = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=True))
    monkeypatch.setattr(_progress, "EVERY", 0)

    def display(bundle, raw, display_id):
        shown.append(bundle)
        return SimpleNamespace(update=lambda bundle, raw: shown.append(bundle))

    monkeypatch.setattr(notebook, "display", display)
    return shown


def test_a_terminal_shows_one_line_which_the_summary_ends(terminal, make_model, batches):
    make_model().train(2, batches(steps=3))
    lines = [line.rstrip() for line in re.split("[\r\n]", terminal.getvalue()) if line.strip()]
    assert lines[0] == "epoch 1 of 2, step 1 of 3, the first step, which compiles"
    assert re.fullmatch(r"epoch 2 of 2, step 2 of 3, loss [\d.e-]+, [\d,.]+ steps/s, 1 s left", lines[-3])
    *above, last, empty = terminal.rows
    assert re.fullmatch(r"2 epochs, 6 steps in \d+\.\d+ s, loss [\d.e-]+", last) and (above, empty) == ([], "")


def test_a_warning_in_the_midst_has_a_row_of_its_own(terminal, make_model, batches):
    make_model(rate=1e20).train(2, batches())
    warning, summary, _ = terminal.rows
    assert warning.startswith("WARNING msnb: ") and "The loss is not finite (nan) in step" in warning
    assert summary.startswith("2 epochs, 8 steps in") and summary.endswith("loss nan")


def test_a_line_longer_than_the_terminal_is_cut(terminal, monkeypatch, make_model, batches):
    monkeypatch.setenv("COLUMNS", "20")
    make_model().train(1, batches())
    assert max(map(len, re.split("[\r\n]", terminal.getvalue()))) == 19


@pytest.mark.parametrize("how", ["argument", "context", "environment", "pipe"])
def test_it_can_be_switched_off_and_a_pipe_has_none(how, terminal, monkeypatch, make_model, batches):
    if how == "context":
        context.set_context(show_progress=False)
    elif how == "environment":
        monkeypatch.setenv("MSNB_PROGRESS", "0")
    elif how == "pipe":
        monkeypatch.setattr(Screen, "isatty", lambda self: False)
    make_model().train(1, batches(), display=how != "argument")
    assert terminal.getvalue() == ""


class Quiet(Callback):
    def step_end(self, run_context):
        self.last = run_context.original_args().cur_step_num


class Printing(Callback):
    def epoch_end(self, run_context):
        (lambda: print("an epoch"))()


class PrintingAsBefore(Printing):
    def step_end(self, run_context):
        pass


@pytest.mark.parametrize(
    ("make", "draws"),
    [(Quiet, True), (Printing, False), (PrintingAsBefore, False), (LossMonitor, False), (TimeMonitor, False)],
)
def test_there_is_no_line_beside_a_callback_that_prints(make, draws, terminal, make_model, batches):
    make_model().train(1, batches(), callbacks=[make()])
    assert ("the first step" in terminal.getvalue()) == draws


def test_a_callback_may_hold_the_function_that_prints():
    callback = Callback()
    assert not _progress.prints(callback)
    callback.on_train_step_end = lambda run_context: print(run_context)
    assert _progress.prints(callback)


def test_a_notebook_shows_bar_figures_and_curve_in_one_place(kernel, make_model, batches):
    make_model().train(2, batches())
    first, *_, last = kernel
    assert 'role="progressbar"' in first["text/html"] and "<svg" not in first["text/html"]
    assert re.fullmatch(r"2 epochs, 8 steps in [\d.]+ s, loss [\d.e-]+", last["text/plain"])
    assert 'role="progressbar"' not in last["text/html"]
    points = re.search('polyline points="([^"]+)"', last["text/html"])[1].split()
    xs = [float(point.split(",")[0]) for point in points]
    assert len(points) > 2 and xs == sorted(xs) and (xs[0], xs[-1]) == (2, 118)


@pytest.mark.parametrize(("display", "monitor"), [(True, False), (False, False), (True, True)])
def test_fit_prints_each_validation_once(display, monitor, make_model, batches, capsys):
    callbacks = [LossMonitor(100)] if monitor else None
    make_model(metrics={"acc"}).fit(4, batches(), batches(), 2, callbacks=callbacks, display=display)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("{")[0] for line in lines] == [
        f"Eval result: epoch {epoch}, metrics: " for epoch in (2, 4) if display
    ]


def test_validations_stand_above_the_line(terminal, make_model, batches):
    make_model(metrics={"acc"}).fit(2, batches(), batches())
    first, second, summary, _ = terminal.rows
    assert first.startswith("Eval result: epoch 1, metrics: {'acc': ") and second.startswith("Eval result: epoch 2")
    assert summary.startswith("2 epochs")


def test_validations_stand_in_the_notebooks_line_and_say_how_far_they_are(kernel, monkeypatch, make_model, batches):
    monkeypatch.setattr(progress, "EVERY", 0)
    make_model(metrics={"acc"}).fit(2, batches(), batches(steps=5))
    texts = [bundle["text/plain"] for bundle in kernel]
    assert any("epoch 1 of 2, evaluating: 3 of 5 steps" in text for text in texts)
    assert [line.split(",")[0] for line in texts[-1].splitlines()] == [
        "Eval result: epoch 1",
        "Eval result: epoch 2",
        "2 epochs",
    ]
    assert "Eval result: epoch 2" in kernel[-1]["text/html"]


def test_an_evaluation_that_takes_long_has_a_line_too(terminal, monkeypatch, make_model, batches):
    model = make_model(metrics={"acc"})
    model.eval(batches())
    assert terminal.getvalue() == ""
    monkeypatch.setattr(progress, "_DELAY", 0)
    monkeypatch.setattr(progress, "EVERY", 0)
    model.eval(batches(steps=5))
    assert "evaluating: 4 of 5 steps, " in terminal.getvalue()
    assert re.fullmatch(r"evaluating: 5 steps in [\d.]+ s", terminal.rows[0])


class Interrupt(Callback):
    """Stop is pressed in the third step."""

    def step_end(self, run_context):
        if run_context.original_args().cur_step_num == 3:
            raise KeyboardInterrupt


@pytest.mark.parametrize("drawn", [True, False])
def test_stop_says_where_training_is(drawn, terminal, monkeypatch, make_model, batches):
    monkeypatch.setattr(Screen, "isatty", lambda self: drawn)
    with pytest.raises(KeyboardInterrupt) as caught:
        make_model().train(400, batches(steps=2), callbacks=[Interrupt()])
    sentence = r"stopped in epoch 2 of 400, step 3(, loss [\d.e-]+)?; the weights are those of step 3"
    assert re.fullmatch(sentence, str(caught.value))  # so that what ends the traceback is not empty
    assert re.search(sentence + ("$" if drawn else r"\.$"), terminal.rows[0])
    assert terminal.rows[0].startswith("stopped" if drawn else "WARNING msnb: ") and terminal.rows[1:] == [""]


def test_an_error_ends_the_line_and_the_next_training_has_one_again(terminal, make_model, batches):
    class Fail(Callback):
        def epoch_end(self, run_context):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make_model().train(5, batches(), callbacks=Fail())
    make_model().train(1, batches())
    assert terminal.rows[0] == "ended by ZeroDivisionError in epoch 1 of 5, after step 4"
    assert terminal.rows[1].startswith("1 epoch, 4 steps")


def test_a_line_that_cannot_be_drawn_stops_nothing(terminal, monkeypatch, make_model, batches):
    monkeypatch.setattr(progress._Terminal, "show", lambda *args: 1 / 0)
    said = []
    monkeypatch.setattr("msnb.log.warning", lambda text, *args: said.append(text % args))
    model = make_model()
    model.train(1, batches())
    assert said == ["The progress could not be drawn: ZeroDivisionError: division by zero"]
    assert model._epochs_done == 1


def test_a_stop_by_a_callback_is_said(terminal, make_model, batches):
    class Enough(Callback):
        def epoch_end(self, run_context):
            run_context.request_stop()

    make_model().train(5, batches(), callbacks=Enough())
    assert terminal.rows[0].startswith("ended early in epoch 1 of 5, 4 steps in ")


def test_the_curve_keeps_few_points_however_long_it_becomes():
    curve = _progress.Curve()
    for step in range(10_000):
        curve.add(step, float(np.nan) if step % 10 == 3 else 10_000.0 - step)
    steps, losses = zip(*curve.points, strict=True)
    assert 60 <= len(steps) < 120 and list(steps) == sorted(steps)
    assert all(step + loss == pytest.approx(10_000) for step, loss in curve.points)


def test_what_is_left_counts_neither_the_first_step_nor_makes_a_pause_a_slow_step():
    speed = _progress.Speed()
    assert speed.words(100) == []
    for done, now in ((1, 50.0), (11, 51.0), (21, 52.0)):
        speed.reached(done, now)
    assert speed.words(101) == ["10 steps/s", "8 s left"]
    speed.pause()
    speed.reached(21, 62.0)
    speed.reached(31, 63.0)
    assert speed.words(101) == ["10 steps/s", "30 s left"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.042, "0.04 s"), (4.21, "4.2 s"), (59.4, "59 s"), (65, "1 min 5 s"), (7380, "2 h 3 min")]
)
def test_durations_are_said_as_people_do(seconds, text):
    assert progress.duration(seconds) == text


@pytest.mark.parametrize(
    ("per_second", "text"), [(1240, "1,240 rows/s"), (4.2, "4.2 rows/s"), (0.1, "10 s per row"), (0, "0.0 rows/s")]
)
def test_a_slow_speed_is_said_as_the_time_of_one(per_second, text):
    assert progress.rate(per_second, "rows") == text


def test_a_line_within_a_line_is_none(terminal):
    outer = progress.begin()
    assert progress.begin() is None
    outer.end(("done",))
    assert progress.begin() is not None


def test_a_line_that_was_left_behind_is_in_nobodys_way(terminal):
    progress.begin()
    line = progress.begin()
    line.show(("again",))
    assert terminal.rows == ["again"]
    line.end(("done",))


def test_what_cannot_be_counted_shows_its_seconds(terminal, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 0.02)
    with progress.Wait("compiling", about=60):
        for _ in range(6000):  # a minute at most
            if "of about" in terminal.getvalue():
                break
            time.sleep(0.01)
    assert re.search(r"compiling: [\d.]+ s of about 1 min 0 s", terminal.getvalue())
    assert re.fullmatch(r"compiling: [\d.]+ s", terminal.rows[0]) and terminal.rows[1:] == [""]


@pytest.mark.parametrize("quiet", [False, True])
def test_wait_shows_changed_name_unless_quiet(terminal, monkeypatch, quiet):
    monkeypatch.setattr(progress, "_DELAY", 0.02)
    with progress.Wait("plan", quiet=quiet) as wait:
        wait.what = "plan, search 1 of 2"
        for _ in range(20 if quiet else 6000):  # a minute at most
            if "search 1 of 2" in terminal.getvalue():
                break
            time.sleep(0.01)
    assert ("plan, search 1 of 2: " in terminal.getvalue()) != quiet and (not quiet or terminal.getvalue() == "")


def test_what_takes_less_than_a_second_leaves_nothing(terminal):
    with progress.Wait("compiling"):
        pass
    assert list(progress.follow(range(3), "counting")) == [0, 1, 2]
    assert terminal.getvalue() == ""


def test_rows_are_counted_with_an_estimate_where_their_number_is_known(terminal, monkeypatch):
    monkeypatch.setattr(progress, "_DELAY", 0)
    monkeypatch.setattr(progress, "EVERY", 0)
    assert sum(progress.follow(iter(range(5)), "writing", 5)) == 10
    assert re.search(r"writing: 4 of 5 rows, [\d,.]+ rows/s, \d+ s left", terminal.getvalue())
    assert re.fullmatch(r"writing: 5 rows in 0\.\d\d s", terminal.rows[0])
    for _ in progress.follow(range(5), "reading"):
        break
    assert terminal.rows[-1] == ""
