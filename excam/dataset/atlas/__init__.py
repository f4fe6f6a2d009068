"""The atlas: how people live and what they think around the world, written down for training by a large language model.

Judges lack knowledge more than anything, and the benchmarks hold few questions. So the atlas asks thousands of its own:
about everyday life (the same question in many countries), about customs and school subjects (multiple choice on one
country) and about opinions (surveys). Nobody verified it, so it is for training alone: dev and test never hold a line
of it, and a question that is like one of theirs is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from excam.dataset.atlas import choices, everyday, opinions
from excam.dataset.atlas.rewordings import read_rewordings
from excam.dataset.duplicates import components
from excam.dataset.item import Item

FACTS = Path(__file__).parent / "facts"
TITLES = {
    everyday.SOURCE: "atlas: everyday life in some fifty countries",
    choices.CUSTOMS: "atlas: customs of 70 countries",
    choices.SCHOOL: "atlas: school subjects in 16 languages",
    opinions.SOURCE: "atlas: what most people answer in surveys",
}
"""The atlas's parts by the name they have among the sources."""


def atlas_items(facts: Path = FACTS) -> Iterator[Item]:
    """Every fact of the atlas as an item; a line that cannot be read is a fault that names it."""
    again = facts / "rewordings"
    yield from everyday.read(facts / "everyday", read_rewordings(again / "everyday", 1))
    yield from choices.read_customs(facts / "customs", read_rewordings(again / "customs", 2))
    yield from choices.read_school(facts / "school")
    yield from opinions.read(facts / "opinions", read_rewordings(again / "opinions", 1))


def unlike(atlas: Sequence[Item], held_out: Sequence[Item], similar: float) -> list[Item]:
    """The items of the atlas whose question is like none of those held out, nor like one that is."""
    component_of = components((*atlas, *held_out), similar)
    taken = {component_of[item.group] for item in held_out}
    return [item for item in atlas if component_of[item.group] not in taken]


__all__ = ["FACTS", "TITLES", "atlas_items", "unlike"]
