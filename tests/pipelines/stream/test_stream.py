"""A topic judged from end to end on a real broker with the real judge: every offset has exactly one outcome."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, Producer, TopicPartition

from excam.cli import cli
from excam.mapping import RecordMapping
from excam.store import Store
from pipelines.again import replay
from pipelines.batch import ScoreOptions, score_logs
from pipelines.stream.settings import KafkaAccess
from pipelines.stream.topic import Topic
from pipelines.stream.watch import BatchDone, StreamWatcher
from serve.settings import JudgeSettings
from tests.conftest import LogWriter, pair_record
from tests.kafka import Kafka
from tests.pipelines.stream.conftest import Run, check_every_offset_has_one_outcome, ends, message, rows_of
from tests.pipelines.stream.registry_server import framed, serving, told_body

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("judge")]


def excam(*arguments: str) -> str:
    """What a command says on stdout."""
    answer = CliRunner().invoke(cli, arguments)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_every_pair_of_a_topic_is_judged_once_and_new_ones_are_judged_alone(
    kafka: Kafka, stream: Run, store_url: str, write_log: LogWriter, tmp_path: Path
) -> None:
    topic = kafka.topic(3)
    for start, kind in ((0, "none"), (5, "gzip"), (10, "lz4"), (15, "zstd"), (20, "snappy")):
        batch = [message(number) for number in range(start, start + 5)]
        kafka.produce(topic, batch, partition=lambda number: number % 3, compression_type=kind)
    first = stream(kafka, topic)
    assert (first.tally.rows, first.tally.judged, first.tally.dead_letters) == (25, 25, 0)

    log = write_log("more.parquet", [pair_record(number) for number in range(25, 30)])
    (tmp_path / "judge.yaml").write_text("{base: smollm2-135m, adapter: none, threshold: 1.0, max_prompt_tokens: 512}")
    place = ["--topic", topic, "--bootstrap", kafka.bootstrap]
    assert "5 messages" in excam("produce", str(log), *place)
    judge = ["--judge-config", str(tmp_path / "judge.yaml"), "--no-gate", "--group", f"group-{topic}"]
    told = excam("stream", *place, "--store", store_url, *judge, "--until-caught-up", "--screeners", "2", "--json")
    assert json.loads(told)["tally"]["judged"] == 5
    trends = json.loads(excam("trends", "--store", store_url, "--by", "country", "--bucket", "month", "--json"))
    assert "ID" in json.dumps(trends)
    verdicts = rows_of(store_url, "verdicts")
    assert Counter(row["pair_id"] for row in verdicts) == {f"pair-{number}": 1 for number in range(30)}
    assert {row["country"] for row in verdicts} == {"ID", "JP", "MX", "NG", "DE"}
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})
    with Topic(topic, KafkaAccess(kafka.bootstrap), f"group-{topic}") as asked:
        assert asked.mirrored() == ends(kafka, topic)


def test_whatever_is_in_a_topic_ends_no_loop_and_loses_nothing(
    kafka: Kafka, stream: Run, store_url: str, judge_settings: JudgeSettings
) -> None:
    letters = kafka.topic()
    topic = kafka.compacted_topic(message(10), message(11), gap=300)  # more offsets than the first batch takes
    begin = ends(kafka, topic)[0]
    producer = Producer(kafka.config | {"message.max.bytes": 8_000_000})
    headers: dict[str, str | bytes | None] = {"trace": b"abc", "odd name": b"\xff"}
    producer.produce(topic, b"\xffpoison", key=b"k", headers=headers)
    producer.produce(topic, None, key=b"tombstone")
    producer.produce(topic, message(1), key=b"1")
    producer.produce(topic, message(1), key=b"1 again")  # sent twice by a producer that was not sure
    future = datetime.now(UTC) + timedelta(days=3)
    producer.produce(topic, message(2, logged_at=future), key=b"2")
    producer.produce(topic, message(3, output="In Bali people rest. " * 250_000), key=b"3")  # 5 MB
    producer.produce(topic, b"\n".join([message(4), b"{broken", message(5)]), key=b"4")
    producer.produce(topic, message(6, output=None, told="Nasi goreng."), key=b"6")
    producer.produce(topic, framed(4, told_body("pair-12", "What is eaten in Bali?", "Rice.")), key=b"12")
    assert producer.flush(30) == 0
    kafka.transaction(topic, [message(7), message(8)], commit=True)
    kafka.transaction(topic, [message(9)] * 30, commit=False)

    class Skews(StreamWatcher):
        skewed = 0

        def settled(self, done: BatchDone) -> None:
            self.skewed += done.skewed

    watcher = Skews()
    done = stream(kafka, topic, watcher, dead_letter_topic=letters)
    assert {row["pair_id"]: row["truncated"] for row in rows_of(store_url, "verdicts")} == {
        f"pair-{number}": number == 3 for number in (1, 2, 3, 4, 5, 7, 8, 10, 11)
    }
    assert watcher.skewed == 1
    assert done.positions == ends(kafka, topic)
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})
    (read,) = (row for row in rows_of(store_url, "stream_ranges") if row["kind"] == "read")
    assert (read["messages"], read["empty"], read["records"]) == (14, 2, 14)

    dead = {row["row"] - begin: row for row in rows_of(store_url, "dead_letters")}
    assert {offset: row["reason"] for offset, row in dead.items()} == {
        0: "undecodable",
        6: "undecodable",
        7: "bad_field",
        8: "undecodable",
    }
    kept = json.loads(dead[0]["record"])["excam_message"]
    assert (kept["topic"], kept["partition"], kept["offset"], kept["key"]) == (topic, 0, begin, "k")
    assert kept["headers"] == {"trace": "abc", "odd name": {"base64": "/w=="}}
    assert kept["value"] == {"base64": "/3BvaXNvbg=="}
    assert "line 2" in dead[6]["source"]

    consumer = Consumer(kafka.config | {"group.id": "letters", "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(letters, 0, 0)])
    sent = consumer.consume(4, 20)
    consumer.close()
    told = [dict(one.headers() or []) for one in sent]
    assert {int(one["excam.offset"] or 0) - begin for one in told} == {0, 6, 7, 8}

    with serving([]) as registry:
        mended = ScoreOptions(gate=False, mapping=RecordMapping(fields={"output": "told"}), registry=registry)
        replay(store_url, judge_settings, [dead[7]["dead_id"], dead[8]["dead_id"]], mended)
    assert {"pair-6", "pair-12"} < {row["pair_id"] for row in rows_of(store_url, "verdicts")}
    resolved = {row["row"] - begin for row in rows_of(store_url, "dead_letters") if row["resolved_at"]}
    assert resolved == {7, 8}


def test_lost_offsets_are_recorded_and_new_partitions_are_picked_up_while_it_runs(
    kafka: Kafka, stream: Run, store_url: str
) -> None:
    topic = kafka.topic()
    kafka.produce(topic, [message(number) for number in range(8)])
    stream(kafka, topic, max_batch=4)
    kafka.produce(topic, [message(number) for number in range(8, 16)])
    admin = kafka.admin()
    admin.delete_records([TopicPartition(topic, 0, 11)])[TopicPartition(topic, 0)].result(10)

    class Grow(StreamWatcher):
        lost = messages = 0

        def settled(self, done: BatchDone) -> None:
            if not self.messages:
                kafka.grow(topic, 3)
                kafka.produce(topic, [message(number) for number in (20, 21, 22)], partition=lambda number: number)
            self.lost += done.lost
            self.messages += done.messages
            if self.messages == 8:
                os.kill(os.getpid(), signal.SIGTERM)

    watcher = Grow()
    done = stream(kafka, topic, watcher, max_batch=2, until_caught_up=False)
    assert done.stopped
    assert watcher.lost == 3
    judged = {row["pair_id"] for row in rows_of(store_url, "verdicts")}
    assert judged == {f"pair-{number}" for number in (*range(8), *range(11, 16), 20, 21, 22)}
    lost = [row for row in rows_of(store_url, "stream_ranges") if row["kind"] == "lost"]
    assert [(row["first_offset"], row["next_offset"]) for row in lost] == [(8, 11)]
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})
    assert [run["state"] for run in rows_of(store_url, "runs")] == ["done", "stopped"]


def test_an_empty_topic_is_caught_up_and_latest_means_the_first_start(
    kafka: Kafka, stream: Run, store_url: str
) -> None:
    assert stream(kafka, kafka.topic(2)).positions == {0: 0, 1: 0}
    topic = kafka.topic(2)
    kafka.produce(topic, [message(number) for number in range(5)])
    first = stream(kafka, topic, start="latest")
    assert (first.tally.rows, first.positions) == (0, {0: 5, 1: 0})
    kafka.produce(topic, [message(5)])
    assert stream(kafka, topic, start="latest").tally.judged == 1
    again = stream(kafka, topic, start="earliest", rewind=True)
    assert (again.tally.rows, again.tally.reused) == (6, 1)
    assert Counter(row["pair_id"] for row in rows_of(store_url, "verdicts")) == {f"pair-{n}": 1 for n in range(6)}


def test_a_share_a_cap_and_a_favoured_app_leave_rates_right(kafka: Kafka, stream: Run, store_url: str) -> None:
    topic = kafka.topic()
    when = datetime(2026, 9, 1, 12, 59, 59, tzinfo=UTC)
    batch = [message(number, logged_at=when) for number in range(0, 200, 5)]
    batch += [message(number, logged_at=when, app="vip") for number in range(1, 51, 5)]
    kafka.produce(topic, batch)
    done = stream(kafka, topic, cap_per_country=8, always_apps=("vip",))
    weights: dict[str, float] = {}
    for row in rows_of(store_url, "verdicts"):
        weights[row["app"]] = weights.get(row["app"], 0) + 1 / row["sample_share"]
    assert weights == pytest.approx({"helper": 40, "vip": 10})
    assert (done.tally.judged, done.tally.skipped) == (18, 32)
    (read,) = (row for row in rows_of(store_url, "stream_ranges") if row["kind"] == "read")
    assert (read["records"], read["skipped"]) == (50, 32)


SECRETS = ("joe.doe@mail.example.org", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "536-90-4399", "T-991234")


def test_redacted_text_is_nowhere_on_disk_for_batch_and_stream_alike(
    kafka: Kafka, stream: Run, store_url: str, judge_settings: JudgeSettings, write_log: LogWriter, tmp_path: Any
) -> None:
    mapping = RecordMapping(redact="all", redact_patterns={"ticket": r"T-\d{6}"}, metadata=("contact",))
    told = f"Write to {SECRETS[0]}, pay with {SECRETS[1]} or {SECRETS[2]}; {SECRETS[3]}, {SECRETS[4]}."
    hostile = {"instruction": f"Who in Japan is this? {told}", "contact": SECRETS[0], "pair_id": SECRETS[0]}
    topic = kafka.topic()
    records = [pair_record(1, **hostile), pair_record(2, output=None, contact=told)]
    values = [json.dumps(record, default=str).encode() for record in records]
    kafka.produce(topic, [*values, f'{{"broken": "{told}"'.encode(), b"\xff" + told.encode()])
    stream(kafka, topic, mapping=mapping)
    options = ScoreOptions(mapping=mapping, gate=False)
    log = write_log(
        "log.parquet", [pair_record(11, **hostile | {"pair_id": "b"}), pair_record(12, output=None, contact=told)]
    )
    score_logs([str(log)], store_url, judge_settings, options)
    with Store.open(store_url, read_only=True) as store:
        store.snapshot(str(tmp_path / "store" / "snapshot.duckdb"))
    disk = {path: path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file()}
    assert sum(len(content) for content in disk.values()) > 10_000
    texts = " ".join(row["instruction"] for row in rows_of(store_url, "texts"))
    assert "Write to [EMAIL], pay with [CARD] or [IBAN]; [NATIONAL], [TICKET]." in texts
    counted = [json.loads(row["metadata"])["redacted"] for row in rows_of(store_url, "pairs")]
    assert all(one["email"] >= 2 and one["card"] == 1 and one["ticket"] == 1 for one in counted)
    tables = ("texts", "pairs", "verdicts", "errors", "dead_letters", "runs", "ledger")
    told_by_tables = json.dumps([rows_of(store_url, name) for name in tables], default=str)
    everything = b"".join(disk.values()) + told_by_tables.encode()
    for secret in SECRETS:
        assert secret.encode() not in everything
    assert len(rows_of(store_url, "dead_letters")) == 4
