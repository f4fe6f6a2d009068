"""The dashboard behind Ray Serve: the same application, as an application of a Serve config.

applications:
- name: dashboard
  route_prefix: /dashboard
  import_path: serve.dashboard.deployment:build
  args: {store: "ducklake:postgres:host=db dbname=excam?data_path=s3://bucket/excam", tokens: /etc/excam/people.yaml}
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ray import serve
from starlette.types import ASGIApp

from excam.fault import UserError
from excam.store.url import DEFAULT_URL, StoreUrl
from serve.dashboard.access import READ_VARIABLE, Access
from serve.dashboard.app import build_dashboard
from serve.dashboard.audit import Audit
from serve.guard import TOKEN_VARIABLE


class DashboardArguments(BaseModel):
    """What a Serve config says about the dashboard; tokens stay in the environment or, as hashes, in a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    store: str = Field(
        default_factory=lambda: os.environ.get("EXCAM_STORE", DEFAULT_URL), description="URL of the store"
    )
    tokens: Path | None = Field(None, description="YAML file of people: name, role and sha256 of a token")
    audit: Path | None = Field(
        None, description="file that records who viewed or exported which reports and dead letters"
    )
    only_this_machine: bool = Field(False, description="no token; promise that Serve's HTTP proxy listens on loopback")
    replicas: int = Field(1, ge=1)
    cpus: float = Field(0.5, ge=0)


@serve.ingress()
class Dashboard:
    """One replica: the whole dashboard on one store, opened when it is first asked."""

    def __init__(self, store: str, access: Access, audit: Path | None) -> None:
        self._store, self._access, self._audit = store, access, audit

    def __serve_build_asgi_app__(self) -> ASGIApp:
        return build_dashboard(self._store, self._access, Audit(self._audit), warm=True)


def build(args: Mapping[str, Any]) -> serve.Application:
    """The Serve application for these arguments; a mistake in them stops the deployment with what to do about it.

    Serve's proxy decides where it listens, which nobody can see from here. So a token is asked for unless the config
    promises that only this machine is answered.
    """
    try:
        asked = DashboardArguments.model_validate(dict(args))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        fields = ", ".join(DashboardArguments.model_fields)
        raise UserError(f"args.{'.'.join(map(str, first['loc']))}: {first['msg']}", f"fields: {fields}") from error
    StoreUrl.parse(asked.store)
    access = Access.from_environment(os.environ, asked.tokens)
    if access.is_open and not asked.only_this_machine:
        raise UserError(
            "the dashboard has no token, and Serve may let others read logged text",
            f"set {TOKEN_VARIABLE} or {READ_VARIABLE} in the runtime environment, name a file in args.tokens, "
            "or say args.only_this_machine: true where Serve's http_options.host is 127.0.0.1",
        )
    face = serve.deployment(
        name="Dashboard",
        num_replicas=asked.replicas,
        max_ongoing_requests=32,
        ray_actor_options={"num_cpus": asked.cpus},
    )(Dashboard)
    return face.bind(asked.store, access, asked.audit)
