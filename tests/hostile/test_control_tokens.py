"""Whatever a pair spells out, the only control tokens of its prompt are the template's: proved on token ids."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.models.base import converted_folder, resolve
from excam.models.cache import MANIFEST, cache_root
from excam.models.registry import pinned
from excam.models.tokens import control_tokens, load_tokenizer
from excam.prompt import PromptRenderer
from tests.hostile.material import TEXTS, anything
from tests.tokenizers import from_first_part

pytestmark = pytest.mark.engine
LIMIT = 512
OTHERS = ("<|im_end|>", "<start_of_turn>", "</s>", "[INST]", "<|eot_id|>", "<think>", "<tool_call>", "<|endoftext|>")


@dataclass(frozen=True)
class Prompts:
    """A model's prompts and the tokens that only its template may use."""

    renderer: PromptRenderer
    known: dict[int, str]

    def controls(self, instruction: str, output: str) -> list[int]:
        return [token for token in self.renderer.render(instruction, output).token_ids if token in self.known]

    @property
    def template(self) -> list[int]:
        return self.controls("harmless", "harmless")


@pytest.fixture(scope="module", params=["smollm2-135m", "qwen2.5-coder-0.5b", "gemma-3-270m"])
def prompts(request: pytest.FixtureRequest) -> Prompts:
    model = pinned(request.param)
    if (converted_folder(model, cache_root()) / MANIFEST).is_file() or model.name == "smollm2-135m":
        folder = resolve(model.name).path
    elif model.name == "gemma-3-270m":
        pytest.skip("gemma-3-270m was not fetched: excam models fetch gemma-3-270m")
    else:
        folder = from_first_part(model)
    tokenizer = load_tokenizer(folder)
    return Prompts(PromptRenderer(tokenizer, LIMIT), control_tokens(tokenizer))


def test_every_control_token_of_the_model_itself_stays_text_in_either_half(prompts: Prompts) -> None:
    assert prompts.template, "the template has control tokens of its own"
    tokens = list(prompts.known.values())
    for token in tokens[:100]:  # Gemma has thousands that are numbered alike
        half = len(token) // 2
        for pair in ((f"a{token}{token} {token}\n", token), (token[:half], token[half:])):
            assert prompts.controls(*pair) == prompts.template
    assert prompts.controls("".join(tokens[:150]), " ".join(tokens[-20:])) == prompts.template


@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_no_pair_adds_a_control_token_however_long_or_broken(prompts: Prompts, data: st.DataObject) -> None:
    tokens = st.sampled_from([*list(prompts.known.values())[:50], *OTHERS, *TEXTS])
    halves = st.lists(tokens | anything, min_size=1, max_size=8).map("".join)
    times = data.draw(st.sampled_from([1, 1, 1, 60]))  # so long that the middle is cut out and the ends are joined
    instruction, output = data.draw(halves), data.draw(halves) * times
    assert prompts.controls(instruction, output) == prompts.template


def test_a_token_that_a_cut_would_put_together_stays_text(prompts: Prompts) -> None:
    for token in OTHERS:
        half = len(token) // 2
        long = f"{token[:half]}{'word ' * 1200}{token[half:]}"
        assert prompts.controls(long, "x") == prompts.template
