"""Facts as plain text that fills part of each batch: a judge tells right from wrong where it knows what is right."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from excam.dataset.atlas.notes import Note

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Notes:
    """Notes end to end: note ``i`` is ``ids[starts[i]:starts[i + 1]]``, and ``said`` marks what is an answer in it.

    ``group[i]`` is the question it is about, by the number that the examples' groups have.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    said: NDArray[np.bool_]
    group: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.group)

    @classmethod
    def none(cls) -> Notes:
        return cls(np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0, np.bool_), np.zeros(0, np.int32))

    @classmethod
    def of(cls, notes: Sequence[Note], groups: Mapping[str, int], tokenizer: Any) -> Notes:
        """Notes as the token ids of a base."""
        if not notes:
            return cls.none()
        parts = [part for note in notes for turn in note.said for part in turn]
        pieces = tokenizer(parts, add_special_tokens=False)["input_ids"]
        lengths = np.array([len(piece) for piece in pieces])
        ends = np.cumsum([2 * len(note.said) for note in notes])
        return cls(
            ids=np.concatenate([np.array(piece, np.int32) for piece in pieces]),
            starts=np.concatenate([[0], np.cumsum(lengths)[ends - 1]]).astype(np.int64),
            said=np.repeat(np.arange(len(pieces)) % 2 == 1, lengths),
            group=np.array([groups[note.group] for note in notes], np.int32),
        )

    @property
    def sha256(self) -> str:
        """Of what they say and ask: the facts are part of the code, so the same pairs may come with other notes."""
        return hashlib.sha256(self.ids.tobytes() + self.starts.tobytes() + self.said.tobytes()).hexdigest()

    def about(self, groups: NDArray[np.int32]) -> Notes:
        """Those about these questions."""
        kept = np.isin(self.group, groups)
        lengths = np.diff(self.starts)
        tokens = np.repeat(kept, lengths)
        return Notes(
            self.ids[tokens], np.cumsum([0, *lengths[kept]], dtype=np.int64), self.said[tokens], self.group[kept]
        )

    def drawn(self, *seed: int) -> Iterator[int]:
        """Notes in an order of their own for this seed, each once."""
        yield from np.random.default_rng(seed).permutation(len(self)).tolist()


@dataclass(frozen=True)
class Laid:
    """Notes in the row of a batch: where their tokens lie, and what is predicted at which place."""

    sequences: tuple[Ints, ...]
    at: Ints
    target: Ints


def lay(notes: Notes, order: Iterable[int], ids: Ints, positions: Ints, start: int) -> Laid:
    """Fill the row from ``start`` on with notes in this order, up to the first that has no room."""
    sequences, places, targets = [], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number in order:
        begin, end = notes.starts[number : number + 2]
        sequence = np.arange(start, start + end - begin)
        if start + len(sequence) > len(ids):
            break
        tokens, answers = notes.ids[begin:end], np.flatnonzero(notes.said[begin:end])
        ids[sequence], positions[sequence] = tokens, np.arange(len(sequence))
        sequences.append(sequence)
        places.append(sequence[answers - 1])
        targets.append(tokens[answers].astype(np.int64))
        start += len(sequence)
    return Laid(tuple(sequences), np.concatenate(places), np.concatenate(targets))
