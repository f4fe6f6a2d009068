"""The tables of a store, and the migrations that bring an older store up to date.

Every migration runs in one transaction together with the new version number, so a store is never between two versions.
A new store is made of all of them at once, in two transactions however many there are, because DuckLake reads the whole
catalogue anew after each. A store written by a newer ExCAM is refused rather than guessed at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import duckdb

from excam.fault import UserError
from excam.store.connection import transact
from excam.store.languages import name_languages_by_code

# Repeated on verdicts and errors, so that a trend needs no join. ``logged_on`` is the UTC day of ``logged_at``: trends
# group by it, four bytes a row that Parquet folds into runs.
_SERIES = """country VARCHAR, language VARCHAR, app VARCHAR, model VARCHAR, logged_at TIMESTAMPTZ, logged_on DATE,
    sample_share DOUBLE"""

# ``pair_key`` is half of a hash of the pair id, ``text_key`` and ``text_check`` are the two halves of the content hash:
# a commit looks its pairs up among ten million by reading sixteen bytes a row instead of two long strings.
_TABLES = [
    "CREATE TABLE lake.store_meta (key VARCHAR, value VARCHAR)",
    """CREATE TABLE lake.texts (
        text_key UBIGINT, text_check UBIGINT, content_hash VARCHAR, instruction VARCHAR, output VARCHAR)""",
    """CREATE TABLE lake.pairs (
        pair_key UBIGINT, text_key UBIGINT, text_check UBIGINT, pair_id VARCHAR, content_hash VARCHAR,
        logged_at TIMESTAMPTZ, country VARCHAR, countries VARCHAR[], country_how VARCHAR, language VARCHAR,
        output_language VARCHAR, app VARCHAR, model VARCHAR, metadata VARCHAR, wrong_language BOOLEAN,
        repetition BOOLEAN, sample_share DOUBLE, source VARCHAR, part BIGINT, "row" BIGINT, run_id VARCHAR,
        first_seen TIMESTAMPTZ)""",
    f"""CREATE TABLE lake.verdicts (
        pair_key UBIGINT, text_key UBIGINT, text_check UBIGINT, pair_id VARCHAR, judge_version VARCHAR,
        content_hash VARCHAR, status VARCHAR, score DOUBLE, p_error DOUBLE, p_report DOUBLE, n_minor INTEGER,
        n_major INTEGER, report VARCHAR, {_SERIES}, judged_at TIMESTAMPTZ, run_id VARCHAR, gated BOOLEAN,
        reused BOOLEAN, guided BOOLEAN, truncated BOOLEAN, wrong_language BOOLEAN, repetition BOOLEAN)""",
    f"""CREATE TABLE lake.errors (
        pair_key UBIGINT, pair_id VARCHAR, judge_version VARCHAR, ordinal INTEGER, severity VARCHAR, type VARCHAR,
        category VARCHAR, location VARCHAR, span VARCHAR, "start" INTEGER, "end" INTEGER, "match" VARCHAR,
        explanation VARCHAR, {_SERIES})""",
    """CREATE TABLE lake.dead_letters (
        dead_id VARCHAR, judge_version VARCHAR, pair_id VARCHAR, source VARCHAR, part BIGINT, "row" BIGINT,
        stage VARCHAR, reason VARCHAR, detail VARCHAR, record VARCHAR, tries INTEGER, first_at TIMESTAMPTZ,
        last_at TIMESTAMPTZ, run_id VARCHAR, resolved_at TIMESTAMPTZ, resolved_by VARCHAR)""",
    """CREATE TABLE lake.ledger (
        source VARCHAR, part BIGINT, fingerprint VARCHAR, judge_version VARCHAR, rows_total BIGINT,
        rows_skipped BIGINT, next_offset BIGINT, state VARCHAR, detail VARCHAR, run_id VARCHAR,
        updated_at TIMESTAMPTZ)""",
    "CREATE TABLE lake.judges (judge_version VARCHAR, card VARCHAR, first_at TIMESTAMPTZ)",
    """CREATE TABLE lake.runs (
        run_id VARCHAR, kind VARCHAR, judge_version VARCHAR, started_at TIMESTAMPTZ, ended_at TIMESTAMPTZ,
        state VARCHAR, arguments VARCHAR, counts VARCHAR, who VARCHAR)""",
    """CREATE TABLE lake.leases (
        name VARCHAR, token BIGINT, holder VARCHAR, note VARCHAR, taken_at TIMESTAMPTZ, committed_at TIMESTAMPTZ,
        released_at TIMESTAMPTZ)""",
    "INSERT INTO lake.leases (name, token, released_at) VALUES ('writer', 0, now()), ('judges', 0, now())",
    # A trend reads one judge's files of the months it asks for, and within them skips the pairs that are not about
    # culture, which are most, because these lie together.
    "ALTER TABLE lake.verdicts SET PARTITIONED BY (judge_version, year(logged_at), month(logged_at))",
    "ALTER TABLE lake.verdicts SET SORTED BY (status ASC, country ASC, logged_on ASC)",
    "ALTER TABLE lake.errors SET PARTITIONED BY (judge_version, year(logged_at), month(logged_at))",
]

# Small rows that change with every commit live in the catalogue itself; logged text never does, because a PostgreSQL
# catalogue cannot hold every character that a log can.
_IN_CATALOGUE = {"leases": 10, "ledger": 1000, "runs": 10, "store_meta": 10}


@dataclass(frozen=True)
class Migration:
    """One step from the version before to ``version``: statements, settings of single tables, and a change of rows.

    Settings are apart because a table's own can only follow in a transaction after the one that made the table. A new
    store has no ``rows`` to change.
    """

    version: int
    statements: Sequence[str] = ()
    settings: Sequence[str] = ()
    rows: Callable[[duckdb.DuckDBPyConnection], None] | None = None


def _in_catalogue(rows: Mapping[str, int]) -> list[str]:
    """Have tables keep so many rows of an insert in the catalogue."""
    return [f"CALL lake.set_option('data_inlining_row_limit', {n}, table_name => '{t}')" for t, n in rows.items()]


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, ["CALL lake.set_option('data_inlining_row_limit', 0)", *_TABLES]),
    Migration(2, settings=_in_catalogue(_IN_CATALOGUE)),
    Migration(
        3,
        [
            """CREATE TABLE lake.stream_ranges (
                source VARCHAR, part BIGINT, judge_version VARCHAR, first_offset BIGINT, next_offset BIGINT,
                kind VARCHAR, messages BIGINT, empty BIGINT, records BIGINT, skipped BIGINT, run_id VARCHAR,
                first_at TIMESTAMPTZ, last_at TIMESTAMPTZ)"""
        ],
    ),
    Migration(4, settings=_in_catalogue({"stream_ranges": 1000})),
    # What people say of reports, and when an alert fired or cleared: rows are only ever added, so neither needs the
    # writer's lease.
    Migration(
        5,
        [
            """CREATE TABLE lake.reviews (
                pair_key UBIGINT, pair_id VARCHAR, judge_version VARCHAR, opinion VARCHAR, comment VARCHAR,
                reviewer VARCHAR, reviewed_at TIMESTAMPTZ)""",
            """CREATE TABLE lake.alerts (
                alert VARCHAR, rule VARCHAR, subject VARCHAR, event VARCHAR, message VARCHAR, link VARCHAR,
                happened_at TIMESTAMPTZ)""",
        ],
    ),
    # Two checks at the same time must not both fire an alert: each touches this row, and the second tries again.
    Migration(6, ["INSERT INTO lake.leases (name, token, released_at) VALUES ('alerts', 0, now())"]),
    # Who asked for another try of a dead letter, and how telling of an alert went: rows that are only added, too.
    Migration(
        7,
        [
            """CREATE TABLE lake.replay_requests (
                dead_id VARCHAR, judge_version VARCHAR, requested_by VARCHAR, requested_at TIMESTAMPTZ)""",
            """CREATE TABLE lake.alert_deliveries (
                alert VARCHAR, event VARCHAR, happened_at TIMESTAMPTZ, state VARCHAR, tries INTEGER, problem VARCHAR,
                noted_at TIMESTAMPTZ)""",
        ],
    ),
    # Whoever writes a file holds a row group of it in memory: 122,880 rows with their texts, if only rows are counted.
    Migration(8, ["CALL lake.set_option('parquet_row_group_size_bytes', '16MB')"]),
    # Whoever sorts verdicts holds all that go into one file.
    Migration(9, settings=["CALL lake.set_option('target_file_size', '16MB', table_name => 'verdicts')"]),
    # A review must not outlive its pair, which somebody else may be deleting: both touch this row.
    Migration(10, ["INSERT INTO lake.leases (name, token, released_at) VALUES ('reviews', 0, now())"]),
    Migration(11, rows=name_languages_by_code),
)
SCHEMA_VERSION = MIGRATIONS[-1].version

_MAKING = "making_version"


def stored_version(connection: duckdb.DuckDBPyConnection) -> int:
    """The schema version of an attached store, 0 when it holds no tables yet or not all that belongs to them."""
    return int((_meta(connection) or {}).get("schema_version", 0))


def table_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The tables of an attached store."""
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'lake' ORDER BY 1"
    ).fetchall()
    return [str(name) for (name,) in rows]


