"""The gate that comes with the package: what passes, what stops, how fast, and that its file is the one meant."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.cli.gate import gate as command
from excam.fault import UserError
from excam.relevance import MODEL, bundled, gate, gate_version, gates, is_cultural
from excam.relevance.evaluate import from_sample_log, rates
from excam.relevance.texts import read_split

SAMPLE = from_sample_log()


def test_the_file_is_small_and_its_hash_is_the_version() -> None:
    assert MODEL.stat().st_size < 2_000_000
    assert hashlib.sha256(MODEL.read_bytes()).hexdigest().startswith(gate_version())


def test_of_the_sample_log_cultural_pairs_pass_and_ordinary_ones_stop() -> None:
    everything = {rate.cultural: rate.right / rate.total for rate in rates(bundled(), SAMPLE)[:2]}
    assert everything[True] >= 0.99
    assert everything[False] >= 0.80


@pytest.mark.parametrize(
    ("instruction", "output"),
    [
        ("What do Koreans eat on Seollal?", "Tteokguk, a soup of sliced rice cakes."),
        ("¿Qué se celebra en Perú el 28 de julio?", "Las Fiestas Patrias, la independencia del país."),
        ("Apa itu upacara ngaben di Bali?", "Upacara pembakaran jenazah umat Hindu Bali."),
        ("كيف يحتفل المغاربة بعيد الأضحى؟", "يذبحون الأضحية بعد صلاة العيد."),
        ("お盆には何をしますか", "先祖の霊を迎え、お墓参りをします。"),
    ],
)
def test_questions_of_culture_pass_in_many_languages(instruction: str, output: str) -> None:
    assert is_cultural(instruction, output)


@pytest.mark.parametrize(
    ("instruction", "output"),
    [
        ("Write a Python function that parses a CSV file.", "```python\nimport csv\ndef parse(path): ...\n```"),
        ("My printer driver will not install.", "Download the driver again and restart the computer."),
        ("Solve the equation 3x + 5 = 20", "x = 5"),
        ("Wie setze ich mein Passwort zurück?", "Klicken Sie auf „Passwort vergessen“ und folgen Sie dem Link."),
        ("비밀번호를 잊어버렸어요. 로그인이 안 돼요.", "이메일로 재설정 링크를 보내 드립니다."),
    ],
)
def test_ordinary_requests_stop(instruction: str, output: str) -> None:
    assert not is_cultural(instruction, output)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_letter_is_the_same_however_it_was_encoded(form: Literal["NFC", "NFD"]) -> None:
    """Korean syllables in parts were words that nobody knows, and all of them passed."""
    asked, told = "비밀번호를 재설정하는 방법을 알려 주세요.", "설정에서 비밀번호를 바꿀 수 있습니다."
    pair = normalize(form, asked), normalize(form, told)
    assert gate(*pair) == gate(asked, told)
    assert not is_cultural(*pair)


def test_what_is_unknown_passes() -> None:
    assert is_cultural("", "")
    assert is_cultural("ᚠᚢᚦᚨᚱᚲ", "ᚷᚹᚺ")


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())), st.text())
def test_any_text_gets_a_probability(instruction: str, output: str) -> None:
    assert 0 <= gate(instruction, output) <= 1


def test_one_pair_and_many_get_the_same_probabilities() -> None:
    some = [example.pair for example in SAMPLE[::20]]
    assert gates(some).tolist() == [gate(*pair) for pair in some]


def test_a_folder_without_the_dataset_is_a_mistake_with_a_fix(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"train\.parquet") as error:
        read_split(tmp_path / "train.parquet")
    assert "excam dataset build" in error.value.fix


ROWS: dict[str, list[str | None]] = {
    "source": ["blend", "assistant"],
    "instruction": ["Is Diwali a festival in India?", "Debug my SQL query please"],
    "output": ["Yes, of light.", "Add an index on the column."],
    "label": ["error", "not_applicable"],
    "language": ["en", "en"],
    "group": ["one", "two"],
}


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("output", ["Yes.", None], "column output has rows without a value"),
        ("label", ["yes", "no"], "no label 'no'"),
    ],
)
def test_pairs_that_cannot_be_measured_are_named(
    tmp_path: Path, column: str, values: list[str | None], message: str
) -> None:
    pq.write_table(pa.table(ROWS | {column: values}), tmp_path / "own.parquet")
    with pytest.raises(UserError, match=message):
        read_split(tmp_path / "own.parquet")


def test_pairs_of_ones_own_stand_under_their_own_name(tmp_path: Path) -> None:
    for name in ("test", "own"):
        pq.write_table(pa.table(ROWS), tmp_path / f"{name}.parquet")
    own = ["--pairs", str(tmp_path / "own.parquet")]
    result = CliRunner().invoke(command, ["evaluate", "--data", str(tmp_path), *own])
    assert result.output.count("\nall ") == 2
    assert result.output.count("\nown.parquet, all ") == 2


def test_evaluate_prints_rates_by_source_and_for_the_sample_log(tmp_path: Path) -> None:
    pq.write_table(pa.table(ROWS), tmp_path / "test.parquet")
    result = CliRunner().invoke(command, ["evaluate", "--data", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert gate_version() in result.output
    for words in ("blend", "assistant", "sample log", "cultural, pass", "ordinary, stop", "100.0%"):
        assert words in result.output
