"""Writing MindRecord files: rows go to pages immediately, the header and the index are written at the end."""

import json
import os
import sqlite3

import numpy as np

from msnb._util.atomic_file import Draft
from msnb.mindrecord._codec import U64
from msnb.mindrecord.common.exceptions import MRMCommitError, MRMWriteDatasetError

_SQL = {"string": "TEXT", "int32": "INTEGER", "int64": "INTEGER", "float32": "NUMERIC", "float64": "NUMERIC"}


class ShardFile:
    """Writer of one MindRecord file. The file gets its final name when it is complete.

    A row is a blob and a msgpack map of its scalars. Blobs are written immediately to the open page of blobs. The maps
    of these rows are collected until the page is full. These rows are a group: MindRecord requires their blobs in one
    page, and their maps in one page.
    """

    def __init__(self, path, number, header_size, page_size):
        self.number = number
        self.header_size = header_size
        self.page_size = page_size
        self.draft, self.index_draft = Draft(path), None
        self.file = self.draft.opened("wb")  # closed by commit
        self.pages = []
        self.next_page = 0
        self.rows = 0
        self.group = 0
        self.blob_page = None
        self.blob_at = 0
        self.group_rows = []
        self.group_size = 0
        self.raw_page = None
        self.raw_at = 0
        self.raw_groups = []
        self.raw_count = 0
        self.index = []

    def add(self, raw, blob, keys):
        """Write a row: its map, its blob and the values of its index fields."""
        need_raw, need_blob = len(raw) + 8, len(blob) + 8
        if max(need_raw, need_blob) > self.page_size:
            raise MRMWriteDatasetError(
                f"A row of {max(need_raw, need_blob)} bytes is larger than a page of {self.page_size}; set a larger "
                f"page "
                "size with set_page_size."
            )
        if self.blob_page is not None and (
            self.blob_at + need_blob > self.page_size or self.group_size + need_raw > self.page_size
        ):
            self._write_row_group()
        if self.blob_page is None:
            self.blob_page, self.next_page = self.next_page, self.next_page + 1
            self.file.seek(self.header_size + self.blob_page * self.page_size)
        self.file.write(U64.pack(len(blob)))
        self.file.write(blob)
        self.group_rows.append((raw, self.blob_at, self.blob_at + need_blob, keys))
        self.blob_at += need_blob
        self.group_size += need_raw

    def _write_row_group(self):
        if not self.group_rows:
            return
        count = len(self.group_rows)
        self.pages.append(
            {
                "page_id": self.blob_page,
                "shard_id": self.number,
                "page_type": "BLOB_DATA",
                "page_type_id": self.group,
                "start_row_id": self.rows,
                "end_row_id": self.rows + count,
                "row_group_ids": [{"id": 0, "offset": 0}],
                "page_size": self.blob_at,
            }
        )
        if self.raw_page is not None and self.raw_at + self.group_size > self.page_size:
            self._finish_raw_page()
        if self.raw_page is None:
            self.raw_page, self.next_page = self.next_page, self.next_page + 1
        self.raw_groups.append({"id": self.group, "offset": self.raw_at})
        self.file.seek(self.header_size + self.raw_page * self.page_size)
        self.file.seek(self.raw_at, os.SEEK_CUR)
        for at, (raw, blob_start, blob_end, keys) in enumerate(self.group_rows):
            self.file.write(U64.pack(len(raw)))
            self.file.write(raw)
            end = self.raw_at + 8 + len(raw)
            entry = [self.rows + at, self.raw_page, self.raw_at, end, self.group, self.blob_page, blob_start, blob_end]
            for key in keys:
                entry += [0, key]
            self.index.append(entry)
            self.raw_at = end
        self.rows += count
        self.group += 1
        self.group_rows, self.group_size = [], 0
        self.blob_page, self.blob_at = None, 0

    def _finish_raw_page(self):
        self.pages.append(
            {
                "page_id": self.raw_page,
                "shard_id": self.number,
                "page_type": "RAW_DATA",
                "page_type_id": self.raw_count,
                "start_row_id": 0,
                "end_row_id": 0,
                "row_group_ids": self.raw_groups,
                "page_size": self.raw_at,
            }
        )
        self.raw_count += 1
        self.raw_page, self.raw_at, self.raw_groups = None, 0, []

    def commit(self, fields, desc, index_fields, addresses):
        """Write the header; `publish` then gives the file its name."""
        self._write_row_group()
        if self.raw_page is not None:
            self._finish_raw_page()
        header = {
            "compression_size": 0,
            "header_size": self.header_size,
            "index_fields": [{"index_field": f, "schema_id": 0} for f in index_fields],
            "page": self.pages,
            "page_size": self.page_size,
            "schema": [{"blob_fields": fields.blobs, "desc": desc, "schema": fields.schema}],
            "shard_addresses": addresses,
            "shard_id": self.number,
            "statistics": None,
            "version": "3.0",
        }
        text = json.dumps(header, ensure_ascii=False).encode("utf-8")
        if len(text) + 8 > self.header_size:
            raise MRMCommitError(
                f"The header has {len(text)} bytes, more than the header size {self.header_size}; set a larger one "
                f"with "
                "set_header_size."
            )
        self.file.seek(0)
        self.file.write(U64.pack(len(text)) + text)
        if not self.pages:
            self.file.truncate(self.header_size)
        self.file.close()
        self._commit_args = fields, index_fields, addresses[self.number]

    def publish(self):
        """Rename the file and its index to their final names. Before that, neither is visible."""
        if self.index_draft is None:
            self.write_index()
        self.index_draft.publish()
        self.draft.publish()

    def write_index(self):
        """Write the index of a committed file."""
        fields, index_fields, name = self._commit_args
        self.index_draft = Draft(self.draft.path + ".db")
        connection = sqlite3.connect(self.index_draft.name)
        connection.execute("PRAGMA journal_mode=OFF")  # an unfinished draft is discarded, so it needs no journal
        keys = "".join(f",INC_{i} INT, {f}_0 {_SQL[fields.schema[f]['type']]}" for i, f in enumerate(index_fields))
        primary = "".join(f",INC_{i}" for i in range(len(index_fields)))
        connection.execute(
            "CREATE TABLE INDEXES(ROW_ID INT NOT NULL, PAGE_ID_RAW INT NOT NULL, PAGE_OFFSET_RAW INT NOT NULL, "
            "PAGE_OFFSET_RAW_END INT NOT NULL, ROW_GROUP_ID INT NOT NULL, PAGE_ID_BLOB INT NOT NULL, "
            f"PAGE_OFFSET_BLOB INT NOT NULL, PAGE_OFFSET_BLOB_END INT NOT NULL{keys}, PRIMARY KEY(ROW_ID{primary}))"
        )
        connection.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
        connection.execute("INSERT INTO SHARD_NAME VALUES(?)", (name,))
        connection.executemany(f"INSERT INTO INDEXES VALUES({','.join('?' * (8 + 2 * len(index_fields)))})", self.index)
        connection.commit()
        connection.close()


def to_python(value):
    """Return a numpy number as a Python number."""
    return value.item() if isinstance(value, np.generic) or isinstance(value, np.ndarray) and value.ndim == 0 else value
