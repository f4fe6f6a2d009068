"""The model that was kept is the one that would be made, and no file but a whole one is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from excam import language_model
from excam.language_model import load_identifier

LEFT_OUT = frozenset({"la", "bs"})
TEXTS = (
    "What do people in Bali eat at Galungan?",
    "Was isst man in Bayern am Sonntag?",
    "Что едят на Масленицу в России?",
    "متن فارسی درباره نوروز و سفره هفت سین",
)


@pytest.fixture(scope="module")
def made() -> Any:
    return language_model._make(LEFT_OUT)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path))
    return tmp_path


def is_same(found: Any, made: Any) -> bool:
    assert not LEFT_OUT & set(found.labels)
    names = [name for name in made.__slots__ if name not in ("_full_model", "min_confidence")]
    assert all(np.array_equal(getattr(found, name), getattr(made, name)) for name in names)
    return [found.classify(text) for text in TEXTS] == [made.classify(text) for text in TEXTS]


def test_the_model_is_made_once_and_read_as_it_was_made(
    made: Any, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_same(load_identifier(LEFT_OUT), made)
    monkeypatch.setattr(language_model, "_make", None)  # whoever makes it again fails
    assert is_same(load_identifier(LEFT_OUT), made)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short"])
def test_a_broken_file_is_made_anew(made: Any, cache: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(language_model, "_make", lambda left_out: made)
    load_identifier(LEFT_OUT)
    (file,) = (cache / "languages").iterdir()
    file.write_bytes(content)
    assert load_identifier(LEFT_OUT) is made
    assert is_same(language_model._read(file), made)


def test_other_languages_have_a_file_of_their_own(made: Any, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_model, "_make", lambda left_out: made)
    load_identifier(LEFT_OUT)
    load_identifier(frozenset())
    assert len(list((cache / "languages").iterdir())) == 2


def test_where_nothing_can_be_kept_the_model_is_there_all_the_same(
    made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(language_model, "_make", lambda left_out: made)
    assert load_identifier(LEFT_OUT) is made
