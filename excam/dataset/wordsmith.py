"""Puts items into words: draws one wording for an instruction and its outputs, evenly over all wordings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from excam.dataset.draw import Deck, fingerprint, shuffled
from excam.dataset.item import Item, Task
from excam.dataset.templates import TaskTemplates, Wording, Written, all_templates

SHOWN_OPTIONS = 4
_TRIES = 80
# Options that speak of other options ("A and B", "all of the above") keep the order they were written in.
_REFERS = re.compile(
    r"^\s*\(?[A-EА-Д]\)?(\s*[,&]\s*|\s+(and|or|и|i|e|y|ve|dan|und|et)\s+)\(?[A-EА-Д]\)?\.?\s*$"
    r"|\b(above|below|preceding|previous|anteriores|precedenti|précédentes|yukarıdaki)",
    re.IGNORECASE,
)


class Wordsmith:
    """The wordings of one source and split; twins get theirs in one draw, so that no wording can tell them apart.

    A quarter of the English instructions and outputs stay as they are, without any wrapper, because production
    traffic has none; half of those in other languages do, because an English wrapper around them is rarer still.
    """

    def __init__(self, *key: object) -> None:
        self._key = key
        self._templates = all_templates()
        self._instructions = self._decks(lambda one: one.instructions, "instruction")
        self._outputs = self._decks(lambda one: one.outputs, "output")
        self._layouts = self._decks(lambda one: one.layouts, "layout")
        self._bare: dict[tuple[str, bool], Deck[bool]] = {}
        self._with_options = Deck((True, False), *key, "with options")

    def _decks(self, cards: Callable[[TaskTemplates], Sequence[str]], name: str) -> dict[Task, Deck[str]]:
        return {task: Deck(cards(one), *self._key, task, name) for task, one in self._templates.items()}

    def _is_bare(self, part: str, item: Item) -> bool:
        english = item.language == "en"
        if (part, english) not in self._bare:
            cards = (True, False, False, False) if english else (True, False)
            self._bare[part, english] = Deck(cards, *self._key, "bare", part, english)
        return self._bare[part, english].deal()

    def say(self, item: Item, task: Task, answers: Sequence[str]) -> tuple[str, list[Written]]:
        """The instruction of ``item`` and each of ``answers`` as its output, all in one wording."""
        templates = self._templates[task]
        options = self._options(item, task, answers)
        bare_instruction, bare_output = self._is_bare("instruction", item), self._is_bare("output", item)
        layout = self._layouts[task].deal()
        instruction = templates.plain.instruction if bare_instruction else self._instructions[task].deal()
        asked = templates.instruct(item, options, Wording(instruction, templates.plain.output, layout))
        if bare_output:
            return asked, _written(templates, Wording(instruction, templates.plain.output, layout), options, answers)
        for _ in range(_TRIES):
            found = _written(templates, Wording(instruction, self._outputs[task].deal(), layout), options, answers)
            # The span is found again by looking for its words: they must not stand in the wrapper before it.
            if all(one.text.find(one.answer) == one.start for one in found):
                break
        return asked, found

    def _options(self, item: Item, task: Task, answers: Sequence[str]) -> tuple[str, ...]:
        if task is Task.IMPERSONATION:
            listed = all(answer in item.options for answer in answers)
            return item.options if listed and self._with_options.deal() else ()
        if task is not Task.QA_OPTIONS:
            return ()
        shown = list(dict.fromkeys(item.options))
        if not shown or any(answer not in shown for answer in answers):
            others = [wrong for wrong in dict.fromkeys(item.wrong) if wrong not in answers]
            others = shuffled(others, *self._key, "options", item.item_id, *answers)
            shown = list(dict.fromkeys((*answers, *others)))[:SHOWN_OPTIONS]
        elif any(_REFERS.search(option) for option in shown):
            return tuple(shown)
        return tuple(shuffled(shown, *self._key, "order", fingerprint(item.item_id, *answers)))


def _written(
    templates: TaskTemplates, wording: Wording, options: tuple[str, ...], answers: Sequence[str]
) -> list[Written]:
    return [templates.write(answer, options, wording) for answer in answers]
