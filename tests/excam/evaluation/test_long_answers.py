from __future__ import annotations

import math
from typing import Any

import pytest

from excam.evaluation.asked import Answer, Asked
from excam.evaluation.long_answers import calmqa, score_all
from excam.fault import UserError

QUESTION = "Why do people in Germany separate their rubbish so carefully into many different bins?"
GOOD = "Because the law asks for it, and because most people there believe that recycling helps the environment."
GERMAN = "Weil das Gesetz es verlangt und weil die meisten Menschen dort glauben, dass es der Umwelt hilft."
REPEATED = "the law asks every household in the whole country to sort glass, paper, metal and tins very well. " * 6


def _asked(number: int, **changes: object) -> Asked:
    return Asked.model_validate({"question_id": str(number), "question": QUESTION, "language": "en", **changes})


def _answers(*texts: str) -> list[tuple[Asked, Answer]]:
    return [(_asked(number), Answer(question_id=str(number), answer=text)) for number, text in enumerate(texts)]


def test_s_is_the_product_and_faults_of_the_surface_make_it_zero() -> None:
    asked: list[str] = []

    def factual(question: str, answer: str) -> float:
        asked.append(answer)
        return 0.5

    scored = score_all(_answers(GOOD, GERMAN, REPEATED), factual, lambda question, answer: 1.0)
    assert [one.score for one in scored] == [0.5, 0.0, 0.0]
    assert asked == [GOOD], "an answer with a surface fault is not worth a scorer's time"
    found = calmqa(scored)
    assert found.wrong_language == pytest.approx(1 / 3)
    assert found.repetition == pytest.approx(1 / 3)
    assert found.sound == pytest.approx(1 / 3)
    assert (found.factual, found.relevant) == (0.5, 1.0)
    assert found.score == pytest.approx(0.5 / 3)


def test_scores_in_the_file_stand_before_scorers() -> None:
    answer = Answer(question_id="1", answer=GOOD, factual=0.8, relevant=0.5)
    assert score_all([(_asked(1), answer)])[0].score == pytest.approx(0.4)


def test_an_answer_that_nothing_scores_is_named_with_the_way_to_mend_it() -> None:
    with pytest.raises(UserError, match="how factual the answer to 0 is") as caught:
        score_all(_answers(GOOD))
    assert "--factual" in caught.value.fix
    for said in (3.0, math.nan, None, "1"):
        scorer: Any = lambda question, answer, said=said: said  # noqa: E731
        with pytest.raises(UserError, match=f"relevant scorer said {said}"):
            score_all(_answers(GOOD), lambda question, answer: 1.0, scorer)


def test_languages_that_cannot_be_identified_are_left_out() -> None:
    kirundi = (_asked(1, language="rn"), Answer(question_id="1", answer="Ego"))
    assert score_all([kirundi]) == []
    assert math.isnan(calmqa([]).score)
