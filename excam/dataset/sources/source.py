"""What every source of ExCAM40k offers: who it is, whether its files are at hand, and its records as items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from excam.dataset.item import BadRecord, Item

Reader = Callable[[list[Path]], Iterable[Item | BadRecord]]


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
        yield from self.read(self.find(root))
