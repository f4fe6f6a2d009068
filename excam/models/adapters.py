"""Adapters: immutable, versioned folders with a card that says what they are and what they belong to.

A folder ``NAME/VERSION/`` holds ``adapter_config.json``, ``adapter_model.safetensors`` and ``adapter.yaml``, the card.
vLLM keys its prefix cache by an adapter's path, so a path never changes its content: a new adapter is a new version.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import yaml
from pydantic import BaseModel as Model
from pydantic import ConfigDict

from excam.calibration import Calibration
from excam.fault import UserError
from excam.models.adapter_card import CARD, CONFIG, WEIGHTS, BaseReference, Card, read_card, read_config, require_files
from excam.models.base import BaseModel
from excam.models.cache import cache_root, digests
from excam.models.digest import file_sha256, remembered_sha256


class Adapter(Model):
    """An adapter whose files were checked against its card."""

    model_config = ConfigDict(frozen=True)

    path: Path
    card: Card

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def version(self) -> str:
        return self.card.version

    @property
    def sha256(self) -> str:
        return self.card.sha256

    @property
    def rank(self) -> int:
        return self.card.rank

    @property
    def base(self) -> BaseReference:
        return self.card.base

    def check_base(self, base: BaseModel) -> None:
        """Refuse any base but the one trained on: on others the adapter is noise that looks like a judge."""
        if base.sha256 != self.base.sha256:
            raise UserError(
                f"adapter {self.name}@{self.version} belongs to another base model\n"
                f"    trained on {self.base.name} ({self.base.sha256})\n"
                f"    given      {base.name} ({base.sha256})",
                f"use --base {self.base.name}, or an adapter trained on {base.name}",
            )


def resolve_adapter(name_or_path: str | Path, cache: Path | None = None) -> Adapter:
    """An adapter by ``NAME``, ``NAME@VERSION`` or folder, checked against its card; without a version the newest."""
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        return _checked(path.resolve(), cache_root(cache))
    if "://" in str(name_or_path):  # not repeated: it may hold a password or a signature
        raise UserError("an adapter is used by its name or from a folder", "fetch it with: excam adapters pull URL")
    name, _, version = str(name_or_path).partition("@")
    versions = _versions(name, cache)
    folder = versions.get(version or max(versions, key=_order, default=""))
    if folder is None:
        wanted = f"no adapter is called {name!r}" if not versions else f"adapter {name!r} has no version {version!r}"
        there = sorted(versions, key=_order) or sorted(_names(cache))
        raise UserError(wanted, f"use {', '.join(there) or 'a folder: none is installed'}; or give an adapter's folder")
    return _checked(folder, cache_root(cache))


def bundled_adapter(base: BaseModel, cache: Path | None = None) -> Adapter | None:
    """The newest installed adapter that was trained on this base, or none."""
    cards = [
        (_order(version), name, folder)
        for name in sorted(_names(cache))
        for version, folder in _versions(name, cache).items()
        if read_card(folder).base.sha256 == base.sha256
    ]
    return _checked(max(cards)[2], cache_root(cache)) if cards else None


def installed(cache: Path | None = None) -> list[tuple[Path, Card]]:
    """Every adapter that a name finds, by name and version, with its card; the files are not hashed for this."""
    return [
        (folder, read_card(folder))
        for name in sorted(_names(cache))
        for _, folder in sorted(_versions(name, cache).items(), key=lambda found: _order(found[0]))
    ]


def write_card(
    folder: Path,
    *,
    name: str,
    version: str,
    base: BaseModel,
    dataset: str,
    metrics: dict[str, float] | None = None,
    calibration: Calibration | None = None,
    note: str | None = None,
) -> Adapter:
    """Give a trained adapter its card, once: a folder that has one is immutable."""
    if (folder / CARD).exists():
        raise UserError(f"{folder / CARD} exists: a published adapter never changes", "publish it as a new version")
    require_files(folder)
    card = Card(
        name=name,
        version=version,
        base=BaseReference(name=base.name, sha256=base.sha256),
        rank=read_config(folder)["r"],
        created=datetime.now(UTC).replace(microsecond=0),
        dataset=dataset,
        metrics=metrics or {},
        calibration=calibration,
        note=note,
        sha256=file_sha256(folder / WEIGHTS),
        config_sha256=file_sha256(folder / CONFIG),
    )
    draft = folder / f".{CARD}"
    draft.write_text(
        yaml.safe_dump(card.model_dump(mode="json", exclude_none=True), sort_keys=False, allow_unicode=True), "utf-8"
    )
    draft.rename(folder / CARD)
    return Adapter(path=folder.resolve(), card=card)


def _checked(folder: Path, root: Path) -> Adapter:
    require_files(folder)
    card = read_card(folder)
    for file, expected in ((WEIGHTS, card.sha256), (CONFIG, card.config_sha256)):
        found = remembered_sha256(folder / file, digests(root))
        if found != expected:
            raise UserError(
                f"{folder / file} is not what its card describes: wrong SHA-256, the adapter is not used\n"
                f"    expected {expected}\n"
                f"    found    {found}",
                "restore the adapter's folder; a changed adapter needs a version of its own",
            )
    rank = read_config(folder)["r"]
    if rank != card.rank:
        raise UserError(f"{folder / CARD} says rank {card.rank}, {CONFIG} says {rank}", "restore the adapter's folder")
    return Adapter(path=folder, card=card)


def homes(cache: Path | None = None) -> list[Path]:
    """Where adapters are installed, the user's own first: $EXCAM_ADAPTERS, the cache, those shipped with the code."""
    own = os.environ.get("EXCAM_ADAPTERS")
    shipped = find_spec("train")
    places = [Path(place) / "adapters" for place in (shipped.submodule_search_locations or [])] if shipped else []
    return [*([Path(own).expanduser()] if own else []), cache_root(cache) / "adapters", *places]


def _names(cache: Path | None) -> set[str]:
    return {path.parent.parent.name for home in homes(cache) for path in home.glob(f"[a-z0-9]*/*/{CARD}")}


def _versions(name: str, cache: Path | None) -> dict[str, Path]:
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
        return {}
    found = [path.parent for home in reversed(homes(cache)) for path in home.glob(f"{name}/*/{CARD}")]
    return {folder.name: folder.resolve() for folder in found}


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
