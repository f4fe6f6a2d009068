"""More than one machine: the workers of a run live on another node than the judge, and that node dies under them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from excam.store import Store
from pipelines.batch import ScoreOptions, score_logs
from pipelines.progress import Silence, Tally
from serve.settings import JudgeSettings
from tests.conftest import LogWriter, pair_record

pytestmark = [pytest.mark.engine, pytest.mark.faults, pytest.mark.usefixtures("judge")]
PAIRS = 192


class Node:
    """A second node of the cluster: a raylet of its own, with workers of its own."""

    def __init__(self, log: Path) -> None:
        address = ray.get_runtime_context().gcs_address
        size = ["--node-ip-address=127.0.0.1", "--num-cpus=2", f"--object-store-memory={120 * 2**20}"]
        with log.open("wb") as said:
            self._process = subprocess.Popen(
                [Path(sys.executable).with_name("ray"), "start", f"--address={address}", "--block", *size],
                env=os.environ | {"RAY_AUTH_MODE": "token"},
                stdout=said,
                stderr=said,
            )
        _wait_for(lambda: _living() == 2, lambda: log.read_text()[-2000:])

    def processes(self) -> list[psutil.Process]:
        return psutil.Process(self._process.pid).children(recursive=True)

    def works_on(self, stage: str) -> bool:
        lines = psutil.process_iter(["pid", "cmdline"])
        mine = {process.pid for process in self.processes()}
        return any(stage in " ".join(one.info["cmdline"] or []) for one in lines if one.info["pid"] in mine)

    def kill(self) -> None:
        """As a power cut would: the raylet and all its workers, at once."""
        if self._process.poll() is None:
            for process in self.processes():
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            self._process.kill()
            self._process.wait()


@pytest.fixture
def second_node(tmp_path: Path) -> Iterator[Node]:
    node = Node(tmp_path / "node.log")
    yield node
    node.kill()
    _wait_for(lambda: _living() == 1)


class Tenant:
    """Takes all that is free on the judge's node, so that everything else must go to the other one."""

    def ready(self) -> bool:
        return True


def test_a_node_that_dies_with_its_workers_costs_time_and_nothing_else(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings, request: pytest.FixtureRequest
) -> None:
    log = write_log("log.parquet", [pair_record(number) for number in range(PAIRS)], row_group_size=32)
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    free = ray.available_resources()["CPU"]
    tenant = ray.remote(Tenant).options(num_cpus=free, scheduling_strategy=here).remote()
    assert ray.get(tenant.ready.remote())
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


def _living() -> int:
    return sum(node["Alive"] for node in ray.nodes())


def _wait_for(condition: Callable[[], bool], said: Callable[[], str] = str) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"it did not happen: {said()}")
        time.sleep(0.1)
