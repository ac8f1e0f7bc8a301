"""``MindPage``: reads the rows that have a certain value in a field, page by page."""

import json
from typing import Any

from msnb import log
from msnb.common.arguments import answered
from msnb.mindrecord._reader import Records
from msnb.mindrecord.common.exceptions import (
    MRMDefineCategoryError,
    MRMFetchDataError,
    MRMReadCategoryInfoError,
    ParamTypeError,
    ParamValueError,
)
from msnb.mindrecord.shardutils import ONE_THREAD, SUCCESS, check_consumers, check_filenames

__all__ = ["MindPage"]


class MindPage:
    """Reads pages of rows that have the same value in a chosen field. Such rows form a category.

    Args:
        file_name (Union[str, list[str]]): A file, whose other shards are read too, or a list of files.
        num_consumer (int, optional): No effect: one thread reads. Default: 4.

    Raises:
        ParamValueError: If a file name or `num_consumer` is invalid.
        MRMOpenError: If a file is no MindRecord file.
    """

    @answered
    def __init__(self, file_name: str | list[str], num_consumer: int = 4) -> None:
        check_filenames(file_name)
        check_consumers(num_consumer)
        log.unused("MindPage", ONE_THREAD, num_consumer=num_consumer != 4)
        self._records = Records(file_name)
        self._category_field = None
        self._by_name = None

    @property
    def candidate_fields(self) -> list[str]:
        """Return the fields that can be the category: the index fields."""
        return list(self._records.index_fields)

    def get_category_fields(self) -> list[str]:
        """Return :attr:`candidate_fields`."""
        log.warning("WARN_DEPRECATED: The usage of get_category_fields is deprecated. Please use candidate_fields")
        return self.candidate_fields

    def set_category_field(self, category_field: str) -> int:
        """Set :attr:`category_field`."""
        log.warning("WARN_DEPRECATED: The usage of set_category_field is deprecated. Please use category_field")
        self.category_field = category_field
        return SUCCESS

    @property
    def category_field(self) -> str | None:
        """Return the field whose values define the categories."""
        return self._category_field

    @category_field.setter
    def category_field(self, category_field: str) -> None:
        candidates = self.candidate_fields
        if category_field in candidates:
            self._category_field, self._by_name = category_field, None
        elif isinstance(category_field, str) and category_field:
            raise MRMDefineCategoryError(
                f"Field '{category_field}' is not a candidate category field; there are {candidates}."
            )
        else:
            raise ParamTypeError("category_fields", "str")

    def _group_rows_by_category(self):
        """Return {category name: row indices}, sorted by name."""
        if self._by_name is None:
            if self._category_field is None:
                raise MRMReadCategoryInfoError("Set category_field first.")
            rows_of = {}
            for number, value in enumerate(self._records.values(self._category_field)):
                rows_of.setdefault(str(value), []).append(number)
            self._by_name = dict(sorted(rows_of.items()))
        return self._by_name

    def read_category_info(self) -> str:
        """Return the categories and their numbers of rows as JSON text: ``{"categories": [{"count", "id", "name"},
        ...], "key": field}``."""
        categories = [
            {"count": len(rows), "id": i, "name": name}
            for i, (name, rows) in enumerate(self._group_rows_by_category().items())
        ]
        return json.dumps({"categories": categories, "key": self._category_field}, separators=(",", ":"))

    def read_at_page_by_id(self, category_id: int, page: int, num_row: int) -> list[dict[str, Any]]:
        """Return a page of the rows of the category with this id.

        Args:
            category_id (int): Id of the category in :meth:`read_category_info`.
            page (int): Index of the page, from 0.
            num_row (int): Number of rows per page.

        Returns:
            list[dict], the rows.

        Raises:
            ParamValueError: If an argument is wrong.
            MRMFetchDataError: If there is no such category or page.
        """
        _check_int("Category id", category_id, 0)
        names = list(self._group_rows_by_category())
        if category_id < len(names):
            return self.read_at_page_by_name(names[category_id], page, num_row)
        raise MRMFetchDataError(f"There is no category {category_id}; there are {len(names)}.")

    def read_at_page_by_name(self, category_name: str, page: int, num_row: int) -> list[dict[str, Any]]:
        """Return a page of the rows of the category with this name.

        Args:
            category_name (str): Name of the category in :meth:`read_category_info`.
            page (int): Index of the page, from 0.
            num_row (int): Number of rows per page.

        Returns:
            list[dict], the rows.

        Raises:
            ParamValueError: If an argument is wrong.
            MRMFetchDataError: If there is no such category or page.
        """
        if not isinstance(category_name, str):
            raise ParamValueError("Category name should be str.")
        _check_int("Page", page, 0)
        _check_int("num_row", num_row, 1)
        rows_of = self._group_rows_by_category()
        if category_name not in rows_of:
            raise MRMFetchDataError(f"There is no category {category_name!r}; there are {list(rows_of)[:20]}.")
        return self._read_page(rows_of[category_name], page, num_row)

    def _read_page(self, rows, page, num_row):
        if page * num_row >= len(rows):
            raise MRMFetchDataError(f"There is no page {page} of {num_row} rows: the category has {len(rows)} rows.")
        return [self._records.row(n) for n in rows[page * num_row : (page + 1) * num_row]]


def _check_int(name, value, least):
    if not isinstance(value, int) or value < least:
        bound = "greater than 0" if least else "greater than or equal to 0"
        raise ParamValueError(f"{name} should be int and {bound}.")
