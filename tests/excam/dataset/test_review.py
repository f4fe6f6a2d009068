from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from excam.dataset.build import Built
from excam.dataset.review import Ballot, Vote, distribution, pick_samples, read_votes
from excam.fault import UserError


def _vote(sample: str, reviewer: str, error: str = "valid", culture: bool = True) -> Vote:
    return Vote(sample, reviewer, culture, error, "valid", True)


def test_everyone_with_one_seed_sees_the_same_errors_evenly_over_sources(built: Built) -> None:
    path = built.folder / "train.parquet"
    picked = pick_samples(path, 28, seed=1)
    assert picked == pick_samples(path, 28, seed=1)
    assert picked != pick_samples(path, 28, seed=2)
    assert {sample.label for sample in picked} == {"error"}
    assert set(Counter(sample.source for sample in picked).values()) == {4}
    assert {sample.origin for sample in pick_samples(path, 5, 1, origin="soft-rule")} == {"soft-rule"}


def test_votes_outlive_the_session_and_reviewers_do_not_disturb_each_other(tmp_path: Path) -> None:
    Ballot(tmp_path, "Ann B.").add(_vote("s1", "Ann B."))
    Ballot(tmp_path, "Bob").add(_vote("s1", "Bob"))
    assert Ballot(tmp_path, "Ann B").done() == set(), "she was not asked yet"
    again = Ballot(tmp_path, "Ann B.")
    assert again.done() == {"s1"}
    again.add(_vote("s2", "Ann B."))
    assert sorted((vote.sample_id, vote.reviewer) for vote in read_votes(tmp_path)) == [
        ("s1", "Ann B."), ("s1", "Bob"), ("s2", "Ann B."),
    ]  # fmt: skip
    assert not list(tmp_path.glob("*.draft"))


def test_the_report_counts_like_table_3() -> None:
    votes = [_vote("s1", name) for name in "abc"]
    votes += [_vote("s2", name, error) for name, error in zip("abc", ("valid", "partial", "not valid"), strict=True)]
    votes += [_vote("s3", "a", culture=False)]
    shares = distribution(votes, 3)
    assert shares["culture related"] == [100, 0, 0, 0]
    assert shares["error valid (strict)"] == [50, 0, 50, 0]
    assert shares["error valid (partial)"] == [50, 50, 0, 0]
    assert distribution([], 3)["explanation valid"] == [0, 0, 0, 0]


def test_a_second_vote_of_one_person_replaces_the_first() -> None:
    votes = [_vote("s1", "a", "not valid"), _vote("s1", "a"), _vote("s1", "b")]
    assert distribution(votes, 2)["error valid (strict)"] == [100, 0, 0]


def test_a_file_without_such_errors_is_a_mistake_with_a_fix(built: Built) -> None:
    with pytest.raises(UserError, match="no error of origin soft-llm"):
        pick_samples(built.folder / "train.parquet", 5, 1, origin="soft-llm")


def test_a_reviewer_needs_a_name_and_a_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no name"):
        Ballot(tmp_path, "../")
    with pytest.raises(UserError, match="there is no file"):
        pick_samples(tmp_path / "train.parquet", 5, 1)
