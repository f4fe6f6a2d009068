"""The names that were kept are those that would be built, and no file but a whole one of these sources is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from excam.country import kept
from excam.country.gazetteer import Gazetteer


def tables(built: Gazetteer) -> tuple[kept.Names, kept.Names]:
    return built.spaced, built.free


@pytest.fixture(scope="module")
def built() -> tuple[kept.Names, kept.Names]:
    return tables(Gazetteer())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path))
    return tmp_path


def test_names_are_built_once_and_read_as_they_were_built(
    built: tuple[kept.Names, kept.Names], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kept.load_names() == built
    (file,) = (cache / "names").iterdir()
    monkeypatch.setattr(kept, "Gazetteer", None)  # whoever builds again fails
    assert kept.load_names() == built
    file.write_text(json.dumps([[], []]), "utf-8")
    assert kept.load_names() == ({}, {}), "the file is what is read"


@pytest.mark.parametrize("content", ["[[", "[[]]", '[["Asia"], []]', "\udcff"])
def test_a_broken_file_is_built_anew(built: tuple[kept.Names, kept.Names], cache: Path, content: str) -> None:
    file = cache / "names" / f"{kept._sources()}.json"
    file.parent.mkdir()
    file.write_text(content, "utf-8", errors="surrogateescape")
    assert kept.load_names() == built
    assert len(json.loads(file.read_text("utf-8"))[0]) == len(built[0])


def test_other_sources_have_a_file_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    before = kept._sources()
    monkeypatch.setattr(kept, "version", lambda package: "0.0")
    assert kept._sources() != before


def test_where_nothing_can_be_kept_names_are_there_all_the_same(
    built: tuple[kept.Names, kept.Names], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path / "file"))
    assert kept.load_names() == built
