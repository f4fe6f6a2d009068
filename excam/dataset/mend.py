"""Traits of a source that give its labels away and are no part of what it asks: they are mended before use."""

from __future__ import annotations

import re

from excam.dataset.item import Item

_ACCEPTABLE = re.compile(r"\b(?:socially )?(?:acceptable|okay|appropriate)(?=\W*$)", re.IGNORECASE)


def mend(item: Item) -> Item:
    """NormAd's writers closed acceptable stories with "socially acceptable?" and others with "acceptable?" in 19 of 20
    cases: a judge that reads the last two words of the story would score 0.9 and know no etiquette."""
    if item.source != "normad":
        return item
    return item.model_copy(update={"question": _ACCEPTABLE.sub("acceptable", item.question.rstrip())})
