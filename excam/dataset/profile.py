"""How much of the sources becomes samples: as the paper did it, or everything they give."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Appetite:
    """What one source may give to a split of ``full`` size: wrong answers per item, repetitions, twins in all.

    ``repeats`` above 1 lets a rare right answer (an ironic text among many plain ones) stand again in another wording,
    so that balance costs less data.
    """

    rounds: int = 3
    repeats: int = 1
    twins: int = 32_000


@dataclass(frozen=True)
class Profile:
    """A named way to build.

    ``samples`` bounds the samples of a source before soft errors are made, ``ordinary`` the items of a source that are
    not about culture, and ``chores`` the tasks of each family made here.
    """

    name: str
    samples: int | None
    appetite: dict[str, Appetite] = field(default_factory=dict)
    usual: Appetite = field(default_factory=Appetite)
    ordinary: int = 4_000
    chores: int = 14

    def of(self, source: str) -> Appetite:
        return self.appetite.get(source, self.usual)


PROFILES = {
    "paper": Profile("paper", samples=5_000, usual=Appetite(rounds=1), ordinary=1_500, chores=4),
    "full": Profile(
        "full",
        samples=None,
        appetite={
            "exams": Appetite(rounds=2, twins=16_000),
            "include": Appetite(rounds=2, twins=16_000),
            "globalopinionqa": Appetite(rounds=2, repeats=2, twins=12_000),
            "epic": Appetite(rounds=2, repeats=2),
            "normad": Appetite(rounds=2, repeats=2),
        },
    ),
}
