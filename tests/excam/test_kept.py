"""What is kept for the next process is whole or not there."""

from __future__ import annotations

import errno
from pathlib import Path

from excam.kept import keep


def test_a_file_appears_whole_and_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "names" / "0.4.0-1.json"
    keep(path, lambda draft: draft.write_text("first"))
    keep(path, lambda draft: draft.write_text("second"))
    assert path.read_text() == "second"
    assert list(path.parent.iterdir()) == [path]


def test_what_a_process_that_died_left_half_written_goes(tmp_path: Path) -> None:
    (tmp_path / "0.4.0-1.77.json").write_text("half")
    (tmp_path / "0.4.0-2.json").write_text("another")
    keep(tmp_path / "0.4.0-1.json", lambda draft: draft.write_text("whole"))
    assert {path.name for path in tmp_path.iterdir()} == {"0.4.0-1.json", "0.4.0-2.json"}


def test_a_full_disk_costs_no_more_than_time_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "names" / "kept.json"

    def fill_the_disk(draft: Path) -> None:
        draft.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    keep(path, fill_the_disk)
    assert list(path.parent.iterdir()) == []
