"""A pair that a larger sample meets again stands for fewer pairs than before: its share grows with the sample.

Samples are nested, because they go by a hash of the pair's id: after a tenth and then all of a log were judged, each of
its pairs was drawn from all of it. With the share it came in under, a pair of the first tenth would count ten times.

That is so for logs. What a capped stream draws hangs on what else came, and a pair that comes twice is met again only
because it had been drawn: its share stays.
"""

from __future__ import annotations

import duckdb

# In each table, whose share it is besides the pair's own: another judge may have drawn a smaller sample of the same.
_SERIES = {"pairs": "true", "verdicts": "judge_version || '' = $judge", "errors": "judge_version || '' = $judge"}


def raise_shares(connection: duckdb.DuckDBPyConnection, judge_version: str) -> None:
    """Give the batch's pairs that the store knows the share of this batch, where it is larger.

    It runs inside the caller's transaction and reads the temporary tables of the commit.
    """
    connection.execute(
        """CREATE OR REPLACE TEMP TABLE met AS
           SELECT pair_key, pair_id, max(sample_share) AS share FROM temp.batch
           SEMI JOIN (SELECT n FROM temp.claim WHERE is_known AND NOT is_conflict) USING (n) GROUP BY ALL"""
    )
    ((most,),) = connection.execute("SELECT max(share) FROM temp.met").fetchall()
    for table, series in _SERIES.items() if most is not None else ():
        judge = {"judge": judge_version} if "$judge" in series else {}
        # Where nothing was sampled less the statistics of the files say so, and none is read.
        less = f"{series} AND sample_share < $most AND pair_key IN (SELECT pair_key FROM temp.met)"
        ((found,),) = connection.execute(
            f"SELECT count(*) FROM lake.{table} WHERE {less}", judge | {"most": most}
        ).fetchall()
        if found:
            connection.execute(
                f"""UPDATE lake.{table} AS stored SET sample_share = met.share FROM temp.met
                    WHERE {series} AND stored.pair_key = met.pair_key AND stored.pair_id || '' = met.pair_id
                    AND stored.sample_share < met.share""",
                judge,
            )
    connection.execute("DROP TABLE temp.met")
