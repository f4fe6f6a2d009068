"""vLLM and how a pair is judged with it: the decision first, the report only where there is an error."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from excam.injection import second_looks
from excam.judgement import JudgeFailure, Judgement
from excam.memory import nothing_collected
from excam.prompt import Prompt
from excam.report import CORRECT_REPORT, NOT_APPLICABLE_REPORT, ErrorReport, ParseFailure, Status, parse_report
from excam.score import decision_probabilities, sequence_probability
from serve.engine_arguments import start_engine
from serve.identity import Judge
from serve.requests import Requests
from serve.stuck import Answers


@dataclass(frozen=True)
class Decision:
    """How a report begins: its tokens up to the decision, their log-probability, and the decision's own."""

    opening_logprob: float
    by_status: dict[Status, float]
    forced: bool
    written: tuple[int, ...] = ()
    written_logprob: float = 0.0

    @property
    def p_error(self) -> float:
        return decision_probabilities(self.by_status)[Status.ERROR]

    @property
    def p_ordinary(self) -> float:
        return decision_probabilities(self.by_status)[Status.NOT_APPLICABLE]

    @property
    def choice(self) -> Status:
        """What the judge itself would write next."""
        return max(self.by_status, key=lambda status: self.by_status[status])

    @property
    def clean_choice(self) -> Status:
        """The likelier of the two ways to be free of errors."""
        return max((Status.CORRECT, Status.NOT_APPLICABLE), key=lambda status: self.by_status[status])


