"""The script that starts a run: a copy of the template under the run's own name, which goes when its Job goes."""

from __future__ import annotations

import importlib.util
import sys
from email.message import Message
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

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


@pytest.mark.parametrize(
    ("name", "told", "ended"),
    [
        ("nightly-1", 'rayjobs.ray.io "nightly-1" already exists', 0),
        ("nightly-1", 'object is being deleted: rayjobs.ray.io "nightly-1" already exists', 1),
        ("nightly", 'rayjobs.ray.io "nightly" already exists', 1),
        ("stream", 'rayjobs.ray.io "stream" already exists', 1),
    ],
)
def test_a_name_that_is_taken_is_a_run_under_way_unless_that_is_leaving_or_no_run(
    starter: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, told: str, ended: int
) -> None:
    def answer(method: str, path: str, body: object = None) -> Any:
        if method == "POST":
            raise HTTPError(path, 409, "Conflict", Message(), BytesIO(told.encode()))
        return one(manifests("gpu"), "RayJob", "nightly")

    (tmp_path / "namespace").write_text("excam")
    monkeypatch.setattr(starter, "ACCOUNT", tmp_path)
    monkeypatch.setattr(starter, "call", answer)
    monkeypatch.setattr(sys, "argv", ["start_rayjob.py", "nightly"])
    monkeypatch.setenv("RUN_NAME", name)
    monkeypatch.setenv("RUN_OWNER", "7f0c")
    assert starter.main() == ended


def test_every_job_of_the_deployment_is_known_to_be_no_run(starter: Any) -> None:
    jobs = {found["metadata"]["name"] for found in manifests("gpu") if found["kind"] == "RayJob"}
    assert jobs == set(starter.OWN_JOBS)
