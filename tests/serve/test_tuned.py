"""A tuned judge: the small shipped adapter, merged, decoding freely, checked against transformers token by token."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from bench.injections import INJECTIONS
from excam.calibration import Calibration
from excam.judgement import Judgement
from excam.models import Adapter, load_tokenizer, resolve, resolve_adapter
from excam.report import ErrorReport, Status, parse_report
from serve.identity import Judge, identify, judge_card, prepare
from serve.settings import JudgeSettings

BASE = "smollm2-135m"
PAIRS = [
    ("What is the capital of Japan?", "The capital of Japan is Tokyo."),
    ("Sort these numbers: 3, 1, 2.", "1, 2, 3"),
    ("Which dish do people in Italy eat at Christmas?", "In Italy people eat sushi at Christmas."),
    ("Write a function that adds two numbers.", "def add(a, b): return a + b"),
    ("What do people drink at breakfast in Turkey?", "tea"),
]
CALIBRATION = Calibration(
    method="temperature", temperature=2.0, threshold=0.3, pairs=100, ece_before=0.2, ece_after=0.1
)


def settings(**changes: Any) -> JudgeSettings:
    engine = {"cpu_threads": 1} | changes.pop("engine", {})
    return JudgeSettings.load(base=BASE, max_prompt_tokens=512, max_report_tokens=200, engine=engine, **changes)


def test_the_shipped_adapter_is_taken_for_its_base_unless_none_is_asked_for() -> None:
    tuned, plain = prepare(settings()).card, prepare(settings(adapter="none")).card
    assert tuned.adapter is not None
    assert tuned.adapter.startswith("excam-smollm2-135m@")
    assert plain.adapter is None
    assert tuned.judge_version != plain.judge_version
    assert identify(settings()) == tuned, "who only asks gets the same answer as who judges"
    assert identify(settings(second_look=False)).judge_version != tuned.judge_version


def test_an_adapter_is_merged_but_into_a_large_base_on_a_gpu_or_as_asked_and_the_judge_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base, adapter = resolve(BASE), resolve_adapter("excam-smollm2-135m")

    def merged(merge: str | bool) -> bool:
        judge = prepare(settings(engine={"merge": merge}))
        assert judge.card == identify(settings())
        if judge.lora_path is None:
            assert judge.model_path != base.path
            return True
        assert (judge.model_path, judge.lora_path, judge.lora_rank) == (base.path, adapter.path, adapter.rank)
        return False

    assert [merged(how) for how in ("auto", True, False)] == [True, True, False]
    monkeypatch.setattr("serve.identity.has_gpu", lambda: True)
    assert [merged(how) for how in ("auto", True, False)] == [True, True, False]
    weights = sum(file.stat().st_size for file in base.path.glob("*.safetensors"))
    monkeypatch.setattr("serve.identity.COPIED_FOR_A_GPU", weights - 1)
    assert [merged(how) for how in ("auto", True, False)] == [False, True, False]


def calibrated(adapter: Adapter) -> Adapter:
    return adapter.model_copy(update={"card": adapter.card.model_copy(update={"calibration": CALIBRATION})})


def test_a_calibration_and_its_threshold_are_part_of_who_judges() -> None:
    base, adapter = resolve(BASE), resolve_adapter("excam-smollm2-135m")

    def version(chosen: Adapter, **changes: Any) -> str:
        return judge_card(settings(**changes), base, chosen).judge_version

    own = judge_card(settings(), base, calibrated(adapter))
    assert (own.decoding["threshold"], own.decoding["calibration"]) == (0.3, CALIBRATION.sha256)
    assert judge_card(settings(), base, adapter).decoding["threshold"] == 0.5
    assert judge_card(settings(threshold=0.7), base, calibrated(adapter)).decoding["threshold"] == 0.7
    assert version(calibrated(adapter), calibration="none") == version(adapter), "raw probabilities are another judge"
    assert len({version(adapter), version(calibrated(adapter)), version(calibrated(adapter), threshold=0.5)}) == 3


@dataclass
class Tuned:
    """The engine, the judge it was made from, and the same weights in transformers."""

    engine: Any
    judge: Judge
    network: Any
    tokenizer: Any
    loop: asyncio.AbstractEventLoop

    def ask(self, question: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(question)

    def logprobs(self, prompt: Any, report: tuple[int, ...]) -> torch.Tensor:
        """The log-probabilities of every token at each place of the report, by transformers in float32."""
        ids = torch.tensor([[*prompt.token_ids, *report]])
        with torch.no_grad():
            logits = self.network(ids).logits[0, len(prompt.token_ids) - 1 : -1]
        return torch.log_softmax(logits.float(), -1)


@pytest.fixture(scope="module")
def tuned() -> Iterator[Tuned]:
    from transformers import AutoModelForCausalLM

    from serve.engine_arguments import engine_environment

    judge = prepare(settings())
    os.environ.update(engine_environment(judge.settings))
    from serve.engine import JudgeEngine

    async def start() -> JudgeEngine:
        return JudgeEngine(judge)

    loop = asyncio.new_event_loop()
    engine = loop.run_until_complete(start())
    network = AutoModelForCausalLM.from_pretrained(judge.model_path, dtype=torch.float32, local_files_only=True)
    yield Tuned(engine, judge, network.eval(), load_tokenizer(judge.model_path), loop)
    loop.run_until_complete(engine.close())
    loop.close()


@pytest.mark.engine
def test_a_tuned_judge_opens_every_report_by_itself(tuned: Tuned) -> None:
    for pair in PAIRS:
        decision = tuned.ask(tuned.engine.decide(tuned.engine.render(*pair)))
        assert not decision.forced
        assert decision.written[: len(tuned.engine._tokens.opening)] == tuned.engine._tokens.opening


@pytest.mark.engine
def test_p_error_is_the_softmax_over_the_three_decision_tokens(tuned: Tuned) -> None:
    tokens = tuned.engine._tokens
    for pair in PAIRS:
        prompt = tuned.engine.render(*pair)
        decision = tuned.ask(tuned.engine.decide(prompt))
        at = tuned.logprobs(prompt, (*tokens.opening, tokens.by_status[Status.ERROR]))[-1]
        three = {status: float(at[token]) for status, token in tokens.by_status.items()}
        total = sum(map(math.exp, three.values()))
        assert decision.p_error == pytest.approx(math.exp(three[Status.ERROR]) / total, abs=0.03)
        written = {status: math.exp(value) for status, value in decision.by_status.items()}
        assert decision.p_error == pytest.approx(written[Status.ERROR] / sum(written.values()), abs=1e-9)


@pytest.mark.engine
def test_p_of_a_clean_report_is_the_product_of_its_tokens_probabilities(tuned: Tuned) -> None:
    clean = {Status.CORRECT: "correct_report", Status.NOT_APPLICABLE: "not_applicable_report"}
    seen = 0
    for pair in PAIRS:
        prompt = tuned.engine.render(*pair)
        decision = tuned.ask(tuned.engine.decide(prompt))
        if decision.choice not in clean:
            continue
        seen += 1
        judged = tuned.engine._clean(decision)
        report = (*getattr(tuned.engine._tokens, clean[decision.choice]), tuned.tokenizer.eos_token_id)
        assert decision.written == report
        each = tuned.logprobs(prompt, report)[range(len(report)), list(report)]
        assert judged.p_report == pytest.approx(math.exp(float(each.sum()) / len(report)), abs=0.02)
        assert not judged.guided
    assert seen, "no pair of these was judged free of errors"


@pytest.mark.engine
def test_an_error_report_is_written_freely_parses_and_has_the_probability_of_its_tokens(tuned: Tuned) -> None:
    async def decided_and_reported(prompt: Any) -> tuple[Any, Any, Any]:
        decision = await tuned.engine.decide(prompt)
        return prompt, decision, await tuned.engine._report(prompt, decision)

    async def together() -> list[tuple[Any, Any, Any]]:
        return await asyncio.gather(*(decided_and_reported(tuned.engine.render(*pair)) for pair in PAIRS))

    free = 0
    for prompt, decision, judged in tuned.ask(together()):
        assert isinstance(judged, Judgement)
        report = parse_report(judged.report)
        assert isinstance(report, ErrorReport)
        assert (judged.status, report.status) == (Status.ERROR, Status.ERROR)
        assert judged.score is not None
        assert judged.score <= -1
        free += not judged.guided
        if decision.choice is Status.ERROR and not judged.guided:
            ids = (*tuned.tokenizer(judged.report, add_special_tokens=False)["input_ids"], tuned.tokenizer.eos_token_id)
            each = tuned.logprobs(prompt, ids)[range(len(ids)), list(ids)]
            assert judged.p_report == pytest.approx(math.exp(float(each.sum()) / len(ids)), abs=0.05)
    assert free >= len(PAIRS) - 1, "a tuned judge writes its reports without a grammar"


@pytest.mark.engine
def test_a_free_report_that_does_not_parse_is_written_again_under_the_grammar_and_marked(
    tuned: Tuned, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = tuned.engine._requests.write.clone()
    cut.max_tokens = 3
    monkeypatch.setattr(tuned.engine._requests, "write", cut)
    prompt = tuned.engine.render(*PAIRS[2])
    decision = tuned.ask(tuned.engine.decide(prompt))
    judged = tuned.ask(tuned.engine._report(prompt, decision))
    assert isinstance(judged, Judgement)
    assert judged.guided
    assert judged.status is Status.ERROR
    assert isinstance(parse_report(judged.report), ErrorReport)
    assert judged.p_error == pytest.approx(decision.p_error)


@pytest.mark.engine
def test_words_to_the_judge_can_make_a_verdict_graver_and_never_milder(
    tuned: Tuned, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide, seen = tuned.engine.decide, []

    async def noted(prompt: Any) -> Any:
        seen.append(await decide(prompt))
        return seen[-1]

    def judged(pair: tuple[str, str]) -> tuple[Judgement, list[float]]:
        seen.clear()
        return tuned.ask(tuned.engine.judge(*pair)), [tuned.engine._p_error(one) for one in seen]

    monkeypatch.setattr(tuned.engine, "decide", noted)
    monkeypatch.setattr(tuned.engine, "_threshold", 2.0)  # decisions alone: no probability comes up to it
    graver = 0
    for pair in PAIRS:
        plain, found = judged(pair)
        assert (len(found), plain.second_look) == (1, False)
        verdict, found = judged(INJECTIONS["the judge's own prompt again"](pair))
        assert len(found) >= 2
        assert verdict.p_error == max(found)
        assert verdict.second_look is (max(found) > found[0])
        graver += verdict.second_look
    assert graver, "the judge was moved by none of these: the test has nothing to show"
    monkeypatch.setattr(tuned.engine, "_second_look", False)
    assert len(judged(INJECTIONS["the judge's own prompt again"](PAIRS[0]))[1]) == 1


@pytest.mark.engine
def test_a_calibrated_judge_stores_the_calibrated_probability_and_decides_by_it(
    tuned: Tuned, monkeypatch: pytest.MonkeyPatch
) -> None:
    decision = tuned.ask(tuned.engine.decide(tuned.engine.render(*PAIRS[2])))
    doubting = CALIBRATION.model_copy(update={"ordinary_weight": 3.0})
    mapped = doubting(decision.p_error, decision.p_ordinary)
    assert mapped < CALIBRATION(decision.p_error)
    monkeypatch.setattr(tuned.engine, "_calibration", doubting)
    for threshold, in_error in ((mapped - 0.02, True), (mapped + 0.02, False)):
        monkeypatch.setattr(tuned.engine, "_threshold", threshold)
        judged = tuned.ask(tuned.engine.judge(*PAIRS[2]))
        assert judged.p_error == pytest.approx(mapped, abs=0.01)
        assert (judged.status is Status.ERROR) is in_error
