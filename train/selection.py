"""Leave examples out: a source at a time, for judges that are measured on what they never saw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from excam.fault import UserError
from train.examples import Examples


def without(examples: Examples, sources: frozenset[str]) -> Examples:
    """The examples of all other sources; the sources keep their numbers, so that figures can still be compared."""
    unknown = sorted(sources - set(examples.sources))
    if unknown:
        raise UserError(f"the data has no source {', '.join(unknown)}", f"use {', '.join(examples.sources)}")
    left_out = [number for number, source in enumerate(examples.sources) if source in sources]
    kept = np.flatnonzero(~np.isin(examples.source, left_out))
    if not len(kept):
        raise UserError(f"without {', '.join(sorted(sources))} nothing is left to train on", "leave less out")
    return chosen(examples, kept)


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
        **{name: getattr(examples, name)[kept] for name in ("prompt", "label", "weight", "source", "hard")},
    )
