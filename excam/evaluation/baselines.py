"""The paper's baselines (appendix F, Table 11): an untuned model is asked in words, and its answer is read strictly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from excam.models.tokens import encode_text_as_data
from excam.prompt import Prompt, Tokenizer, in_chat_template
from excam.report import Status

_CONTENT = "\ue000content\ue000"
_LEFT_OUT = "\n[…]\n"


@dataclass(frozen=True)
class Baseline:
    """One prompt, and what each answer it allows is worth on the scale of the paper's score."""

    name: str
    short: str
    prompt: str
    answer: re.Pattern[str]
    worth: Mapping[str, float] | None

    def ask(self, instruction: str, output: str) -> str:
        """The prompt around a pair; both texts are inserted at once, so neither can pose as a placeholder."""
        head, rest = self.prompt.split("{instruction}")
        middle, tail = rest.split("{output}")
        return f"{head}{instruction}{middle}{output}{tail}"

    def read(self, text: str) -> float | None:
        """The score a model's answer stands for, 0 where it sees no error; None where the answer has not the form.

        The form must end the answer, as the prompt asks; quotes, stars and full stops around it are let pass.
        """
        found = self.answer.search(text.rstrip(" \t\n\r*'\"`’”.")) if text.strip() else None
        if found is None:
            return None
        value = " ".join(found["value"].lower().split())
        return self.worth[value] if self.worth is not None else -float(int(value))


def _ending(label: str, values: str) -> re.Pattern[str]:
    marks = r"[\s*_'\"`‘’“”]{0,6}"
    return re.compile(rf"\b{label}{marks}:{marks}(?P<value>{values})\Z", re.IGNORECASE)


_BRIEFLY = "Please think step-by-step VERY BRIEFLY. Then return"
_ONLY_CULTURE = "Do not take anything besides cultural correctness into account."
BASELINES = {
    one.name: one
    for one in (
        Baseline(
            "counting",
            "cnt",
            "Please evaluate the cultural correctness of this instruction and the text that was generated from it.\n"
            "Instruction: '{instruction}'\nText: '{output}'\n"
            f"{_BRIEFLY} the error count. {_ONLY_CULTURE} If the instruction or the text is culturally correct, the "
            "error count should be 0. At the end, return your final count in the format 'COUNT: count'.",
            _ending("count", r"[0-9]{1,4}"),
            None,
        ),
        Baseline(
            "severity",
            "sev",
            "Please judge the severity of cultural errors in this input-output pair.\n"
            "Input: '{instruction}'\nOutput: '{output}'\n"
            f"{_BRIEFLY} your judgment. {_ONLY_CULTURE} Return one of the following: none, minor, major, critical\n"
            "At the end, return your final judgment in the format 'Severity: severity'.",
            _ending("severity", "none|minor|major|critical"),
            {"none": 0.0, "minor": -1.0, "major": -5.0, "critical": -25.0},  # MQM's weights; only their order counts
        ),
        Baseline(
            "binary",
            "bin",
            "Please judge whether the following input-output pair is culturally problematic.\n"
            "Input: '{instruction}'\nOutput: '{output}'\n"
            f"{_BRIEFLY} the judgment. At the end, return your final judgment in the format "
            "'Problem: no problem/very problematic'.",
            _ending("problem", r"no\s+problem|very\s+problematic"),
            {"no problem": 0.0, "very problematic": -5.0},
        ),
    )
}


def status_of(score: float) -> Status:
    return Status.ERROR if score < 0 else Status.CORRECT


class BaselineRenderer:
    """Renders a baseline's prompt with the model's chat template and no system prompt, logged text as plain text."""

    def __init__(self, baseline: Baseline, tokenizer: Tokenizer, max_tokens: int) -> None:
        self._baseline, self._tokenizer = baseline, tokenizer
        shown = in_chat_template(tokenizer, [{"role": "user", "content": _CONTENT}])
        before, after = shown.split(_CONTENT)
        self._before, self._after = self._control(before), self._control(after)
        self._room = max_tokens - len(self._before) - len(self._after)
        if self._room < len(self._data("", "")) + 64:
            raise ValueError(f"a prompt of {max_tokens} tokens leaves no room for a pair")

    def _control(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _data(self, instruction: str, output: str) -> list[int]:
        return encode_text_as_data(self._tokenizer, self._baseline.ask(instruction, output))

    def render(self, instruction: str, output: str) -> Prompt:
        """The pair as a prompt that fits: the longer text loses its middle, a quarter at a time."""
        cut = False
        while True:
            total = len(instruction) + len(output)
            content = self._data(instruction, output) if total <= 12 * self._room else None
            if content is not None and len(content) <= self._room:
                return Prompt([*self._before, *content, *self._after], truncated=cut)
            cut = True
            if len(instruction) > len(output):
                instruction = _shorter(instruction)
            else:
                output = _shorter(output)


def _shorter(text: str) -> str:
    half = max(0, len(text) * 3 // 8 - len(_LEFT_OUT))
    return f"{text[:half]}{_LEFT_OUT}{text[len(text) - half :]}" if half else ""
