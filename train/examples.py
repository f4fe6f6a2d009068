"""Dataset rows as token ids, made once: the host that trains needs neither the tokenizer nor the text."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from excam.decision import DecisionTokens
from excam.fault import UserError
from excam.prompt import PromptRenderer
from excam.report import Status
from train.notes import Notes

if TYPE_CHECKING:
    from excam.dataset.atlas.notes import Note

LABELS = ("correct", "error", "not_applicable")
CORRECT, ERROR, NOT_APPLICABLE = range(3)
UNREADABLE = (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error)
"""What numpy raises on a file of arrays that is another, or cut short."""


@dataclass(frozen=True)
class Examples:
    """Prompts with their reports, end to end in one array.

    Example ``i`` is ``ids[starts[i]:starts[i + 1]]``; its first ``prompt[i]`` ids are the prompt, then comes the
    report: the opening that all share, the decision token, the rest. ``twin[i]`` is the other version of the same
    instruction, or -1. ``hard[i]`` says that the pair's error, or its twin's, is a wrong answer of the source;
    ``group[i]`` numbers the question, story or post that the pair is about. ``notes`` are facts to read beside them.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    prompt: NDArray[np.int32]
    label: NDArray[np.int8]
    twin: NDArray[np.int32]
    weight: NDArray[np.float32]
    source: NDArray[np.int16]
    hard: NDArray[np.bool_]
    group: NDArray[np.int32]
    sources: tuple[str, ...]
    opening: tuple[int, ...]
    decisions: tuple[int, int, int]
    end: int
    dataset: str = ""
    notes: Notes = field(default_factory=Notes.none)

    def __len__(self) -> int:
        return len(self.prompt)

    @cached_property
    def decided(self) -> NDArray[np.int64]:
        """How many tokens of each example stand before its decision token."""
        return self.prompt.astype(np.int64) + len(self.opening)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    @cached_property
    def preamble(self) -> int:
        """How many tokens all examples begin with: the judge's instructions."""
        if not len(self):
            return 0
        shortest = int(self.decided.min())
        first = self.ids[self.starts[:-1, None] + np.arange(shortest)]
        differs = np.flatnonzero((first != first[0]).any(0))
        return int(differs[0]) if len(differs) else shortest

    @cached_property
    def common(self) -> NDArray[np.int64]:
        """How many tokens each example begins with that its twin begins with too, else the preamble."""
        found = np.full(len(self), self.preamble, np.int64)
        for index, twin in enumerate(self.twin.tolist()):
            if index < twin:
                ours, theirs = self.tokens(index), self.tokens(twin)
                both = min(int(self.decided[index]), int(self.decided[twin]))
                differs = np.flatnonzero(ours[:both] != theirs[:both])
                found[[index, twin]] = differs[0] if len(differs) else both
        return found

    def tokens(self, index: int) -> NDArray[np.int32]:
        return self.ids[self.starts[index] : self.starts[index + 1]]

    def save(self, path: Path) -> None:
        facts = {name: getattr(self, name) for name in ("sources", "opening", "decisions", "end", "dataset")}
        arrays = {name: getattr(self, name) for name in ARRAYS}
        arrays |= {f"notes_{name}": getattr(self.notes, name) for name in NOTES}
        with path.open("wb") as file:
            np.savez_compressed(file, facts=np.frombuffer(json.dumps(facts).encode(), np.uint8), **arrays)

    @classmethod
    def load(cls, path: Path) -> Examples:
        try:
            with np.load(path, allow_pickle=False) as stored:
                facts = json.loads(stored["facts"].tobytes())
                arrays = {name: stored[name] for name in ARRAYS}
                notes = Notes(*(stored[f"notes_{name}"] for name in NOTES))
        except UNREADABLE as problem:
            raise UserError(
                f"{path} is no file of tokens: {problem}", "delete it, and make it anew with python -m train.tokenise"
            ) from None
        return cls(
            **arrays,
            sources=tuple(facts["sources"]),
            opening=tuple(facts["opening"]),
            decisions=(facts["decisions"][0], facts["decisions"][1], facts["decisions"][2]),
            end=facts["end"],
            dataset=facts["dataset"],
            notes=notes,
        )


