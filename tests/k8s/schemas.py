"""Schemas of Kubernetes, KubeRay and the Prometheus operator, fetched from package registries and made strict.

Nothing of them is kept in this repository: a test fetches what it validates against. Every field that a schema does not
name is an error, as it is for an API server that is asked to be strict.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import yaml
from referencing import Registry, Resource

CACHE = Path(__file__).parents[2] / ".cache" / "k8s"
KUBERNETES = "v1.33.0"
WHEEL = "kubernetes-validate==1.37.0"  # carries the schemas of many versions as data
CRDS = {
    "github.com/ray-project/kuberay/ray-operator@v1.6.1": "config/crd/bases",
    "github.com/prometheus-operator/prometheus-operator@v0.85.0": "example/prometheus-operator-crd",
}
PROMETHEUS_KINDS = ("podmonitors", "prometheusrules")
SHARED = "urn:kubernetes"
DRAFT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


class Schemas:
    """Validates manifests by their apiVersion and kind."""

    def complaints(self, manifest: Schema) -> list[str]:
        """Everything that is wrong with a manifest, as ``path: what``; empty for a good one."""
        name = (manifest["apiVersion"], manifest["kind"])
        schema = self._custom.get(name) or self._builtin.get(name)
        if schema is None:
            return [f"no schema for {name}"]
        found = jsonschema.Draft202012Validator(schema, registry=self._shared).iter_errors(manifest)
        return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}" for error in found]

    @cached_property
    def _definitions(self) -> Schema:
        path = f"kubernetes_validate/kubernetes-json-schema/{KUBERNETES}-local-strict/_definitions.json"
        with zipfile.ZipFile(_wheel()) as wheel:
            text = wheel.read(path).decode()
        found: Schema = json.loads(text.replace("/api/_definitions.json#/", "#/"))["$defs"]
        return found

    @cached_property
    def _shared(self) -> Registry[Any]:
        contents = {"$schema": DRAFT, "$defs": self._definitions}
        known: Registry[Any] = Registry().with_resource(SHARED, Resource.from_contents(contents))
        return known.crawl()

    @cached_property
    def _builtin(self) -> dict[tuple[str, str], Schema]:
        kinds = {}
        for definition, schema in self._definitions.items():
            fields = schema.get("properties", {})
            version, kind = (fields.get(field, {}).get("enum", []) for field in ("apiVersion", "kind"))
            for known in version:
                kinds[(known, kind[0])] = {"$ref": f"{SHARED}#/$defs/{definition}"}
        return kinds

    @cached_property
    def _custom(self) -> dict[tuple[str, str], Schema]:
        kinds = {}
        for crd in _definitions_of_kinds():
            group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
            for version in crd["spec"]["versions"]:
                schema = _strict(version["schema"]["openAPIV3Schema"])
                metadata = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
                schema["properties"]["metadata"] = {"$ref": f"{SHARED}#/$defs/{metadata}"}
                kinds[(f"{group}/{version['name']}", kind)] = schema
        return kinds


def _strict(schema: Any) -> Any:
    """The schema with every field it does not name forbidden, and Kubernetes' two additions said in JSON Schema."""
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    fields = schema.get("properties")
    made = {key: _strict(value) for key, value in schema.items() if key not in ("default", "description", "properties")}
    if fields is not None:
        made["properties"] = {name: _strict(value) for name, value in fields.items()}
        if "type" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
            made.setdefault("additionalProperties", False)
    return made


def _definitions_of_kinds() -> Iterator[Schema]:
    for module, folder in CRDS.items():
        for path in sorted((go_module(module) / folder).glob("*.yaml")):
            if "prometheus-operator" in module and not path.stem.endswith(PROMETHEUS_KINDS):
                continue
            yield yaml.load(path.read_bytes(), yaml.CSafeLoader)


def go_module(name: str) -> Path:
    """The folder of a Go module, fetched if it is not in Go's own cache."""
    done = subprocess.run(
        ["go", "mod", "download", "-json", name], capture_output=True, text=True, check=False, cwd="/"
    )
    found = json.loads(done.stdout or "{}")
    assert "Dir" in found, f"{name}: {found.get('Error') or done.stderr}"
    return Path(found["Dir"])


def _wheel() -> Path:
    CACHE.mkdir(parents=True, exist_ok=True)
    pattern = f"{WHEEL.replace('-', '_').replace('==', '-')}-*.whl"
    if not list(CACHE.glob(pattern)):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(CACHE), WHEEL]
        subprocess.run(pip, check=True)
    (found,) = CACHE.glob(pattern)
    return found


def fetched_package(requirement: str) -> Path:
    """A folder to import this package from: for a tool of tests that the product does not need."""
    target = CACHE / requirement.replace("==", "-")
    if not target.is_dir():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), requirement]
        subprocess.run(pip, check=True)
    return target
