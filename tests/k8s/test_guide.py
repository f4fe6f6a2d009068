"""What the guide tells to write down is valid, names what is there, and lands where it should."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import yaml

from tests.k8s.overlays import K8S, Manifest, builder, manifests, pods
from tests.k8s.schemas import Schemas


def written(word: str) -> Manifest:
    """The one YAML document of the guide that holds this word."""
    guide = (K8S.parent / "docs" / "deploy.md").read_text("utf-8")
    (found,) = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.+?)```", guide, re.DOTALL) if word in text]
    return dict(found)


def test_whatever_components_add_to_an_overlay_of_ones_own_lands_in_its_namespace() -> None:
    overlay = written("components:")
    overlay["components"] = ["../components/monitoring", "../components/raycronjob"]
    with tempfile.TemporaryDirectory(prefix=".composed-", dir=K8S) as folder:
        (Path(folder) / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
        done = subprocess.run([*builder(), folder], capture_output=True, text=True, check=True)
    found = list(yaml.safe_load_all(done.stdout))
    assert {"PodMonitor", "PrometheusRule", "RayCronJob"} <= {item["kind"] for item in found}
    assert [item["kind"] for item in found if item["metadata"].get("namespace") != "excam"] == ["Namespace"]


def test_the_pod_that_carries_a_dataset_is_valid_and_mounts_the_volume_that_training_reads(schemas: Schemas) -> None:
    pod = written("kind: Pod")
    assert schemas.complaints(pod) == []
    (volume,) = pod["spec"]["volumes"]
    (training,) = [found["spec"] for name, found in pods(manifests("gpu")) if name == "RayJob training head"]
    assert volume in training["volumes"]
    (mount,) = pod["spec"]["containers"][0]["volumeMounts"]
    assert mount in training["containers"][0]["volumeMounts"]
    assert pod["spec"]["securityContext"].items() <= training["securityContext"].items()
    assert pod["spec"]["containers"][0]["securityContext"] == training["containers"][0]["securityContext"]
