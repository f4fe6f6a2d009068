"""The judged table: every sample of a split with what one judge said of it, and who that judge was."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from excam.dataset.sample import SCHEMA as SAMPLE
from excam.fault import UserError
from excam.report import ErrorReport, Status
from excam.score import WEIGHTS

# What the judge said. A sample without a status failed: ``failure`` says how, ``detail`` what was written instead.
VERDICT = [
    pa.field("status", pa.string()),
    pa.field("score", pa.float64()),
    pa.field("p_error", pa.float64()),
    pa.field("p_report", pa.float64()),
    pa.field("written", pa.large_string()),
    pa.field("guided", pa.bool_()),
    pa.field("truncated", pa.bool_()),
    pa.field("failure", pa.string()),
    pa.field("detail", pa.large_string()),
    pa.field("p_cultural", pa.float64()),
    pa.field("passes_gate", pa.bool_()),
]
SCHEMA = pa.schema([*SAMPLE, *VERDICT])
FACTS = b"excam.run"
MAKE_IT = "make it with `excam evaluate --data DIR --out DIR`"


class Run(BaseModel):
    """Who judged what: kept inside the file, so that a figure can always be traced and two runs never mix."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    judge: str = Field(description="name for tables")
    judge_version: str
    parameters: int | None = Field(default=None, description="size of the base")
    tuned: bool
    threshold: float
    baseline: str | None = Field(default=None, description="the paper's baseline prompt, where one was asked instead")
    reports: bool = Field(description="whether reports were written, or decisions only")
    split: str
    dataset_sha256: str = Field(description="of the split's file")
    limit: int | None = None
    left_out: str | None = Field(default=None, description="the source this judge was trained without")
    gate_version: str | None = None
    decisions_sha256: str | None = Field(default=None, description="of the training run's decisions, if none was asked")
    decisions_adapter: str | None = Field(default=None, description="SHA-256 of the adapter that file says it is of")


class Judged:
    """A judged table as arrays, with the questions every figure asks of it."""

    def __init__(self, table: pa.Table, run: Run) -> None:
        self.table, self.run = table, run

    @classmethod
    def read(cls, path: Path) -> Judged:
        """A file that ``excam evaluate`` wrote; the folder it stands in will do."""
        path = path / "judged.parquet" if path.is_dir() else path
        try:
            table = pq.read_table(path)
            run = Run.model_validate_json((table.schema.metadata or {})[FACTS])
            return cls(table.select(SCHEMA.names).cast(SCHEMA), run)
        except (OSError, KeyError, ValidationError, pa.ArrowException) as problem:
            raise UserError(f"{path} is no judged file: {problem}", MAKE_IT) from problem

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def where(self, chosen: NDArray[np.bool_]) -> Judged:
        return Judged(self.table.filter(pa.array(chosen)), self.run)

    def strings(self, name: str) -> NDArray[np.str_]:
        """A column of text as an array; what is missing is an empty string."""
        return np.array(["" if value is None else str(value) for value in self.table[name].to_pylist()], dtype=str)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column of numbers as an array; what is missing is nan."""
        values = self.table[name].to_pylist()
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    @cached_property
    def is_error(self) -> NDArray[np.bool_]:
        return np.asarray(self.strings("label") == Status.ERROR)

    @cached_property
    def cultural(self) -> NDArray[np.bool_]:
        return np.asarray(self.strings("label") != Status.NOT_APPLICABLE)

    @cached_property
    def failed(self) -> NDArray[np.bool_]:
        return np.asarray(self.strings("status") == "")

    @cached_property
    def says_error(self) -> NDArray[np.bool_]:
        return np.asarray(self.strings("status") == Status.ERROR)

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Whether the decision is right; without an answer that could be read it is wrong, whatever the truth."""
        return np.asarray((self.says_error == self.is_error) & ~self.failed)

    @cached_property
    def hard(self) -> NDArray[np.bool_]:
        """Hard errors and their correct twins: wrong answers of the source, the part without any generated text."""
        twin, origin = self.strings("twin_id"), self.strings("origin")
        made = set(twin[(origin == "hard") & (twin != "")].tolist())
        return np.asarray((origin == "hard") | np.array([name in made for name in twin.tolist()], dtype=bool))

    @cached_property
    def gold_score(self) -> NDArray[np.float64]:
        """Equation 1 of the true reports: 0 without an error."""
        return np.array([_weight(text) for text in self.table["report"].to_pylist()], dtype=np.float64)

    def score(self, *, with_probability: bool = True) -> NDArray[np.float64]:
        """Equation 1 of the judge; a failure, or what it calls not applicable, stands where "no error" does.

        Without the probability of the report every such sample scores 0, as the paper's plain baselines do.
        """
        clean = self.numbers("p_report") if with_probability else np.zeros(len(self))
        return np.where(self.says_error, self.numbers("score"), np.where(np.isnan(clean), 0.0, clean))


def _weight(report: str) -> float:
    errors = ErrorReport.model_validate_json(report).errors or ()
    return sum((WEIGHTS[error.severity] for error in errors), 0.0)


def judged_table(rows: list[dict[str, Any]], run: Run) -> pa.Table:
    """Rows as a judged table that carries its run."""
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    return table.replace_schema_metadata({FACTS: run.model_dump_json().encode()})
