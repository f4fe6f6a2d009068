"""How good a gate is: the share of cultural pairs that pass and of ordinary ones that stop, by where they come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from excam.relevance.model import Gate
from excam.relevance.texts import NAMES, WORDS, Example
from excam.relevance.train import fit
from excam.sample import sample_pairs
from excam.stats import wilson

SAMPLE_LOG = "sample log"
ALL = "all"


class Rate(NamedTuple):
    """Of ``total`` pairs of one kind and source, how many the gate treated as it should."""

    source: str
    cultural: bool
    right: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of the rate."""
        return wilson(self.right, self.total)


def from_sample_log() -> list[Example]:
    """The bundled sample log, written by hand, which no gate is trained on."""
    return [
        Example(pair.instruction, pair.output, pair.about is not None, SAMPLE_LOG, pair.language)
        for pair in sample_pairs()
    ]


def rates(gate: Gate, examples: Sequence[Example]) -> list[Rate]:
    """A rate for each kind over everything, then for each source."""
    passed = gate.probabilities(example.pair for example in examples) >= gate.threshold
    found: dict[tuple[str, bool], list[int]] = {}
    for example, passes in zip(examples, passed, strict=True):
        for source in (ALL, example.source):
            count = found.setdefault((source, example.cultural), [0, 0])
            count[0] += int(passes == example.cultural)
            count[1] += 1
    order = sorted(found, key=lambda key: (key[0] != ALL, not key[1], key[0]))
    return [Rate(source, cultural, *found[source, cultural]) for source, cultural in order]


def leave_one_out(gate: Gate, learnt: Sequence[Example], test: Sequence[Example]) -> Iterator[list[Rate]]:
    """For each source in turn, the rates on its test pairs of a gate whose weights never saw it, at this threshold.

    This is what to expect of traffic unlike anything in the dataset; the cultural and the ordinary pairs of a source
    are left out together. Without the word list the gate is measured on the sample log.
    """
    for source in sorted({example.source for example in learnt} - {NAMES}):
        blind = replace(fit([example for example in learnt if example.source != source]), threshold=gate.threshold)
        unseen = from_sample_log() if source == WORDS else [example for example in test if example.source == source]
        yield [rate._replace(source=source) for rate in rates(blind, unseen) if rate.source == ALL]
