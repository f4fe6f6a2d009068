"""What a manifest names is there: volumes, settings, accounts, ports, templates. And what must hold together, holds."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from excam.alerts.rules import Rules
from excam.store.url import StoreUrl
from serve.settings import JudgeSettings
from tests.k8s.overlays import K8S, OVERLAYS, Manifest, manifests, one, pods, ray_specs, text_of

SECRETS = {"excam-access", "excam-store", "excam-kafka", "excam-alerts"}


def names(found: list[Manifest], kind: str) -> set[str]:
    return {item["metadata"]["name"] for item in found if item["kind"] == kind}


def references(value: Any, key: str) -> set[str]:
    """Every name below keys such as configMapRef or persistentVolumeClaim."""
    if isinstance(value, list):
        return {name for item in value for name in references(item, key)}
    if not isinstance(value, dict):
        return set()
    own = value.get(key)
    here = {str(own.get("name") or own.get("claimName"))} if isinstance(own, dict) else set()
    return here | {name for item in value.values() for name in references(item, key)}


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_volume_setting_and_account_that_a_pod_names_is_in_the_overlay(overlay: str) -> None:
    found = manifests(overlay)
    templates = [pod for _, pod in pods(found)]
    settings = references(templates, "configMapRef") | references(templates, "configMap")
    assert settings - {"kube-root-ca.crt"} <= names(found, "ConfigMap")
    assert references(templates, "persistentVolumeClaim") == names(found, "PersistentVolumeClaim")
    accounts = {pod["spec"]["serviceAccountName"] for pod in templates if "serviceAccountName" in pod["spec"]}
    assert accounts == names(found, "ServiceAccount")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_secrets_are_those_that_the_guide_tells_to_make(overlay: str) -> None:
    found = manifests(overlay)
    named = references(found, "secretRef") | references(found, "secretKeyRef")
    assert named == SECRETS
    guide = (K8S.parent / "docs" / "deploy.md").read_text("utf-8")
    assert [secret for secret in SECRETS if f"secret generic {secret}" not in guide] == []


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_probes_ask_ports_that_the_node_listens_on(overlay: str) -> None:
    for name, pod in pods(manifests(overlay)):
        container = pod["spec"]["containers"][0]
        listens = {port["containerPort"] for port in container.get("ports", [])} | {52365}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert container.get(probe, {"httpGet": {"port": 52365}})["httpGet"]["port"] in listens, name


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_a_new_adapter_changes_the_judges_pods_and_so_brings_a_new_cluster_beside_the_old(overlay: str) -> None:
    found = manifests(overlay)
    (settings,) = [name for name in names(found, "ConfigMap") if name.startswith("judge-settings-")]
    judge = one(found, "RayService", "judge")["spec"]
    assert judge["upgradeStrategy"] == {"type": "NewCluster"}
    assert settings in references(judge["rayClusterConfig"]["headGroupSpec"], "configMap")
    other = list(yaml.safe_load_all(text_of(overlay, adapter="own-judge@0.2.0")))
    assert one(other, "RayService", "judge")["spec"]["rayClusterConfig"] != judge["rayClusterConfig"]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_judges_settings_are_read_by_the_code_and_its_adapter_is_named_with_its_version(overlay: str) -> None:
    found = manifests(overlay)
    (text,) = [item["data"]["judge.yaml"] for item in found if "judge.yaml" in item.get("data", {})]
    settings = JudgeSettings.load(None, **yaml.safe_load(text))
    name, version = settings.adapter.split("@")
    assert (K8S.parent / "train" / "adapters" / name / version / "adapter.yaml").is_file()
    for where, cluster in ray_specs(found):
        for group in cluster.get("workerGroupSpecs", []):
            if group["groupName"] == "judges":
                assert group["maxReplicas"] == settings.replicas.max, where


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_engine_takes_no_more_threads_than_its_pod_has(overlay: str) -> None:
    found = manifests(overlay)
    (text,) = [item["data"]["judge.yaml"] for item in found if "judge.yaml" in item.get("data", {})]
    threads = JudgeSettings.load(None, **yaml.safe_load(text)).engine.cpu_threads
    for name, pod in pods(found):
        limits = pod["spec"]["containers"][0]["resources"]["limits"]
        if "judge" in name and "nvidia.com/gpu" not in limits and overlay == "cpu-trial":
            assert 0 < threads <= int(limits["cpu"]), name


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_store_and_the_alert_rules_are_read_by_the_code(overlay: str) -> None:
    found = manifests(overlay)
    (settings,) = [item["data"] for item in found if "EXCAM_STORE" in item.get("data", {})]
    assert StoreUrl.parse(settings["EXCAM_STORE"]).catalogue == {"cpu-trial": "sqlite", "gpu": "postgres"}[overlay]
    assert {rule.kind for rule in Rules.load(K8S / "base" / "alert-rules.yaml").rules} >= {"rate_risen", "no_traffic"}


def test_gpu_workers_go_where_gpus_are_and_come_and_go_within_bounds() -> None:
    for name, cluster in ray_specs(manifests("gpu")):
        for group in cluster["workerGroupSpecs"]:
            spec = group["template"]["spec"]
            assert spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1", name
            assert spec["nodeSelector"] == {"nvidia.com/gpu.present": "true"}, name
            assert [one["key"] for one in spec["tolerations"]] == ["nvidia.com/gpu"], name
            assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"] <= 4, name


def test_all_pods_that_open_the_trials_catalogue_run_on_one_node() -> None:
    found = pods(manifests("cpu-trial"))
    storing = {name: pod for name, pod in found if "data" in references(pod, "persistentVolumeClaim")}
    assert len(storing) == 5
    for name, pod in storing.items():
        (rule,) = pod["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert rule["topologyKey"] == "kubernetes.io/hostname", name
        (label,) = rule["labelSelector"]["matchExpressions"]
        assert {pod["metadata"]["labels"][label["key"]] for pod in storing.values()} == set(label["values"]), name


def test_the_trial_needs_one_node_and_no_gpu() -> None:
    found = manifests("cpu-trial")
    assert not [name for name, cluster in ray_specs(found) if cluster.get("workerGroupSpecs")]
    assert "nvidia.com" not in str(found)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_one_writer_at_a_time_is_let_loose_on_the_store(overlay: str) -> None:
    nightly, live = manifests(overlay), manifests(overlay, "live")
    for found, by_night, streaming in ((nightly, True, False), (live, False, True)):
        assert one(found, "CronJob", "nightly")["spec"].get("suspend", False) is not by_night
        assert one(found, "RayJob", "stream")["spec"]["suspend"] is not streaming
        assert one(found, "RayJob", "nightly")["spec"]["suspend"] is True  # a template
        assert one(found, "RayJob", "training")["spec"]["suspend"] is True


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_raycronjob_runs_the_nightly_job_and_the_cronjob_is_gone(overlay: str) -> None:
    plain, variant = manifests(overlay), manifests(overlay, "raycronjob")
    template = one(plain, "RayJob", "nightly")["spec"]
    assert one(variant, "RayCronJob", "nightly")["spec"]["jobTemplate"] == template | {"suspend": False}
    assert "nightly" not in names(variant, "CronJob") | names(variant, "RayJob")


@pytest.mark.parametrize("both", [("live", "raycronjob"), ("raycronjob", "live")], ids=" + ".join)
def test_the_raycronjob_is_stopped_too_where_the_stream_is_live(both: tuple[str, str]) -> None:
    assert one(manifests("gpu", "raycronjob"), "RayCronJob", "nightly")["spec"]["suspend"] is False
    found = manifests("gpu", *both)
    assert one(found, "RayCronJob", "nightly")["spec"]["suspend"] is True
    assert one(found, "RayJob", "stream")["spec"]["suspend"] is False
    assert "nightly" not in names(found, "CronJob") | names(found, "RayJob")
