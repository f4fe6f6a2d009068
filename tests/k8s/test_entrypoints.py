"""The commands in the manifests are commands of this version: parsed by the shell and by the real command line."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from excam.cli import cli
from excam.store import Store
from tests.k8s.overlays import K8S, OVERLAYS, manifests, one

JOBS = ("nightly", "stream", "training")


def settings(overlay: str) -> dict[str, str]:
    (found,) = [item["data"] for item in manifests(overlay) if "EXCAM_STORE" in item.get("data", {})]
    return dict(found)


def spoken(command: str, environment: dict[str, str]) -> list[list[str]]:
    """The calls of excam that a shell makes of a command, each as its arguments; nothing of it is run."""
    echo = 'excam() { printf "%s\\0" "$@"; printf "\\n"; }; '
    done = subprocess.run(
        ["bash", "-euc", echo + command], env={"PATH": "/usr/bin:/bin", **environment}, capture_output=True, check=True
    )
    return [line.split("\0")[:-1] for line in done.stdout.decode().splitlines()]


def parse(arguments: list[str], monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]) -> dict[str, object]:
    """Walk down to the command and have click read its arguments, types, choices and requirements included."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    command: click.Command = cli
    context = click.Context(cli, info_name="excam")
    rest = list(arguments)
    while isinstance(command, click.Group):
        if command.name == "stream" and rest[0].startswith("-"):
            rest.insert(0, "run")
        found = command.get_command(context, rest.pop(0))
        assert found is not None, arguments
        command = found
    read = command.make_context(command.name, rest)
    return dict(read.params)


@pytest.fixture
def judge_file(tmp_path: Path) -> str:
    path = tmp_path / "judge.yaml"
    path.write_text("base: smollm2-135m\n")
    return str(path)


@pytest.mark.parametrize("overlay", OVERLAYS)
@pytest.mark.parametrize("job", JOBS)
def test_the_entry_point_of_a_job_is_read_by_the_command_line(
    overlay: str, job: str, judge_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = one(manifests(overlay), "RayJob", job)["spec"]["entrypoint"]
    entry = entry.replace("/etc/excam/judge/judge.yaml", judge_file).replace("/training/", f"{tmp_path}/")
    (tmp_path / "runs" / "r1" / "adapter").mkdir(parents=True)
    (tmp_path / "dataset").mkdir()
    environment = settings(overlay) | {"EXCAM_RUN": "r1"}
    calls = spoken(entry, environment)
    read = [parse(call, monkeypatch, environment) for call in calls]
    assert [call[0] for call in calls] == {
        "nightly": ["score", "store"],
        "stream": ["stream"],
        "training": ["train", "adapters"],
    }[job]
    if job == "nightly":
        assert read[0]["logs"] == (environment["EXCAM_LOGS"],)
        assert read[0]["store"] == environment["EXCAM_STORE"]
        assert float(str(read[0]["wait"])) >= 3600
    if job == "stream":
        assert (read[0]["topic"], read[0]["metrics_port"]) == (environment["EXCAM_TOPIC"], 9464)
        assert float(str(read[0]["wait"])) > 30, "a dead stream's lease must have time to expire"
    if job == "training":
        assert read[0]["resume"] is False
        assert str(read[1]["folder"]) == f"{read[0]['out']}/adapter"


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_training_that_was_disturbed_is_resumed(overlay: str, tmp_path: Path) -> None:
    entry = one(manifests(overlay), "RayJob", "training")["spec"]["entrypoint"].replace("/training/", f"{tmp_path}/")
    snapshot = tmp_path / "runs" / "r1" / "ray" / "checkpoint_manager_snapshot.json"
    snapshot.parent.mkdir(parents=True)
    snapshot.write_text("{}")
    assert "--resume" in spoken(entry, settings(overlay) | {"EXCAM_RUN": "r1"})[0]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_alerts_command_is_read_by_the_command_line(overlay: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = one(manifests(overlay), "CronJob", "alerts")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    program, *arguments = pod["containers"][0]["command"]
    assert (program, arguments[:2]) == ("excam", ["alerts", "check"])
    assert parse(arguments, monkeypatch, settings(overlay))["store"] == settings(overlay)["EXCAM_STORE"]


def test_the_alerts_command_reads_its_rules_and_is_content_with_a_store_that_is_still_empty(tmp_path: Path) -> None:
    pod = one(manifests("cpu-trial"), "CronJob", "alerts")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    rules = str(K8S / "base" / "alert-rules.yaml")
    command = [rules if word.endswith("alerts.yaml") else word for word in pod["containers"][0]["command"]]
    store = f"ducklake:sqlite:{tmp_path}/store/catalog.sqlite"
    Store.open(store).close()
    given = os.environ | {"EXCAM_STORE": store, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_no_setting_is_taken_for_an_option_of_kafka_that_is_none() -> None:
    from confluent_kafka import Consumer

    from pipelines.stream.settings import KafkaAccess

    for overlay in OVERLAYS:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings(overlay).items():
                patch.setenv(name, value)
            patch.setenv("EXCAM_KAFKA_SASL_PASSWORD", "example")
            access = KafkaAccess.load(settings(overlay)["EXCAM_KAFKA_BOOTSTRAP"])
        Consumer(access.client(group_id="excam")).close()


def test_words_of_an_entry_point_survive_the_shell() -> None:
    assert spoken('excam score "$EXCAM_LOGS" && excam store compact', {"EXCAM_LOGS": "s3://a b/*.parquet"}) == [
        ["score", "s3://a b/*.parquet"],
        shlex.split("store compact"),
    ]
