"""Builds ExCAM40k: sources in, three Parquet files, a data card and an account of the build out."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from excam.dataset.assistant import SOURCE as ASSISTANT
from excam.dataset.assistant import assistant_items
from excam.dataset.atlas import atlas_items, unlike
from excam.dataset.card import Account, render_card
from excam.dataset.duplicates import components
from excam.dataset.gather import Gathered, gather
from excam.dataset.item import Item
from excam.dataset.make import limit_items, split_samples
from excam.dataset.mend import mend
from excam.dataset.profile import PROFILES, Profile
from excam.dataset.soft_file import SoftRow, SoftTwins
from excam.dataset.soft_rules import RuleErrors
from excam.dataset.sources import SOURCES, Source
from excam.dataset.splits import Split, split_components
from excam.dataset.write import Tally, sha256, write_split
from excam.fault import UserError

VERSION = "1.1"
"""Of the construction: raised when the same sources and seed would give other samples."""

SUMMARY = "build.json"
_DRAFT = ".build-"


@dataclass(frozen=True)
class Built:
    """What a build wrote and where."""

    folder: Path
    account: Account


def build(
    sources_root: Path,
    out: Path,
    profile: str | Profile = "full",
    seed: int = 0,
    soft: Sequence[SoftRow] = (),
    sources: Mapping[str, Source] = SOURCES,
) -> Built:
    """Build the dataset under ``out``; the same sources and seed give the same bytes, whatever else differs.

    The files come to ``out`` when all of them are written: a build that fails leaves what was there as it was, and
    what one that was killed had written by then goes with the next. One build at a time may be at work in a folder.
    """
    chosen = profile if isinstance(profile, Profile) else PROFILES.get(profile)
    if chosen is None:
        raise UserError(f"there is no profile {profile!r}", f"take one of {', '.join(PROFILES)}")
    gathered = gather(sources_root, sources)
    items = _items(gathered, chosen, seed)
    component_of = components(items, chosen.similar)
    alone = {name for name, source in sources.items() if source.evaluation_only}
    split_of = split_components(items, component_of, seed, alone)
    by_split: dict[Split, list[Item]] = {split: [] for split in Split}
    for item in items:
        by_split[split_of[component_of[item.group]]].append(item)
    atlas = list(atlas_items(chosen.atlas)) if chosen.atlas else []
    by_split[Split.TRAIN] += unlike(atlas, [*by_split[Split.DEV], *by_split[Split.TEST]], chosen.similar)

    out.mkdir(parents=True, exist_ok=True)
    for left in out.glob(f"{_DRAFT}*"):
        shutil.rmtree(left, ignore_errors=True)
    tally = Tally()
    twins = SoftTwins(soft, items)
    rules = RuleErrors([item.country for item in items if item.source == "normad" and item.country])
    with TemporaryDirectory(prefix=_DRAFT, dir=out) as name:
        making = Path(name)
        for split, found in by_split.items():
            samples = split_samples(found, split, chosen, seed, rules, twins)
            write_split(making / f"{split}.parquet", samples, split, tally)
        account = Account(
            profile=chosen,
            seed=seed,
            gathered=gathered,
            tally=tally,
            items=Counter(item.source for item in gathered.items) | Counter(item.source for item in (*items, *atlas)),
            groups=len(component_of),
            components=len(set(component_of.values())),
            soft=twins.outcomes,
            sources=sources,
        )
        summary = json.dumps(_summary(making, account), indent=2, ensure_ascii=False)
        (making / "card.md").write_text(render_card(account), "utf-8")
        (making / SUMMARY).write_text(summary + "\n", "utf-8")
        _hand_over(making, out)
    return Built(out, account)


def _hand_over(making: Path, out: Path) -> None:
    """Put the files of a whole build in place of those of another; while build.json is away they may be of both."""
    (out / SUMMARY).unlink(missing_ok=True)
    for name in (*(f"{split}.parquet" for split in Split), "card.md", SUMMARY):
        os.replace(making / name, out / name)


def _items(gathered: Gathered, profile: Profile, seed: int) -> list[Item]:
    kept = limit_items([mend(item) for item in gathered.items], profile.samples, seed)
    if ASSISTANT not in {item.source for item in kept}:
        kept += assistant_items(seed, profile.chores)
    return sorted(kept, key=lambda item: item.item_id)


def _summary(out: Path, account: Account) -> dict[str, Any]:
    tally = account.tally
    return {
        "version": VERSION,
        "profile": account.profile.name,
        "seed": account.seed,
        "similar": account.profile.similar,
        "natural": account.profile.natural,
        "atlas": account.profile.atlas is not None,
        "sources": {"found": account.gathered.found, "missing": account.gathered.missing},
        "samples": {f"{split}": count for (split,), count in sorted(tally.by("split").items())},
        "counts": {
            column: {f"{split}/{value}": count for (split, value), count in sorted(tally.by("split", column).items())}
            for column in Tally.COLUMNS
        },
        "bad_records": {
            f"{source}: {reason}": count for (source, reason), count in sorted(account.gathered.bad.items())
        },
        "unused_items": account.unused(),
        "groups": account.groups,
        "components": account.components,
        "files": {f"{split}.parquet": sha256(out / f"{split}.parquet") for split in Split},
    }
