"""Notes in a batch: they take the room that pairs leave, disturb none, and only their answers are to be learned."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from torch.nn import functional

from excam.dataset.atlas import FACTS, choices
from excam.dataset.atlas.notes import Note
from excam.dataset.sample import Origin, make_sample, to_table
from excam.fault import UserError
from excam.models import load_tokenizer, resolve
from excam.report import CORRECT_REPORT
from tests.train.conftest import DECISIONS, tiny_model, toy_examples
from train import lora
from train.batches import epoch, pack
from train.examples import Examples
from train.loop import Run, Trainer
from train.model import prepare
from train.notes import Notes
from train.recipe import Recipe
from train.selection import without
from train.step import OnDevice, Weights, losses, total
from train.terms import Disk, hold_to, terms_of
from train.tokenise import tokenise

CPU, TOKENS = torch.device("cpu"), 256
TEXTS = (
    Note("tea", (("AB", "cd"), ("EF", "g"))),
    Note("bread", (("HIJ", "kl"),)),
    Note("rice", (("MN", "opqr"), ("S", "tu"), ("V", "w"))),
)
GROUPS = {"tea": 0, "bread": 1, "rice": 2}


def letters(texts: list[str], add_special_tokens: bool) -> dict[str, list[list[int]]]:
    """A tokenizer of one token a letter, all of them words of the toy world."""
    assert not add_special_tokens
    return {"input_ids": [[20 + ord(letter) % 32 for letter in text] for text in texts]}


@pytest.fixture
def noted() -> Examples:
    return replace(toy_examples(120), notes=Notes.of(TEXTS, GROUPS, letters))


def batch_of(examples: Examples, order: list[int]) -> Any:
    turns = next(epoch(examples, seed=0, number=0, batch_tokens=200, balance=0.5, report_share=0.5))
    return pack(examples, turns, TOKENS, order)


def test_a_note_is_spelled_whole_and_its_answers_are_marked(noted: Examples) -> None:
    notes = noted.notes
    assert len(notes) == 3
    for number, text in enumerate(TEXTS):
        here = slice(notes.starts[number], notes.starts[number + 1])
        whole = "".join(asked + answer for asked, answer in text.said)
        assert notes.ids[here].tolist() == letters([whole], add_special_tokens=False)["input_ids"][0]
        assert notes.said[here].tolist() == [letter.islower() for letter in whole]
    assert notes.group.tolist() == [0, 1, 2]


def test_notes_change_nothing_about_the_pairs_beside_them(noted: Examples) -> None:
    model, alone, beside = tiny_model().eval(), batch_of(noted, []), batch_of(noted, [2, 0, 1])
    assert len(beside.sequences) == len(alone.sequences) + 3
    found = [losses(model, OnDevice.of(batch, CPU), torch.tensor(DECISIONS), text=True) for batch in (alone, beside)]
    assert found[1].keys() - found[0].keys() == {"notes"}
    for name, part in found[0].items():
        torch.testing.assert_close(found[1][name], part, atol=1e-5, rtol=1e-4)


def test_their_loss_is_that_of_their_answers_read_alone(noted: Examples) -> None:
    model, notes = tiny_model().eval(), noted.notes
    parts = losses(model, OnDevice.of(batch_of(noted, [1, 2]), CPU), torch.tensor(DECISIONS), text=True)
    model.set_attn_implementation("sdpa")
    each = []
    for number in (1, 2):
        ids = torch.from_numpy(notes.ids[notes.starts[number] : notes.starts[number + 1]].astype(np.int64))
        said = torch.from_numpy(notes.said[notes.starts[number] : notes.starts[number + 1]])
        logits = model(ids[None]).logits[0, :-1]
        each.append(functional.cross_entropy(logits, ids[1:], reduction="none")[said[1:]])
    torch.testing.assert_close(parts["notes"], torch.cat(each).mean(), atol=1e-5, rtol=1e-4)
    weights = Weights(1.0, 1.0, 0.5, notes=2.0)
    rest = total({name: part for name, part in parts.items() if name != "notes"}, weights)
    torch.testing.assert_close(total(parts, weights), rest + 2 * parts["notes"])


def test_they_stop_where_the_row_is_full(noted: Examples) -> None:
    full = batch_of(noted, [2, 0, 1] * 40)
    used = np.unique(np.concatenate(full.sequences))
    assert used.tolist() == list(range(len(used)))
    assert TOKENS - len(used) < max(np.diff(noted.notes.starts))


def trainer(noted: Examples, out: Path) -> Trainer:
    recipe = Recipe(rank=4, batch_tokens=TOKENS, notes_share=0.4, learning_rate=1e-2, warmup_steps=2, compile=False)
    model = prepare(tiny_model(), recipe)
    return Trainer(model, noted, toy_examples(40, 9), recipe, Run(out, max_steps=4))


def test_a_run_gives_them_their_share_of_every_batch(noted: Examples, tmp_path: Path) -> None:
    run = trainer(noted, tmp_path)
    for where, turns in itertools.islice(run._turns(), 3):
        batch = run._pack(where, turns)
        pairs = np.unique(np.concatenate(batch.sequences[: len(turns)]))
        assert len(pairs) <= 0.6 * TOKENS
        assert len(batch.note_at) > 0


def test_an_interrupted_run_reads_the_same_ones(noted: Examples, tmp_path: Path) -> None:
    def ended(name: str, *stops: int) -> torch.Tensor:
        for stop in (*stops, 99):
            run = trainer(noted, tmp_path / name)
            run.train(lambda step, stop=stop: step >= stop)  # type: ignore[misc]
        return torch.cat([one.detach().flatten() for one in lora.parameters(run.model).values()])

    assert torch.equal(ended("halves", 2), ended("whole"))


def test_notes_without_which_a_share_of_them_cannot_be_read(tmp_path: Path) -> None:
    recipe = Recipe(rank=4, batch_tokens=TOKENS, notes_share=0.4, compile=False)
    with pytest.raises(UserError, match="no notes") as fault:
        Trainer(prepare(tiny_model(), recipe), toy_examples(60), toy_examples(10), recipe, Run(tmp_path))
    assert "--atlas" in fault.value.fix


def test_notes_go_with_the_questions_that_are_left_out(noted: Examples) -> None:
    named = replace(noted, source=(noted.group == 0).astype(np.int16))
    left = without(named, frozenset({"ordinary"})).notes
    assert left.group.tolist() == [1, 2]
    assert left.ids.tolist() == noted.notes.ids[noted.notes.starts[1] :].tolist()
    assert left.starts.tolist() == (noted.notes.starts[1:] - noted.notes.starts[1]).tolist()


def test_a_file_of_tokens_keeps_them(noted: Examples, tmp_path: Path) -> None:
    noted.save(tmp_path / "t.npz")
    again = Examples.load(tmp_path / "t.npz").notes
    for name, part in vars(noted.notes).items():
        np.testing.assert_array_equal(getattr(again, name), part)


def test_a_run_does_not_go_on_with_other_notes(noted: Examples, tmp_path: Path) -> None:
    recipe, run, folder = Recipe(notes_share=0.4), Run(tmp_path), Disk(tmp_path)
    hold_to(terms_of(recipe, run, noted, "base", 1), folder, begun=False)
    hold_to(terms_of(recipe, run, noted, "base", 1), folder, begun=True)
    corrected = replace(noted, notes=Notes.of(TEXTS[:2], GROUPS, letters))
    with pytest.raises(UserError, match="began with notes"):
        hold_to(terms_of(recipe, run, corrected, "base", 1), folder, begun=True)


def test_a_split_with_questions_of_the_atlas_is_tokenised_with_notes_on_them_alone(tmp_path: Path) -> None:
    item = next(choices.read_customs(FACTS / "customs"))
    others = [item.model_copy(update={"item_id": "b", "group": "b", "source": "blend"})]
    rows = [make_sample(one, one.task, one.question, one.gold, CORRECT_REPORT, Origin.NONE) for one in (item, *others)]
    pq.write_table(to_table(rows), tmp_path / "train.parquet")
    model = resolve("smollm2-135m").path
    found = tokenise(tmp_path / "train.parquet", model)
    said = load_tokenizer(model).decode(found.notes.ids[: found.notes.starts[1]])
    assert said == f"{item.question} {item.gold}."
    assert set(found.notes.group.tolist()) == {int(found.group[0])} != {int(found.group[1])}
