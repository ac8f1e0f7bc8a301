"""The log: where it goes, what passes, and the once-only messages."""

import re

import pytest

from msnb import log


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    for name in ("GLOG_v", "GLOG_logtostderr", "GLOG_log_dir", "logger_maxBytes", "logger_backupCount"):
        monkeypatch.delenv(name, raising=False)
    log._reset()
    yield
    log._reset()


def test_warnings_pass_and_information_does_not_by_default(capsys):
    log.info("quiet")
    log.warning("The arg(%s) is: %r", "a", 3)
    err = capsys.readouterr().err
    assert "quiet" not in err and "The arg(a) is: 3" in err
    assert log.get_level() == "2"


def test_a_line_has_mindspores_layout_and_names_the_caller(capsys):
    log.error("broken")
    line = capsys.readouterr().err.strip()
    assert re.fullmatch(
        r"\[ERROR\] ME\(\d+:\d+,\w+\):\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} \[.*test_log\.py:\d+\] broken", line
    )


def test_programs_have_the_environment_read_anew_by_mindspores_name_of_the_logger(monkeypatch):
    assert log.get_level() == "2"
    monkeypatch.setenv("GLOG_v", "1")
    log._global_logger = None
    assert log.get_level() == "1"


def test_glog_v_sets_the_level(monkeypatch, capsys):
    monkeypatch.setenv("GLOG_v", "0")
    log.debug("detail")
    assert "detail" in capsys.readouterr().err
    assert log.get_level() == "0"


def test_a_file_is_written_instead_when_the_environment_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("GLOG_logtostderr", "0")
    monkeypatch.setenv("GLOG_log_dir", str(tmp_path))
    monkeypatch.setenv("logger_maxBytes", "1000")
    log.warning("kept")
    assert capsys.readouterr().err == ""
    assert "kept" in (tmp_path / "mindspore.log").read_text()
    assert log.get_log_config() == {
        "GLOG_v": "2",
        "GLOG_logtostderr": "0",
        "GLOG_log_dir": str(tmp_path.resolve()),
        "logger_maxBytes": 1000,
        "logger_backupCount": 30,
    }


@pytest.mark.parametrize(
    "environment",
    [
        {"GLOG_v": "9"},
        {"GLOG_logtostderr": "2"},
        {"GLOG_logtostderr": "0"},
        {"GLOG_logtostderr": "0", "GLOG_log_dir": "/no/such/folder"},
        {"GLOG_logtostderr": "0", "GLOG_log_dir": ".", "logger_maxBytes": "many"},
    ],
)
def test_a_wrong_environment_is_named(monkeypatch, environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match="GLOG|logger_"):
        log.warning("never")


def test_a_message_comes_once(capsys):
    for _ in range(3):
        log.once("only this time: %d", 1)
    log.once("only this time: %d", 2)
    err = capsys.readouterr().err
    assert err.count("only this time: 1") == 1 and err.count("only this time: 2") == 1
    assert "test_log.py" in err


def test_a_function_that_is_to_warn_once_for_a_key_warns_once(capsys):
    def made(name):
        log.warning("%s is old", name)
        log.error("%s is broken", name)

    first, second = (log._LogActionOnce(logger=log, key="test of a key")(made) for _ in range(2))
    first("one")
    second("two")
    log._LogActionOnce(log, "another key", no_warning=True)(made)("three")
    log.warning("behind")
    said = capsys.readouterr().err
    assert [word in said for word in ("one is old", "two is old", "three is old", "behind")] == [
        True,
        False,
        False,
        True,
    ]
    assert said.count("is broken") == 3


def test_what_msnb_says_is_short_on_the_screen_unless_a_program_reads_mindspores_log(monkeypatch, capsys):
    log.once("This has no effect.")
    assert re.fullmatch(r"WARNING msnb: This has no effect\.( \[.*\])?", capsys.readouterr().err.strip())
    log._reset()
    monkeypatch.setenv("GLOG_v", "2")
    log.once("This has no effect, either.")
    assert capsys.readouterr().err.startswith("[WARNING] ME(")
