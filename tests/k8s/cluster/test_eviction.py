"""The live stream outlives its eviction: the overlay's RayJob, the real operator, real Ray heads and a real Kafka.

Only where nodes are simulated: the head pods that the operator makes are then run here (node.py).
"""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from excam.fault import UserError
from tests.chaos.invariants import check_everything_is_settled, check_no_commit_is_torn
from tests.k8s.cluster.kube import Kube, eventually, simulated
from tests.k8s.cluster.node import Node, can_listen, why_not
from tests.k8s.overlays import text_of
from tests.kafka import Kafka, running_kafka
from tests.pipelines.stream.conftest import message, rows_of

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

HEAD = "app.kubernetes.io/component=stream,ray.io/node-type=head"
JUDGE = "{base: smollm2-135m, adapter: none, threshold: 1.0, max_prompt_tokens: 512}"
BATCH = 4  # messages at a time
PATIENCE = 600.0  # a head, an engine and the lease of whoever died


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    if reason := why_not(Kube("default")):
        pytest.skip(reason)
    with running_kafka() as cluster:
        yield cluster


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"ducklake:sqlite:{tmp_path}/store/catalog.sqlite"


@pytest.fixture
def topic(kafka: Kafka) -> str:
    return kafka.topic()


@pytest.fixture
def stream(kafka: Kafka, topic: str, store_url: str, tmp_path: Path) -> Iterator[Kube]:
    """The overlay's stream, awake, in a namespace of its own; its settings name what the test has made."""
    kube = Kube(f"excam-test-{secrets.token_hex(3)}")
    (tmp_path / "judge.yaml").write_text(JUDGE)
    wanted = []
    for item in yaml.safe_load_all(text_of("cpu-trial", "live", namespace=kube.namespace)):
        kind, name = item["kind"], item["metadata"]["name"]
        if kind == "ConfigMap" and name.startswith("settings-"):
            ours = {"EXCAM_STORE": store_url, "EXCAM_TOPIC": topic, "EXCAM_KAFKA_BOOTSTRAP": kafka.bootstrap}
            item["data"] |= ours
        if kind == "RayJob" and name == "stream":
            place = "/etc/excam/judge/judge.yaml"
            assert place in item["spec"]["entrypoint"]
            item["spec"]["entrypoint"] = item["spec"]["entrypoint"].replace(place, str(tmp_path / "judge.yaml"))
        elif kind in ("RayJob", "RayService", "CronJob"):
            continue
        wanted.append(item)
    with simulated(kube, [item for item in wanted if item["kind"] == "PersistentVolumeClaim"]):
        try:
            kube.apply(yaml.safe_dump_all(wanted))
            yield kube
        finally:
            kube.run("delete", "namespace", kube.namespace, "--ignore-not-found", "--timeout=300s")


@pytest.fixture
def states(stream: Kube, tmp_path: Path) -> Iterator[Callable[[], list[str]]]:
    """Every state that the RayJob has been in so far, as the server told of it."""
    log = tmp_path / "states"
    path = '{.status.jobDeploymentStatus}{"\\n"}'
    command = ["kubectl", "--namespace", stream.namespace, "get", "rayjob", "stream", "--watch", "-o"]
    with log.open("w") as told:
        watch = subprocess.Popen([*command, f"jsonpath={path}"], stdout=told)

    def seen() -> list[str]:
        assert watch.poll() is None, "nobody watched to the end"
        lines = [line for line in log.read_text().split("\n") if line]
        return [line for number, line in enumerate(lines) if number == 0 or lines[number - 1] != line]

    try:
        yield seen
    finally:
        watch.kill()
        watch.wait()


@pytest.fixture
def node(stream: Kube, request: pytest.FixtureRequest) -> Iterator[Node]:
    node = Node(stream, HEAD, grace=request.param)
    try:
        pod = eventually(node.pod, f"the operator makes no head pod: {stream.warnings()}")
        if not can_listen(pod["status"]["podIP"]):
            pytest.skip("pod addresses are not local to this machine: nothing here can answer for a pod")
        yield node
    finally:
        node.close()


def settled(store_url: str) -> int:
    """How many offsets have their outcome; at any moment nothing is torn."""
    with suppress(UserError):  # there is no store before the first driver has made it
        return check_no_commit_is_torn(store_url)
    return 0


def status_of(stream: Kube) -> dict[str, Any]:
    found: dict[str, Any] = stream.get("rayjob", "stream")["status"]
    return found


@pytest.mark.parametrize("node", [0.0, 60.0], ids=["killed", "told to end"], indirect=True)
def test_an_evicted_stream_goes_on_at_the_next_message(
    node: Node, stream: Kube, states: Callable[[], list[str]], kafka: Kafka, topic: str, store_url: str
) -> None:
    sent = 0

    def send() -> None:
        nonlocal sent
        kafka.produce(topic, [message(number) for number in range(sent, sent + BATCH)])
        sent += BATCH

    def all_settled() -> bool:
        node.tend()
        return settled(store_url) == sent

    try:
        send()
        eventually(all_settled, "the stream does not begin", PATIENCE)
        before = status_of(stream)
        send()  # in the hands of the driver, or not even that
        stream.evict(node.played[0])
        eventually(all_settled, "the stream does not go on", PATIENCE)
        send()
        eventually(all_settled, "the stream does not judge what came after", PATIENCE)
    except BaseException as error:
        error.add_note(f"{states()}, {stream.warnings()}\n{node.said()}")
        raise
    check_everything_is_settled(store_url, kafka, topic, pairs=sent, poison=0)
    runs = sorted(rows_of(store_url, "runs"), key=lambda run: str(run["run_id"]))
    assert len(runs) >= 2, "nobody else has written"
    assert runs[-1]["state"] == "running"
    assert not {"Failed", "Complete"} & set(states()), "the operator would not start it again"
    after = status_of(stream)
    assert after["succeeded"] == 0
    if node.grace == 0:  # else the operator may ask in the moment when the driver has gone and its head not yet
        assert set(states()) <= {"Initializing", "Running"}
        same = ("jobId", "rayClusterName", "failed")
        assert [after[name] for name in same] == [before[name] for name in same], "a retry of backoffLimit was used"
        assert ([run["state"] for run in runs], len(node.played)) == (["interrupted", "running"], 2)
