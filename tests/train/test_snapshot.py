"""The list of a run's checkpoints outlives a full disk and a kill while it is written."""

from __future__ import annotations

import json
from pathlib import Path

from train.snapshot import FILE, SPARE, Spares, clear_unlisted, mended
from train.storage import Folder

FIRST, SECOND = (
    json.dumps({"checkpoint_results": [{"checkpoint_dir_name": f"checkpoint_{name}"} for name in names]})
    for names in ("a", "ab")
)


def test_a_list_cut_short_is_replaced_by_the_one_before(tmp_path: Path) -> None:
    note = tmp_path / FILE
    note.write_text(FIRST)
    Spares(Folder(str(tmp_path))).after_report(None, [], checkpoint=object())
    for left in ("", SECOND[:20]):
        note.write_text(left)
        assert mended(Folder(str(tmp_path)))
        assert note.read_text() == FIRST


def test_a_whole_list_stays_and_has_its_spare(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(SECOND)
    (tmp_path / SPARE).write_text(FIRST)
    assert mended(Folder(str(tmp_path)))
    assert (tmp_path / FILE).read_text() == (tmp_path / SPARE).read_text() == SECOND
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([FILE, SPARE])


def test_without_a_whole_list_there_is_no_run_to_go_on_with(tmp_path: Path) -> None:
    assert not mended(Folder(str(tmp_path), "nowhere"))
    (tmp_path / FILE).write_text("")
    assert not mended(Folder(str(tmp_path)))
    assert not (tmp_path / FILE).exists(), "Ray would stumble over it"


def test_a_checkpoint_that_was_handed_over_in_part_goes_and_those_on_a_list_stay(tmp_path: Path) -> None:
    for name in ("checkpoint_a", "checkpoint_b", "checkpoint_half", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "checkpoint.pt").write_bytes(b"weights")
    (tmp_path / FILE).write_text(SECOND[:20])
    (tmp_path / SPARE).write_text(SECOND)
    clear_unlisted(Folder(str(tmp_path)))
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {FILE, SPARE, "checkpoint_a", "checkpoint_b", "mine"}
    clear_unlisted(Folder(str(tmp_path), "nowhere"))
