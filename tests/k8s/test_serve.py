"""The Serve config inside the RayService starts as KubeRay starts it: put to a head's dashboard, with Ray's token."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from excam.fault import UserError
from serve.identity import prepare
from serve.settings import JudgeSettings
from tests.k8s.head import running_head
from tests.k8s.overlays import OVERLAYS, manifests, one, pods

PAIR = {"instruction": "What is eaten at Galungan?", "output": "Lawar and satay.", "pair_id": "p1"}
TOKEN = {"authorization": "Bearer callers-token"}
WEB = httpx.Client(timeout=180)  # on shared cores a head takes long over a config; it must not be put again meanwhile
START_SECONDS = 1500  # weights of 135M load in seconds; starting Ray and vLLM on a starved machine takes many minutes


def serve_config(overlay: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(one(manifests(overlay), "RayService", "judge")["spec"]["serveConfigV2"])
    return found


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_config_is_one_that_serve_reads_to_the_last_field(overlay: str) -> None:
    from ray.serve.schema import ServeDeploySchema

    config = ServeDeploySchema.model_validate(serve_config(overlay))
    assert [(app.name, app.route_prefix) for app in config.applications] == [
        ("judge", "/"),
        ("dashboard", "/dashboard"),
    ]


@pytest.mark.parametrize(
    ("args", "complaint"), [({}, "has no token"), ({"confg": "x"}, r"args\.confg"), ({"config": 3}, r"args\.config")]
)
def test_a_judge_without_a_token_or_with_a_misspelt_argument_is_not_built(
    args: dict[str, Any], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from serve.deployment import build

    monkeypatch.delenv("EXCAM_TOKEN", raising=False)
    with pytest.raises(UserError, match=complaint):
        build(args)


def eventually(look: Callable[[], Any], what: str, seconds: float = START_SECONDS) -> Any:
    """The first true answer; connections that are refused meanwhile are part of starting."""
    deadline, last = time.monotonic() + seconds, None
    while time.monotonic() < deadline:
        try:
            if last := look():
                return last
        except httpx.HTTPError as error:
            last = error
        time.sleep(1)
    raise AssertionError(f"{what}: {last}")


@pytest.mark.engine
def test_judge_api_and_dashboard_start_from_the_config_and_ask_for_tokens(tmp_path: Path) -> None:
    small = tmp_path / "judge.yaml"
    small.write_text(
        "{base: smollm2-135m, adapter: none, threshold: 1.0, max_prompt_tokens: 512, engine: {cpu_engines: 2}}"
    )
    config = serve_config("cpu-trial")
    config["applications"][0]["args"]["config"] = str(small)
    (pod,) = [pod for name, pod in pods(manifests("cpu-trial")) if name == "RayService judge head"]
    given = {item["name"]: item["value"] for item in pod["spec"]["containers"][0]["env"]}
    for name in ("EXCAM_CACHE", "EXCAM_ADAPTERS", "HOME"):  # places in a pod
        given.pop(name)
    given |= {"EXCAM_TOKEN": "callers-token", "EXCAM_STORE": f"ducklake:sqlite:{tmp_path}/catalog.sqlite"}
    with running_head(given) as head:
        config["http_options"] |= {"host": "127.0.0.1", "port": head.serve_port}
        serve, apps = f"http://127.0.0.1:{head.serve_port}", f"{head.dashboard}/api/serve/applications/"
        probe = pod["spec"]["containers"][0]["livenessProbe"]["httpGet"]["path"]
        eventually(lambda: WEB.get(head.agent + probe).status_code == 200, "the probe finds no living node")

        assert WEB.put(apps, json=config).status_code == 401
        eventually(lambda: WEB.put(apps, json=config, headers=head.ray_token).status_code == 200, "not accepted")

        def running() -> bool:
            found = WEB.get(apps, headers=head.ray_token).json()["applications"]
            states = {name: (app["status"], app["message"]) for name, app in found.items()}
            assert "DEPLOY_FAILED" not in {state for state, _ in states.values()}, states
            return {state for state, _ in states.values()} == {"RUNNING"} and len(states) == 2

        eventually(running, "the applications do not run")
        assert WEB.post(f"{serve}/v1/judge", json=PAIR).status_code == 401
        answer = WEB.post(f"{serve}/v1/judge", json=PAIR, headers=TOKEN).json()
        assert answer["outcomes"][0]["outcome"] == "verdict"
        assert answer["judge_version"] == prepare(JudgeSettings.load(small)).card.judge_version
        assert WEB.get(f"{serve}/-/healthz").status_code == 200  # what a worker's readiness probe asks
        assert WEB.get(f"{serve}/dashboard/-/health").json() == {"status": "ok"}
        assert WEB.get(f"{serve}/dashboard/api/alerts").status_code == 401

        def exported() -> bool:
            text = WEB.get(f"{head.metrics}/metrics").text
            wanted = ("ray_excam_judged_pairs_total{", "ray_serve_deployment_replica_healthy{")
            return all(name in text for name in wanted)

        eventually(exported, "the metrics that alerts are made of are not exported", 60)
