"""The paper's prompts (appendix A, Table 5) as token ids, with logged text kept from acting as anything but text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from excam.models.tokens import encode_text_as_data

SYSTEM_PROMPT = "You compute a metric that judges the cultural correctness of a generation task."
REPORT_PROMPT = (
    "Please judge the following instruction and generated text:\n"
    "Instruction: {instruction}\n"
    "Text: {output}\n"
    "Return an error report in JSON format."
)
PROMPT_SHA256 = hashlib.sha256(f"{SYSTEM_PROMPT}\0{REPORT_PROMPT}".encode()).hexdigest()

CUT_MARK = "\n[… {tokens} tokens left out …]\n"
CHARACTERS_PER_TOKEN = 12  # a generous bound: beyond it a text is cut by characters first, so that 10 MB stay cheap
EVERY_DAY = date(2024, 7, 26)  # what Llama's templates say themselves where nobody tells them the day
_CONTENT = "\ue000content\ue000"


class Tokenizer(Protocol):
    """What we use of a Hugging Face tokenizer."""

    def apply_chat_template(self, conversation: list[dict[str, str]], **options: Any) -> Any: ...
    def __call__(self, text: str, **options: Any) -> Any: ...
    def decode(self, token_ids: Sequence[int], **options: Any) -> str: ...


def user_prompt(instruction: str, output: str) -> str:
    """The report prompt around a pair; both texts are inserted at once, so neither can pose as a placeholder."""
    head, rest = REPORT_PROMPT.split("{instruction}")
    middle, tail = rest.split("{output}")
    return f"{head}{instruction}{middle}{output}{tail}"


@dataclass(frozen=True)
class Prompt:
    """A pair ready for the engine; ``truncated`` says that its text did not fit and was cut in the middle."""

    token_ids: list[int]
    truncated: bool


class PromptRenderer:
    """Renders pairs with the model's own chat template.

    The template is rendered once around a placeholder; a pair's text is encoded with every special token spelled
    out in it treated as plain text, so that a logged "<|im_end|>" cannot close the turn it stands in.
    """

    def __init__(self, tokenizer: Tokenizer, max_tokens: int) -> None:
        self._tokenizer = tokenizer
        before, after = _render(tokenizer).split(_CONTENT)
        self._before = self._control(before)
        self._after = self._control(after)
        self._bare = len(self._data(user_prompt("", "")))
        self._room = max_tokens - len(self._before) - len(self._after)
        if self._room < self._bare + 64:
            raise ValueError(f"a prompt of {max_tokens} tokens leaves no room for a pair")

    @property
    def reach(self) -> int:
        """Characters at either end of a text beyond which nothing of it comes into a prompt."""
        return self._room * CHARACTERS_PER_TOKEN

    def _control(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _data(self, text: str) -> list[int]:
        return encode_text_as_data(self._tokenizer, text)

    def render(self, instruction: str, output: str) -> Prompt:
        """The pair as a prompt that fits: what is too long loses its middle, the longer half first."""
        if len(instruction) + len(output) <= self.reach:
            content = self._data(user_prompt(instruction, output))
            if len(content) <= self._room:
                return Prompt([*self._before, *content, *self._after], truncated=False)
        halves = (self._data(_ends(instruction, self.reach)), self._data(_ends(output, self.reach)))
        budget = self._room - self._bare
        while True:
            shares = _share(len(halves[0]), len(halves[1]), max(0, budget))
            kept = [self._cut(ids, share) for ids, share in zip(halves, shares, strict=True)]
            content = self._data(user_prompt(*kept))
            if len(content) <= self._room:
                return Prompt([*self._before, *content, *self._after], truncated=True)
            budget -= len(content) - self._room

    def decode(self, token_ids: Sequence[int]) -> str:
        return self._tokenizer.decode(token_ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)

    def _cut(self, ids: list[int], keep: int) -> str:
        if len(ids) <= keep:
            return self._tokenizer.decode(ids, skip_special_tokens=False)
        head, tail = keep - keep // 2, keep // 2
        mark = CUT_MARK.format(tokens=len(ids) - keep)
        ends = (ids[:head], ids[len(ids) - tail :] if tail else [])
        return mark.join(self._tokenizer.decode(end, skip_special_tokens=False) for end in ends)


def _ends(text: str, limit: int) -> str:
    """The first and last part of a text far too long to be worth encoding whole."""
    return text if len(text) <= 2 * limit else f"{text[:limit]}{text[-limit:]}"


def _share(first: int, second: int, budget: int) -> tuple[int, int]:
    """Tokens for each half: a half below its fair part keeps all of itself, the other takes what is left."""
    half = budget // 2
    if first <= half:
        return first, budget - first
    if second <= half:
        return budget - second, second
    return half, budget - half


def in_chat_template(tokenizer: Tokenizer, conversation: list[dict[str, str]]) -> str:
    """A conversation in the model's chat template, up to where its answer begins, the same on every day.

    Some templates tell the model today's date: a judge would read another prompt each day under one version.
    """
    return str(
        tokenizer.apply_chat_template(
            conversation,
            tokenize=False,
            add_generation_prompt=True,
            enable_thinking=False,
            strftime_now=EVERY_DAY.strftime,
        )
    )


def _render(tokenizer: Tokenizer) -> str:
    """The chat template around the placeholder; a model that knows no system role gets that prompt in the user's."""
    from jinja2 import TemplateError

    system = {"role": "system", "content": SYSTEM_PROMPT}
    try:
        rendered = in_chat_template(tokenizer, [system, {"role": "user", "content": _CONTENT}])
    except TemplateError:
        rendered = in_chat_template(tokenizer, [{"role": "user", "content": f"{SYSTEM_PROMPT}\n\n{_CONTENT}"}])
    if rendered.count(_CONTENT) != 1 or SYSTEM_PROMPT not in rendered:
        raise ValueError("the model's chat template drops or repeats the prompt")
    return rendered
