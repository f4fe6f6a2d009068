"""Hard errors: a wrong answer the source itself knows, beside the right one, in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from excam.dataset.balance import Choice
from excam.dataset.draw import Deck, fingerprint
from excam.dataset.item import Item, Task
from excam.dataset.sample import Origin, Sample, make_sample
from excam.dataset.templates.explanation import ErrorKind, explain, kind_of
from excam.dataset.wordsmith import Wordsmith
from excam.report import CORRECT_REPORT, NOT_APPLICABLE_REPORT, CulturalError, ErrorReport, Location, Severity


def tasks_of(item: Item) -> tuple[Task, ...]:
    """The tasks an item is told in: a question with options is also asked without them."""
    return (Task.QA_OPTIONS, Task.FREEFORM_QA) if item.task is Task.QA_OPTIONS else (item.task,)


class HardErrors:
    """Makes twins of one source and split: the right answer with an empty report, the wrong one with its error."""

    def __init__(self, *key: object) -> None:
        self._words = Wordsmith(*key)
        self._key = key
        self._explanations: dict[ErrorKind, Deck[str]] = {}

    def _explain(self, item: Item, wrong: str) -> str:
        kind = kind_of(item)
        deck = self._explanations.setdefault(kind, Deck(kind.explanations, *self._key, "explanation", kind.type))
        return explain(deck.deal(), item, wrong)

    def twins(self, choice: Choice, tasks: Sequence[Task] | None = None) -> Iterator[Sample]:
        """The right and the wrong sample of a choice, for every task the item is told in."""
        item = choice.item
        for task in tasks or tasks_of(item):
            instruction, (right, wrong) = self._words.say(item, task, (item.gold, choice.wrong))
            error = CulturalError(
                severity=Severity.MAJOR,
                type=kind_of(item).type,
                location=Location.OUTPUT,
                span=wrong.answer,
                explanation=self._explain(item, choice.wrong),
            )
            twin = fingerprint(item.item_id, task, choice.wrong, choice.turn)
            yield make_sample(item, task, instruction, right.text, CORRECT_REPORT, twin_id=twin)
            yield make_sample(item, task, instruction, wrong.text, ErrorReport(errors=(error,)), Origin.HARD, twin)

    def ordinary(self, item: Item, wrong: str | None, task: Task) -> Iterator[Sample]:
        """What is not about culture, right and, where one is given, wrong: a wrong sum is no cultural error."""
        answers = (item.gold,) if wrong is None else (item.gold, wrong)
        instruction, written = self._words.say(item, task, answers)
        for one in written:
            yield make_sample(item, task, instruction, one.text, NOT_APPLICABLE_REPORT)
