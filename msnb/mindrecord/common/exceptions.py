"""MindRecord's errors, with MindSpore's numbers."""

from typing import Any

from msnb.mindrecord.common.constant import SYS_ID
from msnb.mindrecord.common.enums import ErrorCodeType, ErrorLevel, LogRuntime


class MindRecordException(Exception):
    """Base of MindRecord's errors."""

    number = 0
    text = "Unknown Error."

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail)
        self.error_msg: str = self.text if detail is None else f"{self.text} {detail}"
        self.error_code: int = self.transform_error_code(self.number)

    def __str__(self) -> str:
        return f"[{type(self).__name__}]: error_code: {self.error_code}, error_msg: {self.error_msg}"

    @staticmethod
    def transform_error_code(exception_no: int) -> int:
        """Return the code of an error number: host, kind, level, system, module and number in one integer."""
        bit_fields = (
            (30, LogRuntime.RT_HOST),
            (28, ErrorCodeType.ERROR_CODE),
            (25, ErrorLevel.COMMON_LEVEL),
            (17, SYS_ID),
            (12, exception_no // 100 + 1),
            (0, exception_no),
        )
        return sum(value << shift for shift, value in bit_fields)


class UnknownError(MindRecordException):
    """An error that no other class describes."""


class ParamTypeError(MindRecordException):
    """An argument has the wrong type."""

    number = 1

    def __init__(self, param_name: str, expected_type: Any) -> None:
        super().__init__()
        self.error_msg: str = f"Invalid parameter type. '{param_name}' expect {expected_type} type."


class ParamValueError(MindRecordException):
    """An argument has a wrong value."""

    number = 2
    text = "Invalid parameter value."


class ParamMissError(MindRecordException):
    """An argument is missing."""

    number = 3

    def __init__(self, param_name: str) -> None:
        super().__init__()
        self.error_msg: str = f"Param missing. '{param_name}' is required."


class PathNotExistsError(MindRecordException):
    """A path does not exist."""

    number = 4
    text = "Invalid path."


class DbConnectionError(MindRecordException):
    """The index cannot be opened."""

    number = 5
    text = "Db connection is error. Detail:"


def _make_error_class(name: str, number: int, text: str) -> type[MindRecordException]:
    return type(name, (MindRecordException,), {"number": number, "text": text, "__doc__": text, "__module__": __name__})


MRMOpenError: type[MindRecordException] = _make_error_class(
    "MRMOpenError", 100, "MindRecord File could not open successfully."
)
MRMOpenForAppendError: type[MindRecordException] = _make_error_class(
    "MRMOpenForAppendError", 101, "MindRecord File could not open successfully for append."
)
MRMInvalidPageSizeError: type[MindRecordException] = _make_error_class(
    "MRMInvalidPageSizeError", 102, "Failed to set page size."
)
MRMInvalidHeaderSizeError: type[MindRecordException] = _make_error_class(
    "MRMInvalidHeaderSizeError", 103, "Failed to set header size."
)
MRMSetHeaderError: type[MindRecordException] = _make_error_class("MRMSetHeaderError", 104, "Failed to set header.")
MRMWriteDatasetError: type[MindRecordException] = _make_error_class(
    "MRMWriteDatasetError", 105, "Failed to write dataset."
)
MRMCommitError: type[MindRecordException] = _make_error_class("MRMCommitError", 107, "Failed to commit.")
MRMLaunchError: type[MindRecordException] = _make_error_class("MRMLaunchError", 108, "Failed to launch.")
MRMFinishError: type[MindRecordException] = _make_error_class("MRMFinishError", 109, "Failed to finish.")
MRMCloseError: type[MindRecordException] = _make_error_class("MRMCloseError", 110, "Failed to close.")
MRMAddSchemaError: type[MindRecordException] = _make_error_class("MRMAddSchemaError", 111, "Failed to add schema.")
MRMAddIndexError: type[MindRecordException] = _make_error_class("MRMAddIndexError", 112, "Failed to add index field.")
MRMBuildSchemaError: type[MindRecordException] = _make_error_class(
    "MRMBuildSchemaError", 113, "Failed to build schema."
)
MRMGetMetaError: type[MindRecordException] = _make_error_class("MRMGetMetaError", 114, "Failed to get meta info.")
MRMIndexGeneratorError: type[MindRecordException] = _make_error_class(
    "MRMIndexGeneratorError", 115, "Failed to create index generator."
)
MRMGenerateIndexError: type[MindRecordException] = _make_error_class(
    "MRMGenerateIndexError", 116, "Failed to generate index."
)
MRMInitSegmentError: type[MindRecordException] = _make_error_class(
    "MRMInitSegmentError", 117, "Failed to initialize segment."
)
MRMFetchCandidateFieldsError: type[MindRecordException] = _make_error_class(
    "MRMFetchCandidateFieldsError", 118, "Failed to fetch candidate category fields."
)
MRMReadCategoryInfoError: type[MindRecordException] = _make_error_class(
    "MRMReadCategoryInfoError", 119, "Failed to read category information."
)
MRMFetchDataError: type[MindRecordException] = _make_error_class(
    "MRMFetchDataError", 120, "Failed to fetch data by category."
)
MRMInvalidSchemaError: type[MindRecordException] = _make_error_class(
    "MRMInvalidSchemaError", 200, "Schema format is error. Detail:"
)
MRMValidateDataError: type[MindRecordException] = _make_error_class(
    "MRMValidateDataError", 201, "Raw data do not match the schema. Detail:"
)
MRMDefineIndexError: type[MindRecordException] = _make_error_class(
    "MRMDefineIndexError", 202, "Failed to define index field. Detail:"
)
MRMDefineBlobError: type[MindRecordException] = _make_error_class(
    "MRMDefineBlobError", 203, "Failed to define blob field. Detail:"
)
MRMUnsupportedSchemaError: type[MindRecordException] = _make_error_class(
    "MRMUnsupportedSchemaError", 204, "Schema is not supported. Detail:"
)
MRMDefineCategoryError: type[MindRecordException] = _make_error_class(
    "MRMDefineCategoryError", 205, "Failed to define category field. Detail:"
)
