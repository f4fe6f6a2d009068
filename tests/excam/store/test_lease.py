"""The lease: one writer at a time, a dead one replaced, a replaced one fenced off."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from excam.fault import UserError
from excam.store import Lease, LeaseLostError, Store, heartbeat
from excam.store.holder import Holder, this_process
from excam.store.url import quote
from tests.excam.store.outcomes import JUDGE, count, put, rows_of, verdict


def gone() -> Holder:
    """A holder on this machine whose process has ended."""
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    return Holder(this_process().host, ended.pid, "ended")


def pretend(store: Store, holder: Holder) -> None:
    """Make it look as if somebody else held the lease."""
    with store._connection.cursor() as connection:
        connection.execute(
            """UPDATE lake.leases SET holder = ?, note = 'scoring', taken_at = now(), released_at = NULL,
               token = token + 1 WHERE name = 'writer'""",
            [holder.dump()],
        )


def test_a_second_writer_is_told_who_holds_the_lease(store_url: str) -> None:
    with (
        Store.open(store_url) as first,
        Store.open(store_url) as second,
        first.lease("nightly score"),
        pytest.raises(UserError) as refused,
    ):
        second.lease()
    assert f"process {os.getpid()} on " in refused.value.message
    assert "nightly score" in refused.value.message
    assert "last sign of life" in refused.value.message
    assert refused.value.fix


def test_a_writer_waits_for_the_lease_as_long_as_it_was_told(sqlite_url: str) -> None:
    with Store.open(sqlite_url) as first, Store.open(sqlite_url) as second:
        lease = first.lease()
        begun = time.monotonic()
        with pytest.raises(UserError):
            second.lease(wait=0.6)
        assert time.monotonic() - begun >= 0.6
        lease.release()
        with second.lease(wait=5.0) as later:
            assert later.token == lease.token + 1


def test_the_lease_of_a_process_that_is_gone_is_taken_over_at_once(sqlite_store: Store) -> None:
    pretend(sqlite_store, gone())
    with sqlite_store.lease() as lease:
        assert put(sqlite_store, verdict(0), lease=lease).verdicts == 1


def test_a_process_number_given_to_a_new_process_does_not_keep_the_lease(sqlite_store: Store) -> None:
    pretend(sqlite_store, Holder(this_process().host, os.getpid(), "an earlier process"))
    with sqlite_store.lease():
        pass


def test_a_holder_on_another_machine_is_believed_until_its_heart_stops(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(sqlite_store, Holder("elsewhere", 1, "x"))
    with pytest.raises(UserError, match="process 1 on elsewhere"):
        sqlite_store.lease()
    monkeypatch.setattr("excam.store.lease.EXPIRY", timedelta(0))
    with sqlite_store.lease():
        pass


def test_a_beating_heart_keeps_the_lease_of_a_holder_elsewhere(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.05)
    monkeypatch.setattr("excam.store.lease.EXPIRY", timedelta(hours=1))  # a busy machine may hold a heart up for long
    with sqlite_store.lease() as lease, sqlite_store._connection.cursor() as connection:
        connection.execute(
            "UPDATE lake.leases SET holder = ?, taken_at = now() - INTERVAL 1 DAY WHERE name = 'writer'",
            [Holder("elsewhere", 1, "x").dump()],
        )
        pulse = heartbeat.Pulse(sqlite_store.url, connection)
        first = pulse.last_beat(lease.token)
        deadline = time.monotonic() + 120
        while pulse.last_beat(lease.token) == first and time.monotonic() < deadline:
            time.sleep(0.02)
        assert pulse.last_beat(lease.token) != first, "the heart goes on beating"
        with pytest.raises(UserError, match="elsewhere"):
            sqlite_store.lease()
        assert not lease.lost


def test_between_two_statements_of_a_beat_the_last_one_is_still_seen(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite_store._connection.cursor() as connection:
        heart, watcher = (heartbeat.Pulse(sqlite_store.url, connection) for _ in range(2))
        heart.beat(7)
        seen = [watcher.last_beat(7)]
        run = heart._run

        def watched(statement: str) -> list[tuple[str | None, ...]]:
            rows = run(statement)
            seen.append(watcher.last_beat(7))
            return rows

        monkeypatch.setattr(heart, "_run", watched)
        heart.beat(7)
        assert None not in seen, "whoever looks then believes the holder dead"
        assert seen[0] != seen[-1]


def take_over(store: Store) -> Lease:
    """Take the lease as a process would that believes the holder dead."""
    with store._connection.cursor() as connection:
        connection.execute("UPDATE lake.leases SET holder = ? WHERE name = 'writer'", [gone().dump()])
    return store.lease()


def test_a_writer_that_lost_its_lease_stores_nothing_more(store_url: str) -> None:
    with Store.open(store_url) as sleeper, Store.open(store_url) as successor:
        old = sleeper.lease()
        put(sleeper, verdict(0), lease=old)
        with take_over(successor) as new:
            with pytest.raises(LeaseLostError):
                put(sleeper, verdict(1), lease=old)
            put(successor, verdict(2), lease=new)
        assert [row["pair_id"] for row in rows_of(successor, "SELECT pair_id FROM lake.pairs ORDER BY 1")] == [
            "p0",
            "p2",
        ]
        old.release()
        assert rows_of(successor, "SELECT released_at IS NOT NULL AS free FROM lake.leases WHERE name = 'writer'") == [
            {"free": True}
        ]


def test_a_writer_notices_between_commits_that_it_was_replaced(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.05)
    with Store.open(sqlite_url) as sleeper, Store.open(sqlite_url) as successor:
        old = sleeper.lease()
        with take_over(successor):
            deadline = time.monotonic() + 120
            while not old.lost and time.monotonic() < deadline:
                time.sleep(0.02)
        assert old.lost
        old.release()


def test_the_runs_of_a_dead_writer_are_closed_as_interrupted(sqlite_store: Store) -> None:
    with sqlite_store.lease() as lease:
        sqlite_store.start_run(lease, "score", JUDGE, {})
    with sqlite_store.lease():
        assert rows_of(sqlite_store, "SELECT state FROM lake.runs") == [{"state": "interrupted"}]


def test_a_released_lease_writes_nothing(sqlite_store: Store) -> None:
    with sqlite_store.lease() as lease:
        pass
    with pytest.raises(RuntimeError, match="released"):
        put(sqlite_store, verdict(0), lease=lease)
    assert count(sqlite_store, "pairs") == 0


@pytest.mark.postgres
def test_a_writer_gets_the_heartbeats_that_another_makes_in_the_same_moment(postgres_url: str) -> None:
    """PostgreSQL looks whether a table is there before it waits for who is making it, and then finds its name taken."""
    with (
        Store.open(postgres_url) as store,
        Store.open(postgres_url) as other,
        store._connection.cursor() as first,
        other._connection.cursor() as second,
        ThreadPoolExecutor(1) as pool,
    ):
        first.execute(f"ATTACH {quote(store.url.heartbeat_target)} AS early (TYPE postgres, SECRET catalogue)")
        first.execute("BEGIN")
        first.execute("CREATE TABLE early.excam_heartbeats (token BIGINT, beat_at VARCHAR)")
        waiting = pool.submit(heartbeat.Pulse, other.url, second)
        time.sleep(1)
        assert not waiting.done()
        first.execute("COMMIT")
        pulse = waiting.result(timeout=60)
        assert pulse.newest_token() == 0
        pulse.close()
