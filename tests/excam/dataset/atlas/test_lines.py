"""The form of the atlas's files: what is wrong with a line is told by its file, its number and its field."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from excam.dataset.atlas import customs, everyday, opinions
from excam.dataset.atlas.lines import AtlasError, read_lines


def written(folder: Path, *lines: str) -> Path:
    (folder / "facts.txt").write_text("\n".join(lines), "utf-8")
    return folder


def test_comments_and_empty_lines_say_nothing(tmp_path: Path) -> None:
    found = list(read_lines(written(tmp_path, "# of breads", "", "a|b | c"), fewest=3))
    assert [(line.fields, line.place) for line in found] == [(("a", "b", "c"), f"{tmp_path.name}/facts.txt:3")]


@pytest.mark.parametrize(
    ("part", "line", "reason"),
    [
        (everyday, "Food|What is eaten?|US=bread|GB=toast", "names no {place}"),
        (everyday, "Food|What is eaten in {place}?|US=bread|XX=toast", "XX is neither a region of BLEnD nor a country"),
        (everyday, "Food|What is eaten in {place}?|US=bread|US=toast", "US stands twice"),
        (everyday, "Food|What is eaten in {place}?|bread|GB=toast", "'bread' is not CODE=value"),
        (everyday, "Food|What is eaten in {place}?", "2 fields where 3 belong"),
        (customs, "PL|What is eaten?|borscht", "3 fields where 4 belong"),
        (customs, "QQ|What is eaten?|borscht|pizza", "QQ is not a country"),
        (customs, "PL|What is eaten?|borscht|Borscht", "an option stands twice"),
        (customs, "PL|What is eaten?||pizza", "a field is empty"),
        (opinions, "Is it right?|yes;no|PL=3", "PL=3 names none of 2 options"),
        (opinions, "Is it right?|yes;no|PL=yes", "PL=yes names none of 2 options"),
        (opinions, "Is it right?|yes;no|QQ=1", "QQ is not a country"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, part: ModuleType, line: str, reason: str) -> None:
    with pytest.raises(AtlasError, match=rf"{tmp_path.name}/facts\.txt:2: ") as told:
        list(part.read(written(tmp_path, "# facts", line)))
    assert reason in str(told.value)
