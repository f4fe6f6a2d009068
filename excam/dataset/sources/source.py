"""What every source of ExCAM40k offers: who it is, whether its files are at hand, and its records as items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from excam.dataset.item import BadRecord, Item, Task

Reader = Callable[[list[Path]], Iterable[Item | BadRecord]]

_MANY_ANSWERS = (Task.FREEFORM_QA, Task.TEXT_GENERATION, Task.ASSISTANT)
"""Tasks in which two different texts can both be right; in the others a second answer contradicts the first."""


@dataclass(frozen=True)
class Source:
    """One published benchmark: its terms, the files that hold it, and the reader that turns them into items.

    ``patterns`` are globs under ``root/name``; they cover the files as published and the gzip JSON lines of a
    prepared folder. ``evaluation_only`` sources measure a finished judge and never enter a training set.
    """

    name: str
    title: str
    licence: str
    get_it: str
    patterns: tuple[str, ...]
    read: Reader
    evaluation_only: bool = False

    def find(self, root: Path) -> list[Path]:
        """The source's files under ``root``, sorted; an empty list says that the source is not at hand."""
        folder = root / self.name
        return sorted({path for pattern in self.patterns for path in folder.glob(pattern) if path.is_file()})

    def load(self, root: Path) -> Iterator[Item | BadRecord]:
        """Every record as an item, or as a value that names what is wrong with it; never an exception for a record."""
        yield from settle(self.read(self.find(root)))


def settle(found: Iterable[Item | BadRecord]) -> Iterator[Item | BadRecord]:
    """Collapse records that ask the same thing; where they disagree on the answer, none of them can be trusted."""
    alike: dict[tuple[object, ...], list[Item]] = {}
    for outcome in found:
        if isinstance(outcome, BadRecord):
            yield outcome
        else:
            alike.setdefault(_asks(outcome), []).append(outcome)
    for items in alike.values():
        first = items[0]
        if len({item.gold.casefold() for item in items}) == 1:
            yield first
            continue
        for item in items:
            others = ", ".join(other.item_id for other in items if other.item_id != item.item_id)
            reason = "answer: contradicts a record that asks the same"
            yield BadRecord(source=item.source, place=f"{item.item_id} (against {others})", reason=reason)


def _asks(item: Item) -> tuple[object, ...]:
    question = " ".join(item.question.casefold().split())
    asked = (item.task, question, item.country, item.language, item.role, item.context)
    if item.task in _MANY_ANSWERS:
        return (*asked, item.gold)
    if item.task is Task.QA_OPTIONS:
        return (*asked, tuple(sorted(option.casefold() for option in item.options)))
    return asked
