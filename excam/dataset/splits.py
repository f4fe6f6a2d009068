"""Which split an item belongs to: decided for whole components, so that no question is trained on and tested on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum

from excam.dataset.assistant import SOURCE as ASSISTANT
from excam.dataset.draw import shuffled
from excam.dataset.item import Item


class Split(StrEnum):
    """The three files of the dataset."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


SHARES = {Split.TRAIN: 0.7, Split.DEV: 0.1, Split.TEST: 0.2}
_BY_LANGUAGE = frozenset({"calmqa", "exams"})


def stratum(item: Item) -> str:
    """What appendix E stratifies a source by: the language for CaLMQA, else the country, culture or nationality."""
    if item.source in _BY_LANGUAGE:
        return item.language
    if item.source == ASSISTANT:
        return f"{item.task} {item.language}"
    return item.country or item.role or item.topic or item.language


def split_components(
    items: Sequence[Item],
    component_of: Mapping[str, str],
    seed: int,
    evaluation_only: Collection[str] = (),
) -> dict[str, Split]:
    """A split for every component, 70/10/20 by items within each source and, as far as it goes, each stratum.

    Components are dealt stratum by stratum, large ones first, each to the split that is furthest behind its share.
    A component that holds an item of an evaluation-only source goes to test whole.
    """
    members: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        members[component_of[item.group]].append(item)
    by_source: dict[str, list[str]] = defaultdict(list)
    for name in sorted(members):
        home = Counter(item.source for item in members[name])
        by_source[max(sorted(home), key=home.__getitem__)].append(name)

    assigned: dict[str, Split] = {}
    for source, names in sorted(by_source.items()):
        filled: Counter[Split] = Counter()
        order = shuffled(names, seed, "split", source)
        order.sort(key=lambda name: (-_magnitude(len(members[name])), _usual_stratum(members[name])))
        for name in order:
            size = len(members[name])
            if any(item.source in evaluation_only for item in members[name]):
                assigned[name] = Split.TEST
                continue
            total = sum(filled.values()) + size
            choice = max(SHARES, key=lambda split: SHARES[split] * total - filled[split])
            assigned[name] = choice
            filled[choice] += size
    return assigned


def _magnitude(size: int) -> int:
    return size.bit_length() if size > 8 else 0


def _usual_stratum(items: Sequence[Item]) -> str:
    counts = Counter(stratum(item) for item in items)
    return max(sorted(counts), key=counts.__getitem__)


def sample_strata(items: Sequence[Item], limit: int, seed: int) -> list[Item]:
    """At most ``limit`` items, drawn evenly over the strata: no country gives twice what another still could."""
    if len(items) <= limit:
        return list(items)
    strata: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        strata[stratum(item)].append(item)
    queues = {name: shuffled(found, seed, "draw", name) for name, found in sorted(strata.items())}
    drawn: list[Item] = []
    while len(drawn) < limit:
        for name in shuffled(sorted(queues), seed, "turn", len(drawn)):
            if len(drawn) == limit:
                break
            drawn.append(queues[name].pop())
            if not queues[name]:
                del queues[name]
    return sorted(drawn, key=lambda item: item.item_id)
