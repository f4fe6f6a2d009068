"""A run that can be killed: verdicts are written in parts, each whole or not there, and joined at the end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from excam.evaluation.judged import FACTS, Judged, Run, judged_table
from excam.fault import UserError

PARTS = "parts"
JUDGED = "judged.parquet"


class Parts:
    """The folder of one run. Opening it again finds what is done; another judge's run in it is refused."""

    def __init__(self, out: Path, run: Run) -> None:
        self._out, self._run = out, run
        self._folder = out / PARTS
        self._folder.mkdir(parents=True, exist_ok=True)
        for path in [*self._folder.glob("*.draft"), _draft(out / JUDGED)]:
            path.unlink(missing_ok=True)
        self._check()

    def _files(self) -> list[Path]:
        whole = self._out / JUDGED
        return ([whole] if whole.is_file() else []) + sorted(self._folder.glob("*.parquet"))

    def _check(self) -> None:
        for path in self._files():
            there = Judged.read(path).run
            if there != self._run:
                changed = [name for name in Run.model_fields if getattr(there, name) != getattr(self._run, name)]
                said = "; ".join(f"{name} {getattr(there, name)!r} there" for name in changed)
                raise UserError(f"{self._out} holds another run ({said})", "name another folder with --out")

    def done(self) -> set[str]:
        """The samples that have their verdict."""
        return {name for path in self._files() for name in pq.read_table(path, columns=["sample_id"])[0].to_pylist()}

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Keep verdicts: from here on a kill does not lose them."""
        if rows:
            number = len(list(self._folder.glob("*.parquet")))
            _write(judged_table(rows, self._run), self._folder / f"{number:06d}.parquet")

    def join(self, order: list[str]) -> Path:
        """All parts as one file in the order of the split, each sample once; the parts then go."""
        table = pa.concat_tables([pq.read_table(path) for path in self._files()])
        place = {name: number for number, name in enumerate(order)}
        first: dict[str, int] = {}
        for row, name in enumerate(table["sample_id"].to_pylist()):
            if name in place:
                first.setdefault(name, row)
        if missing := len(place) - len(first):
            raise UserError(f"{missing:,} samples in {self._out} have no verdict yet", "run the same command again")
        rows = [first[name] for name in order]
        table = pc.take(table, pa.array(rows, pa.int64()))
        path = self._out / JUDGED
        _write(table.replace_schema_metadata({FACTS: self._run.model_dump_json().encode()}), path)
        for part in self._folder.glob("*.parquet"):
            part.unlink()
        if not any(self._folder.iterdir()):  # a file browser may have left a file of its own
            self._folder.rmdir()
        return path


def _draft(path: Path) -> Path:
    return path.with_suffix(".draft")


def _write(table: pa.Table, path: Path) -> None:
    pq.write_table(table, _draft(path), compression="zstd")
    os.replace(_draft(path), path)
