"""Checks of the arguments of summaries. The messages are r1.1's, because programs compare them."""

from typing import Any

_FORMS: dict[str, list[str | None]] = {"tensor_format": ["npy", None]}
_DEFAULT_EXPORT_OPTIONS: dict[str, Any] = {name: set(forms) for name, forms in _FORMS.items()}


def typed(name: str, value: Any, *kinds: type) -> Any:
    """Return `value` if its type is one of `kinds`; a bool is not an int.

    Raises:
        TypeError: If it is of another type.
    """
    if isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)):
        return value
    expected = [kind.__name__ for kind in kinds]
    raise TypeError(f"For `{name}` the type should be a valid type of {expected}, but got {type(value).__name__}.")


def positive(name: str, value: Any, or_none: bool = False) -> Any:
    """Return `value` if it is a positive int, or None if that is allowed.

    Raises:
        TypeError: If it is not an int.
        ValueError: If it is not positive.
    """
    if value is None and or_none:
        return None
    if typed(name, value, int) <= 0:
        raise ValueError(f"For `{name}` the value should be greater than 0, but got `{value}`.")
    return value


def process_export_options(export_options: dict[str, Any] | None) -> dict[str, Any] | None:
    """Check `export_options` and return it: None, or {"tensor_format": "npy"}.

    Raises:
        TypeError: If it is neither, or an entry is not a string.
        ValueError: If a key or a value is unknown.
    """
    options = typed("export_options", export_options, dict, type(None)) or {}
    for name, form in options.items():
        typed("export_option", name, str)
        typed("export_format", form, str, type(None))
    unknown = {name for name in options if name not in _FORMS}
    if unknown:
        raise _make_unsupported_error(f'the keys {unknown} of "export_options" are unsupported', list(_FORMS), "keys")
    for name, form in options.items():
        if form not in _FORMS[name]:
            what = f'the export_format { ({form}) } of "export_options" are unsupported for {name}'
            raise _make_unsupported_error(what, list(_DEFAULT_EXPORT_OPTIONS[name]), "values")
    return export_options


def _make_unsupported_error(what, known, of):
    return ValueError(f'For "SummaryRecord", {what}, expect the follow {of}: {known}')