class JudgeEngine:
    """Judges pairs with vLLM; the same code on a CPU and on a GPU, only settings differ.

    A tuned judge decodes freely. A clean report is a handful of tokens, so asking for that many gives the decision
    and, for most traffic, the whole report with its exact probability. A judge that does not open as a report does
    (an untuned base never does) is asked again with the opening given, and writes its report under a grammar; such
    verdicts are marked as guided.
    """

    def __init__(self, judge: Judge, engines: int = 1) -> None:
        with nothing_collected():
            from vllm.lora.request import LoRARequest

        self.card = judge.card
        self._full = judge.settings.full
        self._second_look = judge.settings.second_look
        self._threshold = judge.threshold
        self._calibration = judge.calibration
        self._requests = Requests(judge)
        self._tokens = self._requests.tokens
        self._lora = LoRARequest(judge.card.adapter, 1, str(judge.lora_path)) if judge.lora_path else None
        self._number = itertools.count()
        self._answers = Answers()
        self._engine = start_engine(judge, engines)

    async def judge_many(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement | JudgeFailure]:
        """Judge several pairs at once; the engine batches them with whatever else it is working on.

        What a text does wrong comes back as a failure value; only a dying engine raises. Prompts are made in a thread:
        the loop is what feeds the engine, and encoding text lets it run meanwhile.
        """
        looks = await asyncio.to_thread(lambda: [self._looks(*pair) for pair in pairs])
        return list(await asyncio.gather(*map(self._judge, looks)))

    async def judge(self, instruction: str, output: str) -> Judgement | JudgeFailure:
        """Judge one pair."""
        (judged,) = await self.judge_many([(instruction, output)])
        return judged

    def _looks(self, instruction: str, output: str) -> list[Prompt]:
        """The pair's prompt; where the output speaks to its judge, prompts without those passages too."""
        others = second_looks(output, self._requests.renderer.reach) if self._second_look else ()
        return [self.render(instruction, look) for look in (output, *others)]

    async def _judge(self, looks: Sequence[Prompt]) -> Judgement | JudgeFailure:
        """Decide on every look at a pair; the gravest decision counts."""
        decisions = await asyncio.gather(*map(self.decide, looks))
        gravest = max(range(len(looks)), key=lambda look: (self._in_error(decisions[look]), decisions[look].p_error))
        prompt, decision = looks[gravest], decisions[gravest]
        judged = await self._report(prompt, decision) if self._in_error(decision) else self._clean(decision)
        if isinstance(judged, JudgeFailure):
            return judged
        return replace(judged, truncated=looks[0].truncated, second_look=gravest > 0)

    async def decide(self, prompt: Prompt) -> Decision:
        """How the report of a rendered pair begins, with raw probabilities."""
        free = await self._free_decision(prompt) if self.card.tuned else None
        return free or await self._forced_decision(prompt)

    def render(self, instruction: str, output: str) -> Prompt:
        """The prompt of a pair, as this judge is asked."""
        return self._requests.renderer.render(instruction, output)

    async def check_health(self) -> None:
        """Raise when the engine is dead or answers nothing any more, so that Ray Serve replaces this replica."""
        await self._engine.check_health()
        self._answers.check()

    def shutdown(self) -> None:
        self._engine.shutdown()

    async def close(self) -> None:
        """Shut down from within the loop: outside it vLLM leaves sockets open, and collecting them hangs."""
        self.shutdown()

    async def _ask(self, token_ids: Sequence[int], how: Any) -> Any:
        request = {"prompt_token_ids": list(token_ids)}
        stream = self._engine.generate(request, how, f"pair-{next(self._number)}", lora_request=self._lora)
        with self._answers.awaited():
            return [answer async for answer in stream][-1].outputs[0]

    async def _free_decision(self, prompt: Prompt) -> Decision | None:
        """The first few tokens as the judge writes them; None if they are neither a report nor the opening of one."""
        answer = await self._ask(prompt.token_ids, self._requests.decide)
        depth = len(self._tokens.opening)
        written = tuple(answer.token_ids)
        if written[:depth] != self._tokens.opening or len(written) <= depth:
            return None
        each = [position[token].logprob for position, token in zip(answer.logprobs, written, strict=True)]
        decision = Decision(sum(each[:depth]), self._by_status(answer, depth), False, written, sum(each))
        whole = decision.choice is Status.ERROR or isinstance(self._read(written), ErrorReport)
        return decision if whole else None

    async def _forced_decision(self, prompt: Prompt) -> Decision:
        """The one token after a given opening, which counts as certain."""
        answer = await self._ask([*prompt.token_ids, *self._tokens.opening], self._requests.decide_forced)
        return Decision(0.0, self._by_status(answer, 0), True)

    def _read(self, written: Sequence[int]) -> ErrorReport | ParseFailure:
        return parse_report(self._requests.renderer.decode(written))

    def _in_error(self, decision: Decision) -> bool:
        if self._full:
            return decision.forced or decision.choice is Status.ERROR
        return self._p_error(decision) >= self._threshold

    def _p_error(self, decision: Decision) -> float:
        """P(error) as thresholds and stores see it: calibrated where the adapter says how."""
        return self._calibration(decision.p_error, decision.p_ordinary) if self._calibration else decision.p_error

    def _by_status(self, answer: Any, depth: int) -> dict[Status, float]:
        return {status: answer.logprobs[depth][token].logprob for status, token in self._tokens.by_status.items()}

    def _clean(self, decision: Decision) -> Judgement:
        """No error: p(R) is exact where the judge wrote this report itself, else its fixed ending counts as certain."""
        report = CORRECT_REPORT if decision.clean_choice is Status.CORRECT else NOT_APPLICABLE_REPORT
        if decision.choice is decision.clean_choice and decision.written:
            p_report = sequence_probability(decision.written_logprob, len(decision.written))
        else:
            logprob = decision.opening_logprob + decision.by_status[decision.clean_choice]
            p_report = sequence_probability(logprob, self._tokens.longest_clean)
        return Judgement.of(report, self._p_error(decision), p_report, guided=decision.forced)

    async def _report(self, prompt: Prompt, decision: Decision) -> Judgement | JudgeFailure:
        """The whole report: freely, going on from what is written; under the grammar where that cannot be parsed."""
        if not decision.forced:
            begun, logprob = decision.written, decision.written_logprob
            if decision.choice is not Status.ERROR:
                begun = (*self._tokens.opening, self._tokens.by_status[Status.ERROR])
                logprob = decision.opening_logprob + decision.by_status[Status.ERROR]
            answer = await self._ask([*prompt.token_ids, *begun], self._requests.write)
            report = self._read((*begun, *answer.token_ids))
            if isinstance(report, ErrorReport) and report.status is Status.ERROR:
                tokens = len(begun) + len(answer.token_ids)
                p_report = sequence_probability(logprob + answer.cumulative_logprob, tokens)
                return Judgement.of(report, self._p_error(decision), p_report)
        answer = await self._ask(prompt.token_ids, self._requests.write_guided)
        report = self._read(answer.token_ids)
        if not isinstance(report, ErrorReport):
            return JudgeFailure("unparsable_report", f"{report.kind}: {report.message}; the judge wrote: {report.text}")
        p_report = sequence_probability(answer.cumulative_logprob, len(answer.token_ids))
        return Judgement.of(report, self._p_error(decision), p_report, guided=True)
