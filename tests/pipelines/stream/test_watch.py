"""Figures of a stream: what Prometheus is given, and what ``excam stream status`` tells, with brokers and without."""

from __future__ import annotations

import json
import time
import urllib.request
from dataclasses import replace

import pytest
from click.testing import CliRunner
from prometheus_client import generate_latest

from excam.cli import cli
from excam.judge_card import JudgeCard
from excam.store import OffsetRange, Store
from pipelines.progress import Tally
from pipelines.stopping import Terminated
from pipelines.stream import topic
from pipelines.stream.metrics import Metrics
from pipelines.stream.screener import PartCount
from pipelines.stream.stages import JudgedUnit
from pipelines.stream.topic import Bounds
from pipelines.stream.watch import BatchDone

SOURCE = "kafka:logs#1"


def batch() -> tuple[BatchDone, list[OffsetRange]]:
    """Ten messages of two partitions, of which one is behind; one pair was logged in the future."""
    now = time.time()
    unit = JudgedUnit("", 8, Tally(rows=8, judged=6, errors=2, dead_letters=1, retries=3), [now - 4, now - 2, now + 50])
    parts = {
        0: PartCount(6, 600, 1, 7, 1, 105, int((now - 9) * 1000)),
        1: PartCount(4, 400, 0, 4, 1, 3, int(now * 1000)),
    }
    ranges = [OffsetRange(SOURCE, 0, 90, 100, "lost"), OffsetRange(SOURCE, 0, 100, 106), OffsetRange(SOURCE, 1, 0, 4)]
    bounds = {0: Bounds(100, 126), 1: Bounds(0, 4)}
    return BatchDone.of([unit], ranges, parts, bounds, seconds=3.0), ranges


def test_a_batch_tells_lag_delay_and_what_became_of_its_records() -> None:
    done, _ = batch()
    assert {part: lag.messages for part, lag in done.lags.items()} == {0: 20, 1: 0}
    assert 8.5 < done.lags[0].seconds < 12
    assert done.lags[1].seconds == 0
    assert (done.messages, done.lost, done.skewed) == (10, 10, 1)
    assert (done.tally.rows, done.tally.skipped, done.tally.judged) == (10, 2, 6)
    middle = done.percentile(50)
    assert middle is not None
    assert 1.5 < middle < 3
    assert done.later(2.0).percentile(50) == pytest.approx(middle + 2)
    assert json.loads(done.note(0))["pairs_per_second"] == 2.0


def test_prometheus_is_given_every_figure_and_nothing_logged() -> None:
    metrics = Metrics("logs")
    metrics.started(SOURCE, {0: 90, 1: 0})
    metrics.settled(batch()[0])
    metrics.queued(17)
    metrics.trouble(RuntimeError("away"), 1.0)
    told = generate_latest(metrics.registry).decode()
    for line in (
        'excam_stream_lag_messages{partition="0",topic="logs"} 20.0',
        'excam_stream_pairs_per_second{topic="logs"} 2.0',
        'excam_stream_pairs_total{outcome="dead_letter",topic="logs"} 1.0',
        'excam_stream_lost_offsets_total{topic="logs"} 10.0',
        'excam_stream_judge_retries_total{topic="logs"} 3.0',
        'excam_stream_judge_queue_pairs{topic="logs"} 17.0',
        'excam_stream_log_to_verdict_seconds_count{topic="logs"} 3.0',
        'excam_stream_troubles_total{topic="logs"} 1.0',
    ):
        assert line in told
    assert "away" not in told
    server, _ = metrics.serve("127.0.0.1", 0)
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics") as answer:
        assert b"excam_stream_lag_seconds" in answer.read()
    server.shutdown()


def test_status_tells_offsets_lag_speed_and_losses_from_the_store(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = JudgeCard(base="tiny", base_sha256="0" * 64, prompt_sha256="1" * 64, decoding={})
    done, ranges = batch()
    with Store.open(store_url) as store, store.lease() as lease:
        version = store.register_judge(card)
        run = store.start_run(lease, "stream", version, {})
        starts = [OffsetRange(SOURCE, 0, 90, 90, "start"), OffsetRange(SOURCE, 1, 0, 0, "start")]
        store.commit(lease, run, version, [], [], starts)
        store.commit(lease, run, version, [], [], [replace(one, detail=done.note(one.part)) for one in ranges])
    answer = CliRunner().invoke(cli, ["stream", "status", "--store", store_url, "--json"])
    assert answer.exit_code == 0, answer.output
    first, second = json.loads(answer.output)
    assert (first["next_offset"], first["lag_messages"], first["lost"]) == (106, 20, 10)
    assert (second["next_offset"], second["lag_messages"], second["lost"]) == (4, 0, 0)
    assert first["pairs_per_second"] == 2.0
    table = CliRunner().invoke(cli, ["stream", "status", "--store", store_url])
    assert "logs#1" in table.output

    monkeypatch.setattr(topic, "PATIENCE", 0.1)
    asked = CliRunner().invoke(cli, ["stream", "status", "--store", store_url, "--json", "--bootstrap", "127.0.0.1:1"])
    assert [(row["lag_messages"], row["lag_seconds"]) for row in json.loads(asked.stdout)] == [(None, None)] * 2
    assert "the lag of kafka:logs#1 is not known: the brokers cannot be asked" in asked.stderr


def test_a_stream_that_is_stopped_while_it_starts_ends_well_and_its_json_is_json(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise Terminated

    monkeypatch.setattr("pipelines.stream.run.stream_topic", stopped)
    asked = ["stream", "--topic", "t", "--bootstrap", "127.0.0.1:1", "--store", store_url]
    assert [CliRunner().invoke(cli, [*asked, *form]).stdout for form in ([], ["--json"])] == ["", "null\n"]


def test_a_span_or_start_that_makes_no_sense_is_said() -> None:
    common = ["stream", "--topic", "t", "--bootstrap", "127.0.0.1:1"]
    for option, value in (("--max-latency", "soon"), ("--from", "yesterday")):
        answer = CliRunner().invoke(cli, [*common, option, value])
        assert answer.exit_code == 2
        assert value in answer.output
