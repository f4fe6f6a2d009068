"""Which examples a step sees, and how they lie in it: end to end in one row, without padding or repetition.

Twins say the same up to the answer, and all prompts begin alike: such tokens lie in the row once (about half of them).

Batches are drawn at random from all sources; sorting them by total length would separate the classes, because reports
with errors are longer, and a judge would learn the length. What attention needs sorted, it sorts inside a batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.fault import UserError
from train.examples import ERROR, Examples
from train.notes import lay

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

    ``sequences`` name the places of each example's tokens in ``ids``; what lies behind the last is filler. Text is
    predicted at ``text_at``; decisions at ``decide_at``, in the order of ``turns``; ``twins`` holds rows (wrong,
    right) of these. What a twin says and the other does not is predicted at ``answer_at``; ``answer_turn`` says whose.
    What both say lies at ``said_by_both``. The answers of notes, which come last, are predicted at ``note_at``.
    """

    turns: tuple[Turn, ...]
    ids: Ints
    positions: Ints
    sequences: tuple[Ints, ...]
    text_at: Ints
    text_target: Ints
    text_weight: NDArray[np.float32]
    decide_at: Ints
    label: Ints
    weight: NDArray[np.float32]
    twins: Ints
    twin_weight: NDArray[np.float32]
    answer_at: Ints
    answer_target: Ints
    answer_turn: Ints
    said_by_both: Ints
    note_at: Ints
    note_target: Ints


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


def own_tokens(examples: Examples, unit: Sequence[Turn]) -> int:
    """Tokens a unit adds to a batch: the preamble lies there already, and what twins share is counted once."""
    shared = int(examples.common[unit[0].index])
    return shared - examples.preamble + sum(length(examples, turn) - shared for turn in unit)


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
    batch: list[Turn] = []
    room = batch_tokens - examples.preamble
    for place, read in zip(order.tolist(), whole.tolist(), strict=True):
        loss_weight = float(heaviness[place] ** (1 - balance))
        turns = [Turn(index, read or examples.label[index] != ERROR, loss_weight) for index in all_units[place]]
        needed = own_tokens(examples, turns)
        if needed > batch_tokens - examples.preamble:
            raise UserError(
                f"example {turns[0].index} needs {needed + examples.preamble} tokens, and a batch has {batch_tokens}",
                "raise batch_tokens in the recipe",
            )
        if needed > room:
            yield batch
            batch, room = [], batch_tokens - examples.preamble
        batch += turns
        room -= needed
    if batch:
        yield batch


def in_order(examples: Examples, chosen: Sequence[int], batch_tokens: int) -> Iterator[list[Turn]]:
    """Batches for evaluation: the chosen examples up to their decisions, those of like length together."""
    decided, shared = examples.decided, examples.preamble
    batch: list[Turn] = []
    room = batch_tokens - shared
    for index in sorted(chosen, key=lambda index: (int(decided[index]), index)):
        if decided[index] - shared > room:
            yield batch
            batch, room = [], batch_tokens - shared
        batch.append(Turn(index, False, 1.0))
        room -= int(decided[index]) - shared
    if batch:
        yield batch


def pack(examples: Examples, turns: Sequence[Turn], batch_tokens: int, notes: Iterable[int] = ()) -> Batch:
    """Lay the turns end to end and mark what is predicted where; notes take the room that is left."""
    ids = np.full(batch_tokens, examples.end, np.int64)
    positions = np.arange(batch_tokens, dtype=np.int64) % 64
    sequences: list[Ints] = []
    text: list[tuple[Ints, Ints, float]] = []
    answers = [(np.zeros(0, np.int64),) * 3]
    said_by_both = [np.zeros(0, np.int64)]
    at, last_index = 0, -1
    for turn in turns:
        tokens, taken = examples.tokens(turn.index), length(examples, turn)
        twins = last_index >= 0 and examples.twin[turn.index] == last_index
        shared = 0 if not sequences else int(examples.common[turn.index]) if twins else examples.preamble
        sequence = np.arange(at - shared, at - shared + taken)
        sequence[:shared] = sequences[-1][:shared] if shared else 0
        ids[sequence[shared:]] = tokens[shared:taken]
        positions[sequence[shared:]] = np.arange(shared, taken)
        prompt, decided = int(examples.prompt[turn.index]), int(examples.decided[turn.index])
        end = len(tokens) if turn.whole else decided + 1
        text.append((sequence[prompt - 1 : end - 1], tokens[prompt:end].astype(np.int64), turn.weight))
        if examples.twin[turn.index] >= 0:
            own = max(1, int(examples.common[turn.index]))  # nothing stands before a first token to predict it
            said = tokens[own:prompt].astype(np.int64)
            answers.append((sequence[own - 1 : prompt - 1], said, np.full(len(said), len(sequences), np.int64)))
        if twins:
            said_by_both.append(sequence[examples.preamble : shared])
        sequences.append(sequence)
        at, last_index = at + taken - shared, turn.index
    decide_at = np.array(
        [sequence[examples.decided[turn.index] - 1] for sequence, turn in zip(sequences, turns, strict=True)], np.int64
    )
    rows = {turn.index: row for row, turn in enumerate(turns)}
    pairs = [
        (row, rows[int(examples.twin[turn.index])])
        for row, turn in enumerate(turns)
        if examples.label[turn.index] == ERROR and int(examples.twin[turn.index]) in rows
    ]
    noted = lay(examples.notes, notes, ids, positions, at)
    weights = np.array([turn.weight for turn in turns], np.float32)
    answer_at, answer_target, answer_turn = (np.concatenate(part) for part in zip(*answers, strict=True))
    twins = np.array(pairs, np.int64).reshape(-1, 2)
    return Batch(
        turns=tuple(turns),
        ids=ids,
        positions=positions,
        sequences=(*sequences, *noted.sequences),
        text_at=np.concatenate([places for places, _, _ in text]),
        text_target=np.concatenate([targets for _, targets, _ in text]),
        text_weight=np.concatenate([np.full(len(places), weight, np.float32) for places, _, weight in text]),
        decide_at=decide_at,
        label=examples.label[[turn.index for turn in turns]].astype(np.int64),
        weight=weights,
        twins=twins,
        twin_weight=weights[twins[:, 0]],
        answer_at=answer_at,
        answer_target=answer_target,
        answer_turn=answer_turn,
        said_by_both=np.concatenate(said_by_both),
        note_at=noted.at,
        note_target=noted.target,
    )
