"""Deleting a person's data: afterwards no byte of it is left, and nothing else has changed."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from excam.fault import UserError
from excam.redact import redacted_id
from excam.store import Committed, Forgotten, Selection, Store, reviews, scrub
from excam.store.forget import forget
from excam.store.keys import pair_key
from excam.store.lease import meet
from excam.store.queries import Bucket, By, trends
from excam.store.replays import request_replay
from excam.store.reviews import Opinion, add_review
from tests.excam.store.outcomes import (
    JUDGE,
    TUNED,
    count,
    dead_letter,
    error,
    open_letters,
    put,
    rows_of,
    unit,
    verdict,
)
from tests.excam.store.traces import traces
from tests.postgres import Postgres

SECRET = "xylophon-4711"
NOTHING = Forgotten(0, 0, 0, 0, 0, 0, 0)


def said_by(person: str, number: int, **changes: Any) -> dict[str, Any]:
    """A pair in which the person's name is everywhere that a log, a judge and its report can put it."""
    return verdict(
        number,
        **{
            "pair_id": f"{person}-{number}",
            "instruction": f"zz {person} asks question {number}",
            "output": f"~~ {person} eats with the left hand, {number}",
            "metadata": json.dumps({"user": {"id": person}, "turn": number}),
            "report": json.dumps({"errors": [person]}),
            "errors": [error(span=person, explanation=f"{person} is told something wrong", type=person)],
            "score": -5.0,
        }
        | changes,
    )


def others() -> list[dict[str, Any]]:
    return [verdict(0), verdict(1, errors=[error()], country="JP"), verdict(2, metadata='{"user": {"id": "somebody"}}')]


def trend(store: Store) -> Any:
    return store.query(trends, by=By.COUNTRY, bucket=Bucket.WEEK, judge=JUDGE)


def _sample_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Have a server take the planner's samples now, as its autovacuum does whenever it likes."""
    connection.execute("CALL postgres_execute('__ducklake_metadata_lake', 'ANALYZE', use_transaction => false)")


def test_no_byte_of_a_person_is_left_and_others_are_untouched(store: Store) -> None:
    put(store, *others(), units=[unit(0)])
    before = trend(store)
    record = json.dumps({"text": SECRET, "metadata": json.dumps({"user": {"id": SECRET}})})
    put(store, said_by(SECRET, 10), said_by(SECRET, 11), dead_letter(20, record=record), units=[unit(1)])
    put(store, said_by(SECRET, 10), judge=TUNED)
    store.query(add_review, f"{SECRET}-10", JUDGE, Opinion.RIGHT, f"{SECRET} is right", "reader")
    staged = Path(store.staging) / "killed-run/part.parquet"
    staged.parent.mkdir(parents=True)
    duckdb.sql(f"SELECT '{SECRET}' AS instruction").write_parquet(str(staged))
    if store.url.path is None:
        store.query(_sample_tables)
    assert len(traces(store, SECRET)) >= 6
    chosen = Selection(metadata=(("user.id", SECRET),))
    told = Forgotten(pairs=2, texts=2, shared_texts=0, verdicts=3, errors=3, dead_letters=1, reviews=1)
    assert store.forgettable(chosen) == told
    with Store.open(str(store.url)) as elsewhere, store.lease("forgetting") as lease:
        assert count(elsewhere, "texts", f"contains(instruction, '{SECRET}')") == 2, "another process has read it all"
        assert store.forget(lease, chosen) == told
        lease.release()
        assert put(elsewhere, verdict(30)).verdicts == 1, "and goes on writing"
        assert traces(elsewhere, SECRET) == set()
    assert rows_of(store, "SELECT pair_id FROM lake.pairs ORDER BY ALL") == [
        {"pair_id": name} for name in ("p0", "p1", "p2", "p30")
    ]
    with store.lease() as lease:
        store.forget(lease, Selection(pair_ids=("p30",)))
    assert trend(store) == before
    assert put(store, *others()) == Committed(known=3)
    assert store.done_parts("file:///logs/a.parquet", "v1", JUDGE) == {0, 1}, "what was read is not read again"


