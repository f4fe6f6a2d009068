"""The overlays on a real control plane: applied, reconciled, upgraded, run by night, and gone without a trace.

``make test-k8s`` runs this against KUBECONFIG in namespaces of its own. Where nodes are simulated (KWOK) no container
runs: then the starter is run here, as its service account, and whatever answers on the head's ports plays Ray.
"""

from __future__ import annotations

import base64
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from tests.k8s.cluster.kube import Kube, eventually, simulated
from tests.k8s.overlays import K8S, OVERLAYS, text_of

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

RAYJOBS = {"nightly", "stream", "training"}


@dataclass
class Deployed:
    """An overlay on the cluster."""

    overlay: str
    kube: Kube
    text: str
    said: str
    simulated: bool

    def judge(self) -> dict[str, Any]:
        found: dict[str, Any] = self.kube.get("rayservice", "judge").get("status", {})
        return found

    def active(self) -> str:
        return str(self.judge().get("activeServiceStatus", {}).get("rayClusterName", ""))

    def ready(self) -> bool:
        conditions = {one["type"]: one["status"] for one in self.judge().get("conditions", [])}
        return conditions.get("Ready") == "True"

    def states(self) -> set[str]:
        jobs = self.kube.items("rayjobs")
        assert {job["metadata"]["name"] for job in jobs} == RAYJOBS
        return {job.get("status", {}).get("jobDeploymentStatus", "") for job in jobs}


@pytest.fixture(scope="module", params=OVERLAYS)
def deployed(request: pytest.FixtureRequest) -> Iterator[Deployed]:
    kube = Kube(f"excam-test-{secrets.token_hex(3)}")
    text = text_of(request.param, "example-secrets", namespace=kube.namespace)
    claims = [item for item in yaml.safe_load_all(text) if item["kind"] == "PersistentVolumeClaim"]
    with simulated(kube, claims) as fake:
        try:
            yield Deployed(request.param, kube, text, kube.apply(text), fake)
        finally:
            kube.run("delete", "namespace", kube.namespace, "--ignore-not-found", "--timeout=300s")


def test_the_server_takes_every_field_and_warns_of_nothing(deployed: Deployed) -> None:
    assert [line for line in deployed.said.splitlines() if "arning" in line] == []


