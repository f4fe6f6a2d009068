"""A folder of sources written for one test, in whatever format the file's name asks for."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from excam.dataset.item import BadRecord, Item
from excam.dataset.sources import SOURCES

Records = Any
Write = Callable[[str, Records], None]


class Loaded(NamedTuple):
    """What a source gave: its items by id, and what it could not use."""

    items: dict[str, Item]
    bad: list[BadRecord]

    @property
    def only(self) -> Item:
        assert len(self.items) == 1, list(self.items)
        return next(iter(self.items.values()))

    @property
    def reasons(self) -> list[str]:
        return [record.reason for record in self.bad]


Load = Callable[[str], Loaded]


def _text(name: str, records: Records) -> bytes:
    if name.endswith(".csv"):
        table = io.StringIO()
        writer = csv.DictWriter(table, fieldnames=list(records[0]))
        writer.writeheader()
        writer.writerows(records)
        return table.getvalue().encode()
    if name.endswith(".json"):
        return json.dumps(records, ensure_ascii=False).encode()
    return "\n".join(json.dumps(record, ensure_ascii=False) for record in records).encode()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write records to ``folder/file``; the suffixes choose the format and the packing."""

    def put(name: str, records: Records) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(records, bytes):
            path.write_bytes(records)
        elif name.endswith(".parquet"):
            pq.write_table(pa.Table.from_pylist(records), path)
        elif name.endswith(".gz"):
            path.write_bytes(gzip.compress(_text(name.removesuffix(".gz"), records)))
        elif name.endswith(".zip"):
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr(Path(name).name.removesuffix(".zip"), _text(name.removesuffix(".zip"), records))
        else:
            path.write_bytes(_text(name, records))

    return put


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load one source from the folder the test wrote."""

    def run(name: str) -> Loaded:
        outcomes = list(SOURCES[name].load(tmp_path))
        items = [outcome for outcome in outcomes if isinstance(outcome, Item)]
        assert len({item.item_id for item in items}) == len(items)
        return Loaded({item.item_id: item for item in items}, [o for o in outcomes if isinstance(o, BadRecord)])

    return run
