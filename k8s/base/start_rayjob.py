"""Start a copy of a suspended RayJob under the name of this run: ``start_rayjob.py TEMPLATE``, inside a pod.

A CronJob runs this with RUN_NAME from its tick, so the same tick started twice finds the name taken and is done. Only
the standard library is needed, and of the API only: read the template, create the copy.
"""

from __future__ import annotations

import json
import os
import ssl
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ACCOUNT = Path(os.environ.get("SERVICE_ACCOUNT_FOLDER", "/var/run/secrets/kubernetes.io/serviceaccount"))

OWN_JOBS = ("nightly", "training", "stream")  # of the deployment itself: under these names no run was started


def call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Ask the API server as this pod's service account."""
    server = f"https://{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"
    headers = {
        "Authorization": f"Bearer {(ACCOUNT / 'token').read_text().strip()}",
        "Content-Type": "application/json",
    }
    asked = urllib.request.Request(server + path, json.dumps(body).encode() if body else None, headers, method=method)
    trust = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    with urllib.request.urlopen(asked, timeout=30, context=trust) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def copy_of(template: dict[str, Any], name: str, owner: str) -> dict[str, Any]:
    """The RayJob to create: the template's spec, running, told its own name, and gone when the Job ``owner`` is."""
    kept = template["metadata"]
    labels = {**kept.get("labels", {}), "excam/started-from": kept["name"]}
    owners = [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": owner}]
    spec = {**template["spec"], "suspend": False}
    spec["entrypoint"] = f"export EXCAM_RUN={name}; {spec['entrypoint']}"
    metadata = {"name": name, "labels": labels, "ownerReferences": owners}
    return {"apiVersion": template["apiVersion"], "kind": "RayJob", "metadata": metadata, "spec": spec}


def main() -> int:
    template, name, owner = sys.argv[1], os.environ["RUN_NAME"], os.environ["RUN_OWNER"]
    jobs = f"/apis/ray.io/v1/namespaces/{(ACCOUNT / 'namespace').read_text().strip()}/rayjobs"
    try:
        call("POST", f"{jobs}?fieldValidation=Strict", copy_of(call("GET", f"{jobs}/{template}"), name, owner))
    except urllib.error.HTTPError as error:
        told = error.read().decode(errors="replace")
        # The name is also taken by a run of an earlier Job that is on its way out, and by the deployment's own.
        if error.code == 409 and "being deleted" not in told and name not in OWN_JOBS:
            print(f"{name} was started before: nothing to do")
            return 0
        print(f"{name} was not started: {error.code} {told[:2000]}", file=sys.stderr)
        return 1
    print(f"started {name} from {template}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
