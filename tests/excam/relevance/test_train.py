"""Training turns labelled pairs into a gate that knows the subject of a text and not its source or language."""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import islice

import numpy as np
import pytest

from excam.fault import UserError
from excam.relevance.evaluate import ALL, leave_one_out, rates
from excam.relevance.texts import Example, country_names, from_words, word_list
from excam.relevance.train import example_weights, fit, matrix, rarity, unseen_scores, with_threshold

CULTURE = "wedding festival temple prayer guest bride lantern dish feast elders bow incense".split()
WORK = "spreadsheet password refund invoice compile database server formula router printer login query".split()
FRAME = "please tell me about the {} and the {} of this"


def made(count: int, seed: int = 0) -> list[Example]:
    draw = random.Random(seed)
    found = []
    for number in range(count):
        cultural = number % 2 == 0
        first, second, third = draw.sample(CULTURE if cultural else WORK, 3)
        source = f"source {number % 4 // 2}"
        found.append(Example(FRAME.format(first, second), third, cultural, source, "en", group=f"{number}"))
    return found


LEARNT = made(400)


def test_a_gate_learns_the_kinds_apart() -> None:
    gate = fit(LEARNT)
    scores = gate.scores([("the lantern of the bride", "temple"), ("the printer of the server", "login")])
    assert scores[0] > 0.5
    assert scores[1] < -0.5


def test_training_twice_gives_the_same_gate() -> None:
    first, second = fit(LEARNT), fit(LEARNT)
    assert np.array_equal(first.weights, second.weights)
    assert (first.bias, first.scale) == (second.bias, second.scale)


def test_both_kinds_are_needed() -> None:
    with pytest.raises(UserError, match="both"):
        fit([example for example in LEARNT if example.cultural])


def test_a_threshold_needs_ordinary_pairs_of_the_dataset() -> None:
    words = [example if example.cultural else example._replace(group="") for example in LEARNT]
    with pytest.raises(UserError, match="no ordinary pair"):
        unseen_scores(words)


def test_words_that_stand_everywhere_are_not_trusted() -> None:
    trust = rarity(matrix(LEARNT), LEARNT)

    def of(word: str) -> float:
        return float(trust[matrix([Example(word, "", True, "", "")]).indices[0]])

    assert of("please") < 0.01
    assert of("wedding") > 0.1


def test_what_was_seen_in_a_single_text_is_not_learnt() -> None:
    once = Example("hapax legomenon", "", True, "source 0", "en")
    gate = fit([*LEARNT, once])
    assert gate.scores([once.pair])[0] == gate.bias


def test_kinds_languages_and_sources_are_evened_out() -> None:
    learnt = [Example("a", "", True, "large", "en")] * 90 + [Example("a", "", True, "small", "en")] * 10
    learnt += [Example("b", "", False, "other", "en")] * 16 + [Example("b", "", False, "other", "fr")] * 4
    weight: dict[tuple[bool, str, str], float] = defaultdict(float)
    for example, value in zip(learnt, example_weights(learnt), strict=True):
        weight[example.cultural, example.language, example.source] += value
    assert weight[True, "en", "large"] == pytest.approx(weight[True, "en", "small"])
    assert weight[False, "en", "other"] > weight[False, "fr", "other"] > 0.1 * weight[False, "en", "other"]
    assert sum(weight.values()) == pytest.approx(len(learnt))
    assert weight[True, "en", "large"] + weight[True, "en", "small"] == pytest.approx(len(learnt) / 2)


def test_the_threshold_stops_the_share_asked_for_and_never_the_unknown() -> None:
    gate = fit(LEARNT)
    ordinary = gate.scores(example.pair for example in LEARNT if not example.cultural)
    careful = with_threshold(gate, ordinary, stop=0.8)
    stopped = gate.probabilities(example.pair for example in LEARNT if not example.cultural) < careful.threshold
    assert stopped.mean() == pytest.approx(0.8, abs=0.02)
    eager = with_threshold(gate, np.full(10, 50.0), stop=0.9)
    assert eager.probabilities([("", "")])[0] >= eager.threshold


def test_the_scores_for_the_threshold_come_from_gates_that_did_not_see_the_group() -> None:
    odd = [Example("klimbim tralala", "", False, "source 0", "en", f"odd {number // 10}") for number in range(10)]
    gate = fit([*LEARNT, *odd])
    assert gate.scores([odd[0].pair])[0] < gate.bias - 0.5
    unseen = unseen_scores([*LEARNT, *odd])
    assert len(unseen) == 210
    assert np.sum(np.abs(unseen - gate.bias) < 0.5) == 10  # a group that was never seen scores what the unknown does


def test_rates_count_what_passes_and_what_stops_by_source() -> None:
    gate = with_threshold(fit(LEARNT), np.array([0.0]))
    test = [*made(40, seed=1), Example("the festival", "feast", False, "wrong", "en")]
    found = {(rate.source, rate.cultural): (rate.right, rate.total) for rate in rates(gate, test)}
    assert found[ALL, True] == (20, 20)
    assert found[ALL, False] == (20, 21)
    assert found["wrong", False] == (0, 1)
    low, high = rates(gate, test)[0].interval
    assert low < 1 <= high


def test_leaving_one_out_measures_each_source_by_a_gate_without_it() -> None:
    only = [Example("klimbim tralala", "", True, "odd", "en", f"odd {number}") for number in range(20)]
    gate = with_threshold(fit(LEARNT), np.array([1.0]))
    found = [rate for part in leave_one_out(gate, [*LEARNT, *only], [*LEARNT, *only]) for rate in part]
    assert [(rate.source, rate.cultural, rate.total) for rate in found] == [
        ("odd", True, 20),
        ("source 0", True, 100),
        ("source 0", False, 100),
        ("source 1", True, 100),
        ("source 1", False, 100),
    ]
    assert found[1].right == found[1].total


def test_the_word_list_has_both_kinds_in_every_language_and_no_word_in_both() -> None:
    assert len(word_list()) >= 20
    for language, kinds in word_list().items():
        assert len(kinds[True]) >= 50, language
        assert len(kinds[False]) >= 80, language
        assert not set(kinds[True]) & set(kinds[False]), language
        assert all(word and word == word.strip() for words in kinds.values() for word in words), language


def test_texts_of_words_come_in_both_kinds_the_same_every_time() -> None:
    texts = list(from_words(3))
    assert texts == list(from_words(3))
    assert texts[:100] != list(islice(from_words(4), 100))
    assert sum(text.cultural for text in texts) * 2 == len(texts)
    names = set(country_names("de"))
    named = [text for text in texts if text.language == "de" and any(name in text.instruction for name in names)]
    assert sum(text.cultural for text in named) > 5 * sum(not text.cultural for text in named)