def _meta(connection: duckdb.DuckDBPyConnection) -> dict[str, str] | None:
    """What the store says of itself; nothing where there is no table to say it."""
    try:
        # All rows are fetched: a result that is left open would keep SQLite's write-ahead log from ever being emptied.
        return dict(connection.execute("SELECT key, value FROM lake.store_meta").fetchall())
    except duckdb.CatalogException:
        return None


def refuse_newer(version: int, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Stop before a store that a newer ExCAM has written."""
    if version > migrations[-1].version:
        raise UserError(
            f"the store has schema version {version}, this ExCAM knows versions up to {migrations[-1].version}",
            "update ExCAM on this machine",
        )


def make_tables(connection: duckdb.DuckDBPyConnection, migrations: Sequence[Migration]) -> None:
    """Make a new store as the migrations, one after the other, would have; a maker that died is taken over from.

    The first transaction notes the version it makes and the second one's work is the same however often it is done, so
    between the two the store is one that another process, be it of another version, can finish.
    """

    def tables() -> None:
        if _meta(connection) is None:
            for migration in migrations:
                _run(connection, migration.statements)
            _say(connection, _MAKING, migrations[-1].version)

    def settings() -> None:
        making = (_meta(connection) or {}).get(_MAKING)
        if making is not None:
            refuse_newer(int(making), migrations)
            for migration in migrations:
                _run(connection, migration.settings if migration.version <= int(making) else ())
            connection.execute("DELETE FROM lake.store_meta WHERE key = ?", [_MAKING])
            _say(connection, "schema_version", int(making))

    transact(connection, tables)
    transact(connection, settings)


def migrate_step(connection: duckdb.DuckDBPyConnection, migration: Migration) -> None:
    """Run one migration in one transaction; whoever loses the race to do it finds it done."""

    def step() -> None:
        if stored_version(connection) >= migration.version:
            return
        _run(connection, [*migration.statements, *migration.settings])
        if migration.rows is not None:
            migration.rows(connection)
        connection.execute("DELETE FROM lake.store_meta WHERE key = 'schema_version'")
        _say(connection, "schema_version", migration.version)

    transact(connection, step)


def _run(connection: duckdb.DuckDBPyConnection, statements: Sequence[str]) -> None:
    for statement in statements:
        connection.execute(statement)


def _say(connection: duckdb.DuckDBPyConnection, key: str, version: int) -> None:
    connection.execute("INSERT INTO lake.store_meta VALUES (?, ?)", [key, str(version)])
