"""A gate file is checked before it is used, and what it says of a text is plain arithmetic."""

from __future__ import annotations

import json
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.fault import UserError
from excam.relevance.features import BITS, BUCKETS, features
from excam.relevance.model import FORM, Gate, load


def knowing(word: str, weight: int = 100) -> Gate:
    """A gate that knows one word."""
    weights = np.zeros(BUCKETS, np.int8)
    weights[features([(word, "")]).buckets[0]] = weight
    return Gate(weights, scale=0.05, bias=0.25, threshold=0.5, note={"made": "by hand"}, version="")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "gate.model"
    knowing("festival").save(path)
    return path


def write(path: Path, head: object, weights: bytes) -> Path:
    path.write_bytes(json.dumps(head).encode() + b"\n" + weights)
    return path


HEAD = {"form": FORM, "bits": BITS, "scale": 1.0, "bias": 0.0, "threshold": 0.5, "note": {}}


def test_the_score_is_bias_plus_weights_over_the_root_of_their_number() -> None:
    gate = knowing("fete")
    assert gate.scores([("fete", "")])[0] == pytest.approx(0.25 + 0.05 * 100)
    assert gate.scores([("fete rue", "")])[0] == pytest.approx(0.25 + 0.05 * 100 / np.sqrt(3))  # two words, one pair
    assert gate.probabilities([("fete", "")])[0] == pytest.approx(1 / (1 + np.exp(-5.25)))


def test_unknown_words_and_no_words_score_the_bias() -> None:
    assert knowing("festival").scores([("", ""), ("qwrtz plmkn", "zzz")]).tolist() == [0.25, 0.25]


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 700))
def test_any_number_of_pairs_gets_as_many_scores_in_their_order(count: int) -> None:
    gate = knowing("festival")
    scores = gate.scores(("festival" if number % 3 == 0 else "other", "") for number in range(count))
    assert [score > 1 for score in scores] == [number % 3 == 0 for number in range(count)]


def test_a_saved_gate_comes_back_the_same_with_the_hash_of_its_file(tmp_path: Path) -> None:
    gate = knowing("festival")
    digest = gate.save(tmp_path / "gate.model")
    again = load(tmp_path / "gate.model", digest)
    assert np.array_equal(again.weights, gate.weights)
    assert (again.scale, again.bias, again.threshold, again.note) == (0.05, 0.25, 0.5, {"made": "by hand"})
    assert digest.startswith(again.version)
    assert len(again.version) == 16


def test_a_file_with_another_hash_is_refused(saved: Path) -> None:
    with pytest.raises(UserError, match="SHA-256"):
        load(saved, "0" * 64)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        load(tmp_path / "nowhere.model")


def test_a_cut_file_is_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes()[:-40])
    with pytest.raises(UserError, match="not a gate"):
        load(saved)


def test_a_small_file_that_unpacks_to_a_giant_is_refused_without_unpacking_it_all(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"{BUCKETS + 1} weights"):
        load(write(tmp_path / "bomb", HEAD, zlib.compress(bytes(BUCKETS * 4))))


@pytest.mark.parametrize(
    "change",
    [{"form": "other"}, {"bits": 3}, {"bias": "high"}, {"scale": float("nan")}, {"threshold": None}, {"note": 7}],
)
def test_a_head_that_says_something_else_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    with pytest.raises(UserError, match="not a gate"):
        load(write(tmp_path / "odd", {**HEAD, **change}, zlib.compress(bytes(BUCKETS))))


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_other_bytes_are_refused_with_one_kind_of_error(content: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(content)
        with pytest.raises(UserError):
            load(Path(file.name))
