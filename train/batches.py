"""Which examples a step sees, and how they lie in it: end to end in one row, without padding.

Batches are drawn at random from all sources; sorting them by total length would separate the classes, because reports
with errors are longer, and a judge would learn the length. What attention needs sorted, it sorts inside a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from train.examples import ERROR, Examples

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Turn:
    """An example's place in a batch: whether its whole report is read, and what its loss counts."""

    index: int
    whole: bool
    weight: float


@dataclass(frozen=True)
class Batch:
    """One step's tokens and labels, as arrays.

    ``ends`` are where the sequences end in ``ids``; what lies behind the last one is filler. Text is predicted at
    ``text_at``; decisions at ``decide_at``, in the order of ``turns``; ``twins`` holds rows (wrong, right) of these.
    """

    turns: tuple[Turn, ...]
    ids: Ints
    positions: Ints
    ends: Ints
    text_at: Ints
    text_target: Ints
    text_weight: NDArray[np.float32]
    decide_at: Ints
    label: Ints
    weight: NDArray[np.float32]
    twins: Ints
    twin_weight: NDArray[np.float32]


def units(examples: Examples) -> list[tuple[int, ...]]:
    """What stays together: two twins, or an example that has none."""
    return [
        (index,) if twin < 0 else (index, int(twin))
        for index, twin in enumerate(examples.twin.tolist())
        if twin < 0 or index < twin
    ]


def length(examples: Examples, turn: Turn) -> int:
    """Tokens this turn takes; a report that is not read whole ends right before its decision, which is only a label."""
    if turn.whole:
        return int(examples.lengths[turn.index])
    return int(examples.decided[turn.index])


def epoch(
    examples: Examples, *, seed: int, number: int, batch_tokens: int, balance: float, report_share: float
) -> Iterator[list[Turn]]:
    """The batches of one pass, the same for the same seed: every unit as often as its weight says, twins together.

    A weight w becomes w**balance repetitions (a fraction is drawn) and a loss weight of w**(1 - balance).
    """
    random = np.random.default_rng((seed, number))
    all_units = units(examples)
    heaviness = np.array([examples.weight[list(unit)].mean() for unit in all_units], np.float64)
    repeats = heaviness**balance
    times = np.floor(repeats + random.random(len(repeats))).astype(np.int64)
    order = random.permutation(np.repeat(np.arange(len(all_units)), times))
    whole = random.random(len(order)) < report_share
    lengths, decided = examples.lengths, examples.decided
    batch: list[Turn] = []
    room = batch_tokens
    for place, read in zip(order.tolist(), whole.tolist(), strict=True):
        loss_weight = float(heaviness[place] ** (1 - balance))
        turns = [Turn(index, read or examples.label[index] != ERROR, loss_weight) for index in all_units[place]]
        needed = sum(int(lengths[turn.index] if turn.whole else decided[turn.index]) for turn in turns)
        if needed > batch_tokens:
            raise ValueError(f"example {turns[0].index} needs {needed} tokens, a batch has {batch_tokens}")
        if needed > room:
            yield batch
            batch, room = [], batch_tokens
        batch += turns
        room -= needed
    if batch:
        yield batch


def in_order(examples: Examples, chosen: Sequence[int], batch_tokens: int) -> Iterator[list[Turn]]:
    """Batches for evaluation: the chosen examples up to their decisions, those of like length together."""
    decided = examples.decided
    batch: list[Turn] = []
    room = batch_tokens
    for index in sorted(chosen, key=lambda index: (int(decided[index]), index)):
        if decided[index] > room:
            yield batch
            batch, room = [], batch_tokens
        batch.append(Turn(index, False, 1.0))
        room -= int(decided[index])
    if batch:
        yield batch


def pack(examples: Examples, turns: Sequence[Turn], batch_tokens: int) -> Batch:
    """Lay the turns end to end and mark what is predicted where."""
    ids = np.full(batch_tokens, examples.end, np.int64)
    positions = np.arange(batch_tokens, dtype=np.int64) % 64
    ends, decide_at = np.empty(len(turns), np.int64), np.empty(len(turns), np.int64)
    text: list[tuple[Ints, Ints, float]] = []
    at = 0
    for row, turn in enumerate(turns):
        tokens = examples.tokens(turn.index)
        taken = length(examples, turn)
        ids[at : at + taken] = tokens[:taken]
        positions[at : at + taken] = np.arange(taken)
        prompt, decided = int(examples.prompt[turn.index]), int(examples.decided[turn.index])
        last = len(tokens) if turn.whole else decided + 1
        text.append((np.arange(at + prompt - 1, at + last - 1), tokens[prompt:last].astype(np.int64), turn.weight))
        decide_at[row] = at + decided - 1
        at += taken
        ends[row] = at
    rows = {turn.index: row for row, turn in enumerate(turns)}
    pairs = [
        (row, rows[int(examples.twin[turn.index])])
        for row, turn in enumerate(turns)
        if examples.label[turn.index] == ERROR and int(examples.twin[turn.index]) in rows
    ]
    weights = np.array([turn.weight for turn in turns], np.float32)
    twins = np.array(pairs, np.int64).reshape(-1, 2)
    return Batch(
        turns=tuple(turns),
        ids=ids,
        positions=positions,
        ends=ends,
        text_at=np.concatenate([places for places, _, _ in text]),
        text_target=np.concatenate([targets for _, targets, _ in text]),
        text_weight=np.concatenate([np.full(len(places), weight, np.float32) for places, _, weight in text]),
        decide_at=decide_at,
        label=examples.label[[turn.index for turn in turns]].astype(np.int64),
        weight=weights,
        twins=twins,
        twin_weight=weights[twins[:, 0]],
    )


def spare(examples: Examples, turns: Sequence[Turn], batch_tokens: int) -> float:
    """The share of a batch that is filler."""
    return 1 - sum(length(examples, turn) for turn in turns) / batch_tokens
