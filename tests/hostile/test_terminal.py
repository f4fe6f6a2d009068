"""Every command that prints what a store holds, on a store whose every text is hostile: nothing steers the terminal."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from excam.cli import cli, main
from excam.dataset.sample import Sample, to_table
from excam.store import Store
from tests.excam.store.outcomes import TUNED, dead_letter, error, put, verdict
from tests.hostile.material import TEXTS

Printed = Callable[..., str]

STORABLE = [text.encode("utf-8", "replace").decode() for text in TEXTS]
STEERING = {"Cc", "Cs", "Zl", "Zp"}
BACKWARDS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"ducklake:sqlite:{tmp_path_factory.mktemp('terminal')}/catalog.sqlite"
    rows, letters = [], []
    for number, text in enumerate(STORABLE):
        wrong = error(type=text, category=text, span=text, start=0, end=len(text), explanation=text)
        named = dict.fromkeys(("instruction", "output", "country", "language", "app", "model", "source"), text)
        rows.append(verdict(number, **named, pair_id=f"{number}{text}", errors=[wrong], score=-5.0, p_error=0.9))
        letters.append(dead_letter(number, part=1, source=text, stage=text, reason=text, detail=text, record=text))
    judge = TUNED.model_copy(update={"adapter": f"{TEXTS[7]}@1"})
    with Store.open(url) as opened:
        put(opened, *rows, *letters, judge=judge)
    return url


def steering(printed: str) -> set[str]:
    return {sign for sign in printed if sign != "\n" and (unicodedata.category(sign) in STEERING or sign in BACKWARDS)}


@pytest.fixture
def printed(store: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What a command prints on either stream, told as a user would be told."""

    def run(*arguments: str) -> str:
        monkeypatch.setenv("EXCAM_STORE", store)
        with pytest.raises(SystemExit):
            main(list(arguments))
        captured = capsys.readouterr()
        return captured.out + captured.err

    return run


@pytest.mark.parametrize(
    "command",
    [
        ("worst", "--limit", "50"),
        ("trends", "--by", "app"),
        ("trends", "--by", "type"),
        ("dead-letters", "list"),
        ("judges",),
        ("runs",),
        ("store", "info"),
    ],
)
def test_no_list_holds_anything_that_steers(printed: Printed, command: tuple[str, ...]) -> None:
    assert steering(printed(*command)) == set()


def test_no_pair_shown_holds_anything_that_steers(printed: Printed) -> None:
    for number, text in enumerate(STORABLE):
        if not steering(text):
            continue
        shown = printed("show", "--", f"{number}{text}")
        assert steering(shown) == set()
        assert "wrong" in shown or "error" in shown.lower()


def test_a_mistake_that_names_hostile_text_is_told_without_it(printed: Printed) -> None:
    for text in filter(steering, STORABLE):
        for command in (("show", "--", f"no{text}"), ("worst", f"--country={text}"), ("trends", f"--since={text}")):
            assert steering(printed(*command)) == set()


def test_no_dead_letter_shown_holds_anything_that_steers(store: str, printed: Printed) -> None:
    with Store.open(store, read_only=True) as opened:
        letters = opened.dead_letters(limit=100).to_pylist()
    names = [letter["dead_id"] for letter in letters if steering(letter["reason"]) or letter["reason"][:9] == "[" * 9]
    assert len(names) > 3
    for name in names[:6]:
        assert steering(printed("dead-letters", "show", name)) == set()


def test_no_sample_under_review_holds_anything_that_steers(tmp_path: Path) -> None:
    texts = list(filter(steering, STORABLE))
    samples = []
    for number, text in enumerate(texts):
        wrong = {"span": text, "location": "output", "type": text, "severity": "major", "explanation": text}
        same = dict.fromkeys(
            ("item_id", "source", "task", "group", "country", "language", "instruction", "output"), text
        )
        samples.append(
            Sample(
                sample_id=str(number), label="error", severity="major", origin="hard", weight=1.0, twin_id=None,
                report=json.dumps({"errors": [wrong]}), **same,
            )
        )  # fmt: skip
    pq.write_table(to_table(samples), tmp_path / "reviewed.parquet")
    asked = ["dataset", "review", f"{tmp_path}/reviewed.parquet", "--votes", f"{tmp_path}/votes", "--reviewer", "ana"]
    shown = CliRunner().invoke(cli, asked, input="s\n" * len(texts)).output
    assert f"{len(texts)} of {len(texts)}" in shown
    assert steering(shown) == set()
