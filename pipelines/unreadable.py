"""Files that are no readable Parquet: each is one dead letter, until it can be read."""

from __future__ import annotations

from collections.abc import Sequence

from excam.outcome import outcome_table
from excam.store import LedgerUnit
from pipelines.log_file import BrokenFile, LogFile
from pipelines.screen import dead_letter
from pipelines.session import Session

REASON = "unreadable_file"


def bury(run: Session, broken: Sequence[BrokenFile]) -> None:
    """A file that cannot be opened is one dead letter; it is tried again when it has changed."""
    for file in broken:
        version = run.card.judge_version
        if run.store.done_parts(file.uri, file.fingerprint, version):
            continue
        letter = dead_letter("read", REASON, f"{file.uri}: {file.reason}", None)
        row = {"source": file.uri, "part": 0, "row": 0, **letter}
        unit = LedgerUnit(source=file.uri, part=0, fingerprint=file.fingerprint, state="done", detail=file.reason)
        run.store.commit(run.lease, run.run_id, version, [outcome_table([row])], [unit])


def unearth(run: Session, files: Sequence[LogFile]) -> None:
    """Settle the letters of files that can be opened now. No verdict would, where their first row is not sampled."""
    readable = {file.uri for file in files}
    letters = run.store.dead_letters(judge_version=run.card.judge_version, reason=REASON, limit=None)
    settled = [letter["dead_id"] for letter in letters.to_pylist() if letter["source"] in readable]
    if settled:
        run.store.resolve_dead_letters(run.lease, settled, run.run_id)
