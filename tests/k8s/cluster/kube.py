"""kubectl for tests: typed answers, patience with controllers, and where nodes are simulated what they lack."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import yaml

Found = TypeVar("Found")
PATIENCE = 300.0


class Kube:
    """The cluster in KUBECONFIG, seen from one namespace."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace

    def run(self, *arguments: str, given: str | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
        command = ["kubectl", "--namespace", self.namespace, *arguments]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0 or not check, f"{' '.join(command)}: {done.stderr[-3000:]}"
        return done

    def get(self, kind: str, name: str) -> dict[str, Any]:
        """An object, or an empty one where there is none."""
        done = self.run("get", kind, name, "--ignore-not-found", "-o", "json")
        found: dict[str, Any] = json.loads(done.stdout or "{}")
        return found

    def items(self, kind: str, *selection: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.run("get", kind, *selection, "-o", "json").stdout)["items"]
        return found

    def apply(self, manifests: str) -> str:
        """Server-side and strict: an unknown field is an error. What the server warns of is returned."""
        order = ("apply", "--server-side", "--force-conflicts", "--validate=strict", "-f", "-")
        return self.run(*order, given=manifests).stderr

    def evict(self, pod: str) -> None:
        """As a drain does: disruption budgets are asked, and the pod gets its time to end."""
        asked = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": self.namespace}}
        address = f"/api/v1/namespaces/{self.namespace}/pods/{pod}/eviction"
        self.run("create", "--raw", address, "-f", "-", given=json.dumps(asked))

    def warnings(self) -> list[str]:
        """Events of type Warning: the API server accepts things that an operator refuses later."""
        events = self.items("events", "--field-selector", "type=Warning")
        return [f"{e['involvedObject']['kind']} {e['involvedObject']['name']}: {e['message']}" for e in events]

    def left(self) -> list[str]:
        """Everything in the namespace but what Kubernetes itself puts into each, and events."""
        kinds = self.run("api-resources", "--verbs=list", "--namespaced", "-o", "name").stdout.split()
        wanted = ",".join(kind for kind in kinds if not kind.startswith("events"))
        names = self.run("get", wanted, "--ignore-not-found", "-o", "name").stdout.split()
        own = {"configmap/kube-root-ca.crt", "serviceaccount/default"}
        return [name for name in names if name not in own]


def eventually(look: Callable[[], Found], what: str, patience: float = PATIENCE) -> Found:
    """The first true answer within patience; controllers work in their own time."""
    deadline = time.monotonic() + patience
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited {patience:.0f} s in vain: {what}"
        time.sleep(1)


@contextmanager
def simulated(kube: Kube, claims: list[dict[str, Any]]) -> Iterator[bool]:
    """Where nodes are KWOK's, give them what a real cluster has: a GPU node, and volumes for the claims."""
    nodes = kube.items("nodes", "-l", "type=kwok")
    if not nodes:
        yield False
        return
    made = [_gpu_node(kube.namespace), *(_volume(kube.namespace, claim) for claim in claims)]
    kube.run("apply", "-f", "-", given=yaml.safe_dump_all(made))
    try:
        yield True
    finally:
        kube.run("delete", "--ignore-not-found", "--wait=false", "-f", "-", given=yaml.safe_dump_all(made))


def _gpu_node(name: str) -> dict[str, Any]:
    room = {"cpu": "64", "memory": "512Gi", "pods": "110", "ephemeral-storage": "1Ti", "nvidia.com/gpu": "8"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"gpu-{name}",
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"type": "kwok", "kubernetes.io/os": "linux", "nvidia.com/gpu.present": "true"},
        },
        "spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]},
        "status": {"allocatable": room, "capacity": room},
    }


def _volume(namespace: str, claim: dict[str, Any]) -> dict[str, Any]:
    name = claim["metadata"]["name"]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"{namespace}-{name}"},
        "spec": {
            "accessModes": claim["spec"]["accessModes"],
            "capacity": claim["spec"]["resources"]["requests"],
            "hostPath": {"path": f"/nowhere/{name}"},
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {"namespace": namespace, "name": name},
        },
    }
