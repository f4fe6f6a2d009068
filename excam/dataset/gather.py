"""Everything the sources give: items, what could not be read, and which sources are not at hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from excam.dataset.item import BadRecord, Item
from excam.dataset.sources import SOURCES, Source
from excam.dataset.sources.records import UNREAD
from excam.fault import UserError


@dataclass
class Gathered:
    """The items of a build with the account of what is not among them."""

    items: list[Item] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    bad: Counter[tuple[str, str]] = field(default_factory=Counter)
    places: dict[tuple[str, str], str] = field(default_factory=dict)

    def refuse(self, record: BadRecord) -> None:
        """Count a bad record by its reason, and keep the first place where it stands."""
        key = (record.source, record.reason)
        self.bad[key] += 1
        self.places.setdefault(key, record.place)

    def doubts(self) -> list[str]:
        """What to look at before a build is used: files not read to their end, and sources that gave no item."""
        torn = [f"{self.places[key]}: {key[1]}" for key in sorted(self.bad) if key[1].startswith(UNREAD)]
        given = {item.source for item in self.items}
        return torn + [f"{name}: nothing in its files could be used" for name in self.found if name not in given]


def gather(root: Path, sources: Mapping[str, Source] = SOURCES) -> Gathered:
    """Read every source under ``root`` that is there; a missing one is named and the build goes on."""
    if not root.is_dir():
        raise UserError(f"there is no folder {root}", "name the folder that holds one folder a source with --sources")
    gathered = Gathered()
    for name, source in sources.items():
        if not source.find(root):
            gathered.missing.append(name)
            continue
        gathered.found.append(name)
        seen: set[str] = set()
        for record in source.load(root):
            if isinstance(record, BadRecord):
                gathered.refuse(record)
            elif record.item_id in seen:
                gathered.refuse(BadRecord(source=name, place=record.item_id, reason="item_id: stands twice"))
            elif not _is_text(record):
                gathered.refuse(BadRecord(source=name, place=record.item_id, reason="text: broken Unicode"))
            else:
                seen.add(record.item_id)
                gathered.items.append(record)
    if not gathered.items:
        known = ", ".join(sources)
        raise UserError(
            f"none of the sources is in {root}", f"put at least one of {known} there (`excam dataset build --help`)"
        )
    gathered.items.sort(key=lambda item: item.item_id)
    return gathered


def _is_text(item: Item) -> bool:
    """Whether every text of the item can be written as UTF-8: half a surrogate pair cannot."""
    texts = (
        item.item_id,
        item.question,
        item.gold,
        *item.options,
        *item.wrong,
        item.role or "",
        item.context or "",
        item.explanation or "",
        item.topic or "",
    )
    try:
        for text in texts:
            text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
