"""Writers as processes: two at once on the same pairs, and one killed at every statement of its commit."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from excam.store import Store
from tests.excam.store import writer
from tests.excam.store.outcomes import JUDGE, count, put, rows_of, verdict

ROOT = Path(__file__).parents[3]


def start(url: str, name: str, *numbers: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", writer.__name__, url, name, *map(str, numbers)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


def assert_whole(store: Store) -> None:
    """Nothing doubled and nothing torn: every pair has its text, its verdict and its error."""
    doubled = "SELECT pair_id FROM lake.{} GROUP BY ALL HAVING count(*) > 1"
    assert all(rows_of(store, doubled.format(table)) == [] for table in ("pairs", "verdicts", "errors"))
    assert rows_of(store, "SELECT content_hash FROM lake.texts GROUP BY ALL HAVING count(*) > 1") == []
    assert count(store, "pairs") == count(store, "verdicts") == count(store, "errors") == count(store, "texts")
    assert rows_of(store, "FROM lake.pairs ANTI JOIN lake.texts USING (content_hash)") == []
    assert rows_of(store, "FROM lake.pairs ANTI JOIN lake.verdicts USING (pair_id, content_hash)") == []


WHOLE = "SELECT " + ", ".join(
    f"(SELECT count(*) FROM lake.{name}) AS {name}" for name in ("pairs", "verdicts", "errors")
)


def test_two_writers_on_the_same_pairs_store_each_pair_once_while_a_reader_looks_on(store_url: str) -> None:
    with Store.open(store_url) as store:
        writers = [start(store_url, name, 0, 60, 20) for name in ("one", "two")]
        with Store.open(store_url, read_only=True) as reader:
            seen = [0]
            while any(process.poll() is None for process in writers):
                (counts,) = rows_of(reader, WHOLE)
                assert len(set(counts.values())) == 1, "a commit is seen whole or not at all"
                assert counts["pairs"] >= seen[-1]
                seen.append(counts["pairs"])
        assert [process.wait(timeout=300) for process in writers] == [0, 0]
        assert_whole(store)
        assert count(store, "pairs") == 60
        assert store.done_parts("one", "v1", JUDGE) == store.done_parts("two", "v1", JUDGE) == {0, 20, 40}
        assert count(store, "judges") == 1


@pytest.mark.parametrize("statement", [3, 11, 17])
def test_a_writer_killed_within_its_commit_leaves_all_of_it_or_nothing(sqlite_url: str, statement: int) -> None:
    killed = start(sqlite_url, "victim", 0, 20, 20, statement)
    assert killed.wait(timeout=200) == -signal.SIGKILL
    with Store.open(sqlite_url) as store:
        assert_whole(store)
        assert count(store, "pairs") == 20 * len(store.done_parts("victim", "v1", JUDGE))
        assert put(store, verdict(100)).verdicts == 1


@pytest.mark.postgres
def test_a_writer_killed_on_a_server_leaves_all_of_it_or_nothing(postgres_url: str) -> None:
    Store.open(postgres_url).close()
    killed = start(postgres_url, "victim", 0, 40, 20, 30)
    assert killed.wait(timeout=200) == -signal.SIGKILL
    with Store.open(postgres_url) as store:
        assert_whole(store)
        assert count(store, "pairs") == 20 * len(store.done_parts("victim", "v1", JUDGE))
        assert put(store, verdict(100)).verdicts == 1
