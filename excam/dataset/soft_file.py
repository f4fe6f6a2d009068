"""Soft errors on file: what a model wrote, valid or not, so that a build can use it and its quality can be counted."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from excam.dataset.draw import fingerprint, shuffled
from excam.dataset.generator import GenerationFailure, Generator
from excam.dataset.item import Item
from excam.dataset.sample import Origin, Sample, make_sample
from excam.dataset.soft_llm import Rejected, prompt, read
from excam.dataset.table import read_columns
from excam.dataset.wordsmith import Wordsmith
from excam.fault import UserError
from excam.report import CORRECT_REPORT, ParseFailure, Severity, parse_report

SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("item_id", "model", "severity", "task", "instruction", "output")]
    + [(name, pa.string()) for name in ("wrong_instruction", "wrong_output", "report", "outcome", "detail")]
)

_NUMBERED = re.compile(r"soft-(\d+)\.parquet")


@dataclass(frozen=True)
class SoftRow:
    """One try: the correct pair, the pair with errors and its report, or why there is none (``outcome``)."""

    item_id: str
    model: str
    severity: str
    task: str
    instruction: str
    output: str
    wrong_instruction: str | None
    wrong_output: str | None
    report: str | None
    outcome: str
    detail: str | None


def make_soft(items: Sequence[Item], generator: Generator, seed: int) -> Iterator[SoftRow]:
    """One minor and one major try for every item, as the paper did it; what was answered is not tried again.

    An item that a server was too busy or too far away to come to is not recorded and is still to be tried. One that
    came to none of them ends the run.
    """
    words = Wordsmith(seed, "soft")
    pairs = []
    for item in items:
        instruction, (written,) = words.say(item, item.task, (item.gold,))
        pairs += [(item, instruction, written.text, severity) for severity in Severity]
    answers = generator.generate([prompt(instruction, output, severity) for _, instruction, output, severity in pairs])
    lost = {place: one for place, one in enumerate(answers) if isinstance(one, GenerationFailure) and one.unreachable}
    if lost and len(lost) == len(answers):
        raise UserError(
            f"{generator.name} answered none of {len(lost)} prompts ({lost[0].reason})",
            "see that the server runs and has time, then run the command again: it goes on where it stopped",
        )
    left = {pairs[place][0].item_id for place in lost}
    for (item, instruction, output, severity), answer in zip(pairs, answers, strict=True):
        if item.item_id in left:
            continue
        known = (item.item_id, generator.name, severity.value, item.task.value, instruction, output)
        if isinstance(answer, GenerationFailure):
            yield SoftRow(*known, None, None, None, "no_answer", answer.reason)
            continue
        found = read(answer, instruction, output, severity)
        if isinstance(found, Rejected):
            yield SoftRow(*known, None, None, None, found.reason, found.detail)
        else:
            yield SoftRow(*known, found.instruction, found.output, found.report.render(), "valid", None)


def write_soft(folder: Path, rows: Iterable[SoftRow]) -> Path:
    """One more file in ``folder``, whole or not at all: a run that was stopped goes on where it left off."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist([asdict(row) for row in rows], schema=SCHEMA)
    numbers = [int(found[1]) for path in folder.iterdir() if (found := _NUMBERED.fullmatch(path.name))]
    path = folder / f"soft-{max(numbers, default=-1) + 1:05d}.parquet"
    draft = path.with_suffix(".draft")
    pq.write_table(table, draft, compression="zstd")
    os.replace(draft, path)
    return path


def read_soft(folder: Path) -> list[SoftRow]:
    """Every try recorded in ``folder``."""
    paths = sorted(folder.glob("*.parquet")) if folder.is_dir() else [folder]
    rows: list[dict[str, Any]] = []
    for path in paths:
        if not path.is_file():
            raise UserError(f"there is no file or folder {path}", "name what `excam dataset soft --out` wrote")
        rows += read_columns(path, SCHEMA.names, "name what `excam dataset soft` wrote").to_pylist()
    return [SoftRow(**row) for row in rows]


def pending(items: Sequence[Item], done: Iterable[SoftRow], model: str, limit: int | None, seed: int) -> list[Item]:
    """The items that ``model`` has not yet been asked about, in an order the seed decides."""
    asked: dict[str, list[SoftRow]] = {}
    for row in done:
        if row.model == model:
            asked.setdefault(row.item_id, []).append(row)
    order = shuffled(items, seed, "pending")
    left = [item for item in order if not any(_made_from(row, item) for row in asked.get(item.item_id, ()))]
    return left if limit is None else left[:limit]


def _made_from(row: SoftRow, item: Item | None) -> bool:
    """Whether the row's correct pair says what the item does: in a source of another day its record may be another."""
    return item is not None and item.gold in row.output and item.question.strip() in row.instruction


class SoftTwins:
    """The valid tries of a file as twins: the correct pair beside the one with errors.

    A try of an item that the build does not hold, or not as it was then, is counted as one of these outcomes too,
    ``no_such_item``.
    """

    def __init__(self, rows: Iterable[SoftRow], items: Iterable[Item]) -> None:
        self.outcomes = Counter[tuple[str, str, str]]()
        self._by_item: dict[str, list[SoftRow]] = {}
        known = {item.item_id: item for item in items if item.cultural}
        for row in dict.fromkeys(rows):
            usable = row.outcome == "valid" and _made_from(row, known.get(row.item_id))
            outcome = "no_such_item" if row.outcome == "valid" and not usable else row.outcome
            self.outcomes[row.model, row.severity, outcome] += 1
            if usable:
                self._by_item.setdefault(row.item_id, []).append(row)

    def twins(self, items: Sequence[Item]) -> Iterator[Sample]:
        """The twins of those ``items`` that have any; the instruction of the wrong one may hold an error itself."""
        for item in items:
            for row in sorted(self._by_item.get(item.item_id, ()), key=_order):
                report = parse_report(row.report or "")
                if isinstance(report, ParseFailure) or not report.errors:
                    raise UserError(
                        f"{row.item_id}: its report cannot be read", "write the file anew with `excam dataset soft`"
                    )
                twin = fingerprint(item.item_id, "soft", *_order(row))
                yield make_sample(item, row.task, row.instruction, row.output, CORRECT_REPORT, twin_id=twin)
                yield make_sample(
                    item, row.task, row.wrong_instruction or "", row.wrong_output or "", report, Origin.SOFT_LLM, twin
                )


def _order(row: SoftRow) -> tuple[str, ...]:
    """What tells the valid tries of one item apart: two runs of a model may both have one."""
    texts = (row.instruction, row.output, row.wrong_instruction or "", row.wrong_output or "")
    return (row.severity, row.model, *texts)
