"""The judge over HTTP, in front of the real judge: typed answers, tokens, and limits that hold."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from ray.exceptions import ActorDiedError, RayTaskError
from ray.serve.exceptions import BackPressureError

from excam.fault import UserError
from excam.judge_card import JudgeCard
from excam.judgement import JudgeFailure
from serve.api import build_api
from serve.deployment import build
from serve.guard import check_binding, token_in
from serve.schemas import MAX_BODY_BYTES, MAX_PAIRS, FailureOut, PairIn

PAIR = {"instruction": "What is eaten at Galungan?", "output": "Lawar and satay.", "pair_id": "p1"}
CARD = JudgeCard(base="b", base_sha256="0" * 64, prompt_sha256="0" * 64, decoding={})


def ask(app: Any, method: str, path: str, **options: Any) -> httpx.Response:
    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://judge", timeout=120) as client:
            return await client.request(method, path, **options)

    return asyncio.run(send())


@pytest.fixture(scope="module")
def real(judge: Any) -> Any:
    handle, card = judge
    return build_api(handle, card, None)


@pytest.fixture
def unreached() -> Any:
    """An application whose judge must not be called: what is refused is refused before it."""
    return build_api(None, CARD, "secret")


@pytest.mark.engine
def test_one_pair_gets_a_typed_verdict_with_the_judges_version(real: Any, judge: Any) -> None:
    answer = ask(real, "POST", "/v1/judge", json=PAIR).json()
    (outcome,) = answer["outcomes"]
    assert answer["judge_version"] == judge[1].judge_version
    assert answer["tuned"] is False
    assert (outcome["outcome"], outcome["pair_id"]) == ("verdict", "p1")
    assert 0 <= outcome["p_error"] <= 1


@pytest.mark.engine
def test_a_list_is_answered_in_its_order(real: Any) -> None:
    pairs = [PAIR | {"pair_id": str(number)} for number in range(40)]
    answer = ask(real, "POST", "/v1/judge", json=pairs).json()
    assert [outcome["pair_id"] for outcome in answer["outcomes"]] == [str(number) for number in range(40)]


@pytest.mark.engine
def test_health_metrics_and_documentation_answer(real: Any) -> None:
    assert ask(real, "GET", "/-/health").json() == {"status": "ok"}
    assert "excam_http_pairs_total" in ask(real, "GET", "/metrics").text
    assert "/v1/judge" in ask(real, "GET", "/openapi.json").json()["paths"]


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic secret"}])
def test_without_the_token_nothing_but_health_answers(unreached: Any, headers: dict[str, str]) -> None:
    assert ask(unreached, "POST", "/v1/judge", json=PAIR, headers=headers).status_code == 401
    assert ask(unreached, "GET", "/v1/judge", headers=headers).status_code == 401
    assert ask(unreached, "GET", "/-/health", headers=headers).status_code == 200


def test_with_the_token_it_answers(unreached: Any) -> None:
    assert ask(unreached, "GET", "/v1/judge", headers={"authorization": "Bearer secret"}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        [],
        [PAIR] * (MAX_PAIRS + 1),
        {"instruction": "", "output": "x"},
        {"instruction": "x"},
        {"instruction": 1, "output": "x"},
        PAIR | {"extra": 1},
        {"instruction": "x", "output": "y" * 2_000_001},
    ],
)
def test_a_body_of_another_form_is_422(unreached: Any, body: Any) -> None:
    headers = {"authorization": "Bearer secret", "content-type": "application/json"}
    assert ask(unreached, "POST", "/v1/judge", content=json.dumps(body), headers=headers).status_code == 422


def _fields(number: int) -> str:
    return ",".join(f'"{field}":1' for field in range(number))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (f"{{{_fields(700_000)}}}", "700,000 fields, where a pair has instruction, output, pair_id"),
        (f"[{','.join(['{' + _fields(2_700) + '}'] * MAX_PAIRS)}]", "2,700 fields"),
        (f"[{','.join(['{' + _fields(20) + '}'] * MAX_PAIRS)}]", "Extra inputs are not permitted"),
        (f'{{"{"k" * 8_000_000}":1}}', "Extra inputs are not permitted"),
        (f"[{','.join(['{}'] * 2_000_000)}]", f"at most {MAX_PAIRS} items"),
        ("[" * 4_000_000, "error parsing the body"),
        (f'{{"instruction":{"1" * 8_000_000},"output":"x"}}', "error parsing the body"),
    ],
    ids=["fields", "fields of many", "few fields of many", "a long name", "pairs", "depth", "digits"],
)
def test_a_bad_body_is_refused_in_a_moment_and_in_few_words(unreached: Any, body: str, said: str) -> None:
    headers = {"authorization": "Bearer secret", "content-type": "application/json"}
    begun = time.process_time()
    answer = ask(unreached, "POST", "/v1/judge", content=body, headers=headers)
    assert time.process_time() - begun < 4
    assert answer.status_code in (400, 422)
    assert said in answer.text
    assert len(answer.content) < 10_000


def test_a_body_too_large_is_413_whether_or_not_it_says_so(unreached: Any) -> None:
    headers = {"authorization": "Bearer secret"}
    large = b"x" * (MAX_BODY_BYTES + 1)
    assert ask(unreached, "POST", "/v1/judge", content=large, headers=headers).status_code == 413

    async def stream() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b"x" * 2**20

    assert ask(unreached, "POST", "/v1/judge", content=stream(), headers=headers).status_code == 413


class EngineDeadError(Exception):
    """What vLLM raises, by its name."""


@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (BackPressureError(num_queued_requests=1, max_queued_requests=1), 429),
        (ActorDiedError(), 503),
        (RayTaskError("judge_batch", "", EngineDeadError()), 503),
    ],
    ids=["busy", "its replica died", "its engine died"],
)
def test_a_judge_that_cannot_answer_now_says_when_to_come_back(raised: Exception, status: int) -> None:
    class Unwell:
        class judge_batch:  # noqa: N801
            @staticmethod
            async def remote(pairs: Any) -> Any:
                raise raised

    answer = ask(build_api(Unwell(), CARD, None), "POST", "/v1/judge", json=PAIR)
    assert (answer.status_code, answer.headers["retry-after"]) == (status, "5")


def test_others_are_answered_while_the_words_of_one_request_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, answered = threading.Event(), threading.Event()

    def patient(pair: PairIn, answer: JudgeFailure) -> FailureOut:
        begun.set()
        assert answered.wait(20), "nobody was answered meanwhile"
        return FailureOut(pair_id=pair.pair_id, reason=answer.reason, detail=answer.detail)

    class Handle:
        class judge_batch:  # noqa: N801
            @staticmethod
            async def remote(pairs: Any) -> list[JudgeFailure]:
                return [JudgeFailure("reason", "detail")]

    async def both() -> httpx.Response:
        transport = httpx.ASGITransport(app=build_api(Handle(), CARD, None))
        async with httpx.AsyncClient(transport=transport, base_url="http://judge") as client:
            judged = asyncio.create_task(client.post("/v1/judge", json=PAIR))
            await asyncio.to_thread(begun.wait)
            assert (await client.get("/-/health")).status_code == 200
            answered.set()
            return await judged

    monkeypatch.setattr("serve.api.outcome_of", patient)
    assert asyncio.run(both()).status_code == 200


@pytest.mark.engine
def test_a_judge_that_is_late_is_not_called_restarting(real: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serve.api.CALL_TIMEOUT", 0.001)
    answer = ask(real, "POST", "/v1/judge", json=PAIR)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    assert "within 0.001 s: send fewer pairs at once" in answer.json()["detail"]


def test_binding_beyond_loopback_needs_a_token() -> None:
    check_binding("127.0.0.1", None)
    check_binding("0.0.0.0", "secret")
    with pytest.raises(UserError, match="no token"):
        check_binding("0.0.0.0", None)


def test_the_judges_token_is_read_as_the_dashboards_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert token_in({}) is None
    assert token_in({"EXCAM_TOKEN": ""}) is None
    assert token_in({"EXCAM_TOKEN": "secret\n"}) == "secret"
    monkeypatch.setenv("EXCAM_TOKEN", "\n")
    with pytest.raises(UserError, match="EXCAM_TOKEN is set but blank"):
        build({})
