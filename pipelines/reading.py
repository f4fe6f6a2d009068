"""The stage that reads and screens. It knows nothing of the judge: what that needs takes a second to load."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

from excam.outcome import outcome_table
from excam.store import Store
from pipelines.plan import Batch, RunPlan, pack, unit_row
from pipelines.reach import OutOfReachError, Patience
from pipelines.read import read_units
from pipelines.screen_unit import screen_unit
from pipelines.seen import take_stored_verdicts
from pipelines.stream.registry import Registry
from pipelines.units import Section


def section_row(section: Section) -> dict[str, bytes]:
    """A section as a row of the dataset that the stages start from."""
    return {"section": pickle.dumps(section)}


class ReadAndScreen:
    """Reads a section and gives out its units, screened; texts judged before leave with their stored verdict."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        with Store.open(plan.store_url, read_only=True) as store:
            self._known = store.known_hashes(plan.judge_version)
        self._registry = Registry(plan.registry) if plan.registry else None
        self._patience = Patience(plan.patience)

    def __call__(self, batch: Batch) -> Iterator[Batch]:
        section: Section = pickle.loads(batch["section"][0])
        try:
            yield from self._screened(section)
        except OutOfReachError as error:
            yield _row(section, part=-1, total=0, skipped=0, outcomes=pack(outcome_table([])), away=error.message)

    def _screened(self, section: Section) -> Iterator[Batch]:
        plan = self._plan
        for unit in read_units(section, self._patience):
            rows, skipped = screen_unit(unit, section, plan.mapping, gate=plan.gate, registry=self._registry)
            take_stored_verdicts(rows, self._known, plan.store_url, plan.judge_version)
            yield _row(section, part=unit.part, total=unit.rows, skipped=skipped, outcomes=pack(outcome_table(rows)))


def _row(section: Section, away: str = "", **columns: int | bytes) -> Batch:
    """A unit of the section on its way to the judge; ``away`` says why the rest of the section could not be read."""
    return unit_row(source=section.uri, fingerprint=section.fingerprint, away=away, **columns)
