"""Some of MindRecord's error codes."""


class BaseEnum:
    """Base of the groups of constants below."""


class LogRuntime(BaseEnum):
    """Location of an error."""

    RT_HOST = 0b01
    RT_DEVICE = 0b10


class ErrorCodeType(BaseEnum):
    """The kind of an error: an error code or an exception."""

    ERROR_CODE = 0b01
    EXCEPTION_CODE = 0b10


class ErrorLevel(BaseEnum):
    """Severity of an error."""

    COMMON_LEVEL = 0b000
    SUGGESTION_LEVEL = 0b001
    MINOR_LEVEL = 0b010
    MAJOR_LEVEL = 0b011
    CRITICAL_LEVEL = 0b100
