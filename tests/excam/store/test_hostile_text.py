"""Logged text is hostile: whatever Unicode holds goes in, comes out the same, and breaks nothing on the way."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from excam.store import Store
from excam.store.queries import By, Slice, show_pair, trends, worst_pairs
from tests.excam.store.outcomes import JUDGE, dead_letter, error, put, rows_of, verdict

NASTY = [
    "\0",
    "a\0b",
    "'; DROP TABLE lake.pairs; --",
    "\u202eevil\u202c",
    "👩‍👩‍👧‍👦",
    "\x1b[31m",
    "$judge",
    "\\",
    "%s{}",
    "\ufeff",
    "\U000e0041",
    "﷽" * 200,
    "' OR 1=1",
    "日本",
    '"',
    "?",
]
text = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
number = itertools.count()


def hostile(text: str, other: str) -> dict[str, Any]:
    n = next(number)
    named = dict.fromkeys(["instruction", "country", "language", "app", "model", "metadata", "source"], text)
    found = error(type=text, category=other, span=text, explanation=other)
    return verdict(n, **named, pair_id=f"{n}{text}", output=other, errors=[found], score=-5.0)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=st.lists(st.tuples(text, text), min_size=1, max_size=30))
@example(pairs=list(zip(NASTY, reversed(NASTY), strict=True)))
def test_any_text_is_stored_found_and_counted(store: Store, pairs: list[tuple[str, str]]) -> None:
    rows = [hostile(*pair) for pair in pairs]
    bad = [dead_letter(n, part=9, source=one, reason=one, detail=two, record=two) for n, (one, two) in enumerate(pairs)]
    committed = put(store, *rows, *bad)
    assert (committed.verdicts, committed.errors, committed.conflicts) == (len(rows), len(rows), 0)
    assert put(store, *rows).known == len(rows)

    row = rows[-1]
    shown = store.query(show_pair, row["pair_id"])
    assert (shown.instruction, shown.output, shown.app) == (row["instruction"], row["output"], row["app"])
    assert shown.verdicts[0].errors[0].span == row["instruction"]
    one_app = Slice(app=row["app"], country=row["country"], language=row["language"], model=row["model"])
    (found,) = store.query(trends, By.APP, "month", one_app).rows
    assert found.group == row["app"]
    assert found.n == found.errors >= 1
    assert row["pair_id"] in {pair.pair_id for pair in store.query(worst_pairs, JUDGE, one_app, 10_000)}
    assert store.dead_letters(reason=bad[-1]["reason"]).num_rows >= 1
    assert store.done_parts(row["source"], "v1", JUDGE) == set()


def test_a_text_of_many_megabytes_is_stored_whole(sqlite_store: Store) -> None:
    long = "héllo\0 " * 700_000
    put(sqlite_store, verdict(0, output=long))
    assert sqlite_store.query(show_pair, "p0").output == long
    assert rows_of(sqlite_store, "SELECT length(output) AS n FROM lake.texts") == [{"n": len(long)}]
