"""The store as the pipelines see it: open it, hold its lease, commit, and ask what is there."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from excam.fault import UserError
from excam.judge_card import JudgeCard
from excam.place import open_place
from excam.store import dead_letters, ledger, offsets, runs, seen
from excam.store.backup import Manifest, load_backup, write_backup
from excam.store.commit import Committed, commit
from excam.store.compact import KEEP_FILES, KEEP_VERSIONS, SMALL_FILE, Size, compact, store_size
from excam.store.connection import attempt, connect, missing, unreachable
from excam.store.database import Database, frugal
from excam.store.forget import Forgotten, Selection, find_forgettable, forget
from excam.store.lease import Lease, take_lease
from excam.store.ledger import LedgerUnit
from excam.store.offsets import OffsetRange
from excam.store.opening import check_data, migrate
from excam.store.schema import MIGRATIONS, Migration, refuse_newer, stored_version
from excam.store.scrub import scrub
from excam.store.snapshot import write_snapshot
from excam.store.url import StoreUrl

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Store:
    """A DuckLake with ExCAM's tables. Every call works on a connection of its own, so threads may share a store."""

    def __init__(self, url: StoreUrl, connection: duckdb.DuckDBPyConnection, *, read_only: bool) -> None:
        self.url = url
        self.read_only = read_only
        self._connection = connection
        self._database = Database(url, connection, read_only=read_only)
        self.after_commit: Callable[[], None] | None = None
        self._left_files = 0
        self.data_path = self._data_path()

    @classmethod
    def open(
        cls,
        url: str,
        *,
        read_only: bool = False,
        create: bool = True,
        migrations: Sequence[Migration] = MIGRATIONS,
    ) -> Store:
        """Open a store; a writable one is brought up to date when older, under the lease, and made when missing.

        Whoever only changes what a store holds says ``create=False``: a mistyped URL must not look like success.
        """
        place = StoreUrl.parse(url)
        create = create and not read_only
        connection = connect(place, read_only=read_only, create=create)
        try:
            check_data(place, connection)
            version = attempt(lambda: stored_version(connection))
            if version == 0 and not (read_only or create):
                raise missing(place)
            refuse_newer(version, migrations)
            if version < migrations[-1].version:
                if read_only:
                    raise UserError(
                        f"the store has schema version {version}, this ExCAM reads version {migrations[-1].version}",
                        f"bring it up to date with: excam store init --store '{place}'",
                    )
                migrate(place, connection, version, migrations)
        except BaseException as error:
            connection.close()
            if isinstance(error, duckdb.IOException):
                raise unreachable(place, error) from error
            raise
        return cls(place, connection, read_only=read_only)

    def close(self) -> None:
        self._database.close()
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({str(self.url)!r}, read_only={self.read_only})"

    @property
    def staging(self) -> str:
        """Where tasks write outcomes before a commit, as ``{staging}/{run_id}/``: outside the lake's own files."""
        return f"{self.data_path}/staging"

    def query(
        self,
        question: Callable[Concatenate[duckdb.DuckDBPyConnection, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Ask a question of :mod:`excam.store.queries` or your own; it is asked again while a lock is in the way."""

        def ask() -> Result:
            with self._database.cursor() as connection:
                return question(connection, *args, **kwargs)

        return attempt(ask)

    # Writing: needs the lease.

    def lease(self, holder_note: str = "", wait: float = 0.0) -> Lease:
        """The right to write: a living holder is waited for, ``wait`` seconds at most, a dead one is replaced."""
        if self.read_only:
            raise UserError(f"the store {self.url} was opened read-only", "open it for writing")
        try:
            return take_lease(self.url, self._connection, holder_note, wait)
        except duckdb.Error as error:  # such as a catalogue that may only be read
            raise unreachable(self.url, error) from error

    def register_judge(self, card: JudgeCard) -> str:
        with self._connection.cursor() as connection:
            return runs.register_judge(connection, card)

    def start_run(self, lease: Lease, kind: str, judge_version: str, arguments: Mapping[str, Any]) -> str:
        with self._connection.cursor() as connection:
            return runs.start_run(connection, lease, kind, judge_version, arguments)

    def end_run(self, lease: Lease, run_id: str, state: str, counts: Mapping[str, Any]) -> None:
        with self._connection.cursor() as connection:
            runs.end_run(connection, lease, run_id, state, counts)

    def commit(
        self,
        lease: Lease,
        run_id: str,
        judge_version: str,
        staged: Sequence[str | pa.Table],
        units: Sequence[LedgerUnit],
        ranges: Sequence[OffsetRange] = (),
    ) -> Committed:
        """Store staged outcomes (Parquet files or Arrow tables) and their place in the source in one transaction."""
        with self._database.cursor(commits=1) as connection:
            done = commit(connection, lease, run_id, judge_version, staged, units, ranges)
        if self.after_commit is not None:
            self.after_commit()
        return done

    def resolve_dead_letters(self, lease: Lease, dead_ids: Sequence[str], resolved_by: str) -> int:
        with self._connection.cursor() as connection:
            return dead_letters.resolve_dead_letters(connection, lease, dead_ids, resolved_by)

    def compact(
        self,
        lease: Lease,
        keep_versions: timedelta = KEEP_VERSIONS,
        keep_files: timedelta = KEEP_FILES,
        below: int | None = None,
    ) -> tuple[Size, Size]:
        """Merge files, those below some bytes or all, forget old versions and clean up; the size before and after."""
        with frugal(self.url) as connection:
            return compact(connection, lease, keep_versions, keep_files, below)

    def tidy(self, lease: Lease, most_files: int = 2000) -> bool:
        """Merge small files once there are so many more than it left: for writers that commit for days without a pause.

        What that takes hangs on what came since, not on the store; ``excam store compact`` merges the rest.
        """
        if self.size().files <= self._left_files + most_files:
            return False
        _, after = self.compact(lease, below=SMALL_FILE)
        self._left_files = after.files
        return True

    def clear_staging(self, run_id: str = "") -> None:
        """Remove a run's staged files, or everybody's."""
        folder = f"{self.staging}/{run_id}".rstrip("/")
        if "://" not in folder:
            shutil.rmtree(folder, ignore_errors=True)
            return
        filesystem, path = open_place(folder)
        filesystem.delete_dir_contents(path, missing_dir_ok=True)

    def forget(self, lease: Lease, selection: Selection, *, keep_scores: bool = False) -> Forgotten:
        """Delete the chosen pairs and every byte of them that the store holds."""
        self.clear_staging()
        with self._connection.cursor() as connection:
            found = forget(connection, lease, selection, keep_scores=keep_scores)
        with frugal(self.url) as connection:
            scrub(self.url, connection, lease)
        return found

    def load_backup(self, lease: Lease, folder: str, manifest: Manifest) -> None:
        """Fill this store, which must be empty, in one transaction; see :func:`excam.store.restore.restore`."""
        with frugal(self.url) as connection:
            runs.under_lease(connection, lease, lambda: load_backup(connection, folder, manifest))

    # Reading.

    def done_parts(self, source: str, fingerprint: str, judge_version: str) -> set[int]:
        return self.query(ledger.done_parts, source, fingerprint, judge_version)

    def ledger_sources(self, judge_version: str) -> pa.Table:
        return self.query(ledger.ledger_sources, judge_version)

    def positions(self, source: str, judge_version: str) -> dict[int, int]:
        """Where each partition of a topic goes on for this judge."""
        return self.query(offsets.stored_positions, source, judge_version)

    def stream_note(self, source: str, judge_version: str) -> str:
        """What a stream keeps beside its offsets; empty when there is nothing."""
        return self.query(offsets.stored_note, source, judge_version)

    def stream_positions(self) -> pa.Table:
        return self.query(offsets.open_positions)

    def ranges(self, judge_version: str | None = None) -> pa.Table:
        return self.query(offsets.stored_ranges, judge_version)

    def known_hashes(self, judge_version: str) -> npt.NDArray[np.uint64]:
        return self.query(seen.known_hashes, judge_version)

    def verdicts_of(self, judge_version: str, content_hashes: list[str]) -> pa.Table:
        return self.query(seen.verdicts_of, judge_version, content_hashes)

    def pending_pairs(self, judge_version: str, into: str, rows_per_file: int) -> list[str]:
        with frugal(self.url, read_only=True) as connection:
            return attempt(lambda: seen.pending_pairs(connection, judge_version, into, rows_per_file))

    def dead_letters(
        self,
        *,
        judge_version: str | None = None,
        reason: str | None = None,
        include_resolved: bool = False,
        limit: int | None = 100,
    ) -> pa.Table:
        return self.query(
            dead_letters.list_dead_letters,
            judge_version=judge_version,
            reason=reason,
            include_resolved=include_resolved,
            limit=limit,
        )

    def dead_letter(self, dead_id: str) -> pa.Table:
        return self.query(dead_letters.show_dead_letter, dead_id)

    def forgettable(self, selection: Selection) -> Forgotten:
        """What :meth:`forget` would delete."""
        return self.query(find_forgettable, selection)

    def size(self) -> Size:
        return self.query(store_size)

    def schema_version(self) -> int:
        return self.query(stored_version)

    def snapshot(self, file: str, *, replace: bool = False) -> dict[str, int]:
        """Write everything as a plain DuckDB file; rows by table."""
        with frugal(self.url, read_only=self.read_only) as connection:
            return write_snapshot(connection, file, replace=replace)

    def backup(self, into: str) -> tuple[str, Manifest]:
        """Write everything, of one moment, to a new folder below ``into``: where it is and what it holds."""
        with frugal(self.url, read_only=True) as connection:
            return write_backup(connection, str(self.url), into)

    def runs(self, limit: int = 50) -> pa.Table:
        return self.query(runs.list_runs, limit)

    def _data_path(self) -> str:
        if self.url.data_path is not None:
            return self.url.data_path
        row = attempt(
            lambda: self._connection.execute(
                "SELECT value FROM lake.options() WHERE option_name = 'data_path'"
            ).fetchone()
        )
        assert row is not None
        return str(row[0]).rstrip("/").removesuffix("/lake")