@pytest.mark.postgres
def test_a_user_who_may_not_rewrite_a_servers_statistics_is_told_what_is_left(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXCAM_STORE_PASSWORD", postgres.password)
    database = postgres.database()
    postgres.run(
        database, f"CREATE ROLE guest LOGIN PASSWORD '{postgres.password}'; GRANT ALL ON SCHEMA public TO guest"
    )
    url = f"ducklake:postgres:{database.replace('user=excam', 'user=guest')}?data_path={tmp_path}/data"
    with Store.open(url) as store:
        put(store, said_by(SECRET, 1))
        with store.lease() as lease, pytest.raises(UserError, match="may still hold words") as told:
            store.forget(lease, Selection(pair_ids=(f"{SECRET}-1",)))
        assert "VACUUM (FULL) pg_catalog.pg_statistic" in str(told.value.fix)
        assert count(store, "pairs") == count(store, "texts") == 0


def test_a_trend_can_keep_what_nobody_can_be_known_by(sqlite_store: Store) -> None:
    put(sqlite_store, *others(), said_by(SECRET, 10), said_by(SECRET, 11, errors=[], status="correct"))
    before, by_type = trend(sqlite_store), sqlite_store.query(trends, by=By.TYPE, bucket=Bucket.WEEK, judge=JUDGE)
    with sqlite_store.lease() as lease:
        sqlite_store.forget(lease, Selection(metadata=(("user.id", SECRET),)), keep_scores=True)
    assert traces(sqlite_store, SECRET) == set()
    assert (trend(sqlite_store), sqlite_store.query(trends, by=By.TYPE, bucket=Bucket.WEEK, judge=JUDGE)) == (
        before,
        by_type,
    )
    kept = rows_of(sqlite_store, "FROM lake.verdicts WHERE starts_with(pair_id || '', 'forgotten-')")
    assert {row["logged_at"] for row in kept} == {datetime(2025, 3, 3, tzinfo=UTC)}
    assert {row["report"] for row in kept} == {None}
    assert count(sqlite_store, "pairs") == count(sqlite_store, "texts") == 3


def test_a_text_that_others_wrote_too_stays_with_them(sqlite_store: Store) -> None:
    put(sqlite_store, said_by(SECRET, 1), verdict(2, instruction="the same", output="words"))
    put(sqlite_store, said_by(SECRET, 3, instruction="the same", output="words"))
    with sqlite_store.lease() as lease:
        found = sqlite_store.forget(lease, Selection(pair_ids=(f"{SECRET}-1", f"{SECRET}-3", "no such pair")))
    assert (found.pairs, found.texts, found.shared_texts) == (2, 1, 1)
    assert rows_of(sqlite_store, "SELECT instruction FROM lake.texts") == [{"instruction": "the same"}]
    assert traces(sqlite_store, SECRET) == set()


def test_pairs_are_chosen_only_where_everything_asked_for_holds(sqlite_store: Store) -> None:
    hostile = 'O"Brien \\ 🍚\u0000'
    put(
        sqlite_store,
        verdict(0, metadata=json.dumps({"user": 42}, ensure_ascii=False)),
        verdict(1, metadata=json.dumps({"user": "42", "note": "42"}, ensure_ascii=False)),
        verdict(2, metadata=json.dumps({"user": 421, "other": "42"}, ensure_ascii=False)),
        verdict(3, metadata=json.dumps({"user": hostile}, ensure_ascii=False)),
        verdict(4, metadata=json.dumps({"metadata": [["user", "43"], ["channel", "web"]]})),  # once a map
        verdict(5, pair_id=redacted_id("joe@mail.example")),
        verdict(200, pair_id="late \0", metadata=json.dumps({"user": 42.0})),
        verdict(201, pair_id="7.0"),  # once read as a float
        dead_letter(300, record="{broken " + hostile),
        dead_letter(301, record='{"pair_id": "p1", "output": null}'),
        dead_letter(302, record=json.dumps({"id": redacted_id("joe@mail.example"), "output": None})),
    )

    def chosen(**how: Any) -> tuple[int, int]:
        found = sqlite_store.forgettable(Selection(**how))
        return found.pairs, found.dead_letters

    assert chosen(metadata=(("user", "42"),)) == (3, 0)
    assert chosen(metadata=(("user", "42"), ("note", "42"))) == (1, 0)
    assert chosen(metadata=(("user", "42"),), before=date(2025, 3, 4)) == (2, 0)
    assert chosen(metadata=(("user", "43"),)) == chosen(metadata=(("metadata.user", "43"),)) == (1, 0)
    assert chosen(metadata=(("user", hostile),)) == (1, 1)
    assert chosen(pair_ids=("p1", "p2")) == (2, 1)
    assert chosen(pair_ids=("late \0",)) == chosen(pair_ids=("7",)) == (1, 0)
    assert chosen(pair_ids=("joe@mail.example",)) == (1, 1), "what it was called in the log, before it was redacted"
    assert chosen(before=date(2025, 3, 3)) == (0, 0)
    assert chosen(before=date(2100, 1, 1)) == (8, 3)
    with pytest.raises(UserError, match="which pairs"):
        Selection()


def test_a_request_to_try_a_deleted_dead_letter_again_goes_with_it(sqlite_store: Store) -> None:
    put(sqlite_store, dead_letter(1, pair_id="p1"), dead_letter(2, pair_id="p2"))
    assert sqlite_store.query(request_replay, None, "Ana") == 2
    with sqlite_store.lease() as lease:
        assert sqlite_store.forget(lease, Selection(pair_ids=("p1",))).dead_letters == 1
    (left,) = open_letters(sqlite_store)
    assert rows_of(sqlite_store, "SELECT dead_id FROM lake.replay_requests") == [{"dead_id": left["dead_id"]}]


def test_dead_letters_go_however_they_name_a_person(sqlite_store: Store) -> None:
    flat, deep = json.dumps({"user.id": SECRET, "output": None}), f'{{"user": "{SECRET}", "tools": {"[" * 3000}'
    put(sqlite_store, *others(), *(dead_letter(number, record=text) for number, text in enumerate((flat, deep), 20)))
    put(sqlite_store, dead_letter(30, record='{"user.id": "somebody"}'))
    with sqlite_store.lease() as lease:
        assert sqlite_store.forget(lease, Selection(metadata=(("user.id", SECRET),))).dead_letters == 2
    assert traces(sqlite_store, SECRET) == set()
    assert count(sqlite_store, "dead_letters") == 1


def test_nothing_is_deleted_while_another_writes(sqlite_url: str) -> None:
    with Store.open(sqlite_url) as writing, Store.open(sqlite_url) as deleting:
        put(writing, said_by(SECRET, 1))
        with writing.lease("a stream") as lease:
            with pytest.raises(UserError, match="being written by"):
                deleting.lease("forgetting")
            put(writing, said_by(SECRET, 2), lease=lease)
        with deleting.lease("forgetting") as lease:
            assert deleting.forget(lease, Selection(metadata=(("user.id", SECRET),))).pairs == 2
        assert traces(writing, SECRET) == set()


def test_a_deletion_that_was_cut_short_is_finished_by_the_next(sqlite_store: Store) -> None:
    from excam.store.forget import forget

    put(sqlite_store, *others(), said_by(SECRET, 1))
    chosen = Selection(pair_ids=(f"{SECRET}-1",))
    with sqlite_store.lease() as lease, sqlite_store._connection.cursor() as connection:
        forget(connection, lease, chosen)
    assert traces(sqlite_store, SECRET) != set()
    with sqlite_store.lease() as lease:
        assert sqlite_store.forget(lease, chosen) == NOTHING
    assert traces(sqlite_store, SECRET) == set()


def test_what_a_killed_writer_left_goes_at_once(store: Store) -> None:
    put(store, *others(), said_by(SECRET, 1), dead_letter(20, record=f'{{"pair_id": "{SECRET}-1"}}'))
    written = [Path(name) for name in traces(store, SECRET) if name.endswith(".parquet")]
    assert len(written) == len(("texts", "pairs", "verdicts", "errors", "dead_letters"))
    for file in written:
        shutil.copy(file, file.with_name("never-committed.parquet"))
    with store.lease() as lease:
        store.forget(lease, Selection(pair_ids=(f"{SECRET}-1",)))
    assert traces(store, SECRET) == set()
    assert count(store, "texts") == 3


def test_a_file_that_is_written_without_the_lease_goes_once_it_is_old(sqlite_store: Store) -> None:
    put(sqlite_store, *others())
    left = [Path(sqlite_store.data_path) / f"lake/main/reviews/{name}.parquet" for name in ("young", "old")]
    left[0].parent.mkdir()
    for file in left:
        duckdb.sql(f"SELECT '{SECRET}' AS comment").write_parquet(str(file))
    long_ago = time.time() - 660
    os.utime(left[1], (long_ago, long_ago))
    with sqlite_store.lease() as lease:
        sqlite_store.forget(lease, Selection(pair_ids=("p0",)))
    assert [file.exists() for file in left] == [True, False]


@pytest.mark.postgres
def test_a_review_that_is_committed_meanwhile_is_kept(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(postgres_url) as reading, Store.open(postgres_url) as deleting:
        put(deleting, *others())
        with reading._connection.cursor() as reader:

            def commit_and_vacuum(connection: duckdb.DuckDBPyConnection) -> None:
                reader.execute("COMMIT")
                vacuum(connection)

            vacuum = scrub._vacuum_server
            monkeypatch.setattr(scrub, "_vacuum_server", commit_and_vacuum)
            reader.execute("BEGIN")
            reader.execute(
                "INSERT INTO lake.reviews (pair_key, pair_id, judge_version, comment) VALUES (?, 'p1', ?, 'well seen')",
                [pair_key("p1"), JUDGE],
            )
            with deleting.lease() as lease:
                assert deleting.forget(lease, Selection(pair_ids=("p0",))).pairs == 1
        assert rows_of(deleting, "SELECT comment FROM lake.reviews") == [{"comment": "well seen"}]


@pytest.mark.postgres
def test_a_review_of_a_pair_that_is_deleted_meanwhile_is_refused(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(postgres_url) as reading, Store.open(postgres_url) as deleting:
        put(deleting, *others())

        def meet_late(connection: duckdb.DuckDBPyConnection, fence: str) -> None:
            monkeypatch.setattr(reviews, "meet", meet)
            meet(connection, fence)
            with deleting.lease() as lease, deleting._connection.cursor() as another:
                assert forget(another, lease, Selection(pair_ids=("p0",))).pairs == 1

        monkeypatch.setattr(reviews, "meet", meet_late)
        with pytest.raises(UserError, match="no verdict on this pair"):
            reading.query(add_review, "p0", JUDGE, Opinion.RIGHT, "well seen", "reader")
        assert count(deleting, "reviews") == 0


def test_readers_are_not_hurt_when_files_vanish(sqlite_store: Store) -> None:
    put(sqlite_store, *others())
    expected = trend(sqlite_store)
    stop, seen = threading.Event(), list[Any]()

    def read() -> None:
        while not stop.wait(0.05):  # as people read; a reader without any pause would keep the catalogue's log in use
            seen.append(trend(sqlite_store))

    with Store.open(str(sqlite_store.url)) as deleting:
        put(deleting, *(said_by(SECRET, number, status="not_applicable", errors=[]) for number in (5, 6)))
        reader = threading.Thread(target=read)
        reader.start()
        try:
            for number in (5, 6):
                with deleting.lease() as lease:
                    assert deleting.forget(lease, Selection(pair_ids=(f"{SECRET}-{number}",))).pairs == 1
        finally:
            stop.set()
            reader.join()
    assert seen
    assert all(one == expected for one in seen)
