"""What every run needs around it: the store's lease, the judge up and registered, a run on record, and a clean end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from excam.judge_card import JudgeCard
from excam.mapping import RecordMapping
from excam.store import Lease, Store
from pipelines.progress import Tally, Watcher, start_tally
from pipelines.quiet import hush_ray
from pipelines.run import run_sections
from pipelines.stages import RunPlan
from pipelines.units import Section
from serve.settings import JudgeSettings
from serve.start import start_judge


@dataclass
class Session:
    """A run under way: it holds the lease and the judge, and knows how to put sections through."""

    store: Store
    lease: Lease
    card: JudgeCard
    run_id: str
    settings: JudgeSettings
    watcher: Watcher
    tally: Tally = field(default_factory=Tally)
    seconds: float = 0.0

    def run(
        self,
        sections: Sequence[Section],
        mapping: RecordMapping,
        *,
        gate: bool,
    ) -> None:
        """Judge the sections; the judge is started only when there is something for it to do."""
        if not sections:
            return
        hush_ray()
        handle, _ = start_judge(self.settings, waiting=self.watcher.waiting)
        version = self.card.judge_version
        plan = RunPlan(
            store_url=str(self.store.url),
            staging=self.store.staging,
            run_id=self.run_id,
            judge_version=version,
            mapping=mapping,
            gate=gate,
            judge=handle,
            tally=start_tally(),
            in_flight=self.settings.replicas.max * self.settings.replicas.max_ongoing_requests,
        )
        done, seconds = run_sections(self.store, self.lease, plan, sections, self.watcher)
        self.tally += done
        self.seconds += seconds


@contextmanager
def session(
    store_url: str, settings: JudgeSettings, kind: str, arguments: Mapping[str, Any], wait: float, watcher: Watcher
) -> Iterator[Session]:
    """Open the store for one run. Ctrl-C ends it as *stopped*, an exception as *failed*; what is committed stays."""
    from serve.identity import prepare

    card = prepare(settings, watcher.fetching).card
    with Store.open(store_url) as store, store.lease(kind, wait=wait) as lease:
        store.register_judge(card)
        run_id = store.start_run(lease, kind, card.judge_version, dict(arguments))
        current = Session(store, lease, card, run_id, settings, watcher)
        state = "failed"
        try:
            yield current
            state = "done"
        except KeyboardInterrupt:
            state = "stopped"
            raise
        finally:
            store.end_run(lease, run_id, state, asdict(current.tally))
            store.clear_staging(run_id)