ARRAYS = ("ids", "starts", "prompt", "label", "twin", "weight", "source", "hard", "group")
NOTES = ("ids", "starts", "said", "group")


@dataclass(frozen=True)
class Encoder:
    """Renders rows exactly as the judge does when it serves, and checks that each decision is one token.

    A prompt too long loses its middle, a report too long its tail and its end mark; neither can lose the decision.
    """

    tokenizer: Any
    max_prompt_tokens: int
    max_report_tokens: int

    def __post_init__(self) -> None:
        if self.max_report_tokens <= len(self.deciding.opening):
            raise ValueError(f"a report of {self.max_report_tokens} tokens cannot hold its decision")

    @cached_property
    def deciding(self) -> DecisionTokens:
        return DecisionTokens.of(self.tokenizer)

    @cached_property
    def decisions(self) -> tuple[int, int, int]:
        by_status = self.deciding.by_status
        return by_status[Status.CORRECT], by_status[Status.ERROR], by_status[Status.NOT_APPLICABLE]

    @cached_property
    def _renderer(self) -> PromptRenderer:
        return PromptRenderer(self.tokenizer, self.max_prompt_tokens)

    def __call__(self, row: Mapping[str, Any]) -> tuple[list[int], list[int]]:
        """The ids of a row's prompt and of its report."""
        depth, end = len(self.deciding.opening), int(self.tokenizer.eos_token_id)
        prompt = self._renderer.render(row["instruction"], row["output"]).token_ids
        report = [*self.tokenizer(row["report"], add_special_tokens=False)["input_ids"], end][: self.max_report_tokens]
        decision = self.decisions[LABELS.index(row["label"])]
        if tuple(report[:depth]) != self.deciding.opening or report[depth] != decision:
            raise UserError(
                f"sample {row.get('sample_id')}: its report does not begin with its decision",
                "build the split anew with `excam dataset build`",
            )
        return prompt, report


def assemble(
    rows: Sequence[Mapping[str, Any]],
    encoded: Iterable[tuple[list[int], list[int]]],
    encoder: Encoder,
    dataset: str = "",
    notes: Sequence[Note] = (),
) -> Examples:
    """Put encoded rows end to end, number their sources and find their twins; the notes lie beside them."""
    pairs = list(encoded)
    pieces = [np.array([*prompt, *report], np.int32) for prompt, report in pairs]
    label = [LABELS.index(row["label"]) for row in rows]
    sources = {source: number for number, source in enumerate(sorted({row["source"] for row in rows}))}
    twin = _twins([row["twin_id"] for row in rows], label)
    hard = np.array([row["origin"] == "hard" for row in rows], np.bool_)
    hard |= (twin >= 0) & hard[np.maximum(twin, 0)]
    group = np.unique([f"{row['source']} {row['group']}" for row in rows], return_inverse=True)[1].astype(np.int32)
    numbers = {row["group"]: number for row, number in zip(rows, group.tolist(), strict=True)}
    return Examples(
        ids=np.concatenate(pieces),
        starts=np.cumsum([0, *map(len, pieces)], dtype=np.int64),
        prompt=np.array([len(prompt) for prompt, _ in pairs], np.int32),
        label=np.array(label, np.int8),
        twin=twin,
        weight=np.array([row["weight"] for row in rows], np.float32),
        source=np.array([sources[row["source"]] for row in rows], np.int16),
        hard=hard,
        group=group,
        sources=tuple(sources),
        opening=encoder.deciding.opening,
        decisions=encoder.decisions,
        end=int(encoder.tokenizer.eos_token_id),
        dataset=dataset,
        notes=Notes.of(notes, numbers, encoder.tokenizer),
    )


def _twins(names: Sequence[str | None], labels: Sequence[int]) -> NDArray[np.int32]:
    """Each example's partner: of two with one name exactly one is an error; others count as having none."""
    members: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        if name is not None:
            members.setdefault(name, []).append(index)
    twin = np.full(len(names), -1, np.int32)
    for found in members.values():
        if len(found) == 2 and sorted(labels[index] for index in found) == [CORRECT, ERROR]:
            twin[found] = found[::-1]
    return twin
