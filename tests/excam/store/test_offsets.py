"""Offsets of a topic move only with what was read there, one batch after the other, in one transaction."""

from __future__ import annotations

import pytest

from excam.outcome import outcome_table
from excam.store import OffsetMovedError, OffsetRange, Store
from tests.excam.store.outcomes import CARD, JUDGE, verdict

TOPIC = "kafka:logs#1"


def test_offsets_and_verdicts_are_stored_together_and_a_batch_stored_twice_is_refused(store: Store) -> None:
    with store.lease() as lease:
        store.register_judge(CARD)
        run = store.start_run(lease, "stream", JUDGE, {})
        store.commit(lease, run, JUDGE, [], [], [OffsetRange(TOPIC, 0, 0, 0, kind="start")])
        rows, ranges = [outcome_table([verdict(1)])], [OffsetRange(TOPIC, 0, 0, 5, messages=5, records=5)]
        assert store.commit(lease, run, JUDGE, rows, [], ranges).verdicts == 1
        assert store.positions(TOPIC, JUDGE) == {0: 5}
        with pytest.raises(OffsetMovedError, match="stands at 5"):
            store.commit(lease, run, JUDGE, rows, [], ranges)
        with pytest.raises(OffsetMovedError):
            store.commit(lease, run, JUDGE, [outcome_table([verdict(2)])], [], [OffsetRange(TOPIC, 0, 3, 9)])
        assert store.positions(TOPIC, JUDGE) == {0: 5}
        counted = store.query(lambda connection: connection.execute("SELECT count(*) FROM lake.verdicts").fetchone())
        assert counted == (1,)


def test_ranges_of_a_run_grow_and_lost_offsets_stand_by_themselves(store: Store) -> None:
    with store.lease() as lease:
        store.register_judge(CARD)
        run = store.start_run(lease, "stream", JUDGE, {})
        store.commit(lease, run, JUDGE, [], [], [OffsetRange(TOPIC, part, 0, 0, kind="start") for part in (0, 1)])
        store.commit(lease, run, JUDGE, [], [], [OffsetRange(TOPIC, 0, 0, 5, messages=4, empty=1, records=3)])
        store.commit(lease, run, JUDGE, [], [], [OffsetRange(TOPIC, 0, 5, 9, messages=4, records=4, skipped=2)])
        lost = OffsetRange(TOPIC, 0, 9, 20, kind="lost")
        store.commit(lease, run, JUDGE, [], [], [lost, OffsetRange(TOPIC, 0, 20, 21, messages=1, records=1)])
        rows = [row for row in store.ranges(JUDGE).to_pylist() if row["part"] == 0 and row["kind"] != "start"]
        told = [(row["kind"], row["first_offset"], row["next_offset"], row["messages"]) for row in rows]
        assert told == [("read", 0, 9, 8), ("lost", 9, 20, 0), ("read", 20, 21, 1)]
        assert (rows[0]["empty"], rows[0]["records"], rows[0]["skipped"]) == (1, 7, 2)
        assert store.positions(TOPIC, JUDGE) == {0: 21, 1: 0}
        assert store.positions(TOPIC, "another judge") == {}
