"""Logging with MindSpore's interface: ``from mindspore import log as logger; logger.warning("...")``.

Environment variables: ``GLOG_v`` from 0 to 4 selects DEBUG, INFO, WARNING (the default), ERROR or CRITICAL. Messages
from msnb have a short form on the screen, ``WARNING msnb: ...``. If any variable GLOG_* is set, they have MindSpore's
form.
    ``GLOG_logtostderr=0`` writes ``mindspore.log`` in the folder ``GLOG_log_dir``, and nothing to the screen.
    ``logger_backupCount`` is the number of rotated files, ``logger_maxBytes`` the size of each.
"""

import functools
import logging
import os
import sys
import threading
from collections.abc import Callable
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from msnb._util.package_path import PACKAGE

__all__ = ["get_level", "get_log_config"]

_LEVELS = {"0": logging.DEBUG, "1": logging.INFO, "2": logging.WARNING, "3": logging.ERROR, "4": logging.CRITICAL}
_NUMBERS = {level: number for number, level in _LEVELS.items()}
_DEFAULT_MAX_BYTES = 50 * 1024 * 1024
_DEFAULT_BACKUP_COUNT = 30
_PACKAGE_PARENT = str(Path(PACKAGE).parent) + os.sep

_lock = threading.Lock()
_global_logger = None
_logged_once = set()
_make_room = None  # called before a message is written to the screen
_own_form = None  # the form of msnb's messages in a notebook: a function of the record


class _Formatter(logging.Formatter):
    """Formats a record as ``[WARNING] ME(pid:thread,process):2021-01-31-23:59:59.123.456 [file:line] message``."""

    def __init__(self, on_screen):
        self.on_screen = on_screen
        super().__init__(
            "[%(levelname)s] ME(%(process)d:%(thread)d,%(processName)s):%(asctime)s "
            "[%(shortpath)s:%(lineno)d] %(message)s"
        )

    def formatTime(self, record, datefmt=None):
        micros = int(record.created * 1e6) % 1_000_000
        stamp = super().formatTime(record, datefmt or "%Y-%m-%d-%H:%M:%S")
        return f"{stamp}.{micros // 1000:03d}.{micros % 1000:03d}"

    def format(self, record):
        own = getattr(record, "to_user", False) or record.pathname.startswith(PACKAGE)
        if own and self.on_screen:
            if _own_form is not None:
                return _own_form(record)
            # without such a variable, no tool parses MindSpore's log lines
            if not any(name.startswith("GLOG_") for name in os.environ):
                return _format_short_record(record)
        record.shortpath = record.pathname.removeprefix(_PACKAGE_PARENT)
        return super().format(record)


def _format_short_record(record):
    """Return ``WARNING msnb: message``, with the user's source line if the record concerns user code."""
    line = f" [{record.pathname}:{record.lineno}]" if getattr(record, "to_user", False) else ""
    return f"{record.levelname} msnb: {record.getMessage()}{line}"


class _StderrHandler(logging.StreamHandler):
    """Writes to the current ``sys.stderr``, as notebooks and test runners replace it."""

    def __init__(self):
        logging.Handler.__init__(self)

    @property
    def stream(self):
        return sys.stderr

    def emit(self, record):
        if _make_room is not None:
            _make_room()
        super().emit(record)


def before_message(clear):
    """Register `clear`, which is called before each message on the screen, to erase an unfinished progress line."""
    global _make_room
    _make_room = clear


def show_own(form):
    """Show messages of msnb itself as the text `form(record)`. None restores MindSpore's form. Log files and messages
    of the user's code keep MindSpore's form."""
    global _own_form
    _own_form = form


def _read_number_from_environment(variable, default):
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    if not text.isdigit():
        raise ValueError(f"The environment variable {variable} should be a positive integer, but is {text!r}.")
    return int(text)


def _make_handler():
    console = os.environ.get("GLOG_logtostderr", "").strip() or "1"
    if console not in ("0", "1"):
        raise ValueError(
            f"The environment variable GLOG_logtostderr should be 0 (write files) or 1 (write to stderr), "
            f"but is {console!r}."
        )
    if console == "1":
        return _StderrHandler()
    folder = os.environ.get("GLOG_log_dir", "").strip()
    if not folder:
        raise ValueError("With GLOG_logtostderr=0, GLOG_log_dir should name the folder for the log file, but is empty.")
    if not os.path.isdir(folder):
        raise ValueError(
            f"The folder that GLOG_log_dir names does not exist: {folder!r}. Make it, or set GLOG_logtostderr=1."
        )
    handler = RotatingFileHandler(
        os.path.join(os.path.realpath(folder), "mindspore.log"),
        delay=True,
        encoding="utf-8",
        maxBytes=_read_number_from_environment("logger_maxBytes", _DEFAULT_MAX_BYTES),
        backupCount=_read_number_from_environment("logger_backupCount", _DEFAULT_BACKUP_COUNT),
    )
    handler.name = "FileHandler"
    return handler


