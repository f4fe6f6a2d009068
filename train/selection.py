"""What a run learns from: all examples, those of some sources, a share of the questions, or sources that count more."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from excam.fault import UserError
from train.examples import Examples


def select(
    examples: Examples, left_out: Collection[str] = (), part: float = 1.0, counts: Mapping[str, float] | None = None
) -> Examples:
    """What a run learns from: all of it, or less by ``without`` and ``share``; ``counts`` as for :func:`weighed`."""
    if not 0 < part <= 1:
        raise UserError(f"a share of {part:g} of the questions cannot be trained on", "give more than 0 and at most 1")
    some = without(examples, frozenset(left_out)) if left_out else examples
    some = weighed(some, counts) if counts else some
    return share(some, part) if part < 1 else some


def weighed(examples: Examples, counts: Mapping[str, float]) -> Examples:
    """The same examples, those of the named sources so many times as heavy."""
    _require_sources(examples, counts)
    factor = np.array([counts.get(name, 1.0) for name in examples.sources], np.float32)
    return replace(examples, weight=examples.weight * factor[examples.source])


def _require_sources(examples: Examples, named: Collection[str]) -> None:
    if unknown := sorted(set(named) - set(examples.sources)):
        raise UserError(f"the data has no source {', '.join(unknown)}", f"use {', '.join(examples.sources)}")


def without(examples: Examples, sources: frozenset[str]) -> Examples:
    """The examples of all other sources; the sources keep their numbers, so that figures can still be compared."""
    _require_sources(examples, sources)
    left_out = [number for number, source in enumerate(examples.sources) if source in sources]
    kept = np.flatnonzero(~np.isin(examples.source, left_out))
    if not len(kept):
        raise UserError(f"without {', '.join(sorted(sources))} nothing is left to train on", "leave less out")
    return chosen(examples, kept)


def share(examples: Examples, part: float, seed: int = 0) -> Examples:
    """This part of every source's questions with all their examples: what does a judge gain by more of them?

    The questions of a smaller part are among those of a larger one, so that the steps between parts can be compared.
    """
    draw = np.random.default_rng(seed).random(int(examples.group.max()) + 1)
    questions = [np.unique(examples.group[examples.source == number]) for number in np.unique(examples.source)]
    kept = np.concatenate([some[np.argsort(draw[some])[: math.ceil(part * len(some))]] for some in questions])
    return chosen(examples, np.flatnonzero(np.isin(examples.group, kept)))


def chosen(examples: Examples, kept: NDArray[np.int64]) -> Examples:
    """These examples alone, in this order; one whose twin is not among them has none."""
    place = np.full(len(examples) + 1, -1, np.int32)  # one more, so that "no twin" (-1) finds itself
    place[kept] = np.arange(len(kept), dtype=np.int32)
    pieces = [examples.tokens(int(index)) for index in kept]
    return replace(
        examples,
        ids=np.concatenate(pieces),
        starts=np.cumsum([0, *map(len, pieces)], dtype=np.int64),
        twin=place[examples.twin[kept]],
        notes=examples.notes.about(examples.group[kept]),
        **{name: getattr(examples, name)[kept] for name in ("prompt", "label", "weight", "source", "hard", "group")},
    )
