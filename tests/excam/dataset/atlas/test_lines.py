"""The form of the atlas's files: what is wrong with a line is told by its file, its number and its field."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from excam.dataset.atlas import choices, everyday, opinions
from excam.dataset.atlas.lines import AtlasError, read_lines
from excam.dataset.atlas.rewordings import read_rewordings
from excam.dataset.item import Item

Read = Callable[[Path], Iterator[Item]]


def written(folder: Path, *lines: str) -> Path:
    (folder / "facts.txt").write_text("\n".join(lines), "utf-8")
    return folder


def test_comments_and_empty_lines_say_nothing(tmp_path: Path) -> None:
    found = list(read_lines(written(tmp_path, "# of breads", "", "a|b | c"), fewest=3))
    assert [(line.fields, line.place) for line in found] == [(("a", "b", "c"), f"{tmp_path.name}/facts.txt:3")]


@pytest.mark.parametrize(
    ("read", "line", "reason"),
    [
        (everyday.read, "Food|What is eaten?|US=bread|GB=toast", "names no {place}"),
        (
            everyday.read,
            "Food|What is eaten in {place}?|US=bread|XX=toast",
            "XX is neither a region",
        ),
        (everyday.read, "Food|What is eaten in {place}?|US=bread|US=toast", "US stands twice"),
        (everyday.read, "Food|What is eaten in {place}?|bread|GB=toast", "'bread' is not CODE=value"),
        (everyday.read, "Food|What is eaten in {place}?", "2 fields where 3 belong"),
        (choices.read_customs, "PL|What is eaten?|borscht", "3 fields where 4 belong"),
        (choices.read_customs, "QQ|What is eaten?|borscht|pizza", "QQ is not a country"),
        (choices.read_customs, "PL|What is eaten?|borscht|Borscht", "an option stands twice"),
        (choices.read_customs, "PL|What is eaten?||pizza", "a field is empty"),
        (choices.read_school, "Polish|PL|History|Kiedy?|1410|1385", "Polish is no code of a language"),
        (opinions.read, "Is it right?|yes;no|PL=3", "PL=3 names none of 2 options"),
        (opinions.read, "Is it right?|yes;no|PL=yes", "PL=yes names none of 2 options"),
        (opinions.read, "Is it right?|yes;no|QQ=1", "QQ is not a country"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, read: Read, line: str, reason: str) -> None:
    with pytest.raises(AtlasError, match=rf"{tmp_path.name}/facts\.txt:2: ") as told:
        list(read(written(tmp_path, "# facts", line)))
    assert reason in str(told.value)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("What is eaten?|Food?|borscht",), "2 fields stand behind the question where 1 belong"),
        (("What is eaten?|Food?", "What is eaten?|Eaten is what?"), "was put in other words before"),
        (("What is eaten?",), "1 fields where 2 belong"),
    ],
)
def test_a_rewording_that_cannot_be_read_is_named(tmp_path: Path, lines: tuple[str, ...], reason: str) -> None:
    with pytest.raises(AtlasError, match=rf"{tmp_path.name}/facts\.txt:{len(lines)}: ") as told:
        read_rewordings(written(tmp_path, *lines), 1)
    assert reason in str(told.value)


def test_an_atlas_without_rewordings_has_none(tmp_path: Path) -> None:
    assert read_rewordings(tmp_path / "none", 1) == {}
