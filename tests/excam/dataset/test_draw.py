from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.draw import Deck, fingerprint, shuffled, stream


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(0, 200))
def test_a_deck_deals_every_card_about_equally_often(cards: int, deals: int) -> None:
    deck = Deck(range(cards), "seed")
    counts = Counter(deck.deal() for _ in range(deals))
    assert max(counts.values(), default=0) - min((counts[card] for card in range(cards)), default=0) <= 1


def test_the_same_key_draws_the_same_and_another_key_another() -> None:
    assert stream(1, "a").random() == stream(1, "a").random()
    assert shuffled(range(50), 1) == shuffled(range(50), 1)
    assert shuffled(range(50), 1) != shuffled(range(50), 2)


def test_draws_are_the_same_on_every_machine() -> None:
    assert fingerprint("item", 7) == "9dffdba842ae921c"
    assert shuffled("abcdef", 0) == list("debfac")


@settings(deadline=None)
@given(st.text(), st.text())
def test_parts_of_a_key_do_not_run_together(one: str, other: str) -> None:
    if "\x1f" not in one + other:
        assert fingerprint(one + "x", other) != fingerprint(one, "x" + other)
