"""A table of settings: keys, allowed values, reasons for settings without effect, and current values."""

import difflib
import os
import re
from types import SimpleNamespace

from msnb import log
from msnb._util.placeholders import not_yet
from msnb.common.kinds import Instance, Int, Kind, Str, Worded, accept_value, check

# --- kinds of values -------------------------------------------------------------------------------------------------

mapping = Instance(dict)


def _check_flag_or_level(value):
    if not isinstance(value, bool) and not 0 <= accept_value(Int, value) <= 3:
        raise ValueError
    return value


def _make_folder(value):
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    path = os.path.realpath(value)
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{path} cannot be made: {error.strerror}") from error
    return path


def _check_file_path(value, key):
    path = os.path.realpath(check(Str, value, key, None))
    if os.path.isdir(path):
        raise OSError(f"'{key}' should be the path of a file, but {value!r} is a folder.")
    return path


def _make_parent_folder(value):
    folder = os.path.dirname(accept_value(Str, value))
    if folder:
        try:
            os.makedirs(folder, exist_ok=True)
        except OSError as error:
            raise ValueError(f"the folder {folder} cannot be made: {error.strerror}") from error
    return value


def _check_ascending_indices(value):
    if not value or sorted(set(accept_value(Instance(list), value))) != value:
        raise ValueError
    return [accept_value(Int, index) for index in value]


flag_or_level = Kind("a bool, or 0 to 3", _check_flag_or_level)
directory = Kind("the path of a folder that is there or can be made", _make_folder)
file = Worded("the path of a file", _check_file_path)
file_in_new_folder = Kind("the path of a file in a folder that is there or can be made", _make_parent_folder)
ascending_indices = Kind("a list of ascending int, not empty and without duplicates", _check_ascending_indices)


def gigabytes(limit):
    """Return a Kind that accepts sizes such as "3.5GB", up to `limit`."""

    def accept(value):
        size = re.fullmatch(r"([1-9][0-9]*\.?[0-9]*|0\.[0-9]*)GB", accept_value(Str, value))
        if not size or not 0 < float(size[1]) <= limit:
            raise ValueError
        return value

    return Kind(f'a string with a size such as "3.5GB", at most {limit}GB', accept)


def only(accepted, kind, instead):
    """Return a Kind that accepts only the value `accepted`.

    Other values of `kind` raise a NotImplementedError that says what to do `instead`.
    """

    def judge(value, key):
        if check(kind, value, key, None) != accepted:
            raise not_yet(f"{key}={value!r}", instead)
        return value

    return Worded(repr(accepted), judge)


# --- tables of settings ---------------------------------------------------------------------------------------------


class Settings:
    """A table of settings; `values` has one attribute per key.

    `table` maps each key to (default, Kind), or to (default, Kind, reason) for a setting without effect. The reason is
    logged once when a value other than the default is assigned.
    """

    def __init__(self, what, table, aliases=()):
        self.what = what
        self.rows = {key: row[:2] for key, row in table.items()}
        self.no_effect = {key: row[2] for key, row in table.items() if len(row) > 2}
        self.aliases = dict(aliases)
        self.values = SimpleNamespace(**{key: default for key, (default, _) in self.rows.items()})
        self.assigned = set()

    def find(self, key):
        key = self.aliases.get(key, key)
        if key not in self.rows:
            near = difflib.get_close_matches(str(key), self.rows, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"help(mindspore.context.{self.what}) lists them."
            raise ValueError(f"'{key}' is not a setting of {self.what}; {hint}")
        return key

    def check(self, settings):
        """Check all `settings`. Returns {key: value to assign} and changes nothing."""
        by_key = {self.find(key): value for key, value in settings.items()}
        return {key: check(self.rows[key][1], value, key, None) for key, value in by_key.items()}

    def assign(self, checked):
        for key in checked.keys() & self.no_effect.keys():
            log.unused(self.what, self.no_effect[key], **{key: checked[key] != self.rows[key][0]})
        vars(self.values).update(checked)
        self.assigned.update(checked)

    def reset(self):
        vars(self.values).update({key: default for key, (default, _) in self.rows.items()})
        self.assigned.clear()
