"""What every run needs around it: the store's lease, the judge up and registered, a run on record, and a clean end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from excam.alerts.beside import alerts_beside
from excam.judge_card import JudgeCard
from excam.mapping import RecordMapping
from excam.store import Lease, Store
from pipelines.judging import first_calls
from pipelines.plan import RunPlan
from pipelines.progress import Tally, Watcher
from pipelines.quiet import start_ray_quietly
from pipelines.reach import out_of_reach
from pipelines.run import run_sections
from pipelines.stopping import interrupt_of, sigterm_interrupts
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
    ended: str = "done"

    def run(
        self,
        sections: Sequence[Section],
        mapping: RecordMapping,
        *,
        gate: bool,
        registry: str | None = None,
        away: Mapping[str, str] | None = None,
    ) -> None:
        """Judge the sections; the judge is started only when there is something for it to do.

        Files out of reach, ``away`` or met while reading, fail the run once all others are judged.
        """
        left_out = dict(away or {})
        if sections:
            plan = replace(self.plan(mapping, gate=gate), registry=registry)
            done, seconds, lost = run_sections(self.store, self.lease, plan, sections, self.watcher)
            self.tally += done
            self.seconds += seconds
            left_out |= lost
        if left_out:
            raise out_of_reach(left_out)

    def plan(self, mapping: RecordMapping, *, gate: bool) -> RunPlan:
        """Bring the judge up, and gather what the stages need to know."""
        start_ray_quietly()
        handle, _ = start_judge(self.settings, waiting=self.watcher.waiting)
        return RunPlan(
            store_url=str(self.store.url),
            staging=self.store.staging,
            run_id=self.run_id,
            judge_version=self.card.judge_version,
            mapping=mapping,
            gate=gate,
            judge=handle,
            in_flight=self.settings.replicas.max * self.settings.replicas.max_ongoing_requests,
            first_calls=first_calls(self.settings.replicas),
        )


@contextmanager
def session(
    store_url: str,
    settings: JudgeSettings,
    kind: str,
    arguments: Mapping[str, Any],
    wait: float,
    watcher: Watcher,
    *,
    create: bool = True,
) -> Iterator[Session]:
    """Open the store for one run: Ctrl-C and SIGTERM end it as *stopped*, an exception as *failed*.

    A run over what a store holds says ``create=False``, and is told that there is none before a model is fetched.
    """
    from serve.identity import card_for_driver

    with sigterm_interrupts():
        if not create:
            Store.open(store_url, create=False).close()
        card = card_for_driver(settings, watcher.fetching)
        # The lease ends before the last alerts are told: a webhook that hangs must not keep the next run waiting.
        with (
            Store.open(store_url, create=create) as store,
            alerts_beside(store, waits=kind == "stream"),
            store.lease(kind, wait=wait) as lease,
        ):
            store.register_judge(card)
            store.clear_staging()  # whoever wrote there has died: only one writer lives at a time
            run_id = store.start_run(lease, kind, card.judge_version, dict(arguments))
            current = Session(store, lease, card, run_id, settings, watcher)
            with _on_record(current):
                yield current


@contextmanager
def _on_record(run: Session) -> Iterator[None]:
    """Note in the store how the run ended."""
    state = "failed"
    try:
        yield
        state = run.ended
    except BaseException as error:
        if interrupt_of(error):
            state = "stopped"
        raise
    finally:
        run.store.end_run(run.lease, run.run_id, state, asdict(run.tally))
        run.store.clear_staging(run.run_id)
