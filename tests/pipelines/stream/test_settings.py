"""Secrets come from files and the environment, and show up nowhere."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from excam.cli import main
from excam.cli.stream import successor_of
from excam.fault import UserError
from pipelines.stream.settings import KafkaAccess, seconds


def test_options_come_from_a_file_and_the_environment_and_are_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yaml, properties = tmp_path / "kafka.yaml", tmp_path / "kafka.properties"
    yaml.write_text("security.protocol: SASL_SSL\nsasl.password: from-file\n")
    properties.write_text("# ours\nsecurity.protocol=SASL_SSL\nsasl.password = from-file\n")
    for path in (yaml, properties):
        access = KafkaAccess.load("broker:9092", path)
        assert access.client()["sasl.password"] == "from-file"
        assert access.reader()["security.protocol"] == "SASL_SSL"
        assert "from-file" not in repr(access)
    monkeypatch.setenv("EXCAM_KAFKA_SASL_PASSWORD", "from-environment")
    monkeypatch.setenv("EXCAM_KAFKA_BOOTSTRAP", "broker:9092")
    access = KafkaAccess.load("broker:9092", yaml)
    assert access.client()["sasl.password"] == "from-environment"
    assert "bootstrap" not in access.client()


@pytest.mark.parametrize("password", ["0123", "1_000", "yes", "1.50", "2026-01-01"])
def test_a_password_is_taken_as_it_is_written_whatever_it_looks_like(tmp_path: Path, password: str) -> None:
    path = tmp_path / "kafka.yaml"
    path.write_text(f"sasl.password: {password}\n")
    assert KafkaAccess.load("broker:9092", path).client()["sasl.password"] == password


@pytest.mark.parametrize("text", ["- a\n- b", "sasl: {password: hidden}", "sasl.password: 'hidden"])
def test_a_broken_file_is_named_without_quoting_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "kafka.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=r"kafka\.yaml") as error:
        KafkaAccess.load("broker:9092", path)
    assert "hidden" not in str(error.value)


def test_an_option_that_kafka_does_not_know_is_named_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.table({"instruction": ["a"]}), tmp_path / "log.parquet")
    monkeypatch.setenv("EXCAM_KAFKA_SASL_PASWORD", "hidden")
    with pytest.raises(SystemExit, match="2"):
        main(["produce", str(tmp_path / "log.parquet"), "--topic", "t", "--bootstrap", "127.0.0.1:1"])
    said = capsys.readouterr().err
    assert said.startswith('excam: Kafka: No such configuration property: "sasl.pasword"\n  fix: ')
    assert "hidden" not in said


def test_credentials_in_the_address_are_refused() -> None:
    with pytest.raises(UserError, match="credentials"):
        KafkaAccess.load("user:secret@broker:9092")


def test_spans_of_time_are_read_as_people_write_them() -> None:
    assert [seconds(text) for text in ("30s", "500ms", "2m", "1.5h", "7")] == [30, 0.5, 120, 5400, 7]
    with pytest.raises(UserError):
        seconds("soon")


def test_the_judge_to_move_to_is_this_one_with_another_adapter_or_what_its_own_file_says(tmp_path: Path) -> None:
    judge = {"base": "smollm2-135m", "adapter": "none", "threshold": 0.4, "full": None, "judge_config": None}
    assert successor_of(judge, None, None, quiet=True) is None
    tuned = successor_of(judge, "better@2", None, quiet=True)
    assert tuned is not None
    assert (tuned.settings.base, tuned.settings.adapter, tuned.settings.threshold) == ("smollm2-135m", "better@2", 0.4)
    (tmp_path / "next.yaml").write_text("{base: qwen2.5-coder-0.5b, threshold: 0.7}")
    other = successor_of(judge, None, str(tmp_path / "next.yaml"), quiet=True)
    assert other is not None
    assert (other.settings.base, other.settings.threshold) == ("qwen2.5-coder-0.5b", 0.7)
