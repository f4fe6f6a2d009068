"""``excam score``: judge Parquet logs. Files done are left alone: the same command every night judges what is new."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from excam.fault import UserError
from excam.mapping import RecordMapping
from excam.store import Store
from excam.store.dead_letters import missing_field
from excam.store.replays import open_records
from pipelines.caps import capped_sampling
from pipelines.files import find_logs, outside
from pipelines.log_file import BrokenFile, LogFile, inspect
from pipelines.progress import Planned, Silence, Tally, Watcher
from pipelines.reach import OutOfReachError, Patience, out_of_reach
from pipelines.session import Session, session
from pipelines.units import Sampling, Section, pending_rows, sections_of, unit_fingerprint, unit_rows_of
from pipelines.unreadable import bury, unearth
from serve.settings import JudgeSettings


@dataclass(frozen=True)
class ScoreOptions:
    """What a user may choose about a batch run besides the judge."""

    mapping: RecordMapping = field(default_factory=RecordMapping)
    share: float = 1.0
    cap_per_country: int | None = None
    gate: bool = True
    wait: float = 0.0
    registry: str | None = None


@dataclass(frozen=True)
class Scored:
    """What a run did.

    ``open_records`` counts those that have no verdict of this judge, also from runs before; where every row of this
    run lacks one and the same field, ``missing`` says which.
    """

    run_id: str
    judge_version: str
    tuned: bool
    planned: Planned
    tally: Tally
    seconds: float = 0.0
    open_records: int = 0
    missing: str | None = None

    @classmethod
    def of(cls, run: Session, plan: Planned) -> Scored:
        """What a run that is done did, while its store is open."""
        version, tally = run.card.judge_version, run.tally
        in_vain = 0 < tally.rows == tally.dead_letters - len(plan.broken)
        missing = run.store.query(missing_field, run.run_id) if in_vain else None
        waiting = run.store.query(open_records, version)
        return cls(run.run_id, version, run.card.tuned, plan, tally, run.seconds, waiting, missing)

    @property
    def pairs_per_second(self) -> float:
        """How fast the engine was fed, start-up left out."""
        return self.tally.judged / self.seconds if self.seconds else 0.0


def score_logs(
    places: Sequence[str],
    store_url: str,
    settings: JudgeSettings,
    options: ScoreOptions | None = None,
    watcher: Watcher | None = None,
) -> Scored:
    """Judge every pair in the logs that this judge has not judged yet."""
    options, watcher = options or ScoreOptions(), watcher or Silence()
    uris = find_logs(places)
    arguments = {"logs": list(places), "share": options.share, "cap_per_country": options.cap_per_country}
    with session(store_url, settings, "score", arguments, options.wait, watcher) as run:
        uris = outside(uris, run.store.data_path)
        if not uris:
            raise UserError(f"there is no Parquet file but the store's own at {', '.join(places)}", "name the logs")
        files, broken, away = _look(uris)
        if not files and away:
            raise out_of_reach(away)
        if not files:
            raise UserError(_unreadable(broken), "name Parquet files that are whole and that you may read")
        bury(run, broken)
        unearth(run, files)
        sections = plan_sections(run.store, run.card.judge_version, files, options)
        left = {section.uri for section in sections}
        plan = Planned(len(uris), len(files) - len(left), broken, pending_rows(sections))
        watcher.planned(plan)
        run.run(sections, options.mapping, gate=options.gate, away=away)
        run.tally += Tally(dead_letters=len(broken))
        return Scored.of(run, plan)


def _look(uris: Sequence[str]) -> tuple[list[LogFile], tuple[BrokenFile, ...], dict[str, str]]:
    """The logs as they stand, those that are broken, and of those out of reach what is to be said."""
    patience = Patience()

    def look(uri: str) -> LogFile | BrokenFile | OutOfReachError:
        try:
            return inspect(uri, patience)
        except OutOfReachError as error:
            return error

    with ThreadPoolExecutor(8) as readers:
        found = dict(zip(uris, readers.map(look, uris), strict=True))
    files = [file for file in found.values() if isinstance(file, LogFile)]
    broken = tuple(file for file in found.values() if isinstance(file, BrokenFile))
    return files, broken, {uri: one.message for uri, one in found.items() if isinstance(one, OutOfReachError)}


def plan_sections(store: Store, judge_version: str, files: Sequence[LogFile], options: ScoreOptions) -> list[Section]:
    """The row groups with rows that are in no commit of this judge yet."""
    sections: list[Section] = []
    for file in files:
        sampling = Sampling(options.share)
        if options.cap_per_country is not None:
            sampling = capped_sampling(file, options.mapping, options.share, options.cap_per_country)
        unit_rows = unit_rows_of(file, options.share)
        fingerprint = unit_fingerprint(file, unit_rows, sampling)
        done = store.done_parts(file.uri, fingerprint, judge_version)
        sections.extend(sections_of(file, fingerprint, unit_rows, done, sampling))
    return sections


def _unreadable(broken: Sequence[BrokenFile]) -> str:
    first = f"{broken[0].uri}: {broken[0].reason}"
    return first if len(broken) == 1 else f"none of the {len(broken)} files can be read, the first is {first}"
