"""What every stage of a run knows, and how a unit travels: a row of the dataset, its outcomes inside as Arrow bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from excam.mapping import RecordMapping
from pipelines.reach import PATIENCE

Batch = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class RunPlan:
    """What every stage of one run needs to know; it is sent to the workers once."""

    store_url: str
    staging: str
    run_id: str
    judge_version: str
    mapping: RecordMapping
    gate: bool
    judge: Any
    in_flight: int
    first_calls: int
    registry: str | None = None  # describes the messages among replayed dead letters
    answered: Any = None  # the actor that is told how many pairs have an answer
    patience: float = PATIENCE  # seconds to wait for logs that are out of reach


def unit_row(**columns: str | int | float | bytes) -> Batch:
    """A unit as the one row of a batch."""
    return {name: np.array([value], dtype=object) for name, value in columns.items()}


def pack(table: pa.Table) -> bytes:
    """Outcomes as bytes, in which form they travel inside a row of a dataset."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def unpack(packed: bytes) -> list[dict[str, Any]]:
    """The rows that were packed."""
    with pa.ipc.open_stream(packed) as stream:
        rows: list[dict[str, Any]] = stream.read_all().to_pylist()
        return rows
