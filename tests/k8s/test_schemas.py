"""Every overlay, alone and with every component, is valid field by field; what is misspelt is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.k8s.overlays import COMPONENTS, OVERLAYS, Manifest, manifests, one
from tests.k8s.schemas import Schemas

WAYS = [(overlay, *chosen) for overlay in OVERLAYS for chosen in ((), COMPONENTS)]


@pytest.mark.parametrize("way", WAYS, ids=" + ".join)
def test_every_manifest_of_an_overlay_has_only_known_fields_with_values_of_their_type(
    way: tuple[str, ...], schemas: Schemas
) -> None:
    found = manifests(*way)
    wrong = {f"{item['kind']} {item['metadata']['name']}": schemas.complaints(item) for item in found}
    assert len(found) > 20
    assert {name: said for name, said in wrong.items() if said} == {}


def container(job: Manifest) -> Any:
    return job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(
    ("kind", "name", "spoil"),
    [
        ("RayJob", "nightly", lambda job: job["spec"].update(backofLimit=2)),
        ("RayJob", "nightly", lambda job: job["spec"].update(backoffLimit="two")),
        ("RayJob", "stream", lambda job: container(job)["securityContext"].update(readOnlyRootFileSystem=True)),
        ("RayJob", "stream", lambda job: container(job)["volumeMounts"].append({"name": "x"})),
        ("RayService", "judge", lambda service: service["spec"].update(serveConfig="")),
        ("RayService", "judge", lambda service: service["metadata"].update(label={})),
        ("CronJob", "nightly", lambda job: job["spec"].update(timezone="Etc/UTC")),
        ("CronJob", "nightly", lambda job: job["spec"]["jobTemplate"]["spec"].update(backoffLimit="3")),
        ("NetworkPolicy", "dns", lambda policy: policy["spec"].update(outgress=[])),
        ("PodDisruptionBudget", "judge-head", lambda budget: budget["spec"].update(minAvailible=1)),
    ],
)
def test_a_misspelt_field_or_a_value_of_another_type_is_found(
    kind: str, name: str, spoil: Callable[[Manifest], None], schemas: Schemas
) -> None:
    spoilt = one(manifests("cpu-trial"), kind, name)
    assert schemas.complaints(spoilt) == []
    spoil(spoilt)
    assert len(schemas.complaints(spoilt)) == 1


def test_a_kind_nobody_knows_is_found(schemas: Schemas) -> None:
    assert schemas.complaints({"apiVersion": "ray.io/v1", "kind": "RayJobs", "metadata": {}}) != []
