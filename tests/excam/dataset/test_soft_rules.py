from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from excam.dataset.item import Item, Task
from excam.dataset.soft_rules import RuleErrors, swaps
from excam.report import ErrorReport, Severity, parse_report
from excam.span import locate

MakeItem = Callable[..., Item]


def _german(make_item: MakeItem, **changes: object) -> Item:
    usual: dict[str, object] = {
        "source": "calmqa", "task": Task.FREEFORM_QA, "language": "de", "country": "DE", "options": (), "wrong": (),
        "question": "Warum trinkt man in Deutschland so viel Apfelschorle?",
        "gold": "In Deutschland gilt sie als leicht und gesund, und fast jedes deutsche Gasthaus bietet sie an.",
    }  # fmt: skip
    return make_item(**usual | changes)


def test_a_text_gets_one_near_and_one_far_swap(make_item: MakeItem) -> None:
    found = swaps(_german(make_item), 1)
    assert {swap.severity for swap in found} == {Severity.MINOR, Severity.MAJOR}
    for swap in found:
        assert swap.wrong == swap.right[: swap.start] + swap.span + swap.right[swap.start + len(swap.before) :]
        assert swap.wrong.count(swap.span) == 1


def test_a_text_that_names_its_country_only_once_is_left_alone(make_item: MakeItem) -> None:
    item = _german(make_item, question="Warum ist Schorle beliebt?", gold="In Deutschland gilt sie als gesund.")
    assert swaps(item, 1) == []


def test_another_country_is_never_one_that_the_text_already_names(make_item: MakeItem) -> None:
    item = _german(
        make_item, gold="In Deutschland trinkt man sie, in Österreich und Frankreich kaum; Deutschland liebt sie."
    )
    for key in range(30):
        assert not {swap.other for swap in swaps(item, key)} & {"AT", "FR", "DE"}


def test_the_country_of_others_in_a_text_is_not_touched(make_item: MakeItem) -> None:
    item = _german(make_item, country="AT", gold="In Deutschland trinkt man sie, sagt man in Deutschland.")
    assert swaps(item, 1) == []


def test_a_language_without_a_lexicon_gives_nothing(make_item: MakeItem) -> None:
    assert swaps(_german(make_item, language="fo"), 1) == []


def test_twins_share_everything_but_the_entity(make_item: MakeItem) -> None:
    items = [_german(make_item, item_id=f"calmqa:{number}") for number in range(20)]
    samples = list(RuleErrors([]).twins(items, 1))
    assert Counter(sample.label for sample in samples) == {"correct": 40, "error": 40}
    for right, wrong in zip(samples[::2], samples[1::2], strict=True):
        report = parse_report(wrong.report)
        assert isinstance(report, ErrorReport)
        (error,) = report.errors or ()
        place = locate(error, wrong.instruction, wrong.output)
        assert place.how == "exact"
        assert right.instruction == wrong.instruction
        assert right.output[: place.start] == wrong.output[: place.start]
        assert (wrong.origin, wrong.severity) == ("soft-rule", error.severity.value)
        assert error.span in error.explanation or "confuses" in error.explanation


def test_normads_reasons_name_both_countries_in_both_twins(make_item: MakeItem) -> None:
    items = [
        make_item(
            item_id=f"normad:{number}", source="normad", task=Task.IMPERSONATION, gold="Yes", wrong=("No",), options=(),
            country="EG", explanation="Guests greet everyone.",
        )
        for number in range(80)
    ]  # fmt: skip
    samples = list(RuleErrors(["EG", "SD", "JP", "PE"]).twins(items, 1))
    assert 16 <= len(samples) <= 80
    for right, wrong in zip(samples[::2], samples[1::2], strict=True):
        assert sorted(re.findall(r"\w+", right.output)) == sorted(re.findall(r"\w+", wrong.output))
    severities = Counter(wrong.severity for wrong in samples[1::2])
    assert set(severities) == {"minor", "major"}
