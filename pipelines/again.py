"""Judging again what the store already holds: everything with a new judge, or the dead letters with the same one.

Both write what is to be done as Parquet below the store's staging folder and then are an ordinary run over it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import duckdb
import pyarrow.compute as pc
import pyarrow.parquet as pq

from excam.fault import UserError
from excam.store.connection import attempt
from excam.store.database import frugal
from excam.store.replays import open_letters, waiting_replays
from pipelines.batch import Scored, ScoreOptions, plan_sections
from pipelines.files import open_filesystem
from pipelines.log_file import LogFile, inspect
from pipelines.progress import Planned, Silence, Watcher
from pipelines.replayed import replay_table
from pipelines.session import Session, session
from pipelines.stream.registry import Registry
from pipelines.units import pending_rows
from serve.settings import JudgeSettings

ROWS_PER_FILE = 50_000


def rescore(
    store_url: str,
    settings: JudgeSettings,
    options: ScoreOptions | None = None,
    watcher: Watcher | None = None,
) -> Scored:
    """Judge every stored pair that this judge has not judged; verdicts of other judges stay as they are."""
    options, watcher = options or ScoreOptions(), watcher or Silence()
    with session(store_url, settings, "rescore", {}, options.wait, watcher, create=False) as run:
        folder = f"{run.store.staging}/{run.run_id}/pairs"
        files = run.store.pending_pairs(run.card.judge_version, folder, ROWS_PER_FILE)
        return _run(run, files, options)


def replay(
    store_url: str,
    settings: JudgeSettings,
    dead_ids: Sequence[str] | None = None,
    options: ScoreOptions | None = None,
    watcher: Watcher | None = None,
    *,
    requested: bool = False,
) -> Scored:
    """Try dead letters again: those named, those somebody requested, or all that are open.

    Those that now get a verdict are marked as resolved, the others count one more try.
    """
    options, watcher = options or ScoreOptions(), watcher or Silence()
    if options.registry:
        Registry(options.registry).check()
    told = {"dead_ids": list(dead_ids or [])}
    with session(store_url, settings, "replay", told, options.wait, watcher, create=False) as run:
        if requested:
            dead_ids = run.store.query(waiting_replays, run.card.judge_version)
        folder = f"{run.store.staging}/{run.run_id}/letters"
        with frugal(run.store.url, read_only=True) as connection:
            files = attempt(lambda: export_letters(connection, run.card.judge_version, dead_ids, folder))
        if dead_ids and not files:
            raise UserError(
                "none of these dead letters is open for this judge", "see them with: excam dead-letters list"
            )
        return _run(run, files, options)


def export_letters(
    connection: duckdb.DuckDBPyConnection, judge_version: str, dead_ids: Sequence[str] | None, into: str
) -> list[str]:
    """Write the open dead letters, all or those named, as files to run over; those without a record are left out."""
    filesystem, folder = open_filesystem(into)
    filesystem.create_dir(folder, recursive=True)
    files = []
    for index, letters in enumerate(open_letters(connection, judge_version, dead_ids, ROWS_PER_FILE)):
        name = f"letters-{index:06d}.parquet"
        table = replay_table(letters.filter(pc.is_valid(letters["record"])))
        pq.write_table(table, f"{folder}/{name}", filesystem=filesystem)
        files.append(f"{into}/{name}")
    return files


def _run(run: Session, paths: Sequence[str], options: ScoreOptions) -> Scored:
    files = [file for file in map(inspect, paths) if isinstance(file, LogFile)]
    whole = replace(options, share=1.0, cap_per_country=None)
    planned = plan_sections(run.store, run.card.judge_version, files, whole)
    sections = [replace(section, own=True) for section in planned]
    plan = Planned(len(files), 0, (), pending_rows(sections))
    run.watcher.planned(plan)
    run.run(sections, options.mapping, gate=options.gate, registry=options.registry)
    return Scored.of(run, plan)
