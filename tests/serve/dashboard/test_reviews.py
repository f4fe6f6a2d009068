"""Readers say whether the judge is right: kept with who and when, counted, and turned into training samples."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from excam.cli import cli
from excam.dataset.from_reviews import samples_of
from excam.models import resolve
from excam.report import parse_report
from excam.store.reviews import Opinion, cohens_kappa, settle
from serve.dashboard.access import Access
from tests.excam.store.outcomes import TUNED
from tests.serve.dashboard.conftest import dashboard
from train.tokenise import tokenise

JUDGE = TUNED.judge_version
PEOPLE = Access.from_environment({"EXCAM_TOKEN": "ana", "EXCAM_READ_TOKEN": "ben"})


def said(pair_id: str, opinion: str, **more: str) -> dict[str, str]:
    return {"pair_id": pair_id, "judge_version": JUDGE, "opinion": opinion, **more}


def test_an_opinion_is_kept_with_its_reader_and_a_later_one_replaces_it(own_url: str) -> None:
    with dashboard(own_url) as client:
        assert client.get("/api/agreement").json()["precision"] is None
        client.post("/api/reviews", json=said("arabic", "wrong"))
        kept = client.post("/api/reviews", json=said("arabic", "right", comment="so it is")).json()
        assert [(review["opinion"], review["comment"]) for review in kept] == [("right", "so it is")]
        assert kept[0]["reviewer"] == Access.local().name
        client.post("/api/reviews", json=said("japanese", "wrong"))
        found = client.get("/api/agreement").json()
        assert (found["reviewed"], found["right"], found["wrong"]) == (2, 1, 1)
        assert found["low"] < found["precision"] == 0.5 < found["high"]
        assert client.get("/api/agreement", params={"country": "JP"}).json()["reviewed"] == 1


def test_who_may_only_read_cannot_review(own_url: str) -> None:
    with dashboard(own_url, PEOPLE) as client:
        as_ben = {"Authorization": "Bearer ben"}
        assert client.post("/api/reviews", json=said("arabic", "right"), headers=as_ben).status_code == 403
        assert 'name="opinion"' not in client.get("/report", params={"id": "arabic"}, headers=as_ben).text
        as_ana = {"Authorization": "Bearer ana"}
        assert client.post("/api/reviews", json=said("arabic", "right"), headers=as_ana).status_code == 201


def test_an_opinion_needs_a_verdict_and_one_of_three_words(own_url: str) -> None:
    with dashboard(own_url) as client:
        assert client.post("/api/reviews", json=said("nobody", "right")).status_code == 404
        assert client.post("/api/reviews", json=said("arabic", "maybe")).status_code == 422
        assert client.post("/api/reviews", json=said("arabic", "right", comment="x" * 3000)).status_code == 422
        assert client.post("/api/reviews", content=b"x" * 100_000).status_code == 413


def test_divided_readers_make_a_report_partly_right() -> None:
    assert settle(["right"]) is Opinion.RIGHT
    assert settle(["right", "wrong"]) is Opinion.PARTLY
    assert settle(["right", "wrong", "wrong"]) is Opinion.WRONG


def test_kappa_is_one_for_readers_who_agree_and_zero_for_chance() -> None:
    assert cohens_kappa([]) is None
    assert cohens_kappa([("right", "right")]) is None
    assert cohens_kappa([("right", "right"), ("wrong", "wrong")]) == 1
    chance = [("right", "right"), ("right", "wrong"), ("wrong", "right"), ("wrong", "wrong")]
    assert cohens_kappa(chance) == pytest.approx(0)


def test_reviewed_pairs_become_samples_whose_label_follows_the_readers(own_url: str, tmp_path: Path) -> None:
    with dashboard(own_url) as client:
        for number in (1, 3):
            answer = client.post("/api/reviews", json=said(f"p{number}", "right"))
            assert answer.status_code == 201, answer.text
    out = tmp_path / "reviewed.parquet"
    done = CliRunner().invoke(cli, ["dataset", "from-reviews", "--store", own_url, "--out", str(out)])
    assert done.exit_code == 0, done.output
    rows = pq.read_table(out).to_pylist()
    assert len(rows) == 2
    assert all(row["source"] == "reviews" for row in rows)
    learnt = tokenise(out, resolve("smollm2-135m").path)
    assert (learnt.sources, len(learnt)) == (("reviews",), 2)


def test_a_false_alarm_is_learnt_as_a_correct_pair_and_a_missed_error_not_at_all() -> None:
    report = (
        '{"errors": [{"severity": "major", "type": "t", "location": "output", "span": "s", "explanation": "because"}]}'
    )
    row = {"content_hash": "c", "instruction": "i", "output": "o", "country": "ID", "language": None, "report": report}
    confirmed, _ = samples_of([row | {"opinions": ["right"]}])
    assert (confirmed[0].label, confirmed[0].severity, confirmed[0].report) == ("error", "major", report)
    alarm, _ = samples_of([row | {"opinions": ["wrong"]}])
    assert alarm[0].label == "correct"
    assert parse_report(alarm[0].report)
    clean = row | {"report": '{"errors": []}', "opinions": ["wrong"]}
    made, left_out = samples_of([clean, row | {"opinions": ["right", "wrong"]}])
    assert made == []
    assert sum(left_out.values()) == 2


def test_a_text_reviewed_more_than_once_is_learnt_once_or_where_readers_contradict_each_other_never() -> None:
    """The same answer is logged again and again, and two judges may have been held against each other on it."""
    report = '{"errors": [{"severity": "minor", "type": "t", "location": "output", "span": "s", "explanation": "e"}]}'
    row = {"content_hash": "c", "instruction": "i", "output": "o", "country": "ID", "language": None, "report": report}
    alarm, found = row | {"opinions": ["wrong"]}, row | {"opinions": ["right"], "content_hash": "d"}
    made, left_out = samples_of([alarm, found, alarm])
    assert [sample.label for sample in made] == ["correct", "error"]
    assert left_out == {"of a text that is another sample already": 1}
    made, left_out = samples_of([found, found | {"opinions": ["wrong"]}, alarm])
    assert [sample.item_id for sample in made] == ["reviews:c"]
    assert left_out == {"readers contradict each other on its text": 2}
