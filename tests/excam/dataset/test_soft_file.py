from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from excam.dataset.generator import GenerationFailure
from excam.dataset.item import Item, Task
from excam.dataset.soft_file import SoftTwins, make_soft, pending, read_soft, write_soft
from excam.fault import UserError
from excam.report import ErrorReport, parse_report

MakeItem = Callable[..., Item]


class Scripted:
    """A model that finds one word in each prompt's text and writes another, as a strong model was seen to do."""

    name = "scripted"

    def generate(self, prompts: Sequence[str]) -> list[str | GenerationFailure]:
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: str) -> str | GenerationFailure:
        if "Unanswered" in prompt:
            return GenerationFailure("HTTP 503")
        instruction = prompt.split("Instruction: ")[1].split("\nGenerated Text: ")[0]
        output = prompt.split("\nGenerated Text: ")[1].split("\nFollow these rules:")[0]
        fields = {
            "Error Type": "incorrect information", "Cultural Content": "Yes", "Rule Adherence": "One word.",
            "Explanation": "Ceviche is made with fish.",
            "Severity": "minor" if "should be minor" in prompt else "major",
            "Modified Instruction": instruction, "Modified Generated Text": output.replace("fish", "lamb"),
        }  # fmt: skip
        return "OUTPUT: " + json.dumps(fields)


def _items(make_item: MakeItem) -> list[Item]:
    text = "Ceviche is raw fish that is cured in lime juice and eaten at noon."
    usual = {"task": Task.FREEFORM_QA, "options": (), "wrong": ()}
    return [
        make_item(item_id="calmqa:1", gold=text, **usual),
        make_item(item_id="calmqa:2", gold="Nothing here can be exchanged by this model.", **usual),
        make_item(item_id="calmqa:3", gold="Unanswered.", **usual),
    ]


def test_every_item_is_tried_once_minor_and_once_major(make_item: MakeItem) -> None:
    rows = list(make_soft(_items(make_item), Scripted(), 0))
    assert [(row.item_id, row.severity, row.outcome) for row in rows] == [
        ("calmqa:1", "minor", "valid"), ("calmqa:1", "major", "valid"), ("calmqa:2", "minor", "unchanged"),
        ("calmqa:2", "major", "unchanged"), ("calmqa:3", "minor", "no_answer"), ("calmqa:3", "major", "no_answer"),
    ]  # fmt: skip
    report = parse_report(rows[0].report or "")
    assert isinstance(report, ErrorReport)
    assert [error.span for error in report.errors or ()] == ["lamb"]


def test_a_stopped_run_goes_on_with_what_is_left(make_item: MakeItem, tmp_path: Path) -> None:
    items = _items(make_item)
    write_soft(tmp_path, make_soft(items[:1], Scripted(), 0))
    left = pending(items, read_soft(tmp_path), "scripted", None, 0)
    assert {item.item_id for item in left} == {"calmqa:2", "calmqa:3"}
    write_soft(tmp_path, make_soft(left, Scripted(), 0))
    assert len(read_soft(tmp_path)) == 6
    assert pending(items, read_soft(tmp_path), "scripted", None, 0) == []
    assert len(pending(items, read_soft(tmp_path), "another model", 2, 0)) == 2


def test_two_runs_of_one_model_give_an_item_two_pairs_of_twins(make_item: MakeItem) -> None:
    item = _items(make_item)[0]
    rows = [row for seed in (0, 1) for row in make_soft([item], Scripted(), seed)]
    samples = list(SoftTwins([*rows, *rows], [item]).twins([item]))
    assert Counter((sample.twin_id, sample.label) for sample in samples).most_common(1)[0][1] == 1
    assert len(samples) == 8


@pytest.mark.parametrize("change", [{"gold": "Ceviche is fried fish."}, {"question": "What is never eaten?"}])
def test_what_was_written_for_a_record_that_is_another_now_is_not_used_and_the_new_one_is_still_to_be_tried(
    make_item: MakeItem, change: dict[str, str]
) -> None:
    """A source that was corrected keeps the ids of its records: the correct twin would say what no longer is."""
    item = _items(make_item)[0]
    rows = list(make_soft([item], Scripted(), 0))
    now = item.model_copy(update=change)
    found = SoftTwins(rows, [now])
    assert list(found.twins([now])) == []
    assert found.outcomes == {("scripted", "minor", "no_such_item"): 1, ("scripted", "major", "no_such_item"): 1}
    assert pending([now], rows, "scripted", None, 0) == [now]


class Away:
    """A server that is not there, or busy all the time."""

    name = "away"

    def generate(self, prompts: Sequence[str]) -> list[str | GenerationFailure]:
        return [GenerationFailure("ConnectionRefusedError", unreachable=True) for _ in prompts]


def test_items_that_no_server_saw_are_still_to_be_tried(make_item: MakeItem) -> None:
    with pytest.raises(UserError, match="answered none of 6 prompts"):
        list(make_soft(_items(make_item), Away(), 0))


def test_an_item_that_a_busy_server_did_not_come_to_is_still_to_be_tried(make_item: MakeItem, tmp_path: Path) -> None:
    class Busy(Scripted):
        def generate(self, prompts: Sequence[str]) -> list[str | GenerationFailure]:
            return [*super().generate(prompts[:-1]), GenerationFailure("HTTP 429", unreachable=True)]

    items = _items(make_item)
    write_soft(tmp_path, make_soft(items, Busy(), 0))
    assert pending(items, read_soft(tmp_path), "scripted", None, 0) == items[-1:]
    assert len(read_soft(tmp_path)) == 4, "a major try without its minor one is none"


def test_a_file_taken_away_makes_no_other_be_overwritten(make_item: MakeItem, tmp_path: Path) -> None:
    first, second, third = (write_soft(tmp_path, make_soft([item], Scripted(), 0)) for item in _items(make_item))
    first.unlink()
    again = write_soft(tmp_path, make_soft(_items(make_item)[:1], Scripted(), 0))
    assert sorted(path.name for path in tmp_path.iterdir()) == [second.name, third.name, again.name]
    assert len(read_soft(tmp_path)) == 6


def test_a_file_of_something_else_is_a_mistake_with_a_fix(tmp_path: Path) -> None:
    pq.write_table(pa.table({"item_id": ["x"]}), tmp_path / "other.parquet")
    with pytest.raises(UserError, match="are missing"):
        read_soft(tmp_path)
    with pytest.raises(UserError, match="no file or folder"):
        read_soft(tmp_path / "nowhere")
