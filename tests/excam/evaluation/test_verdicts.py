from __future__ import annotations

from excam.evaluation.baselines import BASELINES
from excam.evaluation.verdicts import UNREADABLE, baseline_answer, decision_only, written_report
from excam.judgement import JudgeFailure, Judgement
from excam.report import CORRECT_REPORT, NOT_APPLICABLE_REPORT


def test_a_decision_above_the_threshold_is_a_major_error_without_a_report() -> None:
    found = decision_only(Judgement.of(CORRECT_REPORT, p_error=0.7, p_report=0.9), threshold=0.6)
    assert (found["status"], found["score"], found["p_error"]) == ("error", -5.0, 0.7)
    assert "written" not in found


def test_a_decision_below_it_is_the_likelier_clean_status_with_its_certainty() -> None:
    clean = decision_only(Judgement.of(CORRECT_REPORT, p_error=0.7, p_report=0.9), threshold=0.8)
    assert (clean["status"], clean["score"], clean["p_report"]) == ("correct", 0.9, 0.9)
    ordinary = decision_only(Judgement.of(NOT_APPLICABLE_REPORT, p_error=0.1, p_report=0.9), threshold=0.5)
    assert (ordinary["status"], ordinary["score"]) == ("not_applicable", None)


def test_a_report_that_could_not_be_read_has_no_status() -> None:
    found = written_report(JudgeFailure("unparsable_report", "broken \ud800 text"))
    assert found == {"failure": "unparsable_report", "detail": "broken ? text"}


def test_a_baselines_answer_is_a_score_or_a_failure_that_keeps_the_answer() -> None:
    counting = BASELINES["counting"]
    good = baseline_answer(counting, "One mistake. COUNT: 1", 0.5, truncated=False)
    assert (good["status"], good["score"], good["p_report"]) == ("error", -1.0, 0.5)
    bad = baseline_answer(counting, "I see no mistake \udfff", 0.5, truncated=True)
    assert (bad["failure"], bad.get("status"), bad["written"]) == (UNREADABLE, None, "I see no mistake ?")
