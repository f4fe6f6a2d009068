"""What DuckDB lays aside on disk holds logged text: others on the machine cannot read it, and it does not stay."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path

import pytest

from excam.store import Store
from excam.store.database import frugal
from excam.store.spill import spill_folder

SORT = "SELECT md5(i::VARCHAR) AS a, repeat(md5((i + 1)::VARCHAR), 4) AS b FROM range(1500000) t(i) ORDER BY a"


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def _mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_only_the_user_can_enter_the_folder_and_it_is_the_same_for_all_databases(scratch: Path) -> None:
    first, second = Path(spill_folder()), Path(spill_folder())
    assert first != second
    assert first.parent == second.parent
    assert first.parent.parent == scratch
    assert _mode(first.parent) == 0o700


@pytest.mark.parametrize("trap", ["open to all", "a link", "a file"])
def test_a_folder_that_somebody_else_laid_there_is_not_used(scratch: Path, tmp_path: Path, trap: str) -> None:
    taken = Path(spill_folder()).parent
    taken.rmdir()
    if trap == "open to all":
        taken.mkdir()
        taken.chmod(0o777)
    elif trap == "a link":
        taken.symlink_to(tmp_path)
    else:
        taken.touch()
    used, again = Path(spill_folder()).parent, Path(spill_folder()).parent
    assert used != taken
    assert used == again
    assert _mode(used) == 0o700


def test_a_store_opens_where_nothing_can_be_laid_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not there"))
    with Store.open(f"ducklake:sqlite:{tmp_path}/catalog.sqlite") as store:
        assert store.size().versions


def test_much_is_written_in_little_memory_through_that_folder(scratch: Path, sqlite_store: Store) -> None:
    with frugal(sqlite_store.url) as connection:
        connection.execute("SET memory_limit = '150MB'")
        rows = connection.execute(SORT).to_arrow_reader(2048)
        assert rows.read_next_batch().num_rows
        (private,) = scratch.iterdir()
        assert _mode(private) == 0o700
        assert list(private.rglob("*")), "more than its memory was sorted"
        del rows
    assert not [file for file in scratch.rglob("*") if file.is_file()]
