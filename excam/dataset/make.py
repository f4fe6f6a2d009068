"""Items of one split become samples: twins with hard and soft errors, and ordinary pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from excam.dataset.balance import choose, draw, usable
from excam.dataset.draw import Deck, shuffled
from excam.dataset.hard import HardErrors, tasks_of
from excam.dataset.item import Item, Task
from excam.dataset.lengths import even
from excam.dataset.profile import Profile
from excam.dataset.sample import Sample
from excam.dataset.soft_file import SoftTwins
from excam.dataset.soft_rules import RuleErrors
from excam.dataset.splits import SHARES, Split, sample_strata


def split_samples(
    items: Sequence[Item], split: Split, profile: Profile, seed: int, rules: RuleErrors, soft: SoftTwins
) -> Iterator[Sample]:
    """Every sample of a split, source by source; ``items`` are those of the split alone."""
    by_source: dict[str, list[Item]] = {}
    for item in items:
        by_source.setdefault(item.source, []).append(item)
    for source, found in sorted(by_source.items()):
        key = (seed, split, source)
        maker = HardErrors(*key)
        cultural = [item for item in found if item.cultural]
        yield from _hard(maker, cultural, split, profile, seed)
        yield from rules.twins([item for item in cultural if not item.wrong or item.source == "normad"], *key)
        yield from soft.twins(cultural)
        yield from _ordinary(maker, [item for item in found if not item.cultural], split, profile, seed)


def _hard(maker: HardErrors, items: Sequence[Item], split: Split, profile: Profile, seed: int) -> Iterator[Sample]:
    able = [item for item in items if usable(item)]
    if not able:
        return
    tasks = tasks_of(able[0])
    appetite = profile.of(able[0].source)
    most = round(appetite.twins * SHARES[split] / (1 if appetite.once else len(tasks)))
    if appetite.natural or profile.natural:
        chosen = draw(able, seed, appetite.rounds, most)
    else:
        chosen = choose(able, seed, appetite.rounds, most, appetite.repeats)
    if appetite.even:
        chosen = even(chosen)
    chosen.sort(key=lambda choice: (choice.item.item_id, choice.wrong, choice.turn))
    if appetite.once:
        told = Deck(tasks, seed, split, able[0].source, "told")
        for choice in chosen:
            yield from maker.twins(choice, (told.deal(),))
        return
    for wording in range(profile.wordings if split is Split.TRAIN else 1):
        for choice in chosen:
            yield from maker.twins(replace(choice, turn=choice.turn + wording * appetite.repeats))


def _ordinary(maker: HardErrors, items: Sequence[Item], split: Split, profile: Profile, seed: int) -> Iterator[Sample]:
    if not items:
        return
    most = round(profile.ordinary * SHARES[split])
    asked = Deck((Task.QA_OPTIONS, Task.FREEFORM_QA), seed, split, items[0].source, "ordinary")
    for item in sample_strata(items, most, seed):
        wrong = shuffled(usable(item), seed, "ordinary", item.item_id)
        task = asked.deal() if item.task is Task.QA_OPTIONS else item.task
        yield from maker.ordinary(item, wrong[0] if wrong else None, task)


def limit_items(items: Sequence[Item], samples: int | None, seed: int) -> list[Item]:
    """The items of a profile that bounds the samples of each source: so many that their twins stay within it."""
    if samples is None:
        return list(items)
    by_source: dict[tuple[str, bool], list[Item]] = {}
    for item in items:
        by_source.setdefault((item.source, item.cultural), []).append(item)
    kept: list[Item] = []
    for (_, cultural), found in sorted(by_source.items()):
        each = 2 * len(tasks_of(found[0])) if cultural else 2
        kept += sample_strata(found, samples // each, seed)
    return kept
