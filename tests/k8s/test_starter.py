"""The script that starts a run: a copy of the template under the run's own name, which goes when its Job goes."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from tests.k8s.overlays import K8S, manifests, one


@pytest.fixture(scope="module")
def starter() -> Any:
    spec = importlib.util.spec_from_file_location("start_rayjob", K8S / "base" / "start_rayjob.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_copy_runs_knows_its_name_and_belongs_to_its_job(starter: Any) -> None:
    template = one(manifests("gpu"), "RayJob", "training")
    copy = starter.copy_of(template, "train-1", "7f0c")
    assert copy["metadata"]["name"] == "train-1"
    assert copy["metadata"]["ownerReferences"] == [
        {"apiVersion": "batch/v1", "kind": "Job", "name": "train-1", "uid": "7f0c"}
    ]
    assert copy["spec"]["suspend"] is False
    assert copy["spec"]["entrypoint"].startswith("export EXCAM_RUN=train-1; ")
    assert copy["spec"]["rayClusterSpec"] == template["spec"]["rayClusterSpec"]


def test_nothing_that_the_cluster_wrote_on_the_template_is_copied(starter: Any) -> None:
    template = one(manifests("gpu"), "RayJob", "nightly")
    template["metadata"] |= {"uid": "1", "resourceVersion": "2", "finalizers": ["ray.io/rayjob-finalizer"]}
    template["status"] = {"jobDeploymentStatus": "Suspended"}
    copy = starter.copy_of(template, "nightly-1", "7f0c")
    assert copy.keys() == {"apiVersion", "kind", "metadata", "spec"}
    assert copy["metadata"].keys() == {"name", "labels", "ownerReferences"}
    assert template["spec"]["suspend"] is True
