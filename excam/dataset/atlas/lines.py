"""The atlas's files: a line a question, ``|`` between fields and ``;`` between answers; ``#`` begins a comment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class AtlasError(ValueError):
    """A line of the atlas that cannot be read: the atlas is part of the code, so this is a defect and no data."""


@dataclass(frozen=True)
class Line:
    """The fields of one line and where it stands, for a fault to name."""

    place: str
    fields: tuple[str, ...]

    def fault(self, why: str) -> AtlasError:
        return AtlasError(f"{self.place}: {why}")

    def cells(self, start: int) -> Iterator[tuple[str, str]]:
        """The fields from ``start`` on as code and value; each code stands once."""
        seen: set[str] = set()
        for field in self.fields[start:]:
            code, equals, value = field.partition("=")
            if not (code and equals and value):
                raise self.fault(f"{field!r} is not CODE=value")
            if code in seen:
                raise self.fault(f"{code} stands twice")
            seen.add(code)
            yield code, value


def read_lines(folder: Path, fewest: int) -> Iterator[Line]:
    """Every line of a folder's files, in the order of their names, with ``fewest`` fields or more."""
    for path in sorted(folder.glob("*.txt")):
        for number, text in enumerate(path.read_text("utf-8").splitlines(), start=1):
            if not text or text.startswith("#"):
                continue
            line = Line(f"{folder.name}/{path.name}:{number}", tuple(field.strip() for field in text.split("|")))
            if len(line.fields) < fewest:
                raise line.fault(f"{len(line.fields)} fields where {fewest} belong")
            if not all(line.fields):
                raise line.fault("a field is empty")
            yield line


def answers(value: str) -> tuple[str, ...]:
    """The answers of a field, in their order, each once."""
    return tuple(dict.fromkeys(answer.strip() for answer in value.split(";") if answer.strip()))
