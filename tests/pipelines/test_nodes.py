"""More than one machine: the workers of a run live on another node than the judge, and that node dies under them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from excam.store import Store
from pipelines.batch import ScoreOptions, score_logs
from pipelines.progress import Silence, Tally
from serve.settings import JudgeSettings
from tests.conftest import LogWriter, pair_record
from tests.nodes import Node, fill_this_node, living_nodes, wait_for

pytestmark = [pytest.mark.engine, pytest.mark.faults, pytest.mark.usefixtures("judge")]
PAIRS = 192


@pytest.fixture
def second_node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path / "node.log")
    yield node
    node.kill()
    wait_for(lambda: living_nodes() == 1)


def test_a_node_that_dies_with_its_workers_costs_time_and_nothing_else(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings, request: pytest.FixtureRequest
) -> None:
    log = write_log("log.parquet", [pair_record(number) for number in range(PAIRS)], row_group_size=32)
    tenant = fill_this_node()
    node: Node = request.getfixturevalue("second_node")
    seen: list[bool] = []

    class PowerCut(Silence):
        def judging(self, tally: Tally) -> None:
            if tally.rows and not seen:
                seen.append(node.works_on("JudgeAndStage"))
                ray.kill(tenant)
                node.kill()

    scored = score_logs([str(log)], store_url, judge_settings, ScoreOptions(gate=False), PowerCut())
    assert seen == [True], "the pairs were in the hands of the node that died"
    with Store.open(store_url, read_only=True) as store:
        rows = store.query(lambda connection: connection.execute("SELECT pair_id FROM lake.verdicts").fetchall())
    assert Counter(pair_id for (pair_id,) in rows) == {f"pair-{number}": 1 for number in range(PAIRS)}
    assert scored.tally.dead_letters == 0