def test_the_namespace_enforces_the_restricted_standard(deployed: Deployed) -> None:
    labels = deployed.kube.get("namespace", deployed.kube.namespace)["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def test_the_judge_gets_ready_and_the_templates_sleep(deployed: Deployed) -> None:
    eventually(deployed.ready, f"the RayService is not ready: {deployed.kube.warnings()}")
    asleep = {"Suspended"}
    eventually(lambda: deployed.states() == asleep, f"a template does not sleep: {deployed.kube.warnings()}")
    assert deployed.kube.items("rayclusters", "-l", "ray.io/originated-from-crd=RayJob") == []


def test_the_judges_pods_run_with_ray_token_and_nothing_was_refused(deployed: Deployed) -> None:
    pods = deployed.kube.items("pods", "-l", "app.kubernetes.io/component=judge")
    assert {pod["metadata"]["labels"]["ray.io/node-type"] for pod in pods} == (
        {"head"} if deployed.overlay == "cpu-trial" else {"head", "worker"}
    )
    for pod in pods:
        for container in pod["spec"]["containers"]:
            assert "RAY_AUTH_TOKEN" in {item["name"] for item in container["env"]}, container["name"]
        for container in [*pod["spec"]["containers"], *pod["spec"]["initContainers"]]:
            assert container["securityContext"]["readOnlyRootFilesystem"] is True, container["name"]
    refused = ("Invalid", "forbidden", "violates PodSecurity", "FailedToCreate", "not found")
    assert [event for event in deployed.kube.warnings() if any(word in event for word in refused)] == []


def test_a_new_adapter_is_served_by_a_new_cluster_and_the_old_one_serves_until_then(deployed: Deployed) -> None:
    kube, before = deployed.kube, deployed.active()
    upgraded = text_of(deployed.overlay, "example-secrets", namespace=kube.namespace, adapter="own-judge@0.2.0")
    assert "own-judge@0.2.0" in upgraded
    kube.apply(upgraded)
    seen: set[str] = set()

    def switched() -> bool:
        status = deployed.judge()
        pending = status.get("pendingServiceStatus", {}).get("rayClusterName", "")
        now = status.get("activeServiceStatus", {}).get("rayClusterName", "")
        assert deployed.ready(), "the judge was away during the upgrade"
        if pending and now == before:
            seen.add(pending)
        return bool(now) and now != before

    eventually(switched, "no switch-over")
    assert seen == {deployed.active()}, "the new cluster was prepared while the old one served"
    service = kube.get("service", "judge-serve-svc")
    assert service["spec"]["selector"]["ray.io/cluster"] == deployed.active()
    eventually(lambda: not kube.get("raycluster", before), "the old cluster stays")


def start(deployed: Deployed, job: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the starter as the Job's pod would: with its account's token, and the names from the pod's labels."""
    kube = deployed.kube
    (pod,) = eventually(lambda: kube.items("pods", "-l", f"batch.kubernetes.io/job-name={job}"), "the Job has no pod")
    labels = pod["metadata"]["labels"]
    config = yaml.safe_load(kube.run("config", "view", "--raw", "--minify", "--flatten").stdout)["clusters"][0][
        "cluster"
    ]
    server = urlsplit(config["server"])
    (folder / "token").write_text(kube.run("create", "token", "starter").stdout)
    (folder / "namespace").write_text(kube.namespace)
    (folder / "ca.crt").write_bytes(base64.b64decode(config["certificate-authority-data"]))
    environment = {
        "KUBERNETES_SERVICE_HOST": str(server.hostname),
        "KUBERNETES_SERVICE_PORT": str(server.port),
        "SERVICE_ACCOUNT_FOLDER": str(folder),
        "RUN_NAME": labels["batch.kubernetes.io/job-name"],
        "RUN_OWNER": labels["batch.kubernetes.io/controller-uid"],
    }
    command = [sys.executable, str(K8S / "base" / "start_rayjob.py"), "nightly"]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)


def test_a_night_is_started_once_runs_and_goes_with_its_job(deployed: Deployed, tmp_path: Path) -> None:
    kube, night = deployed.kube, "first-night"
    kube.run("create", "job", "--from=cronjob/nightly", night)
    if deployed.simulated:
        first, second = start(deployed, night, tmp_path), start(deployed, night, tmp_path)
        assert (first.returncode, first.stdout) == (0, f"started {night} from nightly\n"), first.stderr
        assert (second.returncode, second.stdout) == (0, f"{night} was started before: nothing to do\n"), second.stderr

    def ended() -> str:
        return str(kube.get("rayjob", night).get("status", {}).get("jobStatus", ""))

    assert eventually(ended, "the night does not end", 900) == "SUCCEEDED"
    job = kube.get("rayjob", night)
    assert job["spec"]["entrypoint"].startswith(f"export EXCAM_RUN={night}; excam score")
    assert len(kube.items("rayjobs", "-l", "excam/started-from=nightly")) == 1
    kube.run("delete", "job", night)
    eventually(lambda: not kube.get("rayjob", night), "the run outlives its Job")


@pytest.mark.parametrize(
    ("may", "verb", "what"),
    [
        (True, "create", "rayjobs.ray.io"),
        (True, "get", "rayjobs.ray.io/nightly"),
        (False, "get", "rayjobs.ray.io/stream"),
        (False, "list", "rayjobs.ray.io"),
        (False, "delete", "rayjobs.ray.io"),
        (False, "get", "secrets"),
        (False, "create", "pods"),
    ],
)
def test_the_starter_may_start_and_nothing_else(deployed: Deployed, may: bool, verb: str, what: str) -> None:
    account = f"system:serviceaccount:{deployed.kube.namespace}:starter"
    said = deployed.kube.run("auth", "can-i", verb, what, f"--as={account}", check=False).stdout.strip()
    assert said == ("yes" if may else "no")


def test_the_stream_wakes_in_a_cluster_of_its_own_which_goes_with_it(deployed: Deployed) -> None:
    kube = deployed.kube
    kube.run("patch", "rayjob", "stream", "--type=merge", "-p", '{"spec":{"suspend":false}}')

    def made() -> list[dict[str, Any]]:
        events = kube.items("events", "--field-selector", "involvedObject.kind=RayJob,involvedObject.name=stream")
        return [event for event in events if event["reason"] == "CreatedRayCluster"]

    eventually(made, f"the stream has no Ray cluster: {kube.warnings()}")
    kube.run("delete", "rayjob", "stream", "--timeout=300s")
    selection = "ray.io/originated-from-cr-name=stream"
    eventually(lambda: not kube.items("rayclusters", "-l", selection), "the stream's Ray cluster stays")


def test_the_raycronjob_is_taken_by_the_operator_and_starts_the_night(deployed: Deployed) -> None:
    kube = deployed.kube
    text = text_of(deployed.overlay, "example-secrets", "raycronjob", namespace=kube.namespace)
    (item,) = [item for item in yaml.safe_load_all(text) if item["kind"] == "RayCronJob"]
    item["spec"]["schedule"] = "* * * * *"
    kube.apply(yaml.safe_dump(item))
    if (
        not eventually(lambda: kube.get("raycronjob", "nightly"), "no RayCronJob").get("status")
        and not deployed.simulated
    ):
        pytest.skip("the operator runs without --feature-gates=RayCronJob=true")
    runs = eventually(
        lambda: [job for job in kube.items("rayjobs") if job["metadata"]["name"].startswith("nightly-")],
        f"no run: {kube.warnings()}",
        200,
    )
    assert runs[0]["spec"].get("suspend", False) is False
    kube.run("delete", "raycronjob", "nightly", "--timeout=120s")
    for job in kube.items("rayjobs"):
        if job["metadata"]["name"].startswith("nightly-"):
            kube.run("delete", "rayjob", job["metadata"]["name"], "--ignore-not-found", "--timeout=300s")


def test_after_deletion_nothing_is_left(deployed: Deployed) -> None:
    kube = deployed.kube
    all_but_namespace = [item for item in yaml.safe_load_all(deployed.text) if item["kind"] != "Namespace"]
    upgraded = text_of(deployed.overlay, "example-secrets", namespace=kube.namespace, adapter="own-judge@0.2.0")
    all_but_namespace += [item for item in yaml.safe_load_all(upgraded) if item["kind"] == "ConfigMap"]
    kube.run("delete", "--ignore-not-found", "--timeout=300s", "-f", "-", given=yaml.safe_dump_all(all_but_namespace))
    eventually(lambda: not kube.left(), f"left over: {kube.left()}")
