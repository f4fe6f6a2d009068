"""What a node does for a Ray cluster's head pod, where nodes are simulated: runs its container, and ends it.

Where every pod address is local to this machine, whatever listens on the dashboard's port is the head pod. So its
command is run here with its environment, in a process namespace of its own: as with a container, the kernel ends
everything in it with its first process, and nobody can ask from outside whether one of its processes is alive.
"""

from __future__ import annotations

import base64
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from tests.k8s.cluster.kube import Kube
from tests.k8s.head import PATIENT

DASHBOARD = 8265
PLACES = {"EXCAM_CACHE", "EXCAM_ADAPTERS", "HOME"}  # folders of an image
CONTAINER = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def why_not(kube: Kube) -> str:
    """Why no head pod can be played here; empty where one can."""
    if not kube.items("nodes", "-l", "type=kwok"):
        return "the nodes are real: their pods run by themselves"
    if not can_listen("0.0.0.0", DASHBOARD):
        return f"something else listens on {DASHBOARD} and answers for every head pod"
    if subprocess.run([*CONTAINER, "true"], capture_output=True, check=False).returncode != 0:
        return "this user may not make process namespaces"
    return ""


def can_listen(address: str, port: int = 0) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections of before are no hindrance
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True


class Node:
    """Runs the one head pod that a selection finds, whichever that is by now."""

    def __init__(self, kube: Kube, selection: str, grace: float) -> None:
        self.kube = kube
        self.selection = selection
        self.grace = grace
        self.played: list[str] = []
        self.folder = Path(tempfile.mkdtemp(prefix="ray-"))
        self._container: subprocess.Popen[bytes] | None = None

    def pod(self) -> dict[str, Any]:
        """The head pod, if it has a node and an address and nobody has deleted it; else an empty one."""
        found = [pod for pod in self.kube.items("pods", "-l", self.selection) if pod["status"].get("podIP")]
        living = [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
        return living[0] if living else {}

    def tend(self) -> None:
        """Make what runs here the pod that should; to be called again and again, as a kubelet looks."""
        pod = self.pod()
        name = pod["metadata"]["name"] if pod else ""
        if self._container is not None and name != self.played[-1]:
            self.end()
        if pod and self._container is None:
            self._start(pod)
        assert self._container is None or self._container.poll() is None, f"the head ended by itself:\n{self.said()}"

    def end(self) -> None:
        """SIGTERM to the container's first process, its time of grace, SIGKILL to everything."""
        container, self._container = self._container, None
        if container is None:
            return
        if self.grace:
            for first in psutil.Process(container.pid).children():
                first.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                container.wait(self.grace)
        container.kill()
        container.wait()

    def close(self) -> None:
        self.grace = 0
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def said(self) -> str:
        """The ends of the logs of all heads and drivers, for whoever has to find out what went wrong."""
        logs = sorted([*self.folder.glob("*.log"), *self.folder.glob("*/session_2*/logs/job-driver-*.log")])
        return "\n".join(f"{log.name}: {log.read_text(errors='replace')[-3000:]}" for log in logs)

    def _start(self, pod: dict[str, Any]) -> None:
        name, container = pod["metadata"]["name"], pod["spec"]["containers"][0]
        path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        small = f"--node-ip-address=127.0.0.1 --object-store-memory={200 * 2**20}"
        own = f"{small} --temp-dir={self.folder}/{len(self.played)}"
        with (self.folder / f"{name}.log").open("w") as log:
            self._container = subprocess.Popen(
                [*CONTAINER, *container["command"], f"{container['args'][0]} {own}"],
                env=os.environ | PATIENT | path | self._environment(container),
                stdout=log,
                stderr=log,
            )
        self.played.append(name)

    def _environment(self, container: dict[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        for source in container["envFrom"]:
            if "configMapRef" in source:
                found |= self.kube.get("configmap", source["configMapRef"]["name"])["data"]
        for item in container["env"]:
            if "secretKeyRef" in item.get("valueFrom", {}):
                key = item["valueFrom"]["secretKeyRef"]
                found[item["name"]] = base64.b64decode(
                    self.kube.get("secret", key["name"])["data"][key["key"]]
                ).decode()
            elif "value" in item:
                found[item["name"]] = item["value"]
        return {name: value for name, value in found.items() if name not in PLACES}
