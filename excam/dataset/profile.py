"""How much of the sources becomes samples: as the paper did it, or everything they give."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from excam.dataset.duplicates import SIMILAR


@dataclass(frozen=True)
class Appetite:
    """What one source may give to a split of ``full`` size: wrong answers per item, repetitions, twins in all.

    ``repeats`` above 1 lets a rare right answer (an ironic text among many plain ones) stand again in another wording,
    so that balance costs less data. ``natural`` draws wrong answers at random instead: opinions and irony are
    judged by how common they are, a fact of a culture is not. ``once`` has enough questions to put each in one wording,
    with its options or without by turns: the room goes to more facts. ``even`` is for written options, of which the
    right one is too often the longest.
    """

    rounds: int = 3
    repeats: int = 1
    twins: int = 32_000
    natural: bool = False
    once: bool = False
    even: bool = False


@dataclass(frozen=True)
class Profile:
    """A named way to build.

    ``samples`` bounds the samples of a source before soft errors are made, ``ordinary`` the items of a source that are
    not about culture, ``chores`` the tasks of each family made here, and ``wordings`` in how many ways each twin of
    train is put: an epoch over other words teaches more than the same words again. Questions at least as alike as
    ``similar`` stay in one split; with 1 that is the same question alone, an easier test than ours. ``natural`` draws
    every source's wrong answers at random, as the paper does: easier too, since common answers are then mostly right.
    ``atlas`` is a folder of facts (excam/dataset/atlas) whose questions are added to train.
    """

    name: str
    samples: int | None
    appetite: dict[str, Appetite] = field(default_factory=dict)
    usual: Appetite = field(default_factory=Appetite)
    ordinary: int = 4_000
    chores: int = 14
    wordings: int = 1
    similar: float = SIMILAR
    natural: bool = False
    atlas: Path | None = None

    def of(self, source: str) -> Appetite:
        return self.appetite.get(source, self.usual)


PROFILES = {
    "paper": Profile(
        "paper",
        samples=5_000,
        appetite=dict.fromkeys(("globalopinionqa", "epic"), Appetite(rounds=1, natural=True)),
        usual=Appetite(rounds=1),
        ordinary=1_500,
        chores=4,
    ),
    "full": Profile(
        "full",
        samples=None,
        appetite={
            "exams": Appetite(rounds=2, twins=16_000),
            "include": Appetite(rounds=2, twins=16_000),
            "globalopinionqa": Appetite(rounds=2, twins=14_000, natural=True),
            "epic": Appetite(rounds=1, natural=True),
            "blend": Appetite(rounds=6, twins=48_000),
            "normad": Appetite(rounds=2, repeats=2),
            "atlas-everyday": Appetite(rounds=1, twins=480_000, once=True),
            "atlas-customs": Appetite(twins=300_000, once=True, even=True),
            "atlas-school": Appetite(twins=64_000, once=True, even=True),
            "atlas-opinions": Appetite(rounds=1, twins=300_000, natural=True, once=True),
        },
    ),
}
