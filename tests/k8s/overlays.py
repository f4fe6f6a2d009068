"""Build the overlays as ``kubectl apply -k`` would, alone or with components on top."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
K8S = ROOT / "k8s"
OVERLAYS = ("cpu-trial", "gpu")
COMPONENTS = ("live", "raycronjob", "monitoring", "example-secrets")

Manifest = dict[str, Any]


def builder() -> list[str]:
    """The kustomize at hand: kubectl's own, else the binary that .ci/environment builds."""
    if found := shutil.which("kubectl"):
        return [found, "kustomize"]
    own = ROOT / ".cache" / "bin" / "kustomize"
    return [str(own if own.is_file() else shutil.which("kustomize") or own), "build"]


@cache
def _built(overlay: str, components: tuple[str, ...], namespace: str, adapter: str | None) -> str:
    with tempfile.TemporaryDirectory(prefix=".composed-", dir=K8S) as folder:
        place = Path(folder)
        asked: dict[str, Any] = {
            "namespace": namespace,
            "resources": [f"../overlays/{overlay}"],
            "components": [f"../components/{name}" for name in components],
        }
        if adapter:
            settings = yaml.safe_load((K8S / "overlays" / overlay / "judge.yaml").read_text("utf-8"))
            (place / "judge.yaml").write_text(yaml.safe_dump(settings | {"adapter": adapter}))
            asked["configMapGenerator"] = [{"name": "judge-settings", "behavior": "replace", "files": ["judge.yaml"]}]
        (place / "kustomization.yaml").write_text(yaml.safe_dump(asked))
        done = subprocess.run([*builder(), str(place)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def text_of(overlay: str, *components: str, namespace: str = "excam", adapter: str | None = None) -> str:
    """The YAML of an overlay with components on top, and with another adapter if one is named."""
    return _built(overlay, components, namespace, adapter)


def manifests(overlay: str, *components: str) -> list[Manifest]:
    """The same, parsed; every call gives its own copy."""
    return list(yaml.safe_load_all(text_of(overlay, *components)))


def one(found: Iterable[Manifest], kind: str, name: str) -> Manifest:
    (wanted,) = [item for item in found if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    return wanted


def ray_specs(found: Iterable[Manifest]) -> Iterator[tuple[str, Manifest]]:
    """Every Ray cluster that these manifests describe, with the name of what describes it."""
    for item in found:
        spec = item.get("spec", {})
        for cluster in (
            spec.get("rayClusterConfig"),
            spec.get("rayClusterSpec"),
            spec.get("jobTemplate", {}).get("rayClusterSpec"),
        ):
            if cluster:
                yield f"{item['kind']} {item['metadata']['name']}", cluster


def pods(found: Sequence[Manifest]) -> Iterator[tuple[str, Manifest]]:
    """Every pod template in these manifests, with where it stands."""
    for name, cluster in ray_specs(found):
        yield f"{name} head", cluster["headGroupSpec"]["template"]
        for group in cluster.get("workerGroupSpecs", []):
            yield f"{name} {group['groupName']}", group["template"]
    for item in found:
        if item["kind"] == "CronJob":
            yield f"CronJob {item['metadata']['name']}", item["spec"]["jobTemplate"]["spec"]["template"]
