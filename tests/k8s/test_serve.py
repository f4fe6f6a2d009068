"""The Serve config inside the RayService starts as KubeRay starts it: put to a head's dashboard, with Ray's token."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from excam.fault import UserError
from serve.identity import prepare
from serve.settings import JudgeSettings
from tests.k8s.head import Head, running_head
from tests.k8s.overlays import OVERLAYS, manifests, one, pods
from tests.serve.dashboard.world import fill

PAIR = {"instruction": "What is eaten at Galungan?", "output": "Lawar and satay.", "pair_id": "p1"}
TOKEN = {"authorization": "Bearer callers-token"}
ANA = "let-me-in"  # her token for the dashboard
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


@dataclass(frozen=True)
class Started:
    """The applications of the trial's config at work, and the judge's settings that stood in for its own."""

    head: Head
    serve: str
    judge: Path


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """What KubeRay does with the config, on a head with the pod's environment and a store that holds something."""
    folder = tmp_path_factory.mktemp("serve")
    store = f"ducklake:sqlite:{folder}/catalog.sqlite"
    fill(store)
    people = folder / "people.yaml"
    people.write_text(f"- {{name: Ana, role: read, sha256: {hashlib.sha256(ANA.encode()).hexdigest()}}}\n")
    small = folder / "judge.yaml"
    small.write_text(
        "{base: smollm2-135m, adapter: none, threshold: 1.0, max_prompt_tokens: 512, engine: {cpu_engines: 2}}"
    )
    config = serve_config("cpu-trial")
    judge, dashboard = config["applications"]
    judge["args"]["config"], dashboard["args"]["tokens"] = str(small), str(people)
    given = {item["name"]: item["value"] for item in head_container()["env"]}
    for name in ("EXCAM_CACHE", "EXCAM_ADAPTERS", "HOME"):  # places in a pod
        given.pop(name)
    with running_head(given | {"EXCAM_TOKEN": "callers-token", "EXCAM_STORE": store}) as head:
        config["http_options"] |= {"host": "127.0.0.1", "port": head.serve_port}
        put(config, head)
        yield Started(head, f"http://127.0.0.1:{head.serve_port}", small)


def head_container() -> dict[str, Any]:
    (pod,) = [pod for name, pod in pods(manifests("cpu-trial")) if name == "RayService judge head"]
    found: dict[str, Any] = pod["spec"]["containers"][0]
    return found


def put(config: dict[str, Any], head: Head) -> None:
    """Hand a head the config and wait until all of it runs; whoever has no token of Ray's may not."""
    apps = f"{head.dashboard}/api/serve/applications/"
    probe = head_container()["livenessProbe"]["httpGet"]["path"]
    eventually(lambda: WEB.get(head.agent + probe).status_code == 200, "the probe finds no living node")
    assert WEB.put(apps, json=config).status_code == 401
    eventually(lambda: WEB.put(apps, json=config, headers=head.ray_token).status_code == 200, "not accepted")

    def running() -> bool:
        found = WEB.get(apps, headers=head.ray_token).json()["applications"]
        states = {name: (app["status"], app["message"]) for name, app in found.items()}
        assert "DEPLOY_FAILED" not in {state for state, _ in states.values()}, states
        return {state for state, _ in states.values()} == {"RUNNING"} and len(states) == 2

    eventually(running, "the applications do not run")


@pytest.mark.engine
def test_the_judge_answers_whoever_has_the_token_and_its_pairs_are_counted(started: Started) -> None:
    assert WEB.post(f"{started.serve}/v1/judge", json=PAIR).status_code == 401
    answer = WEB.post(f"{started.serve}/v1/judge", json=PAIR, headers=TOKEN).json()
    assert answer["outcomes"][0]["outcome"] == "verdict"
    assert answer["judge_version"] == prepare(JudgeSettings.load(started.judge)).card.judge_version
    assert WEB.get(f"{started.serve}/-/healthz").status_code == 200  # what a worker's readiness probe asks

    def exported() -> bool:
        text = WEB.get(f"{started.head.metrics}/metrics").text
        wanted = ("ray_excam_judged_pairs_total{", "ray_serve_deployment_replica_healthy{")
        return all(name in text for name in wanted)

    eventually(exported, "the metrics that alerts are made of are not exported", 60)


@pytest.mark.engine
def test_the_dashboard_answers_with_the_page_and_the_api_below_its_prefix(started: Started) -> None:
    address = f"{started.serve}/dashboard"
    assert WEB.get(f"{address}/-/health").json() == {"status": "ok"}
    with httpx.Client(headers={"Authorization": f"Bearer {ANA}"}, timeout=60) as client:
        assert client.get(f"{address}/api/summary").json()["rate"]["n"] == 84 * 7 + 6
        page = client.get(f"{address}/")
        assert "of 594 answers about culture hold an error" in page.text
        assert 'href="/dashboard/country?country=ID"' in page.text
        assert 'href="/country' not in page.text
        assert client.get(f"{address}/static/style.css").status_code == 200
        assert client.get(address, follow_redirects=True).url.path == "/dashboard/"
        assert client.get(f"{address}/api/nothing").json()["detail"] == "Not Found"


@pytest.mark.engine
def test_the_dashboard_lets_nobody_in_without_a_token(started: Started) -> None:
    address = f"{started.serve}/dashboard"
    with httpx.Client(timeout=60) as client:
        assert client.get(f"{address}/api/summary").status_code == 401
        asked = client.get(f"{address}/?country=ID")
        assert asked.headers["location"] == "/dashboard/login?next=%2Fdashboard%2F%3Fcountry%3DID"
        form = {"token": ANA, "next": "/dashboard/?country=ID"}
        signed = client.post(f"{address}/login", data=form)
        assert signed.headers["location"] == "/dashboard/?country=ID"
        assert client.get(f"{address}/?country=ID").status_code == 200
        assert client.post(f"{address}/login", data=form | {"next": "/elsewhere"}).headers["location"] == "/dashboard/"
