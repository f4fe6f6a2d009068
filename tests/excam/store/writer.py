"""A writer process for tests: commits batches of pairs until it is done, or dies by SIGKILL where it is told to.

Usage: writer.py URL NAME FIRST LAST BATCH [DIE_AT], where DIE_AT counts SQL statements from the first commit on.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import duckdb

from excam.outcome import outcome_table
from excam.store import Store
from excam.store import store as store_module
from excam.store.commit import commit
from tests.excam.store.outcomes import CARD, JUDGE, dead_letter, error, unit, verdict


class Mortal:
    """A connection that kills this process just before its n-th statement."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, statements: list[int]) -> None:
        self._connection = connection
        self._statements = statements

    def execute(self, *arguments: Any) -> Any:
        self._statements[0] -= 1
        if self._statements[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return self._connection.execute(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def main(url: str, name: str, first: int, last: int, batch: int, die_at: int | None) -> None:
    left = [die_at if die_at is not None else sys.maxsize]
    setattr(store_module, "commit", lambda connection, *rest: commit(Mortal(connection, left), *rest))  # type: ignore[arg-type]  # noqa: B010
    with Store.open(url) as store:
        print("ready", flush=True)
        for start in range(first, last, batch):
            with store.lease(name, wait=60.0) as lease:
                store.register_judge(CARD)
                run_id = store.start_run(lease, "score", JUDGE, {})
                numbers = range(start, min(start + batch, last))
                rows = [verdict(number, errors=[error()], source=name) for number in numbers]
                rows.append(dead_letter(1_000_000 + start))
                store.commit(lease, run_id, JUDGE, [outcome_table(rows)], [unit(start, source=name)])
                store.end_run(lease, run_id, "done", {})


if __name__ == "__main__":
    url, name, *numbers = sys.argv[1:]
    first, last, batch, *rest = map(int, numbers)
    main(url, name, first, last, batch, rest[0] if rest else None)
