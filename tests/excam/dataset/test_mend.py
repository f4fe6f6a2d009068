from __future__ import annotations

from collections.abc import Callable

from excam.dataset.item import Item
from excam.dataset.mend import mend

MakeItem = Callable[..., Item]


def test_the_closing_words_of_a_story_no_longer_tell_its_label(make_item: MakeItem) -> None:
    asked = (
        "Is what Tom did socially acceptable?",
        'He said: "Hi." Is what Tom did acceptable?  ',
        "Is what Tom did okay?",
    )
    found = {mend(make_item(source="normad", question=f"A story. {text}")).question[-26:] for text in asked}
    assert found == {"s what Tom did acceptable?"}


def test_words_inside_a_story_and_other_sources_stay_as_they_are(make_item: MakeItem) -> None:
    story = "It was socially acceptable to wait. Is what Tom did acceptable?"
    assert mend(make_item(source="normad", question=story)).question == story
    item = make_item(question="Is it socially acceptable?")
    assert mend(item) == item
