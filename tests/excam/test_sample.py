"""The bundled sample log is what the demonstration says it is: varied, true to its plan and the same every time."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from excam.cli.sample import sample
from excam.report import Status
from excam.sample import sample_pairs, write_sample

PAIRS = sample_pairs()
CULTURAL = [pair for pair in PAIRS if pair.planted is not Status.NOT_APPLICABLE]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    path = tmp_path_factory.mktemp("sample") / "log.parquet"
    assert write_sample(path) == len(PAIRS)
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return rows


def test_the_log_is_the_same_every_time(tmp_path: Path) -> None:
    write_sample(tmp_path / "a.parquet")
    write_sample(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_most_pairs_are_correct_some_wrong_and_some_not_about_culture() -> None:
    share = {status: count / len(PAIRS) for status, count in Counter(pair.planted for pair in PAIRS).items()}
    assert len(PAIRS) >= 220
    assert 0.60 <= share[Status.CORRECT] <= 0.65
    assert 0.15 <= share[Status.ERROR] <= 0.20
    assert 0.15 <= share[Status.NOT_APPLICABLE] <= 0.20


def test_every_planted_error_names_a_span_that_stands_once_in_the_output() -> None:
    for pair in PAIRS:
        if pair.planted is Status.ERROR:
            assert pair.span is not None
            assert pair.severity is not None
            assert pair.output.count(pair.span) == 1
        else:
            assert pair.span is None
            assert pair.severity is None


def test_there_are_many_countries_languages_and_apps() -> None:
    countries = Counter(pair.about for pair in CULTURAL)
    assert None not in countries
    assert len(countries) >= 12
    assert sum(count >= 12 for count in countries.values()) >= 8
    assert len({pair.language for pair in CULTURAL}) >= 8
    assert len({pair.app for pair in PAIRS}) == 3
    assert sum(pair.country is not None for pair in PAIRS) < 0.2 * len(PAIRS)


def test_the_newer_model_helps_some_countries_and_harms_one() -> None:
    errors = Counter((pair.about, pair.model) for pair in CULTURAL if pair.planted is Status.ERROR)
    assert errors["ID", "old"] >= errors["ID", "new"] + 3
    assert errors["TR", "new"] >= errors["TR", "old"] + 3


def test_some_texts_come_twice_under_different_ids(rows: list[dict[str, Any]]) -> None:
    texts = Counter((row["instruction"], row["output"]) for row in rows)
    assert sum(count > 1 for count in texts.values()) == 3
    assert len({row["pair_id"] for row in rows}) == len(rows)


def test_pairs_come_in_the_order_of_time_over_eight_weeks_with_the_newer_model_live_half_way(
    rows: list[dict[str, Any]],
) -> None:
    times = [row["logged_at"] for row in rows]
    assert times == sorted(times)
    assert {time.isocalendar().week for time in times} == set(range(37, 45))
    switch = max(row["logged_at"] for row in rows if row["model"] == "assistant-1")
    assert all(row["logged_at"] > switch for row in rows if row["model"] == "assistant-2")
    assert min(Counter(time.date() for time in times).values()) >= 1


def test_the_truth_is_in_the_metadata_only(rows: list[dict[str, Any]]) -> None:
    planted = Counter(json.loads(row["metadata"])["planted"] for row in rows)
    assert planted == Counter(pair.planted.value for pair in PAIRS)
    assert set(rows[0]) == {"pair_id", "instruction", "output", "logged_at", "country", "app", "model", "metadata"}


def test_the_command_makes_the_folder_and_says_how_many_pairs_it_wrote(tmp_path: Path) -> None:
    out = tmp_path / "new" / "log.parquet"
    result = CliRunner().invoke(sample, [str(out)])
    assert result.exit_code == 0, result.output
    assert result.output.startswith(f"{len(PAIRS)} pairs written")
    assert pq.read_metadata(out).num_rows == len(PAIRS)