def _get_logger():
    """Return the logger, created from the environment on first use."""
    global _global_logger
    if _global_logger is not None:
        return _global_logger
    with _lock:
        if _global_logger is None:
            level = os.environ.get("GLOG_v", "").strip() or "2"
            if level not in _LEVELS:
                raise ValueError(
                    f"The environment variable GLOG_v should be 0 (DEBUG), 1 (INFO), 2 (WARNING), 3 (ERROR) "
                    f"or 4 (CRITICAL), but is {level!r}."
                )
            handler = _make_handler()
            handler.setFormatter(_Formatter(isinstance(handler, _StderrHandler)))
            logger = logging.getLogger("ME.mindspore.log")
            logger.setLevel(_LEVELS[level])
            logger.propagate = False  # a root logger of the user would print every line twice
            logger.handlers[:] = [handler]
            _global_logger = logger
    return _global_logger


def debug(msg: object, *args: object, **kwargs: Any) -> None:
    """Log `msg` % `args` with severity DEBUG."""
    _log_message(logging.DEBUG, msg, args, kwargs)


def info(msg: object, *args: object, **kwargs: Any) -> None:
    """Log `msg` % `args` with severity INFO."""
    _log_message(logging.INFO, msg, args, kwargs)


def warning(msg: object, *args: object, **kwargs: Any) -> None:
    """Log `msg` % `args` with severity WARNING."""
    _log_message(logging.WARNING, msg, args, kwargs)


def error(msg: object, *args: object, **kwargs: Any) -> None:
    """Log `msg` % `args` with severity ERROR."""
    _log_message(logging.ERROR, msg, args, kwargs)


def critical(msg: object, *args: object, **kwargs: Any) -> None:
    """Log `msg` % `args` with severity CRITICAL."""
    _log_message(logging.CRITICAL, msg, args, kwargs)


def once(msg: object, *args: object) -> None:
    """Log `msg` % `args` as a WARNING the first time this text occurs in the process."""
    text = msg % args if args else msg
    if text not in _logged_once:
        _logged_once.add(text)
        _log_message(
            logging.WARNING, "%s", (text,), {"stacklevel": _find_user_stacklevel(), "extra": {"to_user": True}}
        )


def unused(where: str, why: str, **given: object) -> None:
    """Log once for each true entry of `given` that this argument has no effect in `where`. `why` is the reason in the
    message.

    This is the uniform message for unsupported options. A value of `given` says whether the caller used the argument:
    ``log.unused("FileReader", "one thread reads", num_consumer=num_consumer != 4)``.
    """
    for name, is_used in given.items():
        if is_used:
            once(f"{where}: '{name}' has no effect here: {why}.")


def _find_user_stacklevel():
    """Return the stacklevel of the user's line that caused the message: the nearest frame outside msnb and JAX."""
    jax = getattr(sys.modules.get("jax"), "__file__", None)
    inside = (PACKAGE, os.path.dirname(jax) + os.sep) if jax else PACKAGE
    frame, level = sys._getframe(2), 1
    while frame is not None and frame.f_code.co_filename.startswith(inside):
        frame, level = frame.f_back, level + 1
    return level if frame is not None else 1


class _LogActionOnce:
    """Decorator: a function logs warnings only if no function with the same key was called before.

    Args:
        logger (object): The log: this module.
        key (str): The key.
        no_warning (bool): Whether to suppress all warnings. Default: False.
    """

    _said: set[str] = set()

    def __init__(self, logger: object, key: str, no_warning: bool = False) -> None:
        self.logger, self.key, self.no_warning = logger, key, no_warning

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def once(*args: Any, **kwargs: Any) -> Any:
            was_quiet = _quiet.warnings
            _quiet.warnings = was_quiet or self.no_warning or self.key in self._said
            self._said.add(self.key)
            try:
                return function(*args, **kwargs)
            finally:
                _quiet.warnings = was_quiet

        return once


class _Quiet(threading.local):
    """Thread-local state: `warnings` is True while the warnings of the thread are suppressed."""

    warnings = False


_quiet = _Quiet()


def _log_message(level, msg, args, kwargs):
    if level == logging.WARNING and _quiet.warnings:
        return
    # a stacklevel counts from the caller of `warning()`, which is two frames above this one
    kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 2
    _get_logger().log(level, msg, *args, **kwargs)


def get_level() -> str:
    """Return the minimum level of messages, in the form of ``GLOG_v``.

    Returns:
        str, "0" (DEBUG) to "4" (CRITICAL).

    Examples:
        >>> from mindspore import log as logger
        >>> logger.get_level()
        '2'
    """
    return _NUMBERS[_get_logger().getEffectiveLevel()]


def get_log_config() -> dict[str, str]:
    """Return the current configuration, under the names of the environment variables that set it.

    Returns:
        dict, with ``GLOG_v`` and ``GLOG_logtostderr``; for a file ``GLOG_log_dir``, ``logger_maxBytes`` and
        ``logger_backupCount`` too.
    """
    handler = _get_logger().handlers[0]
    config = {"GLOG_v": get_level(), "GLOG_logtostderr": "1"}
    if isinstance(handler, RotatingFileHandler):
        config.update(
            GLOG_logtostderr="0",
            GLOG_log_dir=os.path.dirname(handler.baseFilename),
            logger_maxBytes=handler.maxBytes,
            logger_backupCount=handler.backupCount,
        )
    return config


def _reset():
    """Read the environment again at the next message (for tests)."""
    global _global_logger
    with _lock:
        if _global_logger is not None:
            for handler in _global_logger.handlers:
                handler.close()
        _global_logger = None
        _logged_once.clear()
