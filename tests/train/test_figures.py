"""Figures checked against an independent implementation and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from tests.train.conftest import toy_examples
from train.figures import Decisions, auc, figures, scaled_accuracy


def test_auc_and_scaled_accuracy_equal_those_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    truth = random.random(300) < 0.3
    score: NDArray[np.float64] = np.round(random.random(300) + 0.3 * truth, 1).astype(np.float64)
    assert auc(score, truth) == pytest.approx(roc_auc_score(truth, score))
    assert scaled_accuracy(score > 0.6, truth) == pytest.approx(2 * balanced_accuracy_score(truth, score > 0.6) - 1)


def test_a_judge_that_is_always_right_and_one_that_always_says_error() -> None:
    examples = toy_examples(40)
    index = np.arange(len(examples))
    right = figures(Decisions(index, 5 * np.eye(3, dtype=np.float32)[examples.label]), examples)
    assert (right["scaled_accuracy"], right["auc"], right["twins_in_order"]) == (1, 1, 1)
    assert (right["false_alarms"], right["missed_as_ordinary"]) == (0, 0)
    alarm = figures(Decisions(index, np.tile(np.array([0, 5, 0], np.float32), (len(examples), 1))), examples)
    assert (alarm["scaled_accuracy"], alarm["false_alarms"], alarm["auc"]) == (0, 1, 0.5)
    assert alarm["scaled_accuracy.cultural"] == 0
    assert "scaled_accuracy.ordinary" not in alarm


def test_what_is_no_number_has_no_figures() -> None:
    examples = toy_examples(40)
    logits = 5 * np.eye(3, dtype=np.float32)[examples.label]
    logits[7] = np.nan
    found = figures(Decisions(np.arange(len(examples)), logits), examples)
    assert np.isnan(list(found.values())).all()
