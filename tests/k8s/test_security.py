"""Every pod keeps the restricted standard and more; every account has what it needs; Ray's ports are nobody's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.k8s.overlays import OVERLAYS, Manifest, manifests, one, pods, ray_specs

EVERYTHING = [(overlay, "raycronjob") for overlay in OVERLAYS] + [(overlay,) for overlay in OVERLAYS]


def containers(pod: Manifest) -> list[Any]:
    return [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]


@pytest.mark.parametrize("way", EVERYTHING, ids=" + ".join)
def test_every_pod_is_restricted_reads_only_its_image_and_mounts_no_token(way: tuple[str, ...]) -> None:
    found = list(pods(manifests(*way)))
    assert len(found) >= 6
    for name, pod in found:
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["runAsUser"] > 0, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert spec["automountServiceAccountToken"] is False, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys(), name
        assert not [volume for volume in spec["volumes"] if "hostPath" in volume], name
        for container in containers(pod):
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name


@pytest.mark.parametrize("way", EVERYTHING, ids=" + ".join)
def test_every_container_says_what_it_needs_and_may_take(way: tuple[str, ...]) -> None:
    for name, pod in pods(manifests(*way)):
        for container in containers(pod):
            sizes = container["resources"]
            assert {"cpu", "memory"} <= sizes["requests"].keys() & sizes["limits"].keys(), name


@pytest.mark.parametrize("way", EVERYTHING, ids=" + ".join)
def test_a_pod_that_writes_has_a_place_for_it(way: tuple[str, ...]) -> None:
    for name, pod in pods(manifests(*way)):
        volumes = {volume["name"]: volume for volume in pod["spec"]["volumes"]}
        for container in containers(pod):
            mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
            assert set(mounts.values()) <= volumes.keys(), name
            home = {item["name"]: item.get("value") for item in container.get("env", [])}.get("HOME")
            assert home is None or "emptyDir" in volumes[mounts[home]], name


@pytest.mark.parametrize("way", EVERYTHING, ids=" + ".join)
def test_ray_asks_for_its_token_and_is_reached_from_inside_alone(way: tuple[str, ...]) -> None:
    found = list(ray_specs(manifests(*way)))
    assert len(found) == 4
    for name, cluster in found:
        assert cluster["authOptions"] == {"mode": "token"}, name
        assert cluster["headGroupSpec"]["serviceType"] == "ClusterIP", name
        assert cluster["headGroupSpec"]["enableIngress"] is False, name


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_only_the_autoscaler_holds_a_token_and_only_where_there_is_one(overlay: str) -> None:
    for name, cluster in ray_specs(manifests(overlay)):
        mounts = cluster.get("autoscalerOptions", {}).get("volumeMounts", [])
        autoscaled = cluster.get("enableInTreeAutoscaling", False)
        assert autoscaled is ("api" in {mount["name"] for mount in mounts}), name
        head = cluster["headGroupSpec"]["template"]["spec"]
        assert "api" not in {mount["name"] for mount in head["containers"][0]["volumeMounts"]}, name
        assert autoscaled is ("serviceAccountName" not in head), name


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_whoever_starts_runs_may_read_two_templates_and_create_runs(overlay: str) -> None:
    found = manifests(overlay)
    assert [item["metadata"]["name"] for item in found if item["kind"] == "Role"] == ["starter"]
    assert one(found, "Role", "starter")["rules"] == [
        {"apiGroups": ["ray.io"], "resources": ["rayjobs"], "resourceNames": ["nightly", "training"], "verbs": ["get"]},
        {"apiGroups": ["ray.io"], "resources": ["rayjobs"], "verbs": ["create"]},
    ]
    assert not [item for item in found if item["kind"].startswith("Cluster")]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_nothing_talks_to_anything_unless_it_is_said(overlay: str) -> None:
    policies = {
        item["metadata"]["name"]: item["spec"] for item in manifests(overlay) if item["kind"] == "NetworkPolicy"
    }
    assert policies["default-deny"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for name, policy in policies.items():
        for rule in policy.get("ingress", []):
            ports = {port["port"] for port in rule.get("ports", [])}
            assert rule["from"], name
            assert 8265 not in ports or name == "operator", f"{name} lets in to Ray's dashboard"
            assert ports or name.startswith("ray-"), f"{name} lets in to every port"
            assert 10001 not in ports, name


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_stream_alone_reaches_the_brokers_that_the_settings_name(overlay: str) -> None:
    found = manifests(overlay)
    kafka = one(found, "NetworkPolicy", "kafka")["spec"]
    assert kafka["podSelector"] == {"matchLabels": {"app.kubernetes.io/component": "stream"}}
    (rule,) = kafka["egress"]
    (settings,) = [item["data"] for item in found if "EXCAM_KAFKA_BOOTSTRAP" in item.get("data", {})]
    for broker in settings["EXCAM_KAFKA_BOOTSTRAP"].split(","):
        host, port = broker.split(":")
        assert any(open["port"] <= int(port) <= open.get("endPort", open["port"]) for open in rule["ports"]), broker
        if host.endswith(".svc"):
            namespace = {"kubernetes.io/metadata.name": host.split(".")[-2]}
            assert {"namespaceSelector": {"matchLabels": namespace}} in rule["to"], broker


def test_kafkas_password_is_for_the_stream_alone() -> None:
    found = manifests("gpu")
    reading = {name for name, pod in pods(found) if "excam-kafka" in str(pod)}
    assert reading == {"RayJob stream head", "RayJob stream judges"}
    assert {name for name, pod in pods(found) if "excam-access" in str(pod)} == {
        "RayService judge head",
        "RayService judge judges",
    }


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_no_secret_is_in_the_manifests(overlay: str) -> None:
    found = manifests(overlay)
    assert not [item for item in found if item["kind"] == "Secret"]
    settings = [item["data"] for item in found if item["kind"] == "ConfigMap"]
    assert not [name for data in settings for name in data if "PASSWORD" in name or "SECRET" in name or "TOKEN" in name]
